"""The constants of a skeleton that fit a problem best."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Skeleton
from gode.equation.tape import FREQUENCY, compile_poles, compile_scales, compile_tape
from gode.errors import ConfigError, DataError, Failure
from gode.fitting.problem import Form, Regression
from gode.fitting.varpro import FACTOR_STARTS, fit_kernel, make_room, starting_values
from gode.numba_cache import must_compile

logger = logging.getLogger(__name__)
MOST_FAILED = 0.25  # A skeleton may have no cheap fit on this share of the runs.


@dataclass(frozen=True, kw_only=True)
class ConstantsConfig:
    """How hard to look for the constants of one skeleton."""

    max_constants: int = 8  # A skeleton with more constants is not fitted; set by hand.
    n_starts: int = len(FACTOR_STARTS)  # So many starting values are scored: all of the tables.
    n_frequencies: int = 80  # So many are scored of sin(C*t), whose error has a minimum per half wave.
    n_skipped: int = 0  # So many of the best starts are left out, to reach another minimum.
    n_refined: int = 2  # Levenberg-Marquardt iterates from so many of the best remaining starts.
    max_iterations: int = 30  # Levenberg-Marquardt takes at most so many steps; set by hand.
    tolerance: float = 1e-4  # Relative gains in the sum of squares below this, twice in a row, end the fit.

    def __post_init__(self) -> None:
        for name in ("n_starts", "n_frequencies", "n_refined", "max_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.tolerance < 1:
            raise ConfigError(f"tolerance must lie between 0 and 1, got {self.tolerance}")


FITS = (  # the starts of an equation that is given: each of a dozen, and the best of many more; set by hand
    *(ConstantsConfig(max_constants=60, n_skipped=i, n_refined=1) for i in range(len(FACTOR_STARTS))),
    ConstantsConfig(max_constants=60, n_starts=144, n_frequencies=400, n_refined=16),
)


@dataclass(frozen=True)
class Fit:
    """What came of fitting one skeleton: an equation and its loss, or a failure."""

    skeleton: Skeleton
    equation: Equation | None
    loss: float  # root mean square residual; inf for a failure
    evaluations: int
    failure: Failure | None = None


def fit_constants(skeleton: Skeleton, problem: Regression, *, config: ConstantsConfig | None = None) -> Fit:
    """Return the constants of `skeleton` with the least squares on `problem`, and that loss.

    Raises:
        DataError: if the skeleton names an input that the columns do not have.
    """
    config = config or ConstantsConfig()
    columns = problem.columns
    missing = [name for name in skeleton.inputs if name not in columns.inputs]
    if missing:
        raise DataError(
            f"{skeleton} needs the input {missing[0]}, which the data do not have; give it as force="
        )
    terms = skeleton.terms if problem.form is Form.RESIDUAL else skeleton.rhs_terms
    if terms is None:
        return Fit(skeleton, None, np.inf, 0, Failure.SINGULAR)
    if problem.form is Form.INTEGRAL and skeleton.order != problem.operator.order:
        raise DataError(
            f"{skeleton} has order {skeleton.order}, but the problem is of order {problem.operator.order}"
        )
    n_constants = skeleton.n_constants
    if n_constants > config.max_constants:
        return Fit(skeleton, None, np.inf, 0, Failure.TOO_MANY_CONSTANTS)
    _announce()
    tape = compile_tape(terms, columns.names, n_constants)
    scales = compile_scales(terms, columns.names, n_constants)
    poles, x = compile_poles(terms, columns.names, n_constants), problem.operator.x
    n_starts = config.n_frequencies if FREQUENCY in scales.role else config.n_starts
    thetas = starting_values(tape, scales.tape, scales.role, x, n_starts if len(tape.nonlinear) else 1)
    constants, room = np.zeros(n_constants), make_room(tape, poles, x, len(thetas))
    limits = config.n_skipped, config.n_refined, config.max_iterations, config.tolerance
    sse, evaluations = fit_kernel(tape, poles, problem.operator, thetas, *limits, room, constants)
    if not math.isfinite(sse):
        return Fit(skeleton, None, np.inf, evaluations, Failure.NOT_FINITE)
    loss = math.sqrt(sse / columns.n_points)
    return Fit(skeleton, Equation(skeleton, tuple(constants.tolist())), loss, evaluations)


def _announce() -> None:
    """Say so if the next call has to wait for the compiler."""
    if must_compile(fit_kernel):
        logger.warning("compiling the numerical core, about 20 seconds; only the first time")


@dataclass(frozen=True)
class EachFit:
    """What came of the cheap fits to each run: constants (runs, k), and the rms residual of all."""

    equation: Equation  # with the median of the constants
    table: Float
    loss: float


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
