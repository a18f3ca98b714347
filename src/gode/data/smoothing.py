"""Smoothing of any run: one Gaussian process for a short record, averages or blocks for a long one.

The number of cycles decides, not that of points: a slow signal that is sampled finely is averaged over
neighbouring points, and only a signal with many cycles is cut into blocks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data.averaging import averaged
from gode.data.gp import BRIEF, CAREFUL, LENT, Tuning, smooth_blocks, smooth_gp
from gode.data.logarithms import smooth_logarithms
from gode.data.noise import FLOOR, MIXED, SURE, curve_sizes, is_noisy, noise_profile, with_noise
from gode.data.runs import Run, cycles, lowest_channel
from gode.data.smoothed import Smooth

Memo = dict[tuple[int, tuple[bytes, ...]], list[Smooth]]  # by state and what was observed in each run
MAX_POINTS = 450  # of one process, whose cost is cubic in them
MAX_CYCLES = 12  # of one process, whose hyperparameters are tuned on 160 points
PER_CYCLE = 64  # points per cycle that averaging keeps: fewer would flatten the peaks
BLOCK = 200  # points of a block, without its overlap
DECIDING = 4  # runs on which the kind of noise is decided
MANY = 40  # runs of which only some are tuned by themselves
LENDERS = 20  # these


def smooth(run: Run, *, known: Float | None = None) -> Smooth:
    """Return `run` smoothed, each state alone; `known` (2 d,) are exact initial values, NaN where unknown."""
    exact = np.reshape(run.initial if known is None else known, (-1, 2))
    return Smooth.of_states([_smooth_state(run.state(s), exact[s]) for s in range(run.n_states)])


def smooth_runs(
    runs: Sequence[Run],
    known: Sequence[Float],
    memo: Memo | None = None,
    hurried: Callable[[], bool] = lambda: False,
) -> tuple[Smooth, ...]:
    """Return runs smoothed with the kind of noise that each state shows; `known` as in `smooth`.

    Args:
        memo: what was smoothed before, of the same times; it is filled. States that did not change are there.
        hurried: tells whether this has taken so long that the rest is to be smoothed less carefully.
    """
    states, memo = [], {} if memo is None else memo
    for s in range(runs[0].n_states):
        parts = [(run.state(s), exact[2 * s : 2 * s + 2]) for run, exact in zip(runs, known, strict=True)]
        if not any(run.is_measured(0) for run, _ in parts):
            states.append([Smooth.unknown(run.t) for run, _ in parts])
            continue
        key = s, tuple(run.observed.tobytes() for run, _ in parts)
        if key not in memo:
            memo[key] = _smooth_by_noise(parts, hurried)
        states.append(memo[key])
    return tuple(map(Smooth.of_states, zip(*states, strict=True)))


def _smooth_by_noise(parts: Sequence[tuple[Run, Float]], hurried: Callable[[], bool]) -> list[Smooth]:
    """Return one state of all runs, smoothed again if its noise is not constant; a few runs decide that."""
    plain = _smooth_all(parts, [None] * len(parts), CAREFUL, hurried)
    sizes, seen = curve_sizes(plain), np.any([np.isfinite(f.noise) for f in plain], axis=0)
    if hurried() or not is_noisy(plain[:DECIDING]) or not np.all(sizes[seen] > 0):
        return plain
    sizes = np.where(sizes > 0, sizes, 1.0)

    def again(ratio: float, n: int, tuning: Tuning) -> list[Smooth]:
        profiles = [noise_profile(f.values, sizes, ratio) for f in plain[:n]]
        return _smooth_all(parts[:n], profiles, tuning, hurried)

    count = sum(int(np.isfinite(run.observed).sum()) for run, _ in parts[:DECIDING])
    gains = {}
    for ratio, free in ((FLOOR, 0), (MIXED, 1)):  # Schwarz's price of the second number of a mixture
        gained = [a.evidence - b.evidence for a, b in zip(again(ratio, DECIDING, BRIEF), plain, strict=False)]
        gains[ratio] = 2 * sum(gained) - free * np.log(count)
    best = max(gains, key=gains.__getitem__)
    bent = smooth_logarithms(parts, BLOCK) if best == FLOOR and gains[best] > SURE else None
    if bent is not None:  # only of noise that is a share of the value, which bursts may hide
        gain = 2 * sum(a.evidence - b.evidence for a, b in zip(bent[:DECIDING], plain, strict=False))
        if gain > gains[best]:
            return bent
    return with_noise(again(best, len(parts), CAREFUL), sizes, best) if gains[best] > SURE else plain


def _smooth_all(
    parts: Sequence[tuple[Run, Float]],
    profiles: Sequence[Float | None],
    tuning: Tuning,
    hurried: Callable[[], bool],
) -> list[Smooth]:
    """Return runs smoothed: of many, some by themselves and the others with what these have in common."""
    n = len(parts)
    few = {*range(DECIDING), *evenly(n, LENDERS)} if n > MANY else {*range(n)}
    own: dict[int, Smooth] = {}
    for i in sorted(few):
        how = BRIEF if hurried() else tuning
        own[i] = _smooth_state(parts[i][0], parts[i][1], profiles[i], how)
    found = dict.fromkeys(tuple(smooth.hyperparameters.tolist()) for smooth in own.values())
    lent = LENT._replace(known=tuple(found))
    rest = {i: _smooth_state(parts[i][0], parts[i][1], profiles[i], lent) for i in range(n) if i not in own}
    return [own[i] if i in own else rest[i] for i in range(n)]


def evenly(n: int, most: int) -> list[int]:
    """Return at most this many of `n` numbers from 0 on, spread evenly."""
    return [int(i) for i in np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))]


def _smooth_state(run: Run, exact: Float, profile: Float | None = None, tuning: Tuning = CAREFUL) -> Smooth:
    if run.n_points <= BLOCK:
        return smooth_gp(run, known=exact, profile=profile, tuning=tuning)
    kept = np.asarray(np.isfinite(run.observed).any(axis=0))
    kept[[0, -1]] = True
    if not kept.all():  # other states were observed at these times; a block of them would be empty
        own = _smooth_state(run.at(kept), exact, _at(profile, run.t, run.t[kept]), tuning)
        return resampled(own, run.t)
    lowest, number = lowest_channel(run), cycles(run)
    coarse = averaged(run, MAX_POINTS, PER_CYCLE)
    if number <= MAX_CYCLES and coarse.n_points <= 2 * MAX_POINTS:
        found = smooth_gp(coarse, known=exact, at=run.t, profile=_at(profile, run.t, coarse.t), tuning=tuning)
    elif lowest == 0:
        found = smooth_blocks(coarse, exact, BLOCK, _at(profile, run.t, coarse.t), tuning)
    else:
        return _integrated(run, exact, lowest, profile, tuning)
    if coarse is run:
        return found
    fine = resampled(found, run.t)
    return replace(fine, noise=_residual_deviation(run, fine))


def resampled(found: Smooth, t: Float) -> Smooth:
    """Return a smoothed run at other times within, or just outside, its own."""
    if np.array_equal(found.t, t):
        return found
    from scipy.interpolate import CubicHermiteSpline

    rows = []
    for u, du, d2u in np.split(found.values, len(found.values) // 3):
        rows += [CubicHermiteSpline(found.t, u, du)(t), CubicHermiteSpline(found.t, du, d2u)(t)]
        rows.append(np.interp(t, found.t, d2u))
    values = np.vstack(rows)
    deviations = np.vstack([np.interp(t, found.t, row) for row in found.deviations])
    return replace(found, t=t, values=values, deviations=deviations, profile=_at(found.profile, found.t, t))


def _at(rows: Float | None, t: Float, others: Float) -> Float | None:
    """Return rows of values at the times `t` at other times."""
    return None if rows is None else np.vstack([np.interp(others, t, row) for row in rows])


def _residual_deviation(run: Run, found: Smooth) -> Float:
    """Return the standard deviation of the residuals of smoothing, in each channel."""
    gaps = run.observed - found.values
    seen = np.isfinite(gaps)
    count = seen.sum(axis=1)
    squares = np.where(seen, gaps, 0.0) ** 2
    return np.where(count > 0, np.sqrt(squares.sum(axis=1) / np.maximum(count, 1)), np.nan)


def _integrated(run: Run, known: Float, lowest: int, profile: Float | None, tuning: Tuning) -> Smooth:
    """Smooth the lowest observed derivative by itself and integrate it down to u.

    Where an initial value is unknown, a polynomial in time is subtracted from the integral as its drift.
    """
    shifted = np.full((3, run.n_points), np.nan)
    shifted[: 3 - lowest] = run.observed[lowest:]
    noise_of = None if profile is None else np.roll(profile, -lowest, axis=0)
    own = smooth_blocks(replace(run, observed=shifted), np.full(2, np.nan), BLOCK, noise_of, tuning)
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
    return Smooth(run.t, values, deviations, noise, own.hyperparameters, evidence=own.evidence)


def _drift(t: Float, values: Float, degree: int) -> Float:
    x = (t - t[0]) / (t[-1] - t[0])
    return np.asarray(np.polynomial.Polynomial.fit(x, values, degree)(x))
