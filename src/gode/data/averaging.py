"""Dense records: averages over neighbouring samples, as many as the cycles of the signal allow.

A slow signal that is sampled a million times carries no more information than its averages do, and a fit to
these uses the whole record.
"""

from dataclasses import replace

import numpy as np

from gode.arrays import Float, Int
from gode.data.runs import Run, most_cycles

SPARSE = 4.0  # times the median width: the samples of a wider bin are not averaged


def averaged(run: Run, points: int, per_cycle: int) -> Run:
    """Return `run` averaged to no fewer than `points` values in all and `per_cycle` values per cycle."""
    if run.n_points < 2 * points:
        return run
    return stride_averaged(run, int(run.n_points // max(points, per_cycle * most_cycles(run))))


def stride_averaged(run: Run, stride: int) -> Run:
    """Return the run with every `stride` neighbouring samples averaged; the initial time is kept, unobserved.

    The mean over a short interval differs from the value at its centre by half the second derivative times
    the variance of the times; this bias is subtracted. Sparse samples and those of inputs are not averaged.
    """
    if stride < 2:
        return run
    edges = _edges(run.t, stride)
    count = np.diff(np.append(edges, run.n_points))
    t = np.add.reduceat(run.t, edges) / count
    variance = np.add.reduceat((run.t - np.repeat(t, count)) ** 2, edges) / count
    observed = np.vstack([_means(row, run.t, edges, t, variance) for row in run.observed])
    total = np.add.reduceat(run.roots**2, edges)
    first = 1 if count[0] > 1 else 0  # the initial time, at which initial values hold
    return replace(
        run,
        t=np.append(run.t[:first], t),
        observed=np.hstack([np.full((len(observed), first), np.nan), observed]),
        inputs=run.signals,
        counts=np.append(np.ones(first), total),
    )


def _edges(t: Float, stride: int) -> Int:
    """Return where each bin of samples begins; sparse samples, and those beside a gap, are bins of one."""
    edges = stride * np.arange(len(t) // stride)  # the last bin takes the remainder, too
    ends = np.append(edges[1:], len(t)) - 1
    width = t[ends] - t[edges]
    sparse = width > SPARSE * np.median(width)
    alone = [np.arange(a, b + 1) for a, b in zip(edges[sparse], ends[sparse], strict=True)]
    return np.unique(np.concatenate([edges, *alone]))


def _means(row: Float, times: Float, edges: Int, t: Float, variance: Float) -> Float:
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
    mean[some] -= slope * (at - t[some]) + 0.5 * np.gradient(slope, at) * variance[some]
    return mean
