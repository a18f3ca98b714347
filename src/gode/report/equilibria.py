"""Equilibria and the linear motion near them.

Near an equilibrium the equation R(t, u, u', u'') = 0 becomes a u'' + b u' + k u = 0, with the partial
derivatives of R as coefficients, also where R cannot be solved for its highest derivative. Standard errors
follow from the covariance of the constants by the delta method.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery
from gode.equation import Equation
from gode.equation.tape import COLUMNS, Tape, compile_tape, evaluate
from gode.report.naming import TINY, Units, Value, share

GRID = 2001  # points of the grid on which sign changes of R are sought
MARGIN = 0.5  # of the observed range, on either side
SLACK = 0.05  # of the observed range: an equilibrium this far outside still counts as observed
MAX_EQUILIBRIA = 9
NO_UNITS = Units()
NO_COVARIANCE = np.zeros((0, 0))
LOG_TWO = float(np.log(2.0))
SURE = 2.0  # a sign is certain if the value exceeds this many standard errors


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium without force, and the linear motion near it.

    Second order has the natural `frequency` (radians per unit of time) and the `damping` ratio where the
    stiffness is positive; first order and saddles have a `time_constant`.
    """

    u: Value
    stability: str
    observed: bool  # whether it lies in the range of the data
    frequency: Value | None = None
    damping: Value | None = None
    time_constant: Value | None = None
    units: Units = NO_UNITS
    name: str = "u"  # of the state when it is shown

    @property
    def where(self) -> str:
        """Its place, with the unit."""
        return self.units.length(self.u)

    def motion(self) -> dict[str, str]:
        """Return the quantities of the motion nearby with units; those that do not apply are left out."""
        out = {}
        if self.frequency is not None:
            out["natural frequency"] = self.units.rate(self.frequency)
        if self.damping is not None:
            out["damping ratio"] = share(self.damping)
        if self.frequency is not None and self.damping is not None and self.stability.startswith("unstable"):
            swell = LOG_TWO / -(self.damping.value * self.frequency.value)
            out["amplitude doubles in"] = self.units.duration(swell)
        if self.time_constant is not None:
            grows = self.stability.startswith("unstable")
            out["time constant"] = self.units.duration(self.time_constant)
            out["doubles in" if grows else "halves in"] = self.units.duration(self.time_constant * LOG_TWO)
        return out

    def __str__(self) -> str:
        parts = [f"{self.name} = {self.where}: {self.stability}"]
        parts += [f"{name} {value}" for name, value in self.motion().items()]
        return ", ".join(parts) + ("" if self.observed else " (outside the data)")


def extent(discovery: Discovery, order: int = 0, state: int = 0) -> tuple[float, float]:
    """Return the smallest and the largest value (order 0) or derivative (1) of a state along the data.

    Where it was not measured, that of the solution: integrated accelerations drift.
    """
    channel = 3 * state + order
    runs = range(len(discovery.prepared.smooths))
    values = np.concatenate([_states(discovery, i, 3 * state)[channel] for i in runs])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def extents(discovery: Discovery) -> tuple[Float, Float]:
    """Return the smallest and the largest values (d,) of all states along the data."""
    ends = [extent(discovery, 0, s) for s in range(len(discovery.prepared.dataset.states))]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def _states(discovery: Discovery, run: int, channel: int) -> Float:
    """Return all channels along a run: smoothed if this one was measured, else those of the solution."""
    if np.isfinite(discovery.prepared.dataset.runs[run].observed[channel]).any():
        return discovery.prepared.smooths[run].values
    return discovery.simulate(run=run).values


def find_equilibria(
    equation: Equation, covariance: Float, low: float, high: float, units: Units = NO_UNITS
) -> list[Equilibrium]:
    """Return the equilibria of the unforced equation between `low` and `high` and a little beyond."""
    static = _StaticResidual.of(equation, covariance)
    roots = static.roots(_grid(low, high))[:MAX_EQUILIBRIA]
    slack = SLACK * (high - low)
    found = (static.equilibrium(u, low - slack <= u <= high + slack) for u in roots)
    (name,) = equation.skeleton.shown_states
    return [replace(each, units=units, name=name) for each in found]


def equilibria_under(equation: Equation, low: float, high: float, inputs: Sequence[float]) -> list[float]:
    """Return the equilibria under constant inputs, between `low` and `high` and a little beyond."""
    return _StaticResidual.of(equation, NO_COVARIANCE, inputs).roots(_grid(low, high))


def _grid(low: float, high: float) -> Float:
    wide = MARGIN * (high - low) or max(abs(low), 1.0)
    return np.union1d(np.linspace(low - wide, high + wide, GRID), [0.0])


