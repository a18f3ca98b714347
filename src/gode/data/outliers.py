"""Outliers: single readings far from the smoothed curve, which is drawn again without them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Bool, Float
from gode.data.columns import channel_names
from gode.data.dataset import Dataset, Run, Samples, Smooth, changes_by_jumps

# The numbers below were set by hand.
# An outlier lies this many robust standard deviations from the curve; of normal readings two in a billion do.
FAR = 6.0
# It is no outlier if a neighbour lies this many of them away: then it is part of a jump or a peak, which the
# curve rounds off.
NEAR = 4.0
# It lies this many standard deviations from what the line through the nearest readings on either side leads
# to.
ALONE = 3.0
# Such a line is drawn through this many readings.
SIDE = 4
# This many readings before and after a jump of an input are no outliers, since the signal bends there.
STEP = (3, 6)
# If more than this fraction of the readings of a channel are far away, they show another kind of noise.
FEW = 0.1
# If more than this many in a row are far away, they are a feature of the signal that the curve does not
# follow.
ADJACENT = 2
# Curves are drawn at most this many times, while other readings are far from them.
AGAIN = 3
# Of a channel with fewer readings nothing is said.
LEAST = 12
# Less scatter than this fraction of the standard deviation of the signal counts as this much.
SMALLEST = 1e-3


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
    if dataset.keep_outliers:
        return dataset
    marks = [outliers(run, s) for run, s in zip(dataset.runs, smooths, strict=True)]
    if not any(mark.any() for mark in marks):
        return dataset
    pairs = zip(dataset.runs, marks, strict=True)
    runs = [replace(run, observed=np.where(mark, np.nan, run.observed)) for run, mark in pairs]
    return replace(dataset, runs=tuple(runs))


def outliers(run: Run, smooth: Smooth) -> Bool:
    """Return which readings (channels, n) of a run are outliers."""
    out, bends = np.zeros(run.observed.shape, bool), _near_jumps(run)
    for i, (row, curve) in enumerate(zip(run.observed, smooth.values, strict=True)):
        seen = np.flatnonzero(np.isfinite(row))
        if len(seen) < LEAST:
            continue
        size = np.ones(len(seen))
        if smooth.shares is not None:  # noise that grows with the value
            size = smooth.sigma[i, seen] / np.median(smooth.sigma[i, seen])
        rest = (row[seen] - curve[seen]) / size
        scatter = 1.4826 * float(np.median(np.abs(rest)))
        least = max(scatter, SMALLEST * float(np.std(curve[seen])))
        far = np.abs(rest) > FAR * least
        jump = far[1:] & far[:-1] & (rest[1:] * rest[:-1] < 0)  # with the curve in between
        feature = _beside(~far & (np.abs(rest) > NEAR * scatter)) | _beside(_beside(np.append(jump, False)))
        far &= ~feature & ~bends[seen]
        far &= _stand_alone(run.t[seen], row[seen], far, least * size)
        if far.any() and far.sum() <= max(FEW * len(seen), 1) and _longest(far) <= ADJACENT:
            out[i, seen] = far
    return out


def _stand_alone(t: Float, y: Float, far: Bool, scatter: Float) -> Bool:
    """Return which of the `far` readings are far from the line through the others on either side, too.

    Where a signal bends or jumps, the curve misses readings that one side leads to.
    """
    out = far.copy()
    for j in np.flatnonzero(far):
        others = np.flatnonzero(~far)
        for side in (others[others < j][-SIDE:], others[others > j][:SIDE]):
            if len(side) > 1:
                away = t[side] - t[j]
                spread = float(np.sum((away - away.mean()) ** 2))
                weights = 1 / len(side) - away.mean() * (away - away.mean()) / spread
                error = np.sqrt(scatter[j] ** 2 + np.sum((weights * scatter[side]) ** 2))
                out[j] &= abs(y[j] - weights @ y[side]) > ALONE * error
    return out


def _near_jumps(run: Run) -> Bool:
    """Return which times lie near a jump of a sampled input, whether or not it is constant between jumps."""
    near = np.zeros(run.n_points, bool)
    for signal in run.signals.values():
        if isinstance(signal, Samples):
            for at in signal.t[1:][_jumps(signal.values)]:
                first = int(np.searchsorted(run.t, at))
                near[max(first - STEP[0], 0) : first + STEP[1] + 1] = True
    return near


def _jumps(values: Float) -> Bool:
    """Return between which samples (n - 1,) an input jumps, changing far more than usual."""
    changes = np.abs(np.diff(values))
    if changes_by_jumps(values):
        return changes > 0
    return changes > FAR * float(np.median(changes))


def _beside(marks: Bool) -> Bool:
    """Return which places are at most two from a mark."""
    wide = np.pad(marks, 2)
    return np.asarray(np.any([wide[k : k + len(marks)] for k in range(5)], axis=0))


def _longest(marks: Bool) -> int:
    """Return the length of the longest row of marks."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(int)))
    return int(np.max(edges[1::2] - edges[::2], initial=0))


def outliers_told(before: Dataset, after: Dataset) -> list[str]:
    """Return a sentence for each channel with outliers: readings that the data have before and not after."""
    names = channel_names(before.states)
    found: dict[int, list[str]] = {}
    for k, (old, new) in enumerate(zip(before.runs, after.runs, strict=True)):
        where = f" in {before.name_of(k)}" if len(before.runs) > 1 else ""
        for i, j in np.argwhere(np.isfinite(old.observed) & ~np.isfinite(new.observed)):
            told = f"{old.observed[i, j]:.4g} at t = {old.t[j]:.6g}{where}"
            found.setdefault(int(i), []).append(told)
    return [_told(before.labels.get(names[i], names[i]), readings) for i, readings in sorted(found.items())]


def _told(name: str, readings: Sequence[str]) -> str:
    where = ", ".join(readings[:5])
    n, more = len(readings), ", ..." if len(readings) > 5 else ""
    words = f"{n} readings of {name} lie" if n > 1 else f"One reading of {name} lies"
    left = f"{'were' if n > 1 else 'was'} left out: {where}{more}"
    return (
        f"{words} far from the others and {left}. To fit {'them' if n > 1 else 'it'}, too, give "
        "--keep-outliers (in Python, keep_outliers=True)."
    )
