"""The role of each column of a table: given by name, or guessed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from gode.arrays import Int
from gode.errors import DataError
from gode.tables.cells import number
from gode.tables.layout import time_unit
from gode.tables.table import Table, listed

NONE = "none"  # asks for no column in a role
ALL = "all"  # asks for every column of numbers that has no other role, each as a run
GUESSES = {  # column names in lower case; of several that fit, the first
    "time": "t time times zeit temps tiempo tempo timestamp datetime date seconds sec elapsed "
    "hours hour hrs hr minutes minute min years year days day weeks week months month",
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
        names = [n for n in table.names if n not in others.values() and table.is_numeric(n)]
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
        chosen["u"] = _first_left(table, set(chosen.values()))
    return _of_signal(chosen)


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
    named = asked.inputs or "force" in asked.channels  # a state may be called so
    closed = {"u", "velocity", "acceleration", *(["force"] if named else [])}
    usual = _named(table, GUESSES["time"].split(), set())
    for key, word in asked.channels.items():
        if asked.time is None and usual is not None and word == usual:
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
                name = _named(table, words, set(chosen.values()))
                chosen |= {} if name is None else {slope: name}
    force = None if named else chosen.pop("force", None)
    inputs = {} if force is None else {force if force.isidentifier() else "F": force}
    inputs |= {name: chosen[name] for name in asked.inputs if name in chosen}
    rest = {role: chosen.pop(role, None) for role in ("time", "run")}
    channels = {role: name for role, name in chosen.items() if role not in inputs}
    return Roles(**rest, channels=channels, inputs=inputs)


def _given(table: Table, asked: Roles, closed: Collection[str] = ()) -> dict[str, str]:
    """Return the columns that are asked for or have a known name, and that of the time.

    Args:
        closed: the roles that are not guessed.
    """
    chosen = {role: table.find(name) for role, name in asked.items() if name != NONE}
    barred = {*closed, *(role for role, name in asked.items() if name == NONE)}
    _check_once(table, chosen)
    if "time" in barred:
        raise DataError(
            f"{table.source}: the times are needed; name their column with --time instead of none"
        )
    for role, words in GUESSES.items():
        if role not in chosen and role not in barred:
            sure = _plain(chosen.get("u", "")) in ("u", "x")
            known = [word for word in words.split() if sure or word not in SHORT]
            name = _named(table, known, set(chosen.values()))
            if name is not None and (role != "run" or _repeats(table, name)):
                chosen[role] = name
    if "time" not in chosen:
        chosen["time"] = _increasing(table, set(chosen.values()), chosen.get("run"))
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


def _named(table: Table, words: Sequence[str], taken: set[str]) -> str | None:
    names = {_plain(name): name for name in reversed(table.names) if name not in taken}
    return next((names[word] for word in words if word in names), None)


def _plain(name: str) -> str:
    """Return a name in the form of GUESSES: lower case, u(t) as u, time_h as time."""
    return time_unit(name)[0].lower().replace(" ", "").removesuffix("(t)")


def _repeats(table: Table, name: str) -> bool:
    words = table.words(name)
    return 1 <= len(set(words)) < len(words)


def _increasing(table: Table, taken: set[str], run: str | None) -> str:
    """Return the first column of dates or times of day, else the first that increases in every run."""
    left = [name for name in table.names if name not in taken]
    groups = list(run_rows(table, run).values())
    for name in chain(filter(table.is_timed, left), filter(table.is_numeric, left)):
        if table.is_timed(name):
            return name
        values = table.numbers(name)
        parts = [values[rows][np.isfinite(values[rows])] for rows in groups]
        if any(len(part) > 1 for part in parts) and all(np.all(np.diff(part) > 0) for part in parts):
            return name
    raise DataError(
        f"{table.source} has no column that looks like time: none is called t or time, and none increases; "
        f"name it with --time (columns: {listed(table.names)})"
    )


def _first_left(table: Table, taken: set[str]) -> str:
    for name in table.names:
        if name not in taken and table.is_numeric(name):
            return name
    left = [name for name in table.names if name not in taken]
    what = f"{listed(left)} holds no numbers" if left else "there is no other column"
    raise DataError(f"{table.source} has nothing observed besides the time: {what}; name a column with --u")


def run_rows(table: Table, run: str | None) -> dict[str, Int]:
    """Return the rows of each run, by its name."""
    if run is None:
        return {"": np.arange(table.n_rows)}
    words = np.array(table.words(run), dtype=object)
    return {_called(run, word): np.flatnonzero(words == word) for word in dict.fromkeys(words.tolist())}


def _called(column: str, word: str) -> str:
    """Return the name of a run: the word in its column, after the column's name if it is a number."""
    return word if word and number(word, ".") is None else f"{column} {word}".strip()
