import shlex

import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")

from gode.cli.discover import asked_options
from gode.search.assumptions import MEANINGS
from gode.studio.form import FIELDS, command_text, command_words, in_words, problem_of
from gode.studio.pages import edit_of, known_fields, tool_columns
from gode.tables.column_options import parts_of
from gode.templates import part

TEMPLATE = "gode/studio/templates/fields.html"


def form(*roles, **more):
    return {f"role.{i}": [role] for i, role in enumerate(roles)} | {
        key: [value] for key, value in more.items()
    }


def test_every_field_is_an_option_of_the_command():
    values = {"fix": "K = 5", "bounds": "r = 0:", "units": "t = h", "assume": "odd", "frame": "u' = f(u)"}
    words = []
    for field in FIELDS:
        value = field.choices[1][0] if field.kind in ("choice", "flag") else values.get(field.key, "1")
        words += field.words({field.key: [value]}) if field.option else []
    data, others = asked_options(words)  # refuses what the command does not know
    assert data.initial == ("1",)
    assert others["order"] == 1
    assert (others["fixed"], others["bounds"], data.column_units) == ({"K": 5}, {"r": (0, None)}, {"t": "h"})


def test_a_column_that_measures_a_formula_asks_for_it_and_for_the_equations_of_its_states():
    names = ["t", "signal"]
    chosen = form("time", "measured")
    assert "What does signal measure?" in problem_of(chosen, names)
    chosen |= {"measures.1": ["s*x + 0.3"]}
    assert "signal is a formula of states" in problem_of(chosen, names)
    chosen |= {"frame": ["x' = r*x"]}
    assert problem_of(chosen, names) == ""
    assert command_words(chosen, names, [])[:4] == ["--time", "t", "--observe", "signal = s*x + 0.3"]


def test_assumptions_of_the_page_are_those_of_the_command():
    groups = known_fields({"assume": ["energy"]}, [list(each) for each in MEANINGS.items()])
    page = part(TEMPLATE, "known_fields", groups)
    for name in MEANINGS:
        assert f'name="assume" value="{name}"' in page
    assert command_words({"assume": ["odd", "energy"]}, [], [])[-4:] == [
        "--assume",
        "odd",
        "--assume",
        "energy",
    ]


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


def test_doses_go_into_the_state_that_no_column_measures():
    names = ["TIME", "AMT", "DV"]
    alone = command_words(form("time", "dose", "state"), names, [])
    assert alone == ["--time", "TIME", "--u", "DV", "--dose", "AMT:DV"]
    frame = "depot' = -ka*depot; DV' = ka*depot - ke*DV"
    words = command_words(form("time", "dose", "state", frame=frame), names, [])
    assert words[:6] == ["--time", "TIME", "--states", "DV,depot=none", "--dose", "AMT:depot"]


def test_two_accelerometers_are_two_states():
    words = command_words(form("time", "acceleration", "acceleration"), ["t", "left", "right"], [])
    assert words == ["--time", "t", "--states", "x1=none,x2=none", "--acceleration", "left,right"]


def test_a_column_of_standard_errors():
    words = command_words(form("time", "state", "error"), ["t", "u", "err"], [])
    assert words == ["--time", "t", "--u", "u", "--sd", "err"]


def test_columns_with_an_equals_sign_are_states_and_inputs():
    words = command_words(form("time", "state", "state", "input"), ["t", "c=1", "c", "a=b"], [])
    assert words == ["--time", "t", "--states", "x1=c=1,c", "--force", "F1=a=b"]
    assert parts_of(words[3]) == [("x1", "c=1"), ("", "c")]


def test_what_is_missing_among_the_roles_is_told():
    assert (
        problem_of(form("ignored", "state"), ["t", "u"])
        == "No column is time. Choose the one that holds the times."
    )
    assert "No column is a state" in problem_of(form("time", "ignored"), ["t", "u"])
    assert "Two columns are time" in problem_of(form("time", "time"), ["t", "u"])
    assert problem_of(form("time", "state"), ["t", "u"]) == ""


def test_the_command_can_be_typed():
    chosen = form("time", "state", initial="1,0\n2,0", frame="u' = f(u)", start='a"$b')
    words = command_words(chosen, ["my time", "u"], [])
    text = command_text(["my data.csv"], words)
    assert shlex.split(text) == ["gode", "discover", "my data.csv", *words, "--out", "result"]
    at = words.index("--initial")
    assert words[at : at + 4] == ["--initial", "1,0", "--initial", "2,0"]
    assert """--frame "u' = f(u)\"""" in text


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


def test_a_blank_is_taken_from_the_signals_unless_others_are_chosen():
    seen = {"names": ["t", "A1", "blank", "note"], "numeric": [True, True, True, False]}
    chosen = tool_columns(seen, form("time", "state", "ignored", "ignored"))
    page = part(TEMPLATE, "edit_tools", (), chosen, "/runs/a")
    assert 'name="subtract.columns" value="A1" checked' in page
    assert 'name="subtract.columns" value="blank">' in page
    assert 'value="note"' not in page


def test_messages_of_the_command_are_said_in_the_words_of_the_page():
    said = in_words("not used: 'Blank' (pass it as --force Blank if it drives the system)")
    assert said == "not used: 'Blank' (give it the role “input” if it drives the system)"
    said = in_words("the same throughout each run, --force 'my dose' if it acts on the system")
    assert said == "the same throughout each run; give it the role “input” if it acts on the system"
