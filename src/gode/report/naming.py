"""Names and units on pages and figures: columns, frequencies, times."""

import re
from dataclasses import dataclass

import numpy as np

from gode.data import Dataset
from gode.data.dataset import plain_label, unit_of
from gode.discovery.framing import display_name

TINY = 1e-8  # relative size of a number that counts as zero
CYCLES = {"s": "Hz", "sec": "Hz", "second": "Hz", "seconds": "Hz", "ms": "kHz", "us": "MHz", "µs": "MHz"}


@dataclass(frozen=True)
class Value:
    """A number with its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        number = f"{self.value:.4g}" if abs(self.value) > TINY * self.error else "0"
        return f"{number} ± {self.error:.2g}" if np.isfinite(self.error) and self.error > 0 else number

    def __mul__(self, factor: float) -> "Value":
        return Value(factor * self.value, abs(factor) * self.error)


@dataclass(frozen=True)
class Units:
    """The units of time and of u; empty where unknown."""

    time: str = ""
    u: str = ""

    @classmethod
    def of(cls, dataset: Dataset, state: str | None = None) -> "Units":
        """Return the units in the labels of the columns; by default those of the first state."""
        return cls(unit_of(dataset, "t"), unit_of(dataset, state or dataset.states[0]))

    def length(self, value: Value | float) -> str:
        """Return a value of u with its unit."""
        return _with(value, self.u)

    def duration(self, value: Value | float) -> str:
        """Return a time with its unit."""
        return _with(value, self.time)

    def rate(self, value: Value) -> str:
        """Return an angular frequency, and the same in cycles and as a period."""
        per = f"rad/{self.time}" if self.time else "rad per unit of time"
        cycles = value * (0.5 / np.pi)
        unit = CYCLES.get(self.time, f"cycles/{self.time}" if self.time else "cycles per unit of time")
        return f"{value} {per} ({cycles} {unit}, period {self.duration(1 / cycles.value)})"

    def derived(self, column: str) -> str:
        """Return the unit of u, u' or u'' from those of u and t."""
        order = column.count("'")
        if not self.u or (order and not self.time):
            return ""
        time = f"({self.time})" if re.search(r"[^\w°µ]", self.time) else self.time
        top = f"({self.u})" if order and re.search(r"[/ ]", self.u) else self.u
        return (self.u, f"{top}/{time}", f"{top}/{time}²")[order]


def per_cent(value: Value) -> str:
    """Return a ratio in per cent."""
    return f"{value * 100} %"


def axis_label(dataset: Dataset, column: str) -> str:
    """Return the label of a column: its name in the equation, with that of the user and the unit."""
    label = dataset.labels.get(column, "")
    name = display_name(dataset, column)
    if column == "u" and plain_label(label) == ",".join(dataset.names):  # each column is a run
        label = ""
    if label.removesuffix(f" [{unit_of(dataset, column)}]") == name:  # the label is only the name
        label = ""
    if label:
        return f"{name} ({label})"
    unit = unit_of(dataset, column) or (
        Units.of(dataset, column.rstrip("'")).derived(column) if column != "t" else ""
    )
    return f"{name} [{unit}]" if unit else name


def _with(value: Value | float, unit: str) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}" if unit else text


def figures(value: float, error: float) -> str:
    """Return `value` to the second digit of its error."""
    if not 0 < error < np.inf or abs(value) >= 1e6:
        return f"{value:.6g}"
    places = int(1 - np.floor(np.log10(error)))
    return f"{value:.{max(places, 0)}f}" if places <= 9 else f"{value:.{places}g}"
