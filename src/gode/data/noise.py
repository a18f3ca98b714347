"""How large the noise of a sample is, and which readings are outliers, far from the smoothed curve.

Noise is the same everywhere, a share of the value, or a mixture of both. The standard deviation is
sqrt(a^2 + (b x)^2) at the value x. The data decide, by how probable they are under a Gaussian process with
noise of either kind: the process knows how far its own curve can be trusted, whereas residuals about a curve
that follows the noise show neither kind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import rel_entr

from gode.arrays import Bool, Float
from gode.data.columns import channel_names
from gode.data.dataset import NEGLIGIBLE, Dataset, Run, Samples, Smooth, changes_by_jumps
from gode.equation.skeleton import shown_name

# The least noise, as a fraction of that at the root mean square of the signal: at a zero crossing a fraction
# of the value is nothing, but a weight must be finite. Constants of a decay, a damped sine and a logistic
# curve with 5 % of noise have errors of .31, .28 and .86 of those without weights (.30, .15, .87 with a floor
# of .01); with 1 % of constant noise besides, .61, .86 and 1.04 (.94, 1.00, 1.06).
FLOOR = 0.05
# In a mixture the constant part is this fraction of the other at the root mean square. Set by hand.
MIXED = 0.3
# The noise is not constant if twice the log of the ratio of probabilities exceeds this, which Kass and
# Raftery call very strong evidence.
SURE = 10.0
# A cubic is drawn through so many neighbours of a reading.
NEIGHBOURS = 4
# Noise in proportion is refuted by what would happen to one record in twenty by chance: 1.64 standard
# deviations, squared.
UNLIKELY = 2.7
# The standard deviation of normal values is so many times their median distance from the middle.
ROBUST = 1.4826


class NoiseKind(StrEnum):
    """What the noise of a sample depends on."""

    ADDITIVE = "additive"
    MULTIPLICATIVE = "multiplicative"
    MIXED = "mixed"


@dataclass(frozen=True)
class NoiseModel:
    """The noise of one channel: a constant standard deviation, and one that is a share of the value."""

    constant: float
    share: float

    @property
    def kind(self) -> NoiseKind:
        """Which of the two there is."""
        if self.share == 0:
            return NoiseKind.ADDITIVE
        return NoiseKind.MIXED if self.constant > 0 else NoiseKind.MULTIPLICATIVE

    def sigma(self, curve: Float) -> Float:
        """Return the standard deviation (n,) at these values, with a floor where they cross zero."""
        least = FLOOR * self.share * np.sqrt(np.mean(curve**2)) if self.constant == 0 else self.constant
        return np.asarray(np.sqrt(least**2 + (self.share * curve) ** 2))

    def __str__(self) -> str:
        share = f"{100 * self.share:.2g} % of the value"
        words = {
            NoiseKind.ADDITIVE: f"{self.constant:.2g}",
            NoiseKind.MULTIPLICATIVE: share,
            NoiseKind.MIXED: f"{self.constant:.2g} and {share}",
        }
        return words[self.kind]


def noise_model(smooths: Sequence[Smooth], channel: int) -> NoiseModel:
    """Return the noise of a channel over all runs."""
    noise = np.array([s.noise[channel] for s in smooths])
    shares = smooths[0].shares
    if shares is None or shares[channel, 1] == 0:
        return NoiseModel(float(np.sqrt(np.nanmean(noise**2))), 0.0)
    return NoiseModel(*map(float, shares[channel]))


def curve_sizes(smooths: Sequence[Smooth]) -> Float:
    """Return the root mean square (3,) of each channel over all runs."""
    return np.asarray(np.sqrt(np.mean(np.hstack([s.values for s in smooths]) ** 2, axis=1)))


def noise_profile(curve: Float, sizes: Float, ratio: float) -> Float:
    """Return the noise (3, n) about a curve, relative to its root mean square.

    Args:
        sizes: (3,) of the signals, of all runs together.
        ratio: of the constant part to the other one, at these sizes.
    """
    noise = np.sqrt(curve**2 + (ratio * sizes[:, None]) ** 2)
    return np.asarray(noise / np.sqrt(np.mean(noise**2, axis=1, keepdims=True)))


def is_noisy(smooths: Sequence[Smooth]) -> bool:
    """Tell whether there is noise enough to ask of which kind it is: more than what no process can follow."""
    return all(np.exp(s.hyperparameters[2]) > NEGLIGIBLE for s in smooths)


def is_refuted(runs: Sequence[Run], even: Sequence[Smooth], others: Sequence[Smooth]) -> bool:
    """Tell whether readings scatter too little about their neighbours for noise that is not constant.

    A process that cannot follow the peaks of a signal takes them for noise in proportion to the value, and
    is then the more probable. But what a reading differs from the cubic through the two readings on either
    side is noise or more, whatever the signal does. So where noise is said to be larger than if it were
    constant, half of these differences must be above those of a noise in the middle between the two.

    Args:
        even: the runs smoothed with constant noise.
        others: the first of them, or all, smoothed with noise that is not.
    """
    parts = []
    for run, constant, other in zip(runs, even, others, strict=False):
        for i, row in enumerate(run.observed):
            seen = np.isfinite(row)
            if seen.sum() <= NEIGHBOURS:
                continue
            weights, values = _cubic(run.t[seen]), sliding_window_view(row[seen], NEIGHBOURS + 1)
            noise = sliding_window_view(other.sigma[i, seen], NEIGHBOURS + 1)
            claimed = np.sum((weights * noise) ** 2, axis=1)
            same = constant.noise[i] ** 2 * np.sum(weights**2, axis=1)
            squares = np.sum(weights * values, axis=1) ** 2
            parts.append((squares < np.sqrt(claimed * same) / ROBUST**2)[claimed > same])
    below = np.concatenate([[], *parts])
    share = float(np.mean(below)) if len(below) else 0.0
    if share <= 0.5:
        return False
    surprise = float(rel_entr(share, 0.5) + rel_entr(1 - share, 0.5))
    return 2 * len(below) / _dependence() * surprise > UNLIKELY


def _dependence() -> float:
    """Return how many differences from such cubics, at even times, tell as much as an independent one.

    It is the sum of the squares of their correlations.
    """
    weights = np.diff(np.eye(NEIGHBOURS + 1), NEIGHBOURS).ravel()
    return float(np.sum((np.correlate(weights, weights, "full") / (weights @ weights)) ** 2))


def cuts_corners(run: Run, curve: Smooth) -> bool:
    """Tell whether most of what u of a run of one state differs from a smoothed curve is no noise.

    Noise differs from the cubic through its neighbours, what a curve has missed does not.
    """
    seen = np.isfinite(run.observed[0])
    if seen.sum() <= NEIGHBOURS:
        return False
    values = run.observed[0, seen]
    rest = float(np.sqrt(np.mean((values - curve.values[0, seen]) ** 2)))
    weights = _cubic(run.t[seen])
    gaps = np.sum(weights * sliding_window_view(values, NEIGHBOURS + 1), axis=1)
    noise = float(np.sqrt(np.mean(gaps**2 / np.sum(weights**2, axis=1))))
    return rest > max(ALONE * noise, NEGLIGIBLE * float(np.std(values)))


def _cubic(t: Float) -> Float:
    """Return the weights (m, 5) of readings in the difference from the cubic through four neighbours."""
    x, middle = sliding_window_view(t, NEIGHBOURS + 1), NEIGHBOURS // 2
    weights = np.ones(x.shape)
    others = [j for j in range(NEIGHBOURS + 1) if j != middle]
    for j in others:
        weights[:, j] = -1.0
        for k in others:
            if k != j:
                weights[:, j] *= (x[:, middle] - x[:, k]) / (x[:, j] - x[:, k])
    return weights


def with_noise(smooths: Sequence[Smooth], sizes: Float, ratio: float) -> list[Smooth]:
    """Return one state of all runs with noise that is the same share of the value in each of them."""
    profiles = [noise_profile(s.values, sizes, ratio) for s in smooths]
    means = [np.sqrt(np.mean(s.values**2, axis=1) + (ratio * sizes) ** 2) for s in smooths]
    share = np.sqrt(np.mean([(s.noise / mean) ** 2 for s, mean in zip(smooths, means, strict=True)], axis=0))
    constant = ratio * share * sizes if ratio > FLOOR else np.zeros(3)
    shares = np.column_stack([constant, share])
    return [
        replace(s, noise=share * mean, profile=profile, shares=shares)
        for s, mean, profile in zip(smooths, means, profiles, strict=True)
    ]


def noise_levels(dataset: Dataset, smooths: tuple[Smooth, ...]) -> Float:
    """Return the noise of each channel over all runs, never below what a number can hold."""
    pairs = zip(smooths, dataset.runs, strict=True)
    squares = np.array([s.noise**2 * np.median(run.roots) ** 2 for s, run in pairs])
    seen = np.isfinite(squares)
    counts = seen.sum(axis=0)
    mean = np.where(counts, np.where(seen, squares, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    least = [
        1e-9 * _size(dataset, i) + _rounding(dataset, i) + _step(dataset, i) / np.sqrt(12)
        for i in range(3 * len(dataset.states))
    ]
    return np.where(np.isfinite(mean), np.maximum(np.sqrt(mean), least), np.nan)


def noise_profiles(dataset: Dataset, smooths: Sequence[Smooth], noise: Float) -> tuple[Float, ...]:
    """Return the noise of each sample over that of its channel, none where it is the same for all."""
    found = []
    for run, s in zip(dataset.runs, smooths, strict=True):
        if s.shares is None:
            return ()
        relative = s.sigma * np.median(run.roots) / noise[:, None]
        varies = s.shares[:, 1:] > 0
        if run.sd is not None:
            varies = varies | np.isfinite(run.sd).any(axis=1, keepdims=True)
        found.append(np.where(varies, relative, 1.0))
    return tuple(found)


def noise_models(fitted: Dataset, smooths: Sequence[Smooth]) -> dict[str, NoiseModel]:
    """Return kind and size of the noise of a sample of each observed channel, by its name."""
    names = channel_names(fitted.states)
    root = float(np.median([np.median(run.roots) for run in fitted.runs]))  # of the samples averaged
    found = {name: noise_model(smooths, names.index(name)) for name in fitted.channels}
    return {name: NoiseModel(root * model.constant, root * model.share) for name, model in found.items()}


def noise_words(
    fitted: Dataset, smooths: Sequence[Smooth], called: Mapping[str, str] | None = None
) -> list[str]:
    """Return a sentence for each channel whose noise is not constant; its size follows from residuals."""
    models = noise_models(fitted, smooths).items()
    told = [name for name, model in models if model.kind is not NoiseKind.ADDITIVE]
    return [f"The noise of {shown_name(name, called or {})} grows with it." for name in told]


def _size(dataset: Dataset, channel: int) -> float:
    values = np.concatenate([run.observed[channel] for run in dataset.runs])
    values = values[np.isfinite(values)]
    return float(np.std(values)) if len(values) else 0.0


def _rounding(dataset: Dataset, channel: int) -> float:
    """Return what a number of the size of the values cannot hold; it is all there is of a constant."""
    values = np.concatenate([run.observed[channel] for run in dataset.runs])
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    return float(np.finfo(np.float64).eps) * (largest or 1.0)


def _step(dataset: Dataset, channel: int) -> float:
    """Return the step of readings that are rounded to multiples of it; 0 where they are not.

    Rounding is noise with a standard deviation of the step over the root of 12.
    """
    values = np.concatenate([run.observed[channel] for run in dataset.runs])
    different = np.unique(values[np.isfinite(values)])
    if len(different) < 2 or 2 * len(different) > np.isfinite(values).sum():
        return 0.0
    step = float(np.diff(different).min())
    multiples = (different - different[0]) / step
    return step if np.abs(multiples - np.round(multiples)).max() < 1e-3 else 0.0


def spread_over_noise(dataset: Dataset, noise: Float, state: int) -> float:
    """Return the signal-to-noise ratio of a state: std of its lowest observed derivative over the noise."""
    seen = np.flatnonzero(np.isfinite(noise[3 * state : 3 * state + 3]))
    if not len(seen):  # The state was never measured.
        return 1.0
    channel = 3 * state + int(seen[0])
    root = max(float(np.median(run.roots)) for run in dataset.runs)
    return max(float(_size(dataset, channel) / noise[channel]) * root, 1.0)


# The numbers below were set by hand.
# An outlier lies this many robust standard deviations from the curve; of normal readings two in a billion do.
FAR = 6.0
# It is no outlier if a neighbour lies this many of them away: then it is part of a jump or a peak, which the
# curve rounds off.
NEAR = 4.0
# It lies this many standard deviations from what the line through the nearest readings on either side leads
# to. A curve that leaves so many times what readings differ from their neighbours cuts corners: less than a
# ninth of that variance is noise.
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
# Fewer readings show neither outliers nor, as a piece of a record, how a law is sensitive to its start.
LEAST = 12


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
        scatter = ROBUST * float(np.median(np.abs(rest)))
        least = max(scatter, NEGLIGIBLE * float(np.std(curve[seen])))
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


def centre(values: Float) -> tuple[Float, Float]:
    """Return the median of values (n, ...), and their standard deviation by the median absolute deviation."""
    middle = np.median(values, axis=0)
    return middle, np.asarray(ROBUST * np.median(np.abs(values - middle), axis=0))


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
