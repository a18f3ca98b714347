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

from gode.arrays import Bool, Float, Int
from gode.fleet.result import Fit
from gode.fleet.statistics import FEWEST, centre, too_far

MOST_LAWS = 200  # that are considered, the most frequent first
MOST_RECORDS = 5000  # from which the laws are chosen; all are then assigned
NEAR = 6.0  # gap (odds of 1 to 20) up to which a law could explain a record
RIVALS = 10.0  # gap of two laws on one record up to which another record may confuse them
ZERO = 2.0  # standard errors within which a constant may be zero
LEADING = 0.02  # share of the records from which on a law is worth fitting to others
MOST_LEADING = 8


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
    for name, own in fits.items():
        row, _ = _costs([own], laws, usual)
        place = int(_assigned(row, chosen, shares)[0])
        law_of[name] = laws[place] if np.isfinite(row[0, place]) else _best(own).law
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
    for name, own in fits.items():
        law, known = found.law_of[name], {fit.law for fit in own}
        tried = leading if law not in leading else [o for o in leading if (law, o) in confused]
        wanted = tuple(other for other in tried if other not in known)
        if wanted:
            out[name] = wanted
    return out


def _confused(fits: Mapping[str, Sequence[Fit]], leading: set[str]) -> set[tuple[str, str]]:
    pairs = set()
    for own in fits.values():
        near = [fit.law for fit in own if fit.law in leading and fit.gap <= RIVALS]
        pairs |= {(one, other) for one in near for other in near if one != other}
    return pairs


def _considered(fits: Mapping[str, Sequence[Fit]]) -> list[str]:
    """Return the laws that are best for some record, or near it for many."""
    best = Counter(_best(own).law for own in fits.values())
    near = Counter(fit.law for own in fits.values() for fit in own if fit.gap <= NEAR)
    often = [law for law, n in near.most_common(MOST_LAWS) if n >= 0.1 * len(fits)]
    ranked = [law for law, _ in best.most_common(MOST_LAWS)]
    return list(dict.fromkeys([*ranked, *often]))


def _best(own: Sequence[Fit]) -> Fit:
    return min(own, key=lambda fit: fit.gap)


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
    for own in records:
        best = _best(own)
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
    for r, own in enumerate(records):
        best = _best(own)
        for fit in own:
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
    known = np.isfinite(costs).any(axis=1)
    costs = costs[known]
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
    own = _assigned(costs, chosen, shares)
    evidence = costs[np.arange(len(costs)), own]
    counts = np.bincount(own, minlength=len(prices))
    used = counts[counts > 0]
    return float(evidence.sum() - 2 * np.sum(used * np.log(used / len(costs))) + prices[counts > 0].sum())


def _assigned(costs: Float, chosen: Bool, shares: Float) -> Int:
    """Return the law of each record, given what the share of each law costs."""
    return np.asarray(np.argmin(np.where(chosen, costs + shares, np.inf), axis=1))


def _shares(own: Int, k: int) -> Float:
    """Return -2 log of the share of each law."""
    counts = np.bincount(own, minlength=k)
    return np.asarray(-2 * np.log(np.maximum(counts, 0.5) / len(own)))


def _could(fits: Mapping[str, Sequence[Fit]], law_of: Mapping[str, str]) -> Counter[str]:
    """Count the records that have each law, or are nearly as probable with it."""
    return Counter(
        law for name, own in fits.items() for law in {law_of[name], *(f.law for f in own if f.gap <= NEAR)}
    )
