"""The role of each column of a table: given by name, or guessed."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gode.data.columns import INPUT
from gode.errors import DataError
from gode.tables.clocking import Clocking, find_clocking
from gode.tables.guess import COUNTS, Signals, guess_signals
from gode.tables.names import SLOPES, is_known, named
from gode.tables.table import Table, listed

NONE = "none"  # asks for no column in a role
ALL = "all"  # asks for every column of numbers that has no other role, each as a run


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
        names = [table.find(word.strip()) for word in str(asked.u).split(",") if word.strip()]
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
                name = named(table, words, set(chosen.values()))
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
