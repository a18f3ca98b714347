"""The noise of the data that are fitted: of each channel, and of each sample where it is not the same."""

from collections.abc import Mapping, Sequence

import numpy as np

from gode.arrays import Float
from gode.data import Dataset, Smooth
from gode.data.columns import channel_names
from gode.data.noise import NoiseKind, NoiseModel, noise_model
from gode.equation.skeleton import shown_name


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
