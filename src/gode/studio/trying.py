"""Other constants to try: a slider for each number in the equation as it is written."""

from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.discovery import Finding
from gode.discovery.constants import INSIDE
from gode.equation.system import make_law
from gode.selection import Candidate

STEPS = 200  # of a slider
REACH = 1.96  # standard errors that a slider goes to either side
ROUNDS = 3  # of solving for the free constants; slopes hardly change within error bars


@dataclass(frozen=True)
class Slider:
    """A slider for one constant."""

    words: str
    value: float
    low: float
    high: float

    @property
    def step(self) -> float:
        """The distance between two values that can be chosen."""
        return (self.high - self.low) / STEPS


def sliders(candidate: Candidate) -> list[Slider]:
    """Return a slider for each constant of an equation, through its error bar."""
    out = []
    for constant in Finding(candidate).constants:
        value = constant.value
        error = constant.error
        half = REACH * error if np.isfinite(error) and error > 0 else 0.1 * (abs(value) or 1.0)
        out.append(Slider(_words(constant.name, constant.place), value, value - half, value + half))
    return out


def _words(name: str, place: str) -> str:
    """Return what a constant is called: its name, or what it multiplies."""
    body, comma, where = place.partition(", in ")
    if name:
        return name
    if body == "1":
        return f"The constant term{comma}{where}"
    return f"The constant {place}" if place.startswith(INSIDE) else f"Constant of {place}"


def moved(candidate: Candidate, values: Float) -> Candidate:
    """Return an equation whose numbers, as they are written, have these values.

    The free constants behind them are found by Newton's method, with the slopes at the fitted values.
    """
    c = np.array(candidate.equation.constants)
    start = _written(candidate, c)
    steps = 1e-6 * np.where(c != 0, np.abs(c), 1.0)
    slopes = np.column_stack(
        [
            (_written(candidate, c + step * row) - start) / step
            for step, row in zip(steps, np.eye(len(c)), strict=True)
        ]
    )
    for _ in range(ROUNDS):
        c = c + np.linalg.lstsq(slopes, values - _written(candidate, c), rcond=None)[0]
    return replace(candidate, equation=make_law(candidate.equation.skeleton, c), own=None)


def _written(candidate: Candidate, c: Float) -> Float:
    """Return the numbers of the equation as it is written with these free constants."""
    changed = replace(candidate, equation=make_law(candidate.equation.skeleton, c))
    return np.array([constant.value for constant in Finding(changed).constants])
