"""Candidates -> ranking: an information criterion on the trajectory, the front, near ties.

The criterion is m log(SSE/n) + k log m + 2 k (k + 1)/(m - k - 1) + a price for what is far-fetched, where k
counts the fitted numbers and m the independent values: what the most accurate equation leaves over is
white for simulated noise (m = n) and drifts slowly in most measurements, where a thousand samples may be
worth fifty. Where they are worth clearly less than their number, no equation tells all, in-sample errors do
not tell a law from a long formula, and the error of a forecast takes their place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.equation import Equation
from gode.equation.tree import burden
from gode.fitting.shooting import ShootConfig, Shot, Target, forecast

CONTESTANTS = 8  # equations whose forecasts are compared, from the top and from the front
TRAINED = 0.6  # share of the records from which the rest is forecast


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How accuracy is weighed against complexity."""

    operation_price: float = 2.0
    tie: float = 6.0  # candidates this close to the best cannot be told apart by these data
    floor: float = 1e-4  # errors below this share of the signal are as good as none


@dataclass(frozen=True)
class Candidate:
    """An equation fitted to the trajectory, with what is needed to rank and report it."""

    equation: Equation
    initial: Float  # (runs, order)
    errors: Float  # standard errors of the constants
    covariance: Float
    rms: float  # of the weighted residuals: 1 is the noise
    complexity: int
    criterion: float
    n_values: int = 0
    n_free: int = 0
    independent: float = 0.0  # values that its residuals are worth
    floor: float = 0.0  # weighted residual that counts as none
    price: float = 0.0
    forecast: float = np.nan  # root mean square error of what was not fitted, where it was asked for


def judge(shot: Shot, floor: float, config: SelectionConfig) -> Candidate | None:
    """Return the candidate of a fitted trajectory, as if its residuals were white; None for a failure."""
    if shot.equation is None or not np.isfinite(shot.sse):
        return None
    errors = np.sqrt(np.maximum(np.diag(shot.covariance), 0.0))
    candidate = Candidate(
        shot.equation,
        shot.initial,
        errors,
        shot.covariance,
        float(np.sqrt(shot.sse / shot.n_values)),
        shot.equation.complexity,
        np.inf,
        n_values=shot.n_values,
        n_free=shot.n_free,
        independent=shot.independent,
        floor=floor,
        price=config.operation_price * burden(shot.skeleton.normal),
    )
    return _weighed(candidate, float(shot.n_values))


def _weighed(c: Candidate, independent: float) -> Candidate:
    """Return the candidate with its criterion for this number of independent values."""
    k, m = c.n_free, independent
    spare = max(m - k - 1, 0.5)
    criterion = (
        m * np.log(c.rms**2 + c.floor**2) + k * np.log(max(m, 2.0)) + 2 * k * (k + 1) / spare + c.price
    )
    return replace(c, criterion=float(criterion))


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the best first by our criterion; each equation once."""
    independent = min(candidates, key=lambda c: c.rms).independent if candidates else 0.0
    return in_order([_weighed(c, independent) for c in candidates])


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the best first by the criterion they have; each equation once."""
    best: dict[object, Candidate] = {}
    for candidate in candidates:
        key = candidate.equation.skeleton
        if key not in best or candidate.criterion < best[key].criterion:
            best[key] = candidate
    return sorted(best.values(), key=lambda c: (c.criterion, c.complexity, str(c.equation)))


def is_misfit(order: Sequence[Candidate]) -> bool:
    """Tell whether even the most accurate candidate leaves more than noise."""
    best = min(order, key=lambda c: c.rms)
    return best.independent < 0.8 * best.n_values and best.rms > 3 * best.floor


def by_forecast(order: Sequence[Candidate], target: Target, config: ShootConfig) -> list[Candidate]:
    """Return the candidates with the best of them ranked by how well they forecast, before all others."""
    chosen = {id(c): c for c in [*order[:CONTESTANTS], *front(order)[-CONTESTANTS:]]}
    judged = [
        replace(c, forecast=forecast(c.equation, c.initial, target, TRAINED, config=config))
        for c in chosen.values()
    ]
    able = [c for c in judged if np.isfinite(c.forecast)]
    if not able:
        return list(order)
    names = {c.equation.skeleton for c in able}
    return [*ranked(able), *(c for c in order if c.equation.skeleton not in names)]


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that no other candidate beats in both accuracy and complexity, simplest first."""
    out: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.complexity, c.rms)):
        if not out or candidate.rms < out[-1].rms * (1 - 1e-6):
            out.append(candidate)
    return out


def ties(order: Sequence[Candidate], config: SelectionConfig) -> list[Candidate]:
    """Return the candidates that the data cannot tell from the best one, which is among them."""
    return [c for c in order if c.criterion <= order[0].criterion + config.tie]
