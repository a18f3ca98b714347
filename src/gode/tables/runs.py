"""Tables to runs: one for each file, value in the column of runs, and column of u; with a summary."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

import numpy as np

from gode.arrays import Float, Int
from gode.errors import DataError
from gode.tables.roles import Roles, assign_columns, run_rows
from gode.tables.table import Table, listed
from gode.tables.times import Times, joined, unrolled

APART = ("time", "run")  # roles that are no signal
LINE = "#line"  # key of the number of each row in its file; no state can have that name
OTHER, MAX_OTHERS = "other: ", 5  # columns without a role that are kept as possible inputs


@dataclass(frozen=True)
class Readings:
    """The runs of some files, each with its columns: t, and u, velocity, ... or the names of a system."""

    runs: tuple[Mapping[str, Float], ...]
    names: tuple[str, ...]  # of the runs; empty if there is only one
    labels: Mapping[str, str]  # role -> name and unit, for display
    told: tuple[str, ...]  # what was read, one sentence per file
    others: Mapping[str, list[Float]]  # columns of numbers without a role, for each run
    inputs: tuple[str, ...] = ()  # of a system, by name

    def column(self, role: str) -> list[Float] | None:
        """Return one column of all runs, or None where there is none."""
        return [run[role] for run in self.runs] if role in self.runs[0] else None


def runs_of_tables(tables: Sequence[Table], asked: Roles) -> Readings:
    """Return the runs in some tables, which must have columns for the same roles."""
    runs: dict[str, Mapping[str, Float]] = {}
    told: list[str] = []
    taken: list[list[Roles]] = []
    for table in tables:
        before = len(runs)
        taken.append(assign_columns(table, asked))
        _check_alike(table, taken[-1][0], tables[0], taken[0][0])
        stem = Path(table.source).stem if len(tables) > 1 else ""
        times, beside = _times(table, taken[-1])
        others = [name for name in _unassigned(table, taken[-1], beside) if table.is_numeric(name)][
            :MAX_OTHERS
        ]
        turns = 0
        for roles in taken[-1]:
            well = str(roles.u) if len(taken[-1]) > 1 else ""
            for name, run, turned in _split(table, roles, times, others):
                runs[_unique(", ".join(filter(None, (stem, well, name))), runs)] = run
                turns = max(turns, turned)
        told.append(_sentence(table, taken[-1], times, beside, turns, len(runs) - before))
    names = tuple(runs) if len(runs) > 1 else ()
    rows = tuple(runs.values())
    free = {key: [run[key] for run in rows] for key in rows[0] if all(key in run for run in rows)}
    columns = {key.removeprefix(OTHER): values for key, values in free.items() if key.startswith(OTHER)}
    return Readings(
        rows, names, _labels(tables[0], taken[0]), tuple(told), columns, tuple(taken[0][0].inputs)
    )


def _times(table: Table, taken: Sequence[Roles]) -> tuple[Times, str]:
    """Return the times, and the second column if date and time of day are in two."""
    name = str(taken[0].time)
    names = {name for roles in taken for _, name in roles.items()}
    for other in table.names if table.is_timed(name) else ():
        if other not in names and table.is_timed(other):
            with suppress(DataError):  # errors in a column that is not needed are ignored
                one, two = (table.times(each, unit="h:mm") for each in (name, other))
                both = joined(one, two) or joined(two, one)
                if both is not None:
                    return both, other
    return table.times(name), ""


def _check_alike(table: Table, roles: Roles, first: Table, theirs: Roles) -> None:
    kinds, known = ([role for role, _ in each.items()] for each in (roles, theirs))
    if kinds != known:
        raise DataError(
            f"{table.source} has columns for {listed(kinds)}, but {first.source} for {listed(known)}; "
            "name the same ones for all files"
        )


def _labels(table: Table, taken: Sequence[Roles]) -> dict[str, str]:
    """Return name and unit of the column of each role; of several columns all names."""
    labels = {role: table.label(name) for role, name in taken[0].items()}
    if len(taken) > 1:
        columns = [str(roles.u) for roles in taken]
        units = {table.unit(name) for name in columns}
        labels["u"] = ",".join(columns) + (f" [{units.pop()}]" if len(units) == 1 and units != {""} else "")
    return labels


def _unique(name: str, names: Collection[str]) -> str:
    """Return `name`, with a number appended if it is taken."""
    numbered = (f"{name} ({i})" for i in count(2))
    return next(each for each in chain([name], numbered) if each not in names)


def _split(
    table: Table, roles: Roles, times: Times, others: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, Float], int]]:
    """Yield name, columns and clock wraps of each run, in which time must increase."""
    columns = {role: table.numbers(name) for role, name in roles.items() if role not in APART}
    for other in others:
        with suppress(DataError):  # errors in a column that is not needed are ignored
            columns[OTHER + other] = table.numbers(other)
    for name, rows in run_rows(table, roles.run).items():
        t, turns = unrolled(times.seconds[rows], times.period)
        if times.form:  # counted from the start of each run
            t = (t - np.nanmin(t, initial=np.inf)) * table.span(str(roles.time))[0]
        _check_time(table, t, rows, roles)
        lines = np.asarray(table.lines[rows], np.float64)
        yield name, {"t": t, LINE: lines, **{role: values[rows] for role, values in columns.items()}}, turns


def _check_time(table: Table, t: Float, rows: Int, roles: Roles) -> None:
    seen = np.isfinite(t)
    t, rows = t[seen], rows[seen]
    step = np.diff(t)
    if np.all(step > 0):
        return
    at = int(np.argmax(step <= 0)) + 1
    where = table.place(int(rows[at]), str(roles.time))
    hint = "" if roles.run else ", or name the column that tells runs apart with --run"
    raise DataError(
        f"{where}: time must increase, but {t[at]:.12g} follows {t[at - 1]:.12g}; "
        f"sort the rows or drop repeats{hint}"
    )


def _sentence(
    table: Table, taken: Sequence[Roles], times: Times, beside: str, turns: int, n_runs: int
) -> str:
    """Return a sentence on what was read from a table."""
    roles = taken[0]
    apart = {"run", *(["u"] if roles.u is not None else [])}
    parts = [f"{role} from {table.label(name)!r}" for role, name in roles.items() if role not in apart]
    if times.form:
        parts[0] = f"time from {roles.time!r}" + (f" and {beside!r}" if beside else "")
        again = {86400.0: ", past midnight", 3600.0: ", past the hour"}.get(times.period, "") if turns else ""
        unit = table.unit(str(roles.time))
        parts[0] += f" ({times.form}{again}, in {'seconds' if unit == 's' else unit})"
    if roles.u is not None:
        columns = [str(each.u) for each in taken]
        parts.insert(1, f"u from {listed([table.label(name) for name in columns])}")
    by = [f"by {roles.run!r}"] if roles.run else []
    by += ["by column"] if len(taken) > 1 else []
    runs = f", {n_runs} runs {' and '.join(by)}" if by else ""
    notes = "".join(f", {note}" for note in table.notes)
    return (
        f"{table.source}: {table.n_rows} rows{runs}{notes}; {', '.join(parts)}{_unused(table, taken, beside)}"
    )


def _unused(table: Table, taken: Sequence[Roles], beside: str) -> str:
    """Return which columns were not used, and how to use them."""
    left = _unassigned(table, taken, beside)
    if not left:
        return ""
    numeric = [name for name in left if table.is_numeric(name)]
    roles, hints = taken[0], []
    if numeric and roles.force is None and not roles.inputs:
        name = numeric[0] if len(numeric) == 1 else "NAME"
        hints.append(f"pass it as --force {shlex.quote(name)} if it drives the system")
    if len(numeric) > 1 and not roles.channels:
        hints.append("--u all if each is a run")
    if numeric and roles.u is not None and len(taken) == 1:
        names = [f'"{name}"' if "," in name else name for name in (roles.u, *numeric)]
        shown = ",".join(names[:2]) + (",..." if len(names) > 2 else "")
        hints.append(f"--states {shlex.quote(shown)} if they are states of one system")
    hint = f" ({', '.join(hints)})" if hints else ""
    return f"; not used: {listed(left)}{hint}"


def _unassigned(table: Table, taken: Sequence[Roles], beside: str) -> list[str]:
    """Return the columns that have no role."""
    names = {beside, *(name for roles in taken for _, name in roles.items())}
    return [name for name in table.names if name not in names]
