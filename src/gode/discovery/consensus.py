"""What is at stake between near ties: how wrong each of them is if another one is the truth."""

from collections.abc import Iterator, Sequence

import numpy as np

from gode.arrays import Float
from gode.fitting.prepare import Prepared
from gode.fitting.shooting import ShootConfig, joint_covariance
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate
from gode.solve import System, prepare, run

RIVALS = 8  # equations that may be the truth
NAMED = 16  # equations that may be named; the others count as wrong
WIDE = np.sqrt(3.0)  # standard deviations: with the middle, three points stand for a normal law


def risks(ties: Sequence[Candidate], prepared: Prepared, config: ShootConfig) -> Float:
    """Return the error to expect of each near tie, over the likeliest of them, as likely as they are.

    The error is the relative distance of u and its derivatives, at most 1, from a start that the true one
    may have. An equation that fits well but rests where another one starts is of little use.
    """
    places = sorted(range(len(ties)), key=lambda i: ties[i].criterion)[:NAMED]
    likely = [ties[i] for i in places]
    systems = [_systems(c, prepared) for c in likely]
    total, weights = np.zeros(len(likely)), 0.0
    for number, truth in enumerate(likely[:RIVALS]):
        chance = float(np.exp(0.5 * (likely[0].criterion - truth.criterion)))
        for share, start in _starts(truth, prepared, config):
            true = _path(truth, systems[number], start)
            if np.all(np.isfinite(true)):
                paths = (_path(c, own, start) for c, own in zip(likely, systems, strict=True))
                total += chance * share * np.array([_distance(path, true) for path in paths])
                weights += chance * share
    out = np.ones(len(ties))
    out[places] = total / weights if weights else 0.0
    return out


def _starts(truth: Candidate, prepared: Prepared, config: ShootConfig) -> Iterator[tuple[float, Float]]:
    """Yield initial values (runs, order) that the equation may have, and how likely they are.

    What the data leave quite open, such as u where only u' counts, stays as it is.
    """
    covariance, free = joint_covariance(
        truth.equation, truth.initial, fitted_target(truth, prepared), config=config
    )
    errors = np.zeros_like(truth.initial)
    errors[free] = np.sqrt(np.maximum(np.diag(covariance)[len(covariance) - int(free.sum()) :], 0.0))
    largest = np.max([np.abs(s.values).max(axis=1) for s in prepared.smooths], axis=0)[: errors.shape[1]]
    errors[~(errors <= largest)] = 0.0
    doubtful = np.flatnonzero(errors.any(axis=0))
    yield 1 - len(doubtful) / 3, truth.initial
    for i in doubtful:
        for side in (-WIDE, WIDE):
            moved = truth.initial.copy()
            moved[:, i] += side * errors[:, i]
            yield 1 / 6, moved


def _systems(candidate: Candidate, prepared: Prepared) -> list[System]:
    """Return the equation ready to be solved along each run."""
    skeleton, target = candidate.equation.skeleton, prepared.target
    return [
        prepare(skeleton, one.t, inputs=dict(one.signals), guide=guide[skeleton.order])
        for one, guide in zip(target.dataset.runs, target.guides, strict=True)
    ]


def _path(candidate: Candidate, systems: Sequence[System], start: Float) -> Float:
    """Return u and its derivatives up to the order of the equation (order + 1, n) along the data."""
    constants = np.array(candidate.equation.constants, np.float64)
    solved = [run(system, constants, first) for system, first in zip(systems, start, strict=True)]
    return np.hstack([np.vstack([s.u, s.du, s.d2u])[: candidate.equation.order + 1] for s in solved])


def _distance(path: Float, true: Float) -> float:
    with np.errstate(all="ignore"):
        each = np.linalg.norm(path - true, axis=1) / np.maximum(np.linalg.norm(true, axis=1), 1e-300)
    return float(np.mean(np.nan_to_num(np.minimum(each, 1.0), nan=1.0)))
