"""Equilibria of a law, and the linear motion near them with standard errors by the delta method.

At an equilibrium the residuals R_i of all equations vanish with all derivatives zero. Small deviations z of
the states, and of the derivatives below the order of each equation, follow z' = A z + B w, where A and B come
from the partial derivatives of R, also where R cannot be solved for the highest derivatives.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.discovery import Discovery
from gode.equation import Law
from gode.equation.tape import Tape, compile_tape, evaluate
from gode.report.naming import TINY, Units, Value, per_cent
from gode.solve.program import late_inputs
from gode.solve.signals import Late

CONTINUUM = "Equilibria fill a line or more, so no single one is given."
# Equilibria are sought in the range of the data, widened by this fraction of it on either side; set by hand.
MARGIN = 0.5
# An equilibrium this fraction of the range outside the data still counts as observed; set by hand.
SLACK = 0.05
# More equilibria than a table can show are not given.
MAX_EQUILIBRIA = 9
# A sign is certain if the value exceeds this many standard errors, which leaves a chance of about 5 %.
SURE = 2.0
# Newton's method starts from so many points of the widened range, which found all equilibria of the tests.
STARTS = 128
# Most steps of Newton's method: a double root, which halves the error in each, needs about 35.
STEPS = 60
# Newton's method has converged when its last step is this small beside the range.
CONVERGED = 1e-10
# A residual this small, beside its median in the range, vanishes; set by hand.
VANISHING = 1e-8
# Two places nearer than this, beside the range, are one equilibrium: triple roots are accurate to about 1e-5.
APART = 1e-4
# A ratio of singular values below this leaves open whether equilibria fill a line; set by hand.
FLAT = 1e-7
# How far beside an equilibrium, in terms of the range, a line of further ones is looked for; set by hand.
BESIDE = 1e-2
LOG_TWO = float(np.log(2.0))
Complex = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]


@dataclass(frozen=True)
class Mode:
    """A part of the linear motion: growth or decay at a rate, with a natural frequency if it oscillates."""

    rate: Value  # real part of the eigenvalue
    frequency: Value | None = None  # radians per unit of time
    damping: Value | None = None  # ratio

    @property
    def neutral(self) -> bool:
        """Whether it neither grows nor decays within its error bar."""
        return abs(self.rate.value) <= SURE * self.rate.error or self.rate.value == 0

    @property
    def grows(self) -> bool:
        """Whether it grows, beyond its error bar."""
        return not self.neutral and self.rate.value > 0

    @property
    def time_constant(self) -> Value:
        """The time in which it grows or decays by the factor e."""
        size = abs(self.rate.value)
        return Value(1 / size, self.rate.error / size**2)

    def quantities(self, units: Units) -> dict[str, str]:
        """Return what can be said of it, with units; what does not apply is left out."""
        out = {}
        if self.frequency is not None and self.damping is not None:
            out["natural frequency"] = units.rate(self.frequency)
            out["damping ratio"] = per_cent(self.damping)
        elif not self.neutral:
            out["time constant"] = units.duration(self.time_constant)
            if not self.grows:
                out["halves in"] = units.duration(self.time_constant * LOG_TWO)
        if self.grows:
            out["doubles in"] = units.duration(self.time_constant * LOG_TWO)
        return out


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium without force, and the linear motion near it."""

    states: tuple[str, ...]
    values: tuple[Value, ...]
    stability: str
    observed: bool  # whether it lies in the range of the data
    units: tuple[Units, ...]  # of each state
    eigenvalues: tuple[complex, ...] = ()
    modes: tuple[Mode, ...] = ()

    @property
    def where(self) -> str:
        """The states with their values and units."""
        rows = zip(self.states, self.values, self.units, strict=True)
        return ", ".join(f"{name} = {unit.length(value)}" for name, value, unit in rows)

    def motion(self) -> dict[str, str]:
        """Return the quantities of the motion nearby with units; those that do not apply are left out."""
        out: dict[str, str] = {}
        if len(self.eigenvalues) > 1:
            out["eigenvalues"] = ", ".join(_complex_text(z) for z in self.eigenvalues if z.imag >= 0)
        for mode in self.modes:
            for name, words in mode.quantities(self.units[0]).items():
                out[name] = f"{out[name]}; {words}" if name in out else words
        return out

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.stability}"]
        parts += [f"{name} {value}" for name, value in self.motion().items()]
        return ", ".join(parts) + ("" if self.observed else " (outside the data)")


