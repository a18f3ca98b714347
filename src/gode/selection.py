"""Candidates -> ranking: an information criterion on the trajectory, the front, near ties.

The criterion is m log(SSE/n) + k log m + 2 k (k + 1)/(m - k - 1) + a price for what is far-fetched, where k
counts the fitted numbers and m the independent values: what the most accurate equations leave over is
white for simulated noise (m = n) and drifts slowly in most measurements, where a thousand samples may be
worth fifty. Where they are worth clearly less than their number, no equation tells all, and one that cannot
forecast the rest of a record from its first part is left out. Elsewhere what the smoothing knows of the
highest derivative counts as one more value, with the long tails of Cauchy's law.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.equation import Equation
from gode.equation.tree import ONE, burden
from gode.fitting.correlated import fit_arma
from gode.fitting.shooting import ShootConfig, Shot, forecast
from gode.fitting.target import Target

ACCURATE = 1.3  # times the least error: what counts as accurate
CONTESTANTS = 8  # equations whose forecasts are tried, from the top and from the front
WORST = 50.0  # squared distance from the smoothed derivative, in its deviations, beyond which all is one
TRAINED = 0.6  # share of the records from which the rest is forecast


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How accuracy is weighed against complexity."""

    operation_price: float = 2.0
    constant_price: float = 1.0  # of each fitted number: its term was one of many that might have been taken
    mention: float = 2.0  # differences below this are not worth a mention: the simplest equation is first
    tie: float = 7.0  # candidates this close to the best cannot be told apart by these data
    caution: float = 4.0  # units of the criterion for each factor e of the error to expect of a near tie
    slight: float = 0.02  # errors to expect that nobody minds
    support: float = 10.0  # by how much an equation must beat a constant and a straight line
    floor: float = 1e-5  # errors below this share of the signal are as good as none


@dataclass(frozen=True)
class Candidate:
    """An equation fitted to the trajectory, with what is needed to rank and report it."""

    equation: Equation
    initial: Float  # (runs, order)
    errors: Float  # standard errors of the constants
    covariance: Float
    rms: float  # of the weighted residuals: 1 is the noise
    complexity: int
    criterion: float
    n_values: int = 0
    n_free: int = 0
    independent: float = 0.0  # values that its residuals are worth
    floor: float = 0.0  # weighted residual that counts as none
    price: float = 0.0
    forecast: float = np.nan  # root mean square error of what was not fitted, where it was asked for


def judge(shot: Shot, floor: float, config: SelectionConfig) -> Candidate | None:
    """Return the candidate of a fitted trajectory, as if its residuals were white; None for a failure."""
    if shot.equation is None or not np.isfinite(shot.sse):
        return None
    errors = np.sqrt(np.maximum(np.diag(shot.covariance), 0.0))
    candidate = Candidate(
        shot.equation,
        shot.initial,
        errors,
        shot.covariance,
        float(np.sqrt(shot.sse / shot.n_values)),
        shot.equation.complexity,
        np.inf,
        n_values=shot.n_values,
        n_free=shot.n_free,
        independent=shot.independent,
        floor=floor,
        price=_price(shot, config),
    )
    return _weighed(candidate, float(shot.n_values))


def _price(shot: Shot, config: SelectionConfig) -> float:
    """Return what is paid for operations and fitted numbers; a factor of just one costs as much as any."""
    fixed = [t for t in shot.skeleton.terms if t.constant is None and t.body != ONE]
    ones = max(len(fixed) - 1, 0)  # besides the pivot
    unseen = max(sum(t.multiplier == 1 for t in fixed) - 1, 0)  # products that are not written
    operations = burden(shot.skeleton.normal) + unseen
    return config.operation_price * operations + config.constant_price * (shot.n_free + ones)


def _weighed(c: Candidate, independent: float) -> Candidate:
    """Return the candidate with its criterion for this number of independent values."""
    k, m = c.n_free, independent
    spare = max(m - k - 1, 0.5)
    criterion = (
        m * np.log(c.rms**2 + c.floor**2) + k * np.log(max(m, 2.0)) + 2 * k * (k + 1) / spare + c.price
    )
    return replace(c, criterion=float(criterion))


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the best first by our criterion; each equation once."""
    independent = _independent(candidates) if candidates else 0.0
    return in_order([_weighed(c, independent) for c in candidates])


def _independent(candidates: Sequence[Candidate]) -> float:
    """Return how many independent values the data hold: as many as some accurate equation leaves over."""
    least = min(c.rms for c in candidates)
    return max(c.independent for c in candidates if c.rms <= ACCURATE * least)


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the best first by the criterion they have; each equation once."""
    best: dict[object, Candidate] = {}
    for candidate in candidates:
        key = candidate.equation.skeleton
        if key not in best or candidate.criterion < best[key].criterion:
            best[key] = candidate
    return sorted(best.values(), key=lambda c: (c.criterion, c.complexity, c.equation.skeleton.key))


