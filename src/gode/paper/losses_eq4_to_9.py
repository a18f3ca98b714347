"""The paper's losses of an equation, in its order: eqs. 4, 5, 8 and 9 of Yu, Chatzi & Kissas (2025).

Equations are in normal form, divided by the coefficient of their highest derivative: equations that mean the
same have the same loss. With a known force that leaves D(u) - F up to a factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.data import Columns
from gode.equation import Equation, Skeleton
from gode.equation.interpreter import run_tape, workspace
from gode.equation.tape import Tape, compile_tape, term_weights
from gode.errors import ConfigError, DataError, Failure
from gode.fitting import Fit
from gode.paper.simplex_sec23 import simplex_kernel
from gode.solve import Solution

VANISHED = 1e-3  # a solution below this share of the largest |u| has vanished
LATE = 0.2  # share of the record that is not looked at for that


@dataclass(frozen=True, kw_only=True)
class PaperConfig:
    """How the paper judges a skeleton."""

    max_constants: int = 8
    max_iterations: int = 300  # 300 for B1, 500 for B3
    tolerance: float = 1e-3  # of the simplex search, in the constants and in the loss
    alpha: float = 0.1  # weight of complexity, eq. 9
    trivial_threshold: float = 0.5  # epsilon of eq. 8

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise ConfigError(f"alpha must lie in [0, 1], got {self.alpha}")
        if self.max_iterations < 1:
            raise ConfigError(f"max_iterations must be at least 1, got {self.max_iterations}")


def residual(equation: Equation, columns: Columns) -> Float:
    """Return D(u) - F at every point of `columns`; NaN everywhere if it is not finite somewhere."""
    tape = compile_tape(equation.skeleton.terms, columns.names, equation.skeleton.n_constants)
    return _values(tape, np.array(equation.constants, np.float64), columns.matrix)


def residual_loss(equation: Equation, columns: Columns) -> float:
    """Return L_DE, the root mean square residual (eq. 4); inf where it is not finite."""
    value = float(np.sqrt(np.mean(residual(equation, columns) ** 2)))
    return value if np.isfinite(value) else np.inf


def solution_loss(solutions: Sequence[Solution], columns: Columns, order: int) -> float:
    """Return L_SOL, the relative mean squared errors of u, u', and for second order u'', added (eq. 5).

    `solutions` holds one for each run; a failed one makes it inf.
    """
    if any(s.failure is not None for s in solutions):
        return np.inf
    found = np.hstack([np.vstack([s.u, s.du, s.d2u]) for s in solutions])[: order + 1]
    smooth = columns.matrix[1 : order + 2]
    size = np.sum(smooth**2, axis=1)
    error = np.sum((smooth - found) ** 2, axis=1)
    return float(np.sum(error / np.where(size > 0, size, 1.0)))


def possible_solutions(t: Float) -> Float:
    """Return S*: t, -2.5t, sin 3t and 2cos(t/4) + t/3, each with its derivatives, (4, 3, n)."""
    one, nil = np.ones_like(t), np.zeros_like(t)
    wave = [np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)]
    slow = [2 * np.cos(t / 4) + t / 3, 1 / 3 - np.sin(t / 4) / 2, -np.cos(t / 4) / 8]
    return np.array([[t, one, nil], [-2.5 * t, -2.5 * one, nil], wave, slow])


def triviality(equation: Equation, columns: Columns) -> float:
    """Return the mean of |D(u) - F| over all functions of S* on which it is defined (left side of eq. 8).

    An equation that is small for any function says nothing. One that is defined on none gives inf.
    """
    means = []
    tape = compile_tape(equation.skeleton.terms, columns.names, equation.skeleton.n_constants)
    for function in possible_solutions(columns.matrix[0]):
        x = columns.matrix.copy()
        x[1:4] = function
        value = float(np.mean(np.abs(_values(tape, np.array(equation.constants, np.float64), x))))
        if np.isfinite(value):
            means.append(value)
    return float(np.mean(means)) if means else np.inf


def is_trivial(equation: Equation, columns: Columns, config: PaperConfig) -> bool:
    """Tell whether the equation holds, nearly, for any function (eq. 8)."""
    return triviality(equation, columns) <= config.trivial_threshold


def has_vanished(solution: Solution, u: Float) -> bool:
    """Tell whether the last 80 % of a solution are about zero while those of the signal `u` are not."""
    late = slice(int(LATE * len(u)), None)
    small = VANISHED * float(np.max(np.abs(u)))
    return bool(np.max(np.abs(solution.u[late])) < small <= np.max(np.abs(u[late])))


def criterion(complexity: int, accuracy: float, n_points: int, alpha: float) -> float:
    """Return L_IC = alpha C + (1 - alpha) n_s L (eq. 9)."""
    return alpha * complexity + (1 - alpha) * n_points * accuracy


def fit_by_simplex(skeleton: Skeleton, columns: Columns, config: PaperConfig) -> Fit:
    """Return the constants with the least L_DE that Nelder & Mead's search finds from all ones.

    Raises:
        DataError: if the skeleton names an input that the columns do not have.
    """
    missing = [name for name in skeleton.inputs if name not in columns.inputs]
    if missing:
        raise DataError(
            f"{skeleton} needs the input {missing[0]}, which the data do not have; give it as force="
        )
    k = skeleton.n_constants
    if k > config.max_constants:
        return Fit(skeleton, None, np.inf, 0, Failure.TOO_MANY_CONSTANTS)
    tape = compile_tape(skeleton.terms, columns.names, k)
    tolerance = config.tolerance
    work = workspace(len(tape.multiplier), tape.depth, 0, columns.n_points)
    loss, constants, evaluations = simplex_kernel(
        tape, columns.matrix, np.ones(k), tolerance, tolerance, config.max_iterations, work
    )
    if not np.isfinite(loss):
        return Fit(skeleton, None, np.inf, evaluations, Failure.NOT_FINITE)
    return Fit(skeleton, Equation(skeleton, tuple(constants.tolist())), float(loss), evaluations)


def _values(tape: Tape, c: Float, x: Float) -> Float:
    """Return the sum of the tape's terms at every point; NaN everywhere if one is not finite."""
    work = workspace(len(tape.multiplier), tape.depth, 0, x.shape[1])
    none = np.full(max(len(c), 1), -1, np.int64), np.full(x.shape[0], -1, np.int64)
    if not run_tape(tape, c, np.ascontiguousarray(x), *none, tape.multiplier, work):
        return np.full(x.shape[1], np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(term_weights(tape, c) @ work.values)
