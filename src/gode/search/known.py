"""Known: what the user knows beforehand of the law."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gode.equation.frame import split_equations
from gode.errors import ConfigError
from gode.options.table import Bounds, Texts
from gode.search.assumptions import checked_assumptions


@dataclass(frozen=True, kw_only=True)
class Known:
    """A frame and the values and bounds of its constants, as they can be saved."""

    frame: tuple[str, ...] = ()
    fixed: tuple[tuple[str, float], ...] = ()
    bounds: tuple[tuple[str, float, float], ...] = ()
    units: tuple[tuple[str, str], ...] = ()  # of columns
    assume: tuple[str, ...] = ()

    @property
    def limits(self) -> dict[str, tuple[float | None, float | None]]:
        """The bounds by the names of constants."""
        return {name: (low, high) for name, low, high in self.bounds}


def make_known(
    frame: Texts | None = None,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    units: Mapping[str, str] | None = None,
    assume: str | Sequence[str] = (),
) -> Known:
    """Return what the user knows.

    Raises:
        ConfigError: if values are given without an equation whose constants they are, or are no numbers.
    """
    if frame is None and (fixed or bounds):
        raise ConfigError("fixed= and bounds= are of constants in frame=; give that, too")
    if frame is not None and not isinstance(frame, str | Sequence | Mapping):
        raise ConfigError(f"frame= must be text, or a list with one for each state, got {frame!r}")
    texts = () if frame is None else tuple(split_equations(frame))
    if frame is not None and not texts:
        raise ConfigError(f'frame= must hold an equation, such as "u\' = f(u)", got {frame!r}')
    for option, given in (("fixed", fixed), ("bounds", bounds), ("units", units)):
        if given is not None and not isinstance(given, Mapping):
            raise ConfigError(
                f"{option}= must be a mapping of names to values, such as {{'K': 500}}, got {given!r}"
            )
    values = tuple((str(k), _number(k, v)) for k, v in (fixed or {}).items())
    limits = tuple((str(k), *_pair(k, v)) for k, v in (bounds or {}).items())
    named = tuple((units or {}).items())
    return Known(frame=texts, fixed=values, bounds=limits, units=named, assume=checked_assumptions(assume))


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ConfigError(f"the fixed value of {name} must be a number, got {value!r}") from None
    except OverflowError:
        raise ConfigError(
            f"the fixed value of {name} is too large to compute with; give a smaller one"
        ) from None


def _pair(name: str, given: tuple[float | None, float | None]) -> tuple[float, float]:
    try:
        low, high = given
        pair = -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ConfigError(f"the bounds of {name} must be a pair such as (0, None), got {given!r}") from None
    except OverflowError:
        raise ConfigError(f"a bound of {name} is too large to compute with; give a smaller one") from None
    return pair
