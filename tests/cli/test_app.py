import os
import subprocess
import sys

import pytest
from click import Group

from commands import GROWTH, gode
from gode.cli import main


def commands(group, path=()):
    for name, command in group.commands.items():
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
