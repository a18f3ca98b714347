"""Smoothing of the logarithm of a signal that has one sign.

Noise that is a share of the value is constant there, and a signal with bursts, such as a population with
outbreaks, changes more evenly.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data.gp import TUNING_POINTS, smooth_gp
from gode.data.runs import Run
from gode.data.smoothed import Smooth


def smooth_logarithms(parts: Sequence[tuple[Run, Float]], most: int) -> list[Smooth] | None:
    """Return one state of all runs smoothed in its logarithm, with noise that is one share of the value.

    None if it has not one sign, if a derivative was measured, or if a run has more than `most` points.

    Args:
        parts: each run and its exact initial values (2,), NaN where unknown.
    """
    signs = {s for run, _ in parts for s in np.unique(np.sign(run.observed[np.isfinite(run.observed)]))}
    alone = all(not np.isfinite(run.observed[1:]).any() and run.n_points <= most for run, _ in parts)
    if len(signs) != 1 or 0.0 in signs or not alone:
        return None
    (sign,) = signs
    found = [_smoothed(run, exact, float(sign)) for run, exact in parts]
    share = float(np.sqrt(np.mean([s.noise[0] ** 2 for s in found])))
    shares = np.array([[0.0, share], [np.nan, np.nan], [np.nan, np.nan]])
    sizes = [np.sqrt(np.mean(s.values**2, axis=1)) for s in found]
    return [
        replace(
            s,
            noise=np.array([share * size[0], np.nan, np.nan]),
            profile=np.abs(s.values) / size[:, None],
            shares=shares,
        )
        for s, size in zip(found, sizes, strict=True)
    ]


def _smoothed(run: Run, exact: Float, sign: float) -> Smooth:
    """Return one run; its evidence is that of the signal itself, in its own units."""
    known = np.full(2, np.nan)
    if sign * exact[0] > 0:
        known = np.array([np.log(sign * exact[0]), exact[1] / exact[0]])
    logarithm = np.full(run.observed.shape, np.nan)
    logarithm[0] = np.log(sign * run.observed[0])
    own = smooth_gp(replace(run, observed=logarithm), known=known)
    value, (slope, bend) = sign * np.exp(own.values[0]), own.values[1:]
    values = np.vstack([value, value * slope, value * (bend + slope**2)])
    seen = np.isfinite(logarithm[0])
    units = np.std(run.observed[0, seen]) / max(float(np.std(logarithm[0, seen])), 1e-300)
    n = min(int(seen.sum()), TUNING_POINTS)
    evidence = own.evidence + n * float(np.log(units) - np.mean(logarithm[0, seen]))
    return replace(own, values=values, deviations=np.abs(value) * own.deviations, evidence=evidence)
