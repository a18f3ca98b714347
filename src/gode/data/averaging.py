"""Dense records: neighbouring samples averaged as far as the cycles of the signal allow.

What counts is the number of cycles, not of samples: a slow signal that was sampled a million times holds no
more than its averages do, and a fit to them uses all of the record.
"""

from dataclasses import replace

import numpy as np

from gode.arrays import Float, Int
from gode.data.runs import Run, cycles


def averaged(run: Run, points: int, per_cycle: int) -> Run:
    """Return `run` with at least `points` and `per_cycle` values a cycle left, if it has twice as many."""
    return stride_averaged(run, int(run.n_points // max(points, per_cycle * cycles(run))))


def stride_averaged(run: Run, stride: int) -> Run:
    """Return the run with each `stride` neighbouring samples averaged; the first time stays, unobserved.

    An average over a short time differs from the value in its middle by half the second derivative times
    the variance of the times, which is taken off again. Sampled inputs keep all of their samples.
    """
    if stride < 2:
        return run
    n_bins = run.n_points // stride
    edges = stride * np.arange(n_bins)  # the last one also takes the samples left over
    count = np.diff(np.append(edges, run.n_points))
    t = np.add.reduceat(run.t, edges) / count
    wide = np.add.reduceat((run.t - np.repeat(t, count)) ** 2, edges) / count
    observed = np.vstack([_means(row, run.t, edges, t, wide) for row in run.observed])
    gap = np.full((3, 1), np.nan)
    return replace(
        run,
        t=np.append(run.t[0], t),
        observed=np.hstack([gap, observed]),
        inputs=run.signals,
        stride=stride * run.stride,
    )


def _means(row: Float, times: Float, edges: Int, t: Float, wide: Float) -> Float:
    """Return the averages of one channel at the times `t`, NaN where nothing was observed."""
    seen = np.isfinite(row)
    there = np.add.reduceat(seen.astype(float), edges)
    some = there > 0
    if some.sum() < 3:
        return np.full(len(edges), np.nan)
    total = np.add.reduceat(np.where(seen, row, 0.0), edges)
    mean = np.full(len(edges), np.nan)
    mean[some] = total[some] / there[some]
    at = np.add.reduceat(np.where(seen, times, 0.0), edges)[some] / there[some]
    slope = np.gradient(mean[some], at)
    mean[some] -= slope * (at - t[some]) + 0.5 * np.gradient(slope, at) * wide[some]
    return mean
