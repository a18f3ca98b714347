"""The cheap problems that smoothed records pose: of all runs together, and of each run by itself.

Long records are taken in windows, and along other states in pieces of a cycle or two. A `Piece` knows its
run; whatever is cut, of a scalar or of a view of a system, is cut by the same pieces.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.data import Columns, Dataset, join_runs
from gode.data.columns import split_at_jumps
from gode.data.dataset import cycles, held_inputs
from gode.data.doses import added
from gode.data.smoothing import evenly
from gode.equation.tree import is_other
from gode.fitting.problem import Regression, integral_problem, residual_problem
from gode.fitting.target import SCREENED, SHORTEST

# Integrated accelerations are used until their drift exceeds this fraction of the standard deviation of u
# about its own drift, but never fewer than so many points; the drift is a polynomial of this degree. Inputs
# are integrated over averages if these miss less than the same fraction of theirs.
TRUSTED = 0.2
FEWEST = 50
SLOW = 5
CYCLES = 1.5  # A piece with its own initial values is so many cycles long.
FEWEST_IN_PIECE = 10  # Such a piece has at least so many points.
FEWEST_RUNS = 6  # At least so many runs are scored by themselves.
COARSE = 10  # With fewer points a cycle, integrals over the samples are poor.
WINDOWS = 6  # All long runs together are seen through so many windows.


class Piece(NamedTuple):
    """Points low to high (exclusive) of one run, counted from its beginning."""

    run: int
    low: int
    high: int


def cheap_problems(
    dataset: Dataset, columns: Columns, order: int, noise: Float, *, solved: bool = False
) -> tuple[Regression, ...]:
    """Return the cheap problems of this order; of accelerations alone, also without their drift.

    Args:
        solved: whether the columns are the solution of a law, which does not drift.
    """
    if solved:
        return problems_of(dataset, columns, order)
    found = problems_of(dataset, before_drift(dataset, columns, noise), order)
    if is_blind(dataset):
        undrifted = without_drift(dataset, columns)
        found += (residual_problem(_taken(undrifted, _windows(undrifted))),)
    return found


def problems_of_each(
    dataset: Dataset,
    columns: Columns,
    order: int,
    noise: Float,
    together: tuple[Regression, ...],
    *,
    solved: bool = False,
) -> tuple[tuple[Regression, ...], ...]:
    """Return, for each of the problems of all runs `together`, that of each run by itself.

    Of many long runs some are enough, spread evenly.
    """
    forms = [problem.form for problem in together]
    runs, length = [], float(np.median([run.n_points for run in dataset.runs]))
    for i in evenly(len(dataset.runs), max(int(SCREENED / length), FEWEST_RUNS)):
        alone = list(cheap_problems(dataset.of_runs([i]), columns.of_run(i), order, noise, solved=solved))
        runs.append([alone.pop([problem.form for problem in alone].index(form)) for form in forms])
    return tuple(zip(*runs, strict=True))


def problems_of(dataset: Dataset, columns: Columns, order: int) -> tuple[Regression, ...]:
    """Return the cheap problems: the integral form if u was observed, and the residual."""
    windows = _windows(columns)
    columns, smoothed_alone = _without_doses(dataset, columns), columns
    residual = residual_problem(_taken(columns, windows))
    if not all(np.isfinite(run.observed[0]).any() for run in dataset.runs):
        return (residual,)
    pieces = [piece for window in windows for piece in _cut(dataset, window)]
    short = columns.n_points <= SCREENED
    unknown = np.full(order, np.nan)
    initial = [dataset.runs[p.run].initial[:order] if short and p.low == 0 else unknown for p in pieces]
    held = held_inputs(dataset)
    pair = (_taken(each, pieces) for each in (_observed(dataset, columns), smoothed_alone))
    seen, smoothed = (split_at_jumps(each, held) for each in pair)
    integral = integral_problem(seen, order, initial=initial, columns=smoothed)
    fast = any(run.n_points < COARSE * cycles(run) for run in dataset.runs)
    return (residual, integral) if fast else (integral, residual)


def _without_doses(dataset: Dataset, columns: Columns) -> Columns:
    """Return the columns with the derivative that an equation has to explain: without what infusions add."""
    if not dataset.is_dosed:
        return columns
    matrix = columns.matrix.copy()
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        if run.doses:
            infusions = [dose for dose in run.doses if dose.channel == 0 and dose.duration]
            t = matrix[0, low:high]  # The times of a hidden state end early.
            matrix[2, low:high] -= added(infusions, t)[1]
    return replace(columns, matrix=matrix)


def before_drift(dataset: Dataset, columns: Columns, noise: Float) -> Columns:
    """Return the columns, or where only accelerations were measured their part before u drifts away.

    Twice integrated, white noise of the accelerations grows like t^1.5; the part ends where that reaches a
    share of the swings of u about its own drift.
    """
    if not is_blind(dataset):
        return columns
    pieces = []
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        t, u = run.t - run.t[0], columns.matrix[1, low:high]
        swing = np.std(u - _drift(t, u)(t))
        drift = noise[2] * np.sqrt(np.median(np.diff(t)) / 3) * t**1.5
        n = max(int(np.searchsorted(drift, TRUSTED * swing)), min(len(t), FEWEST))
        pieces.append(replace(columns, matrix=columns.matrix[:, low : low + n], starts=np.array([0, n])))
    return join_runs(pieces)


def without_drift(dataset: Dataset, columns: Columns) -> Columns:
    """Return all of the columns with u and u' about their own drift: many bodies swing about a place."""
    matrix = columns.matrix.copy()
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        drift = _drift(run.t, matrix[1, low:high])
        matrix[1, low:high] -= drift(run.t)
        matrix[2, low:high] -= drift.deriv()(run.t)
    return replace(columns, matrix=matrix)


