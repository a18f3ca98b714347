"""The options that say what was measured, shared by the commands that read data."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from gode.errors import ConfigError, DataError, EquationError

if TYPE_CHECKING:
    from gode.arrays import Float
    from gode.tables.runs import Readings
    from gode.tables.table import Table

Command = Callable[..., None]
OPTIONS = (
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
        help="Whether each sample of F lasts until the next; by default the data decide.",
    ),
    click.option(
        "--interpolation",
        type=click.Choice(("auto", "hold", "linear", "cubic")),
        default="auto",
        help="How samples of F are joined, in full.",
    ),
)

OTHERS = ("initial", "hold", "interpolation")  # what a choice says besides the roles of columns


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the user said about the columns."""

    time: str | None
    u: str | None
    velocity: str | None
    acceleration: str | None
    force: str | None
    run: str | None
    initial: tuple[str, ...]
    hold: bool | None
    interpolation: str


@dataclass(frozen=True)
class Measured:
    """The runs as `discover` and `fit` take them, what they are called, and what to tell about them."""

    arguments: dict[str, object]
    labels: dict[str, str]
    names: tuple[str, ...]  # of the runs
    told: tuple[str, ...]
    others: "Mapping[str, list[Float]]"  # columns without a role, for each run


def data_options(command: Command) -> Command:
    """Add the options that say which column is what."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read_measured(files: Sequence[str], choice: Choice) -> Measured:
    """Return what the files hold.

    Raises:
        DataError, ConfigError: if they cannot be used that way.
    """
    from gode.data.joining import chosen_interpolation
    from gode.tables.read import read_table
    from gode.tables.roles import NONE, Roles
    from gode.tables.runs import runs_of_tables

    tables = [read_table(path) for path in files]
    formula = None
    if choice.force is not None and choice.force != NONE and not _is_column(tables[0], choice.force):
        formula = _formula(choice.force, tables[0])
        choice = replace(choice, force=NONE)
    roles = Roles(**{k: v for k, v in vars(choice).items() if k not in OTHERS})
    readings = runs_of_tables(tables, roles)
    arguments: dict[str, object] = {
        name: _shape(readings.column(name)) for name in ("t", "u", "velocity", "acceleration", "force")
    }
    if formula is not None:
        arguments["force"] = formula
    arguments["initial"] = _initial(choice.initial, readings)
    arguments["interpolation"] = chosen_interpolation(choice.hold, choice.interpolation)
    labels = {**readings.labels, **({"force": formula} if formula else {})}
    return Measured(arguments, labels, readings.names, readings.told, readings.others)


def _shape(columns: "list[Float] | None") -> "Float | list[Float] | None":
    """Return one run as an array, several as a list."""
    return columns[0] if columns is not None and len(columns) == 1 else columns


def _is_column(table: "Table", name: str) -> bool:
    try:
        table.find(name)
    except DataError:
        return False
    return True


def _formula(text: str, table: "Table") -> str:
    from gode.equation import parse_tree
    from gode.equation.tree import TIME, variables
    from gode.tables.table import listed

    try:
        tree = parse_tree(text, inputs=())
        fits = variables(tree) <= {TIME}
    except EquationError:
        fits = False
    if not fits:
        raise DataError(
            f"--force {text!r} is neither a column of {table.source} ({listed(table.names)}) "
            "nor a formula in t such as 'sin(2*t)'"
        )
    return text


def _initial(texts: tuple[str, ...], readings: "Readings") -> object:
    n = len(readings.runs)
    if not texts:
        return None
    if len(texts) not in (1, n):
        raise ConfigError(
            f"--initial was given {len(texts)} times for {n} runs; give it once, or once for each"
        )
    values = [parse_values(text, "--initial") for text in texts]
    return values[0] if n == 1 else values * (n // len(values))


def parse_values(text: str, option: str) -> list[float]:
    """Return the numbers in a text such as 1,0; nan stands for unknown."""
    try:
        return [float(word) for word in re.split(r"[,;\s]+", text.strip())]
    except ValueError:
        raise ConfigError(f"{option} must be numbers such as 1 or 1,0, got {text!r}") from None
