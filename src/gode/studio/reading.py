"""Tables as the page shows them: what was read and why, the command that reads it, the data to plot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from gode.arrays import Float
from gode.cli.app import in_options
from gode.cli.discover import asked_data, asked_options, discover_command
from gode.data import Dataset
from gode.discovery.options import Options
from gode.errors import DataError, FileError, GodeError
from gode.files import read_head
from gode.identifiers import identifiers
from gode.report.naming import axis_label
from gode.report.spec import Kind, Plot, Trace
from gode.search.assumptions import MEANINGS
from gode.studio.form import (
    ROLES,
    as_states,
    command_text,
    command_words,
    data_words,
    first,
    in_words,
    problem_of,
    reading_words,
)
from gode.studio.runs import DATA, Job
from gode.studio.takeaway import python_text
from gode.tables.binary import sheet_names, sheet_text
from gode.tables.cells import NONE, number
from gode.tables.column_options import parts_of, taken_words
from gode.tables.dataset import dataset_of
from gode.tables.doses import Course, DoseColumns, course_of, find_dose_columns, repeats_a_dose, without_doses
from gode.tables.guess_roles import Roles, survey
from gode.tables.name_clues import Clocking, find_clocking, hovers, is_blank, is_input, is_known
from gode.tables.read import read_table, read_whole
from gode.tables.runs import LIMITS, LINE, OTHER, Readings
from gode.tables.table import Table
from gode.tables.text import GUESSED, Reading, decode_text

HEAD = 60_000  # bytes of a file that are looked at again
ZIP = b"PK"
WIDE = (b"\xff\xfe", b"\xfe\xff")  # begin texts of two bytes a character, which hold zero bytes
BEFORE, AFTER = 8, 5  # so many lines above the header and from the first numbers on are shown
LONGEST = 200  # characters of a line that are shown
SEPARATORS = {"tabs": "\t", "semicolons": ";", "bars": "|", "commas": ","}


def how_read(table: Table, path: Path) -> list[str]:
    """Return how the text of a file was read, each with the reason; nothing for files that are no text."""
    head = read_head(path, HEAD)
    if head.startswith(ZIP) or (b"\0" in head and not head.startswith(WIDE)):
        return []
    lines = decode_text(head, path.name).splitlines()
    first = int(table.lines[0])
    raw = lines[first - 1] if first <= len(lines) else ""
    return [*_splitting(table, raw, first), *_naming(table, first), *_timing(table)]


def raw_lines(table: Table, path: Path, sheet: str) -> tuple[list[tuple[int, str]], int]:
    """Return the first lines of a text or a sheet with their numbers, and which of them holds the names.

    That is 0 if the file has no header; a file that is no text has no lines.
    """
    head = read_head(path, HEAD)
    if head.startswith(ZIP):
        text = sheet_text(read_whole(str(path)), path.name, sheet)[1]
    elif b"\0" in head and not head.startswith(WIDE):
        return [], 0
    else:
        text = decode_text(head, path.name)
    lines = text.splitlines()
    first = min(int(table.lines[0]), len(lines) + 1)
    named = [sum(name in line for name in table.names) for line in lines[: first - 1]]
    header = max(range(len(named)), key=lambda i: (named[i], i), default=-1) + 1
    header = header if header and named[header - 1] else 0
    start = max(header - BEFORE, 1)
    shown = lines[start - 1 : max(first, header) + AFTER - 1][: BEFORE + 2 * AFTER]
    return [(start + i, line.expandtabs(4)[:LONGEST]) for i, line in enumerate(shown)], header


def _splitting(table: Table, raw: str, line: int) -> list[str]:
    """Return sentences on separators and decimal signs, with what shows them."""
    said = next((note.removeprefix("separated by ") for note in table.notes if "separated" in note), "commas")
    n = raw.count(SEPARATORS.get(said, " "))
    out = (
        [f"Columns are separated by {said}: line {line} has {n} for {len(table.names)} columns."] if n else []
    )
    if said == "spaces":
        out = ["Columns are separated by spaces."]
    if table.decimal == ",":
        cells = [cell.strip() for cell in raw.split(SEPARATORS.get(said))]
        shown = next((c for c in cells if "," in c and number(c, ",") is not None), "")
        out.append("Numbers have decimal commas" + (f", as in {shown}." if shown else "."))
    out += [f"{note[0].upper()}{note[1:]}." for note in table.notes if "thousands" in note or "below" in note]
    return out


def _naming(table: Table, first: int) -> list[str]:
    """Return sentences on the names and units of columns."""
    if all(name == f"column {i + 1}" for i, name in enumerate(table.names)):
        return [f"There is no header: the numbers begin in line {first}, so the columns are counted."]
    units = [f"{n} in {u}" for n, u in zip(table.names, table.units, strict=True) if u]
    told = [f"Units stand in the header: {', '.join(units[:6])}."] if units else []
    return [f"Names come from the header, and the numbers begin in line {first}.", *told]


def _timing(table: Table) -> list[str]:
    """Return a sentence on columns of times of day and dates."""
    timed = [name for name in table.names if table.is_timed(name)]
    words = "is counted from its start in the unit that suits its length; “Edit the data” converts it."
    return [f"{timed[0]} holds times and {words}"] if timed else []


def sheets(path: Path) -> list[str]:
    """Return the sheets of a workbook; nothing for another file."""
    return sheet_names(read_whole(str(path))) if read_head(path, len(ZIP)) == ZIP else []


def guess(table: Table) -> tuple[list[str], bool, list[str], list[str]]:
    """Return a role for each column, whether columns are runs, the reason for each, and what to check."""
    dosing = find_dose_columns(table, ())
    plain, asked = table, Roles()
    if dosing is not None:
        plain, asked = without_doses(table, dosing), Roles(time=dosing.time, run=dosing.run, u=dosing.reading)
    try:
        clocking, signals = survey(plain, asked)
    except GodeError as error:
        kinds = [_kind(table, name) for name in table.names]
        return ["ignored"] * len(table.names), False, kinds, [*table.asks, str(error)]
    found = {clocking.time: "time", **dict.fromkeys(signals.states, "state")}
    found |= {name: "velocity" for name in [signals.velocity] if name}
    found |= {name: "acceleration" for name in [signals.acceleration] if name}
    found |= dict.fromkeys(signals.inputs, "input")
    found |= {name: "run" for name in [clocking.run] if name}
    if dosing is not None:
        found |= dict.fromkeys([name for name in (dosing.reading,) if name], "state")
        found |= {**dict.fromkeys(dosing.apart, "ignored"), dosing.amounts[0][0]: "dose"}
    why = {**signals.why, clocking.time: f"{clocking.why_time}{_form(table, clocking.time)}"}
    why |= {clocking.run: clocking.why_run} if clocking.run else {}
    why |= dict.fromkeys(_of_doses(dosing), "a table of doses, as NONMEM takes it") if dosing else {}
    once = None if signals.apart else _dose_of_each_run(table, clocking, list(signals.states))
    if once:
        found[once] = "dose"
        why[once] = "its name means dose, and it is the same throughout each run: one dose, at the first row"
    reasons = [why.get(name) or _kind(table, name) for name in table.names]
    asks = [ask.partition(" (--")[0] for ask in (*table.asks, *signals.asks)]
    return [found.get(name, "ignored") for name in table.names], signals.apart, reasons, asks


def _dose_of_each_run(table: Table, clocking: Clocking, states: list[str]) -> str | None:
    """Return the column that repeats the dose of each run, if the readings show that it is cleared."""
    for name in table.names if len(states) == 1 else ():
        if name not in (*states, clocking.time, clocking.run) and repeats_a_dose(table, name, clocking.run):
            return name if _course(table, name, clocking.time, clocking.run, states[0]).is_cleared else None
    return None


def _course(table: Table, dose: str, time: str, run: str | None, reading: str) -> Course:
    columns = find_dose_columns(table, ()) or DoseColumns(((dose, reading),), listed=False)
    return course_of(table, columns, time, run, reading)


def suggested(table: Table, roles: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return what the data suggest to know, as choices of the page, and what to check about it."""
    of = {role: [n for n, r in zip(table.names, roles, strict=True) if r == role] for role in ROLES}
    found = _blanks(table, roles) if of["state"] else []
    asks = [f"{name!r} is not subtracted; “Edit the data” does it, if readings hold it" for name in found]
    depot = len(of["dose"]) == len(of["state"]) == len(of["time"]) == 1 and "depot" not in table.names
    known, more = _depot(table, of) if depot else ({}, [])
    return known, [*asks, *more]


