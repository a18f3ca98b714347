"""The role of each column of a table: given by name, or guessed from its name and from how it behaves."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gode.arrays import Float, Int
from gode.data.columns import INPUT
from gode.errors import DataError
from gode.tables.cells import ALL, NONE, join_list, split_list
from gode.tables.name_clues import (
    ENOUGH,
    GUESSES,
    ROUGH,
    ROUGHER,
    SHORT,
    SLOPES,
    Clocking,
    bare_name,
    counts_rows,
    find_clocking,
    first_named,
    hovers,
    in_steps,
    is_acceleration,
    is_aside,
    is_constant,
    is_counter,
    is_input,
    is_known,
    is_of_time,
    is_well,
    roughness,
    run_rows,
    slope_names,
    stems,
    values_of,
)
from gode.tables.table import Table, listed

# More columns than these are not taken for states or inputs of one system by themselves. Set by hand.
MOST_STATES = 4
MOST_INPUTS = 4
COUNTS = "counts the rows"
SHOWN_NAMES = 6  # More columns than these are counted instead of named, to keep the line short.
# A column with numbers in less than this fraction of the rows is no signal. Set by hand on the files in the
# tests.
SPARSE = 0.2
# A column with text in more than this fraction of its cells is not one of numbers. Set by hand.
TEXT_FRACTION = 0.3
KNOWN = {word for role in ("u", "velocity", "acceleration", "force") for word in GUESSES[role].split()}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The column of each role; None where there is none, or where it is to be guessed.

    One signal has the roles u, velocity, acceleration and force. The states of a system have names, as prey,
    prey' and prey'' in `channels`, and so have its known inputs.
    """

    time: str | None = None
    u: str | None = None
    velocity: str | None = None
    acceleration: str | None = None
    force: str | None = None
    channels: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    run: str | None = None

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield the roles that have a column."""
        alone = {"u": self.u, "velocity": self.velocity, "acceleration": self.acceleration}
        named = {**alone, "force": self.force, **self.channels, **self.inputs}
        for role, name in {"time": self.time, **named, "run": self.run}.items():
            if name is not None:
                yield role, name

    def columns(self) -> dict[str, str]:
        """Return the columns of the file by t, the states, their derivatives, the inputs, and run."""
        alone = {
            "t": self.time,
            "u": self.u,
            "u'": self.velocity,
            "u''": self.acceleration,
            INPUT: self.force,
        }
        named = {**alone, **self.channels, **self.inputs, "run": self.run}
        return {key: name for key, name in named.items() if name is not None}


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


def assign_columns(table: Table, asked: Roles) -> list[Roles]:
    """Return the columns of every role, once for each column of u: `A1,A2` and `all` are several.

    Raises:
        DataError: as `assign_roles`, and if a column is named twice.
    """
    if asked.channels:
        return [_assign_states(table, asked)]
    if asked.u in (None, NONE) or _is_column(table, str(asked.u)):
        return [assign_roles(table, asked)]
    if asked.velocity not in (None, NONE) or asked.acceleration not in (None, NONE):
        raise DataError("--u names several columns, each a run of u alone; leave out the other signals")
    others = _given(table, replace(asked, u=NONE, velocity=NONE, acceleration=NONE))
    if asked.u == ALL:
        if asked.force is None and not is_known(others.get("force", ""), "force"):
            others.pop("force", None)
        left = [n for n in table.names if n not in others.values() and table.is_numeric(n)]
        against = reasons_against(table, _of_signal(others))
        names = [name for name in left if against.get(name) != COUNTS] or left
    else:
        names = [table.find(word) for word in split_list(str(asked.u))]
    if not names:
        raise DataError(f"{table.source} has no column of numbers for --u {asked.u}; name some as --u A,B")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"{table.source}: --u names column {name!r} twice; drop one")
        _check_once(table, {**others, "u": name})
    return [_of_signal({**others, "u": name}) for name in names]


def assign_roles(table: Table, asked: Roles) -> Roles:
    """Return the column of every role: as asked, else by its name, else by its place.

    Raises:
        DataError: if there is no time, nothing observed, or one column has two roles.
    """
    chosen = _given(table, asked)
    if not {"u", "velocity", "acceleration"} & chosen.keys():
        if asked.u == NONE:
            raise DataError(
                f"{table.source}: --u none leaves nothing observed; name a column with --velocity or "
                "--acceleration"
            )
        raise DataError(_nothing_observed(table, set(chosen.values())))
    return _of_signal(chosen)


def guess_system(table: Table, asked: Roles, *, single: bool = False) -> Signals:
    """Return the states and inputs among the columns that have no role yet.

    Args:
        single: whether there is one state.

    Raises:
        DataError: if there is no time.
    """
    return survey(table, asked, single=single)[1]


def survey(table: Table, asked: Roles, *, single: bool = False) -> tuple[Clocking, Signals]:
    """Return the columns of times and runs, and the signals among those that have no role yet."""
    chosen, barred, clocking = _clocked(table, asked)
    taken = {name for role, name in chosen.items() if role not in ("time", "run")}
    known = bool({"u", "velocity", "acceleration"} & chosen.keys()) or bool(asked.channels)
    slopes = bool({"velocity", "acceleration"} & chosen.keys())
    return clocking, guess_signals(
        table, clocking, taken, barred, single=single or known, slopes=slopes, by_behaviour=not known
    )


def reasons_against(table: Table, taken: Roles) -> Mapping[str, str]:
    """Return why columns of numbers without a role are no signals: constant, counting rows, and the like."""
    asked = replace(taken, channels={}, inputs={}, u=None, velocity=None, acceleration=None, force=None)
    clocking = _clocked(table, asked)[2]
    named_ones = {name for _, name in taken.items()}
    return guess_signals(table, clocking, named_ones, by_behaviour=False).against


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
    times = values_of(table, clocking.time)
    used = {*taken, clocking.time, clocking.run}
    why: dict[str, str] = {}
    values: dict[str, Float] = {}
    weak: dict[str, Float] = {}  # taken if there is nothing better
    for name in table.names:
        found = None if name in used else _numbers(table, name, why)
        if found is not None:
            reason = _reason_against(table, name, found, groups, clocking, times)
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


def _of_signal(chosen: Mapping[str, str]) -> Roles:
    """Return the roles of one signal."""
    return Roles(
        time=chosen.get("time"),
        u=chosen.get("u"),
        velocity=chosen.get("velocity"),
        acceleration=chosen.get("acceleration"),
        force=chosen.get("force"),
        run=chosen.get("run"),
    )


def _assign_states(table: Table, asked: Roles) -> Roles:
    """Return the columns of a system: its states as asked, the others as asked or by their names.

    Raises:
        DataError: if one column has two roles, or there is no time.
    """
    barred = {role for role, name in asked.items() if name == NONE}
    inputs_asked = asked.inputs or "force" in asked.channels  # a state may be called so
    closed = {"u", "velocity", "acceleration", *(["force"] if inputs_asked else [])}
    usual = find_clocking(table, None, None).time if asked.time is None else None
    for key, word in asked.channels.items():
        if word == usual and not _has_other_time(table, asked):
            raise DataError(
                f"{table.source}: column {word!r} cannot be both time and the state {key}; "
                "drop it from --states, or name the times with --time"
            )
    chosen = _given(table, asked, closed)
    for key in asked.channels:
        for primes, forms in SLOPES.items():
            slope = key + primes
            if "'" not in key and slope not in chosen and slope not in barred:
                words = [form.format(w) for w in (key.lower(), asked.channels[key].lower()) for form in forms]
                name = first_named(table, words, set(chosen.values()))
                chosen |= {} if name is None else {slope: name}
    force = None if inputs_asked else chosen.pop("force", None)
    inputs = {} if force is None else {force if force.isidentifier() else "F": force}
    inputs |= {name: chosen[name] for name in asked.inputs if name in chosen}
    rest = {role: chosen.pop(role, None) for role in ("time", "run")}
    channels = {role: name for role, name in chosen.items() if role not in inputs}
    return Roles(**rest, channels=channels, inputs=inputs)


def _has_other_time(table: Table, asked: Roles) -> bool:
    try:
        find_clocking(table, None, None, set(asked.channels.values()))
    except DataError:
        return False
    return True


def _clocked(
    table: Table, asked: Roles, closed: Collection[str] = ()
) -> tuple[dict[str, str], set[str], Clocking]:
    """Return the columns that are asked for with those of time and run, and the roles that none may have."""
    chosen = {role: table.find(name) for role, name in asked.items() if name != NONE}
    barred = {*closed, *(role for role, name in asked.items() if name == NONE)}
    _check_once(table, chosen)
    if "time" in barred:
        raise DataError(
            f"{table.source}: the times are needed; name their column with --time instead of none"
        )
    taken = {name for role, name in chosen.items() if role not in ("time", "run")}
    clocking = find_clocking(
        table, chosen.get("time"), chosen.get("run"), taken, runs="run" not in barred
    )  # fmt: skip
    chosen["time"] = clocking.time
    if clocking.run is not None:
        chosen["run"] = clocking.run
    return chosen, barred, clocking


def _given(table: Table, asked: Roles, closed: Collection[str] = ()) -> dict[str, str]:
    """Return the columns that are asked for, and the guesses for the other roles.

    Args:
        closed: the roles that are not guessed.
    """
    chosen, barred, clocking = _clocked(table, asked, closed)
    taken = {name for role, name in chosen.items() if role not in ("time", "run")}
    known = {"u", "velocity", "acceleration"} & chosen.keys() or bool(asked.channels)
    slopes = bool({"velocity", "acceleration"} & chosen.keys())
    found = guess_signals(table, clocking, taken, barred, single=True, slopes=slopes, by_behaviour=not known)
    guessed = {
        "u": next(iter(found.states), None),
        "velocity": found.velocity,
        "acceleration": found.acceleration,
        "force": next(iter(found.inputs), None),
    }
    for role, name in guessed.items():
        if name is not None and role not in chosen and role not in barred:
            chosen[role] = name
    return chosen


def _is_column(table: Table, name: str) -> bool:
    try:
        table.find(name)
    except DataError:
        return name != ALL and "," not in name  # one name, which is then refused
    return True


def _check_once(table: Table, chosen: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for role, name in chosen.items():
        if name in seen:
            raise DataError(
                f"{table.source}: column {name!r} cannot be both {seen[name]} and {role}; name two"
            )
        seen[name] = role


def _nothing_observed(table: Table, taken: set[str]) -> str:
    left = [name for name in table.names if name not in taken]
    what = f"{listed(left)} holds no numbers" if left else "there is no other column"
    return f"{table.source} has nothing observed besides the time: {what}; name a column with --u"


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


def _reason_against(
    table: Table, name: str, values: Float, groups: Sequence[Int], clocking: Clocking, times: Float
) -> str:
    """Return why a column of numbers is no signal; empty if it may be one."""
    if bare_name(name) in KNOWN:
        return ""
    few = _too_few(table, name, values)
    if few is not None:
        return few
    parts = [values[rows] for rows in groups]
    if is_constant(values):
        return "never changes"
    if clocking.run is not None and all(is_constant(part) or not np.isfinite(part).any() for part in parts):
        return f"the same throughout each run, --force {shlex.quote(name)} if it acts on the system"
    if np.array_equal(values, times, equal_nan=True):
        return f"the same as {clocking.time!r}"
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


def _too_few(table: Table, name: str, values: Float) -> str | None:
    """Return what to say of a column with too few numbers for a signal; None if it has enough."""
    n = int(np.sum(np.isfinite(values)))
    if n == 0:
        return "numbers, and some text" if table.text_fraction(name) > TEXT_FRACTION else ""
    if n < SPARSE * len(values):
        return f"holds only {n} number{'s' if n > 1 else ''}"
    return None


def _slopes(
    table: Table, values: Mapping[str, Float], barred: Collection[str], why: dict[str, str]
) -> tuple[str | None, str | None]:
    """Return the columns that are called velocity and acceleration; v and a only beside u or x."""
    sure = any(bare_name(name) in ("u", "x") for name in table.names)
    found: list[str | None] = []
    others = {name for name in table.names if name not in values}
    for role in ("velocity", "acceleration"):
        words = [word for word in GUESSES[role].split() if sure or word not in SHORT]
        name = None if role in barred else first_named(table, words, others)
        if role == "acceleration" and not (name or role in barred):
            alike = [each for each in values if is_acceleration(each) and not is_input(each)]
            name = alike[0] if len(alike) == 1 else None
        found.append(name)
        if name is not None:
            why[name] = f"its name means {role}"
    return found[0], found[1]


def _inputs_by_name(
    table: Table, names: Sequence[str], taken: Collection[str], why: dict[str, str]
) -> list[str]:
    """Return the columns called like inputs, if another one is left to be driven."""
    sure = any(bare_name(name) in ("u", "x") for name in table.names)
    found = [name for name in names if is_input(name) or (sure and bare_name(name) == "f")]
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
        usual = {name for name in values if bare_name(name) in GUESSES["u"].split()[1:]}
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
    usual = [word for word in GUESSES["u"].split() if word in map(bare_name, left)]
    first = next((name for name in left if usual and bare_name(name) == usual[0]), next(iter(left), None))
    if first is None or (named_so and not usual):
        return [], False
    if single or len(left) == 1:
        by_name = bare_name(first) in usual
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
        others = f"--states {shlex.quote(join_list([*states, name]))} if it is a state, " if states else ""
        out.append(
            f"{name!r} is taken as the known input: {why[name]} ({others}--force none to leave it out)"
        )
    few = states if len(states) <= SHOWN_NAMES else states[:2]
    own = shlex.quote(join_list(few)) + ("" if few is states else ",...")
    one = shlex.quote(states[0]) if states else ""
    if apart:
        out.append(
            f"{_listed(states)} are taken as runs with one law: {why[states[0]]} (--states {own} if they are "
            f"states of one system, --u {one} for one alone)"
        )
    elif driving := states[1:]:
        driven = (
            f", --u {one} --force {shlex.quote(join_list(driving))} if it is driven by {_listed(driving)}"
        )
        free = "" if inputs else driven
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
    shown = [repr(name) for name in names[:SHOWN_NAMES]]
    if len(shown) == 1:
        return shown[0]
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return (", ".join(shown) if more else f"{', '.join(shown[:-1])} and {shown[-1]}") + more