@dataclass(frozen=True)
class _StaticResidual:
    """The residual R for u' = u'' = 0."""

    tape: Tape
    n_columns: int
    order: int
    constants: Float
    covariance: Float
    inputs: tuple[float, ...] = ()  # constant; zero if none are given

    @classmethod
    def of(cls, equation: Equation, covariance: Float, inputs: Sequence[float] = ()) -> "_StaticResidual":
        skeleton = equation.skeleton
        columns = (*COLUMNS, *skeleton.inputs)
        tape = compile_tape(skeleton.terms, columns, skeleton.n_constants)
        constants = np.array(equation.constants)
        return cls(tape, len(columns), skeleton.order, constants, covariance, tuple(inputs))

    def at(self, c: Float, u: Float) -> tuple[Float, Float]:
        """Return R (n,) and its derivatives in t, u, u', u'' (4, n) at constant `u`; NaN where undefined."""
        value, slopes = self.evaluated(c, u)
        return value, slopes[:4]

    def evaluated(self, c: Float, u: Float) -> tuple[Float, Float]:
        """Return R (n,) and its derivatives in all columns (columns, n) at constant `u`."""
        x = np.zeros((self.n_columns, len(u)))
        x[1] = u
        x[len(COLUMNS) : len(COLUMNS) + len(self.inputs)] = np.reshape(self.inputs, (-1, 1))
        out = evaluate(self.tape, c, x)
        if out.finite or len(u) == 1:
            return out.value, out.in_columns
        half = len(u) // 2  # one undefined point invalidates the whole evaluation
        parts = [self.evaluated(c, part) for part in (u[:half], u[half:])]
        return np.concatenate([p[0] for p in parts]), np.hstack([p[1] for p in parts])

    def roots(self, grid: Float) -> list[float]:
        """Return the roots of R from its sign changes on the grid, by bisection; poles are excluded."""
        value, _ = self.at(self.constants, grid)
        found = grid[value == 0].tolist()
        for i in np.flatnonzero(value[:-1] * value[1:] < 0):
            low, high, left = grid[i], grid[i + 1], value[i]
            for _ in range(60):
                middle = 0.5 * (low + high)
                here = self.at(self.constants, np.array([middle]))[0][0]
                low, high = (middle, high) if here * left > 0 else (low, middle)
            end = self.at(self.constants, np.array([low, high]))[0]
            if np.min(np.abs(end)) <= 1e-6 * max(abs(value[i]), abs(value[i + 1])):
                found.append(float(0.5 * (low + high)))
        return sorted(found)

    def near(self, c: Float, u: float) -> Float:
        """Return the equilibrium near `u` for constants `c`, and k, b, a there."""
        for _ in range(20):
            value, slopes = self.at(c, np.array([u]))
            if not value[0] or not slopes[1, 0]:
                break
            u -= float(value[0] / slopes[1, 0])
        return np.array([u, *self.at(c, np.array([u]))[1][1:, 0]])

    def with_error(self, u: float, what: Callable[[Float], float]) -> Value:
        """Return a function of (u, k, b, a) with its standard error."""
        c = self.constants
        slopes = np.zeros(len(c))
        for i in range(len(c)):
            step = np.zeros(len(c))
            step[i] = 1e-6 * (abs(c[i]) or 1.0)
            with np.errstate(invalid="ignore", divide="ignore"):
                change = what(self.near(c + step, u)) - what(self.near(c - step, u))
            slopes[i] = change / (2 * step[i])
        variance = float(slopes @ self.covariance @ slopes)
        return Value(what(self.near(c, u)), float(np.sqrt(max(variance, 0.0))))

    def equilibrium(self, u: float, observed: bool) -> Equilibrium:
        """Describe the motion near the equilibrium `u`."""
        place = Value(u, self.with_error(u, lambda x: float(x[0])).error)
        k, b, a = (float(x) for x in self.near(self.constants, u)[1:])
        lead = a if self.order == 2 else b
        if not abs(lead) > TINY * max(abs(k), abs(b), abs(a)):
            return Equilibrium(place, "stability not decided by the linear part", observed)
        if self.order == 1:
            return self._first_order(u, place, observed)
        return self._second_order(u, place, observed, k / a)

    def _first_order(self, u: float, place: Value, observed: bool) -> Equilibrium:
        rate = self.with_error(u, lambda x: float(-x[1] / x[2]))
        if abs(rate.value) <= SURE * rate.error or rate.value == 0:
            return Equilibrium(place, "neutral within the error bar", observed)
        constant = Value(1 / abs(rate.value), rate.error / rate.value**2)
        return Equilibrium(
            place, "stable" if rate.value < 0 else "unstable", observed, time_constant=constant
        )

    def _second_order(self, u: float, place: Value, observed: bool, q: float) -> Equilibrium:
        if q < 0:
            growth = self.with_error(u, lambda x: float(1 / _growth(x[2] / x[3], x[1] / x[3])))
            return Equilibrium(place, "unstable (a saddle)", observed, time_constant=growth)
        if q == 0:
            return Equilibrium(place, "no restoring force", observed)
        drag = self.with_error(u, lambda x: float(x[2] / x[3]))
        frequency = self.with_error(u, lambda x: float(np.sqrt(x[1] / x[3])))
        damping = self.with_error(u, lambda x: float(x[2] / x[3] / 2 / np.sqrt(x[1] / x[3])))
        if drag.value == 0 or abs(drag.value) <= SURE * drag.error:
            word = "a centre: no damping within the error bar"
        elif drag.value < 0:
            word = "unstable (motions grow)"
        else:
            word = "stable, oscillating" if damping.value < 1 else "stable, without oscillation"
        return Equilibrium(place, word, observed, frequency, damping)


def _growth(p: float, q: float) -> float:
    """Return the positive exponent of u'' + p u' + q u = 0 with q < 0."""
    return float(-p / 2 + np.sqrt(p**2 / 4 - q))
