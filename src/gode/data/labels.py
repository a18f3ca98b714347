"""Names and units of the columns, as their labels say: ``force [N]``."""

import re
from collections.abc import Mapping
from dataclasses import replace

from gode.data.runs import Dataset
from gode.errors import DataError, pointed
from gode.units import Unit, parse_unit

ROLES = {"t": "time", "u'": "velocity", "u''": "acceleration"}  # column -> key of its label
UNIT = re.compile(r"\[([^\[\]]+)\]\s*$")  # as in `force [N]`
NO_UNIT = {"1", "-", "–", "—"}  # written for a pure number


def unit_of(dataset: Dataset, column: str) -> str:
    """Return the unit of a column as it was written; empty where it is unknown or none."""
    found = UNIT.search(dataset.labels.get(ROLES.get(column, column), ""))
    unit = found[1].strip() if found else ""
    return "" if unit in NO_UNIT else unit


def key_of(dataset: Dataset, column: str) -> str:
    """Return the key of the label of a column."""
    if column == "F" and (len(dataset.states) == 1 or "F" not in dataset.labels):
        return "force"
    return ROLES.get(column, column)


def plain_label(label: str) -> str:
    """Return the name of a column without its unit."""
    return UNIT.sub("", label).strip()


def with_units(dataset: Dataset, units: Mapping[str, str]) -> Dataset:
    """Return the data with the units of time, states and inputs in their labels.

    Raises:
        ConfigError: if a unit cannot be read.
        DataError: if there is no such column.
    """
    labels = dict(dataset.labels)
    single = len(dataset.states) == 1
    known = {"t": "t", **{name: name for name in (*dataset.states, *dataset.inputs)}}
    own = [name for name in (*dataset.states, *dataset.inputs) if single or name == "F"]
    labels_of = {plain_label(dataset.labels.get(key_of(dataset, name), name)): name for name in own}
    known |= {name: column for name, column in labels_of.items() if name}
    for name, text in units.items():
        if name not in known:
            reason = f"units has {name!r}, which is no column; the columns are {', '.join(known)}"
            raise DataError(pointed(reason, f"{name} = {text}", 0))
        parse_unit(text)
        column = known[name]
        key = "force" if column == "F" and single else ROLES.get(column, column)
        label = plain_label(labels.get(key, "")) or column
        labels[key] = f"{label} [{text}]"
    return replace(dataset, labels=labels)


def column_units(dataset: Dataset) -> dict[str, Unit]:
    """Return the units of all columns that the labels tell: t, states, their derivatives, inputs."""
    found = known_units(dataset)
    for state in dataset.states:
        if state in found and "t" in found:
            for order in (1, 2):
                found[state + "'" * order] = found[state] / found["t"] ** order
    return found


def known_units(dataset: Dataset) -> dict[str, Unit]:
    """Return the units of t, states and inputs whose labels have one that can be read; 1 is a pure number."""
    found: dict[str, Unit] = {}
    for column in ("t", *dataset.states, *dataset.inputs):
        key = "force" if column == "F" and "F" not in dataset.labels else ROLES.get(column, column)
        written = UNIT.search(dataset.labels.get(key, ""))
        unit = parse_unit(written[1], strict=False) if written else None
        if unit is not None:
            found[column] = unit
    return found
