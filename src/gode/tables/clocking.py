"""Which column holds the times, and which one tells runs apart: by name, else by how they behave together."""

from collections.abc import Collection, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.errors import DataError
from gode.tables.cells import number
from gode.tables.clues import (
    GUESSES,
    counts_rows,
    falls,
    is_counter,
    is_of_time,
    is_temperature,
    named,
    plain,
    rises,
    tells_runs,
)
from gode.tables.table import Table, listed
from gode.tables.times import unrolled


class Clocking(NamedTuple):
    """The column of times and that of runs, and why each was taken."""

    time: str
    run: str | None
    why_time: str
    why_run: str = ""


def find_clocking(
    table: Table, time: str | None, run: str | None, taken: Collection[str] = (), *, runs: bool = True
) -> Clocking:
    """Return the columns of times and of runs, those that are given or the ones that fit together.

    Args:
        taken: columns that are neither.
        runs: whether a column of runs may be guessed.

    Raises:
        DataError: if no column can be one of times.
    """
    why_run = "asked for"
    if run is None and runs:
        run, why_run = _named_run(table, {*taken, *([time] if time else [])}), "its name means run"
    if time is not None:
        own, why = _restarting(table, time, run, {*taken, time}, runs=runs)
        return Clocking(time, own, "asked for", why or why_run)
    named_ones = list(_candidates(table, {*taken, run}))
    for name, why_time in named_ones:
        if _rises(table, name, run):
            return Clocking(name, run, why_time, why_run)
        own, why = _restarting(table, name, run, {*taken, name}, runs=runs)
        if own != run:
            return Clocking(name, own, why_time, why)
    if named_ones:  # out of order, which is told where the rows are read
        return Clocking(*named_ones[0][:1], run, named_ones[0][1], why_run)
    return Clocking(_increasing(table, {*taken, run}, run), run, "the first column that increases", why_run)


def run_rows(table: Table, run: str | None) -> dict[str, Int]:
    """Return the rows of each run, by its name."""
    if run is None:
        return {"": np.arange(table.n_rows)}
    words = np.array(table.words(run), dtype=object)
    return {_called(run, word): np.flatnonzero(words == word) for word in dict.fromkeys(words.tolist())}


def values_of(table: Table, name: str) -> Float:
    """Return numbers or times, to look at how they behave; NaN for all if some cannot be read."""
    try:
        return table.times(name, unit="h:mm").seconds if table.is_timed(name) else table.numbers(name)
    except DataError:
        return np.full(table.n_rows, np.nan)


def _named_run(table: Table, taken: Collection[str]) -> str | None:
    name = named(table, GUESSES["run"].split(), taken)
    return name if name is not None and _repeats(table, name) else None


def _candidates(table: Table, taken: Collection[str | None]) -> Iterator[tuple[str, str]]:
    """Yield the columns that may hold times: by a known name, dates, then longer names that speak of time."""
    left = [name for name in table.names if name not in taken]
    usable = [name for name in left if table.is_timed(name) or table.is_numeric(name)]
    words = GUESSES["time"].split()
    known = sorted((n for n in usable if plain(n) in words), key=lambda n: words.index(plain(n)))
    capital = [name for name in known if name.strip() == "T"]
    exact = [name for name in known if name not in capital]
    timed = [name for name in usable if name not in known and table.is_timed(name)]
    spoken = [name for name in usable if name not in known and name not in timed and is_of_time(name)]
    falling = [name for name in exact if not table.is_timed(name) and falls(values_of(table, name))]
    yield from ((name, "its name means time") for name in exact if name not in falling)
    yield from ((name, "it holds times or dates") for name in timed)
    yield from ((name, "its name speaks of time") for name in spoken if not falls(values_of(table, name)))
    for name in capital:
        if not is_temperature(table, name) and _rises(table, name, None):
            yield name, "its name means time"
    yield from ((name, "its name means time") for name in falling)


def _restarting(
    table: Table, time: str, run: str | None, taken: Collection[str], *, runs: bool
) -> tuple[str | None, str]:
    """Return the column of runs, and why; one is looked for where the times begin again."""
    if run is not None or not runs or _rises(table, time, None):
        return run, ""
    left = [name for name in table.names if name not in taken and _repeats(table, name)]
    likely = [name for name in left if tells_runs(name)]
    worded = [name for name in left if not table.is_numeric(name) and not table.is_timed(name)]
    for name in dict.fromkeys([*likely, *worded]):
        if _rises(table, time, name):
            return name, f"{time!r} begins again with each of its values"
    return None, ""


def _rises(table: Table, time: str, run: str | None) -> bool:
    """Tell whether times increase in every run; dates may repeat where another column has the time of day."""
    groups = run_rows(table, run).values()
    if not table.is_timed(time):
        return rises(values_of(table, time), list(groups))
    try:
        times = table.times(time, unit="h:mm")
    except DataError:  # told where the rows are read
        return True
    parts = [unrolled(times.seconds[rows], times.period)[0] for rows in groups]
    steps = np.concatenate([np.diff(part[np.isfinite(part)]) for part in parts])
    beside = any(name != time and table.is_timed(name) for name in table.names)
    return bool(np.all(steps >= 0) and np.any(steps > 0)) if beside else bool(np.all(steps > 0))


def _increasing(table: Table, taken: Collection[str | None], run: str | None) -> str:
    """Return the first column that increases in every run, but a number of rows only if there is no other."""
    left = [name for name in table.names if name not in taken and table.is_numeric(name)]
    signals = [*GUESSES["velocity"].split(), *GUESSES["acceleration"].split(), *GUESSES["force"].split()]
    states = [name for name in left if plain(name) in GUESSES["u"].split()]
    free = [name for name in left if plain(name) not in signals and name not in states]
    groups = list(run_rows(table, run).values())
    found = [name for name in chain(free, states[:1]) if rises(values_of(table, name), groups)]
    if not all(name.startswith("column ") for name in table.names):
        timely = (n for n in found if not (is_counter(n) and counts_rows(values_of(table, n), groups)))
        found = [*timely, *found]
    if found:
        return found[0]
    if not any(np.isfinite(values_of(table, name)).any() for name in left):
        raise DataError(
            f"{table.source} holds no row of numbers; name a file with a column of times and one of readings"
        )
    raise DataError(
        f"{table.source} has no column that looks like time: none is called t or time, and none increases; "
        f"name it with --time (columns: {listed(table.names)})"
    )


def _repeats(table: Table, name: str) -> bool:
    words = table.words(name)
    return 1 <= len(set(words)) < len(words)


def _called(column: str, word: str) -> str:
    """Return the name of a run: the word in its column, after the column's name if it is a number."""
    return word if word and number(word, ".") is None else f"{column} {word}".strip()
