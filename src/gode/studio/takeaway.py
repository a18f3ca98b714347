"""The files to take away from a run: report, record, tables, pictures, programs, a notebook, all in one."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from gode.discovery import Discovery
from gode.errors import EquationError, FileError
from gode.files import read_bytes
from gode.report.code import code
from gode.report.figures import overview, to_svg
from gode.studio.runs import DATA, MAX_DATA, RECORD, Job, called

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
            return self._notebook(called(self.job, RECORD) if alone else RECORD).encode()
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
