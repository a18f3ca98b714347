"""Outliers: single readings far from the smoothed curve, which is drawn again without them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Bool, Float
from gode.data.runs import Dataset
from gode.data.smoothed import Smooth

FAR = 6.0  # robust standard deviations; of a thousand normal readings one in a million lies there
NEAR = 4.0  # the same of a neighbour: then it is a jump or a peak, which the curve rounds off
FEW = 0.1  # share of the readings of a channel; more are no outliers but another kind of noise
ADJACENT = 2  # outliers in a row; more are a feature of the signal that the curve does not follow
AGAIN = 3  # times that curves are drawn, while other readings are far from them
LEAST = 12  # readings of a channel, below which nothing is said
SMALLEST = 1e-3  # scatter that counts, as a share of the standard deviation of the signal


def smoothed_without_outliers(
    dataset: Dataset, smooth: Callable[[Dataset], tuple[Smooth, ...]]
) -> tuple[Smooth, ...]:
    """Return the smoothed runs, smoothed again without what is far from the curves."""
    smooths, before = smooth(dataset), dataset
    for _ in range(AGAIN):
        fewer = without_outliers(dataset, smooths)
        pairs = zip(fewer.runs, before.runs, strict=True)
        if all(np.array_equal(a.observed, b.observed, equal_nan=True) for a, b in pairs):
            break
        smooths, before = smooth(fewer), fewer
    return smooths


def without_outliers(dataset: Dataset, smooths: Sequence[Smooth]) -> Dataset:
    """Return the data with what is far from the smoothed curves as not measured."""
    marks = [outliers(run.observed, s) for run, s in zip(dataset.runs, smooths, strict=True)]
    if not any(mark.any() for mark in marks):
        return dataset
    pairs = zip(dataset.runs, marks, strict=True)
    runs = [replace(run, observed=np.where(mark, np.nan, run.observed)) for run, mark in pairs]
    return replace(dataset, runs=tuple(runs))


def outliers(observed: Float, smooth: Smooth) -> Bool:
    """Return which readings (channels, n) of a run are outliers."""
    out = np.zeros(observed.shape, bool)
    for i, (row, curve) in enumerate(zip(observed, smooth.values, strict=True)):
        seen = np.flatnonzero(np.isfinite(row))
        if len(seen) < LEAST:
            continue
        rest = row[seen] - curve[seen]
        if smooth.shares is not None:  # noise that grows with the value
            relative = smooth.sigma[i, seen]
            rest = rest / (relative / np.median(relative))
        scatter = 1.4826 * float(np.median(np.abs(rest)))
        far = np.abs(rest) > FAR * max(scatter, SMALLEST * float(np.std(curve[seen])))
        jump = far[1:] & far[:-1] & (rest[1:] * rest[:-1] < 0)  # with the curve in between
        feature = _beside(~far & (np.abs(rest) > NEAR * scatter)) | _beside(_beside(np.append(jump, False)))
        far &= ~feature
        if far.any() and far.sum() <= max(FEW * len(seen), 1) and _longest(far) <= ADJACENT:
            out[i, seen] = far
    return out


def _beside(marks: Bool) -> Bool:
    """Return which places are at most two from a mark."""
    wide = np.pad(marks, 2)
    return np.asarray(np.any([wide[k : k + len(marks)] for k in range(5)], axis=0))


def _longest(marks: Bool) -> int:
    """Return the length of the longest row of marks."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(int)))
    return int(np.max(edges[1::2] - edges[::2], initial=0))


def outliers_told(before: Dataset, after: Dataset) -> list[str]:
    """Return a sentence that names the outliers: readings that the data have before and not after."""
    found = [
        (old.t[j], old.observed[i, j])
        for old, new in zip(before.runs, after.runs, strict=True)
        for i, j in np.argwhere(np.isfinite(old.observed) & ~np.isfinite(new.observed))
    ]
    if not found:
        return []
    where = ", ".join(f"{value:.4g} at t = {t:.6g}" for t, value in found[:5])
    n, more = len(found), ", ..." if len(found) > 5 else ""
    words = f"{n} readings lie" if n > 1 else "One reading lies"
    return [f"{words} far from the others and {'were' if n > 1 else 'was'} left out: {where}{more}."]
