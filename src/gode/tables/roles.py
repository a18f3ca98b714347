"""Which column of a table is what: asked for by name, or guessed and said; then the runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain, count
from pathlib import Path

import numpy as np

from gode.arrays import Float
from gode.errors import DataError
from gode.tables.layout import number
from gode.tables.read import Table, listed, read_table

NONE = "none"  # asks for no column in a role
GUESSES = {  # names of columns, in small letters; where several fit, the first
    "time": "t time times zeit temps tiempo tempo timestamp datetime date seconds sec elapsed",
    "u": "u x y q z position displacement angle theta phi height value signal output concentration "
    "population temperature voltage",
    "velocity": "velocity du u' du/dt dudt udot speed x' dx/dt dxdt v",
    "acceleration": "acceleration acc accel d2u u'' ddu d2u/dt2 d2udt2 uddot x'' a",
    "force": "force forcing excitation input f",
    "run": "run runs trial experiment series",
}
SHORT = {"v", "a", "f"}  # could be anything, unless they stand beside u or x
CHANNELS = ("u", "velocity", "acceleration", "force")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The column of each role; None where there is none, or where it is to be guessed."""

    time: str | None = None
    u: str | None = None
    velocity: str | None = None
    acceleration: str | None = None
    force: str | None = None
    run: str | None = None

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield the roles that have a column."""
        for field in fields(self):
            if getattr(self, field.name) is not None:
                yield field.name, getattr(self, field.name)


@dataclass(frozen=True)
class Readings:
    """The runs of some files: for each the columns t, u, velocity, acceleration, force that there are."""

    runs: tuple[Mapping[str, Float], ...]
    names: tuple[str, ...]  # what the runs are called; none if there is one run only
    labels: Mapping[str, str]  # role -> name and unit, for people
    told: tuple[str, ...]  # what was taken, one sentence for each file

    def column(self, role: str) -> list[Float] | None:
        """Return one column of all runs, or None where there is none."""
        return [run[role] for run in self.runs] if role in self.runs[0] else None


def read_runs(paths: Sequence[str | Path], asked: Roles) -> Readings:
    """Return the runs in the files: one for each file, or one for each value in the column of runs.

    Raises:
        DataError: if a file cannot be used, or the files do not go together.
    """
    return runs_of_tables([read_table(path) for path in paths], asked)


def runs_of_tables(tables: Sequence[Table], asked: Roles) -> Readings:
    """Return the runs in some tables, which must have columns for the same roles."""
    runs: dict[str, Mapping[str, Float]] = {}
    told, first = [], None
    several = len(tables) > 1
    for table in tables:
        roles = assign_roles(table, asked)
        kinds = [role for role, _ in roles.items()]
        if first is not None and [role for role, _ in first.items()] != kinds:
            raise DataError(
                f"{table.source} has columns for {listed(kinds)}, but {tables[0].source} for "
                f"{listed([role for role, _ in first.items()])}; name the same ones for all files"
            )
        first = first or roles
        found = list(_split(table, roles))
        for name, run in found:
            parts = [Path(table.source).stem, name] if several else [name]
            runs[_unlike(", ".join(filter(None, parts)), runs)] = run
        told.append(_sentence(table, roles, len(found)))
    assert first is not None, "the command line asks for a file"
    labels = {role: tables[0].label(name) for role, name in first.items()}
    names = tuple(runs) if len(runs) > 1 else ()
    return Readings(tuple(runs.values()), names, labels, tuple(told))


def _unlike(name: str, names: Collection[str]) -> str:
    """Return `name`, with a number if there is one already."""
    numbered = (f"{name} ({i})" for i in count(2))
    return next(each for each in chain([name], numbered) if each not in names)


def assign_roles(table: Table, asked: Roles) -> Roles:
    """Return the column of every role: as asked, else by its name, else by its place.

    Raises:
        DataError: if there is no time, nothing observed, or one column has two roles.
    """
    chosen = {role: table.find(name) for role, name in asked.items() if name != NONE}
    barred = {role for role, name in asked.items() if name == NONE}
    _check_once(table, chosen)
    for role, words in GUESSES.items():
        if role not in chosen and role not in barred:
            sure = _plain(chosen.get("u", "")) in ("u", "x")
            known = [word for word in words.split() if sure or word not in SHORT]
            name = _named(table, known, set(chosen.values()))
            if name is not None and (role != "run" or _repeats(table, name)):
                chosen[role] = name
    if "time" in barred:
        raise DataError(
            f"{table.source}: the times are needed; name their column with --time instead of none"
        )
    if "time" not in chosen:
        chosen["time"] = _increasing(table, set(chosen.values()))
    if not {"u", "velocity", "acceleration"} & chosen.keys():
        if "u" in barred:
            raise DataError(
                f"{table.source}: --u none leaves nothing observed; name a column with --velocity or "
                "--acceleration"
            )
        chosen["u"] = _first_left(table, set(chosen.values()))
    return Roles(**chosen)


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
    """Return a name as the guesses write it: small, u(t) as u."""
    return name.lower().replace(" ", "").removesuffix("(t)").removesuffix("_s")


def _repeats(table: Table, name: str) -> bool:
    words = table.words(name)
    return 1 <= len(set(words)) < len(words)


def _increasing(table: Table, taken: set[str]) -> str:
    for name in table.names:
        if name not in taken and table.is_numeric(name):
            values = table.numbers(name)
            values = values[np.isfinite(values)]
            if len(values) > 1 and np.all(np.diff(values) > 0):
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


def _split(table: Table, roles: Roles) -> Iterator[tuple[str, Mapping[str, Float]]]:
    """Yield name and columns of each run; time must increase in each."""
    assert roles.time is not None
    columns = {"t": table.times(roles.time)}
    columns |= {role: table.numbers(name) for role, name in roles.items() if role in CHANNELS}
    if roles.run is None:
        groups = {"": np.arange(table.n_rows)}
    else:
        words = np.array(table.words(roles.run), dtype=object)
        groups = {_called(roles.run, w): np.flatnonzero(words == w) for w in dict.fromkeys(words.tolist())}
    for name, rows in groups.items():
        _check_time(table, columns["t"], rows, roles)
        yield name, {role: values[rows] for role, values in columns.items()}


def _called(column: str, word: str) -> str:
    """Return the name of a run: the word in its column, after the column's name if it is a number."""
    return word if word and number(word, ".") is None else f"{column} {word}".strip()


