"""Equation + initial values -> Solution: explicit or implicit, within a step budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.data import Interpolation
from gode.data.numbers import as_numbers
from gode.equation import Equation, Node, Skeleton, parse_equation
from gode.equation.tape import COLUMNS, Tape, compile_tape, term_weights
from gode.errors import ConfigError, DataError, Failure
from gode.solve.explicit import BUDGET, DIVERGED, DONE, NO_ROOT, SINGULAR, solve_explicit
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
    max_steps: int = 10_000  # of each of the two methods, besides 20 for each time asked for
    bound: float = 1e100  # a solution that exceeds this has diverged; callers who know the data set it lower
    interpolation: Interpolation = Interpolation.AUTO

    def __post_init__(self) -> None:
        if not 1e-13 <= self.rtol < 1:
            raise ConfigError(f"rtol must lie in [1e-13, 1), got {self.rtol}")
        if self.max_steps < 1:
            raise ConfigError(f"max_steps must be at least 1, got {self.max_steps}")


DEFAULT = SolveConfig()
NOTHING = np.empty(0, np.int64)


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
    system = prepare(equation.skeleton, times, inputs=inputs, guide=guide, config=config)
    return run(system, np.array(equation.constants, np.float64), start, sensitivities=sensitivities)


@dataclass(frozen=True)
class System:
    """A skeleton on its way through one run: programs, times, inputs; only numbers are missing."""

    order: int
    explicit: Tape | None
    implicit: Tape
    t: Float
    signals: Signals
    guide: Float
    config: SolveConfig


def prepare(
    skeleton: Skeleton,
    t: Float,
    *,
    inputs: Mapping[str, Signal] | None = None,
    guide: ArrayLike | None = None,
    config: SolveConfig = DEFAULT,
) -> System:
    """Return `skeleton` ready to be solved often, with changing constants and initial values."""
    assert skeleton.order in (1, 2), f"no differential equation of first or second order: {skeleton}"
    steer = np.empty(0) if guide is None else _guide(guide, t)
    names, formulas = split_formulas(skeleton.inputs, inputs)
    signals = make_signals(names, inputs or {}, t, config.interpolation)
    written = tuple(formulas.items())
    programs = _tape(skeleton, names, False, written), _tape(skeleton, names, True, written)
    assert programs[1] is not None
    return System(skeleton.order, programs[0], programs[1], t, signals, steer, config)


def run(system: System, constants: Float, initial: Float, *, sensitivities: bool = False) -> Solution:
    """Solve a prepared system."""
    config, order, n = system.config, system.order, len(system.t)
    parameters = _parameters(len(constants), order) if sensitivities else NOTHING
    status, steps = SINGULAR, 0
    out, sens = np.empty((3, n)), np.empty((len(parameters), 3, n))
    for tape in (system.explicit, system.implicit):
        if tape is None:
            continue
        out[:], sens[:] = np.nan, np.nan
        head = (tape, term_weights(tape, constants), constants, system.signals, order, system.t, initial)
        tail = (parameters, config.rtol, config.bound, config.max_steps + 20 * n, out, sens)
        if tape is system.explicit:
            status, used = solve_explicit(*head, *tail)
        else:
            status, used = solve_implicit(*head, system.guide, *tail)
        steps += used
        if status in (DONE, DIVERGED):
            break
    return Solution(system.t, out[0], out[1], out[2], FAILURES.get(status), steps, sens)


def compile_solvers() -> None:
    """Solve an explicit and an implicit equation, so that both solvers are compiled and kept."""
    for text in ("u' = -u", "u' + u'^3 = -u"):
        solve(parse_equation(text), [0.0, 1.0], [1.0])


@lru_cache(maxsize=64)
def _tape(
    skeleton: Skeleton, names: tuple[str, ...], implicit: bool, formulas: tuple[tuple[str, Node], ...]
) -> Tape | None:
    """Return the program of the residual, or of the right-hand side if there is one."""
    terms = skeleton.terms if implicit else skeleton.rhs_terms
    if terms is None:
        return None
    return compile_tape(write_in(terms, dict(formulas)), (*COLUMNS, *names), skeleton.n_constants)


def _parameters(n_constants: int, order: int) -> Int:
    """Return what sensitivities are taken in: the constants by index, then u(t0) as -1, u'(t0) as -2."""
    return np.array([*range(n_constants), *(-1 - i for i in range(order))], np.int64)


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