def _drift(t: Float, u: Float) -> np.polynomial.Polynomial:
    found, _ = np.polynomial.Polynomial.fit(t, u, min(SLOW, len(t) // 2), full=True)  # and no warning
    return found


def is_blind(dataset: Dataset) -> bool:
    """Tell whether of some state nothing but accelerations was measured."""
    lower = [
        np.isfinite(run.observed.reshape(-1, 3, run.n_points)[:, :2]).any(axis=(1, 2)) for run in dataset.runs
    ]
    return not np.any(lower, axis=0).all()


def _windows(columns: Columns) -> list[Piece]:
    """Return every run as it is, or evenly spread windows of long ones."""
    lengths = [int(n) for n in np.diff(columns.starts)]
    if columns.n_points <= 1.5 * max(SCREENED, SHORTEST * len(lengths)):
        return [Piece(run, 0, n) for run, n in enumerate(lengths)]
    number = max(WINDOWS // len(lengths), 1)
    size = max(SCREENED // (number * len(lengths)), SHORTEST)
    return [
        Piece(run, int(low), int(low) + min(size, n))
        for run, n in enumerate(lengths)
        for low in np.unique(np.linspace(0, n - min(size, n), number).astype(int))
    ]


def _cut(dataset: Dataset, piece: Piece) -> list[Piece]:
    """Return the pieces of a cycle or two, each with initial values of its own, where there are other states.

    Over many cycles the errors of smoothed states add up.
    """
    if not any(is_other(name) for name in dataset.inputs):
        return [piece]
    run, n = dataset.runs[piece.run], piece.high - piece.low
    share = np.ptp(run.t[piece.low : piece.high]) / np.ptp(run.t)
    number = int(max(min(round(share * cycles(run) / CYCLES), n // FEWEST_IN_PIECE), 1))
    edges = np.linspace(piece.low, piece.high, number + 1).astype(int).tolist()
    return [Piece(piece.run, low, high) for low, high in pairwise(edges)]


def _taken(columns: Columns, pieces: Sequence[Piece]) -> Columns:
    """Return the pieces of the columns, each a run of its own."""
    begin = columns.starts
    parts = [columns.matrix[:, begin[p.run] + p.low : begin[p.run] + p.high] for p in pieces]
    starts = np.cumsum([0, *(p.high - p.low for p in pieces)])
    return replace(columns, matrix=np.hstack(parts), starts=starts)


def _observed(dataset: Dataset, columns: Columns) -> Columns:
    """Return the columns with the measured u instead of the smoothed one, where there is one."""
    u = np.concatenate([run.observed[0] for run in dataset.runs])
    matrix = columns.matrix.copy()
    matrix[1] = np.where(np.isfinite(u), u, matrix[1])
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        if run.doses:
            matrix[1, low:high] -= added(run.doses, run.t)[0]
    return replace(columns, matrix=matrix)
