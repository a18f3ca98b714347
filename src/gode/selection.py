"""Which of the fitted equations to name, and which of them the data cannot tell from it.

The criterion is -2 log of the posterior probability of an equation, up to a constant: that of the evidence
of its residuals (`gode.fitting.evidence`), as far as draws find it (`gode.fitting.posterior_draws`), less
2 log P and 2 log p. P is the prior of the structure, learned from laws that people use (`gode.prior`), p the
prior density of the constants inside terms, over that of usual ones (`gode.fitting.constant_prior`). The
equation with the least criterion is named, or the most plausible form of it (`gode.discovery.shortlist`), or
with `hold_out=` the one that foretells best what was held back (`gode.discovery.quality`).

The values count as the effective number of independent residuals of the most accurate equation: all of them
if they are white, fewer where a measurement has systematic errors that no equation follows. Constants that
each of several runs has for itself come from one population: their mean costs as much as a constant that all
runs share, and each of them log(1 + spread²/error²). Many such constants explain much by chance, so that they
also cost some standard deviations of that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gode.arrays import Float
from gode.data import Columns
from gode.equation import Equation, Law, LawSkeleton, SystemSkeleton, parse_skeleton
from gode.equation.system import make_law
from gode.equation.tree import derivative_order, is_other, variables
from gode.fitting.constant_prior import improbability_of_constants
from gode.fitting.covariance import fit_arma
from gode.fitting.evidence import Residuals, deviance
from gode.fitting.invariant_zero import law_keeps_zero
from gode.fitting.population import LARGEST, Individuals, bounded
from gode.fitting.trajectory_fit import Shot
from gode.prior import log_prior

UNUSUAL = 4.0  # -2 log of the prior odds that a constant of a system is one, or equals one in its equation
PLAIN = {1: parse_skeleton("u' = C*u"), 2: parse_skeleton("u'' = C*u")}  # whose prior is the unit


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How accuracy is weighed against complexity."""

    temperature: float = 2.0  # by which the criterion is divided for probabilities; see docs/calibration.md
    level: float = 0.9  # posterior probability that the set of near ties holds
    support: float = 10.0  # 2 log of the least Bayes factor over a constant, a line and a random walk
    chance: float = 3.0  # standard deviations of what constants of each run explain by chance
    floor: float = 1e-5  # residuals below this share of the signal are rounding
    lasting: float = 0.0  # gain of each equation that keeps zero at zero, where laws usually do
    apart: float = 2.0  # times the residuals of the law that is named: larger ones are told from it


@dataclass(frozen=True, repr=False)
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
    by_state: tuple[tuple[float, ...], ...] = ()  # `Residuals` of each state, as plain numbers
    unusual: float = 0.0  # -2 log of its prior, over that of a plain law
    own: Individuals | None = None  # constants of each run; the equation then has those of the population
    missing: float = 0.0  # -2 log of the share of its evidence that solutions about the optimum show

    def __repr__(self) -> str:
        return f"<Candidate: {'; '.join(self.equation.lines(4))}, criterion {self.criterion:.6g}>"

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
        (equation,) = self.equation.equations
        return equation

    @property
    def states(self) -> tuple[Residuals, ...]:
        """What is left of each state."""
        return tuple(Residuals(*row) for row in self.by_state) or (Residuals(self.rms**2, 1.0),)

    @property
    def complexity(self) -> int:
        """The complexity of the equation, as the paper counts it."""
        return self.equation.complexity


@dataclass(frozen=True)
class Pool:
    """All that selection looks at."""

    candidates: Sequence[Candidate]
    floor: tuple[float, ...]  # weighted residual of each state that is rounding
    # The mean squares that a constant and a line leave, and how many free numbers each has.
    polynomials: Sequence[tuple[tuple[float, ...], int]] = ()
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
    return Ranking(order, len(ties(order, config, pool.floor)), _is_supported(order[0], pool, m, config))


def judge(
    shot: Shot, floor: tuple[float, ...], config: SelectionConfig, columns: Columns
) -> Candidate | None:
    """Return the candidate of a fitted trajectory, weighed as in a search; None for a failure.

    `columns` hold the data, in whose units the constants inside terms are judged.
    """
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
        by_state=tuple(map(tuple, shot.by_state)),
        own=shot.own,
        unusual=_unusual(shot.equation, columns) - _lasting(shot.equation, config),
    )
    return weighed(found, floor, config)


def _unusual(law: Law, columns: Columns) -> float:
    """Return -2 log of the prior of a law over that of a plain one: of its terms, and constants in them."""
    others = sum(is_other(name) and not derivative_order(name) for name in columns.names)
    sought = [_of_states(each) for each in law.skeleton.sought]  # what the user knows costs nothing
    terms = sum(log_prior(each, others=others, forced="F" in columns.names) for each in sought)
    plain = sum(log_prior(PLAIN[order]) for each in sought for order in each.orders)
    return improbability_of_constants(law, columns) - 2 * (terms - plain) + UNUSUAL * _n_held(law)


