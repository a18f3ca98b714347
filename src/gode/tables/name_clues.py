"""What the names of columns and their numbers tell: time, signal, input, run, or none of them."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.errors import DataError
from gode.tables.cells import is_time_word, number, word_set, words_of
from gode.tables.headers import time_unit
from gode.tables.table import Table, listed
from gode.tables.times import unrolled

GUESSES = {  # column names in lower case; of several that fit, the first
    "time": "time times zeit temps tiempo tempo timestamp datetime date&time datum date uhrzeit t elapsed "
    "seconds sec millis micros hours hour hrs hr minutes minute min year years day days tag jour week weeks "
    "month months",
    "u": "u x y q z position displacement angle theta phi height value signal output concentration "
    "population temperature voltage",
    "velocity": "velocity du u' du/dt dudt udot speed x' dx/dt dxdt v",
    "acceleration": "acceleration acc accel d2u u'' ddu d2u/dt2 d2udt2 uddot x'' a",
    "force": "force forcing excitation input f",
    "run": "run runs trial experiment series",
}
SHORT = {"v", "a", "f"}  # ambiguous, unless there is also a column u or x
SLOPES = {  # of a state, in lower case, by the primes behind its name
    "'": ("{}'", "d{}/dt", "d{}dt", "{}dot"),
    "''": ("{}''", "d2{}/dt2", "d2{}dt2", "{}ddot"),
}
# words for what is set, or comes from outside, and acts on the system
INPUTS = word_set(
    "heater heating heizung heizleistung heizer chauffage chauffe valve ventil vanne pump pumpe pompe "
    "voltage spannung tension command cmd stellgröße stellgroesse stellwert commande duty pwm setpoint "
    "sollwert consigne reference opening öffnung ouverture torque drehmoment couple rain rainfall regen "
    "niederschlag pluie precipitation precip prcp dose dosis dosage infusion injection force forcing "
    "kraft load excitation anregung stimulus input eingang entrée entree throttle inflow zufluss zulauf "
    "feed actuator aktor fan lüfter irrigation bewässerung switch relay relais schalter"
)
ACCELERATIONS = word_set("acceleration acc accel accelerometer beschleunigung accélération")
# what shakes a structure from below: its acceleration is an input
SUPPORTS = word_set("ground base floor0 table shaker foundation boden fundament sol quake earthquake")
INPUT_ENDS = ("kraft", "spannung", "ventil", "leistung", "pumpe", "dosis", "vorgabe", "anregung")
MEASURED = word_set("temperature temp temperatur température pressure druck pression current strom courant")
RUNS = word_set(
    "run runs trial experiment series id subject patient animal person individual participant proband "
    "batch charge specimen probe replicate rep plot mouse rat tube vessel reactor site station country "
    "region sensor device group"
)
COUNTERS = word_set(
    "nr no number nummer num index idx row record rec recnum scan id sample point n count zeile messung "
    "lfd obs observation rownames line cycle zyklus"
)
ERROR_BARS = word_set("error err sd std stdev stddev sem se sigma uncertainty")
# words about the instrument, or about another reading
ASIDE = ERROR_BARS | word_set(
    "alarm status flag flags quality battery batt battv serial evid mdv cmt blq ci checksum crc rssi"
)
BLANKS = word_set("blank blanks blanc leerwert blindwert blanko background hintergrund")
WELL = re.compile(r"[A-P]\d{1,2}|(?:well|sample|replicate|rep|tube)[ _-]?\w{1,4}", re.IGNORECASE)
NUMBERED = re.compile(r"(?P<stem>[^\d]*)\d+")
DEGREES = {"°c", "c", "degc", "k", "°f", "f", "degf", "deg c", "deg f", "celsius", "kelvin"}
# The numbers below were set by hand so that the files in the tests are read right.
# Fewer rows than this do not show how a column moves.
ENOUGH = 12
# A column moves in steps if its jumps exceed the first fraction of its range, it stays within the second
# between them, and it is held for the third number of rows on average.
JUMP = 0.1
FLAT = 0.05
HELD = 3.0
# A column stays near one value if its range is less than this fraction of its largest value.
NEAR = 0.05
# An input is rougher than the first number (white noise has 2.4), and this many times rougher than what it
# drives.
ROUGH = 0.8
ROUGHER = 5.0


def bare_name(name: str) -> str:
    """Return the name in the form of GUESSES: lower case, u(t) as u, time_h as time."""
    return time_unit(name)[0].lower().replace(" ", "").removesuffix("(t)")


def is_known(name: str, role: str) -> bool:
    """Tell whether a name is one of those that always mean a role."""
    return bare_name(name) in GUESSES[role].split()


def slope_names(names: Collection[str]) -> set[str]:
    """Return how the slopes of some columns may be called, in lower case."""
    return {form.format(name.lower()) for name in names for forms in SLOPES.values() for form in forms}


def first_named(table: Table, words: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """Return the column that is called as the first of some words for which there is one."""
    names = {bare_name(name): name for name in reversed(table.names) if name not in taken}
    return next((names[word] for word in words if word in names), None)


def is_temperature(table: Table, name: str) -> bool:
    """Tell whether a column that is called T is one of temperatures, by its unit."""
    return table.units[table.names.index(name)].strip().lower() in DEGREES


def is_of_time(name: str) -> bool:
    """Tell whether a longer name speaks of time, such as `Prüfzeit`; a T among other words does not."""
    return is_time_word(" ".join(word for word in words_of(name) if word != "t"))


def is_acceleration(name: str) -> bool:
    """Tell whether one of the words of a name means acceleration, as in `roof_acc`."""
    return bool({*words_of(name)} & ACCELERATIONS)


def is_input(name: str) -> bool:
    """Tell whether a name is that of an input, such as `valve_opening`, `Heater [%]` or `ground_acc`."""
    words = {*words_of(name)}
    if words & MEASURED:
        return False
    if words & ACCELERATIONS:
        return bool(words & SUPPORTS)
    return bare_name(name) in GUESSES["force"].split()[:-1] or bool(words & INPUTS) or any(
        word.endswith(INPUT_ENDS) for word in words
    )  # fmt: skip


def is_well(name: str) -> bool:
    """Tell whether a name is that of a well, a sample or a replicate."""
    return bool(WELL.fullmatch(name))


def is_aside(name: str) -> bool:
    """Tell whether a name is that of an alarm, an error bar or a battery."""
    return bool({*words_of(name)} & ASIDE)


def is_error_bar(name: str) -> bool:
    """Tell whether a name is that of the errors of other readings."""
    return bool({*words_of(name)} & ERROR_BARS)


def is_blank(name: str) -> bool:
    """Tell whether a name is that of readings without what is measured, which others are to be freed of."""
    return bool({*words_of(name)} & BLANKS)


def is_counter(name: str) -> bool:
    """Tell whether a name is that of a number of rows, or no name at all."""
    words = words_of(name)
    return name in ("#", "") or name.startswith("column ") or bool(words and {*words} <= COUNTERS)


def tells_runs(name: str) -> bool:
    """Tell whether a name is that of subjects, batches or places."""
    return bool({*words_of(name)} & RUNS)


def stems(names: Sequence[str]) -> set[str]:
    """Return what numbered names share, such as s of s1 and s2; one entry if all are numbered alike."""
    return {found["stem"] if (found := NUMBERED.fullmatch(name)) else name for name in names}


def rises(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column increases within each run, where it has at least two values."""
    parts = [values[rows][np.isfinite(values[rows])] for rows in runs]
    return any(len(part) > 1 for part in parts) and all(bool(np.all(np.diff(part) > 0)) for part in parts)


