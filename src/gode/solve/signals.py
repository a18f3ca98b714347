"""Known inputs in a form that compiled code can evaluate at any time.

A formula is substituted into the equation. Samples become a piecewise polynomial, by default a cubic
spline: the interpolation of a measured force dominates the error of a simulation (held 18, linear 2.6,
spline 0.36 mV on the Silverbox). Samples that change by single jumps come from a switch or a controller,
whose output is held until the next; solvers end a step at each jump. A callable is sampled ever finer until
its spline interpolates it.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.data import Interpolation, Samples
from gode.data.states import as_numbers
from gode.equation import Node, Term, parse_tree
from gode.equation.tree import DELAY, MINUS_ONE, TIME, add, has_constant, mul, variables
from gode.errors import DataError
from gode.solve.doses import NO_JUMPS, Jumps, later, with_events

Signal = str | Callable[[float], float] | ArrayLike | tuple[ArrayLike, ArrayLike] | Samples
FIRST_GRID, LAST_GRID = 2**8, 2**15  # intervals at which a callable is sampled, at first and at most
GRID_ACCURACY = 1e-8  # error of its spline between samples, as a share of its range


class Signals(NamedTuple):
    """Piecewise cubics, one per input: knots, and the coefficients of each piece, highest power first."""

    knots: Float  # of all inputs, one after the other
    coefficients: Float  # (knots, 4)
    starts: Int  # (inputs + 1,) where the knots of each input begin
    jumps: Float  # times at which a held input jumps or a polygon bends, in increasing order
    shift: Float  # (inputs,) by how much each is late
    delay: Int  # (inputs,) the number that each is late by; -1 for none
    doses: Jumps | None = None  # what is added to states, and when

    @property
    def fitted(self) -> bool:
        """Whether numbers of a law say when an input acts, or a dose."""
        if self.doses is not None and (self.doses.lag >= 0).any():
            return True
        return bool((self.delay >= 0).any())


class Late(NamedTuple):
    """An input as it was some time ago, in an equation."""

    input: str
    number: int  # the constant that it is late by, among those of all equations; -1 where that is known
    value: float  # by how much, where it is known
    equation: int  # in which it stands
    name: str  # what it is called there


NO_SIGNALS = Signals(
    np.empty(0), np.empty((0, 4)), np.zeros(1, np.int64), np.empty(0), np.empty(0), np.empty(0, np.int64)
)


def make_signals(
    names: Sequence[str], given: Mapping[str, Signal], t: Float, interpolation: Interpolation
) -> Signals:
    """Return the inputs `names` over the span of `t`, as piecewise cubics.

    Raises:
        DataError: if one is missing, too short, or not finite.
    """
    if not names:
        return NO_SIGNALS
    knots, pieces, jumps = [np.empty(0)], [np.empty((0, 4))], [np.empty(0)]
    for name in names:
        signal = given[name]
        assert not isinstance(signal, str), "formulas are written into the equation"
        samples = _sampled(signal, name, t) if callable(signal) else _samples(signal, name, t, interpolation)
        knots.append(samples.t)
        pieces.append(_pieces(samples))
        if samples.resolved is not Interpolation.CUBIC:
            jumps.append(samples.t[1:][np.diff(samples.values) != 0])
    starts = np.cumsum([len(x) for x in knots]).astype(np.int64)
    none = np.full(len(names), -1, np.int64)
    bends = np.unique(np.concatenate(jumps))
    return Signals(np.concatenate(knots), np.vstack(pieces), starts, bends, np.zeros(len(names)), none)


def with_delays(signals: Signals, names: Sequence[str], late: Sequence[Late]) -> Signals:
    """Return inputs with some of them once more, as they were some time ago.

    Where a held input jumps, so does what it drives: there a step ends, at a time that may be fitted.
    """
    if not late:
        return signals
    knots, pieces, jumps, doses = [signals.knots], [signals.coefficients], [signals.jumps], signals.doses
    for each in late:
        place = names.index(each.input)
        low, high = signals.starts[place : place + 2]
        times, coefficients = signals.knots[low:high] + each.value, signals.coefficients[low:high]
        knots.append(times)
        pieces.append(coefficients)
        ends = np.einsum("ij,ij->i", np.vander(np.diff(times), 4), coefficients[:-1])
        gaps = np.abs(ends - coefficients[1:, 3]) > 1e-9 * np.ptp(coefficients[:, 3])
        if each.number < 0:
            jumps.append(times[1:][gaps])
            first = np.array([0.0, 0.0, 0.0, coefficients[0, 3]])  # before the record it was as at its start
            knots[-1], pieces[-1] = np.append(times[0] - each.value, times), np.vstack([first, coefficients])
        else:
            doses = with_events(doses or NO_JUMPS, times[1:][gaps], each.number, each.equation)
    counts = [len(times) for times in knots[1:]]
    starts = np.append(signals.starts, signals.starts[-1] + np.cumsum(counts)).astype(np.int64)
    return Signals(
        np.concatenate(knots),
        np.vstack(pieces),
        starts,
        np.unique(np.concatenate(jumps)),
        np.zeros(len(starts) - 1),
        np.append(signals.delay, [each.number for each in late]).astype(np.int64),
        doses,
    )


def placed(signals: Signals, numbers: Float) -> Signals:
    """Return inputs and doses where the numbers of a law put them in time."""
    if not signals.fitted:
        return signals
    extended = np.append(numbers, 0.0)  # -1 picks the zero
    doses = None if signals.doses is None else later(signals.doses, extended)
    return signals._replace(shift=extended[signals.delay], doses=doses)


def joined(samples: Samples, t: Float) -> Float:
    """Return the values of an input at the times `t`."""
    (values,) = values_of(make_signals(("F",), {"F": samples}, t, samples.interpolation), t)
    return values


def values_of(signals: Signals, t: Float) -> list[Float]:
    """Return the values of each input at the times `t`."""
    found: list[Float] = []
    for low, high in pairwise(signals.starts.tolist()):
        knots = signals.knots[low:high]
        then = np.maximum(t - signals.shift[len(found)], knots[0])  # before it, an input was as at its start
        at = np.clip(np.searchsorted(knots, then, side="right") - 1, 0, len(knots) - 2)
        powers = np.vander(then - knots[at], 4)
        found.append(np.asarray(np.einsum("ij,ij->i", powers, signals.coefficients[low + at])))
    return found


def split_formulas(
    names: Sequence[str], given: Mapping[str, Signal] | None
) -> tuple[tuple[str, ...], dict[str, Node]]:
    """Return the inputs that must be interpolated, and the trees of those given as text.

    Raises:
        DataError: if an input is not given, or its formula depends on more than t.
    """
    if not names:
        return (), {}
    given = given or {}
    missing = [name for name in names if name not in given]
    if missing:
        raise DataError(f"the equation has the input {missing[0]}, but no value is given; give it as force=")
    formulas = {}
    for name in names:
        text = given[name]
        if isinstance(text, str):
            formulas[name] = parse_tree(text, inputs=())
            others = variables(formulas[name]) - {TIME} | ({"C"} if has_constant(formulas[name]) else set())
            if others:
                raise DataError(
                    f"the input {name} = {text!r} may depend on t alone, not on {sorted(others)[0]}"
                )
    return tuple(name for name in names if name not in formulas), formulas


def write_in(terms: Sequence[Term], formulas: Mapping[str, Node]) -> list[Term]:
    """Return `terms` with inputs replaced by their formulas."""
    return [Term(t.multiplier, t.constant, _replaced(t.body, formulas)) for t in terms]


def _replaced(node: Node, formulas: Mapping[str, Node]) -> Node:
    if node.op == "var":
        return formulas.get(str(node.value), node)
    if node.op == DELAY:
        formula = formulas.get(str(node.args[0].value))
        return node if formula is None else earlier(formula, node.args[1])
    return node._replace(args=tuple(_replaced(arg, formulas) for arg in node.args))


def earlier(formula: Node, by: Node) -> Node:
    """Return a formula in t as it was some time ago."""
    if formula.op == "var":
        return add(formula, mul(MINUS_ONE, by))
    return formula._replace(args=tuple(earlier(arg, by) for arg in formula.args))


def _samples(
    signal: ArrayLike | tuple[ArrayLike, ArrayLike] | Samples,
    name: str,
    t: Float,
    interpolation: Interpolation,
) -> Samples:
    times: ArrayLike = t
    samples = signal
    if isinstance(signal, Samples):
        times, samples = signal.t, signal.values
        interpolation = signal.interpolation
    elif isinstance(signal, tuple) and len(signal) == 2 and np.ndim(signal[0]) == 1:
        times, samples = signal
    x, y = (as_numbers(part, f"the input {name}") for part in (times, samples))
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise DataError(
            f"the input {name} has {y.size} samples for {x.size} times; give one per time, at least 2, "
            "or a pair (times, samples)"
        )
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(x)) and np.all(np.diff(x) > 0)):
        raise DataError(f"the input {name} must be finite at increasing times; drop or fill the bad samples")
    slack = 1e-9 * (t[-1] - t[0])
    if x[0] > t[0] + slack or x[-1] < t[-1] - slack:
        raise DataError(
            f"the input {name} covers {x[0]:g} to {x[-1]:g}, but the solution is asked for "
            f"{t[0]:g} to {t[-1]:g}; give it for the whole span"
        )
    return Samples(x, y, interpolation)


def _sampled(signal: Callable[[float], float], name: str, t: Float) -> Samples:
    """Sample a callable on a grid fine enough for its spline, if the digits of t allow it."""
    from scipy.interpolate import CubicSpline

    steps = (t[-1] - t[0]) / np.spacing(np.max(np.abs(t)))
    last = max(int(min(LAST_GRID, steps / 8)), 2)
    n = min(FIRST_GRID, last)
    while True:
        x = np.linspace(t[0], t[-1], 2 * n + 1)
        y = np.array([float(signal(float(s))) for s in x])
        if not np.all(np.isfinite(y)):
            bad = x[int(np.argmax(~np.isfinite(y)))]
            raise DataError(
                f"the input {name} is not finite at t = {bad:g}; restrict the span or the function"
            )
        guess = CubicSpline(x[::2], y[::2])(x[1::2])
        if np.max(np.abs(guess - y[1::2])) <= GRID_ACCURACY * max(np.ptp(y), 1e-300) or n >= last:
            return Samples(x, y, Interpolation.CUBIC)
        n = min(4 * n, last)


def _pieces(samples: Samples) -> Float:
    """Return the coefficients (knots, 4) of the piece that begins at each knot; the last one is constant."""
    x, y = samples.t, samples.values
    out = np.zeros((len(x), 4))
    out[:, 3] = y
    if samples.resolved is Interpolation.LINEAR:
        out[:-1, 2] = np.diff(y) / np.diff(x)
    elif samples.resolved is Interpolation.CUBIC:
        from scipy.interpolate import CubicSpline

        out[:-1] = CubicSpline(x, y).c.T
    return out
