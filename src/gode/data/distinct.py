"""States that have no equation of their own: constant ones, and copies of another."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from gode.arrays import Float
from gode.data.runs import MIN_POINTS, Run
from gode.errors import DataError

ROUNDING = 1e-12  # relative difference of two columns that are the same but for rounding


def check_distinct(runs: Sequence[Run], states: Sequence[str]) -> None:
    """Raise DataError if a state never changes, or is another one times a number, in all runs."""
    for s, name in enumerate(states):
        if _never_changes(np.hstack([run.state(s).observed[:2] for run in runs]), [len(r.t) for r in runs]):
            raise DataError(
                f"{name} is constant, and a constant state has no equation to find; drop it, "
                "or pass it as a known input"
            )
    for a, b in combinations(range(len(states)), 2):
        factor = _factor(*(np.hstack([run.state(s).observed for run in runs]) for s in (a, b)))
        if factor == 1.0:
            raise DataError(f"{states[a]} and {states[b]} are identical; drop one of them")
        if factor is not None:
            raise DataError(
                f"{states[b]} is {factor:.6g} times {states[a]} at every time, so that no equation can tell "
                "them apart; drop one of them"
            )


def _never_changes(observed: Float, sizes: Sequence[int]) -> bool:
    """Tell whether the values (and slopes) (2, n) show no change within any run."""
    values, slopes = observed
    if not np.isfinite(values).any():
        return False
    if np.any(slopes[np.isfinite(slopes)] != 0):
        return False
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return all(np.ptp(part[np.isfinite(part)]) == 0 for part in parts)


def _factor(a: Float, b: Float) -> float | None:
    """Return c where b = c a in all that both have, if that is enough to say so; 1 if they are identical."""
    both = np.isfinite(a) & np.isfinite(b)
    x, y = a[both], b[both]
    if len(x) < MIN_POINTS or not np.any(x) or not np.any(y):
        return None
    if np.array_equal(x, y):
        return 1.0
    largest = np.argmax(np.abs(x))
    factor = float(y[largest] / x[largest])
    close = np.max(np.abs(y - factor * x)) <= ROUNDING * np.max(np.abs(y))
    return factor if close else None
