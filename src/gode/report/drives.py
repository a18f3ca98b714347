"""What acts on an exported program besides its states: known inputs, what acts late, and doses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.data import Run
from gode.data.doses import DOSE
from gode.equation import Law, Node
from gode.equation.skeleton import shown_name
from gode.equation.tree import delays, num, number, variables
from gode.errors import EquationError
from gode.solve import Interpolation, Signal
from gode.solve.doses import Jumps, as_written, jumps_of
from gode.solve.past import BENDS
from gode.solve.signals import earlier, make_signals, split_formulas

MAX_STEPS = 1_000_000  # of a program: a solution that needs more is no longer one of seconds
SAME_TIME = 16 * np.finfo(float).eps  # of the size of times: what adding and subtracting a delay may change


class Parameter(NamedTuple):
    """A constant of the program, with its standard error."""

    name: str
    value: float
    error: float


@dataclass(frozen=True)
class Known:
    """A known input: a formula in t, or a cubic on each piece between knots, highest power first."""

    name: str
    formula: Node | None
    knots: Float
    pieces: Float  # (knots, 4)
    since: float = -np.inf  # before this time, that of the second knot, a late input is as at its start

    @property
    def samples(self) -> tuple[Float, Float]:
        """The times and values of its samples."""
        first = int(np.isfinite(self.since))
        return self.knots[first:], self.pieces[first:, 3]

    @property
    def kind(self) -> Interpolation:
        """The interpolation between samples; cubic for a formula."""
        if self.formula is not None or self.pieces[:, :2].any():
            return Interpolation.CUBIC
        return Interpolation.LINEAR if self.pieces[:, 2].any() else Interpolation.HOLD

    @property
    def jumps(self) -> Float:
        """The times at which it jumps."""
        held = self.formula is None and self.kind is Interpolation.HOLD
        return self.knots[1:][np.diff(self.pieces[:, 3]) != 0] if held else np.empty(0)


class Late(NamedTuple):
    """A column as it was some time ago, which a program reads as one of its own."""

    node: Node
    name: str
    delay: float
    error: float

    @property
    def column(self) -> str:
        """The column that is late."""
        return str(self.node.args[0].value)

    @property
    def by(self) -> Node:
        """By how much it is late: a number, or a parameter perhaps with a factor."""
        return self.node.args[1]

    def words(self, called: str) -> str:
        """Return what the program calls it, and what it is."""
        bar = f" +- {self.error:.2g}" if np.isfinite(self.error) and self.error > 0 else ""
        return f"here {called} is {self.column}(t - {self.delay:.6g}{bar})"


class Given(NamedTuple):
    """What is added at once, in a dose: at what time, to which entry of the state vector, and how much."""

    time: float
    entry: int
    amount: float


class Dosing(NamedTuple):
    """The doses of a run: what is added at once, and infusions as inputs, by the number of their equation."""

    given: tuple[Given, ...]
    infusions: Mapping[int, Known]
    words: tuple[str, ...]  # what of an equation has gone into the amounts and times


def late_columns(trees: Sequence[Node], parameters: Sequence[Parameter], taken: Sequence[str]) -> list[Late]:
    """Return what is delayed in some trees with named parameters; none is called as one of the `taken`."""
    values = {p.name: (p.value, p.error) for p in parameters}
    out: list[Late] = []
    for node in dict.fromkeys(each for tree in trees for each in delays(tree)):
        column, by = node.args
        (name,) = variables(by) or ("",)
        value, error = values.get(name, (0.0, 0.0))
        factor = number(by) if by.op == "num" else _factor(by)
        delay = factor if by.op == "num" else factor * value
        n = sum(each.column == column.value for each in out)
        called = f"{column.value}_late{n + 1 if n else ''}"
        while called in taken:
            called += "_"
        out.append(Late(node, called, delay, abs(factor) * error if name else 0.0))
    return out


def _factor(node: Node) -> float:
    """Return the number before a parameter."""
    return float(np.prod([number(arg) for arg in node.args if arg.op == "num"])) if node.op == "*" else 1.0


def late_input(late: Late, given: Mapping[str, Signal], t: Float) -> Known:
    """Return a late input of the data; before it was known, an input was as at its start."""
    (known,) = known_inputs((late.column,), given, t)
    if known.formula is not None:
        return Known(late.name, earlier(known.formula, num(late.delay)), known.knots, known.pieces)
    first = np.array([0.0, 0.0, 0.0, known.pieces[0, 3]])
    knots = np.append(known.knots[0], known.knots + late.delay)
    return Known(late.name, None, knots, np.vstack([first, known.pieces]), float(knots[1]))


def known_inputs(names: tuple[str, ...], given: Mapping[str, Signal], t: Float) -> tuple[Known, ...]:
    """Return inputs of the data as a program holds them."""
    sampled, formulas = split_formulas(names, given)
    nothing = np.empty(0), np.empty((0, 4))
    out = [Known(name, formula, *nothing) for name, formula in formulas.items()]
    for name in sampled:
        signal = make_signals([name], given, t, Interpolation.AUTO)
        out.append(Known(name, None, signal.knots, signal.coefficients))
    return tuple(out)


def dose_column(law: Law) -> str | None:
    """Return the column that stands for what is given, where the equations say how it arrives."""
    names = (name for name in law.skeleton.inputs if shown_name(name, law.skeleton.called) == DOSE)
    return next(names, None)


def dosing_of(data: Run, law: Law, errors: Float) -> Dosing:
    """Return the doses of a run as they arrive in its states."""
    skeleton, span = law.skeleton, float(data.t[-1] - data.t[0])
    jumps = jumps_of(data.doses, skeleton.shown_states, skeleton.orders, data.t)
    jumps = as_written(jumps, skeleton, span)
    numbers = np.append(skeleton.numbers(law.constants), 1.0)  # number -1 multiplies nothing
    late = np.where(jumps.lag >= 0, numbers[jumps.lag], 0.0)
    share = numbers[jumps.share]
    when = jumps.t + late
    at_once = [
        Given(*each)
        for each, rate in zip(
            zip(when.tolist(), jumps.entry.tolist(), (share * jumps.amount).tolist(), strict=True),
            jumps.rate,
            strict=True,
        )
        if rate == 0
    ]
    infusions = {}
    for equation in np.unique(jumps.equation[jumps.rate != 0]).tolist():
        mine = (jumps.equation == equation) & (jumps.rate != 0)
        name = [s for s, order in zip(skeleton.states, skeleton.orders, strict=True) if order][equation]
        infusions[equation] = _held(f"infusion_{name}", when[mine], (share * jumps.rate)[mine], data.t)
    return Dosing(tuple(sorted(at_once)), infusions, tuple(_arrival(jumps, numbers, errors, law)))


def _held(name: str, times: Float, changes: Float, t: Float) -> Known:
    """Return an input that is held between times at which it changes."""
    order = np.argsort(times, kind="stable")
    times, values = times[order], np.cumsum(changes[order])
    values[np.abs(values) < 1e-12 * np.abs(changes).max()] = 0.0  # an infusion ends with a difference
    knots = np.unique(np.append(times[times > t[0]], t[0]))
    last = np.searchsorted(times, knots, side="right") - 1
    held = np.where(last >= 0, values[last], 0.0)
    end = max(knots[-1], t[-1]) + (t[-1] - t[0])
    pieces = np.zeros((len(knots) + 1, 4))
    pieces[:, 3] = np.append(held, held[-1])
    return Known(name, None, np.append(knots, end), pieces)


def _arrival(jumps: Jumps, numbers: Float, errors: Float, law: Law) -> list[str]:
    """Return the sentences on shares and lags that the amounts and times of the program hold."""
    places = np.append(law.skeleton.places if law.skeleton.links else np.arange(len(numbers) - 1), -1)

    def valued(i: int) -> str:
        error = errors[places[i]] if places[i] >= 0 else np.nan
        return f"{numbers[i]:.6g}" + (f" +- {error:.2g}" if np.isfinite(error) and error > 0 else "")

    shares = [f"here doses are multiplied by {valued(i)}" for i in np.unique(jumps.share) if i >= 0]
    return shares + [f"here doses are late by {valued(i)}" for i in np.unique(jumps.lag) if i >= 0]


def stops_of(
    jumps: Float, given: Sequence[Given], delays: Sequence[float], start: float, stop: float
) -> Float:
    """Return the times at which a step of a solution has to end: its slope jumps there, or bends later on."""
    first = np.unique([start, *jumps, *(each.time for each in given)])
    later = [first + m * delay for delay in delays for m in range(1, BENDS + 1)]
    out = np.unique(np.concatenate([first, *later]))
    kept = np.append(True, np.diff(out) > same_time(start, stop))
    return out[kept & (out > start) & (out < stop)]


def same_time(start: float, stop: float) -> float:
    """Return the distance below which two times of a program are one."""
    return float(SAME_TIME * max(abs(start), abs(stop), stop - start))


def check_delays(late: Sequence[Late], span: float) -> None:
    """Raise EquationError if a state is so little late, or so early, that a program would not end."""
    for each in late:
        if not each.delay > span / MAX_STEPS:
            raise EquationError(
                f"{each.column} is late by {each.delay:.3g}, too little for a program, which takes no step "
                f"longer than a delay; leave the delay out, or bound it from below by {span / MAX_STEPS:.3g}"
            )
