"""Interpolation of the samples of an input: held, linear or a cubic spline."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gode.arrays import Float
from gode.errors import ConfigError

SINGLE = 0.5  # share of changes followed by an unchanged sample, above which an input is held


class Interpolation(StrEnum):
    """How to interpolate between the samples of an input."""

    AUTO = "auto"  # cubic, or hold where samples change in isolated jumps
    CUBIC = "cubic"
    LINEAR = "linear"
    HOLD = "hold"


@dataclass(frozen=True)
class Samples:
    """Samples of an input, their times and their interpolation."""

    t: Float
    values: Float
    interpolation: Interpolation

    @property
    def resolved(self) -> Interpolation:
        """The interpolation, with AUTO decided."""
        if self.interpolation is not Interpolation.AUTO:
            return self.interpolation
        return Interpolation.HOLD if changes_by_jumps(self.values) else Interpolation.CUBIC


def chosen_interpolation(hold: bool | None, interpolation: str) -> Interpolation:
    """Return the interpolation chosen by `interpolation=` or by its short form `hold=`.

    Raises:
        ConfigError: if they contradict each other or have other values.
    """
    if not (hold is None or isinstance(hold, bool | np.bool_)):
        raise ConfigError(f"hold must be True, False or None, got {hold!r}")
    if not isinstance(interpolation, str) or interpolation not in set(Interpolation):
        words = ", ".join(Interpolation)
        raise ConfigError(f"interpolation must be one of {words}, got {interpolation!r}")
    how = Interpolation(interpolation)
    if hold is None:
        return how
    if how is Interpolation.AUTO:
        return Interpolation.HOLD if hold else Interpolation.CUBIC
    if bool(hold) is not (how is Interpolation.HOLD):
        raise ConfigError(f"hold={bool(hold)} contradicts interpolation={interpolation!r}; give one of them")
    return how


def changes_by_jumps(y: Float) -> bool:
    """Tell whether samples change in isolated jumps, as those of a switch, rather than gradually."""
    moves = np.diff(y) != 0
    after = moves[1:][moves[:-1]]
    return len(after) > 0 and bool(np.mean(~after) > SINGLE)
