"""Measurements from files: which column holds what, as a user says it or as it is guessed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from gode.errors import ConfigError, shortened
from gode.measured.asked import (
    Asked,
    Part,
    ask_system,
    guessed_system,
    is_column,
    parse_formula,
    parts_of,
    state_columns,
)
from gode.tables.cells import split_list

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.discovery.arguments import Known
    from gode.tables.layout import Reading
    from gode.tables.roles import Roles
    from gode.tables.runs import Readings
    from gode.tables.table import Table

COLUMNS = ("time", "u", "velocity", "acceleration", "force", "run")


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The values of the options about the data."""

    time: str | None = None
    u: str | None = None
    states: str | None = None
    velocity: str | None = None
    acceleration: str | None = None
    force: str | None = None
    run: str | None = None
    initial: tuple[str, ...] = ()
    hold: bool | None = None
    interpolation: str = "auto"
    edit: tuple[str, ...] = ()
    header: int | None = None  # the line of the names in a file, from 1; 0 if there is none
    skip: int = 0  # lines at the start of a file
    decimal: str | None = None  # the decimal sign
    missing: tuple[str, ...] = ()  # what stands in cells without a reading
    keep_outliers: bool = False
    called: tuple[str, ...] = ()  # the states in given equations
    single: bool = False  # whether a given equation has one state

    @property
    def reading(self) -> "Reading":
        """What is said about how the files are written."""
        from gode.tables.layout import Reading

        texts = (self.missing,) if isinstance(self.missing, str) else self.missing
        words = tuple(word for text in texts for word in split_list(text))
        return Reading(header=self.header, skip=self.skip, decimal=self.decimal or "", missing=words)


def read_dataset(files: Sequence[str], options: DataOptions) -> "tuple[Dataset, Readings]":
    """Return the runs in the files with their labels and names, and how the tables were read.

    Raises:
        DataError, ConfigError: if they cannot be used that way.
    """
    from gode.tables.read import read_table

    return dataset_of([read_table(path, options.reading) for path in files], options)


def dataset_of(tables: "Sequence[Table]", options: DataOptions) -> "tuple[Dataset, Readings]":
    """Return the runs in some tables; see `read_dataset`."""
    from gode.tables.edits import edit_runs, edit_table
    from gode.tables.roles import Roles
    from gode.tables.runs import runs_of_tables

    tables = [edit_table(table, options.edit) for table in tables]
    roles = Roles(**{role: getattr(options, role) for role in COLUMNS})
    asked, asks = _ask(tables[0], roles, options)
    readings = edit_runs(runs_of_tables(tables, asked.roles, natural=True), options.edit)
    readings = replace(readings, told=(*readings.told, *asks))
    if options.edit:
        readings = replace(readings, told=(*readings.told, f"edited: {'; '.join(options.edit)}"))
    made = _make_dataset(readings, options, asked)
    return replace(made, edits=options.edit, keep_outliers=options.keep_outliers), readings


def _ask(table: "Table", roles: "Roles", options: DataOptions) -> tuple[Asked, tuple[str, ...]]:
    """Return the columns to read, and what is not sure about those that were guessed.

    Raises:
        DataError, ConfigError: if they cannot be used that way.
    """
    states = [] if options.states is None else state_columns(table, roles, options.states)
    if states and options.u is not None:
        raise ConfigError("--u and --states both name signals; give one of them")
    if len(states) == 1:
        roles = replace(roles, u=states[0].word)
    roles, states, asks = guessed_system(table, roles, states, single=_is_single(options))
    return _asked(table, roles, states, options), asks


def _is_single(options: DataOptions) -> bool:
    """Tell whether there is one state, as an equation or one initial value says."""
    return options.single or any(len(parse_values(text, "--initial")) == 1 for text in options.initial)


def _asked(table: "Table", roles: "Roles", states: "list[Part]", options: DataOptions) -> Asked:
    """Return the columns to read: of a system if several states or inputs are named, else of one signal."""
    from gode.tables.roles import NONE, assign_roles

    several = roles.force is not None and not is_column(table, roles.force) and len(parts_of(roles.force)) > 1
    if len(states) < 2 and several:
        alone = assign_roles(table, replace(roles, force=NONE))
        roles = replace(roles, velocity=alone.velocity or NONE, acceleration=alone.acceleration or NONE)
        return ask_system(table, roles, [Part("u", alone.u or NONE)])
    if len(states) > 1:
        return ask_system(table, roles, states, options.called)
    for option in ("velocity", "acceleration"):
        word = getattr(roles, option)
        if word and "," in word and not is_column(table, word):
            raise ConfigError(f"--{option} names several columns; say by --states whose they are")
    if roles.force in (None, NONE) or is_column(table, str(roles.force)):
        return Asked(roles, ("u",), {})
    return Asked(replace(roles, force=NONE), ("u",), {"force": parse_formula(str(roles.force), table)})


