"""Which of the fitted equations to name, and which of them the data cannot tell from it.

The criterion is -2 log of the posterior probability of an equation, up to a constant:

    m log(SSE / (m - k))  +  k log m  +  2 operations

The first two terms are Schwarz's approximation of the evidence, with k fitted numbers, m independent
values and the variance of the noise estimated with m - k degrees of freedom, which counts where m is small;
the last is a prior under which each operation makes an equation e times less probable. m is the effective
number of independent residuals of the most accurate equation: the number of values if they are white, fewer
if they are correlated. The equation with the least criterion is named. Each state of a system has a variance
of its own: the first term is a sum over the states, each with its share of m and of m - k. A constant that
each of n runs has for itself is known from the values of one run: it costs log(m / n) in each of them. Many
such constants explain much by chance, so that they also cost some standard deviations of that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gode.arrays import Float
from gode.data.runs import lowest_channel
from gode.equation import Equation, Law
from gode.equation.system import make_law
from gode.fitting.correlated import fit_arma
from gode.fitting.individuals import Individuals
from gode.fitting.shooting import Shot
from gode.fitting.target import Target


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How accuracy is weighed against complexity."""

    operation_price: float = 2.0  # -2 log probability of an operation; accuracy is flat from 1.5 to 2.5
    level: float = 0.9  # posterior probability that the set of near ties holds
    support: float = 10.0  # least gain over a constant, a line, a random walk: 2 log of the Bayes factor
    chance: float = 3.0  # standard deviations of what constants of each run explain by chance
    floor: float = 1e-5  # residuals below this share of the signal are rounding


@dataclass(frozen=True)
class Candidate:
    """An equation fitted to the trajectory."""

    equation: Law
    initial: Float  # (runs, sum of orders)
    covariance: Float  # of the constants
    rms: float  # of the weighted residuals: 1 is the noise
    criterion: float
    n_values: int = 0
    n_free: int = 0  # fitted numbers: constants and initial values
    independent: float = 0.0  # effective number of independent residuals
    held: tuple[tuple[int, int], ...] = ()  # unknown initial values (run, place) held at zero
    whole: bool = True  # whether it was fitted to whole records, not to their first part
    by_state: tuple[tuple[float, float], ...] = ()  # of each state: mean square residual, share of the values
    own: Individuals | None = None  # constants of each run; the equation then has those of the population

    def law_of(self, run: int) -> Law:
        """Return the law with the constants of one run."""
        if self.own is None:
            return self.equation
        constants = np.array(self.equation.constants)
        constants[list(self.own.places)] = self.own.values[run]
        return make_law(self.equation.skeleton, constants)

    @property
    def errors(self) -> Float:
        """The standard errors of the constants."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def errors_of(self, run: int) -> Float:
        """Return the standard errors of the constants that one run has."""
        found = self.errors
        if self.own is not None:
            found[list(self.own.places)] = self.own.errors[run]
        return found

    @property
    def single(self) -> Equation:
        """The equation, where there is one state."""
        assert isinstance(self.equation, Equation), "a system has an equation for each state"
        return self.equation

    @property
    def mean_squares(self) -> tuple[float, ...]:
        """The mean square of the weighted residuals of each state."""
        return tuple(square for square, _ in self.by_state) or (self.rms**2,)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each state in the values."""
        return tuple(share for _, share in self.by_state) or (1.0,)

    @property
    def complexity(self) -> int:
        """The complexity of the equation, as the paper counts it."""
        return self.equation.complexity


@dataclass(frozen=True)
class Pool:
    """All that selection looks at."""

    candidates: Sequence[Candidate]
    floor: tuple[float, ...]  # weighted residual of each state that is rounding
    polynomials: Sequence[
        tuple[tuple[float, ...], int]
    ] = ()  # mean squares, free numbers of a constant, a line
    series: Sequence[tuple[Float, Float]] = ()  # of each run: observed, residuals of the best


@dataclass(frozen=True)
class Ranking:
    """The candidates, the one to name first, and whether the data support it."""

    candidates: list[Candidate] = field(default_factory=list)
    n_ties: int = 0  # how many of them, from the first on, the data cannot tell apart
    supported: bool = True


def rank(pool: Pool, config: SelectionConfig) -> Ranking:
    """Return the ranking of the candidates; each equation is in it once."""
    if not pool.candidates:
        return Ranking()
    m = independent_values(pool.candidates)
    order = in_order([weighed(c, pool.floor, config, m) for c in pool.candidates])
    return Ranking(order, len(ties(order, config)), _is_supported(order[0], pool, m, config))


def judge(shot: Shot, floor: tuple[float, ...], config: SelectionConfig) -> Candidate | None:
    """Return the candidate of a fitted trajectory, as if its residuals were white; None for a failure."""
    if shot.equation is None or not np.isfinite(shot.sse):
        return None
    found = Candidate(
        shot.equation,
        shot.initial,
        shot.covariance,
        float(np.sqrt(shot.sse / shot.n_values)),
        np.inf,
        n_values=shot.n_values,
        n_free=shot.n_free,
        independent=shot.independent,
        by_state=shot.by_state if len(shot.by_state) > 1 else (),
        own=shot.own,
    )
    return weighed(found, floor, config)


