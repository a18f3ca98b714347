"""Starting values for a law with hidden states: many are drawn, the best are fitted to the trajectory.

A state that no column measures has no curve along which its equation could be fitted by itself. But one
solution costs a fraction of a millisecond, so that the trajectory itself can choose among hundreds of random
starts. They are drawn where they make sense: with s the size of a state and r a rate, each constant is drawn
about the value at which its term is as large as the derivative r s of the state whose equation holds it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gode.arrays import Float
from gode.data import Columns
from gode.data.dataset import NEGLIGIBLE
from gode.equation import Law, LawSkeleton, Skeleton
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import constants_in
from gode.fitting.population import NORMAL_95
from gode.fitting.target import Target
from gode.fitting.trajectory import Check, Path, ShootConfig, Trajectories, delay_numbers
from gode.fitting.trajectory_fit import fitted
from gode.solve import solve


@dataclass(frozen=True, kw_only=True)
class MultistartConfig:
    """How many starts are drawn. Chosen on simulated compartments, epidemics, neurons, prey and tanks."""

    draws: int = 300  # A round draws so many starts.
    refined: int = 8  # The best so many of a round are fitted to the trajectory.
    rounds: int = 4  # Rounds follow until the least error was reached from two starts of one round.
    spread: float = 1.2  # The logarithm of a constant about its usual size has this standard deviation.
    size_spread: float = 1.5  # So has that of the size of a hidden state about that of the measured ones.
    sole_spread: float = 6.0  # This is the same where all constants are known, and no scale comes from them.
    against_sign: float = 0.1  # The probability that a constant with a name is negative.
    guess: tuple[tuple[int, float], ...] = ()  # Places and values of constants in the first round.


@dataclass(frozen=True)
class Minimum:
    """A local minimum of the squared error."""

    constants: Float
    initial: Float  # (runs, sum of orders)
    sse: float


def minima(
    skeleton: LawSkeleton,
    target: Target,
    columns: Columns,
    hidden: Sequence[int],
    *,
    rng: np.random.Generator,
    config: ShootConfig,
    how: MultistartConfig | None = None,
    check: Check = None,
) -> list[Minimum]:
    """Return the minima that were reached from random starts, the least first; none without a solution.

    Args:
        columns: the smoothed data; what they hold of hidden states is not read.
        hidden: the numbers of the states that were never measured.
    """
    how = how or MultistartConfig()
    problem = Trajectories(skeleton, target, config, check)
    draws = _Draws(skeleton, target, columns, tuple(hidden), how)
    found: list[Path] = []
    for n in range(how.rounds):
        guess = dict(how.guess) if n == 0 else {}
        points = [problem.parameters.joined(*draws.draw(rng, guess)) for _ in range(how.draws)]
        errors = np.array([problem.error(p) for p in points])
        best = [points[i] for i in np.argsort(errors)[: how.refined] if np.isfinite(errors[i])]
        paths = [path for p in best if (path := fitted(problem, p)) is not None]
        found = sorted([*found, *paths], key=lambda path: path.sse)
        reached = sum(path.sse <= (1 + NEGLIGIBLE) * found[0].sse for path in paths)
        if reached > 1 and not problem.is_far(found[0]):
            break
    return _distinct(problem, found)


def with_images(
    skeleton: LawSkeleton,
    target: Target,
    found: Sequence[Minimum],
    *,
    config: ShootConfig,
    check: Check = None,
) -> list[Minimum]:
    """Return minima with those reached when two constants of the least change places, the least first."""
    problem = Trajectories(skeleton, target, config, check)
    best = found[0]
    paths = []
    for pair in combinations(range(skeleton.n_constants), 2):
        exchanged = best.constants.copy()
        exchanged[list(pair)] = exchanged[list(reversed(pair))]
        path = fitted(problem, problem.first(exchanged, best.initial)[0])
        paths += [path] if path is not None else []
    return _distinct(problem, sorted(paths, key=lambda path: path.sse), found)


def as_good(sse: float, n_values: int) -> float:
    """Return the squared residuals, or their mean, below which a fit is as good as one that leaves `sse`.

    Over the mean, the data exclude neither of two fits that differ by less than the 95 % quantile of
    chi-squared with one degree of freedom.
    """
    return sse * (1 + NORMAL_95**2 / max(n_values, 1))


def memory_of_starts(law: Law, target: Target, initial: Float) -> float:
    """Return how long hidden states remember where they began, of those that do so longest."""
    run, orders = target.dataset.runs[0], law.skeleton.orders
    path = solve(law, run.t, initial[0], inputs=dict(run.signals), doses=run.doses, sensitivities=True)
    if path.failure is not None:
        return np.inf
    of_starts = path.sensitivities[len(path.sensitivities) - sum(orders) :]
    places = [(sum(orders[:s]), 3 * s) for s in target.dataset.hidden]
    return max(float(np.trapezoid(np.abs(of_starts[place, row]), run.t)) for place, row in places)


def _distinct(problem: Trajectories, paths: Sequence[Path], known: Sequence[Minimum] = ()) -> list[Minimum]:
    """Return known minima and those at the ends of paths that are not among them, the least first."""
    parameters, minima_found = problem.parameters, list(known)
    for path in paths:
        one = Minimum(parameters.constants(path.p)[0], parameters.initial(path.p), path.sse)
        if not any(_same(one, other) for other in minima_found):
            minima_found.append(one)
    return sorted(minima_found, key=lambda minimum: minimum.sse)


def _same(one: Minimum, other: Minimum) -> bool:
    """Tell whether two fits ended in the same minimum."""
    pairs = (one.constants, other.constants), (one.initial, other.initial)
    return all(np.allclose(*pair, rtol=1e-2, atol=1e-12, equal_nan=True) for pair in pairs)


class _Draws:
    """Random starts of one law on some data."""

    def __init__(
        self,
        skeleton: LawSkeleton,
        target: Target,
        columns: Columns,
        hidden: tuple[int, ...],
        how: MultistartConfig,
    ) -> None:
        self.skeleton, self.target, self.columns, self.hidden, self.how = (
            skeleton,
            target,
            columns,
            hidden,
            how,
        )
        sought = {i for found in skeleton.functions for i in constants_in(found.tree)}
        named = skeleton.n_constants if skeleton.parameters else 0
        self.is_named = np.array([i < named and i not in sought for i in range(skeleton.n_constants)])
        self.seen = [s for s in range(len(skeleton.orders)) if s not in hidden]
        self.curves = {s: _curve(columns, skeleton.states[s]) for s in self.seen}
        self.sizes = {s: float(np.abs(u[0]).max()) or 1.0 for s, u in self.curves.items()}
        self.span = float(np.ptp(target.dataset.runs[0].t))
        rates = [_rms(u[1]) / (np.std(u[0]) or 1.0) for u in self.curves.values()]
        self.rate = max(rates) or 1.0 / float(np.ptp(columns.matrix[0]))

    def draw(self, rng: np.random.Generator, guess: Mapping[int, float]) -> tuple[Float, Float]:
        """Return constants (runs, k), some of which are guessed, and initial values (runs, sum of orders)."""
        how, skeleton = self.how, self.skeleton
        rate = self.rate * np.exp(rng.standard_normal())  # by a factor of e, mostly
        typical = float(np.exp(np.mean(np.log(list(self.sizes.values())))))
        sizes = dict(self.sizes)
        for s in self.hidden:
            known = self._known_size(s)
            spread = how.size_spread if skeleton.n_constants else how.sole_spread
            sizes[s] = known or typical * np.exp(spread * rng.standard_normal())
        usual = self._usual_sizes(sizes, rate)
        values = usual * np.exp(how.spread * rng.standard_normal(len(usual)))
        negative = np.where(self.is_named, how.against_sign, 0.5)
        values[rng.uniform(size=len(usual)) < negative] *= -1
        for i in delay_numbers(skeleton):
            values[i] = self.span * rng.uniform() ** 4  # mostly short, but for all of a record at most
        for i, parameter in enumerate(skeleton.parameters):
            if not parameter.low < values[i] < parameter.high:
                values[i] = _between(parameter.low, parameter.high, abs(values[i]), rng)
        values[list(guess)] = list(guess.values())
        return np.broadcast_to(values, (len(self.target.dataset.runs), len(values))), self._starts(sizes, rng)

    def _known_size(self, state: int) -> float:
        """Return the largest known initial value or dose of a hidden state; 0 where none is known."""
        runs = self.target.dataset.runs
        values = [run.initial[2 * state] for run in runs]
        values += [dose.amount for run in runs for dose in run.doses if dose.channel == 3 * state]
        return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))

    def _usual_sizes(self, sizes: dict[int, float], rate: float) -> Float:
        """Return for each constant the value at which its term is as large as the derivative."""
        skeleton = self.skeleton
        logs: list[list[float]] = [[] for _ in range(skeleton.n_constants)]
        for s, part in enumerate(skeleton.parts):
            wanted = self._derivative(s, sizes[s], rate)
            slopes = self._slopes(s, part, sizes, rate)
            first = skeleton.offsets[s]
            for j, (slope, at_two) in enumerate(slopes):
                place = int(skeleton.places[first + j])
                if place >= 0 and 0 < slope < np.inf and wanted > 0:
                    divides = np.isclose(at_two, slope / 4)  # as the volume V in d/V
                    logs[place].append(np.log(slope / wanted if divides else wanted / slope))
        return np.array([np.exp(np.mean(each)) if each else rate for each in logs])

    def _derivative(self, state: int, size: float, rate: float) -> float:
        """Return the usual size of the highest derivative of a state."""
        order = self.skeleton.orders[state]
        return _rms(self.curves[state][order]) if state in self.curves else size * rate**order

    def _slopes(
        self, index: int, part: Skeleton, sizes: dict[int, float], rate: float
    ) -> Iterator[tuple[float, float]]:
        """Yield by how much the right-hand side of one equation changes with each of its constants.

        All constants are one, and in the second of the two numbers this one is two.
        """
        terms = part.rhs_terms
        if terms is None:
            return
        names = self.skeleton.seen(index)
        called = self.skeleton.columns(index)
        rows = [self._values(called.get(name, name), sizes, rate) for name in names]
        tape = compile_tape(terms, names, part.n_constants)
        ones, unit = np.ones(part.n_constants), np.eye(part.n_constants)
        with np.errstate(all="ignore"):
            for j in range(part.n_constants):
                found = [evaluate(tape, c, np.array(rows)).in_constants[j] for c in (ones, ones + unit[j])]
                one, two = (row[np.isfinite(row)] for row in found)
                yield (_rms(one) if len(one) else np.inf, _rms(two) if len(two) else np.inf)

    def _values(self, name: str, sizes: dict[int, float], rate: float) -> Float:
        """Return a column: as smoothed, or of a hidden state its size times a power of the rate."""
        state = name.rstrip("'")
        if state in self.skeleton.states:
            s = self.skeleton.states.index(state)
            if s in self.hidden:
                return np.full(self.columns.n_points, sizes[s] * rate ** (len(name) - len(state)))
        return _column(self.columns, name)

    def _starts(self, sizes: dict[int, float], rng: np.random.Generator) -> Float:
        """Return initial values: smoothed ones of what was measured, of hidden states their drawn size."""
        out = self.target.starts(self.skeleton.orders)[0].copy()
        place = 0
        for s, order in enumerate(self.skeleton.orders):
            if s in self.hidden:
                spread = np.exp(0.5 * rng.standard_normal((len(out), order)))
                out[:, place : place + order] = sizes[s] * spread * (rng.uniform() > 0.1)
            place += order
        return out


def _between(low: float, high: float, size: float, rng: np.random.Generator) -> float:
    """Return a random number between bounds, about as large as `size` where one of them is open."""
    if np.isfinite(low) and np.isfinite(high):
        return float(rng.uniform(low, high))
    return low + size if np.isfinite(low) else high - size


def _curve(columns: Columns, state: str) -> list[Float]:
    return [_column(columns, state + "'" * k) for k in range(3)]


def _column(columns: Columns, name: str) -> Float:
    return np.asarray(columns.matrix[columns.names.index(name)])


def _rms(values: Float) -> float:
    return float(np.sqrt(np.mean(values**2)))
