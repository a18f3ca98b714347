"""Which few laws explain a fleet, and which of them explains each record.

Each record has the laws that were fitted to it, with their evidence. Alone, a record often cannot tell its
law from others of equal size; together, records can: a law that explains many is more probable for the next
one. The laws are those of a mixture: a record costs -2 log of its evidence and of the share of its law, and
each law costs once what its form is worth as a prior. From all forms that were best somewhere, the one that
is needed least is left out, as long as that lowers the cost. A rare law would so be lost in a frequent one
that contains it; but a record does not have a law if a constant of it is zero within its error there, and
clearly not in the others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr

from gode.arrays import Bool, Float, Int
from gode.data.noise import centre
from gode.fleet.result import Fit

MOST_LAWS = 200  # At most so many laws are considered, the most frequent first, which bounds the time.
MOST_RECORDS = 5000  # The laws are chosen from so many records; all records are then assigned.
NEAR = 6.0  # A law could explain a record if -2 log of its probability is so near the best: odds of 1 to 20.
RIVALS = 10.0  # Two laws so near on one record may be confused on another: odds of 1 to 150.
ZERO = 2.0  # A constant may be zero if it is within two standard errors of it: 95 % of a normal distribution.
LEADING = 0.02  # A law is fitted to records that did not try it if it has this fraction of all records.
MOST_LEADING = 8  # At most so many laws are fitted to each other record, which bounds what settling costs.
LEVEL = 0.05  # The chance that a whole table without outliers names one.
FEWEST = 5  # Constants are compared from so many records on; fewer have no spread to speak of.


@dataclass(frozen=True)
class Grouping:
    """The laws that are needed, the most frequent first, and the law of each record."""

    laws: tuple[str, ...]
    law_of: Mapping[str, str]
    could: Mapping[str, int]  # records that each law could explain

    @property
    def sizes(self) -> dict[str, int]:
        """The number of records of each law."""
        counts = Counter(self.law_of.values())
        return {law: counts[law] for law in self.laws}


def group(fits: Mapping[str, Sequence[Fit]]) -> Grouping:
    """Return the laws behind the records, given the laws that were fitted to each."""
    if not fits:
        return Grouping((), {}, {})
    laws = _considered(fits)
    step = 1 + len(fits) // MOST_RECORDS
    some = list(fits.values())[::step]
    usual = _usual(some, laws)
    costs, prices = _costs(some, laws, usual)
    chosen = _needed(costs, prices)
    shares = _shares(_assigned(costs, chosen, np.zeros(len(laws))), len(laws))
    law_of = {}
    for name, tried in fits.items():
        row, _ = _costs([tried], laws, usual)
        place = int(_assigned(row, chosen, shares)[0])
        law_of[name] = laws[place] if np.isfinite(row[0, place]) else _best(tried).law
    counts = Counter(law_of.values())
    ordered = tuple(law for law, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
    return Grouping(ordered, law_of, _could(fits, law_of))


def to_fit(fits: Mapping[str, Sequence[Fit]], found: Grouping) -> dict[str, tuple[str, ...]]:
    """Return for each record the leading laws that were not fitted to it, but may be behind it.

    These are all of them for a record whose law is rare, and for others those that records with both laws
    can hardly tell from its own.
    """
    least = max(2, int(np.ceil(LEADING * len(fits))))
    leading = [law for law, n in found.sizes.items() if n >= least][:MOST_LEADING]
    confused = _confused(fits, set(leading))
    out = {}
    for name, record_fits in fits.items():
        law = found.law_of[name]
        likely = leading if law not in leading else [o for o in leading if (law, o) in confused]
        tried = {fit.law for fit in record_fits}
        wanted = tuple(other for other in likely if other not in tried)
        if wanted:
            out[name] = wanted
    return out


def _confused(fits: Mapping[str, Sequence[Fit]], leading: set[str]) -> set[tuple[str, str]]:
    pairs = set()
    for record_fits in fits.values():
        near = [fit.law for fit in record_fits if fit.law in leading and fit.gap <= RIVALS]
        pairs |= {(one, other) for one in near for other in near if one != other}
    return pairs


def _considered(fits: Mapping[str, Sequence[Fit]]) -> list[str]:
    """Return the laws that are best for some record, or near it for many."""
    best = Counter(_best(record_fits).law for record_fits in fits.values())
    near = Counter(fit.law for record_fits in fits.values() for fit in record_fits if fit.gap <= NEAR)
    often = [law for law, n in near.most_common(MOST_LAWS) if n >= 0.1 * len(fits)]
    ranked = [law for law, _ in best.most_common(MOST_LAWS)]
    return list(dict.fromkeys([*ranked, *often]))


def _best(record_fits: Sequence[Fit]) -> Fit:
    return min(record_fits, key=lambda fit: fit.gap)


class Usual(NamedTuple):
    """The constants of the records whose law is their own best, and how many deviations are too many."""

    middle: tuple[float, ...]
    spread: tuple[float, ...]
    limit: float

    def lacks(self, fit: Fit) -> bool:
        """Tell whether a constant is zero within its error, and clearly not in other records of the law."""
        parts = zip(fit.constants, fit.errors, self.middle, self.spread, strict=False)
        return any(
            error is not None and abs(c) <= ZERO * error and abs(c - middle) > self.limit * max(spread, error)
            for c, error, middle, spread in parts
        )


def _usual(records: Sequence[Sequence[Fit]], laws: Sequence[str]) -> dict[str, Usual]:
    """Return the usual constants of the laws that are best for enough records."""
    found: dict[str, list[tuple[float, ...]]] = {law: [] for law in laws}
    for record_fits in records:
        best = _best(record_fits)
        if best.law in found:
            found[best.law].append(best.constants)
    out = {}
    for law, rows in found.items():
        if len(rows) >= FEWEST and rows[0]:
            middle, spread = centre(np.array(rows, float))
            limit = too_far(len(records) * len(rows[0]))
            out[law] = Usual(tuple(middle.tolist()), tuple(spread.tolist()), limit)
    return out


def _costs(
    records: Sequence[Sequence[Fit]], laws: Sequence[str], usual: Mapping[str, Usual]
) -> tuple[Float, Float]:
    """Return -2 log of the evidence of each law (n, k), inf where it is none of a record, and prices (k,)."""
    places = {law: i for i, law in enumerate(laws)}
    costs, prices = np.full((len(records), len(laws)), np.inf), np.zeros(len(laws))
    for r, record_fits in enumerate(records):
        best = _best(record_fits)
        for fit in record_fits:
            i = places.get(fit.law)
            if i is not None:
                prices[i] = fit.prior
                if fit is best or fit.law not in usual or not usual[fit.law].lacks(fit):
                    costs[r, i] = min(costs[r, i], fit.gap - fit.prior)
    return costs, prices


def _needed(costs: Float, prices: Float) -> Bool:
    """Return which laws are kept when those that are not needed are left out one by one."""
    chosen = np.zeros(len(prices), bool)
    chosen[np.unique(_assigned(costs, np.ones(len(prices), bool), np.zeros(len(prices))))] = True
    costs = costs[np.isfinite(costs).any(axis=1)]
    while chosen.sum() > 1:
        shares = _shares(_assigned(costs, chosen, np.zeros(len(prices))), len(prices))
        now = _total(costs, chosen, shares, prices)
        places = np.flatnonzero(chosen).tolist()
        without = [_total(costs, _less(chosen, i), shares, prices) for i in places]
        least = int(np.argmin(without))
        if not without[least] < now:
            break
        chosen = _less(chosen, places[least])
    return chosen


def _less(chosen: Bool, place: int) -> Bool:
    out = chosen.copy()
    out[place] = False
    return out


def _total(costs: Float, chosen: Bool, shares: Float, prices: Float) -> float:
    """Return the cost of a fleet with these laws: evidence, shares, forms; inf if a record has none."""
    law_index = _assigned(costs, chosen, shares)
    evidence = costs[np.arange(len(costs)), law_index]
    counts = np.bincount(law_index, minlength=len(prices))
    used = counts[counts > 0]
    return float(evidence.sum() - 2 * np.sum(used * np.log(used / len(costs))) + prices[counts > 0].sum())


def _assigned(costs: Float, chosen: Bool, shares: Float) -> Int:
    """Return the law of each record, given what the share of each law costs."""
    return np.asarray(np.argmin(np.where(chosen, costs + shares, np.inf), axis=1))


def _shares(law_index: Int, k: int) -> Float:
    """Return -2 log of the share of each law."""
    counts = np.bincount(law_index, minlength=k)
    return np.asarray(-2 * np.log(np.maximum(counts, 0.5) / len(law_index)))


def _could(fits: Mapping[str, Sequence[Fit]], law_of: Mapping[str, str]) -> Counter[str]:
    """Count the records that have each law, or are nearly as probable with it."""
    return Counter(
        law
        for name, tried in fits.items()
        for law in {law_of[name], *(f.law for f in tried if f.gap <= NEAR)}
    )


def deviations(values: Float, errors: Float) -> Float:
    """Return how many standard deviations each value (n,) lies from the median.

    The standard deviation is that of the values, or the standard error of the value if that is larger.
    """
    middle, spread = centre(values)
    scale = np.maximum(spread, np.where(np.isfinite(errors), errors, 0.0))
    away = np.abs(values - middle)
    return np.asarray(np.divide(away, scale, out=np.where(away > 0, np.inf, 0.0), where=scale > 0))


def too_far(n_tests: int) -> float:
    """Return the number of standard deviations that is too large for chance among so many."""
    return float(-ndtri(LEVEL / 2 / max(n_tests, 1)))


class Line(NamedTuple):
    """A straight line through points, by least squares."""

    n: int
    intercept: float
    slope: float
    error: float  # standard error of the slope
    r2: float
    p: float  # probability of such a slope by chance


def line(x: Float, y: Float) -> Line | None:
    """Return the line y = intercept + slope*x; None if there are too few points or x is constant."""
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    n = len(x)
    if n < FEWEST or np.ptp(x) == 0:
        return None
    dx, dy = x - x.mean(), y - y.mean()
    sxx = float(dx @ dx)
    slope = float(dx @ dy) / sxx
    left = float(np.sum((dy - slope * dx) ** 2))
    total = float(dy @ dy)
    error = float(np.sqrt(left / (n - 2) / sxx))
    r2 = 1 - left / total if total > 0 else 0.0
    p = 2 * float(stdtr(n - 2, -abs(slope) / error)) if error > 0 else (1.0 if slope == 0 else 0.0)
    return Line(n, float(y.mean() - slope * x.mean()), slope, error, r2, p)