def _complex_text(z: complex) -> str:
    if z.imag == 0:
        return f"{z.real:.4g}"
    return f"{f'{z.real:.4g} ' if z.real else ''}± {abs(z.imag):.4g}i"


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
    law: Law, covariance: Float, low: Float, high: Float, units: Sequence[Units]
) -> tuple[list[Equilibrium], bool]:
    """Return the equilibria of the unforced law within or near the data, and whether all are isolated."""
    places, isolated = stationary_points(law, low, high)
    motion = _LinearMotion(RestingLaw(law), covariance, np.where(high > low, high - low, 1.0))
    slack = SLACK * (high - low)
    found = []
    for x in places:
        observed = bool(np.all((x >= low - slack) & (x <= high + slack)))
        found.append(motion.equilibrium(x, observed, tuple(units)))
    return found, isolated


def stationary_points(
    law: Law, low: Float, high: Float, inputs: Sequence[float] = (), near: Float | None = None
) -> tuple[list[Float], bool]:
    """Return where all residuals vanish, near `low` to `high` (d,), and whether all of these are isolated.

    Args:
        inputs: constant values of the inputs.
        near: a place to start from besides.
    """
    resting = RestingLaw(law)
    size = np.where(high > low, high - low, np.maximum(np.abs(low), 1.0))
    bottom, top = low - MARGIN * size, high + MARGIN * size
    starts = bottom[:, None] + (top - bottom)[:, None] * _evenly_spread(len(low), STARTS)
    extra = [np.zeros(len(low)), *([] if near is None else [near])]
    c = np.array(law.constants)
    ends = resting.newton(c, np.column_stack([starts, *extra]), size, inputs)
    slack = TINY * size
    within = np.all((ends >= (bottom - slack)[:, None]) & (ends <= (top + slack)[:, None]), axis=0)
    if near is not None:
        within[-1] = True
    vanishing = _vanishing(resting.residuals(c, starts, inputs)[0], resting.residuals(c, ends, inputs)[0])
    found: list[Float] = []
    all_isolated = True
    for x in ends[:, within & vanishing].T:
        if any(np.max(np.abs(x - other) / size) <= APART for other in found):
            continue
        if resting.is_isolated(c, x, size, inputs):
            found.append(np.where(np.abs(x) < 1e-9 * size, 0.0, x))
        else:
            all_isolated = False
    return sorted(found, key=lambda x: tuple(x.tolist()))[:MAX_EQUILIBRIA], all_isolated


def _vanishing(usual: Float, last: Float) -> Bool:
    """Tell at which points the last residuals (d, n) vanish, beside what is usual in the range.

    Newton's method also rests at an extremum, where the slopes vanish and the residual does not.
    """
    sizes = [np.median(np.abs(row[np.isfinite(row)])) if np.isfinite(row).any() else 0.0 for row in usual]
    return np.asarray(np.all(np.abs(last) <= VANISHING * np.reshape(sizes, (-1, 1)), axis=0))


def _evenly_spread(d: int, n: int) -> Float:
    """Return `n` points (d, n) that fill the unit cube evenly: multiples of square roots of primes."""
    primes = [p for p in range(2, 200) if all(p % q for q in range(2, p))][:d]
    return np.outer(np.sqrt(primes), np.arange(1, n + 1)) % 1.0


