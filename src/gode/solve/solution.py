"""Equation or system + initial values -> Solution: explicit or implicit, within a step budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.data import Interpolation
from gode.data.doses import Dose
from gode.data.states import as_numbers
from gode.equation import Law, LawSkeleton, Node, parse_equation
from gode.equation.system import names_in_law
from gode.equation.tape import Tape, evaluate
from gode.errors import ConfigError, DataError, EquationError, Failure
from gode.solve.doses import as_written, jumps_of
from gode.solve.explicit import BUDGET, DIVERGED, DONE, NO_ROOT, SINGULAR, WORSE, solve_explicit
from gode.solve.implicit import solve_implicit
from gode.solve.program import (
    Program,
    formula_tapes,
    late_inputs,
    late_states,
    make_program,
    moving,
    used_inputs,
)
from gode.solve.room import Room, Scratch, make_events, make_room, make_scratch
from gode.solve.signals import Signal, Signals, make_signals, placed, split_formulas, values_of, with_delays

FAILURES = {
    DIVERGED: Failure.DIVERGED,
    BUDGET: Failure.BUDGET,
    SINGULAR: Failure.SINGULAR,
    NO_ROOT: Failure.NO_ROOT,
}


FINEST = 1e-12  # A smaller relative tolerance would ask for less than the rounding errors of a solution.


@dataclass(frozen=True, kw_only=True)
class SolveConfig:
    """How an equation is integrated."""

    rtol: float = 1e-6
    max_steps: int = 10_000  # of each of the two methods, and 20 more for each time asked for
    # A state that exceeds this has diverged; one number for all states, or one for each. Callers who know the
    # data set it lower.
    bound: float | tuple[float, ...] = 1e100
    interpolation: Interpolation = Interpolation.AUTO

    def __post_init__(self) -> None:
        if not FINEST <= self.rtol < 1:
            raise ConfigError(f"rtol must lie in [{FINEST:g}, 1), got {self.rtol}")
        if self.max_steps < 1:
            raise ConfigError(f"max_steps must be at least 1, got {self.max_steps}")


DEFAULT = SolveConfig()
NOTHING = np.empty(0, np.int64)
UNSEEN = np.empty((0, 3))
SETTLED = (DONE, DIVERGED, WORSE)  # the implicit method would come to no other end


@dataclass(frozen=True)
class Solution:
    """The solution at the times asked for; NaN from the point on where it failed.

    `values` (3 d, n) are each of the d states and its first two derivatives, one state after the other; a
    first-order equation says nothing of the second, which is NaN. `solution["prey"]` and `solution["prey'"]`
    are those of the state prey; `u`, `du` and `d2u` those of the first state.

    `sensitivities` (parameters, 3 d, n) are their derivatives in the constants and then in the initial
    values, if they were asked for.
    """

    t: Float
    values: Float
    failure: Failure | None
    n_steps: int
    sensitivities: Float
    states: tuple[str, ...] = ("u",)

    @property
    def u(self) -> Float:
        """The first state."""
        return self._row(0)

    @property
    def du(self) -> Float:
        """The derivative of the first state."""
        return self._row(1)

    @property
    def d2u(self) -> Float:
        """The second derivative of the first state."""
        return self._row(2)

    def __getitem__(self, name: str) -> Float:
        """Return a state by its name, or its derivatives by the name with one or two primes."""
        state = name.rstrip("'")
        derivative = len(name) - len(state)
        if derivative > 2:
            raise DataError(f"no state is called {name!r}; the states are {', '.join(self.states)}")
        return self._row(3 * state_number(self.states, state) + derivative)

    def _row(self, channel: int) -> Float:
        row: Float = self.values[channel]
        return row


def state_number(states: Sequence[str], name: str) -> int:
    """Return which state has this name; a single state is u, whatever it is called.

    Raises:
        DataError: if no state has this name.
    """
    if name == names_in_law(states, ())[states[0]]:
        return 0
    if name not in states:
        raise DataError(f"no state is called {name!r}; the states are {', '.join(states)}")
    return states.index(name)


def solve(
    equation: Law,
    t: ArrayLike,
    initial: Sequence[float],
    *,
    inputs: Mapping[str, Signal] | None = None,
    doses: Sequence[Dose] = (),
    guide: ArrayLike | None = None,
    sensitivities: bool = False,
    config: SolveConfig | None = None,
) -> Solution:
    """Integrate an equation or a system from its initial values at t[0] and return it at the times `t`.

    An explicit equation goes through a Runge-Kutta method, and through an implicit one if that gives up;
    an implicit equation through the latter at once. What cannot be solved is a failure, not an error.

    Args:
        initial: u(t[0]), and u'(t[0]) for second order; of a system, these of each state in turn.
        inputs: each known input as formula in t, callable, samples at `t`, or a pair (times, samples).
        doses: what is added to states, and when.
        guide: values of the highest derivative at `t`, such as the data show: they choose the branch of an
            implicit equation with several. Of a system, a row for each state.

    Raises:
        DataError: if the times, initial values or inputs are not usable.
    """
    config = config or DEFAULT
    times, start = _checked(equation, t, initial)
    setup = set_up(equation.skeleton, times, inputs=inputs, doses=doses, guide=guide, config=config)
    numbers = equation.skeleton.numbers(equation.constants)
    found = run(setup, numbers, start, sensitivities=sensitivities)
    if not equation.skeleton.links:
        return found
    return replace(found, sensitivities=in_free_constants(equation.skeleton, found.sensitivities))


@dataclass(frozen=True)
class Setup:
    """An initial value problem without its numbers: constants and initial values come with each solution."""

    skeleton: LawSkeleton
    t: Float
    signals: Signals
    guide: Float  # (d, n) of the states that move, or (d, 0) without one
    bound: Float  # (d,)
    config: SolveConfig
    names: tuple[str, ...]  # of the sampled inputs
    formulas: tuple[tuple[str, Node], ...]  # the other inputs

    @cached_property
    def explicit(self) -> Program | None:
        """The program of the right-hand sides, None if a highest derivative does not enter linearly."""
        return make_program(self.skeleton, self.names, False, self.formulas)

    @cached_property
    def rooms(self) -> dict[int, Room]:
        """The scratch of solutions with some number of sensitivities, filled as they are asked for."""
        return {}

    @cached_property
    def scratches(self) -> dict[int, Scratch]:
        """The same, for the implicit method."""
        return {}

    @cached_property
    def measured(self) -> tuple[tuple[int, Tape], ...]:
        """The formulas of what is measured, each with the number of its state."""
        return formula_tapes(self.skeleton, self.names, self.formulas)

    @cached_property
    def implicit(self) -> Program:
        """The program of the residuals."""
        program = make_program(self.skeleton, self.names, True, self.formulas)
        assert program is not None
        return program


def set_up(
    skeleton: LawSkeleton,
    t: Float,
    *,
    inputs: Mapping[str, Signal] | None = None,
    doses: Sequence[Dose] = (),
    guide: ArrayLike | None = None,
    config: SolveConfig = DEFAULT,
) -> Setup:
    """Return `skeleton` ready to be solved often, with changing constants and initial values."""
    d = len(skeleton.parts)
    assert {*skeleton.orders} <= {0, 1, 2}, f"no differential equation of first or second order: {skeleton}"
    states = moving(skeleton.orders)
    steer = np.empty((d, 0)) if guide is None else _guide(guide, d, t)
    names, formulas = split_formulas(used_inputs(skeleton), inputs)
    signals = make_signals(names, inputs or {}, t, config.interpolation)
    if doses:
        jumps = as_written(
            jumps_of(doses, skeleton.shown_states, skeleton.orders, t), skeleton, float(t[-1] - t[0])
        )
        signals = signals._replace(doses=jumps if len(jumps.t) else None)
    signals = with_delays(signals, names, late_inputs(skeleton, names))
    if late_states(skeleton) and not skeleton.explicit:
        raise EquationError(
            f"a state may be delayed where its highest derivative can be isolated:\n{skeleton}"
        )
    bound = np.broadcast_to(np.array(config.bound, np.float64), d)[states].copy()
    steer = steer[states]
    return Setup(skeleton, t, signals, steer, bound, config, names, tuple(formulas.items()))


def run(setup: Setup, constants: Float, initial: Float, *, sensitivities: bool = False) -> Solution:
    """Solve a prepared setup; constants and sensitivities are those of all equations, in turn."""
    n, channels = len(setup.t), 3 * len(setup.skeleton.parts)
    param = np.append(np.arange(len(constants)), -1 - np.arange(len(initial))) if sensitivities else NOTHING
    out, sens = np.empty((channels, n)), np.empty((len(param), channels, n))
    status, steps, _ = integrate(setup, constants, initial, param, out, sens, UNSEEN, UNSEEN, np.inf)
    return Solution(setup.t, out, FAILURES.get(status), steps, sens, setup.skeleton.states)


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
    """Write the solution and its sensitivities into `out` (3 d, n) and `sens` (params, 3 d, n).

    `constants` are those of all equations, in turn; see `solve_explicit` for the other arguments.

    Returns:
        The status, the steps, and the squared error against what was observed.
    """
    if setup.measured:
        return _with_formulas(setup, constants, initial, param, (out, sens), (observed, weights), limit)
    return _moved(setup, constants, initial, param, out, sens, observed, weights, limit)


def _moved(
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
    """Do what `integrate` does for the states that move."""
    config, program, steps = setup.config, setup.explicit, 0
    signals = placed(setup.signals, constants)
    doses, signals = signals.doses, signals._replace(doses=None)
    before = constants, signals, setup.t, initial
    budget = config.max_steps + 20 * (len(setup.t) + (0 if doses is None else len(doses.t)))
    after = param, config.rtol, setup.bound, budget, out, sens, observed, weights, limit
    if program is not None:
        room = setup.rooms.get(len(param))
        if room is None:
            room = make_room(program, setup.signals, len(constants), len(param), len(setup.t))
            setup.rooms[len(param)] = room
        events = make_events(program, doses, len(param), budget)
        status, steps, sse = solve_explicit(*program[:3], *before, *after, events, room)
        # The other method has no slopes in delays, and no past.
        if status in SETTLED or setup.signals.fitted or len(program.late.entry):
            return status, steps, sse
    scratch = setup.scratches.get(len(param))
    if scratch is None:
        scratch = setup.scratches[len(param)] = make_scratch(setup.implicit, setup.signals, len(param))
    status, more, sse = solve_implicit(*setup.implicit[:2], *before, doses, setup.guide, *after, scratch)
    return status, steps + more, sse


def _with_formulas(
    setup: Setup,
    constants: Float,
    initial: Float,
    param: Int,
    found: tuple[Float, Float],
    data: tuple[Float, Float],
    limit: float,
) -> tuple[int, int, float]:
    """Do what `integrate` does for a law with formulas of what is measured, along the states that move."""
    out, sens = found
    out[:], sens[:] = np.nan, np.nan
    states = moving(setup.skeleton.orders)
    rows = [3 * s + k for s in states for k in range(3)]
    inner, slopes = np.empty((len(rows), len(setup.t))), np.empty((len(param), len(rows), len(setup.t)))
    status, steps, _ = _moved(setup, constants, initial, param, inner, slopes, UNSEEN, UNSEEN, np.inf)
    out[rows], sens[:, rows] = inner, slopes
    if status != DONE:
        return status, steps, np.inf
    late = np.zeros((len(late_states(setup.skeleton)), len(setup.t)))  # which stand in no formula
    x = np.vstack(
        [setup.t, np.nan_to_num(inner), late, *values_of(placed(setup.signals, constants), setup.t)]
    )
    slopes = np.nan_to_num(slopes)
    for state, tape in setup.measured:
        first = sum(part.n_constants for part in setup.skeleton.parts[:state])
        value = evaluate(tape, constants[first : first + tape.n_constants], x)
        out[3 * state] = value.value
        through = np.einsum("cn,pcn->pn", value.in_columns[1 : 1 + len(rows)], slopes)
        for p, number in enumerate(param):
            own = number - first
            through[p] += value.in_constants[own] if 0 <= own < tape.n_constants else 0.0
        sens[:, 3 * state] = through
    observed, weights = data
    if not len(weights):
        return status, steps, 0.0
    seen = weights > 0
    with np.errstate(over="ignore"):
        sse = float(np.sum(((observed[seen] - out.T[seen]) * weights[seen]) ** 2))
    return (DONE if np.isfinite(sse) and sse < limit else WORSE), steps, sse


def compile_solvers() -> None:
    """Solve an explicit and an implicit equation, so that both solvers are compiled and kept."""
    for text in ("u' = -u", "u' + u'^3 = -u"):
        solve(parse_equation(text), [0.0, 1.0], [1.0])


def in_free_constants(skeleton: LawSkeleton, sensitivities: Float) -> Float:
    """Return sensitivities in the free constants and initial values, given those in all constants."""
    if not skeleton.links or not len(sensitivities):
        return sensitivities
    k = skeleton.n_constants
    own, initial = np.split(sensitivities, [len(skeleton.links)])
    free = np.zeros((k, *own.shape[1:]))
    for slope, (place, factor) in zip(own, skeleton.links, strict=True):
        with np.errstate(invalid="ignore", over="ignore"):  # of what was not reached they are NaN
            free[place] += factor * slope
    return np.concatenate([free, initial])


def _checked(law: Law, t: ArrayLike, initial: Sequence[float]) -> tuple[Float, Float]:
    times = as_numbers(t, "t")
    if (
        times.ndim != 1
        or len(times) < 2
        or not (times[1:] > times[:-1]).all()
        or not np.isfinite(times[[0, -1]]).all()
    ):
        raise DataError("t must be at least two finite, increasing times; sort them and drop repeats")
    start = np.atleast_1d(as_numbers(initial, "initial"))
    states, orders = law.skeleton.states, law.skeleton.orders
    if start.shape != (sum(orders),) or not np.all(np.isfinite(start)):
        names = [s + "'" * k + "(t0)" for s, order in zip(states, orders, strict=True) for k in range(order)]
        what = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        raise DataError(
            f"{law.skeleton.described} needs {len(names)} finite initial value(s), {what}; "
            f"got {np.array2string(start, threshold=4)}"
        )
    return times, start


def _guide(guide: ArrayLike, d: int, t: Float) -> Float:
    steer = np.array(guide, np.float64, order="C", ndmin=2)
    if steer.shape != (d, len(t)) or not np.all(np.isfinite(steer)):
        rows = f" and {d} states" if d > 1 else ""
        raise DataError(
            f"guide must hold one finite value for each of {len(t)} times{rows}, got shape {np.shape(guide)}"
        )
    return steer
