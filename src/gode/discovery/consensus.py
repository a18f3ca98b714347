"""What is at stake between near ties: how wrong each of them is if another one is the truth."""

from collections.abc import Iterator, Sequence

import numpy as np

from gode.arrays import Float
from gode.discovery.prepare import Prepared
from gode.discovery.rest import fitted_target
from gode.discovery.simulate import Scenario, simulate
from gode.fitting.shooting import ShootConfig, joint_covariance
from gode.selection import Candidate

RIVALS = 8  # equations that may be the truth
NAMED = 16  # equations that may be named; the others count as wrong
WIDE = np.sqrt(3.0)  # standard deviations: with the middle, three points stand for a normal law


def risks(ties: Sequence[Candidate], prepared: Prepared, config: ShootConfig) -> Float:
    """Return the error to expect of each near tie, over those that may be true, as likely as they are.

    The error is the relative distance of u and its derivatives, at most 1, from a start that the true one
    may have. An equation that fits well but rests where another one starts is of little use.
    """
    places = sorted(range(len(ties)), key=lambda i: ties[i].criterion)[:NAMED]
    likely = [ties[i] for i in places]
    total, weights = np.zeros(len(likely)), 0.0
    for truth in likely[:RIVALS]:
        chance = float(np.exp(0.5 * (likely[0].criterion - truth.criterion)))
        for share, start in _starts(truth, prepared, config):
            true = _path(truth, start, prepared)
            if np.all(np.isfinite(true)):
                paths = (true if c is truth else _path(c, start, prepared) for c in likely)
                total += chance * share * np.array([_distance(path, true) for path in paths])
                weights += chance * share
    out = np.ones(len(ties))
    out[places] = total / weights if weights else 0.0
    return out


def _starts(truth: Candidate, prepared: Prepared, config: ShootConfig) -> Iterator[tuple[float, Float]]:
    """Yield initial values (runs, order) that the equation may have, and how likely they are."""
    covariance, free = joint_covariance(
        truth.equation, truth.initial, fitted_target(truth, prepared), config=config
    )
    errors = np.zeros_like(truth.initial)
    errors[free] = np.sqrt(np.maximum(np.diag(covariance)[len(covariance) - int(free.sum()) :], 0.0))
    errors[~np.isfinite(errors)] = 0.0
    doubtful = np.flatnonzero(errors.any(axis=0))
    yield 1 - len(doubtful) / 3, truth.initial
    for i in doubtful:
        for side in (-WIDE, WIDE):
            moved = truth.initial.copy()
            moved[:, i] += side * errors[:, i]
            yield 1 / 6, moved


def _path(candidate: Candidate, start: Float, prepared: Prepared) -> Float:
    """Return u and its derivatives up to the order of the equation (order + 1, n) along the data."""
    parts = []
    for i, run in enumerate(prepared.target.dataset.runs):
        solved = simulate(candidate, prepared, Scenario(run.t, start[i].tolist(), run=i))
        parts.append(np.vstack([solved.u, solved.du, solved.d2u])[: candidate.equation.order + 1])
    return np.hstack(parts)


def _distance(path: Float, true: Float) -> float:
    with np.errstate(all="ignore"):
        each = np.linalg.norm(path - true, axis=1) / np.linalg.norm(true, axis=1)
    return float(np.mean(np.nan_to_num(np.minimum(each, 1.0), nan=1.0)))
