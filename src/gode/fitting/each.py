"""Cheap fits of a skeleton to each run by itself, where the runs have constants of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Skeleton
from gode.fitting.constants import ConstantsConfig, fit_constants
from gode.fitting.problem import Form, Regression

MOST_FAILED = 0.25  # share of the runs on which a skeleton may have no cheap fit


@dataclass(frozen=True)
class EachFit:
    """What came of the cheap fits to each run: constants (runs, k), and the rms residual of all."""

    equation: Equation  # with the median of the constants
    table: Float
    loss: float

    @property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """The constants as tuples."""
        return tuple(map(tuple, self.table.tolist()))


def fit_each(
    skeleton: Skeleton, problems: Sequence[Regression], *, config: ConstantsConfig
) -> EachFit | None:
    """Return the constants of each run that fit its problem best; None where too many runs have none.

    A run without a fit, as where a function is not defined along smoothed values, counts as not explained.
    """
    table = np.full((len(problems), skeleton.n_constants), np.nan)
    squares, n, lost = 0.0, 0, 0
    for i, problem in enumerate(problems):
        found = fit_constants(skeleton, problem, config=config)
        n_points = problem.columns.n_points
        n += n_points
        if found.equation is None:
            lost += 1
            if lost > MOST_FAILED * len(problems):
                return None
            squares += n_points * variance_of(problem)
            continue
        table[i] = found.equation.constants
        squares += n_points * found.loss**2
    centre = np.nanmedian(table, axis=0)
    table = np.where(np.isfinite(table), table, centre)
    return EachFit(Equation(skeleton, tuple(centre.tolist())), table, float(np.sqrt(squares / n)))


def variance_of(problem: Regression) -> float:
    """Return what a problem leaves to an equation that explains nothing."""
    if problem.form is Form.INTEGRAL:
        return float(np.mean(problem.operator.target**2))
    return float(np.max(np.mean(problem.columns.matrix[2:4] ** 2, axis=1)))
