import shlex

from gode.cli.asked import asked_options
from gode.studio.fields import edit_of
from gode.studio.form import FIELDS, command_text, command_words, problem_of, python_text


def form(*roles, **more):
    return {f"role.{i}": [role] for i, role in enumerate(roles)} | {
        key: [value] for key, value in more.items()
    }


def test_every_field_is_an_option_of_the_command():
    words = ["a.csv"]
    values = {"text": "1", "lines": "1", "words": "log", "check": "on"}
    for field in FIELDS:
        value = field.choices[1][0] if field.choices else values[field.kind]
        words += field.words({field.key: [value]})
    options, order = asked_options(words)  # refuses what the command does not know
    assert order == "1"
    assert options.initial == ("1",)


def test_one_signal_with_an_input():
    chosen = form("time", "acceleration", "input", "ignored", order="2")
    words = command_words(chosen, ["t", "acc", "force, N", "x"], ["multiply acc by 9.80665 as m/s2"])
    assert words == [
        *("--time", "t", "--u", "none", "--acceleration", "acc", "--force", "force, N"),
        *("--edit", "multiply acc by 9.80665 as m/s2", "--order", "2"),
    ]


def test_several_states_are_a_system_and_wells_are_runs():
    names = ["t", "prey", "predator"]
    assert "--states" in command_words(form("time", "state", "state"), names, [])
    wells = command_words(form("time", "state", "state", wells="on"), names, [])
    assert wells == ["--time", "t", "--u", "prey,predator"]


def test_what_is_missing_among_the_roles_is_told():
    assert (
        problem_of(form("ignored", "state"), ["t", "u"])
        == "No column is time. Choose the one that holds the times."
    )
    assert "No column is a state" in problem_of(form("time", "ignored"), ["t", "u"])
    assert "Two columns are time" in problem_of(form("time", "time"), ["t", "u"])
    assert problem_of(form("time", "state"), ["t", "u"]) == ""


def test_the_command_can_be_typed():
    words = command_words(form("time", "state", initial="1,0\n2,0"), ["my time", "u"], [])
    text = command_text(["my data.csv"], words)
    assert shlex.split(text) == ["gode", "discover", "my data.csv", *words, "--out", "result"]
    assert words[-4:] == ["--initial", "1,0", "--initial", "2,0"]


def test_the_lines_of_python_are_python():
    chosen = form(
        "time",
        "state",
        "input",
        order="2",
        autonomous="on",
        without="log, exp",
        initial="1,0",
        max_seconds="5",
    )
    text = python_text(["a.csv"], chosen, ["t", "u", "f"], ["crop 0 to 3"])
    compile(text, "lines", "exec")
    assert "order=2, without=['t', 'log', 'exp'], initial=[1,0], max_seconds=5" in text
    assert "force=data['f']" in text


def test_tools_write_edits():
    assert edit_of("crop", {"crop.first": ["0.5"], "crop.last": [""]}) == "crop 0.5 to"
    assert edit_of("drop", {"drop.column": [""], "drop.lines": ["3, 5-7"]}) == "drop lines 3,5-7"
    assert (
        edit_of("multiply", {"multiply.column": ["acc"], "multiply.kind": ["0"]})
        == "multiply acc by 9.80665 as m/s2"
    )
    assert (
        edit_of("subtract", {"subtract.what": ["blank"], "subtract.columns": ["A1", "A2"]})
        == "subtract blank from A1,A2"
    )
    assert edit_of("hold", {"hold.share": ["20 %"]}) == "hold back 20 %"
    assert edit_of("crop", {}) == ""
