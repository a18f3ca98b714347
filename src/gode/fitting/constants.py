"""The constants of a skeleton that fit a problem best."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.compiling import must_compile
from gode.equation import Equation, Skeleton
from gode.equation.tape import FREQUENCY, compile_poles, compile_scales, compile_tape
from gode.errors import ConfigError, DataError, Failure
from gode.fitting.problem import Form, Regression
from gode.fitting.varpro import fit_kernel

logger = logging.getLogger(__name__)
MOST_FAILED = 0.25  # share of the runs on which a skeleton may have no cheap fit


@dataclass(frozen=True, kw_only=True)
class ConstantsConfig:
    """How hard to look for the constants of one skeleton."""

    max_constants: int = 12  # set by hand
    n_starts: int = 12  # starting values that are scored: as many as the tables of starts have
    n_frequencies: int = 80  # the same for sin(C*t): the sum of squares has a minimum per half wave
    n_skipped: int = 0  # best starts that are left out, to reach another minimum
    n_refined: int = 2  # best remaining starts from which Levenberg-Marquardt iterates
    max_iterations: int = 30  # of Levenberg-Marquardt; set by hand
    tolerance: float = 1e-4  # smaller relative gains in the sum of squares, twice in a row, end the fit

    def __post_init__(self) -> None:
        for name in ("n_starts", "n_frequencies", "n_refined", "max_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.tolerance < 1:
            raise ConfigError(f"tolerance must lie between 0 and 1, got {self.tolerance}")


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
        raise DataError(f"{skeleton} needs the input {missing[0]}, which the data do not have; pass it along")
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
    sse, constants, evaluations = fit_kernel(
        tape,
        scales.tape,
        scales.role,
        compile_poles(terms, columns.names, n_constants),
        problem.operator,
        config.n_frequencies if FREQUENCY in scales.role else config.n_starts,
        config.n_skipped,
        config.n_refined,
        config.max_iterations,
        config.tolerance,
    )
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