def _of_states(skeleton: LawSkeleton) -> LawSkeleton:
    """Return the equations of the states that move, without formulas of what is measured."""
    if all(skeleton.orders):
        return skeleton
    pairs = zip(skeleton.states, skeleton.parts, strict=True)
    states, parts = zip(*((name, part) for name, part in pairs if part.order), strict=True)
    return SystemSkeleton(states, parts, skeleton.inputs)


def _n_held(law: Law) -> int:
    """Return how many constants of a law are held at one, or equal to another of the same equation."""
    skeleton = law.skeleton
    if skeleton.parameters:
        return 0
    factors = [t.constant for part in skeleton.parts for t in part.terms if t.body not in part.leading]
    ones = factors.count(None)
    cuts = zip(skeleton.offsets, skeleton.offsets[1:], strict=False)
    owns = [skeleton.places[first:last].tolist() for first, last in cuts]
    return ones + sum(len(own) - len(set(own)) for own in owns)


def _lasting(law: Law, config: SelectionConfig) -> float:
    """Return the gain of a law in which what is zero stays zero."""
    return config.lasting * len(law.skeleton.parts) if config.lasting and law_keeps_zero(law) else 0.0


def weighed(
    c: Candidate, floor: Sequence[float], config: SelectionConfig, m: float | None = None
) -> Candidate:
    """Return the candidate with its criterion for `m` independent values.

    It is infinite where it cannot be computed. Without `m`, as in a search, all values count, the noise is
    white, and a number costs log m alone, which is Schwarz's price: the search follows what is accurate, and
    the final ranking decides what is worth it.
    """
    if m is None:
        n = float(c.n_values)
        evidence = deviance([state.white for state in c.states], n, c.n_free, floor, None)
        criterion = evidence - _saved(c, n, config) + c.unusual
        return replace(c, criterion=criterion if np.isfinite(criterion) else np.inf)
    alone = 0 if c.own is None else c.own.values.size - len(c.own.places)  # the mean of all runs is shared
    evidence = _evidence(c.states, m, c.n_free, floor, config, alone=alone)
    criterion = evidence + _price_of_runs(c, m, config) + c.unusual + c.missing
    return replace(c, criterion=criterion if np.isfinite(criterion) else np.inf)


def _evidence(
    states: Sequence[Residuals],
    m: float,
    k: int,
    floor: Sequence[float],
    config: SelectionConfig,
    *,
    alone: int = 0,
) -> float:
    """Return -2 log of the evidence of `m` independent values with `k` fitted numbers.

    Args:
        alone: how many of these are deviations of single runs, which have a prior of their own.
    """
    return deviance(states, m, k, floor, [(x / config.floor) ** 2 for x in floor], k - alone)


def price_of_number(c: Candidate, floor: Sequence[float], config: SelectionConfig) -> float:
    """Return what one fitted number costs in the criterion, if the noise is white."""
    m = max(c.independent, 2.0)
    price = np.log(m)
    for state, least in zip(c.states, floor, strict=True):
        price += state.share * np.log(max((least / config.floor) ** 2 / max(state.square, least**2), 1.0))
    return float(price)


def _price_of_runs(c: Candidate, m: float, config: SelectionConfig) -> float:
    """Return -2 log of the prior of the constants of single runs, over the precision that the data give them.

    They come from one population of covariance T: with errors of covariance C, constants that are d from the
    mean cost log(|C + T|/|C|) + d^T (C + T)^-1 d. The mean costs as much as constants that all runs share,
    the spread log of the number of runs; so runs that do not differ gain nothing by constants of their own.
    """
    if c.own is None:
        return 0.0
    runs, places = c.own.values.shape
    scale = np.maximum(np.median(np.abs(c.own.values), axis=0), 1e-100)
    gaps = np.clip((c.own.values - np.median(c.own.values, axis=0)) / scale, -LARGEST, LARGEST)
    within = bounded(c.own.covariances / np.outer(scale, scale))
    weights, axes = np.linalg.eigh(gaps.T @ gaps / runs - np.mean(within, axis=0))
    both, turned = _eigen(within + (axes * np.maximum(weights, 0.0)) @ axes.T)
    widths = np.sum(np.log(both), axis=-1) - np.sum(np.log(_eigen(within)[0]), axis=-1)
    distances = np.sum(np.einsum("rij,ri->rj", turned, gaps) ** 2 / both, axis=-1)
    chance = config.chance * np.sqrt(2 * c.own.values.size) * m / max(m - c.n_free, 0.5)
    return float(
        places * np.log(runs) + np.sum(np.maximum(widths, 0.0) + np.maximum(distances, 0.0)) + chance
    )