def weighed(
    c: Candidate, floor: tuple[float, ...], config: SelectionConfig, m: float | None = None
) -> Candidate:
    """Return the candidate with its criterion for `m` independent values; by default all are."""
    m = float(c.n_values) if m is None else m
    evidence = _evidence(c.mean_squares, c.shares, c.n_free, m, floor) - _saved(c, m, config)
    return replace(c, criterion=evidence + improbability(c, config))


def _evidence(
    mean_squares: Sequence[float], shares: Sequence[float], k: int, m: float, floor: Sequence[float]
) -> float:
    """Return -2 log of the evidence with `k` fitted numbers and `m` independent values of all states."""
    total = 0.0
    for square, share, least in zip(mean_squares, shares, floor, strict=True):
        total += share * m * float(np.log(square * m / max(m - k, 0.5) + least**2))
    return float(total + k * np.log(max(m, 2.0)))


def _saved(c: Candidate, m: float, config: SelectionConfig) -> float:
    """Return how much cheaper constants are that are known from one run each, less the price of chance."""
    if c.own is None:
        return 0.0
    number = c.own.values.size
    cheaper = number * (np.log(max(m, 2.0)) - np.log(max(m / len(c.own.values), 2.0)))
    return float(cheaper - config.chance * np.sqrt(2 * number) * m / max(m - c.n_free, 0.5))


def improbability(c: Candidate, config: SelectionConfig) -> float:
    """Return -2 log of the prior probability of an equation."""
    return config.operation_price * c.equation.skeleton.burden


def independent_values(candidates: Sequence[Candidate]) -> float:
    """Return how many independent values the data hold: those of the most accurate candidate's residuals."""
    return min(candidates, key=lambda c: c.rms).independent


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the least criterion first; each equation once, whatever ties its constants."""
    best: dict[object, Candidate] = {}
    for candidate in candidates:
        key = candidate.equation.skeleton.structure
        if key not in best or candidate.criterion < best[key].criterion:
            best[key] = candidate
    return sorted(best.values(), key=lambda c: (c.criterion, c.complexity, c.equation.skeleton.key))


def ties(order: Sequence[Candidate], config: SelectionConfig) -> list[Candidate]:
    """Return the candidates that the data cannot tell from the first, which is among them.

    They are the smallest set that holds the posterior probability `config.level`.
    """
    criteria = np.array([c.criterion for c in order])
    weights = np.exp(-0.5 * (criteria - criteria.min()))
    places = np.argsort(criteria, kind="stable")
    n = int(np.searchsorted(np.cumsum(weights[places]), config.level * weights.sum())) + 1
    inside = {0, *places[:n].tolist()}
    return [c for i, c in enumerate(order) if i in inside]


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that no other candidate beats in both accuracy and complexity, simplest first."""
    out: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.complexity, c.rms)):
        if not out or candidate.rms < out[-1].rms * (1 - 1e-6):
            out.append(candidate)
    return out


def _is_supported(best: Candidate, pool: Pool, m: float, config: SelectionConfig) -> bool:
    """Tell whether the best equation explains the data better than a constant, a line and a random walk."""
    if pool.series and _gain_over_walk(best, pool.series, config) < config.support:
        return False
    for squares, k in pool.polynomials:
        if _evidence(squares, best.shares, k, m, pool.floor) < best.criterion + config.support:
            return False
    return True


def _gain_over_walk(best: Candidate, series: Sequence[tuple[Float, Float]], config: SelectionConfig) -> float:
    """Return the gain of the equation with correlated noise about it over that noise about a level alone.

    The noise is an ARMA(1, 1) process, which can be a random walk; its two numbers are fitted to both.
    """
    alone = fit_arma([observed for observed, _ in series], levels=True)
    with_it = fit_arma([residual for _, residual in series], levels=False)
    cost = (best.n_free - len(series)) * np.log(float(alone.n)) - _saved(best, float(alone.n), config)
    cost += improbability(best, config)
    return float(alone.deviance - with_it.deviance - cost)


def fitted_polynomials(target: Target) -> list[tuple[tuple[float, ...], int]]:
    """Return the mean squares and the free numbers of polynomials in t, one for each state of each run.

    They have just the degree that makes the lowest observed channel a constant, and one more.
    """
    found = []
    for extra in (0, 1):
        squares = [_polynomial(target, s, extra) for s in range(len(target.scales))]
        found.append((tuple(squares), len(squares) * len(target.dataset.runs) * (extra + 1)))
    return found


def _polynomial(target: Target, state: int, extra: int) -> float:
    """Return the mean square that polynomials of one state leave."""
    sse, n = 0.0, 0
    own = slice(3 * state, 3 * state + 3)
    for i, run in enumerate(target.dataset.runs):
        weights = target.samples[i][1].T[own]
        lowest = lowest_channel(run.state(state))
        x = (run.t - run.t[0]) / (run.t[-1] - run.t[0])
        rows, values = [], []
        for k in range(3):
            here = weights[k] > 0
            degrees = range(lowest, lowest + extra + 1)
            slopes = [np.polynomial.Polynomial.basis(j).deriv(k)(x[here]) for j in degrees]
            unit = (run.t[-1] - run.t[0]) ** (lowest - k)
            rows.append((np.array(slopes) * unit * weights[k, here]).T)
            values.append(run.observed[own][k, here] * weights[k, here])
        design, wanted = np.vstack(rows), np.concatenate(values)
        fitted = design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
        sse += float(np.sum((wanted - fitted) ** 2))
        n += len(wanted)
    return sse / n