def falls(values: Float) -> bool:
    """Tell whether a column ends lower than it begins."""
    seen = values[np.isfinite(values)]
    return len(seen) > 1 and bool(seen[-1] < seen[0])


def counts_rows(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column goes up by one from row to row."""
    whole = np.all(np.diff(values) == 1)
    return bool(whole) or all(np.all(np.diff(values[rows]) == 1) for rows in runs)


def is_constant(values: Float) -> bool:
    """Tell whether a column never changes."""
    seen = values[np.isfinite(values)]
    return len(seen) > 0 and bool(np.all(seen == seen[0]))


def hovers(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column stays near one value and only trembles, as a temperature that is controlled."""
    seen = values[np.isfinite(values)]
    return bool(np.ptp(seen) < NEAR * np.max(np.abs(seen))) and roughness(values, runs) > ROUGH


def in_steps(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column is held for some rows and then jumps, as what is switched or set does.

    A slow signal that is stored with few digits moves by one unit at a time and is none.
    """
    parts = [values[rows][np.isfinite(values[rows])] for rows in runs]
    parts = [part for part in parts if len(part) > 1]
    n = sum(map(len, parts))
    size = max((float(np.max(np.abs(part))) for part in parts), default=0.0)
    if n < ENOUGH or size == 0:
        return False
    parts = [part / size for part in parts]
    span = float(np.ptp(np.concatenate(parts)))
    if span == 0:
        return False
    jumps = np.concatenate([np.diff(part) for part in parts])
    large = np.abs(jumps) > JUMP * span
    n_jumps = int(np.sum(large))
    if not n_jumps or n / (n_jumps + len(parts)) < HELD:
        return False
    levels = [piece for part in parts for piece in _levels(part, span)]
    flat = np.concatenate([piece - np.median(piece) for piece in levels])
    if np.quantile(np.abs(flat), 0.95) > FLAT * span / 2:
        return False
    if n_jumps == 1 and not all(len(piece) >= HELD for piece in levels):
        return False
    return not _is_rounded(jumps[large], levels, span)


def roughness(values: Float, runs: Sequence[Int]) -> float:
    """Return the size of second differences relative to the spread: near 0 if smooth, 2.4 for white noise."""
    parts = [values[rows][np.isfinite(values[rows])] for rows in runs]
    if sum(map(len, parts)) < ENOUGH:
        return 0.0
    every = np.concatenate(parts)
    size = float(np.max(np.abs(every))) or 1.0
    bends = np.concatenate([np.diff(part / size, 2) for part in parts])
    spread = float(np.std(every / size))
    return float(np.sqrt(np.mean(bends**2)) / spread) if len(bends) and spread else 0.0


def _levels(part: Float, span: float) -> list[Float]:
    """Return the pieces of a run between its jumps."""
    return [piece for piece in np.split(part, np.flatnonzero(np.abs(np.diff(part)) > JUMP * span) + 1)]


def _is_rounded(jumps: Float, levels: Sequence[Float], span: float) -> bool:
    """Tell whether all jumps have one size although there are more than two levels: a matter of digits."""
    heights = {round(float(np.median(piece)) / (JUMP * span)) for piece in levels}
    sizes = np.abs(jumps)
    return len(heights) > 2 and bool(np.ptp(sizes) <= FLAT * np.max(sizes))


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
    name = first_named(table, GUESSES["run"].split(), taken)
    return name if name is not None and _repeats(table, name) else None


def _candidates(table: Table, taken: Collection[str | None]) -> Iterator[tuple[str, str]]:
    """Yield the columns that may hold times: by a known name, dates, then longer names that speak of time."""
    left = [name for name in table.names if name not in taken]
    usable = [name for name in left if table.is_timed(name) or table.is_numeric(name)]
    words = GUESSES["time"].split()
    known = sorted((n for n in usable if bare_name(n) in words), key=lambda n: words.index(bare_name(n)))
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
    states = [name for name in left if bare_name(name) in GUESSES["u"].split()]
    free = [name for name in left if bare_name(name) not in signals and name not in states]
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
    named = next((name for name, _ in _candidates(table, {run}) if name in taken), None)
    if named is not None:
        raise DataError(
            f"{table.source}: {named!r}, the column that looks like time, is named as a signal; name a "
            f"column of readings there, or that of times with --time (columns: {listed(table.names)})"
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