def _eigen(covariances: Float) -> tuple[Float, Float]:
    """Return the variances along the axes of covariances, and the axes; none is lost to rounding."""
    variances, axes = np.linalg.eigh(covariances)
    return np.maximum(variances, 1e-12 * variances[..., -1:]), axes


def _saved(c: Candidate, m: float, config: SelectionConfig) -> float:
    """Return how much cheaper constants are that are known from one run each, less the price of chance."""
    if c.own is None:
        return 0.0
    number = c.own.values.size
    cheaper = number * (np.log(max(m, 2.0)) - np.log(max(m / len(c.own.values), 2.0)))
    return float(cheaper - config.chance * np.sqrt(2 * number) * m / max(m - c.n_free, 0.5))


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


def ties(order: Sequence[Candidate], config: SelectionConfig, floor: Sequence[float] = ()) -> list[Candidate]:
    """Return the candidates that the data cannot tell from the first, which is among them.

    They are the smallest set that holds the posterior probability `config.level`; see `probabilities`.
    """
    weights = probabilities(order, config, floor)
    places = np.argsort(-weights, kind="stable")
    n = int(np.searchsorted(np.cumsum(weights[places]), config.level)) + 1
    inside = {0, *(int(i) for i in places[:n] if weights[i] > 0)}
    return [c for i, c in enumerate(order) if i in inside]


def probabilities(order: Sequence[Candidate], config: SelectionConfig, floor: Sequence[float] = ()) -> Float:
    """Return the posterior probability of each candidate, if the law is one of them.

    That of a law whose residuals are many times those of the first is zero: correlated noise of that size
    would explain them, but the first shows that the noise is smaller.

    Args:
        floor: weighted residual of each state that is rounding.
    """
    near = [_follows_as_well(c, order[0], config, floor) for c in order]
    criteria = np.where(near, [c.criterion for c in order], np.inf)
    if not np.isfinite(criteria).any():
        return np.asarray(np.arange(len(order)) == 0, np.float64)
    weights = np.exp(-0.5 * (criteria - criteria.min()) / config.temperature)
    return np.asarray(weights / weights.sum())


def _follows_as_well(
    one: Candidate, first: Candidate, config: SelectionConfig, floor: Sequence[float]
) -> bool:
    """Tell whether a candidate follows each state about as closely as the first one does."""
    if one is first:
        return True
    if len(one.by_state) != len(first.by_state):
        return _noise_left(one, one.rms) <= config.apart * max(_noise_left(first, first.rms), *floor, 0.0)
    rows = zip(one.states, first.states, floor or (0.0,) * len(one.states), strict=True)
    return all(
        _noise_left(one, own.square**0.5) <= config.apart * max(_noise_left(first, best.square**0.5), least)
        for own, best, least in rows
    )


def _noise_left(c: Candidate, rms: float) -> float:
    """Return the noise that a law would have if it were right: fitted numbers take their share of it."""
    return rms * float(np.sqrt(c.n_values / max(c.n_values - c.n_free, 0.5 * c.n_values, 1.0)) or 1.0)


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that no other candidate beats in both accuracy and complexity, simplest first."""
    out: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.complexity, c.rms)):
        if not out or candidate.rms < out[-1].rms * (1 - 1e-6):
            out.append(candidate)
    return out


def _is_supported(best: Candidate, pool: Pool, m: float, config: SelectionConfig) -> bool:
    """Tell whether the best equation explains the data better than a constant, a line and a random walk."""
    least = config.support * len(best.equation.skeleton.parts)
    if pool.series and _gain_over_walk(best, pool.series, config) < least:
        return False
    plain = best.criterion + _lasting(best.equation, config)
    polynomial = all(variables(p.key) == {p.highest} for p in best.equation.skeleton.parts)
    for squares, k in pool.polynomials:
        if polynomial and k >= best.n_free:
            continue  # a constant rate is a line itself
        left = [Residuals(x, state.share) for x, state in zip(squares, best.states, strict=True)]
        if _evidence(left, m, k, pool.floor, config) < plain + least:
            return False
    return True


def _gain_over_walk(best: Candidate, series: Sequence[tuple[Float, Float]], config: SelectionConfig) -> float:
    """Return the gain of the equation with correlated noise about it over that noise about a level alone.

    The noise is an ARMA(1, 1) process, which can be a random walk; its two numbers are fitted to both. What
    is fitted makes the innovations smaller by chance, too, which is taken back.
    """
    alone = fit_arma([observed for observed, _ in series], levels=True)
    with_it = fit_arma([residual for _, residual in series], levels=False)
    cost = (best.n_free - len(series)) * np.log(float(alone.n)) - _saved(best, float(alone.n), config)
    cost += best.unusual + _lasting(best.equation, config)  # a preference among laws is none for a law
    n = float(alone.n)
    cost += n * np.log(max(n - len(series), 1.0) / max(n - best.n_free, 0.5))
    return float(alone.deviance - with_it.deviance - cost)
