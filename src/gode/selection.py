"""Candidates -> ranking: an information criterion on the trajectory, the front, near ties."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.equation import Equation
from gode.equation.tree import operations
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
    criterion: float


def judge(shot: Shot, floor: float, config: SelectionConfig) -> Candidate | None:
    """Return the candidate of a fitted trajectory; None for a failure."""
    if shot.equation is None or not np.isfinite(shot.sse):
        return None
    n = shot.n_values
    variance = shot.sse / n + floor**2
    price = config.operation_price * operations(shot.skeleton.normal)
    criterion = n * np.log(variance) + shot.n_free * np.log(n) + price
    errors = np.sqrt(np.maximum(np.diag(shot.covariance), 0.0))
    return Candidate(
        shot.equation,
        shot.initial,
        errors,
        shot.covariance,
        float(np.sqrt(shot.sse / n)),
        shot.equation.complexity,
        float(criterion),
    )


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the best first; each equation once."""
    best: dict[object, Candidate] = {}
    for candidate in candidates:
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
