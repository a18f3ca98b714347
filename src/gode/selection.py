"""Candidates -> ranking: an information criterion on the trajectory, the front, near ties.

The criterion is m log(SSE/n) + k log m + 2 k (k + 1)/(m - k - 1) + a price for what is far-fetched, where k
counts the fitted numbers and m the independent values: what the most accurate equation leaves over is
white for simulated noise (m = n) and drifts slowly in most measurements, where a thousand samples may be
worth fifty.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.equation import Equation
from gode.equation.tree import burden
from gode.fitting.shooting import Shot


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
    n_values: int
    n_free: int
    independent: float  # values that its residuals are worth
    floor: float  # weighted residual that counts as none
    price: float
    criterion: float


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
        shot.n_values,
        shot.n_free,
        shot.independent,
        floor,
        config.operation_price * burden(shot.skeleton.normal),
        0.0,
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
    """Return the candidates, the best first; each equation once."""
    if not candidates:
        return []
    independent = min(candidates, key=lambda c: c.rms).independent
    best: dict[object, Candidate] = {}
    for candidate in (_weighed(c, independent) for c in candidates):
        key = candidate.equation.skeleton
        if key not in best or candidate.criterion < best[key].criterion:
            best[key] = candidate
    return sorted(best.values(), key=lambda c: (c.criterion, c.complexity, str(c.equation)))


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
