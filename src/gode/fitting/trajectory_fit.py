"""Fits of laws to trajectories: single shooting, multiple shooting, and runs with constants of their own.

Where one shot over whole records diverges or ends far from its optimum, the records are fitted in segments,
each with initial values of its own (multiple shooting). Where each run has all constants for itself, the
runs are fitted one by one, and those that fail again from the constants of others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gode.arrays import Float, Int
from gode.data.dataset import MIN_POINTS
from gode.data.from_arrays import MAX_SIZE
from gode.equation import Law, LawSkeleton
from gode.equation.system import make_law
from gode.errors import Failure
from gode.fitting.covariance import covariances_at, independent_residuals, quick_covariance
from gode.fitting.evidence import Residuals, residuals_of
from gode.fitting.population import Individuals
from gode.fitting.target import Target
from gode.fitting.trajectory import Check, Path, ShootConfig, Trajectories
from gode.solve.program import late_states
from gode.solve.solution import FINEST

WORSE = 4.0  # A run with more than this times the median mean square is fitted again.
NOISES = 5  # The noise of limited readings and the constants are fitted in turn, at most so often.
SETTLED = 0.05  # These turns end when that noise changes by less than this fraction.
LENDERS = 2  # It starts from the constants of so many of the best runs, besides the median of all.


@dataclass(frozen=True)
class Shot:
    """A skeleton fitted to the trajectory, or the way it failed; `sse` is in units of the noise."""

    skeleton: LawSkeleton
    equation: Law | None
    initial: Float  # (runs, sum of orders)
    sse: float
    n_values: int
    n_free: int  # fitted numbers: constants and unknown initial values
    covariance: Float  # of the constants
    independent: float = 0.0  # effective number of independent residuals
    failure: Failure | None = None
    by_state: tuple[Residuals, ...] = ()
    own: Individuals | None = None  # constants that each run has for itself


def shoot(
    skeleton: LawSkeleton,
    constants: Sequence[float] | Float,
    target: Target,
    per_run: Sequence[int] = (),
    *,
    config: ShootConfig,
    start: Float | None = None,
    check: Check = None,
) -> Shot:
    """Fit `skeleton` to the trajectory from starting values of its constants.

    Args:
        constants: (k,) starting values, or (runs, k) of each run.
        per_run: which constants each run has for itself.
        start: (runs, sum of orders) initial values to start from; by default the smoothed ones.
        check: called before each solution; may raise to end the fit.
    """
    problem = Trajectories(skeleton, target, config, check, per_run=per_run)
    parameters = problem.parameters
    table = np.array(np.broadcast_to(constants, (len(problem.models), skeleton.n_constants)), np.float64)
    if not per_run:
        table[:] = table[0]
        found = fitted(problem, problem.first(table, start)[0])
    elif parameters.shared:
        table[:, parameters.shared] = np.median(table[:, parameters.shared], axis=0)
        found = problem.minimise(problem.first(table, start)[0])
    else:
        found = _one_by_one(problem, problem.first(table, start)[0])
    return _failed(problem) if found is None else _shot(*with_likely_noise(problem, found))


def with_likely_noise(problem: Trajectories, path: Path) -> tuple[Trajectories, Path]:
    """Return a fit with limited readings as noisy as its residuals say; as it is without such readings."""
    before = problem.target.noise_of_limited
    for _ in range(NOISES):
        changed = problem.with_likely_noise(path)
        after = changed.target.noise_of_limited
        if abs(np.log(after / before)) < SETTLED:
            break
        problem, before = changed, after
        path = problem.minimise(path.p) or path
    return problem, path


def start_error(law: Law, target: Target, *, config: ShootConfig) -> float:
    """Return the squared error of a trajectory before anything is fitted; inf where there is no solution."""
    problem = Trajectories(law.skeleton, target, config)
    p, error = problem.first(np.array(law.constants, np.float64), None)
    return error if np.isfinite(error) else problem.error(p)


def fitted(problem: Trajectories, first: Float) -> Path | None:
    """Return the path of least squares from a first point, by segments if one shot fails or is poor."""
    found = problem.minimise(first)
    if found is None or _is_poor(problem, found):
        paths = (_by_segments(problem, first, found), found)
        found = min((path for path in paths if path), key=lambda path: path.sse, default=None)
    return found if found is None or problem.is_far(found) else _accurate(problem, found)


def _is_poor(problem: Trajectories, path: Path) -> bool:
    """Tell whether a fit may have ended far from its optimum."""
    config = problem.config
    if config.segmented and problem.is_far(path):
        return True
    return problem.is_poor(path) and _error_growth(problem, path) > config.sensitive


def _by_segments(problem: Trajectories, p: Float, one_shot: Path | None) -> Path | None:
    """Return the path of least squares by multiple shooting, from short segments to whole records.

    Each segment has initial values of its own, so that errors cannot grow beyond it. Then two neighbours
    become one, which starts where the first of them did, until every run is one trajectory. Where
    segments hardly fit better than `one_shot` did, it ends at once, without a path.
    """
    if late_states(problem.skeleton):
        return None  # a segment does not know what was before it
    config, k = problem.config, problem.parameters.n_constants
    edges = [_edges(run.n_points, config) for run in problem.target.dataset.runs]
    constants, starts, at_first = p[:k], None, True
    while any(len(each) > 1 for each in edges):
        parts = problem.on(problem.target.in_segments(edges))
        found = parts.minimise(parts.first(constants, starts)[0])
        if starts is None and (found is None or parts.is_poor(found)):
            found, constants = _led_by_others(parts, found, constants)
        if found is not None:
            if at_first and one_shot is not None and found.sse > config.gain * one_shot.sse:
                return None  # the law, not the way to its constants, is what does not fit
            constants, at_first = found.p[:k], False
            starts = parts.parameters.initial(found.p)
        if starts is not None:
            numbers = np.cumsum([0, *(len(each) for each in edges)])
            starts = np.vstack([starts[a:b:2] for a, b in pairwise(numbers)])
        edges = [each[::2] for each in edges]
    ends = (problem.minimise(problem.first(constants, starts)[0]), one_shot)
    best = min((path for path in ends if path), key=lambda path: path.sse, default=None)
    return problem.along_valley(best) if best is not None and problem.is_poor(best) else best


def _edges(n: int, config: ShootConfig) -> Int:
    """Return the first points of the segments of a run of `n` points: a power of two of them."""
    number = 2 ** int(np.log2(max(min(n / MIN_POINTS, config.segments), 1)))
    return np.linspace(0, n, number, endpoint=False).astype(np.int64)


def _led_by_others(problem: Trajectories, found: Path | None, constants: Float) -> tuple[Path | None, Float]:
    """Return the better of a poor fit and one from the constants of the runs that fit, and these constants.

    A run that cannot be solved, or has most of the error, hides what the others tell, as one that ends near
    a pole does.
    """
    if found is None:
        alone = [problem.of_run(i) for i in range(len(problem.models))]
        good = [
            i
            for i, one in enumerate(alone)
            if one.error(one.first(constants, None)[0], limit=MAX_SIZE) < np.inf
        ]
    else:
        sizes = np.array([run.sse for run in found.runs])
        good = np.flatnonzero(sizes <= WORSE * np.median(sizes)).tolist()
    if not good or len(good) == len(problem.models):
        return found, constants
    some = problem.on(problem.target.of_runs(good))
    of_good = some.minimise(some.first(constants, None)[0])
    if of_good is None:
        return found, constants
    lent = of_good.p[: len(constants)]
    starts = problem.parameters.initial(problem.first(lent, None)[0])
    starts[good] = some.parameters.initial(of_good.p)
    again = problem.minimise(problem.first(lent, starts)[0])
    return min((path for path in (again, found) if path), key=lambda path: path.sse, default=None), lent


def _accurate(problem: Trajectories, path: Path) -> Path:
    """Return the fit with a solver as accurate as the growth of its errors along the record demands."""
    config, noise = problem.config, problem.target.noise_share
    growth = _error_growth(problem, path)
    if growth < config.sensitive or growth * problem.rtol < config.unseen * noise:
        return path
    rtol = max(config.rtol / growth, FINEST)
    finer = replace(config, rtol=rtol, noise_share=config.noise_share / growth)
    finest = Trajectories(problem.skeleton, problem.target, finer, problem.check)
    return finest.minimise(path.p) or path


def _error_growth(problem: Trajectories, path: Path) -> float:
    """Return by how much errors of the initial values grow along the records, in sizes of the states."""
    lowest = [3 * s + k for s, order in enumerate(problem.skeleton.orders) for k in range(order)]
    sizes = np.array([max(np.abs(run.values[c]).max() for run in path.runs) or 1.0 for c in lowest])
    growth = 0.0
    for run, free in zip(path.runs, problem.parameters.free, strict=True):
        of_starts = run.sensitivities[problem.parameters.n_constants :][:, lowest]
        with np.errstate(over="ignore"):  # what grows beyond all numbers grows enough
            relative = of_starts * sizes[free][:, None, None] / sizes[None, :, None]
        growth = max(growth, float(np.abs(relative).max(initial=0.0)))
    return growth


def _one_by_one(problem: Trajectories, first: Float) -> Path | None:
    """Return the path of least squares of each run by itself; None if one has none.

    Runs that failed or stayed far behind are fitted again from the constants of others.
    """
    k, places = problem.parameters.n_constants, problem.parameters.places
    alone = [problem.of_run(i) for i in range(len(places))]
    paths = [fitted(one, first[place]) for one, place in zip(alone, places, strict=True)]
    sizes = np.array(
        [
            np.inf if path is None else path.sse / max(one.n_values, 1)
            for path, one in zip(paths, alone, strict=True)
        ]
    )
    solved = [path for path in paths if path is not None]
    if 2 * len(solved) < len(paths):
        return None
    typical = float(np.median(sizes[np.isfinite(sizes)]))
    best = [paths[i] for i in np.argsort(sizes)[:LENDERS]]
    loans = [np.median([path.p[:k] for path in solved], axis=0)]
    loans += [path.p[:k] for path in best if path is not None]
    for i in np.flatnonzero(sizes > WORSE * typical):
        others = [fitted(alone[i], alone[i].first(loan, None)[0]) for loan in loans]
        tried = [path for path in (paths[i], *others) if path is not None]
        paths[i] = min(tried, key=lambda path: path.sse, default=None)
    found = [path for path in paths if path is not None]
    return _side_by_side(problem, found) if len(found) == len(paths) else None


def _side_by_side(problem: Trajectories, paths: Sequence[Path]) -> Path:
    """Return the paths of all runs, each fitted by itself, as one."""
    p = np.concatenate([path.p for path in paths])
    sse = float(sum(path.sse for path in paths))
    runs = [run for path in paths for run in path.runs]
    return Path(p, sse, sse, runs, [normal for path in paths for normal in path.normals])


def _failed(problem: Trajectories) -> Shot:
    """Return the result of a fit without a solution."""
    return Shot(
        skeleton=problem.skeleton,
        equation=None,
        initial=np.zeros((0, 0)),
        sse=np.inf,
        n_values=problem.n_values,
        n_free=problem.parameters.size,
        covariance=np.zeros((problem.skeleton.n_constants,) * 2),
        failure=Failure.DIVERGED,
    )


def _shot(problem: Trajectories, path: Path) -> Shot:
    """Return the result at the minimum; constants that the runs do not share are the median of all runs."""
    parameters = problem.parameters
    table = parameters.constants(path.p)
    if parameters.per_run:
        covariance, own = _individuals(problem, path, table)
    else:
        covariance, own = quick_covariance(problem, path), None
    states = problem.residuals_by_state(path)
    return Shot(
        skeleton=problem.skeleton,
        equation=make_law(problem.skeleton, np.median(table, axis=0)),
        initial=parameters.initial(path.p),
        sse=path.sse,
        n_values=problem.n_values,
        n_free=parameters.size,
        covariance=covariance,
        independent=independent_residuals(problem, path),
        by_state=tuple(
            residuals_of(parts, problem.n_values, limited)
            for parts, limited in zip(states, problem.limited_by_state(path), strict=True)
        ),
        own=own,
    )


def _individuals(problem: Trajectories, path: Path, table: Float) -> tuple[Float, Individuals]:
    """Return the covariance of the constants of the law, and the constants that each run has for itself."""
    parameters, found = problem.parameters, covariances_at(problem, path)
    k, places = parameters.n_constants, list(parameters.per_run)
    own = Individuals(
        parameters.per_run,
        table[:, places],
        np.array([c[np.ix_(places, places)] for c in found.runs]),
    )
    covariance = np.mean([c[:k, :k] for c in found.runs], axis=0) / len(path.runs)
    covariance[np.ix_(parameters.shared, parameters.shared)] = found.shared
    return covariance, own