def _blanks(table: Table, roles: Sequence[str]) -> list[str]:
    """Return the first column that is called a blank, has numbers and no role."""
    pairs = zip(table.names, roles, strict=True)
    return [name for name, role in pairs if role == "ignored" and is_blank(name) and table.is_numeric(name)][
        :1
    ]


def _depot(table: Table, of: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the law of a depot that was not measured, if readings rise after a dose before they fall.

    The two rates could change places; absorption is taken to be the faster, beyond one over the latest peak.
    """
    dose, reading = of["dose"][0], of["state"][0]
    peak = _course(table, dose, of["time"][0], next(iter(of["run"]), None), reading).peak
    if not peak:
        return {}, []
    name = identifiers([reading], taken_words())[0]
    law = f"depot' = -ka*depot; {name}' = ka*depot/V - ke*{name}"
    ask = (
        f"{reading!r} rises after each dose before it falls, so the dose is taken to be absorbed from a "
        "depot that was not measured; its law stands under “What you know”, and can be changed there"
    )
    return {"frame": [law], "bounds": [f"ka = {1 / peak:.2g}:"]}, [ask]


def _of_doses(dosing: DoseColumns) -> list[str]:
    """Return the columns that a table of doses has for amounts, readings, people and times."""
    return [name for name in (dosing.amounts[0][0], dosing.reading, dosing.run, dosing.time) if name]


def _kind(table: Table, name: str) -> str:
    kind = "numbers" if table.is_numeric(name) else "times" if table.is_timed(name) else "text"
    return f"{kind}; nothing says what it is"


def _form(table: Table, name: str) -> str:
    """Return how times of day and dates are read."""
    if not table.is_timed(name):
        return ""
    try:
        return f"; read as {table.times(name).form}"
    except GodeError:  # told where the data are read
        return ""


SHOWN_ROWS = 5
MAX_SERIES = 24  # runs that are drawn
MAX_UNUSED = 3  # of them are drawn
FAINT = 0.25  # is their opacity
MAX_POINTS = 200_000  # of all series together; more are drawn as extremes


def look(folder: Path, job: Job) -> dict[str, object]:
    """Return how the first file was read: columns with their guessed roles, first rows, reasons.

    Raises:
        GodeError: if it is no table.
    """
    table, path = _readable(folder, job), folder / DATA / job.files[0]
    roles, wells, why, asks = guess(table)
    if not any(table.is_numeric(name) for name in table.names):
        raise DataError(
            f"{job.files[0]} holds no table of numbers: no column has numbers in most of its rows; choose a "
            "file with a column of times and one of what was measured"
        )
    rows = [
        [_cell(table, row, i) for i in range(len(table.names))]
        for row in range(min(SHOWN_ROWS, table.n_rows))
    ]
    lines, header = raw_lines(table, path, first(job.form, "part"))
    known, more = suggested(table, roles)
    return {
        "lines": lines,
        "header": header,
        "names": list(table.names),
        "units": list(table.units),
        "numeric": [table.is_numeric(name) or table.is_timed(name) for name in table.names],
        "roles": roles,
        "wells": wells,
        "known": known,
        "blank": _blanks(table, roles),
        "why": why,
        "rows": rows,
        "n_rows": table.n_rows,
        "notes": list(table.notes),
        "how": how_read(table, path),
        "check": [f"Check this: {in_words(ask)}." for ask in (*asks, *more)],
        "sheets": sheets(path),
        "assumptions": [[name, words] for name, words in MEANINGS.items()],
    }


def check(folder: Path, job: Job) -> dict[str, object]:
    """Return the command for what was chosen, what it takes from the file, and what is wrong with it."""
    table = _readable(folder, job)
    problem = problem_of(job.form, table.names)
    words = command_words(job.form, table.names, job.edits)
    told: list[str] = []
    python = ""
    if not problem:
        try:
            words = closed(table, words)
            dataset, readings, options, notes = read(folder, job, words)
            told = [in_words(sentence) for sentence in (*readings.told, *notes)]
            python = python_text(job.sources, words, dataset, options.order)
        except GodeError as error:
            problem = in_words(in_options(str(error), discover_command)).replace(f"{folder / DATA}/", "")
    command = command_text(job.sources, words)
    return {"words": words, "problem": problem, "told": told, "command": command, "python": python}


def closed(table: Table, words: list[str]) -> list[str]:
    """Return the words, with `none` for the roles that would be guessed although no column was chosen."""
    options, _ = asked_options(words)
    roles = ("run",) if options.states is not None else ("velocity", "acceleration", "run")
    free = [role for role in ("force", *roles) if getattr(options, role) is None]
    return words + [
        word for role in free if _is_guessed(table, role, options.time) for word in (f"--{role}", NONE)
    ]


def _is_guessed(table: Table, role: str, time: str | None) -> bool:
    """Tell whether some column could be taken for a role that nobody gave."""
    if role == "run":
        return find_clocking(table, time, None).run is not None
    names = [name for name in table.names if is_known(name, role)]
    return bool(names) or (role == "force" and any(map(is_input, table.names)))


def read(folder: Path, job: Job, words: Sequence[str]) -> tuple[Dataset, Readings, Options, list[str]]:
    """Return the data as the command reads them, the options of the search, and what it says about them.

    Raises:
        GodeError: if the command would refuse them.
    """
    dataset, readings, options, notes = asked_data(_tables(folder, job), words)
    told = tuple(sentence.replace(f"{folder / DATA}/", "") for sentence in readings.told)
    return dataset, replace(readings, told=told), options, notes


def drawing(folder: Path, job: Job) -> dict[str, object]:
    """Return the plots of what was read: of each signal and input, the runs over time.

    Raises:
        GodeError: if nothing can be read.
    """
    table = _table(folder, job)
    words = closed(table, data_words(as_states(job.form), table.names, job.edits))  # whatever is wrong else
    dataset, readings = dataset_of(_tables(folder, job), asked_options(words)[0])
    columns = columns_of(dataset)
    used = [key for key in readings.runs[0] if key not in ("t", LINE) and not key.startswith((OTHER, LIMITS))]
    unused = [f"{OTHER}{name}" for name in moving(readings)][:MAX_UNUSED]
    keys = used + unused
    names = readings.names or ("",)
    plots = []
    most = MAX_POINTS // max(len(keys) * min(len(names), MAX_SERIES), 1)
    for key in keys:
        label = readings.labels.get(key, key).removeprefix(OTHER)
        is_input = key in readings.inputs
        is_used = key in used
        kind = Kind.LINE if is_input else Kind.POINTS
        series = []
        for name, run in list(zip(names, readings.runs, strict=True))[:MAX_SERIES]:
            trace = Trace(
                kind, name or label, run["t"], run[key], most=most, alpha=None if is_used else FAINT
            )
            if len(run["t"]) <= most:
                trace = replace(trace, lines=run[LINE], column=columns.get(key, name or label))
            series.append(trace)
        title = f"{'input ' if is_input else '' if is_used else 'not used: '}{label}"[:80]
        time = axis_label(dataset, "t")
        height = (260 if len(used) == 1 else 200) if is_used else 120
        legend = None if is_used else False
        plots.append(
            Plot(title=title, x=time, y=label[:60], traces=series, channel=key, height=height, legend=legend)
        )
    return {
        "plots": [plot.as_json() for plot in plots],
        "n_runs": len(readings.runs),
        "n_drawn": min(len(names), MAX_SERIES),
    }


def moving(readings: Readings) -> list[str]:
    """Return the columns of numbers without a role that move within runs, and may act on the system."""
    return [name for name, runs in readings.others.items() if not is_blank(name) and _moves(runs)]


def _moves(runs: Sequence[Float]) -> bool:
    """Tell whether numbers change within runs, do not count rows, and do more than tremble about a value."""
    seen = [x for x in runs if len(x) > 2 and np.isfinite(x).all()]
    moving = any(np.ptp(x) > 0 and np.ptp(np.diff(x)) > 0 for x in seen)
    ends = np.cumsum([len(x) for x in seen])
    rows = [np.arange(end - len(x), end) for x, end in zip(seen, ends, strict=True)]
    return moving and not hovers(np.concatenate(seen), rows)


def columns_of(dataset: Dataset) -> Mapping[str, str]:
    """Return the column of each key, where it is one column."""
    labels = {key: value.rsplit(" [", 1)[0] for key, value in dataset.labels.items()}
    return {key: name for key, name in labels.items() if len(parts_of(name)) == 1}


def _table(folder: Path, job: Job) -> Table:
    return _read(*_source(folder, job, 0), _reading(job))


def _readable(folder: Path, job: Job) -> Table:
    """Return the first file as it is said to be written, or as is found out where that does not suit."""
    try:
        return _table(folder, job)
    except GodeError:
        return _read(*_source(folder, job, 0), GUESSED)


def _tables(folder: Path, job: Job) -> list[Table]:
    return [_read(*_source(folder, job, i), _reading(job)) for i in range(len(job.files))]


def _reading(job: Job) -> Reading:
    return asked_options(reading_words(job.form))[0].reading


def _source(folder: Path, job: Job, i: int) -> tuple[str, int, str]:
    try:
        changed = (folder / DATA / job.files[i]).stat().st_mtime_ns
    except OSError:
        raise FileError(f"{job.files[i]} is not there any more; send it again as a new run") from None
    return str(folder / DATA / job.sources[i]), changed, job.files[i]


@lru_cache(maxsize=8)
def _read(path: str, changed: int, name: str, reading: Reading) -> Table:
    try:
        return read_table(path, reading)
    except GodeError as error:
        text = str(error).replace(path, name)
        raise type(error)(text) from None


def _cell(table: Table, row: int, column: int) -> str:
    value = table.columns[column][row]
    if value is None or value != value:
        return ""
    return f"{value:.8g}" if isinstance(value, float | np.floating) else str(value)[:60]
