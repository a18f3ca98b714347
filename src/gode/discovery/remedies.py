"""Changes of a law or of its data that a refit can try: shifted or limited inputs, new terms, pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Interpolation, Run, Samples
from gode.equation import Law, System, SystemSkeleton, parse_equation
from gode.equation.system import input_seen, with_names
from gode.equation.tree import TIME, variables
from gode.errors import EquationError
from gode.fitting.prepare import input_values
from gode.fitting.shooting import Shot
from gode.fitting.target import Target, state_places
from gode.solve import solve

SHARES = (0.05, 0.1, 0.2, 0.35)  # of the largest input, within which it may do nothing
LEVELS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)  # of the range of an input, at which it may be limited
KINKS = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of a state at which a law may change
SMALL = 1e-6  # coefficient of a new term, over the largest of the others: from there the fit finds it


def later(run: Run, delay: float) -> Run:
    """Return the run with its inputs later by some time, and constant where nothing is known of them."""
    inputs = {}
    first, last, gap = run.t[0], run.t[-1], 1e-6 * np.ptp(run.t)
    for name, values in input_values(run, run.t).items():
        t = run.t + delay
        inside = (t > first + gap) & (t < last - gap)
        held = _resolved(run, name) is Interpolation.HOLD
        before = (
            values[max(int(np.searchsorted(t, first + gap)) - 1, 0)] if held else np.interp(first, t, values)
        )
        times = np.concatenate([[first], t[inside], [last]])
        moved = np.concatenate([[before], values[inside], [np.interp(last, t, values)]])
        inputs[name] = Samples(times, moved, _resolved(run, name))
    return replace(run, inputs=inputs)


def _resolved(run: Run, name: str) -> Interpolation:
    """Return how the samples of an input are joined; a formula by a spline."""
    signal = run.signals[name]
    return signal.resolved if isinstance(signal, Samples) else Interpolation.CUBIC


def limits(values: Float) -> Iterator[tuple[float, float]]:
    """Yield pairs of limits of an input: above, below, and on both sides alike; infinite for none."""
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    for share in LEVELS:
        yield -np.inf, low + share * (high - low)
        yield low + (1 - share) * (high - low), np.inf
        if low < 0 < high:
            yield -share * largest, share * largest


def confined(run: Run, name: str, low: float, high: float) -> Run:
    """Return the run with one input kept within limits."""
    values = input_values(run, run.t)
    return _with_input(run, name, np.clip(values[name], low, high))


def dead_zone(run: Run, name: str, width: float) -> Run:
    """Return the run with one input that is zero within ± `width`, and smaller by it beyond."""
    values = input_values(run, run.t)[name]
    return _with_input(run, name, np.sign(values) * np.maximum(np.abs(values) - width, 0.0))


def _with_input(run: Run, name: str, values: Float) -> Run:
    """Return the run with other values of an input; a spline would overshoot where they are cut."""
    joined = _resolved(run, name)
    joined = Interpolation.LINEAR if joined is Interpolation.CUBIC else joined
    return replace(run, inputs={**run.inputs, name: Samples(run.t, values, joined)})


def with_term(law: Law, state: int, term: str) -> Law | None:
    """Return the law with a new term of small size in one equation, None if it cannot have it."""
    law = with_names(law, {})  # in u, F, v1, ..., whatever the user calls them
    equations = list(law.equations)
    old = equations[state]
    size = SMALL * max(1.0, *map(abs, old.constants)) if old.constants else SMALL
    text = old.text(None, {})  # in u and F, whatever they are called when shown
    if term in text:
        return None
    try:
        equations[state] = parse_equation(f"{text} + {size!r}*{term}", inputs=law.skeleton.seen(state))
    except EquationError:  # too long, or no sum
        return None
    if len(equations) == 1:
        return equations[0]
    skeleton = SystemSkeleton(law.states, tuple(e.skeleton for e in equations), law.skeleton.inputs)
    return System(skeleton, tuple(c for e in equations for c in e.constants))


def is_linear(law: Law) -> bool:
    """Tell whether all states enter all equations linearly, with factors that do not depend on them."""
    for equation in law.equations:
        inputs = {input_seen(i, len(law.states)) for i in range(len(law.skeleton.inputs))}
        for term in equation.skeleton.terms:
            names = variables(term.body) - inputs - {TIME}
            if names and term.body.op != "var":
                return False
    return True


def in_pieces(target: Target, n: int, shortest: int) -> tuple[Target, list[int]]:
    """Return the target with each run cut into `n` pieces, each with a start of its own, and their runs."""
    runs, guides, profiles, owners = [], [], [], []
    for i, run in enumerate(target.dataset.runs):
        pieces = max(min(n, run.n_points // shortest), 1)
        for k, part in enumerate(np.array_split(np.arange(run.n_points), pieces)):
            kept = np.isin(np.arange(run.n_points), part)
            piece = run.at(kept)
            runs.append(piece if k == 0 else replace(piece, initial=np.full_like(run.initial, np.nan)))
            guides.append(target.guides[i][:, kept])
            profiles += [p[:, kept] for p in target.profiles[i : i + 1]]
            owners.append(i)
    dataset = replace(target.dataset, runs=tuple(runs), names=())
    return replace(target, dataset=dataset, guides=tuple(guides), profiles=tuple(profiles)), owners


def growth_rate(shot: Shot, target: Target, owners: Sequence[int]) -> float:
    """Return the rate at which small changes of the start grow along the pieces of each run; the largest."""
    law = shot.equation
    assert law is not None, "only what was fitted has a rate"
    places = state_places(law.skeleton.orders)
    rows = [3 * (p // 2) + p % 2 for p in places]
    spreads = np.maximum(np.std(np.hstack([guide[rows] for guide in target.guides]), axis=1), 1e-300)
    change, grown = dict.fromkeys(owners, np.eye(len(rows))), dict.fromkeys(owners, 0.0)
    spans = dict.fromkeys(owners, 0.0)
    for i, run, start in zip(owners, target.dataset.runs, shot.initial, strict=True):
        path = solve(law, run.t, start, inputs=dict(run.signals), sensitivities=True)
        own = path.sensitivities[-len(rows) :][:, rows, -1].T * spreads / spreads[:, None]
        if path.failure is not None or not np.isfinite(own).all():
            continue
        change[i] = own @ change[i]
        size = max(float(np.linalg.norm(change[i], 2)), 1e-300)
        change[i], grown[i] = change[i] / size, grown[i] + float(np.log(size))
        spans[i] += float(run.t[-1] - run.t[0])
    return max((grown[i] / spans[i] for i in grown if spans[i] > 0), default=0.0)
