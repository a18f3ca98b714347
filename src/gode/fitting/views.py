"""The data as one equation of a system sees them: its own state as measured, the other states as inputs.

Such a view is an ordinary record of one signal with known inputs, so that the search for one equation of a
system is the search for a scalar equation.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Dataset, Interpolation, Run, Samples, Smooth
from gode.data.dataset import Input
from gode.data.noise import NoiseModel
from gode.equation import Law
from gode.equation.system import input_seen, state_seen
from gode.fitting.prepare import Prepared, assemble
from gode.solve import solve


def view(prepared: Prepared, own: int, order: int, floor: float, *, individual: bool = False) -> Prepared:
    """Return the data as the equation of state number `own` sees them; a scalar record as it is."""
    dataset = prepared.dataset
    if is_plain(dataset):
        return prepared
    fitted = prepared.whole.dataset
    runs = [_seen(run, s, own, order) for run, s in zip(fitted.runs, prepared.smooths, strict=True)]
    seen = Dataset(tuple(runs), names=dataset.names, keep_outliers=dataset.keep_outliers)
    smooths = tuple(s.state(own) for s in prepared.smooths)
    found = assemble(seen, seen, smooths, order, floor, individual=individual)
    return replace(found, whole=found.target)  # whole records are for all equations together


def inputs_seen(dataset: Dataset, order: int) -> tuple[str, ...]:
    """Return the names of all that an equation sees besides its own state and time."""
    if is_plain(dataset):
        return dataset.inputs
    d = len(dataset.states)
    inputs = [input_seen(i, d) for i in range(len(dataset.inputs))]
    return (*inputs, *(state_seen(0, s) + "'" * k for s in range(1, d) for k in range(order)))


def is_plain(dataset: Dataset) -> bool:
    """Tell whether one equation with at most one input is the whole law."""
    return len(dataset.states) == 1 and dataset.inputs in ((), (input_seen(0, 1),))


def _seen(run: Run, smooth: Smooth, own: int, order: int) -> Run:
    """Return one run: the own state measured, the others as signals along the smoothed ones."""
    inputs: dict[str, Input] = {}
    for i, name in enumerate(run.inputs):
        inputs[input_seen(i, run.n_states)] = run.signals[name]
    for s in range(run.n_states):
        for k in range(order if s != own else 0):
            signal = Samples(smooth.t, smooth.values[3 * s + k], Interpolation.CUBIC)
            inputs[state_seen(own, s) + "'" * k] = signal
    return replace(run.state(own), inputs=inputs)


def along(
    prepared: Prepared, laws: Sequence[Law], initial: Float, sizes: Sequence[float] = ()
) -> tuple[Smooth, ...] | None:
    """Return the runs smoothed by the solution of a law, None if it has none along all of them.

    A law near the truth is a better smoother than any that knows nothing of the others.

    Args:
        laws: of each run: one law, whose constants may be those of the run.
        sizes: of the residuals of each state, in units of the noise: what the noise then was.
    """
    smooths = []
    rows = zip(prepared.whole.dataset.runs, prepared.smooths, laws, initial, strict=True)
    for run, smooth, law, start in rows:
        highest = [3 * s + k for s, k in enumerate(law.skeleton.orders)]
        path = solve(
            law, run.t, start, inputs=dict(run.signals), doses=run.doses, guide=smooth.values[highest]
        )
        if path.failure is not None:
            return None
        values = np.where(np.isfinite(path.values), path.values, smooth.values)
        smooths.append(_with_noise(replace(smooth, values=values), np.repeat(sizes, 3)))
    return tuple(smooths)


def _with_noise(smooth: Smooth, sizes: Float) -> Smooth:
    """Return a smoothed run with its noise `sizes` times as large in each channel, about its new values."""
    if not len(sizes):
        return smooth
    noise = smooth.noise * sizes
    if smooth.shares is None or smooth.profile is None:
        return replace(smooth, noise=noise)
    shares, profile = smooth.shares * sizes[:, None], smooth.profile.copy()
    for i in np.flatnonzero(shares[:, 1] > 0):
        sigma = NoiseModel(float(shares[i, 0]), float(shares[i, 1])).sigma(smooth.values[i])
        noise[i] = np.sqrt(np.mean(sigma**2))
        profile[i] = sigma / noise[i]
    return replace(smooth, noise=noise, shares=shares, profile=profile)
