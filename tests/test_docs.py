"""What README, pages and help tell people to type is typed here."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from commands import gode
from gode.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
CHEAP = ("gode grammars", "gode bench methods", 'gode simulate "u')
MAX_PICTURE = 150_000  # bytes


def told_commands() -> Iterator[tuple[str, str]]:
    """Every command with the place that tells it: blocks and inline code of pages, examples of the help."""
    for page in PAGES:
        text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
        fenced = re.findall(r"^```(.*?)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        blocks = [block for language, block in fenced if language in ("", "sh")]
        lines = [line for block in blocks for line in block.splitlines()]
        inline = re.findall(r"(?<!`)`(gode [^`]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))
        yield from ((name, line) for line in [*lines, *inline] if line.startswith("gode "))
    for words, command in all_commands(main, ("gode",)):
        text = f"{command.help or ''}\n{command.epilog or ''}"
        examples = [line.strip() for line in text.splitlines() if line.startswith((" ", "gode "))]
        yield from ((" ".join(words), line) for line in examples if line.startswith("gode "))


def all_commands(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from all_commands(child, (*words, name))


COMMANDS = sorted({command for _, command in told_commands() if "..." not in command})


def accept(line: str) -> None:
    """Go through the command, its options and their types as click does, short of running it."""
    words = shlex.split(line, comments=True)[1:]
    command, context = main, click.Context(main, info_name="gode")
    while isinstance(command, click.Group) and words:
        name = words.pop(0)
        assert name in command.commands, f"{line}: there is no command {name}"
        command = command.commands[name]
    if words or not has_required(command):  # a bare name is a mention
        command.make_context(command.name, words, parent=context)


def has_required(command: click.Command) -> bool:
    return isinstance(command, click.Group) or any(each.required for each in command.params)


def test_there_are_commands_to_check():
    names = {name for name, _ in told_commands()}
    assert {"README.md", "docs/tutorial.md", "docs/command-line.md", "gode", "gode discover"} <= names
    assert len(COMMANDS) > 40


@pytest.mark.parametrize("line", COMMANDS)
def test_told_command_exists_with_its_options(line: str):
    accept(line)


@pytest.mark.parametrize(
    "line", ["gode discovr data.csv", "gode discover data.csv --efort quick", "gode export r --to fortran"]
)
def test_a_wrong_command_would_be_seen(line: str):
    with pytest.raises((AssertionError, click.UsageError)):
        accept(line)


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith(CHEAP)])
def test_cheap_command_runs(line: str):
    result = gode(*shlex.split(line, comments=True)[1:])
    assert result.exit_code == 0, result.output


def python_of(page: Path) -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES[1:] if python_of(page)],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_the_python_of_a_page_runs(page: Path):
    code = python_of(page)
    if "sklearn" in code:
        pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_pictures_lead_somewhere(page: Path):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text) + re.findall(r"^```\{image\} (\S+)", text, re.M)
    for link in links:
        assert (page.parent / link).exists(), link


def test_pictures_are_small():
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert pictures
    assert [p.name for p in pictures if p.stat().st_size > MAX_PICTURE] == []


def test_functions_of_the_method_page_exist():
    text = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    names = re.findall(r"`(gode(?:\.\w+)+)`", text)
    assert len(names) > 25
    for name in names:
        assert is_there(name), name
    assert not is_there("gode.selection.rank")


def is_there(name: str) -> bool:
    """Tell whether a module, or a name in one, exists; a module that is named alone is not imported."""
    place, _, rest = name.rpartition(".")
    with suppress(ModuleNotFoundError):
        if find_spec(name) is not None:
            return True
    while place:
        with suppress(ModuleNotFoundError):
            found = import_module(place)
            return all((found := getattr(found, part, None)) is not None for part in rest.split("."))
        place, _, part = place.rpartition(".")
        rest = f"{part}.{rest}"
    return False
