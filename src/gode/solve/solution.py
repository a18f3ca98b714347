"""Equation + initial values -> Solution: explicit or implicit, within a step budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.equation import Equation
from gode.equation.tape import COLUMNS, compile_tape, term_weights
from gode.errors import ConfigError, DataError, Failure
from gode.solve.explicit import BUDGET, DIVERGED, DONE, NO_ROOT, SINGULAR, solve_explicit
from gode.solve.implicit import solve_implicit
from gode.solve.signals import Interpolation, Signal, make_signals, split_formulas, write_in

FAILURES = {
    DIVERGED: Failure.DIVERGED,
    BUDGET: Failure.BUDGET,
    SINGULAR: Failure.SINGULAR,
    NO_ROOT: Failure.NO_ROOT,
}


@dataclass(frozen=True, kw_only=True)
class SolveConfig:
    """How an equation is integrated."""

    rtol: float = 1e-6
    max_steps: int = 10_000  # of each of the two methods
    growth: float = 1e6  # a solution this many times larger than its start and guide has diverged
    interpolation: Interpolation = Interpolation.CUBIC

    def __post_init__(self) -> None:
        if not 1e-13 <= self.rtol < 1:
            raise ConfigError(f"rtol must lie in [1e-13, 1), got {self.rtol}")
        if self.max_steps < 1:
            raise ConfigError(f"max_steps must be at least 1, got {self.max_steps}")


@dataclass(frozen=True)
class Solution:
    """The solution at the times asked for; NaN from the point on where it failed.

    `sensitivities` (parameters, 3, n) are the derivatives of u, u', u'' in the constants and then in the
    initial values, if they were asked for.
    """

    t: Float
    u: Float
    du: Float
    d2u: Float
    failure: Failure | None
    n_steps: int
    sensitivities: Float


def solve(
    equation: Equation,
    t: ArrayLike,
    initial: Sequence[float],
    *,
    inputs: Mapping[str, Signal] | None = None,
    guide: ArrayLike | None = None,
    sensitivities: bool = False,
    config: SolveConfig | None = None,
) -> Solution:
    """Integrate `equation` from its initial values at t[0] and return it at the times `t`.

    An explicit equation goes through a Runge-Kutta method, and through an implicit one if that gives up;
    an implicit equation through the latter at once. What cannot be solved is a failure, not an error.

    Args:
        initial: u(t[0]), and u'(t[0]) for second order.
        inputs: each known input as formula in t, callable, samples at `t`, or a pair (times, samples).
        guide: values of the highest derivative at `t`, such as the data show: they choose the branch of an
            implicit equation with several.

    Raises:
        DataError: if the times, initial values or inputs are not usable.
    """
    config = config or SolveConfig()
    times, start = _checked(equation, t, initial)
    steer = np.empty(0) if guide is None else _guide(guide, times)
    names, formulas = split_formulas(equation.skeleton.inputs, inputs)
    signals = make_signals(names, inputs or {}, times, config.interpolation)
    columns = (*COLUMNS, *names)
    constants = np.asarray(equation.constants, np.float64)
    param = np.arange(len(constants) if sensitivities else 0)
    if sensitivities:
        param = np.append(param, -1 - np.arange(equation.order))
    status, steps = SINGULAR, 0
    out, sens = np.empty((3, len(times))), np.empty((len(param), 3, len(times)))
    scale = max(np.max(np.abs(start)), 1e-300) + float(np.max(np.abs(steer), initial=0.0)) * np.ptp(times)
    bound = config.growth * (scale if scale > 1e-290 else 1.0)
    for terms, implicit in ((equation.skeleton.rhs_terms, False), (equation.skeleton.terms, True)):
        if terms is None:
            continue
        tape = compile_tape(write_in(terms, formulas), columns, len(constants))
        out[:], sens[:] = np.nan, np.nan
        weight = term_weights(tape, constants)
        shared = (config.rtol, bound, config.max_steps, out, sens)
        head = (tape, weight, constants, signals, equation.order, times, start)
        if implicit:
            status, used = solve_implicit(*head, steer, param, *shared)
        else:
            status, used = solve_explicit(*head, param, *shared)
        steps += used
        if status in (DONE, DIVERGED):
            break
    return _solution(times, out, status, steps, sens, equation.order)


def _solution(t: Float, out: Float, status: int, steps: int, sens: Float, order: int) -> Solution:
    if order == 1:
        out[2] = np.nan
        if status == DONE and len(t) > 2:
            out[2] = np.gradient(out[1], t, edge_order=2)
    return Solution(t, out[0], out[1], out[2], FAILURES.get(status), steps, sens)


def _checked(equation: Equation, t: ArrayLike, initial: Sequence[float]) -> tuple[Float, Float]:
    times = np.asarray(t, np.float64)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise DataError("t must be at least two finite, increasing times; sort them and drop repeats")
    start = np.atleast_1d(np.asarray(initial, np.float64))
    if start.shape != (equation.order,) or not np.all(np.isfinite(start)):
        what = "u(t0)" if equation.order == 1 else "u(t0) and u'(t0)"
        raise DataError(
            f"an equation of order {equation.order} needs {equation.order} finite initial value(s), {what}; "
            f"got {np.array2string(start, threshold=4)}"
        )
    return times, start


def _guide(guide: ArrayLike, t: Float) -> Float:
    steer = np.asarray(guide, np.float64)
    if steer.shape != t.shape or not np.all(np.isfinite(steer)):
        raise DataError(
            f"guide must hold one finite value for each of {len(t)} times, got shape {steer.shape}"
        )
    return steer
