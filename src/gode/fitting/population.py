"""Constants that each run has for itself, and how they are spread over the population of runs.

The runs are individuals of one kind: patients, wells, batteries. Their estimates scatter for two reasons, the
spread of the population and the error of each estimate, and the second is known. The spread is estimated by
restricted maximum likelihood, as the mean is by the weights that follow from both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from gode.arrays import Float
from gode.equation import LawSkeleton

ALL: Final = ("all",)  # every run has all constants for itself
CHOSEN: Final = ("auto",)  # the criterion decides, constant by constant
NORMAL_95 = 1.959964  # The 95 % interval of a normal law reaches so many standard deviations to either side.
ITERATIONS = 500  # The spread is estimated in at most so many iterations; set by hand.
SETTLED = 1e-6  # A smaller relative change of the spread ends the iteration.
LARGEST = 1e8  # An estimate whose variance is larger, in units of the scatter, says nothing.


@dataclass(frozen=True)
class Individuals:
    """The constants that each run has for itself."""

    places: tuple[int, ...]  # among the free constants of the law
    values: Float  # (runs, places)
    covariances: Float  # (runs, places, places) of the estimates

    @property
    def errors(self) -> Float:
        """The standard errors (runs, places)."""
        return np.sqrt(np.maximum(np.diagonal(self.covariances, axis1=1, axis2=2), 0.0))


@dataclass(frozen=True)
class Population:
    """What the individuals have in common: the mean of their constants and the spread about it."""

    mean: Float  # (k,)
    covariance: Float  # (k, k) of the mean, so that 1.96 standard errors hold it in 95 % of cases
    spread: Float  # (k, k) covariance between individuals, without the errors of their estimates

    @property
    def errors(self) -> Float:
        """The standard errors (k,) of the mean."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def deviations(self) -> Float:
        """The standard deviations (k,) between individuals."""
        return np.sqrt(np.maximum(np.diag(self.spread), 0.0))


def own_places(skeleton: LawSkeleton, individual: Sequence[str]) -> tuple[int, ...]:
    """Return which constants of a law belong to each run, given what was asked for: all, auto, or names."""
    if not individual or tuple(individual) in (ALL, CHOSEN):
        return tuple(range(skeleton.n_constants)) if individual else ()
    return tuple(i for i, parameter in enumerate(skeleton.parameters) if parameter.name in individual)


def bounded(covariances: Float) -> Float:
    """Return covariances (n, k, k) in which no variance is larger than `LARGEST`, with their correlations.

    Each has a small variance more, so that all can be inverted.
    """
    k = covariances.shape[-1]
    sizes = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2) / LARGEST, 1.0))
    return np.asarray(covariances / (sizes[:, :, None] * sizes[:, None, :]) + 1e-12 * np.eye(k))


def population_of(values: Float, covariances: Float) -> Population:
    """Return mean and spread of individuals from estimates (n, k) and their covariances (n, k, k)."""
    n, k = values.shape
    scale = np.std(values, axis=0)
    least = np.finfo(np.float64).tiny ** 0.25  # of a constant that is zero in all runs; its square is no zero
    scale = np.maximum(np.where(scale > 0, scale, np.abs(values[0])), least)
    y = values / scale
    within = bounded(covariances / np.outer(scale, scale))
    spread = np.eye(k)
    mean, sure, before = np.zeros(k), np.eye(k), np.nan
    for _ in range(ITERATIONS):
        weights = np.linalg.pinv(spread + within, hermitian=True)  # what no run determines weighs nothing
        sure = np.linalg.pinv(weights.sum(axis=0), hermitian=True)
        mean = sure @ np.einsum("nij,nj->i", weights, y)
        shrunk = spread @ weights  # share of each deviation that belongs to the individual
        gaps = np.einsum("nij,nj->ni", shrunk, y - mean)
        left = spread - shrunk @ spread + shrunk @ sure @ np.swapaxes(shrunk, 1, 2)
        spread = (np.einsum("ni,nj->ij", gaps, gaps) + left.sum(axis=0)) / n
        if abs(np.trace(spread) - before) <= SETTLED * max(before, SETTLED):
            break
        before = float(np.trace(spread))
    wider = (stdtrit(n - 1, 0.975) / NORMAL_95) ** 2 if n > 1 else 1.0
    units = np.outer(scale, scale)
    return Population(mean * scale, sure * units * wider, spread * units)