def _check_time(table: Table, t: Float, rows: np.ndarray, roles: Roles) -> None:
    rows = rows[np.isfinite(t[rows])]
    step = np.diff(t[rows])
    if np.all(step > 0):
        return
    at = int(np.argmax(step <= 0)) + 1
    where = table.place(int(rows[at]), str(roles.time))
    hint = "" if roles.run else ", or name the column that tells runs apart with --run"
    raise DataError(
        f"{where}: time must increase, but {t[rows[at]]:.12g} follows {t[rows[at - 1]]:.12g}; "
        f"sort the rows or drop repeats{hint}"
    )


def _sentence(table: Table, roles: Roles, n_runs: int) -> str:
    """Say what was taken from a table."""
    parts = [f"{role} from {table.label(name)!r}" for role, name in roles.items() if role != "run"]
    if roles.time is not None and table.is_dated(roles.time):
        parts[0] += " in seconds"
    runs = f", {n_runs} runs by {roles.run!r}" if roles.run else ""
    notes = "".join(f", {note}" for note in table.notes)
    taken = {name for _, name in roles.items()}
    left = [name for name in table.names if name not in taken]
    ignored = f"; not used: {listed(left)}" if left else ""
    return f"{table.source}: {table.n_rows} rows{runs}{notes}; {', '.join(parts)}{ignored}"
