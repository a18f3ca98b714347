"""Noise that is a share of the value, told by the residuals of a law where runs are short.

Eight points of a curve do not show what their noise depends on; the residuals of a law that all follow do.
The law is fitted with noise of either kind, and what is more probable counts.
"""

from collections.abc import Sequence

import numpy as np

from gode.data.noise import FLOOR, MIXED, SURE, curve_sizes, with_noise
from gode.fitting.prepare import Prepared, assemble
from gode.fitting.views import along
from gode.search.settings import Settings
from gode.search.workers import Start, Workers, constants_of
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate

SHORT = 25  # points; longer runs tell by themselves
ROUNDS = 3  # of a fit and the weights that follow from it


def reweighted(
    leaders: Sequence[Candidate], prepared: Prepared, settings: Settings
) -> tuple[Prepared, Candidate] | None:
    """Return the data with noise that is a share of the value, and the law fitted to them that tells it best.

    None if no law is much more probable so, or where the smoothed runs have told the kind of noise.
    """
    runs = prepared.whole.dataset.runs
    if max(run.n_points for run in runs) >= SHORT or len(prepared.dataset.states) > 1:
        return None
    if prepared.smooths[0].shares is not None:
        return None
    best, most = None, SURE
    for leader in leaders:
        for ratio in (FLOOR, MIXED) if len(leader.initial) == len(runs) else ():
            found = _fitted(leader, prepared, settings, ratio)
            if found is None:
                continue
            gain = 2 * (log_likelihood(found[1], found[0]) - log_likelihood(leader, prepared))
            best, most = (found, gain) if gain > most else (best, most)
    return best


def log_likelihood(found: Candidate, prepared: Prepared) -> float:
    """Return the log likelihood of a fit with the variance of its residuals, less a constant."""
    weights = np.concatenate([w[w > 0] for _, w in fitted_target(found, prepared).samples])
    return float(np.log(weights).sum() - len(weights) * np.log(max(found.rms, 1e-300)))


def _fitted(
    found: Candidate, prepared: Prepared, settings: Settings, ratio: float
) -> tuple[Prepared, Candidate] | None:
    """Return data and fit with noise of this ratio of its constant part to the share of the value."""
    own, floor = bool(settings.individual), settings.selection.floor
    here = prepared
    for _ in range(ROUNDS):
        n = len(prepared.whole.dataset.runs)
        curves = along(prepared, [found.law_of(i) for i in range(n)], found.initial)
        if curves is None:
            return None
        smooths = tuple(with_noise(curves, curve_sizes(curves), ratio))
        fitted = prepared.whole.dataset
        here = assemble(prepared.dataset, fitted, smooths, settings.order, floor, individual=own)
        initial = tuple(map(tuple, found.initial.tolist()))
        each = tuple(map(tuple, constants_of(found).tolist())) if found.own else ()
        places = found.own.places if found.own else ()
        start = Start(found.equation, whole=True, patient=True, initial=initial, each=each, own=places)
        again = Workers(here, settings).fit(start, strict=False)
        if again is None:
            return None
        found = again
    return here, found
