"""What the user calls the columns, and their units, as labels such as ``force [N]`` say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gode.data.columns import INPUT, channel_names
from gode.data.dataset import Dataset
from gode.errors import DataError, pointed
from gode.units import Unit, parse_unit

UNIT = re.compile(r"\[([^\[\]]+)\]\s*$")  # as in `force [N]`
NO_UNIT = {"1", "-", "–", "—"}  # written for a pure number
ARGUMENTS = {"time": "t", "velocity": "u'", "acceleration": "u''", "force": INPUT}  # keys in older records


def unit_of(dataset: Dataset, column: str) -> str:
    """Return the unit of a column as it was written; empty where it is unknown or none."""
    found = UNIT.search(dataset.labels.get(column, ""))
    unit = found[1].strip() if found else ""
    return "" if unit in NO_UNIT else unit


def plain_label(label: str) -> str:
    """Return the name of a column without its unit."""
    return UNIT.sub("", label).strip()


def by_column(labels: Mapping[str, str], states: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """Return labels by their columns; those of older records had the names of arguments for keys."""
    columns = {*channel_names(states), *inputs}
    return {key if key in columns else ARGUMENTS.get(key, key): label for key, label in labels.items()}


def with_units(dataset: Dataset, units: Mapping[str, str]) -> Dataset:
    """Return the data with the units of time, states and inputs in their labels.

    Args:
        units: by the names of columns, the user's or those in the equation.

    Raises:
        ConfigError: if a unit cannot be read.
        DataError: if there is no such column.
    """
    signals = (*dataset.states, *dataset.inputs)
    columns = {name: name for name in ("t", *signals)}
    columns |= {plain_label(dataset.labels[name]): name for name in signals if name in dataset.labels}
    columns.pop("", None)
    labels = dict(dataset.labels)
    for name, text in units.items():
        if name not in columns:
            reason = f"units has {name!r}, which is no column; the columns are {', '.join(columns)}"
            raise DataError(pointed(reason, f"{name} = {text}", 0))
        parse_unit(text)
        column = columns[name]
        labels[column] = f"{plain_label(labels.get(column, '')) or column} [{text}]"
    return replace(dataset, labels=labels)


def column_units(dataset: Dataset) -> dict[str, Unit]:
    """Return the units of t, states, their derivatives and inputs that labels tell and that can be read."""
    found: dict[str, Unit] = {}
    for column in ("t", *dataset.states, *dataset.inputs):
        written = UNIT.search(dataset.labels.get(column, ""))
        unit = parse_unit(written[1], strict=False) if written else None
        if unit is not None:
            found[column] = unit
    for state in dataset.states:
        if state in found and "t" in found:
            for order in (1, 2):
                found[state + "'" * order] = found[state] / found["t"] ** order
    return found
