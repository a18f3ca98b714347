"""Why an equation does not explain the data: likely causes, each found by trying the remedy.

A remedy counts if it takes the misfit clearly down; what cannot be tried is not guessed at.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Interpolation, Run, Samples
from gode.equation import Law, parse_skeleton
from gode.errors import EquationError
from gode.fitting.prepare import Prepared, input_values
from gode.fitting.shooting import shoot
from gode.fitting.target import Target
from gode.search.moves import borrowed
from gode.search.settings import Settings
from gode.selection import Candidate

LEFT = 1.2  # times the noise: residuals beyond it have a cause
CLEARLY = 0.7  # share of the misfit that a remedy may leave
MAX_RUNS = 20  # that are fitted one by one
LAGS = (1, 2, 3, 5, 8, 13, 21)  # samples by which an input may be late
DELAYS = 24  # delays of the state that are tried, up to half of the record
GAIN = 0.1  # share of the squared error of u' that a delayed state may leave, if u alone leaves
UNEXPLAINED = 0.05  # of the variance of u'


NO_REMEDY = "no remedy that was tried helps: a quantity that was not measured may act on it"


def likely_causes(best: Candidate, prepared: Prepared, settings: Settings, misfit: float) -> Iterator[str]:
    """Yield what may be wrong with the data or the question, in sentences."""
    if misfit > LEFT:
        yield from _wrong_start(best, prepared, settings)
        yield from _runs_that_differ(best, prepared, settings)
        yield from _late_input(best, prepared, settings)


def helpful_columns(
    best: Candidate, prepared: Prepared, settings: Settings, others: Mapping[str, Sequence[Float]]
) -> Iterator[str]:
    """Yield which other measured columns (one array for each run) would help as an input."""
    if prepared.dataset.inputs:
        return
    try:
        wider = parse_skeleton(f"{best.single.skeleton.text({})} + C*F")
    except EquationError:  # too long, or no sum
        return
    start = borrowed(wider, best.single, [0.0] * wider.n_constants)
    raw, target = prepared.dataset.runs, prepared.target
    before = _refitted(best.equation, target, settings)
    for name, columns in others.items():
        fits = zip(raw, columns, strict=True)
        if any(len(run.t) != len(x) or not np.isfinite(x).all() or np.ptp(x) == 0 for run, x in fits):
            continue
        pairs = zip(target.dataset.runs, raw, columns, strict=True)
        runs = [
            replace(run, inputs={"F": Samples(own.t, values, Interpolation.AUTO)})
            for run, own, values in pairs
        ]
        rms = _refitted(start, target, settings, runs)
        if rms < CLEARLY * before:
            yield f"the column {name!r} would help as a known input: --force {name!r}"


def _refitted(equation: Law, target: Target, settings: Settings, runs: Sequence[Run] | None = None) -> float:
    """Return the root mean square residual after another fit, to runs that were changed."""
    if runs is not None:
        target = replace(target, dataset=replace(target.dataset, runs=tuple(runs)))
    shot = shoot(equation.skeleton, equation.constants, target, config=settings.shooting)
    return float(np.sqrt(shot.sse / max(shot.n_values, 1)))


def _wrong_start(best: Candidate, prepared: Prepared, settings: Settings) -> Iterator[str]:
    if not any(np.isfinite(run.initial).any() for run in prepared.dataset.runs):
        return
    before = _refitted(best.equation, prepared.target, settings)
    free = [replace(run, initial=np.full_like(run.initial, np.nan)) for run in prepared.target.dataset.runs]
    after = _refitted(best.equation, prepared.target, settings, free)
    if after < CLEARLY * before:
        yield (
            f"the initial values given do not suit the data: with fitted ones the misfit would be "
            f"{100 * after / before:.0f} % of what it is; leave them out"
        )


def _runs_that_differ(best: Candidate, prepared: Prepared, settings: Settings) -> Iterator[str]:
    runs = prepared.target.dataset.runs
    if not 1 < len(runs) <= MAX_RUNS:
        return
    squares, n, k = 0.0, 0, 0
    for run, guide in zip(runs, prepared.target.guides, strict=True):
        alone = replace(
            prepared.target, dataset=replace(prepared.target.dataset, runs=(run,)), guides=(guide,)
        )
        shot = shoot(best.equation.skeleton, best.equation.constants, alone, config=settings.shooting)
        squares, n, k = squares + shot.sse, n + shot.n_values, k + shot.n_free
    if n <= 2 * k:
        return  # too few points for constants of their own
    pooled = 1 - best.n_free / n
    before = _refitted(best.equation, prepared.target, settings) / np.sqrt(pooled)
    after = float(np.sqrt(squares / (n - k)))
    if after < CLEARLY * before:
        yield (
            f"the runs differ: with constants of its own for each run the misfit would be "
            f"{100 * after / before:.0f} % of what it is: --individual all"
        )


def _late_input(best: Candidate, prepared: Prepared, settings: Settings) -> Iterator[str]:
    if not best.equation.skeleton.inputs:
        return
    before = _refitted(best.equation, prepared.target, settings)
    runs = prepared.target.dataset.runs
    found = {
        lag: _refitted(best.equation, prepared.target, settings, [_late(run, lag) for run in runs])
        for lag in LAGS
        if lag < min(run.n_points for run in runs)
    }
    lag = min(found, key=lambda k: found[k])
    if found[lag] < CLEARLY * before:
        step = float(np.median(np.diff(prepared.target.dataset.runs[0].t)))
        yield (
            f"the input seems to act about {lag * step:.3g} later than it was recorded: shift it, and the "
            f"misfit would be {100 * found[lag] / before:.0f} % of what it is"
        )


def _late(run: Run, lag: int) -> Run:
    """Return the run with its inputs `lag` samples later; before the first they are as they were then."""
    values = input_values(run, run.t)
    late = {name: np.concatenate([np.full(lag, v[0]), v[:-lag]]) for name, v in values.items()}
    return replace(run, inputs=late)


def delayed_state(prepared: Prepared) -> Iterator[str]:
    """Compare u' explained by u now, and by u now and some time before, on the smoothed data."""
    smooth = prepared.smooths[0]
    t = np.linspace(smooth.t[0], smooth.t[-1], 400)
    u, du = (np.interp(t, smooth.t, row) for row in smooth.values[:2])
    if prepared.blind or prepared.dataset.inputs or np.std(u) == 0:
        return
    x = (u - u.mean()) / np.std(u)
    powers = [x**i for i in range(5)]
    share = {}
    if _left(np.array(powers), du) < UNEXPLAINED * float(np.sum((du - du.mean()) ** 2)):
        return
    for lag in np.unique(np.linspace(4, 200, DELAYS).astype(int)):
        late = np.concatenate([np.full(lag, np.nan), x[:-lag]])
        seen = np.isfinite(late)
        now = _left(np.array([p[seen] for p in powers]), du[seen])
        both = [*powers, late, late**2, late**3, late * x]
        share[int(lag)] = _left(np.array([p[seen] for p in both]), du[seen]) / max(now, 1e-300)
    lag = min(share, key=lambda k: share[k])
    if share[lag] < GAIN:
        yield (
            f"u' follows from u and from what u was about {t[lag] - t[0]:.3g} earlier: a delay, or another "
            "quantity that was not measured; one equation without delay cannot say that"
        )


def _left(rows: Float, target: Float) -> float:
    fitted = rows.T @ np.linalg.lstsq(rows.T, target, rcond=None)[0]
    return float(np.sum((target - fitted) ** 2))
