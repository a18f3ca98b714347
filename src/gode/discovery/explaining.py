"""What is added once equations are found: error bars, and the likely causes of a fit that is not good."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.choices import Preset
from gode.discovery.causes import (
    CLEARLY,
    LEFT,
    UNMEASURED,
    best_rival,
    delayed_state,
    helpful_columns,
    nothing_helps,
    told,
    tried,
)
from gode.discovery.quality import Quality, Verdict
from gode.discovery.result import Discovery
from gode.equation.system import make_law
from gode.fitting.covariance import covariances
from gode.fitting.individuals import population_of
from gode.fitting.prepare import Prepared
from gode.search.settings import Settings
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate, front, ties

FOLLOWED = 0.95  # share of a run above which it counts as all of it: averages end before it


def with_causes(
    found: Discovery,
    second_order: Callable[[Settings], Discovery | None] | None = None,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Discovery:
    """Return the discovery with the likely causes of a fit that is not good.

    Args:
        second_order: finds an equation of second order behind the same data, if that can be tried.
        may_go_on: whether there is time left to try remedies.
    """
    if _is_cut_short(found) or not _asks_for_causes(found.quality):
        return found
    remedies = tried(found.candidates[0], found.prepared, found.settings, found.quality.misfit, may_go_on)
    causes = told(remedies, best_rival(found.candidates))
    if not causes:
        other = second_order(found.settings) if second_order and may_go_on() else None
        if other is not None and _is_better(other.quality, found.quality):
            causes.append(
                f"an equation of second order leaves {other.quality.misfit:.2g} times the noise: --order 2"
            )
        else:
            causes += delayed_state(found.prepared)
    if not causes and found.quality.verdict.is_failure and may_go_on():
        causes.append(nothing_helps(remedies))
    return replace(found, causes=tuple(causes))


def with_helpful_columns(found: Discovery, others: Mapping[str, Sequence[Float]]) -> Discovery:
    """Return the discovery; if it is not good, with the columns, one array a run, that would help it."""
    if not others or _is_cut_short(found) or not _asks_for_causes(found.quality):
        return found
    helpful = tuple(helpful_columns(found.candidates[0], found.prepared, found.settings, others))
    kept = tuple(cause for cause in found.causes if not helpful or not cause.endswith(UNMEASURED))
    return replace(found, causes=(*kept, *helpful))


def _asks_for_causes(quality: Quality) -> bool:
    return quality.verdict is not Verdict.GOOD and quality.misfit > LEFT


def _is_cut_short(found: Discovery) -> bool:
    return found.interrupted or found.timed_out or found.settings.preset == Preset.PAPER


def _is_better(one: Quality, other: Quality) -> bool:
    white = one.verdict is Verdict.GOOD and other.verdict is not Verdict.GOOD
    return one.supported and (white or one.misfit < CLEARLY * other.misfit)


def part_followed(candidate: Candidate, prepared: Prepared) -> list[str]:
    """Return a sentence on the part of the records to which a law was fitted, where it is not all of them."""
    pairs = zip(prepared.target.dataset.runs, prepared.whole.dataset.runs, strict=False)
    shares = [np.ptp(part.t) / np.ptp(run.t) for part, run in pairs]
    if candidate.whole or not shares or min(shares) > FOLLOWED:
        return []
    part, whole = prepared.target.dataset.runs[0], prepared.whole.dataset.runs[0]
    where = f"its first part, up to t = {part.t[-1]:.4g} of {whole.t[-1]:.4g}"
    if len(shares) > 1:
        where = f"the first part of each run, {100 * min(shares):.0f} % of it or more"
    return [f"no law that was tried can be followed along the whole record, so it was fitted to {where}"]


def with_error_bars(order: Sequence[Candidate], prepared: Prepared, settings: Settings) -> list[Candidate]:
    """Return the candidates, those that may be shown with error bars for correlated residuals.

    During the search the correlation enters only by the number of independent values, which is faster.
    """
    shown = {id(c) for c in [*ties(order, settings.selection, prepared.floor), *front(order)]}
    return [_with_bars(c, prepared, settings) if id(c) in shown else c for c in order]


def _with_bars(candidate: Candidate, prepared: Prepared, settings: Settings) -> Candidate:
    """Return a candidate with error bars of each run, and the law of the population's mean."""
    law, own, target = candidate.equation, candidate.own, fitted_target(candidate, prepared)
    found = covariances(law, own, candidate.initial, target, config=settings.shooting)
    if found is None:
        return candidate
    if own is None:
        return replace(candidate, covariance=found.shared)
    places = list(own.places)
    own = replace(own, covariances=np.array([c[np.ix_(places, places)] for c in found.runs]))
    everyone = population_of(own.values, own.covariances)
    constants, covariance = np.array(law.constants), np.zeros_like(candidate.covariance)
    shared = [i for i in range(len(constants)) if i not in places]
    constants[places] = everyone.mean
    covariance[np.ix_(shared, shared)] = found.shared
    covariance[np.ix_(places, places)] = everyone.covariance
    return replace(candidate, equation=make_law(law.skeleton, constants), covariance=covariance, own=own)
