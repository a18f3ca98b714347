"""What to take away from a run: report, record, tables, pictures, programs, a notebook, lines of Python."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from gode.cli.discover import asked_options
from gode.data import Dataset
from gode.discovery import Discovery
from gode.errors import EquationError, FileError
from gode.files import read_bytes
from gode.options.entry import Option, flags_of
from gode.options.files import FromFiles
from gode.options.table import Measurements, Searching, Seed
from gode.report.figures import overview, to_svg
from gode.report.languages import code
from gode.studio.runs import DATA, MAX_DATA, RECORD, Job, download_name
from gode.tables.column_options import parts_of
from gode.tables.dataset import DataOptions, parse_values

ALL = "everything.zip"
MAX_FILE = 500_000_000  # bytes
PROGRAMS: Mapping[str, tuple[str, str]] = {  # language and words
    "model.py": ("python", "program in Python"),
    "model.c": ("c", "program in C"),
    "model.jl": ("julia", "program in Julia"),
    "model.m": ("matlab", "program in MATLAB or Octave"),
    "model.mo": ("modelica", "model in Modelica"),
}
SAVED: Mapping[str, str] = {  # by the search itself, where it makes them
    "report.html": "report, one page with everything",
    "record.json": "record, which gode and Python load",
    "fit.csv": "fit and residuals as a table",
    "runs.csv": "constants of each run",
    "overview.png": "picture as PNG",
    "log.txt": "what the command printed",
}
REPORT = "report.html"
SVG, LATEX, NOTEBOOK = "overview.svg", "equation.tex", "notebook.ipynb"
MADE: Mapping[str, str] = {
    SVG: "picture as SVG",
    LATEX: "equation in LaTeX",
    NOTEBOOK: "notebook; it needs the record beside it",
}


@dataclass(frozen=True)
class Files:
    """The files of a run with a result."""

    found: Discovery
    job: Job
    folder: Path
    python: str  # lines that search again
    report: Callable[[], str] | None = None  # makes the report as the page of the run tells it

    def listed(self) -> dict[str, str]:
        """Return the names of the files that there are, with words on each."""
        saved = {name: words for name, words in SAVED.items() if (self.folder / name).is_file()}
        programs = {name: words for name, (_, words) in PROGRAMS.items() if self._program(name)}
        return {**saved, **MADE, **programs, ALL: "all of these and the data"}

    def content(self, name: str) -> bytes:
        """Return a file; what is taken alone is called after the run.

        Raises:
            FileError: if there is none of this name.
        """
        if name not in self.listed():
            raise FileError(f"there is no file {name[:40]!r} to take away")
        return self._packed() if name == ALL else self._content(name, alone=True)

    def _content(self, name: str, *, alone: bool) -> bytes:
        if name == REPORT and self.report is not None:
            return self.report().encode()
        if name in SAVED:
            return read_bytes(self.folder / name, MAX_FILE)
        if name in PROGRAMS:
            return self._program(name)
        if name == SVG:
            return to_svg(overview(self.found)).encode()
        if name == NOTEBOOK:
            return self._notebook(download_name(self.job, RECORD) if alone else RECORD).encode()
        return f"{self.found.equation.latex()}\n".encode()

    def _program(self, name: str) -> bytes:
        """Return the equation as a program; nothing in a language that cannot solve it."""
        try:
            return code(self.found, PROGRAMS[name][0]).encode()
        except EquationError:
            return b""

    def _packed(self) -> bytes:
        """Return all files and the data as an archive."""
        out = BytesIO()
        with ZipFile(out, "w", ZIP_DEFLATED) as archive:
            names = [name for name in self.listed() if name != ALL]
            for name in names:
                archive.writestr(name, self._content(name, alone=False))
            for name in self.job.files:
                data = read_bytes(self.folder / DATA / name, MAX_DATA)
                archive.writestr(f"{DATA}/{name}" if name in names else name, data)
        return out.getvalue()

    def _notebook(self, record: str) -> str:
        """Return a notebook that loads the record, a file of that name, and shows what was found."""
        formula = self.found.equation.latex()
        cells = [
            ("markdown", f"# {self.job.title}\n\n$${formula}$$\n\n{self.found.quality.words}"),
            ("code", f'import gode\n\nd = gode.load("{record}")  # beside this notebook\nd'),
            ("code", "d.equations"),
            ("code", "d.plot()"),
            ("code", "print(d.answers())"),
            (
                "markdown",
                f"To search again, with the data beside this notebook:\n\n```python\n{self.python}\n```",
            ),
        ]
        made = []
        for i, (kind, text) in enumerate(cells):
            lines = text.splitlines(keepends=True)
            cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{i}", "metadata": {}, "source": lines}
            made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps({"cells": made, **about}, indent=1)


WIDTH = 88  # characters of a line
FILES = flags_of(FromFiles)  # what `read_arguments` takes
FOUND = flags_of(Measurements, Searching, Seed)  # what `discover` takes besides


def python_text(files: Sequence[str], words: Sequence[str], dataset: Dataset, order: int | str) -> str:
    """Return lines of Python that do what `gode discover` does with these words.

    Args:
        dataset: as the command reads it.
        order: that the command would use.
    """
    data, choices = asked_options(words)
    read = [repr(name) for name in files] + _reading(data, dataset)
    found = [
        "**data",
        *([] if choices["frame"] or order == 1 else [f"order={order!r}"]),
        *_options(data, choices, len(dataset.runs)),
    ]
    lines = ["import gode", "from gode.measured import read_arguments", ""]
    lines += [_call("data = read_arguments", read), _call("d = gode.discover", found)]
    return "\n".join([*lines, "print(d.equation)", 'd.report("report.html")'])


def _call(head: str, arguments: Sequence[str]) -> str:
    """Return a call; a long one has a line for each argument."""
    short = f"{head}({', '.join(arguments)})"
    return short if len(short) <= WIDTH else "\n".join([f"{head}(", *(f"    {a}," for a in arguments), ")"])


def _reading(data: DataOptions, dataset: Dataset) -> list[str]:
    """Return the arguments about the files; states are called as in the data, which a frame may name."""
    given = {name: getattr(data, name) for name in FILES}
    if data.states is not None and len(dataset.states) > 1:
        columns = [part.word for part in parts_of(data.states)]
        named = zip(dataset.states, columns, strict=False)
        given["states"] = ",".join(_quoted(c if c == name else f"{name}={c}") for name, c in named)
        if data.force is not None and dataset.inputs == ("F",):
            given["force"] = f"F={parts_of(data.force)[0].word}"
    return _arguments(FILES, given)


def _options(data: DataOptions, choices: Mapping[str, object], n_runs: int) -> list[str]:
    """Return the other arguments."""
    rows = [parse_values(text, "--initial") for text in data.initial]
    initial = rows * (n_runs // len(rows)) if rows and n_runs > 1 else rows[:1] and rows[0]
    given = {**vars(data), **choices, "initial": initial or None, "units": data.column_units, "order": 1}
    return _arguments(FOUND, {name: given[name] for name in FOUND if name in given})


def _arguments(table: Mapping[str, Option], given: Mapping[str, object]) -> list[str]:
    """Return the arguments that differ from their defaults, as they are written in Python."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    usual = {name: [] if table[name].default == () else table[name].default for name in given}
    return [f"{name}={value!r}" for name, value in values.items() if value != usual[name] and value != {}]


def _quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text