def _make_dataset(readings: "Readings", options: DataOptions, asked: Asked) -> "Dataset":
    from gode.data.joining import chosen_interpolation
    from gode.discovery.arguments import make_dataset

    initial = _initial_values(options.initial, len(readings.runs), len(asked.states))
    t = readings.column("t")
    assert t is not None, "every table has a column of times"
    joined = chosen_interpolation(options.hold, options.interpolation)
    labels = {**readings.labels, **asked.formulas}
    if not asked.roles.channels:
        u, velocity, acceleration, force = (
            readings.column(role) for role in ("u", "velocity", "acceleration", "force")
        )
        return make_dataset(
            t, u, velocity, acceleration, asked.formulas.get("force") or force, initial,
            interpolation=joined, labels=labels, run_names=readings.names,
        )  # fmt: skip
    values, slopes, bends = (
        {name: c for name in asked.states if (c := readings.column(name + primes)) is not None} or None
        for primes in ("", "'", "''")
    )
    inputs: dict[str, Known] = {
        name: c for name in readings.inputs if (c := readings.column(name)) is not None
    }
    inputs |= asked.formulas
    return make_dataset(
        t, values, slopes, bends, inputs or None, initial, names=asked.states, interpolation=joined,
        labels=_labels(labels, asked, tuple(inputs)), run_names=readings.names,
    )  # fmt: skip


def _labels(labels: Mapping[str, str], asked: Asked, inputs: Sequence[str]) -> dict[str, str]:
    """Return the labels by name; a single state has its derivatives and inputs by their roles."""
    if len(asked.states) > 1:
        return dict(labels)
    (state,) = asked.states
    keys = [f"v{i}" if i else "force" for i in range(len(inputs))]
    roles = {state: "u", f"{state}'": "velocity", f"{state}''": "acceleration"}
    roles |= dict(zip(inputs, keys, strict=True))
    return {roles.get(name, name): label for name, label in labels.items()}


def _initial_values(texts: tuple[str, ...], n_runs: int, n_states: int) -> list[list[float]] | None:
    if not texts:
        return None
    if len(texts) not in (1, n_runs):
        raise ConfigError(
            f"--initial was given {len(texts)} times for {n_runs} runs; give it once, or once for each"
        )
    values = [parse_values(text, "--initial") for text in texts]
    for row in values:
        if n_states == 1 and len(row) > 2:
            raise ConfigError(f"--initial must be u(t0) or u(t0),u'(t0), got {len(row)} values")
        if n_states > 1 and len(row) not in (n_states, 2 * n_states):
            raise ConfigError(
                f"--initial must be a value for each of {n_states} states, or a value and a slope for each, "
                f"got {len(row)} values"
            )
    return values * (n_runs // len(values))


def check_initial(dataset: "Dataset", order: str) -> list[str]:
    """Refuse u'(t0) for order 1; return a sentence if it has to be fitted for order 2.

    Raises:
        ConfigError: if there are more initial values than the order.
    """
    known = [[not isnan(value) for value in run.initial] for run in dataset.runs]
    if order == "1" and any(slope for row in known for slope in row[1::2]):
        said = "u(t0)" if len(dataset.states) == 1 else "a value for each state"
        raise ConfigError(f"--initial must be {said} for order 1, got {2 * len(dataset.states)} values")
    notes = []
    for s, name in enumerate(dataset.states):
        if order == "2" and any(row[2 * s] and not row[2 * s + 1] for row in known):
            notes.append(f"{name}(t0) is known; {name}'(t0) is fitted")
    return notes


def parse_values(text: str, option: str) -> list[float]:
    """Return the numbers in a text such as 1,0; nan stands for unknown."""
    try:
        return [float(word) for word in re.split(r"[,;\s]+", text.strip())]
    except ValueError:
        raise ConfigError(
            f"{option} must be numbers such as 1 or 1,0, got {shortened(text, 200)!r}"
        ) from None
