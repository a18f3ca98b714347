"""What each column of a table is, where nobody says it: states, known inputs, runs, or none of these."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float, Int
from gode.errors import DataError
from gode.tables.behaviour import (
    ENOUGH,
    ROUGH,
    ROUGHER,
    counts_rows,
    hovers,
    in_steps,
    is_constant,
    roughness,
)
from gode.tables.cells import join_list
from gode.tables.clocking import Clocking, run_rows
from gode.tables.names import (
    GUESSES,
    SHORT,
    is_aside,
    is_counter,
    is_input,
    is_known,
    is_of_time,
    is_well,
    named,
    plain,
    slope_names,
    stems,
)
from gode.tables.table import Table

MOST_STATES = 4  # of one system; more columns are not taken for that
MOST_INPUTS = 4
COUNTS = "counts the rows"
SPARSE = 0.2  # of the rows; with fewer numbers a column is no signal
TEXT_SHARE = 0.3  # of the cells of a column; with more text it is not one of numbers
KNOWN = {word for role in ("u", "velocity", "acceleration", "force") for word in GUESSES[role].split()}


@dataclass(frozen=True)
class Signals:
    """The signals among the columns."""

    states: tuple[str, ...]
    apart: bool  # whether each state is a run of its own
    inputs: tuple[str, ...]
    velocity: str | None
    acceleration: str | None
    why: Mapping[str, str]  # of each column: why it was taken, or left
    against: Mapping[str, str]  # of columns of numbers: why they are no signals
    asks: tuple[str, ...]  # what is not sure, with the option that says otherwise


def guess_signals(
    table: Table,
    clocking: Clocking,
    taken: Collection[str] = (),
    barred: Collection[str] = (),
    *,
    single: bool = False,
    slopes: bool = False,
    by_behaviour: bool = True,
) -> Signals:
    """Return what the columns are that have no role yet.

    Args:
        taken: columns with a role.
        barred: roles that no column may have.
        single: whether there is one state.
        slopes: whether a velocity or an acceleration is given, beside which only a known name is a state.
        by_behaviour: whether columns that move as inputs do are taken for inputs.
    """
    groups = list(run_rows(table, clocking.run).values())
    used = {*taken, clocking.time, clocking.run}
    why: dict[str, str] = {}
    values: dict[str, Float] = {}
    weak: dict[str, Float] = {}  # taken if there is nothing better
    for name in table.names:
        found = None if name in used else _numbers(table, name, why)
        if found is not None:
            reason = _reason_against(table, name, found, groups, clocking)
            (weak if reason else values)[name] = found
            why |= {name: reason} if reason else {}
    against = {name: why[name] for name in weak}
    if not values and not {*taken}:
        values = dict([*weak.items()][:1])
    velocity, acceleration = _slopes(table, values, barred, why)
    left = [name for name in values if name not in (velocity, acceleration)]
    by_name = _inputs_by_name(table, left, {*taken, velocity or "", acceleration or ""}, why)
    left = [name for name in left if name not in by_name]
    moving: list[str] = []
    wells = [name for name in left if is_well(name)]
    if by_behaviour and not by_name and len(wells) < 2:
        moving = _inputs_by_behaviour({name: values[name] for name in left}, groups, why)
    inputs = [] if "force" in barred else [*by_name, *moving][:MOST_INPUTS]
    left = [name for name in left if name not in moving]
    named_so = slopes or bool(velocity or acceleration)
    states, apart = _states(left, wells, why, single=single or named_so, named_so=named_so)
    if not states and velocity and not acceleration and not slopes and "u" not in barred:
        states, velocity = [velocity], None  # a speed alone is the state
    asks = _asks(states, left, apart, [*by_name, *moving] if inputs else [], why, single)
    return Signals(tuple(states), apart, tuple(inputs), velocity, acceleration, why, against, tuple(asks))


def _numbers(table: Table, name: str, why: dict[str, str]) -> Float | None:
    """Return the numbers of a column; None for one of times or text, and why not."""
    if table.is_timed(name) or not table.is_numeric(name):
        why[name] = "times" if table.is_timed(name) else "text" if any(table.words(name)) else "empty"
        return None
    try:
        return table.numbers(name)
    except DataError:  # told if it is needed
        why[name] = "numbers, and some text"
        return np.full(table.n_rows, np.nan)


def _reason_against(table: Table, name: str, values: Float, groups: Sequence[Int], clocking: Clocking) -> str:
    """Return why a column of numbers is no signal; empty if it may be one."""
    if plain(name) in KNOWN:
        return ""
    seen = np.isfinite(values)
    parts = [values[rows] for rows in groups]
    if not seen.any():
        return "numbers, and some text" if table.text_share(name) > TEXT_SHARE else ""
    if np.sum(seen) < SPARSE * len(values):
        return f"holds only {np.sum(seen)} number{'s' if np.sum(seen) > 1 else ''}"
    if is_constant(values):
        return "never changes"
    if clocking.run is not None and all(is_constant(part) or not np.isfinite(part).any() for part in parts):
        return f"the same throughout each run, --force {shlex.quote(name)} if it acts on the system"
    leads = name == table.names[0] and clocking.time != name and values[0] in (0, 1)
    if (is_counter(name) or leads) and counts_rows(values, groups):
        return COUNTS
    if name.lower() in slope_names([other for other in table.names if other != name]):
        return "by its name the slope of another column"
    if is_aside(name):
        return "by its name about the instrument, or an error bar"
    if not is_input(name) and hovers(values, groups):
        return f"constant but for its noise, --force {shlex.quote(name)} if it acts on the system"
    rising = all(np.all(np.diff(part[np.isfinite(part)]) >= 0) for part in parts)
    return "by its name another measure of time" if is_of_time(name) and rising else ""


def _slopes(
    table: Table, values: Mapping[str, Float], barred: Collection[str], why: dict[str, str]
) -> tuple[str | None, str | None]:
    """Return the columns that are called velocity and acceleration; v and a only beside u or x."""
    sure = any(plain(name) in ("u", "x") for name in table.names)
    found: list[str | None] = []
    others = {name for name in table.names if name not in values}
    for role in ("velocity", "acceleration"):
        words = [word for word in GUESSES[role].split() if sure or word not in SHORT]
        name = None if role in barred else named(table, words, others)
        found.append(name)
        if name is not None:
            why[name] = f"its name means {role}"
    return found[0], found[1]


def _inputs_by_name(
    table: Table, names: Sequence[str], taken: Collection[str], why: dict[str, str]
) -> list[str]:
    """Return the columns called like inputs, if another one is left to be driven."""
    sure = any(plain(name) in ("u", "x") for name in table.names)
    found = [name for name in names if is_input(name) or (sure and plain(name) == "f")]
    if not {*taken} - {""} and len(found) == len(names):
        return []
    for name in found:
        why[name] = "its name means input"
    return found


def _inputs_by_behaviour(
    values: Mapping[str, Float], groups: Sequence[Int], why: dict[str, str]
) -> list[str]:
    """Return the columns that move in steps, or else are much rougher than all others."""
    if len(values) < 2:
        return []
    found = [name for name, each in values.items() if in_steps(each, groups)]
    reason = "it moves in steps"
    if not found:
        rough = {name: roughness(each, groups) for name, each in values.items()}
        usual = {name for name in values if plain(name) in GUESSES["u"].split()[1:]}
        found = [
            name
            for name, size in rough.items()
            if name not in usual
            and size > ROUGH
            and all(size > ROUGHER * rough[other] for other in values if other != name)
        ]
        reason = "it is much rougher than the others"
    if len(found) == len(values) or min(len(each) for each in values.values()) < ENOUGH:
        return []
    why.update(dict.fromkeys(found, reason))
    return found


def _states(
    left: Sequence[str], wells: Sequence[str], why: dict[str, str], *, single: bool, named_so: bool
) -> tuple[list[str], bool]:
    """Return the states among the signals that are left, and whether each is a run of its own."""
    usual = [word for word in GUESSES["u"].split() if word in map(plain, left)]
    first = next((name for name in left if usual and plain(name) == usual[0]), next(iter(left), None))
    if first is None or (named_so and not usual):
        return [], False
    if single or len(left) == 1:
        by_name = plain(first) in usual
        why[first] = "its name means the signal" if by_name else "the first column of numbers that is left"
        return [first], False
    if len(wells) > 1:
        why.update(dict.fromkeys(wells, "named like the well of a plate"))
        return list(wells), True
    if len(left) > MOST_STATES and len(stems(left)) == 1:
        why.update(dict.fromkeys(left, "numbered, and too many for states of one system"))
        return list(left), True
    if len(left) > MOST_STATES:
        why[first] = "the first of many columns of numbers"
        return [first], False
    why.update(dict.fromkeys(left, "nothing says that it is no state"))
    return list(left), False


def _asks(
    states: Sequence[str], left: Sequence[str], apart: bool, inputs: Sequence[str], why: Mapping[str, str],
    single: bool,
) -> list[str]:  # fmt: skip
    """Return what was guessed about signals, and the options for other choices."""
    out = []
    for name in inputs:
        if is_known(name, "force"):
            continue
        others = shlex.quote(join_list([*states, name]))
        out.append(
            f"{name!r} is taken as the known input: {why[name]} (--states {others} if it is a state, "
            "--force none to leave it out)"
        )
    own, one = shlex.quote(join_list(states)), shlex.quote(states[0]) if states else ""
    if apart:
        out.append(
            f"{_listed(states)} are taken as runs with one law: {why[states[0]]} (--states {own} if they are "
            f"states of one system, --u {one} for one alone)"
        )
    elif len(states) > 1:
        driven = shlex.quote(join_list(states[1:]))
        free = (
            f", --u {one} --force {driven} if {_listed(states[1:])} drives it"
            if len(states) == 2 and not inputs
            else ""
        )
        out.append(
            f"{_listed(states)} are taken as states of one system (--u all if each is a run of its own, "
            f"--u {one} for one alone{free})"
        )
    elif states and len(left) > MOST_STATES and not single:
        out.append(
            f"{states[0]!r} is taken as the only state, since {len(left)} columns are many (--states "
            f"{shlex.quote(join_list(left[:2]))},... for states of one system, --u all if each is a run)"
        )
    return out


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:6]]
    if len(shown) == 1:
        return shown[0]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return (", ".join(shown) if more else f"{', '.join(shown[:-1])} and {shown[-1]}") + more
