"""The experiment that would distinguish near ties.

The near ties are simulated in possible experiments: a longer record, other initial values, another
amplitude of the force. The separation of two solutions is their largest distance in standard deviations,
which combine the noise and the uncertainties of both solutions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Bool, Float
from gode.data import Samples
from gode.data.dataset import Input, Run
from gode.discovery import Discovery
from gode.discovery.framing import display_name
from gode.discovery.prediction import covariance_in, propagated_error
from gode.discovery.simulate import Scenario, simulate
from gode.fitting.invariant_zero import law_keeps_zero
from gode.report.equilibria import extent, extents
from gode.report.naming import Units
from gode.selection import Candidate
from gode.solve import Signal

POINTS = 200
LONGER = (2.0, 4.0)
STRONGER = (0.0, 0.5, 2.0, 3.0)
STARTS = 7
REACH = 0.5  # of the observed range: how far outside it an initial value may lie
TRUSTED = 2.0  # of the observed range: how far outside it a solution is compared
MAX_RIVALS = 6
DECISIVE = 3.0  # separation that a measurement would show
AT_REST = ", where it rests unless something feeds it"
MOST = 100.0  # larger separations are not given as numbers


@dataclass(frozen=True)
class Experiment:
    """A possible experiment; its words follow "if you"."""

    words: str
    scenario: Scenario


@dataclass(frozen=True)
class Separation:
    """The experiment that best separates rivals from the best equation, by how much, and at which time."""

    experiment: Experiment
    rivals: tuple[Candidate, ...]
    strength: float  # the smallest over the rivals, in standard deviations
    time: float

    @property
    def decisive(self) -> bool:
        """Whether a measurement would show the difference."""
        return self.strength >= DECISIVE

    @property
    def words(self) -> str:
        """The advice as a sentence."""
        if not self.decisive:
            return (
                "No experiment that was simulated (longer, other initial values, another force if there "
                f"is one) separates them by more than {max(self.strength, 0.0):.1f} standard deviations: "
                "in this range they are equivalent."
            )
        return (
            f"They would differ by {_strength(self.strength)} standard deviations (noise and error bars "
            f"together), most clearly near t = {self.time:.4g}, if you {self.experiment.words}."
        )


def _strength(value: float) -> str:
    return f"more than {MOST:g}" if value > MOST else f"{value:.3g}"


def separations(discovery: Discovery) -> tuple[list[Separation], Separation | None]:
    """Return the best experiment for each near tie, and the best for all of them if there are several."""
    told = discovery.assessment
    close = [*told.near[:1], *told.rivals][: MAX_RIVALS + 1]
    experiments = list(_experiments(discovery))
    if len(close) < 2 or not experiments:
        return [], None
    rivals = _Rivals(discovery, close)
    table = [rivals.distances(experiment) for experiment in experiments]  # (rivals, 2) of each
    strength = np.array([[row[0] for row in rows] for rows in table])
    single = [
        Separation(experiments[i], (rival,), float(strength[i, j]), table[i][j][1])
        for j, rival in enumerate(close[1:])
        for i in [_best_of(strength[:, j], experiments)]
    ]
    if len(single) < 2:
        return single, None
    i = _best_of(strength.min(axis=1), experiments)
    j = int(np.argmin(strength[i]))
    return single, Separation(experiments[i], tuple(close[1:]), float(strength[i, j]), table[i][j][1])


def separate(discovery: Discovery, pair: Sequence[Candidate]) -> Separation | None:
    """Return the experiment that best separates two equations, None if none can be simulated."""
    experiments = list(_experiments(discovery))
    if not experiments:
        return None
    rivals = _Rivals(discovery, pair)
    found = [rivals.distances(experiment)[0] for experiment in experiments]
    i = _best_of(np.array([strength for strength, _ in found]), experiments)
    return Separation(experiments[i], (pair[1],), *found[i])


def _best_of(strength: Float, experiments: Sequence[Experiment]) -> int:
    """Return the experiment that separates most; one at rest only if no other does."""
    other = np.where([each.words.endswith(AT_REST) for each in experiments], -np.inf, strength)
    return int(np.argmax(other if other.max() >= DECISIVE else strength))


class _Rivals:
    """The near ties with their covariances, to be simulated and compared."""

    def __init__(self, discovery: Discovery, close: Sequence[Candidate]) -> None:
        self.prepared, self.close = discovery.prepared, close
        config = discovery.settings.shooting
        self.joint = [covariance_in(c, self.prepared, config) for c in close]
        self.channels = _first_of_each_state(discovery.noise)
        self.noise = discovery.noise[self.channels, None]
        low, high = extents(discovery)
        wide = TRUSTED * (high - low)
        least = np.where(low >= 0, np.minimum(low, 0.0), low - wide)  # what is never negative stays so
        self.low, self.high = least[:, None], (high + wide)[:, None]

    def distances(self, experiment: Experiment) -> list[tuple[float, float]]:
        """Return, for each rival, its largest distance from the best equation and the time of that."""
        best, *rivals = (self._solved(i, experiment.scenario) for i in range(len(self.close)))
        out = []
        for values, error, inside in rivals:
            with np.errstate(over="ignore", invalid="ignore"):
                distance = np.abs(values - best[0]) / np.sqrt(self.noise**2 + error**2 + best[1] ** 2)
            distance = np.where(inside & best[2] & np.isfinite(distance), distance, 0.0).max(axis=0)
            at = int(np.argmax(distance))
            out.append((float(distance[at]), float(experiment.scenario.t[at])))
        return out

    def _solved(self, i: int, scenario: Scenario) -> tuple[Float, Float, Bool]:
        """Return an observed channel of each state, their errors, and a mask of times near the data."""
        solved = simulate(self.close[i], self.prepared, scenario, sensitivities=True)
        errors = [propagated_error(self.joint[i], scenario, solved, c) for c in self.channels]
        states = solved.values[::3]
        inside = np.logical_and.accumulate(np.all((states >= self.low) & (states <= self.high), axis=0))
        return solved.values[self.channels], np.array(errors), inside


def _experiments(discovery: Discovery) -> Iterator[Experiment]:
    run = discovery.prepared.dataset.runs[0]
    start, span = float(run.t[0]), float(run.t[-1] - run.t[0])
    units = Units.of(discovery.prepared.dataset)
    if not any(isinstance(signal, np.ndarray) for signal in run.inputs.values()):
        for factor in LONGER:
            t = np.linspace(start, start + factor * span, POINTS)
            yield Experiment(
                f"measure {factor:g} times as long, to t = {units.duration(float(t[-1]))}", Scenario(t)
            )
    t = np.linspace(start, start + span, POINTS)
    yield from _other_starts(discovery, t)
    for name, signal in run.inputs.items():
        for factor in STRONGER:
            called = display_name(discovery.prepared.dataset, name)
            how = f"make the force {called} {factor:g} times as strong" if factor else f"switch {called} off"
            yield Experiment(how, Scenario(t, force={name: _scaled(signal, factor, run)}))


def _first_of_each_state(noise: Float) -> list[int]:
    """Return the lowest observed channel of each state that was observed."""
    seen = np.isfinite(noise).reshape(-1, 3)
    return [3 * s + int(np.argmax(row)) for s, row in enumerate(seen) if row.any()]


def _other_starts(discovery: Discovery, t: Float) -> Iterator[Experiment]:
    """Yield experiments from other values of one state after the other; further states start as in run 0."""
    best = discovery.candidates[0]
    orders = best.equation.skeleton.orders
    for s, (state, order) in enumerate(zip(best.equation.skeleton.shown_states, orders, strict=True)):
        place = sum(orders[:s])
        for values, words in _starts_of(discovery, s, state, order):
            start = best.initial[0].tolist()
            start[place : place + order] = values
            yield Experiment(words, Scenario(t, start))


def _starts_of(discovery: Discovery, s: int, state: str, order: int) -> Iterator[tuple[list[float], str]]:
    """Yield the values of one state, with its derivative if that is of second order, and the words."""
    low, high = extent(discovery, 0, s)
    reach = REACH * (high - low)
    first = 0.2 * low if low > 0 else low - reach  # positive signals stay positive
    last = 0.2 * high if high < 0 else high + reach
    slopes = extent(discovery, 1, s)
    dataset = discovery.prepared.dataset
    units = Units.of(dataset, dataset.states[s])
    per_time = units.derived(f"{state}'")
    for u in _rounded_to(np.linspace(first, last, STARTS), high - low):
        where = f"start from {state} = {units.length(u)}"
        if order == 1 and u == 0 < low and law_keeps_zero(discovery.candidates[0].equation):
            where += AT_REST
        if order == 1:
            yield [u], where
        else:
            for v in (0.0, *_rounded_to(np.array(slopes), slopes[1] - slopes[0])):
                if v < 0 and low >= 0:
                    continue  # an amount starts at rest or growing
                yield [u, v], f"{where}, {state}' = {v:.4g} {per_time}".rstrip()


def _rounded_to(values: Float, size: float) -> list[float]:
    """Return the values rounded to two digits of their range, as set on an instrument."""
    unit = 10.0 ** (np.floor(np.log10(size or 1.0)) - 1)
    return [float(x) for x in np.round(values / unit) * unit]


def _scaled(signal: Input, factor: float, run: Run) -> Signal:
    if isinstance(signal, str):
        return f"{factor!r}*({signal})"
    if isinstance(signal, np.ndarray):
        signal = Samples(run.t, signal, run.interpolation)
    if isinstance(signal, Samples):
        return replace(signal, values=factor * signal.values)
    return _amplified(factor, signal)


def _amplified(factor: float, signal: Callable[[float], float]) -> Callable[[float], float]:
    return lambda t: factor * signal(t)
