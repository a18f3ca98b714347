import os
import subprocess
import sys
from importlib.metadata import EntryPoints
from types import SimpleNamespace

import pytest
from click import Command, Context, Group, echo

from commands import GROWTH, gode, refused
from gode.cli import main


def commands(group, path=()):
    context = Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, Group):
            yield from commands(command, (*path, name))


def test_help_names_the_commands_and_says_how_to_complete_them():
    text = gode("--help").output
    named = ("demo", "discover", "export", "fit", "grammars", "model", "report", "simulate", "train")
    assert all(f"  {word} " in text for word in named)
    assert "_GODE_COMPLETE=bash_source gode" in text
    assert "Exit codes: 0 done, 2 " in text


@pytest.mark.parametrize("words", list(commands(main)), ids=" ".join)
def test_every_command_has_help_within_80_columns(words):
    result = gode(*words, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    assert result.output.count("\n") > 5


@pytest.mark.parametrize(
    "name", ["discover", "fit", "simulate", "report", "export", "demo", "train", "grammars"]
)
def test_help_shows_examples(name):
    assert f"\n    gode {name} " in gode(name, "--help").output


def test_an_error_is_one_sentence_with_exit_code_2_and_a_traceback_on_request():
    result = gode("grammars", "nowhere")
    assert result.exit_code == 2
    assert result.stderr.startswith("gode: ")
    assert "Traceback" not in result.output
    for words in (("--debug", "grammars", "nowhere"), ("grammars", "nowhere", "--debug")):
        result = gode(*words)
        assert result.exit_code == 2
        assert "GrammarError" in result.stderr
        assert "Traceback" in result.stderr


@pytest.mark.parametrize(
    "words", [("nonsense",), ("discover",), ("discover", "--order", "7", "x.csv"), ("--no",)]
)
def test_wrong_words_get_one_sentence_and_exit_with_2(words):
    result = gode(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith("gode: ")
    assert result.stderr.count("\n") == 1
    assert "--help" in result.stderr


def test_a_terminal_without_unicode_gets_the_result_all_the_same():
    program = "from gode.cli import main; main()"
    words = [sys.executable, "-c", program, "fit", "u' = C*u - C*u^2", str(GROWTH)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " ? " in done.stdout


def test_shell_completion_knows_commands_and_options():
    from click.shell_completion import ShellComplete

    complete = ShellComplete(main, {}, "gode", "_GODE_COMPLETE")
    assert "discover" in [c.value for c in complete.get_completions([], "dis")]
    assert "--effort" in [c.value for c in complete.get_completions(["discover"], "--eff")]
    assert "thorough" in [c.value for c in complete.get_completions(["discover", "--effort"], "th")]


@pytest.mark.parametrize(
    "words", [["discover"], ["discover", "--grammar"], ["fit", "u' = C*u"], ["simulate"], ["report"]]
)
def test_shell_completion_leaves_file_names_to_the_shell(words):
    from click.shell_completion import ShellComplete

    complete = ShellComplete(main, {}, "gode", "_GODE_COMPLETE")
    assert [(c.type, c.value) for c in complete.get_completions(words, "da")] == [("file", "da")]


def test_help_and_completion_import_nothing_that_is_slow():
    slow = ["numpy", "rich", "pandas", "scipy", "numba", "gode.discovery", "gode.equation"]
    program = (
        "import sys, atexit\n"
        f"atexit.register(lambda: sys.stderr.write(' '.join(set(sys.modules) & set({slow!r}))))\n"
        "from gode.cli import main; main(prog_name='gode')"
    )
    completing = {"_GODE_COMPLETE": "bash_complete", "COMP_WORDS": "gode discover --o", "COMP_CWORD": "2"}
    for words, more in (
        ([], completing),
        (["--help"], {}),
        (["--version"], {}),
        (["discover", "--help"], {}),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0
        assert done.stdout
        assert done.stderr == "", f"{words} imports {done.stderr}"


def test_a_terminal_of_no_columns_gets_the_result_all_the_same():
    program = "from gode.cli import main; main(prog_name='gode')"
    environment = {**os.environ, "COLUMNS": "0"}
    words = [sys.executable, "-c", program, "grammars"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert "first-order" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
@pytest.mark.parametrize("words", [["grammars"], ["grammars", "first-order"], ["--help"]], ids=" ".join)
def test_an_output_without_room_is_one_sentence(words):
    program = "from gode.cli import main; main(prog_name='gode')"
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-c", program, *words]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("gode: the output cannot be written (No space left on device)")
    assert done.stderr.count("\n") == 1


def test_empty_names_and_seeds_below_zero_are_refused():
    assert "the name is empty" in refused("fit", "u' = C*u", GROWTH, "--out", "")
    assert "the name is empty" in refused("discover", GROWTH, "--out", "")
    assert "-1 is not in the range" in refused("model", "check", "first-order", "--seed", "-1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--order", "auto", "--preset", "paper"), "--order auto is not part of the paper's method"),
        (("--start", "u'' = C*u"), "but --order 1 was asked for"),
        (("--start", "u' = C*F"), "pass --force or leave it out"),
        (("--hold", "--interpolation", "cubic"), "--hold contradicts --interpolation cubic"),
        (("--no-hold", "--interpolation", "hold"), "--no-hold contradicts --interpolation hold"),
    ],
    ids=lambda each: "" if isinstance(each, tuple) else each,
)
def test_messages_of_the_library_speak_of_options_not_of_arguments(words, told):
    assert told in refused("discover", GROWTH, *words)


def test_the_lists_of_the_command_line_are_those_of_the_library():
    """They are written twice, as help and completion must not import the library."""
    from gode.cli.records import FORMATS, LINEAR, PETAB
    from gode.cli.request import FIT, table_options
    from gode.data import Interpolation
    from gode.report import LANGUAGES

    command = Command("all", params=[])
    table_options(FIT)(command)
    (interpolation,) = (p for p in command.params if p.name == "interpolation")
    assert set(interpolation.type.choices) == set(Interpolation)
    assert (*LANGUAGES, PETAB, LINEAR) == FORMATS


def test_without_the_benchmarks_their_command_says_how_to_install_them(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: EntryPoints())
    monkeypatch.delitem(main.commands, "bench", raising=False)
    assert refused("bench", "b1").count("pip install ./benchmarks") == 1
    assert "bench " not in gode("--help").output


def test_the_command_of_another_package_is_loaded_when_it_is_called(monkeypatch):
    calls = []
    other = SimpleNamespace(
        load=lambda: calls.append("loaded") or Command("weigh", callback=lambda: echo("3 kg"))
    )
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda name="weigh", **_: [other] if name == "weigh" else []
    )
    monkeypatch.setattr(main, "commands", dict(main.commands))
    assert gode("grammars").exit_code == 0
    assert not calls
    assert gode("weigh").output == "3 kg\n"
