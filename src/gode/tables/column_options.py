"""The states and the known inputs of a system, as the options --states, --velocity and --force name them."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from gode.errors import ConfigError, DataError, EquationError, shortened
from gode.identifiers import identifiers
from gode.tables.cells import ALL, NONE, join_list, split_list

if TYPE_CHECKING:
    from gode.tables.guess_roles import Roles
    from gode.tables.table import Table

APART = ("time", "run")  # roles of columns, which no state may be called


class Asked(NamedTuple):
    """Which columns a system is read from; inputs may be formulas in t instead."""

    roles: "Roles"
    states: tuple[str, ...]
    formulas: dict[str, str]


class Part(NamedTuple):
    """One entry of an option, such as heat, or prey=Hare; the name is empty where there is none."""

    name: str
    word: str


def parts_of(text: str) -> list[Part]:
    """Return the entries of an option; one with a comma in it stands in quotes."""
    return [_part(word) for word in split_list(text)]


def guessed_system(
    table: "Table", roles: "Roles", states: "list[Part]", *, single: bool
) -> "tuple[Roles, list[Part], tuple[str, ...]]":
    """Return roles and states with the guesses where several columns are states, runs or inputs.

    Those of a single signal with one input are left open: they are guessed for each file by itself.
    """
    from gode.tables.guess_roles import guess_system

    lists = (roles.velocity, roles.acceleration, *([roles.u] if not states else []))
    listed = any(word is not None and "," in word and not is_column(table, word) for word in lists)
    if (roles.force is not None and (states or roles.u is not None)) or (listed and not states):
        return roles, states, ()
    try:
        found = guess_system(table, _known(table, roles, states), single=single)
    except DataError:  # told where the columns are assigned
        return roles, states, ()
    alone = not states and (roles.u is not None or len(found.states) < 2)
    if found.apart and not alone and not states:
        return replace(roles, u=join_list(found.states)), states, found.asks
    if roles.force is None and found.inputs and not (alone and len(found.inputs) == 1):
        roles = replace(roles, force=join_list([_safe(table, name) for name in found.inputs]))
        if alone and roles.u is None and found.states:
            roles = replace(roles, u=found.states[0])
    if alone or states:
        return roles, states, found.asks
    return roles, [Part("", name) for name in found.states], found.asks


def _known(table: "Table", roles: "Roles", states: "list[Part]") -> "Roles":
    """Return the roles as asked, with the columns of several states and inputs apart."""
    if states:
        lists = (states, *(parts_of(text or "") for text in (roles.velocity, roles.acceleration)))
        words = [part.word for parts in lists for part in parts if part.word != NONE]
        named = {f"state {i}": word for i, word in enumerate(words)}
        return replace(roles, velocity=None, acceleration=None, channels=named)
    if roles.force in (None, NONE) or is_column(table, str(roles.force)):
        return roles
    found = [find_column(table, p.word) for p in parts_of(str(roles.force)) if is_column(table, p.word)]
    named = {f"input {i}": word for i, word in enumerate(dict.fromkeys(found))}
    return replace(roles, force=NONE, inputs=named)


def ask_system(table: "Table", roles: "Roles", states: Sequence[Part], called: Sequence[str] = ()) -> Asked:
    """Return the columns of a system by the names of its states and inputs.

    Args:
        roles: as asked, where velocity, acceleration and force may be lists.
        states: their columns.
        called: the names of the states in given equations.

    Raises:
        DataError, ConfigError: if a column does not exist, is named twice, or belongs to no state.
    """
    from gode.tables.guess_roles import Roles

    names = _state_names(states, called)
    channels = {name: part.word for name, part in zip(names, states, strict=True)}
    for primes, option in (("'", "velocity"), ("''", "acceleration")):
        words = _slope_columns(table, getattr(roles, option), f"--{option}", len(names))
        channels |= {name + primes: word for name, word in zip(names, words, strict=False)}
    inputs, formulas = _inputs(table, roles.force, channels)
    closed = NONE if roles.force is not None and not inputs else None
    asked = Roles(time=roles.time, run=roles.run, channels=channels, inputs=inputs, force=closed)
    return Asked(asked, tuple(names), formulas)


def asked_columns(table: "Table", roles: "Roles", states: Sequence[Part], called: Sequence[str]) -> Asked:
    """Return the columns to read: of a system if several states or inputs are named, else of one signal.

    Args:
        called: the names of the states in given equations.

    Raises:
        DataError, ConfigError: as `ask_system`, and if one signal has several columns of slopes.
    """
    from gode.data.columns import INPUT, STATES
    from gode.tables.guess_roles import assign_roles

    if states:
        return ask_system(table, roles, states, called)
    force = roles.force
    alone = force in (None, NONE) or is_column(table, str(force))
    if not alone and any(part.name or i for i, part in enumerate(parts_of(str(force)))):
        driving = [part.word for part in parts_of(str(force)) if is_column(table, part.word)]
        named = {f"input {i}": find_column(table, word) for i, word in enumerate(dict.fromkeys(driving))}
        rest = assign_roles(table, replace(roles, force=NONE, inputs=named))
        roles = replace(roles, velocity=rest.velocity or NONE, acceleration=rest.acceleration or NONE)
        return ask_system(table, roles, [Part("u", rest.u or NONE)])
    for option in ("velocity", "acceleration"):
        word = getattr(roles, option)
        if word and "," in word and not is_column(table, word):
            raise ConfigError(f"--{option} names several columns; say by --states whose they are")
    if alone:
        return Asked(roles, STATES, {})
    return Asked(replace(roles, force=NONE), STATES, {INPUT: parse_formula(str(force), table)})


def state_columns(table: "Table", roles: "Roles", states: str) -> list[Part]:
    """Return the columns that --states names; `all` are those of numbers that have no other role.

    Raises:
        DataError, ConfigError: if one does not exist or is named twice.
    """
    from gode.tables.guess_roles import assign_columns

    if states == ALL:
        rest = replace(roles, u=ALL, velocity=NONE, acceleration=NONE)
        return [Part("", str(each.u)) for each in assign_columns(table, rest)]
    parts = [part._replace(word=_found(table, part.word)) for part in parts_of(states)]
    words = [part.word for part in parts]
    for i, word in enumerate(words):
        if word != NONE and word in words[:i]:
            raise DataError(f"{table.source}: --states names column {word!r} twice; drop one")
        if word == NONE and not parts[i].name:
            raise ConfigError(
                "--states none: a state that was not measured itself needs a name, as in x=none"
            )
    if not parts:
        raise ConfigError("--states is empty; name columns, such as --states prey,predator")
    return parts


def asked_with_hidden(
    table: "Table", roles: "Roles", states: Sequence[Part], called: Sequence[str], hidden: Sequence[str]
) -> Asked:
    """Return the columns to read, with states that no column measures: of one system, or in each well.

    Raises:
        DataError, ConfigError: as `asked_columns`.
    """
    several = roles.u not in (None, NONE) and not is_column(table, str(roles.u))
    if hidden and several and not states:  # A run for each column, which a system would have for one state.
        asked = asked_columns(table, roles, states, called)
        return asked._replace(states=(*asked.states, *hidden))
    if hidden:
        roles, states = _with_hidden(table, roles, states, hidden)
    return asked_columns(table, roles, states, called)


def _with_hidden(
    table: "Table", roles: "Roles", states: Sequence[Part], hidden: Sequence[str]
) -> "tuple[Roles, list[Part]]":
    """Return roles and states with those that no column measures behind the measured ones."""
    from gode.tables.guess_roles import assign_roles

    measured = list(states)
    if not measured:
        found = assign_roles(table, roles)
        measured = [Part("", str(found.u))]
        roles = replace(roles, u=None, force=roles.force or found.force or NONE)
        roles = replace(roles, velocity=found.velocity, acceleration=found.acceleration)
    return roles, [*measured, *(Part(name, NONE) for name in hidden)]


def states_of_equations(table: "Table", called: Sequence[str]) -> tuple[str, list[str]]:
    """Return the option --states for the states of equations, and those that no column measures.

    Raises:
        DataError: if one that is no column is called nearly as a column that stands for no state.
    """
    measured = {name: find_column(table, name) for name in called if is_column(table, name)}
    hidden = [name for name in called if name not in measured]
    states = join_list([f"{name}={measured.get(name, NONE)}" for name in called])
    others = [column.lower() for column in table.names if column not in measured.values()]
    if not hidden or not measured:
        return join_list(called), []
    for name in hidden:
        if get_close_matches(name.lower(), others, n=1):
            try:
                find_column(table, name)
            except DataError as error:
                raise DataError(f"{error}; if it was not measured, add --states {states}") from None
    return states, hidden


def is_equation(source: str) -> bool:
    """Tell whether `source` is an equation, not a file or a folder."""
    return "=" in source and not os.path.exists(source)


def is_column(table: "Table", name: str) -> bool:
    """Tell whether `name` means a column of the table."""
    try:
        find_column(table, name)
    except DataError:
        return False
    return True


def find_column(table: "Table", word: str) -> str:
    """Return the column that `word` means: its name, its number, or its name in an equation.

    Raises:
        DataError: if there is none.
    """
    known = dict(zip(identifiers(table.names, taken_words()), table.names, strict=True))
    try:
        return table.find(word)
    except DataError:
        if word in known:
            return known[word]
        raise


def parse_formula(text: str, table: "Table") -> str:
    """Return a formula in t.

    Raises:
        DataError: if it is none.
    """
    from gode.equation import parse_tree
    from gode.equation.tree import TIME, variables
    from gode.tables.table import listed

    try:
        is_formula = variables(parse_tree(text, inputs=())) <= {TIME}
    except EquationError:
        is_formula = False
    if not is_formula:
        raise DataError(
            f"--force {shortened(text, 200)!r} is neither a column of {table.source} ({listed(table.names)}) "
            "nor a formula in t such as 'sin(2*t)'"
        )
    return text


def taken_words() -> Collection[str]:
    """Return the words that cannot name a state or an input."""
    from gode.data.states import TAKEN

    return {*TAKEN, *APART}


def _safe(table: "Table", name: str) -> str:
    """Return a column as a word of an option: by its number if its name would mean something else."""
    return str(table.names.index(name) + 1) if "=" in name or name in (ALL, NONE) else name


def _part(text: str) -> Part:
    name, equals, word = text.partition("=")
    return Part(name.strip(), word.strip()) if equals else Part("", text)


def _found(table: "Table", word: str) -> str:
    return NONE if word == NONE else find_column(table, word)


def _state_names(columns: Sequence[Part], called: Sequence[str]) -> list[str]:
    made = iter(identifiers([part.word for part in columns if not part.name], taken_words()))
    names = [part.name or next(made) for part in columns]
    if not called or set(called) == set(names):
        return names
    if len(called) != len(names):
        raise ConfigError(
            f"--states names {len(names)} columns, but the equations are those of {', '.join(called)}; "
            "name a column for each"
        )
    return list(called)


def _slope_columns(table: "Table", text: str | None, option: str, n_states: int) -> list[str]:
    if text is None:
        return []
    words = [_found(table, part.word) for part in parts_of(text)]
    if words == [NONE]:
        return words * n_states
    if len(words) != n_states:
        raise ConfigError(
            f"{option} names {len(words)} columns for {n_states} states; give one for each, "
            "none where it was not measured"
        )
    return words


def _inputs(
    table: "Table", text: str | None, channels: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns and the formulas of the known inputs by their names."""
    columns: dict[str, str] = {}
    formulas: dict[str, str] = {}
    for part in [] if text in (None, NONE) else parts_of(str(text)):
        used = {*channels, *columns, *formulas}
        if is_column(table, part.word):
            word = find_column(table, part.word)
            if word in columns.values():
                raise DataError(f"{table.source}: --force names column {word!r} twice; drop one")
            if word in channels.values():
                raise DataError(
                    f"{table.source}: column {word!r} cannot be both a state and an input; name two"
                )
            taken = {*taken_words(), *used} - {word} if word == "F" else {*taken_words(), *used}
            columns[part.name or identifiers([word], taken)[0]] = word
        else:
            free = (name for i in count(1) if (name := f"F{i}" if i > 1 else "F") not in used)
            formulas[part.name or next(free)] = parse_formula(part.word, table)
    return columns, formulas


def is_problem(word: str) -> bool:
    """Tell whether a word is the name of a PEtab problem, a file of YAML."""
    return word.lower().endswith((".yaml", ".yml"))
