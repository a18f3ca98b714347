"""Tables as the page shows them: what was read and why, the columns' roles as guessed, the data to plot."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from gode.cli.asked import asked_data, asked_options
from gode.data import Dataset
from gode.errors import GodeError
from gode.measured.asked import parts_of
from gode.report.naming import axis_label
from gode.report.series import line_series, marks, plot
from gode.studio.form import command_text, command_words, first, problem_of, python_text
from gode.studio.runs import DATA, Job
from gode.tables.read import read_table
from gode.tables.roles import GUESSES, NONE, Roles, assign_columns
from gode.tables.runs import LINE, Readings
from gode.tables.table import Table

SHOWN_ROWS = 8
SHOWN_COLUMNS = 40
MAX_SERIES = 24  # runs that are drawn
MAX_POINTS = 200_000  # of all series together; more are drawn as extremes
CHANNELS = {"velocity": "u'", "acceleration": "u''"}  # of a single signal
WELL = re.compile(r"[A-P]\d{1,2}|(?:well|sample|replicate|rep|tube)[ _-]?\w{1,4}", re.IGNORECASE)


def look(folder: Path, job: Job) -> dict[str, object]:
    """Return how the first file was read: columns with their guessed roles, first rows, notes.

    Raises:
        GodeError: if it is no table.
    """
    table = _table(folder, job)
    roles, wells, why = guess(table)
    rows = [
        [_cell(table, row, i) for i in range(min(len(table.names), SHOWN_COLUMNS))]
        for row in range(min(SHOWN_ROWS, table.n_rows))
    ]
    return {
        "names": list(table.names),
        "units": list(table.units),
        "roles": roles,
        "wells": wells,
        "why": why,
        "lines": table.lines[:SHOWN_ROWS].tolist(),
        "rows": rows,
        "n_rows": table.n_rows,
        "notes": list(table.notes),
        "decimal": table.decimal,
    }


def guess(table: Table) -> tuple[list[str], bool, list[str]]:
    """Return a role for each column, whether columns are runs, and why each role was guessed."""
    try:
        taken = assign_columns(table, Roles())[0]
    except GodeError as error:
        return ["ignored"] * len(table.names), False, [str(error), *[""] * (len(table.names) - 1)]
    wells = [n for n in table.names if WELL.fullmatch(n) and table.is_numeric(n) and n != taken.time]
    many = len(wells) > 1 and taken.u in wells
    known = {
        "time": "time",
        "u": "state",
        "velocity": "velocity",
        "acceleration": "acceleration",
        "force": "input",
        "run": "run",
    }
    found = {name: known[role] for role, name in taken.items()}
    found |= dict.fromkeys(wells, "state") if many else {}
    why = []
    for name in table.names:
        role = found.get(name)
        if role is None:
            kind = "numbers" if table.is_numeric(name) else "times" if table.is_timed(name) else "text"
            why.append(f"{kind}; nothing says what it is")
        elif many and name in wells:
            why.append("named like the well of a plate")
        else:
            why.append(_reason(table, name, next(r for r, n in taken.items() if n == name)))
    return [found.get(name, "ignored") for name in table.names], many, why


def _reason(table: Table, name: str, role: str) -> str:
    plain = re.sub(r"\(t\)$", "", name.lower().replace(" ", ""))
    if any(plain == word or plain.startswith(f"{word}_") for word in GUESSES[role].split()):
        return f"its name means {'the signal' if role == 'u' else role}"
    if role == "time":
        return "it holds times or dates" if table.is_timed(name) else "the first column that increases"
    return "the first column of numbers that is left"


def check(folder: Path, job: Job) -> dict[str, object]:
    """Return the command for what was chosen, what it takes from the file, and what is wrong with it."""
    table = _table(folder, job)
    problem = problem_of(job.form, table.names)
    words = command_words(job.form, table.names, job.edits)
    told: list[str] = []
    if not problem:
        try:
            words = closed(table, job, words)
            _, readings, notes = read(folder, job, words)
            told = [*readings.told, *notes]
        except GodeError as error:
            problem = str(error).replace(f"{folder / DATA}/", "")
    return {
        "words": words,
        "problem": problem,
        "told": told,
        "command": command_text(parted_files(job), words),
        "python": python_text(job.files, job.form, table.names, job.edits),
    }


def closed(table: Table, job: Job, words: list[str]) -> list[str]:
    """Return the words, with `none` for the roles that would be guessed although no column was chosen."""
    options, _ = asked_options([*parted_files(job), *words])
    given = {
        role: getattr(options, role) for role in ("time", "u", "velocity", "acceleration", "force", "run")
    }
    if options.states is not None:
        return words + [w for role in ("run",) if not given[role] for w in _bar(table, role, given)]
    several = [role for role in ("velocity", "acceleration", "force", "run") if given[role] is None]
    return words + [word for role in several for word in _bar(table, role, given)]


def _bar(table: Table, role: str, given: Mapping[str, str | None]) -> list[str]:
    names = {plain.lower() for plain in table.names}
    alone = {word for word in GUESSES[role].split()}
    return [f"--{role}", NONE] if {n.replace(" ", "").removesuffix("(t)") for n in names} & alone else []


def read(folder: Path, job: Job, words: Sequence[str]) -> tuple[Dataset, Readings, list[str]]:
    """Return the data as the command reads them, and what it says about them.

    Raises:
        GodeError: if the command would refuse them.
    """
    files = [str(folder / DATA / name) for name in parted_files(job)]
    dataset, readings, notes = asked_data(files, words)
    told = tuple(sentence.replace(f"{folder / DATA}/", "") for sentence in readings.told)
    return dataset, replace(readings, told=told), notes


def parted_files(job: Job) -> list[str]:
    """Return the files as the command names them: FILE, or FILE:PART where a sheet was chosen."""
    part = first(job.form, "part")
    return [f"{name}:{part}" if part else name for name in job.files]


def drawing(folder: Path, job: Job) -> dict[str, object]:
    """Return the plots of what was read: of each signal and input, the runs over time.

    Raises:
        GodeError: if nothing can be read.
    """
    table = _table(folder, job)
    words = closed(table, job, command_words(job.form, table.names, job.edits))
    dataset, readings, _ = read(folder, job, words)
    columns = _columns(words, dataset)
    keys = [key for key in readings.runs[0] if key not in ("t", LINE) and not key.startswith("other: ")]
    names = readings.names or ("",)
    plots = []
    most = MAX_POINTS // max(len(keys) * min(len(names), MAX_SERIES), 1)
    for key in keys:
        is_input = key == "force" or key in readings.inputs
        series = []
        for name, run in list(zip(names, readings.runs, strict=True))[:MAX_SERIES]:
            label = name or readings.labels.get(key, key)
            make = line_series if is_input else marks
            made = make(label, run["t"], run[key], most=most)
            series.append(
                {**made, "lines": run[LINE].astype(int).tolist(), "column": columns.get(key, label)}
                if len(run["t"]) <= most
                else made
            )
        label = readings.labels.get(key, key)
        title = f"{'input ' if is_input else ''}{label}"[:80]
        channel = CHANNELS.get(key, key)
        plots.append(plot(title, axis_label(dataset, "t"), label[:60], series, channel=channel))
    return {"plots": plots, "n_runs": len(readings.runs), "n_drawn": min(len(names), MAX_SERIES)}


def _columns(words: Sequence[str], dataset: Dataset) -> dict[str, str]:
    """Return the column of each key, where it is one column."""
    labels = {key: value.rsplit(" [", 1)[0] for key, value in dataset.labels.items()}
    return {key: name for key, name in labels.items() if len(parts_of(name)) == 1}


def _table(folder: Path, job: Job) -> Table:
    path = folder / DATA / job.files[0]
    part = first(job.form, "part")
    return _read(f"{path}:{part}" if part else str(path), path.stat().st_mtime_ns, job.files[0])


@lru_cache(maxsize=4)
def _read(path: str, changed: int, name: str) -> Table:
    try:
        return read_table(path)
    except GodeError as error:
        text = str(error).replace(path, name)
        raise type(error)(text) from None


def _cell(table: Table, row: int, column: int) -> str:
    value = table.frame[column].iloc[row]
    if value is None or value != value:
        return ""
    return f"{value:.8g}" if isinstance(value, float | np.floating) else str(value)[:60]