@dataclass(frozen=True)
class RestingLaw:
    """The residuals of all equations of a law where all derivatives are zero, and their slopes there."""

    law: Law

    @cached_property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.law.states)

    @cached_property
    def tapes(self) -> tuple[Tape, ...]:
        """The program of each residual; inputs that are late are columns of their own, behind the others."""
        skeleton = self.law.skeleton
        return tuple(
            compile_tape(
                part.terms,
                (
                    *skeleton.seen(i),
                    *(each.name if each.equation == i else f"{each} there" for each in self.late),
                ),
                part.n_constants,
            )
            for i, part in enumerate(skeleton.parts)
        )

    @cached_property
    def late(self) -> tuple[Late, ...]:
        """The inputs that are late, in each equation for itself."""
        return late_inputs(self.law.skeleton, tuple(self.law.skeleton.inputs))

    def delays(self, c: Float) -> list[tuple[int, float]]:
        """Return the input that each of `late` is, by its number, and by how much."""
        skeleton, numbers = self.law.skeleton, self.law.skeleton.numbers(c)
        return [
            (
                skeleton.inputs.index(each.input),
                float(numbers[each.number]) if each.number >= 0 else each.value,
            )
            for each in self.late
        ]

    @cached_property
    def ends(self) -> Int:
        """Where the constants of each equation end among those of all."""
        return np.cumsum([part.n_constants for part in self.law.skeleton.parts])[:-1]

    def residuals(self, c: Float, x: Float, inputs: Sequence[float] = ()) -> tuple[Float, Float]:
        """Return the residuals (d, n) at constant states `x` (d, n), and their slopes (d, columns, n).

        They are NaN where they are not defined. The inputs are constant, zero if none are given.
        """
        d, n = x.shape
        n_columns = len(self.law.skeleton.seen(0))
        columns = np.zeros((n_columns + len(self.late), n))
        columns[1 : 1 + 3 * d : 3] = x
        columns[1 + 3 * d : 1 + 3 * d + len(inputs)] = np.reshape(inputs, (-1, 1))
        for i, (own, _) in enumerate(self.delays(c)):
            columns[n_columns + i] = columns[1 + 3 * d + own]
        constants = np.split(self.law.skeleton.numbers(c), self.ends)
        found = [_evaluated(tape, each, columns) for tape, each in zip(self.tapes, constants, strict=True)]
        return np.array([value for value, _ in found]), np.array([slopes for _, slopes in found])

    def linear(self, c: Float, x: Float, inputs: Sequence[float] = ()) -> tuple[Float, Float] | None:
        """Return A (D, D) and B (D, inputs) at an equilibrium; None where they are not defined.

        Behind those of the inputs B has the columns of `late`.
        """
        orders, d = self.law.skeleton.orders, self.n_states
        slopes = self.residuals(c, x[:, None], inputs)[1][:, :, 0]
        lead = slopes[:, [1 + 3 * s + order for s, order in enumerate(orders)]]
        size = np.abs(slopes[np.isfinite(slopes)]).max(initial=0.0)
        if not np.all(np.isfinite(slopes)) or not np.abs(lead).max() > TINY * size:
            return None
        if TINY * np.linalg.cond(lead) > 1:
            return None
        lower = [1 + 3 * s + k for s, order in enumerate(orders) for k in range(order)]
        solved = -np.linalg.solve(lead, np.hstack([slopes[:, lower], slopes[:, 1 + 3 * d :]]))
        a = np.zeros((len(lower), len(lower)))
        b = np.zeros((len(lower), slopes.shape[1] - 1 - 3 * d))
        row = 0
        for s, order in enumerate(orders):
            a[row : row + order - 1, row + 1 : row + order] = np.eye(order - 1)
            row += order
            a[row - 1] = solved[s, : len(lower)]
            b[row - 1] = solved[s, len(lower) :]
        return a, b

    def newton(self, c: Float, x: Float, size: Float, inputs: Sequence[float] = ()) -> Float:
        """Return the equilibria (d, n) to which Newton's method leads from `x` (d, n); NaN where to none."""
        states = [1 + 3 * s for s in range(self.n_states)]
        x = x.copy()
        step = np.full(x.shape, np.inf)
        for _ in range(STEPS):
            value, slopes = self.residuals(c, x, inputs)
            jacobian = np.moveaxis(slopes[:, states], -1, 0)
            sound = np.isfinite(value).all(axis=0) & np.isfinite(jacobian).all(axis=(1, 2))
            step = np.full(x.shape, np.nan)
            inverse = np.linalg.pinv(jacobian[sound] * size, rcond=1e-12)
            step[:, sound] = size[:, None] * np.einsum("nij,jn->in", inverse, value[:, sound])
            step[:, np.all(value == 0, axis=0)] = 0.0  # as at u = 0 of sqrt(u), whose slope is infinite
            most = np.max(np.abs(step) / size[:, None], axis=0)
            step *= np.minimum(1.0, 1.0 / np.maximum(most, 1e-300))
            x = x - step
            if np.all(most[np.isfinite(most)] <= CONVERGED):
                break
        near = np.max(np.abs(step) / size[:, None], axis=0) <= CONVERGED
        return np.where(near, x, np.nan)

    def is_isolated(self, c: Float, x: Float, size: Float, inputs: Sequence[float] = ()) -> bool:
        """Tell whether no other equilibria lie arbitrarily near.

        At a multiple root the slopes vanish, too; but from beside it Newton's method leads back to it, and
        along a line of equilibria to another one.
        """
        states = [1 + 3 * s for s in range(self.n_states)]
        jacobian = self.residuals(c, x[:, None], inputs)[1][:, states, 0] * size
        if not np.isfinite(jacobian).all():
            return True
        scale = np.abs(jacobian).max(axis=1, keepdims=True)
        _, values, directions = np.linalg.svd(jacobian / np.where(scale > 0, scale, 1.0))
        if values[-1] > FLAT * values[0]:
            return True
        moves = BESIDE * size * directions[-1]
        ends = self.newton(c, np.column_stack([x + moves, x - moves]), size, inputs)
        gaps = np.max(np.abs(ends - x[:, None]) / size[:, None], axis=0)
        return not np.any((gaps > APART) & (gaps < 2 * BESIDE))


