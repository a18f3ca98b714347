"""Smoothing of any run: one Gaussian process for a short record, averages or blocks for a long one.

The number of cycles decides, not that of points: a slow signal that is sampled a million times carries no
more information than its averages do, so it is averaged over neighbouring points, and only a signal with
many cycles is cut into blocks. Noise that is a fraction of the value is constant in the logarithm of a
signal that has one sign; where the logarithm explains the data better, it is smoothed instead, as of
populations with outbreaks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float, Int
from gode.choices import NoiseChoice
from gode.data.dataset import Run, Smooth, cycles, lowest_channel, most_cycles
from gode.data.doses import added
from gode.data.gp import BRIEF, CAREFUL, LENT, PRIORS, TUNING_POINTS, Tuning, smooth_blocks, smooth_gp
from gode.data.noise import (
    FLOOR,
    MIXED,
    SURE,
    curve_sizes,
    cuts_corners,
    is_noisy,
    is_refuted,
    noise_profile,
    with_noise,
)

# Smoothed states of all runs, by the number of the state and what was observed in each run.
Memo = dict[tuple[int, tuple[bytes, ...]], list[Smooth]]

# One process takes at most this many points, since its cost is cubic in them. Set by hand.
MAX_POINTS = 450
# One process takes at most this many cycles, since its hyperparameters are tuned on 160 points, so some 13 in
# each cycle.
MAX_CYCLES = 12
# Averaging keeps this many points in each cycle. Set by hand: fewer would flatten the peaks.
PER_CYCLE = 64
# A block of a long record has this many points besides its overlap. Set by hand.
BLOCK = 200
# The kind of noise is decided on this many runs, which costs as many more smoothings. Set by hand.
DECIDING = 4
# Of more than twice as many runs only these are tuned by themselves, and lend their hyperparameters to the
# others. Set by hand.
LENDERS = 20
# A bin of samples that is wider than this many median widths lies beside a gap, so that its samples are not
# averaged. Set by hand.
SPARSE = 4.0


def smooth(run: Run, *, known: Float | None = None) -> Smooth:
    """Return `run` smoothed, each state alone; `known` (2 d,) are exact initial values, NaN where unknown."""
    exact = np.reshape(run.initial if known is None else known, (-1, 2))
    return Smooth.of_states([_smooth_state(run.state(s), exact[s]) for s in range(run.n_states)])


def smooth_runs(
    runs: Sequence[Run],
    known: Sequence[Float],
    memo: Memo | None = None,
    hurried: Callable[[], bool] = lambda: False,
    noise: str = NoiseChoice.AUTO,
) -> tuple[Smooth, ...]:
    """Return runs smoothed with the kind of noise that each state shows; `known` as in `smooth`.

    Args:
        noise: the kind of noise, if the data are not to decide.
        memo: what was smoothed before, of the same times; it is filled. States that did not change are there.
        hurried: tells whether this has taken so long that the rest is to be smoothed less carefully.
    """
    states, memo = [], {} if memo is None else memo
    for s in range(runs[0].n_states):
        parts = [(run.state(s), exact[2 * s : 2 * s + 2]) for run, exact in zip(runs, known, strict=True)]
        if not any(run.is_measured(0) for run, _ in parts):
            states.append([Smooth.unknown(run.t, len(PRIORS)) for run, _ in parts])
            continue
        key = s, tuple(run.observed.tobytes() for run, _ in parts)
        if key not in memo:
            memo[key] = _smooth_by_noise(parts, hurried, noise)
        states.append(memo[key])
    return tuple(map(Smooth.of_states, zip(*states, strict=True)))


def _smooth_by_noise(
    parts: Sequence[tuple[Run, Float]], hurried: Callable[[], bool], noise: str = NoiseChoice.AUTO
) -> list[Smooth]:
    """Return one state of all runs, smoothed again if its noise is not constant; a few runs decide that.

    Args:
        noise: the kind of noise, if it is not theirs to decide.
    """
    if any(run.sd is not None and np.isfinite(run.sd).any() for run, _ in parts):
        return _smooth_with_errors(parts, hurried)
    even = _smooth_all(parts, [None] * len(parts), CAREFUL, hurried)
    sizes = curve_sizes(even)
    seen = np.any([np.isfinite(f.noise) for f in even], axis=0)
    undecided = noise == NoiseChoice.AUTO and (hurried() or not _shows_noise(parts[:DECIDING], even))
    if noise == NoiseChoice.CONSTANT or undecided or not np.all(sizes[seen] > 0):
        return even
    sizes = np.where(sizes > 0, sizes, 1.0)

    def weighted(ratio: float, n: int, tuning: Tuning) -> list[Smooth]:
        profiles = [noise_profile(f.values, sizes, ratio) for f in even[:n]]
        found = _smooth_all(parts[:n], profiles, tuning, hurried)
        return [replace(f, profile=profile) for f, profile in zip(found, profiles, strict=True)]

    if noise == NoiseChoice.AUTO:
        return _smooth_as_shown(parts, even, sizes, weighted)
    if noise == NoiseChoice.LOG and (logarithms := _smooth_logarithms(parts)):
        return logarithms
    ratio = MIXED if noise == NoiseChoice.COMBINED else FLOOR
    found = with_noise(weighted(ratio, len(parts), CAREFUL), sizes, ratio)
    logarithms = _smooth_logarithms(parts) if noise == NoiseChoice.PROPORTIONAL else None
    return logarithms if logarithms and _gain(logarithms, even) > _gain(found, even) else found


def _shows_noise(parts: Sequence[tuple[Run, Float]], even: Sequence[Smooth]) -> bool:
    """Tell whether a few runs show noise: about the curves with constant noise, or in their logarithms.

    A signal that falls by decades has little noise where it is small, and a curve that knows of constant
    noise alone then goes through all that is large.
    """
    if is_noisy(even[: len(parts)]):
        return True
    logarithms = _smooth_logarithms(parts)
    return logarithms is not None and is_noisy(logarithms)


def _gain(others: Sequence[Smooth], even: Sequence[Smooth]) -> float:
    """Return twice the gain in the log of the probability over noise that is the same everywhere."""
    return 2 * sum(a.evidence - b.evidence for a, b in zip(others[:DECIDING], even, strict=False))


def _smooth_as_shown(
    parts: Sequence[tuple[Run, Float]],
    even: list[Smooth],
    sizes: Float,
    weighted: Callable[[float, int, Tuning], list[Smooth]],
) -> list[Smooth]:
    """Return one state of all runs, smoothed with the kind of noise that is most probable and not refuted.

    Args:
        even: the runs smoothed with constant noise.
        weighted: smooths the first runs with noise of which the constant part has this ratio to the other.
    """
    runs = [run for run, _ in parts]
    count = sum(int(np.isfinite(run.observed).sum()) for run in runs[:DECIDING])
    gains, refuted = [], []
    # A mixture has a second number, whose price is Schwarz's.
    for ratio, price in ((FLOOR, 0.0), (MIXED, np.log(count))):
        brief = weighted(ratio, DECIDING, BRIEF)
        refuted.append(is_refuted(runs, even, brief))
        gains.append((_gain(brief, even) - price, ratio))
    # A signal that falls by decades refutes the floor of noise that is a fraction, not the fraction.
    if refuted[0] and gains[0][0] > SURE:
        logarithms = _smooth_logarithms(parts)
        if logarithms and _gain(logarithms, even) > gains[0][0] and not is_refuted(runs, even, logarithms):
            return logarithms
    gains = [(0.0 if no else gain, ratio) for no, (gain, ratio) in zip(refuted, gains, strict=True)]
    for gain, ratio in sorted(gains, reverse=True):
        if gain <= SURE:
            break
        # The logarithm is tried only where the noise is a fraction of the value, which bursts may hide.
        logarithms = _smooth_logarithms(parts) if ratio == FLOOR else None
        if logarithms and _gain(logarithms, even) > gain:
            return logarithms
        found = weighted(ratio, len(parts), CAREFUL)
        if not is_refuted(runs, even, found):
            return with_noise(found, sizes, ratio)
    return even


def _smooth_with_errors(parts: Sequence[tuple[Run, Float]], hurried: Callable[[], bool]) -> list[Smooth]:
    """Return one state of all runs, smoothed with noise in proportion to the standard errors given.

    Only their ratios count: one factor of all runs is estimated, as errors are often too small or too large.
    """
    given = [np.full(run.observed.shape, np.nan) if run.sd is None else run.sd for run, _ in parts]
    seen = np.isfinite(np.hstack(given)).any(axis=1)
    means = [np.sqrt(np.nanmean(np.where(seen[:, None], sd, 1.0) ** 2, axis=1)) for sd in given]
    profiles = [
        np.where(np.isfinite(sd), sd / mean[:, None], 1.0) for sd, mean in zip(given, means, strict=True)
    ]
    found = _smooth_all(parts, profiles, CAREFUL, hurried)
    factors = [s.noise / mean for s, mean in zip(found, means, strict=True)]
    factor = np.sqrt(np.mean(np.square(factors), axis=0))
    noises = [np.where(seen, factor * mean, s.noise) for s, mean in zip(found, means, strict=True)]
    return [
        replace(s, noise=noise, profile=profile, shares=np.column_stack([noise, 0 * noise]))
        for s, noise, profile in zip(found, noises, profiles, strict=True)
    ]


def _smooth_all(
    parts: Sequence[tuple[Run, Float]],
    profiles: Sequence[Float | None],
    tuning: Tuning,
    hurried: Callable[[], bool],
) -> list[Smooth]:
    """Return runs smoothed: of many, some by themselves and the others with what these have in common."""
    n = len(parts)
    few = {*range(DECIDING), *evenly(n, LENDERS)} if n > 2 * LENDERS else {*range(n)}
    found: dict[int, Smooth] = {}
    for i in sorted(few):
        found[i] = _smooth_state(parts[i][0], parts[i][1], profiles[i], BRIEF if hurried() else tuning)
    lent = dict.fromkeys(tuple(smooth.hyperparameters.tolist()) for smooth in found.values())
    borrowing = LENT._replace(known=tuple(lent))
    for i in set(range(n)) - few:
        found[i] = _smooth_state(parts[i][0], parts[i][1], profiles[i], borrowing)
    return [found[i] for i in range(n)]


def evenly(n: int, most: int) -> list[int]:
    """Return at most this many of `n` numbers from 0 on, spread evenly."""
    return [int(i) for i in np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))]


def _smooth_state(run: Run, exact: Float, profile: Float | None = None, tuning: Tuning = CAREFUL) -> Smooth:
    if run.doses:
        return _smooth_between_doses(run, exact, profile, tuning)
    if run.n_points <= BLOCK:
        return smooth_gp(run, known=exact, profile=profile, tuning=tuning)
    kept = np.asarray(np.isfinite(run.observed).any(axis=0))
    kept[[0, -1]] = True
    if not kept.all():  # other states were observed at these times; a block of them would be empty
        at_own_times = _smooth_state(run.at(kept), exact, _at(profile, run.t, run.t[kept]), tuning)
        return resampled(at_own_times, run.t)
    lowest = lowest_channel(run)
    coarse = averaged(run, MAX_POINTS, PER_CYCLE)
    if cycles(run) <= MAX_CYCLES and coarse.n_points <= 2 * MAX_POINTS:
        found = smooth_gp(coarse, known=exact, at=run.t, profile=_at(profile, run.t, coarse.t), tuning=tuning)
        if lowest == 0 and cuts_corners(run, found):
            return smooth_blocks(run, exact, BLOCK, profile, tuning)
    elif lowest == 0:
        found = smooth_blocks(coarse, exact, BLOCK, _at(profile, run.t, coarse.t), tuning)
    else:
        return _integrated(run, exact, lowest, profile, tuning)
    if coarse is run:
        return found
    fine = resampled(found, run.t)
    return replace(fine, noise=_residual_deviation(run, fine))


def _smooth_between_doses(run: Run, exact: Float, profile: Float | None, tuning: Tuning) -> Smooth:
    """Return a run with doses smoothed: what is left without them has no jumps."""
    observed = run.observed.copy()
    observed[:2] -= added(run.doses, run.t)
    found = _smooth_state(replace(run, observed=observed, doses=()), exact, profile, tuning)
    values = found.values.copy()
    values[:2] += added(run.doses, found.t)
    return replace(found, values=values)


def _smooth_logarithms(parts: Sequence[tuple[Run, Float]]) -> list[Smooth] | None:
    """Return one state of all runs smoothed in its logarithm, with noise that is one fraction of the value.

    None if it has not one sign or a run does not vary, if a derivative was measured, or if a run is longer
    than a block.

    Args:
        parts: each run and its exact initial values (2,), NaN where unknown.
    """
    signs = {s for run, _ in parts for s in np.unique(np.sign(run.observed[np.isfinite(run.observed)]))}
    values_alone = all(
        not np.isfinite(run.observed[1:]).any() and run.n_points <= BLOCK and not run.doses
        for run, _ in parts
    )
    if len(signs) != 1 or 0.0 in signs or not values_alone:
        return None
    if any(np.nanmin(run.observed[0]) == np.nanmax(run.observed[0]) for run, _ in parts):
        return None
    (sign,) = signs
    found = [_smooth_logarithm(run, exact, float(sign)) for run, exact in parts]
    fraction = float(np.sqrt(np.mean([s.noise[0] ** 2 for s in found])))
    shares = np.array([[0.0, fraction], [np.nan, np.nan], [np.nan, np.nan]])
    out = []
    for smooth in found:
        size = np.sqrt(np.mean(smooth.values**2, axis=1))
        noise = np.array([fraction * size[0], np.nan, np.nan])
        profile = np.abs(smooth.values) / size[:, None]
        out.append(replace(smooth, noise=noise, profile=profile, shares=shares))
    return out


def _smooth_logarithm(run: Run, exact: Float, sign: float) -> Smooth:
    """Return one run smoothed in its logarithm, with the evidence of the signal itself in its own units."""
    known = np.full(2, np.nan)
    if sign * exact[0] > 0:
        known = np.array([np.log(sign * exact[0]), exact[1] / exact[0]])
    logarithm = np.full(run.observed.shape, np.nan)
    logarithm[0] = np.log(sign * run.observed[0])
    found = smooth_gp(replace(run, observed=logarithm), known=known)
    value = sign * np.exp(found.values[0])
    slope, bend = found.values[1:]
    values = np.vstack([value, value * slope, value * (bend + slope**2)])
    seen = np.isfinite(logarithm[0])
    spreads = [
        max(float(np.std(row[0, seen])), 1e-300) for row in (run.observed, logarithm)
    ]  # a level has none
    units = spreads[0] / spreads[1]
    n = min(int(seen.sum()), TUNING_POINTS)
    evidence = found.evidence + n * float(np.log(units) - np.mean(logarithm[0, seen]))
    return replace(found, values=values, deviations=np.abs(value) * found.deviations, evidence=evidence)


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
    found = smooth_blocks(replace(run, observed=shifted), np.full(2, np.nan), BLOCK, noise_of, tuning)
    values = np.empty((3, run.n_points))
    values[lowest:] = found.values[: 3 - lowest]
    deviations = np.empty((3, run.n_points))
    deviations[lowest:] = found.deviations[: 3 - lowest]
    steps = np.diff(run.t)
    higher = found.values[1]  # the derivative of the next integrand
    for i in range(lowest - 1, -1, -1):
        integrand = values[i + 1]
        parts = 0.5 * steps * (integrand[1:] + integrand[:-1]) - steps**2 / 12 * np.diff(higher)
        area = np.concatenate([[0.0], np.cumsum(parts)])
        higher = integrand
        values[i] = area + known[i] if np.isfinite(known[i]) else area - _drift(run.t, area, lowest - i)
        deviations[i] = np.std(values[i])
    noise = np.full(3, np.nan)
    noise[lowest:] = found.noise[: 3 - lowest]
    return Smooth(run.t, values, deviations, noise, found.hyperparameters, evidence=found.evidence)


def _drift(t: Float, values: Float, degree: int) -> Float:
    x = (t - t[0]) / (t[-1] - t[0])
    return np.asarray(np.polynomial.Polynomial.fit(x, values, degree)(x))


def averaged(run: Run, points: int, per_cycle: int) -> Run:
    """Return `run` averaged to no fewer than `points` values in all and `per_cycle` values per cycle."""
    if run.n_points < 2 * points:
        return run
    return stride_averaged(run, int(run.n_points // max(points, per_cycle * most_cycles(run))))


def stride_averaged(run: Run, stride: int, curve: Smooth | None = None) -> Run:
    """Return the run with every `stride` neighbouring samples averaged; the initial time is kept, unobserved.

    The mean over an interval differs from the value at its centre where the signal bends. With the smoothed
    `curve` of the run, what the samples differ from it is averaged. Without one, half the second derivative
    times the variance of the times is subtracted, which is exact to the third order in the width alone.
    Sparse samples and those of inputs are not averaged.
    """
    if stride < 2:
        return run
    edges = _edges(run.t, stride)
    count = np.diff(np.append(edges, run.n_points))
    t = np.add.reduceat(run.t, edges) / count
    variance = np.add.reduceat((run.t - np.repeat(t, count)) ** 2, edges) / count
    if curve is None:
        observed = np.vstack([_means(row, run.t, edges, t, variance) for row in run.observed])
    else:
        rest = np.vstack([_mean(row, edges) for row in run.observed - curve.values])
        observed = rest + resampled(curve, t).values
    total = np.add.reduceat(run.roots**2, edges)
    # The root mean square of the standard errors in a bin is that of one of its samples.
    sd = None if run.sd is None else np.sqrt(np.vstack([_mean(row, edges) for row in run.sd**2]))
    first = 1 if count[0] > 1 else 0  # the initial time, at which initial values hold
    return replace(
        run,
        t=np.append(run.t[:first], t),
        observed=np.hstack([np.full((len(observed), first), np.nan), observed]),
        inputs=run.signals,
        counts=np.append(np.ones(first), total),
        sd=None if sd is None else np.hstack([np.full((len(sd), first), np.nan), sd]),
    )


def _edges(t: Float, stride: int) -> Int:
    """Return where each bin of samples begins; sparse samples, and those beside a gap, are bins of one."""
    edges = stride * np.arange(len(t) // stride)  # the last bin takes the remainder, too
    ends = np.append(edges[1:], len(t)) - 1
    width = t[ends] - t[edges]
    sparse = width > SPARSE * np.median(width)
    alone = [np.arange(a, b + 1) for a, b in zip(edges[sparse], ends[sparse], strict=True)]
    return np.unique(np.concatenate([edges, *alone]))


def _mean(row: Float, edges: Int) -> Float:
    """Return the mean of what was observed in each bin, NaN where nothing was."""
    seen = np.isfinite(row)
    there = np.add.reduceat(seen.astype(float), edges)
    total = np.add.reduceat(np.where(seen, row, 0.0), edges)
    return np.where(there > 0, total / np.maximum(there, 1), np.nan)


def _means(row: Float, times: Float, edges: Int, t: Float, variance: Float) -> Float:
    """Return the averages of one channel at the times `t`, NaN where nothing was observed."""
    mean = _mean(row, edges)
    some = np.isfinite(mean)
    if some.sum() < 3:
        return np.full(len(edges), np.nan)
    at = _mean(np.where(np.isfinite(row), times, np.nan), edges)[some]
    slope = np.gradient(mean[some], at)
    mean[some] -= slope * (at - t[some]) + 0.5 * np.gradient(slope, at) * variance[some]
    return mean
