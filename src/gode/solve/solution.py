"""Equation + initial values -> Solution: explicit or implicit, within a step budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.data import Interpolation
from gode.data.numbers import as_numbers
from gode.equation import Equation, Node, Skeleton, parse_equation
from gode.equation.tape import COLUMNS, Tape, compile_tape
from gode.errors import ConfigError, DataError, Failure
from gode.solve.explicit import BUDGET, DIVERGED, DONE, NO_ROOT, SINGULAR, WORSE, solve_explicit
from gode.solve.implicit import solve_implicit
from gode.solve.signals import Signal, Signals, make_signals, split_formulas, write_in

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
    max_steps: int = 10_000  # of each of the two methods, and 20 more for each time asked for
    bound: float = 1e100  # a solution that exceeds this has diverged; callers who know the data set it lower
    interpolation: Interpolation = Interpolation.AUTO

    def __post_init__(self) -> None:
        if not 1e-13 <= self.rtol < 1:
            raise ConfigError(f"rtol must lie in [1e-13, 1), got {self.rtol}")
        if self.max_steps < 1:
            raise ConfigError(f"max_steps must be at least 1, got {self.max_steps}")


DEFAULT = SolveConfig()
NOTHING = np.empty(0, np.int64)
UNSEEN = np.empty((0, 3))
SETTLED = (DONE, DIVERGED, WORSE)  # the implicit method would come to no other end


@dataclass(frozen=True)
class Solution:
    """The solution at the times asked for; NaN from the point on where it failed.

    A first-order equation says nothing of u'': its `d2u` is NaN.

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
    config = config or DEFAULT
    times, start = _checked(equation, t, initial)
    setup = set_up(equation.skeleton, times, inputs=inputs, guide=guide, config=config)
    return run(setup, np.array(equation.constants, np.float64), start, sensitivities=sensitivities)


@dataclass(frozen=True)
class Setup:
    """An initial value problem without its numbers: constants and initial values come with each solution."""

    skeleton: Skeleton
    t: Float
    signals: Signals
    guide: Float
    config: SolveConfig
    names: tuple[str, ...]  # of the sampled inputs
    formulas: tuple[tuple[str, Node], ...]  # the other inputs

    @cached_property
    def explicit(self) -> Tape | None:
        """The program of the right-hand side, None if the highest derivative does not enter linearly."""
        return _tape(self.skeleton, self.names, False, self.formulas)

    @cached_property
    def implicit(self) -> Tape:
        """The program of the residual."""
        tape = _tape(self.skeleton, self.names, True, self.formulas)
        assert tape is not None
        return tape

    def until(self, n: int) -> "Setup":
        """Return the problem at its first `n` times only."""
        return self if n == len(self.t) else replace(self, t=self.t[:n], guide=self.guide[:n])


def set_up(
    skeleton: Skeleton,
    t: Float,
    *,
    inputs: Mapping[str, Signal] | None = None,
    guide: ArrayLike | None = None,
    config: SolveConfig = DEFAULT,
) -> Setup:
    """Return `skeleton` ready to be solved often, with changing constants and initial values."""
    assert skeleton.order in (1, 2), f"no differential equation of first or second order: {skeleton}"
    steer = np.empty(0) if guide is None else _guide(guide, t)
    names, formulas = split_formulas(skeleton.inputs, inputs)
    signals = make_signals(names, inputs or {}, t, config.interpolation)
    return Setup(skeleton, t, signals, steer, config, names, tuple(formulas.items()))


def run(setup: Setup, constants: Float, initial: Float, *, sensitivities: bool = False) -> Solution:
    """Solve a prepared setup."""
    order, n = setup.skeleton.order, len(setup.t)
    param = np.append(np.arange(len(constants)), -1 - np.arange(order)) if sensitivities else NOTHING
    out, sens = np.empty((3, n)), np.empty((len(param), 3, n))
    status, steps, _ = integrate(setup, constants, initial, param, out, sens, UNSEEN, UNSEEN, np.inf)
    return Solution(setup.t, out[0], out[1], out[2], FAILURES.get(status), steps, sens)


def integrate(
    setup: Setup,
    constants: Float,
    initial: Float,
    param: Int,
    out: Float,
    sens: Float,
    observed: Float,
    weights: Float,
    limit: float,
) -> tuple[int, int, float]:
    """Write the solution and its sensitivities into `out` (3, n) and `sens` (params, 3, n).

    See `solve_explicit` for the arguments.

    Returns:
        The status, the steps, and the squared error against what was observed.
    """
    config, steps = setup.config, 0
    before = constants, setup.signals, setup.skeleton.order, setup.t, initial
    budget = config.max_steps + 20 * len(setup.t)
    after = param, config.rtol, config.bound, budget, out, sens, observed, weights, limit
    if setup.explicit is not None:
        status, steps, sse = solve_explicit(setup.explicit, *before, *after)
        if status in SETTLED:
            return status, steps, sse
    status, more, sse = solve_implicit(setup.implicit, *before, setup.guide, *after)
    return status, steps + more, sse


def compile_solvers() -> None:
    """Solve an explicit and an implicit equation, so that both solvers are compiled and kept."""
    for text in ("u' = -u", "u' + u'^3 = -u"):
        solve(parse_equation(text), [0.0, 1.0], [1.0])


@lru_cache(maxsize=1024)
def _tape(
    skeleton: Skeleton, names: tuple[str, ...], implicit: bool, formulas: tuple[tuple[str, Node], ...]
) -> Tape | None:
    """Return the program of the residual, or of the right-hand side if there is one."""
    terms = skeleton.terms if implicit else skeleton.rhs_terms
    if terms is None:
        return None
    return compile_tape(write_in(terms, dict(formulas)), (*COLUMNS, *names), skeleton.n_constants)


def _checked(equation: Equation, t: ArrayLike, initial: Sequence[float]) -> tuple[Float, Float]:
    times = as_numbers(t, "t")
    if (
        times.ndim != 1
        or len(times) < 2
        or not (times[1:] > times[:-1]).all()
        or not np.isfinite(times[[0, -1]]).all()
    ):
        raise DataError("t must be at least two finite, increasing times; sort them and drop repeats")
    start = np.atleast_1d(as_numbers(initial, "initial"))
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
