"""Smoothing of any run: one Gaussian process for a short record, averages or blocks for a long one.

The number of cycles decides, not that of points: a slow signal that is sampled finely is averaged over
neighbouring points, and only a signal with many cycles is cut into blocks.
"""

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from gode.arrays import Float
from gode.data.averaging import averaged
from gode.data.gp import Smooth, smooth_blocks, smooth_gp
from gode.data.runs import Run, cycles, lowest_channel

MAX_POINTS = 450  # of one process, whose cost is cubic in them
MAX_CYCLES = 12  # of one process, whose hyperparameters are tuned on 160 points
PER_CYCLE = 64  # points per cycle that averaging keeps: fewer would flatten the peaks
BLOCK = 200  # points of a block, without its overlap


def smooth(run: Run, *, known: Float | None = None) -> Smooth:
    """Return `run` smoothed, each state alone; `known` (2 d,) are exact initial values, NaN where unknown."""
    exact = np.reshape(run.initial if known is None else known, (-1, 2))
    return Smooth.of_states([_smooth_state(run.state(s), exact[s]) for s in range(run.n_states)])


def _smooth_state(run: Run, exact: Float) -> Smooth:
    if run.n_points <= BLOCK:
        return smooth_gp(run, known=exact)
    kept = np.asarray(np.isfinite(run.observed).any(axis=0))
    kept[[0, -1]] = True
    if not kept.all():  # other states were observed at these times; a block of them would be empty
        return resampled(_smooth_state(run.at(kept), exact), run.t)
    lowest, number = lowest_channel(run), cycles(run)
    coarse = averaged(run, MAX_POINTS, PER_CYCLE)
    if number <= MAX_CYCLES and coarse.n_points <= 2 * MAX_POINTS:
        found = smooth_gp(coarse, known=exact, at=run.t)
    elif lowest == 0:
        found = smooth_blocks(coarse, exact, BLOCK)
    else:
        return _integrated(run, exact, lowest)
    if coarse is run:
        return found
    fine = resampled(found, run.t)
    return replace(fine, noise=_residual_deviation(run, fine))


def resampled(found: Smooth, t: Float) -> Smooth:
    """Return a smoothed run at other times within, or just outside, its own."""
    if np.array_equal(found.t, t):
        return found
    rows = []
    for u, du, d2u in np.split(found.values, len(found.values) // 3):
        rows += [CubicHermiteSpline(found.t, u, du)(t), CubicHermiteSpline(found.t, du, d2u)(t)]
        rows.append(np.interp(t, found.t, d2u))
    values = np.vstack(rows)
    deviations = np.vstack([np.interp(t, found.t, row) for row in found.deviations])
    return replace(found, t=t, values=values, deviations=deviations)


def _residual_deviation(run: Run, found: Smooth) -> Float:
    """Return the standard deviation of the residuals of smoothing, in each channel."""
    gaps = run.observed - found.values
    seen = np.isfinite(gaps)
    count = seen.sum(axis=1)
    squares = np.where(seen, gaps, 0.0) ** 2
    return np.where(count > 0, np.sqrt(squares.sum(axis=1) / np.maximum(count, 1)), np.nan)


def _integrated(run: Run, known: Float, lowest: int) -> Smooth:
    """Smooth the lowest observed derivative by itself and integrate it down to u.

    Where an initial value is unknown, a polynomial in time is subtracted from the integral as its drift.
    """
    shifted = np.full((3, run.n_points), np.nan)
    shifted[: 3 - lowest] = run.observed[lowest:]
    own = smooth_blocks(replace(run, observed=shifted), np.full(2, np.nan), BLOCK)
    values, deviations = np.empty((3, run.n_points)), np.empty((3, run.n_points))
    values[lowest:], deviations[lowest:] = own.values[: 3 - lowest], own.deviations[: 3 - lowest]
    higher = own.values[1]  # the derivative of the next integrand
    for i in range(lowest - 1, -1, -1):
        steps, now = np.diff(run.t), values[i + 1]
        parts = 0.5 * steps * (now[1:] + now[:-1]) - steps**2 / 12 * np.diff(higher)
        area, higher = np.concatenate([[0.0], np.cumsum(parts)]), now
        values[i] = area + known[i] if np.isfinite(known[i]) else area - _drift(run.t, area, lowest - i)
        deviations[i] = np.std(values[i])
    noise = np.full(3, np.nan)
    noise[lowest:] = own.noise[: 3 - lowest]
    return Smooth(run.t, values, deviations, noise, own.hyperparameters)


def _drift(t: Float, values: Float, degree: int) -> Float:
    x = (t - t[0]) / (t[-1] - t[0])
    return np.asarray(np.polynomial.Polynomial.fit(x, values, degree)(x))