def _evaluated(tape: Tape, c: Float, x: Float) -> tuple[Float, Float]:
    """Return a tape's value (n,) and its derivatives in the columns (columns, n); NaN where undefined."""
    out = evaluate(tape, c, x)
    if out.finite or x.shape[1] == 1:
        return out.value, out.in_columns
    half = x.shape[1] // 2  # one undefined point invalidates the whole evaluation
    parts = [_evaluated(tape, c, part) for part in (x[:, :half], x[:, half:])]
    return np.concatenate([p[0] for p in parts]), np.hstack([p[1] for p in parts])


@dataclass(frozen=True)
class _LinearMotion:
    """The linear motion near equilibria, with standard errors."""

    resting: RestingLaw
    covariance: Float
    size: Float

    def equilibrium(self, x: Float, observed: bool, units: tuple[Units, ...]) -> Equilibrium:
        """Describe the equilibrium `x`."""
        law = self.resting.law
        states = law.skeleton.shown_states
        values, errors = self._with_error(x, lambda _, place: place)
        place = tuple(Value(float(v), float(e)) for v, e in zip(values, errors, strict=True))
        linear = self.resting.linear(np.array(law.constants), x)
        if linear is None:
            return Equilibrium(states, place, "stability not decided by the linear part", observed, units)
        eigenvalues = _sorted_eigenvalues(linear[0])
        modes = self._modes(x, eigenvalues)
        told = tuple(complex(z) for z in eigenvalues)
        return Equilibrium(states, place, _stability(modes), observed, units, told, modes)

    def _modes(self, x: Float, eigenvalues: Complex) -> tuple[Mode, ...]:
        """Return one mode for each real eigenvalue and each pair of complex ones."""
        n = len(eigenvalues)

        def parts(c: Float, place: Float) -> Float:
            linear = self.resting.linear(c, place)
            if linear is None:
                return np.full(4 * n, np.nan)
            z = _matched(_sorted_eigenvalues(linear[0]), eigenvalues)
            size = np.abs(z)
            ratio = -z.real / np.where(size > 0, size, 1.0)
            return np.concatenate([z.real, size, ratio, z.imag])

        values, errors = self._with_error(x, parts)
        told = [Value(float(v), float(e)) for v, e in zip(values, errors, strict=True)]
        rates, sizes, ratios = (told[k * n : (k + 1) * n] for k in range(3))
        modes = []
        for i, z in enumerate(eigenvalues):
            if z.imag == 0:
                modes.append(Mode(rates[i]))
            elif z.imag > 0:
                modes.append(Mode(rates[i], sizes[i], ratios[i]))
        return tuple(modes)

    def _with_error(self, x: Float, what: Callable[[Float, Float], Float]) -> tuple[Float, Float]:
        """Return a function of the constants and of the equilibrium near `x`, with standard errors."""
        c = np.array(self.resting.law.constants)
        value = what(c, x)
        slopes = np.zeros((len(value), len(c)))
        for i in range(len(c)):
            step = np.zeros(len(c))
            step[i] = 1e-6 * (abs(c[i]) or 1.0)
            ends = [
                what(c + s, self.resting.newton(c + s, x[:, None], self.size)[:, 0]) for s in (step, -step)
            ]
            slopes[:, i] = (ends[0] - ends[1]) / (2 * step[i])
        variance = np.einsum("ki,ij,kj->k", slopes, self.covariance, slopes)
        return value, np.sqrt(np.maximum(variance, 0.0))


def _sorted_eigenvalues(a: Float) -> Complex:
    """Return the eigenvalues, the slowest decaying first, pairs together."""
    z = np.asarray(np.linalg.eigvals(a), np.complex128)
    scale = float(np.abs(z).max(initial=0.0))
    z = np.where(np.abs(z.real) < 1e-9 * scale, 0.0, z.real) + 1j * z.imag
    return np.asarray(z[np.lexsort((-z.imag, np.abs(z.imag), -np.round(z.real, 12)))])


def _matched(z: Complex, base: Complex) -> Complex:
    """Return eigenvalues in the order of those of another matrix nearby."""
    left = list(z)
    out = []
    for each in base:
        out.append(left.pop(int(np.argmin([abs(other - each) for other in left]))))
    return np.array(out)


def _stability(modes: Sequence[Mode]) -> str:
    """Return what the motion is called."""
    n_growing = sum(m.grows for m in modes)
    n_decaying = sum(not m.neutral for m in modes) - n_growing
    oscillates = any(m.frequency is not None for m in modes)
    kind = " (a spiral)" if oscillates else " (a node)" if len(modes) > 1 else ""
    if n_growing and n_decaying:
        return "unstable (a saddle)"
    if n_growing:
        return f"unstable{kind}"
    if n_decaying == len(modes):
        return f"stable{kind}"
    if all(m.frequency is not None for m in modes if m.neutral):
        return "a centre: no damping within the error bar"
    return "neutral within the error bar"
