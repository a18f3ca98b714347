"""How likely each equation that may be shown is if the noise is correlated, for bands of prediction.

An equation with many terms can follow correlated noise, which white residuals then seem to confirm. With an
ARMA(1, 1) process as noise, a plain equation with correlated residuals competes with it on equal terms.
"""

from collections.abc import Sequence

import numpy as np

from gode.discovery.residuals import channels
from gode.fitting.correlated import fit_arma
from gode.fitting.prepare import Prepared
from gode.selection import Candidate, SelectionConfig, improbability, occam

MAX_RIVALS = 30  # that are with_weights, besides the equation that is named
HOPELESS = 1e9  # the criterion of an equation that has no solution along the data
NEGLIGIBLE = 1e-3  # weights below this are left out


def with_weights(
    named: Candidate, others: Sequence[Candidate], prepared: Prepared, config: SelectionConfig
) -> list[tuple[Candidate, float]]:
    """Return the others with their weights; with that of the equation that is named, the sum is one."""
    chosen = [named, *others[:MAX_RIVALS]]
    scores = np.array([_criterion(candidate, prepared, config) for candidate in chosen])
    weights = np.exp(-0.5 * (scores - scores.min()) / config.temperature)
    weights /= weights.sum()
    pairs = zip(chosen[1:], weights[1:].tolist(), strict=True)
    return [(c, weight) for c, weight in pairs if weight > NEGLIGIBLE]


def _criterion(candidate: Candidate, prepared: Prepared, config: SelectionConfig) -> float:
    """Return the criterion under correlated noise: deviance, fitted numbers, prior of the equation."""
    found = channels(candidate, prepared, prepared.whole.dataset)
    series = [s.weighted / channel.smoothed_noise for channel in found for s in channel.series]
    n = sum(len(y) for y in series)
    if n < sum(int(np.isfinite(run.observed).sum()) for run in prepared.whole.dataset.runs):
        return HOPELESS  # no solution along all of the data
    noise = fit_arma(series, levels=False)
    signal = float(np.mean([(least / config.floor) ** 2 for least in prepared.floor]))
    price = candidate.n_free * occam(n, max(noise.variance, 1e-12), signal)
    return noise.deviance + price + improbability(candidate, config)
