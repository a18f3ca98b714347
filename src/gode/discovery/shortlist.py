"""From the laws that a search solved to those that are reported: baselines, forms, and error bars.

`make_pool` drops laws without a solution along all data and adds the baselines that a law must beat,
`plainest_first` takes the most plausible of several ways to write the best one, and `with_error_bars`
replaces its covariance by one that allows for correlated residuals.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.discovery.residuals import lowest_series
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Equation
from gode.equation.system import make_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import has_pivot_one
from gode.fitting.constant_prior import improbability_of_factors, views_of
from gode.fitting.covariance import covariances
from gode.fitting.evidence import fitted_polynomials
from gode.fitting.population import population_of
from gode.fitting.posterior_draws import DRAWS, greatest_loss, missing_evidence
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target
from gode.search.settings import Settings
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate, Pool, SelectionConfig, front, rank, ties

# Two laws are one function if, along the data, the rms difference of their highest derivatives is below this
# fraction of the rms value; set by hand, well below what 1 % noise can tell apart.
SAME_FUNCTION = 0.005
# Residuals that differ from the given standard errors by more than this factor are told; set by hand.
ERRORS_OFF = 1.5
# Averages over dense samples end before the record does, so that a fit to this fraction counts as the whole.
WHOLE_RUN = 0.95


def make_pool(
    candidates: Sequence[Candidate],
    prepared: Prepared,
    target: Target,
    settings: Settings,
    *,
    drawn: bool = True,
) -> Pool:
    """Return the pool of candidates that were fitted to `target`, with polynomials and noise to beat.

    Args:
        drawn: whether there is time to look at solutions about the optimum of the best.
    """
    solvable: Sequence[Candidate] = _from_first_solvable(candidates, prepared, settings)
    solvable = _with_draws(solvable, prepared, settings) if drawn else solvable
    pool = Pool(solvable, prepared.floor, fitted_polynomials(target))
    order = rank(pool, settings.selection).candidates
    series = lowest_series(order[0], prepared, target.dataset) if order else []
    return replace(pool, series=series)


def _from_first_solvable(
    candidates: Sequence[Candidate], prepared: Prepared, settings: Settings
) -> list[Candidate]:
    """Return the ranked candidates from the first on that has a solution along all data; all if none has.

    A fit may end on the brink of an explosion, which a solver of another accuracy does not survive. And an
    equation that is solved for its highest derivative must give it: 0/0 may be anything.
    """
    order = rank(Pool(candidates, prepared.floor), settings.selection).candidates
    for i, candidate in enumerate(order):
        guided = not _is_solved_for_highest(candidate)
        scenarios = (Scenario(run.t, run=k) for k, run in enumerate(prepared.dataset.runs))
        if all(simulate(candidate, prepared, s, guided=guided).failure is None for s in scenarios):
            return order[i:]
    return order


def _with_draws(
    candidates: Sequence[Candidate], prepared: Prepared, settings: Settings
) -> Sequence[Candidate]:
    """Return the candidates, those that may be named with the evidence that draws do not find.

    They are those that lie within twice what draws may cost, and no more than half the number of draws, for
    solutions of long records take time. Laws with constants of each run are taken at their word, and so are
    all that compete with them.
    """
    if len(candidates) < 2 or any(c.own is not None for c in candidates):
        return candidates
    order = rank(Pool(candidates, prepared.floor), settings.selection).candidates
    drawn = {}
    for c in order[: DRAWS // 2]:
        if c.criterion > order[0].criterion + 2 * greatest_loss():
            break
        rng = np.random.default_rng(settings.seed)  # the same draws for laws of as many numbers
        missing = missing_evidence(
            c.equation,
            c.initial,
            fitted_target(c, prepared),
            c.independent,
            config=settings.shooting,
            rng=rng,
        )
        drawn[c.equation.skeleton.key] = missing
    return [replace(c, missing=drawn.get(c.equation.skeleton.key, 0.0)) for c in candidates]


def _is_solved_for_highest(candidate: Candidate) -> bool:
    """Tell whether all equations are written with the highest derivative alone on one side."""
    return all(has_pivot_one(part.normal, part.highest) for part in candidate.equation.skeleton.parts)


def plainest_first(
    order: Sequence[Candidate], prepared: Prepared, config: SelectionConfig
) -> list[Candidate]:
    """Return the candidates; of those that are the same function as the first, the most plausible first.

    A form in which large terms cancel, as in 25 u - 24 sin(u), is less plausible.
    """
    if not order:
        return []
    alike = same_function(order[0], ties(order, config, prepared.floor), prepared)

    def implausibility(c: Candidate) -> tuple[bool, float]:
        factors = improbability_of_factors(c.equation, prepared.columns)
        return not _is_solved_for_highest(c), c.criterion + factors

    best = min(alike, key=implausibility)
    return [best, *(c for c in order if c is not best)]


def same_function(one: Candidate, others: Sequence[Candidate], prepared: Prepared) -> list[Candidate]:
    """Return those of the others, `one` among them, that give the same highest derivatives along the data.

    Examples are u + u^3/6 and sin(u).
    """
    expected = _highest_derivatives(one, prepared)
    if expected is None:
        return [one]
    with np.errstate(over="ignore"):
        size = np.sqrt(np.mean(expected**2, axis=1, keepdims=True))
    found = []
    for other in others:
        values = expected if other is one else _highest_derivatives(other, prepared)
        if values is None or values.shape != expected.shape:
            continue
        with np.errstate(over="ignore"):  # A law that is far off may give values whose squares are infinite.
            gap = np.sqrt(np.mean((values - expected) ** 2, axis=1, keepdims=True))
        if np.all(gap <= SAME_FUNCTION * size):
            found.append(other)
    return found or [one]


def _highest_derivatives(candidate: Candidate, prepared: Prepared) -> Float | None:
    """Return the highest derivative of each state (d, n) along the data; None where it is implicit."""
    rows = []
    for equation, names, x in views_of(candidate.equation, prepared.columns):
        values = _right_side(equation, names, x)
        if values is None or not np.isfinite(values).all():
            return None
        rows.append(values)
    return np.array(rows)


def _right_side(equation: Equation, names: tuple[str, ...], x: Float) -> Float | None:
    terms = equation.skeleton.rhs_terms
    if terms is None:
        return None
    tape = compile_tape(list(terms), names, len(equation.constants))
    with np.errstate(all="ignore"):
        return evaluate(tape, equation.constants, x).value


def with_error_bars(order: Sequence[Candidate], prepared: Prepared, settings: Settings) -> list[Candidate]:
    """Return the candidates, those that may be shown with error bars for correlated residuals.

    During the search the correlation enters only by the number of independent values, which is faster.
    """
    shown = {id(c) for c in [*ties(order, settings.selection, prepared.floor), *front(order)]}
    return [_with_error_bars(c, prepared, settings) if id(c) in shown else c for c in order]


def _with_error_bars(candidate: Candidate, prepared: Prepared, settings: Settings) -> Candidate:
    """Return a candidate with error bars; of individual runs, with those of each and the mean of all."""
    law, individuals, target = candidate.equation, candidate.own, fitted_target(candidate, prepared)
    found = covariances(law, individuals, candidate.initial, target, config=settings.shooting)
    if found is None:
        return candidate
    if individuals is None:
        return replace(candidate, covariance=found.shared)
    places = list(individuals.places)
    within = np.array([covariance[np.ix_(places, places)] for covariance in found.runs])
    individuals = replace(individuals, covariances=within)
    population = population_of(individuals.values, within)
    constants = np.array(law.constants)
    constants[places] = population.mean
    covariance = np.zeros_like(candidate.covariance)
    of_all_runs = [i for i in range(len(constants)) if i not in places]
    covariance[np.ix_(of_all_runs, of_all_runs)] = found.shared
    covariance[np.ix_(places, places)] = population.covariance
    law = make_law(law.skeleton, constants)
    return replace(candidate, equation=law, covariance=covariance, own=individuals)


def remark_on_errors(candidate: Candidate, prepared: Prepared) -> list[str]:
    """Return a sentence on standard errors that were given and are far from the residuals of a law.

    The root mean square of residuals over standard errors, with one number less for each that was fitted, is
    about 1 where both are right.
    """
    squares, n = 0.0, 0
    for i, run in enumerate(prepared.whole.dataset.runs):
        if run.sd is not None:
            path = simulate(candidate, prepared, Scenario(run.t, run=i))
            rest = ((run.observed - path.values) / run.sd * run.roots)[np.isfinite(run.sd)]
            squares += float(np.sum(rest**2))
            n += len(rest)
    ratio = np.sqrt(squares / max(n - candidate.n_free, 1))
    if not n or not np.isfinite(ratio) or 1 / ERRORS_OFF < ratio < ERRORS_OFF:
        return []
    why = "too small, or the law misses something" if ratio > 1 else "too large"
    return [f"the residuals are {ratio:.2g} times the standard errors that were given: these are {why}"]


def remark_on_part(candidate: Candidate, prepared: Prepared) -> list[str]:
    """Return a sentence on the part of the records to which a law was fitted, where it is not all of them."""
    pairs = zip(prepared.target.dataset.runs, prepared.whole.dataset.runs, strict=False)
    fractions = [np.ptp(part.t) / np.ptp(run.t) for part, run in pairs]
    if candidate.whole or not fractions or min(fractions) > WHOLE_RUN:
        return []
    part, whole = prepared.target.dataset.runs[0], prepared.whole.dataset.runs[0]
    where = f"its first part, up to t = {part.t[-1]:.4g} of {whole.t[-1]:.4g}"
    if len(fractions) > 1:
        where = f"the first part of each run, {100 * min(fractions):.0f} % of it or more"
    return [f"no law that was tried can be followed along the whole record, so it was fitted to {where}"]