def headline_first(
    order: Sequence[Candidate],
    config: SelectionConfig,
    risks: Callable[[Sequence[Candidate]], Float],
    tuning: Callable[[Candidate], float],
) -> list[Candidate]:
    """Return the candidates with the one to name first, which is a near tie of the best.

    A near tie that may be far off if another one is true must be the more likely for it. Of those that
    differ from the best in this sense by next to nothing the simplest is named, of equally simple ones the
    one whose constants need the least `tuning`, in powers of two.

    Args:
        risks: the errors to expect of near ties.
    """
    tied = ties(order, config)
    risk = risks(tied) if len(tied) > 1 else np.zeros(1)
    stakes = [
        c.criterion + config.caution * np.log(r + config.slight) for c, r in zip(tied, risk, strict=True)
    ]
    near = [c for c, stake in zip(tied, stakes, strict=True) if stake <= min(stakes) + config.mention]
    simplest = [c for c in near if c.price == min(c.price for c in near)]
    first = min(simplest, key=lambda c: np.floor(np.log2(tuning(c)))) if len(simplest) > 1 else simplest[0]
    return [first, *(c for c in order if c is not first)]


def is_misfit(order: Sequence[Candidate]) -> bool:
    """Tell whether even the most accurate candidates leave more than noise."""
    best = order[0]
    return _independent(order) < 0.6 * best.n_values and best.rms > 3 * best.floor


def by_forecast(order: Sequence[Candidate], target: Target, config: ShootConfig) -> list[Candidate]:
    """Return the best of the candidates that can forecast, with their errors; all of them if none can."""
    chosen = {id(c): c for c in [*order[:CONTESTANTS], *front(order)[-CONTESTANTS:]]}
    judged = [
        replace(c, forecast=forecast(c.equation, c.initial, target, TRAINED, config=config))
        for c in chosen.values()
    ]
    return ranked([c for c in judged if np.isfinite(c.forecast)]) or list(order)


def by_smoothness(order: Sequence[Candidate], strain: Callable[[Candidate], float]) -> list[Candidate]:
    """Return the candidates ranked with regard to how far their highest derivative is from the smoothed one.

    Many equations pass through noisy samples equally well and differ in how they bend between them.

    Args:
        strain: the mean squared distance of a candidate, in standard deviations of the smoothed
            derivative, up to `WORST`.
    """
    most = 2 * np.log1p(WORST)
    reach = order[0].criterion + most  # beyond it none can come first
    prices = [2 * np.log1p(strain(c)) if c.criterion <= reach else most for c in order]
    pairs = zip(order, prices, strict=True)
    return in_order([replace(c, criterion=c.criterion + float(price)) for c, price in pairs])


def is_supported(
    order: Sequence[Candidate],
    target: Target,
    config: SelectionConfig,
    left: Sequence[tuple[Float, Float]] = (),
) -> bool:
    """Tell whether the best equation explains the data better than a constant, a line or a random walk.

    Args:
        left: what was observed in the lowest channel of each run, and the residuals of the best equation.
    """
    best = order[0]
    if left and not _beats_random_walk(best, config, left):
        return False
    for extra in (0, 1):
        sse, k = _polynomial(target, extra)
        plain = replace(best, rms=float(np.sqrt(sse / best.n_values)), n_free=k, price=0.0, forecast=np.nan)
        if _weighed(plain, _independent(order)).criterion < best.criterion + config.support:
            return False
    return True


def _beats_random_walk(best: Candidate, config: SelectionConfig, left: Sequence[tuple[Float, Float]]) -> bool:
    """Tell whether the equation with correlated noise about it beats that noise about a level alone.

    The noise is an ARMA(1, 1) process, which can be a random walk; its two numbers are fitted to both.
    """
    alone = fit_arma([observed for observed, _ in left], levels=True)
    with_it = fit_arma([residual for _, residual in left], levels=False)
    cost = (best.n_free - len(left)) * np.log(float(alone.n)) + best.price
    return bool(alone.deviance - with_it.deviance - cost >= config.support)


def _polynomial(target: Target, extra: int) -> tuple[float, int]:
    """Return the squared error and the free numbers of a polynomial u(t) in every run.

    It has just the degree that makes the lowest observed channel a constant, or `extra` more.
    """
    sse, free = 0.0, 0
    for run in target.dataset.runs:
        seen = np.isfinite(run.observed)
        lowest = int(np.flatnonzero(seen.any(axis=1))[0])
        x = (run.t - run.t[0]) / (run.t[-1] - run.t[0])
        rows, values = [], []
        for i in range(3):
            here = seen[i]
            weight = target.weights[i] * run.roots[here]
            slopes = [
                np.polynomial.Polynomial.basis(j).deriv(i)(x[here]) for j in range(lowest, lowest + extra + 1)
            ]
            unit = (run.t[-1] - run.t[0]) ** (lowest - i)
            rows.append((np.array(slopes) * unit * weight).T)
            values.append(run.observed[i, here] * weight)
        design, wanted = np.vstack(rows), np.concatenate(values)
        fitted = design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
        sse += float(np.sum((wanted - fitted) ** 2))
        free += extra + 1
    return sse, free


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that no other candidate beats in both accuracy and complexity, simplest first."""
    out: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.complexity, c.rms)):
        if not out or candidate.rms < out[-1].rms * (1 - 1e-6):
            out.append(candidate)
    return out


def ties(order: Sequence[Candidate], config: SelectionConfig) -> list[Candidate]:
    """Return the candidates that the data cannot tell from the best one, which is among them."""
    least = min(c.criterion for c in order)
    return [c for c in order if c.criterion <= least + config.tie]
