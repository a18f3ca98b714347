"""Dense records: neighbouring samples averaged as far as the cycles of the signal allow.

What counts is the number of cycles, not of samples: a slow signal that was sampled a million times holds no
more than its averages do, and a fit to them uses all of the record.
"""

from dataclasses import replace

import numpy as np

from gode.arrays import Float, Int
from gode.data.runs import Run, most_cycles

SPARSE = 4.0  # times the usual width of a bin, beyond which its samples are left alone


def averaged(run: Run, points: int, per_cycle: int) -> Run:
    """Return `run` with at least `points` and `per_cycle` values a cycle left, if it has twice as many."""
    if run.n_points < 2 * points:
        return run
    return stride_averaged(run, int(run.n_points // max(points, per_cycle * most_cycles(run))))


def stride_averaged(run: Run, stride: int) -> Run:
    """Return the run with each `stride` neighbouring samples averaged; the first time stays, unobserved.

    An average over a short time differs from the value in its middle by half the second derivative times
    the variance of the times, which is taken off again. Where samples are sparse they stay as they are.
    Sampled inputs keep all of their samples.
    """
    if stride < 2:
        return run
    edges = _edges(run.t, stride)
    count = np.diff(np.append(edges, run.n_points))
    t = np.add.reduceat(run.t, edges) / count
    wide = np.add.reduceat((run.t - np.repeat(t, count)) ** 2, edges) / count
    observed = np.vstack([_means(row, run.t, edges, t, wide) for row in run.observed])
    total = np.add.reduceat(run.roots**2, edges)
    first = 1 if count[0] > 1 else 0  # a start that was averaged is a time, not a sample
    return replace(
        run,
        t=np.append(run.t[:first], t),
        observed=np.hstack([np.full((3, first), np.nan), observed]),
        inputs=run.signals,
        counts=np.append(np.ones(first), total),
    )


def _edges(t: Float, stride: int) -> Int:
    """Return where each bin of samples begins; samples beside a gap, or sparse ones, have their own."""
    edges = stride * np.arange(len(t) // stride)  # the last one also takes the samples left over
    ends = np.append(edges[1:], len(t)) - 1
    width = t[ends] - t[edges]
    sparse = width > SPARSE * np.median(width)
    alone = [np.arange(a, b + 1) for a, b in zip(edges[sparse], ends[sparse], strict=True)]
    return np.unique(np.concatenate([edges, *alone]))


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
