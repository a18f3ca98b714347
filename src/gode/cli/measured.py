"""Measurements from files, and the options that say which column holds what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

import click

from gode.cli.app import add_options
from gode.errors import ConfigError, DataError, EquationError

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.tables.runs import Readings
    from gode.tables.table import Table

data_options = add_options(
    click.option("--time", metavar="COLUMN", help="Column of times."),
    click.option(
        "--u", metavar="COLUMN[,...]", help="Column of the signal; A1,A2 or all: each column is a run."
    ),
    click.option("--velocity", metavar="COLUMN", help="Column of u'."),
    click.option("--acceleration", metavar="COLUMN", help="Column of u''."),
    click.option("--force", metavar="COLUMN|FORMULA", help="Known input F: a column, or a formula in t."),
    click.option("--run", metavar="COLUMN", help="Column that tells several runs apart."),
    click.option(
        "--initial",
        metavar="VALUES",
        multiple=True,
        help="Known initial values, as 1 or 1,0; once for all runs or once for each.",
    ),
    click.option(
        "--hold/--no-hold",
        default=None,
        help="Whether each sample of F is held until the next; by default the data decide.",
    ),
    click.option(
        "--interpolation",
        type=click.Choice(("auto", "hold", "linear", "cubic")),
        default="auto",
        help="Interpolation between samples of F.",
    ),
)

COLUMNS = ("time", "u", "velocity", "acceleration", "force", "run")


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The values of the options about the data."""

    time: str | None
    u: str | None
    velocity: str | None
    acceleration: str | None
    force: str | None
    run: str | None
    initial: tuple[str, ...]
    hold: bool | None
    interpolation: str


def read_dataset(files: Sequence[str], options: DataOptions) -> "tuple[Dataset, Readings]":
    """Return the runs in the files with their labels and names, and how the tables were read.

    Raises:
        DataError, ConfigError: if they cannot be used that way.
    """
    from gode.tables.read import read_table
    from gode.tables.roles import NONE, Roles
    from gode.tables.runs import runs_of_tables

    tables = [read_table(path) for path in files]
    formula = None
    if options.force is not None and options.force != NONE and not _is_column(tables[0], options.force):
        formula = _parse_force(options.force, tables[0])
        options = replace(options, force=NONE)
    readings = runs_of_tables(tables, Roles(**{role: getattr(options, role) for role in COLUMNS}))
    return _make_dataset(readings, options, formula), readings


def _make_dataset(readings: "Readings", options: DataOptions, formula: str | None) -> "Dataset":
    from gode.data.joining import chosen_interpolation
    from gode.discovery.arguments import make_dataset

    initial = _initial_values(options.initial, len(readings.runs))
    roles = ("t", "u", "velocity", "acceleration", "force")
    t, u, velocity, acceleration, force = (readings.column(role) for role in roles)
    assert t is not None, "every table has a column of times"
    return make_dataset(
        t, u, velocity, acceleration, formula or force, initial,
        interpolation=chosen_interpolation(options.hold, options.interpolation),
        labels={**readings.labels, **({"force": formula} if formula else {})},
        run_names=readings.names,
    )  # fmt: skip


def _is_column(table: "Table", name: str) -> bool:
    try:
        table.find(name)
    except DataError:
        return False
    return True


def _parse_force(text: str, table: "Table") -> str:
    from gode.equation import parse_tree
    from gode.equation.tree import TIME, variables
    from gode.tables.table import listed

    try:
        is_formula = variables(parse_tree(text, inputs=())) <= {TIME}
    except EquationError:
        is_formula = False
    if not is_formula:
        raise DataError(
            f"--force {text!r} is neither a column of {table.source} ({listed(table.names)}) "
            "nor a formula in t such as 'sin(2*t)'"
        )
    return text


def _initial_values(texts: tuple[str, ...], n_runs: int) -> list[list[float]] | None:
    if not texts:
        return None
    if len(texts) not in (1, n_runs):
        raise ConfigError(
            f"--initial was given {len(texts)} times for {n_runs} runs; give it once, or once for each"
        )
    values = [parse_values(text, "--initial") for text in texts]
    longest = max(map(len, values))
    if longest > 2:
        raise ConfigError(f"--initial must be u(t0) or u(t0),u'(t0), got {longest} values")
    return values * (n_runs // len(values))


def check_initial(dataset: "Dataset", order: str) -> list[str]:
    """Refuse u'(t0) for order 1; return a sentence if it has to be fitted for order 2.

    Raises:
        ConfigError: if there are more initial values than the order.
    """
    known = [(not isnan(run.initial[0]), not isnan(run.initial[1])) for run in dataset.runs]
    if order == "1" and any(slope for _, slope in known):
        raise ConfigError("--initial must be u(t0) for order 1, got 2 values")
    fitted = order == "2" and any(value and not slope for value, slope in known)
    return ["u(t0) is known; u'(t0) is fitted"] if fitted else []


def parse_values(text: str, option: str) -> list[float]:
    """Return the numbers in a text such as 1,0; nan stands for unknown."""
    try:
        return [float(word) for word in re.split(r"[,;\s]+", text.strip())]
    except ValueError:
        raise ConfigError(f"{option} must be numbers such as 1 or 1,0, got {text!r}") from None
