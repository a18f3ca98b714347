"""What README, pages and help tell people to type is typed here."""

import os
import re
import runpy
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
from PIL import Image

from commands import gode
from gode.cli import main
from gode.equation.operators import FUNCTIONS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
CHEAP = ("gode grammars", "gode bench methods", 'gode simulate "')
MAX_PICTURE = 150_000  # bytes
PICTURES = ROOT / "docs" / "pictures"


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
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from all_commands(child, (*words, name))


COMMANDS = sorted({command for _, command in told_commands() if "..." not in command})


def accept(line: str) -> None:
    """Go through the command, its options and their types as click does, short of running it."""
    words = shlex.split(line, comments=True)[1:]
    command, context = main, click.Context(main, info_name="gode")
    while isinstance(command, click.Group) and words:
        name = words.pop(0)
        child = command.get_command(context, name)
        assert child is not None, f"{line}: there is no command {name}"
        command = child
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
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path):
    code = python_of(page)
    if "sklearn" in code:
        pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
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
    pictures = sorted(PICTURES.iterdir())
    assert pictures
    assert [p.name for p in pictures if p.stat().st_size > MAX_PICTURE] == []


def make_pictures() -> dict[str, object]:
    """The script, as a namespace."""
    return runpy.run_path(str(ROOT / "scripts" / "make_pictures.py"))


def test_pictures_of_the_gallery_were_drawn_by_the_code_above_them():
    script = make_pictures()
    blocks = script["blocks"]()
    assert len(blocks) > 10
    for name, code in blocks.items():
        with Image.open(PICTURES / f"{name}.png") as picture:
            told = picture.text[script["KEY"]]
        assert told == script["fingerprint"](code), f"python scripts/make_pictures.py {name}"


def test_every_block_of_the_gallery_has_a_picture_and_every_picture_its_page():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    names = set(make_pictures()["blocks"]())
    assert text.count("```python") == len(names)
    drawn = {path.stem for path in PICTURES.glob("*.png")}
    assert drawn == {*names, make_pictures()["STUDIO"]}, "a picture that no code makes goes stale"


@pytest.mark.slow
@pytest.mark.parametrize("name", make_pictures()["blocks"]())
def test_code_of_the_gallery_draws_a_picture(name: str, tmp_path: Path):
    program = tmp_path / "block.py"
    program.write_text(make_pictures()["blocks"]()[name], encoding="utf-8")
    runpy.run_path(str(program))["picture"].savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


OUTSIDE = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=["']?(?:https?:)?//[^"'>]*""")


@pytest.mark.slow
def test_built_pages_need_no_network(tmp_path: Path):
    for needed in ("sphinx", "myst_parser", "pydata_sphinx_theme", "latex2mathml"):
        pytest.importorskip(needed, reason="the pages are built with the docs extra")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "docs",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    pages = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    assert {path.name: OUTSIDE.findall(text) for path, text in pages.items() if OUTSIDE.search(text)} == {}
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), (
            sheet
        )
    assert "_NestedSequence" not in (tmp_path / "api.html").read_text(encoding="utf-8"), "types have names"
    method = (tmp_path / "method.html").read_text(encoding="utf-8")
    assert method.count("<math") > 20
    assert "\\mathbb" not in re.sub(r"<annotation.*?</annotation>", "", method)


@pytest.mark.parametrize(("page", "least"), [("method.md", 25), ("method-paper.md", 15), ("house.md", 40)])
def test_functions_of_the_method_pages_exist(page: str, least: int):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names = re.findall(r"`(gode(?:\.\w+)+)`", text)
    assert len(names) > least
    for name in names:
        assert is_there(name), name
    assert not is_there("gode.selection.nothing")


def test_the_page_on_formats_names_every_function():
    text = (ROOT / "docs" / "file-formats.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `'C'` in quotes.*$", text, re.M)
    assert {*FUNCTIONS} - {"max0"} <= {*re.findall(r"\w+", row)}, "max(0, x) is no terminal"


def test_files_of_the_page_for_contributors_exist():
    text = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    names = re.findall(r"`((?:src|tests|benchmarks)/[\w./]*)`", text)
    assert len(names) > 25
    assert not [name for name in names if not (ROOT / name).exists()]
    rooms = {path.name for path in (ROOT / "src" / "gode").iterdir() if (path / "__init__.py").exists()}
    assert not [room for room in sorted(rooms) if f"`src/gode/{room}/`" not in text]


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
