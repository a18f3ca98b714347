"""Tables to runs: one for each file, value in the column of runs, and column of u; with a summary."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

import numpy as np

from gode.arrays import Float, Int
from gode.data.columns import INPUT
from gode.data.dataset import Limits
from gode.errors import DataError
from gode.tables.cells import join_list
from gode.tables.doses import DoseColumns, Row, doses_by_run, without_doses
from gode.tables.guess_roles import Roles, assign_columns, reasons_against
from gode.tables.name_clues import is_error_bar, run_rows
from gode.tables.table import Table, listed
from gode.tables.times import Times, joined, unrolled

APART = ("t", "run")  # columns that are no signal
LINE = "#line"  # key of the number of each row in its file; no state can have that name
OTHER = "other: "  # begins the key of a column without a role, which is kept as a possible input
ERRORS = "sd of "  # begins the key of the standard errors of a state
LIMITS = "limits: "  # begins the key of the limits (n, 2) of readings such as <0.05
# This many of such columns are kept. Set by hand: each is tried as an input where a fit is poor, which takes
# time.
MAX_OTHERS = 5
MINUTE = 60.0  # seconds
HOUR = 3600.0  # seconds
DAY = 86400.0  # seconds
# The units of times of day and dates, their seconds, and the length of the longest run up to which each is
# used. Set by hand, so that runs last between about 3 and 600 units.
NATURAL = (
    ("s", 1.0, 10 * MINUTE), ("min", MINUTE, 3 * HOUR), ("h", HOUR, 4 * DAY), ("d", DAY, np.inf)
)  # fmt: skip
WORDS = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days"}
# This many columns without a role are named in a sentence. Set by hand.
MAX_UNUSED = 12
# This many of the words that stand instead of readings are named in a sentence. Set by hand.
MAX_WORDS = 4


@dataclass(frozen=True)
class Readings:
    """The runs of some files, each with its columns: t, the states, their derivatives, and the inputs."""

    runs: tuple[Mapping[str, Float], ...]
    names: tuple[str, ...]  # of the runs; empty if there is only one
    labels: Mapping[str, str]  # name and unit by column, for display
    told: tuple[str, ...]  # what was read, one sentence per file
    others: Mapping[str, list[Float]]  # columns of numbers without a role, for each run
    inputs: tuple[str, ...] = ()  # the columns of known inputs
    doses: tuple[list[Row], ...] = ()  # of each run, where there are some

    def column(self, name: str) -> list[Float] | None:
        """Return one column of all runs, or None where there is none."""
        return [run[name] for run in self.runs] if name in self.runs[0] else None

    def limits(self, run: int, channels: Sequence[str]) -> Limits | None:
        """Return the readings of a run that are known as limits only, of all channels; None without one."""
        columns = self.runs[run]
        found = [(i, columns[LIMITS + name]) for i, name in enumerate(channels) if LIMITS + name in columns]
        known = [(i, ~np.isnan(pairs).any(axis=1) & np.isfinite(columns["t"]), pairs) for i, pairs in found]
        parts = [(columns["t"][rows], np.full(rows.sum(), i), pairs[rows]) for i, rows, pairs in known]
        if not any(len(t) for t, _, _ in parts):
            return None
        t, channel, pairs = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Limits(t, channel, pairs[:, 0], pairs[:, 1]).at(np.argsort(t, kind="stable"))


def runs_of_tables(
    tables: Sequence[Table],
    asked: Roles,
    *,
    natural: bool = False,
    dosing: Sequence[DoseColumns | None] = (),
) -> Readings:
    """Return the runs in some tables, which must have columns for the same roles.

    Args:
        natural: whether times of day and dates count minutes, hours or days where the runs are that long.
        dosing: the columns of each table that tell of doses, where there are such.
    """
    complete = tables
    if any(dosing):
        pairs = zip(tables, dosing, strict=True)
        tables = [table if columns is None else without_doses(table, columns) for table, columns in pairs]
    taken: list[list[Roles]] = []
    clocks: list[tuple[Times, str]] = []
    for table in tables:
        taken.append(assign_columns(table, asked))
        _check_alike(table, taken[-1][0], tables[0], taken[0][0])
        clocks.append(_times(table, taken[-1]))
    if natural:
        tables = _with_natural_units(tables, taken, [times for times, _ in clocks])
    runs: dict[str, Mapping[str, Float]] = {}
    doses: dict[str, list[Row]] = {}
    told: list[str] = []
    for i, (table, roles_of_table, (times, beside)) in enumerate(zip(tables, taken, clocks, strict=True)):
        given = _doses(complete[i], dosing[i] if dosing else None, roles_of_table[0])
        before = len(runs)
        stem = Path(table.source).stem if len(tables) > 1 else ""
        left = _unassigned(table, roles_of_table, beside)
        others = [name for name in left if table.is_numeric(name)][:MAX_OTHERS]
        turns = 0
        for roles in roles_of_table:
            well = str(roles.u) if len(roles_of_table) > 1 else ""
            own = None if table.errors is None else _errors_of(table, table.errors, roles_of_table, roles)
            for name, run, turned in _split(table, roles, times, others, own or {}):
                called = _unique(", ".join(filter(None, (stem, well, name))), runs)
                runs[called], doses[called] = run, given.get(name, [])
                turns = max(turns, turned)
        told += _sentences(table, roles_of_table, times, beside, turns, len(runs) - before)
    names = tuple(runs) if len(runs) > 1 else ()
    rows = tuple(runs.values())
    free = {key: [run[key] for run in rows] for key in rows[0] if all(key in run for run in rows)}
    columns = {key.removeprefix(OTHER): values for key, values in free.items() if key.startswith(OTHER)}
    first = taken[0][0]
    inputs = tuple(first.inputs) if first.force is None else (INPUT,)
    labels = _labels(tables[0], taken[0])
    dosed = tuple(doses.values()) if any(doses.values()) else ()
    return Readings(rows, names, labels, (*told, *_doses_told(dosed)), columns, inputs, dosed)


def _doses(table: Table, columns: DoseColumns | None, roles: Roles) -> dict[str, list[Row]]:
    return {} if columns is None else doses_by_run(table, columns, str(roles.time), roles.run)


def _doses_told(doses: Sequence[Sequence[Row]]) -> list[str]:
    """Return a sentence about the doses of all runs."""
    if not doses:
        return []
    n = sum(map(len, doses))
    infusions = sum(row[3] > 0 for rows in doses for row in rows)
    of_them = f", {infusions} of them infusions" if infusions else ""
    return [f"{n} dose{'s' if n > 1 else ''} in {len(doses)} run{'s' if len(doses) > 1 else ''}{of_them}"]


def _with_natural_units(
    tables: Sequence[Table], taken: Sequence[Sequence[Roles]], clocks: Sequence[Times]
) -> list[Table]:
    """Return the tables with the unit of times of day and dates that suits the longest run."""
    longest = 0.0
    for table, roles, times in zip(tables, taken, clocks, strict=True):
        for rows in run_rows(table, roles[0].run).values() if times.form else ():
            t, _ = unrolled(times.seconds[rows], times.period)
            seen = t[np.isfinite(t)]
            longest = max(longest, float(np.ptp(seen)) if len(seen) else 0.0)
    unit, seconds = next((name, size) for name, size, most in NATURAL if longest < most)
    timed = [str(roles[0].time) for roles in taken]
    return [
        replace(table, spans={name: (1 / seconds, unit), **table.spans}) if times.form else table
        for table, name, times in zip(tables, timed, clocks, strict=True)
    ]


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
    """Return name and unit of each column; of several columns of the file for one all names."""
    labels = {key: table.label(name) for key, name in taken[0].columns().items()}
    if len(taken) > 1:
        columns = [str(roles.u) for roles in taken]
        units = {table.unit(name) for name in columns}
        labels["u"] = ",".join(columns) + (f" [{units.pop()}]" if len(units) == 1 and units != {""} else "")
    return labels


def _unique(name: str, names: Collection[str]) -> str:
    """Return `name`, with a number appended if it is taken."""
    numbered = (f"{name} ({i})" for i in count(2))
    return next(each for each in chain([name], numbered) if each not in names)


def _errors_of(table: Table, errors: Table, taken: Sequence[Roles], roles: Roles) -> dict[str, Float]:
    """Return the standard errors of each state, by their keys: of several wells those of one.

    Raises:
        DataError: if there are not as many columns as states, or as wells.
    """
    states = [key for key in roles.channels if "'" not in key] or ["u"]
    wanted = len(taken) if len(taken) > 1 else len(states)
    if len(errors.names) != wanted:
        what = "columns of u" if len(taken) > 1 else "state" if wanted == 1 else "states"
        raise DataError(
            f"{table.source}: --sd names {len(errors.names)} columns for {wanted} {what}; give one for each"
        )
    own = [errors.names[taken.index(roles)]] if len(taken) > 1 else errors.names
    return {f"{ERRORS}{state}": errors.numbers(name) for state, name in zip(states, own, strict=True)}


def _split(
    table: Table, roles: Roles, times: Times, others: Sequence[str], errors: Mapping[str, Float]
) -> Iterator[tuple[str, Mapping[str, Float], int]]:
    """Yield name, columns and clock wraps of each run, in which time must increase."""
    columns = {key: table.numbers(name) for key, name in roles.columns().items() if key not in APART}
    columns |= errors
    signals = _signals(roles)
    limits = {key: table.limits(name) for key, name in roles.columns().items() if name in signals}
    columns |= {LIMITS + key: pairs for key, pairs in limits.items() if not np.isnan(pairs).all()}
    for other in others:
        with suppress(DataError):  # errors in a column that is not needed are ignored
            columns[OTHER + other] = table.numbers(other)
    for name, rows in run_rows(table, roles.run).items():
        t, turns = unrolled(times.seconds[rows], times.period)
        if times.form:  # counted from the start of each run
            t = (t - np.nanmin(t, initial=np.inf)) * table.span(str(roles.time))[0]
        _check_time(table, t, rows, roles)
        lines = np.asarray(table.lines[rows], np.float64)
        yield name, {"t": t, LINE: lines, **{key: values[rows] for key, values in columns.items()}}, turns


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


def _sentences(
    table: Table, taken: Sequence[Roles], times: Times, beside: str, turns: int, n_runs: int
) -> list[str]:
    """Return what was read from a table, and what is not sure about it or was left out."""
    roles = taken[0]
    apart = {"run", *(["u"] if roles.u is not None else [])}
    errors = [] if table.errors is None else [f"sd from {listed(table.errors.names)}"]
    parts = [f"{role} from {table.label(name)!r}" for role, name in roles.items() if role not in apart]
    if times.form:
        parts[0] = f"time from {roles.time!r}" + (f" and {beside!r}" if beside else "")
        again = {86400.0: ", past midnight", 3600.0: ", past the hour"}.get(times.period, "") if turns else ""
        unit = table.unit(str(roles.time))
        parts[0] += f" ({times.form}{again}, in {WORDS.get(unit, unit)})"
    if roles.u is not None:
        columns = [str(each.u) for each in taken]
        parts.insert(1, f"u from {listed([table.label(name) for name in columns])}")
    by = [f"by {roles.run!r}"] if roles.run else []
    by += ["by column"] if len(taken) > 1 else []
    runs = f", {n_runs} runs {' and '.join(by)}" if by else ""
    notes = "".join(f", {note}" for note in table.notes)
    read = f"{table.n_rows} rows{runs}{notes}; {', '.join([*parts, *errors])}{_unused(table, taken, beside)}"
    return [f"{table.source}: {read}", *table.asks, *_left_out(table, taken)]


def _left_out(table: Table, taken: Sequence[Roles]) -> list[str]:
    """Return which cells hold no reading although they are not empty, and which rows hold none at all."""
    signals = {name for roles in taken for name in _signals(roles)}
    names = dict.fromkeys(
        name for roles in taken for key, name in roles.columns().items() if key not in APART
    )
    out = []
    for name in names:
        limits = Counter(_limit_words(table.limits(name)) if name in signals else [])
        words = {
            repr(word[:20]): count
            for word, count in table.left_out(name).items()
            if not (limits and table.is_limit(word))
        }
        if limits:
            out.append(f"known of {name!r} as limits only, fitted by their probability: {_counted(limits)}")
        if words:
            out.append(f"left out of {name!r}, as no reading: {_counted(words)}")
    unknown = [
        ~np.isfinite(table.numbers(name)) & np.isnan(table.limits(name)).any(axis=1) for name in signals
    ]
    empty = np.all(unknown, axis=0)
    if signals and empty.any():
        lines = [str(line) for line in table.lines[np.flatnonzero(empty)][:5]]
        more = ", ..." if np.sum(empty) > 5 else ""
        n = int(np.sum(empty))
        rows = "1 row holds no reading: line" if n == 1 else f"{n} rows hold no reading: lines"
        out.append(f"{rows} {', '.join(lines)}{more}")
    return out


def _limit_words(limits: Float) -> list[str]:
    """Return limits (n, 2) of readings in words; NaN is none."""
    known = limits[~np.isnan(limits).any(axis=1)]
    return [f"below {high:g}" if np.isinf(low) else f"above {low:g}" for low, high in known.tolist()]


def _counted(words: Mapping[str, int]) -> str:
    """Return how often each word stands in a column."""
    shown = [f"{_times_word(count)} {word}" for word, count in [*words.items()][:MAX_WORDS]]
    shown += [f"{sum([*words.values()][MAX_WORDS:])} other cells"] if len(words) > MAX_WORDS else []
    return ", ".join(shown)


def _times_word(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _signals(roles: Roles) -> list[str]:
    """Return the columns of what was observed."""
    seen = (roles.u, roles.velocity, roles.acceleration, *roles.channels.values())
    return [name for name in seen if name is not None]


def _unused(table: Table, taken: Sequence[Roles], beside: str) -> str:
    """Return which columns were not used, and why, or how to use them."""
    left = _unassigned(table, taken, beside)
    if not left:
        return ""
    why = reasons_against(table, taken[0])
    shown = [f"{name!r} ({why[name]})" if name in why else repr(name) for name in left[:MAX_UNUSED]]
    more = f" and {len(left) - MAX_UNUSED} more" if len(left) > MAX_UNUSED else ""
    numeric = [name for name in left if table.is_numeric(name) and name not in why]
    hint = f" ({', '.join(_hints(numeric, taken))})" if numeric and _hints(numeric, taken) else ""
    errors = [name for name in left if is_error_bar(name) and table.is_numeric(name)]
    weigh = (
        f" (--sd {shlex.quote(join_list(errors))} if it holds standard errors)" if len(errors) == 1 else ""
    )
    return f"; not used: {', '.join(shown)}{more}{hint}{weigh}"


def _hints(numeric: Sequence[str], taken: Sequence[Roles]) -> list[str]:
    """Return how columns of numbers that are left could be used."""
    roles, hints = taken[0], []
    if roles.force is None and not roles.inputs:
        name = numeric[0] if len(numeric) == 1 else "NAME"
        hints.append(f"pass it as --force {shlex.quote(name)} if it drives the system")
    if len(numeric) > 1 and not roles.channels:
        hints.append("--u all if each is a run")
    if roles.u is not None and len(taken) == 1:
        names = [f'"{name}"' if "," in name else name for name in (roles.u, *numeric)]
        shown = ",".join(names[:2]) + (",..." if len(names) > 2 else "")
        hints.append(f"--states {shlex.quote(shown)} if they are states of one system")
    return hints


def _unassigned(table: Table, taken: Sequence[Roles], beside: str) -> list[str]:
    """Return the columns that have no role."""
    names = {beside, *(name for roles in taken for _, name in roles.items())}
    return [name for name in table.names if name not in names]
