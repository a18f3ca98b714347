"""Fit of constants and initial values to the trajectory, and the covariance of the estimates.

The equation is solved from its initial values and compared with all observed channels. Levenberg-Marquardt
uses the sensitivities that the solver integrates along with the solution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation import Law, LawSkeleton
from gode.equation.system import make_law
from gode.errors import Failure
from gode.fitting.bounds import bounds_of, within_bounds
from gode.fitting.correlated import HUGE, inverse
from gode.fitting.evidence import Residuals, residuals_of
from gode.fitting.individuals import Individuals
from gode.fitting.normal import add_normal, damped_step
from gode.fitting.target import Target, state_places
from gode.fitting.whiteness import worth
from gode.solve import SolveConfig, set_up
from gode.solve.explicit import DONE
from gode.solve.solution import NOTHING, in_free_constants, integrate

FINEST = 1e-12  # relative tolerance of the solver
Check = Callable[[], None] | None  # called before each solution; may raise to end a fit
STEPS = 4  # more steps allowed for each sample of an input, which the solver has to follow


@dataclass(frozen=True, kw_only=True)
class ShootConfig:
    """How hard to fit a trajectory."""

    max_iterations: int = 25
    tolerance: float = 1e-5  # a relative gain in the sum of squares below this ends the fit
    far: float = 3.0  # a fit with errors above this many times the noise,
    apart: float = 0.05  # and above this share of the signal, counts as far from the data
    rough: float = 1e-3  # tolerance of a fit that is far from the data: it will hardly be chosen
    damping: float = 1e-3  # at the start, relative to the diagonal of the normal matrix
    stiffening: float = 6.0  # factor on the damping after a step that did not help
    easing: float = 0.2  # factor on the damping after one that did
    attempts: int = 8  # dampings tried for one step
    rtol: float = 1e-6  # smallest relative tolerance of the solver; the largest is ten times this
    noise_share: float = 2e-4  # tolerance of the solver as a share of the noise, between those two
    max_steps: int = 1000  # and 20 for each sample; then the implicit method takes over, then it has failed
    bound: float = 30.0  # a solution this many times larger than the data has diverged
    segments: int = 16  # of a record that are fitted first if the whole diverges, at most
    shortest: int = 5  # points of a segment
    segmented: bool = False  # also where one shot stays far from the data, as in chaos
    poor: float = 1.5  # times the noise: where errors grow, a fit that leaves more is tried by segments
    gain: float = 0.5  # share of its squared error that segments may leave, or the law does not fit
    sensitive: float = 10.0  # growth of errors along a record above which the solver is made more accurate,
    unseen: float = 0.1  # unless its own error, as it grew, is below this share of the noise


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
    *,
    config: ShootConfig,
    start: Float | None = None,
    check: Check = None,
) -> Shot:
    """Fit `skeleton` to the trajectory from starting values of its constants.

    Args:
        start: (runs, sum of orders) initial values to start from; by default the smoothed ones.
        check: called before each solution; may raise to end the fit.
    """
    shooter = Shooter(skeleton, target, config, check)
    first, _ = shooter.first(np.asarray(constants, np.float64), start)
    found = shooter.fit(first)
    return failed(skeleton, shooter.n_values, shooter.n_free) if found is None else shooter.shot(found)


def failed(skeleton: LawSkeleton, n_values: int, n_free: int) -> Shot:
    """Return the result of a fit without a solution."""
    nothing = np.zeros((skeleton.n_constants, skeleton.n_constants))
    empty = np.zeros((0, 0))
    return Shot(skeleton, None, empty, np.inf, n_values, n_free, nothing, 0.0, Failure.DIVERGED)


def start_error(equation: Law, target: Target, *, config: ShootConfig) -> float:
    """Return the squared error of a trajectory before anything is fitted; inf where there is no solution."""
    shooter = Shooter(equation.skeleton, target, config)
    p, sse = shooter.first(np.asarray(equation.constants, np.float64), None)
    if np.isfinite(sse):
        return sse
    found = shooter.solve(p, 1.0, slopes=False)
    return np.inf if found is None else found.sse


@dataclass(frozen=True)
class Path:
    """The solution from one point of the parameter space, and how it compares with the data."""

    p: Float  # constants, then the free initial values of each run
    sse: float
    runs: list[tuple[Float, Float]]  # solution (channels, n), sensitivities (parameters, channels, n)
    normal: Float
    gradient: Float


class Shooter:
    """One skeleton on one target."""

    def __init__(
        self, skeleton: LawSkeleton, target: Target, config: ShootConfig, check: Check = None
    ) -> None:
        self.skeleton, self.target, self.config, self.check = skeleton, target, config, check
        self.orders, self.k = skeleton.orders, skeleton.n_constants
        runs = target.dataset.runs
        places = state_places(self.orders)
        self.known = np.array([r.initial[places] for r in runs])
        self.free: Bool = ~np.isfinite(self.known)
        self.n_free = self.k + int(self.free.sum())
        self.rtol = float(np.clip(config.noise_share * target.noise_share, config.rtol, 10 * config.rtol))
        steps = config.max_steps + max(STEPS * r.n_samples for r in runs)
        bound = tuple(config.bound * scale for scale in target.scales)
        solver = SolveConfig(rtol=self.rtol, max_steps=steps, bound=bound)
        highest = [3 * s + order for s, order in enumerate(self.orders)]
        self.setups = [
            set_up(skeleton, r.t, inputs=dict(r.signals), guide=g[highest], config=solver)
            for r, g in zip(runs, target.guides, strict=True)
        ]
        numbers = np.arange(len(skeleton.links) or self.k)
        own, ends = np.arange(self.k), self.k + np.cumsum(self.free.sum(axis=1))
        self.places = [  # of each run: what its sensitivities are taken in, and where that stands in `p`
            (np.append(numbers, -1 - np.flatnonzero(free)), np.append(own, np.arange(end - free.sum(), end)))
            for free, end in zip(self.free, ends, strict=True)
        ]
        self.low, self.high = bounds_of(skeleton, self.n_free)
        self.far = max(config.far, config.apart / target.noise_share)
        self.n_values = target.dataset.n_observed

    def first(self, constants: Float, start: Float | None) -> tuple[Float, float]:
        """Return all numbers to fit in one vector, from the best guess of the initial values; and its error.

        The error is inf where there is only one guess, which needs no solution to be chosen.
        """
        constants = np.clip(constants, self.low[: self.k], self.high[: self.k])
        guesses = [start] if start is not None else self.target.starts(self.orders)
        points = [np.concatenate([constants, guess[self.free]]) for guess in guesses]
        best, least = points[0], np.inf
        for p in points if len(points) > 1 and self.free.any() else ():
            found = self.solve(p, 1.0, slopes=False, limit=least)
            if found is not None:
                best, least = p, found.sse
        return best, least

    def fit(self, first: Float) -> "Path | None":
        """Return the path of least squares from a first point, by segments if one shot fails or is poor."""
        found = self.minimise(first, 1.0)
        if found is None or self._is_poor(found):
            found = min((p for p in (self.grow(first, found), found) if p), key=lambda p: p.sse, default=None)
        return found if found is None or self.is_far(found) else self._accurate(found)

    def _is_poor(self, path: Path) -> bool:
        """Tell whether a fit may have ended far from its optimum."""
        if self.config.segmented and self.is_far(path):
            return True
        poor = path.sse > self.config.poor**2 * self.n_values
        return poor and self._growth(path) > self.config.sensitive

    def is_far(self, path: Path) -> bool:
        """Tell whether a path is so far from the data that its law will hardly be chosen."""
        return path.sse > self.far**2 * self.n_values

    def initial(self, p: Float) -> Float:
        """Return the initial values (runs, sum of orders) at `p`."""
        values = self.known.copy()
        values[self.free] = p[self.k :]
        return values

    def solve(self, p: Float, share: float, *, slopes: bool, limit: float = HUGE**2) -> Path | None:
        """Return the solution over the first `share` of the record; None without one, or above `limit`."""
        initial, constants = self.initial(p), self.skeleton.numbers(p[: self.k])
        total, solved = 0.0, []
        n_free = self.n_free if slopes else 0
        normal, gradient = np.zeros((n_free, n_free)), np.zeros(n_free)
        for i, whole in enumerate(self.setups):
            if self.check:
                self.check()
            setup = whole.until(_n_points(len(whole.t), share))
            n, (observed, weights) = len(setup.t), self.target.samples[i]
            data = observed[:n], weights[:n]
            param, place = self.places[i] if slopes else (NOTHING, NOTHING)
            out = np.empty((observed.shape[1], n))
            sens = np.empty((len(param), *out.shape))
            status, _, sse = integrate(setup, constants, initial[i], param, out, sens, *data, limit - total)
            total += sse
            if status != DONE or not total < limit:
                return None
            sens = in_free_constants(self.skeleton, sens)
            if slopes and not add_normal(out, sens, *data, place, normal, gradient):
                return None
            solved.append((out, sens))
        return Path(p, total, solved, normal, gradient)

    def minimise(self, p: Float, share: float) -> Path | None:
        """Return the path of least squares near `p` by Levenberg-Marquardt, None if `p` has no solution."""
        now, damping = self.solve(p, share, slopes=True), self.config.damping
        if now is None:
            return None
        for _ in range(self.config.max_iterations):
            after, damping = self._step(now, damping, share)
            if after is None:
                break
            gain, now = now.sse - after.sse, after
            if gain <= (self.config.rough if self.is_far(now) else self.config.tolerance) * now.sse:
                break
        return now

    def grow(self, p: Float, one_shot: Path | None = None) -> Path | None:
        """Return the path of least squares by multiple shooting, from short segments to whole records.

        Each segment has initial values of its own, so that errors cannot grow beyond it. Then two neighbours
        become one, which starts where the first of them did, until every run is one trajectory. Where
        segments hardly fit better than `one_shot` did, it ends at once, without a path.
        """
        edges = [self._edges(run.n_points) for run in self.target.dataset.runs]
        constants, starts = p[: self.k], None
        while any(len(each) > 1 for each in edges):
            parts = self._on(self.target.in_segments(edges))
            found = parts.minimise(parts.first(constants, starts)[0], 1.0)
            if found is None and starts is None:
                constants = parts.constants_where_solved(constants)
            elif found is not None:
                if starts is None and one_shot is not None and found.sse > self.config.gain * one_shot.sse:
                    return None  # the law, not the way to its constants, is what does not fit
                constants, starts = found.p[: self.k], parts.initial(found.p)
            if starts is not None:
                numbers = np.cumsum([0, *(len(each) for each in edges)])
                starts = np.vstack([starts[a:b:2] for a, b in pairwise(numbers)])
            edges = [each[::2] for each in edges]
        return self.minimise(self.first(constants, starts)[0], 1.0)

    def _accurate(self, path: Path) -> Path:
        """Return the fit with a solver as accurate as the growth of its errors along the record demands."""
        growth, allowed = self._growth(path), self.config.unseen * self.target.noise_share
        if growth < self.config.sensitive or growth * self.rtol < allowed:
            return path
        rtol = max(self.config.rtol / growth, FINEST)
        finer = replace(self.config, rtol=rtol, noise_share=self.config.noise_share / growth)
        finest = Shooter(self.skeleton, self.target, finer, self.check)
        return finest.minimise(path.p, 1.0) or path

    def _growth(self, path: Path) -> float:
        """Return by how much errors of the initial values grow along the records, in sizes of the states."""
        lowest = [3 * s + k for s, order in enumerate(self.orders) for k in range(order)]
        sizes = np.array([max(np.abs(out[c]).max() for out, _ in path.runs) or 1.0 for c in lowest])
        growth = 0.0
        for (_, sens), free in zip(path.runs, self.free, strict=True):
            of_starts = sens[self.k :][:, lowest] * sizes[free][:, None, None] / sizes[None, :, None]
            growth = max(growth, float(np.abs(of_starts).max(initial=0.0)))
        return growth

    def constants_where_solved(self, constants: Float) -> Float:
        """Return the constants fitted to the runs along which there is a solution; the same if to none."""
        alone = [self._on(self.target.of_run(i)) for i in range(len(self.setups))]
        firsts = [shooter.first(constants, None)[0] for shooter in alone]
        solved = [
            i for i, p in enumerate(firsts) if alone[i].solve(p, 1.0, slopes=False, limit=HUGE) is not None
        ]
        if not solved:
            return constants
        some = self._on(self.target.of_runs(solved))
        found = some.minimise(some.first(constants, None)[0], 1.0)
        return constants if found is None else found.p[: self.k]

    def _on(self, target: Target) -> "Shooter":
        """Return the same law on other runs."""
        return Shooter(self.skeleton, target, self.config, self.check)

    def _edges(self, n: int) -> Int:
        """Return the first points of the segments of a run of `n` points: a power of two of them."""
        number = 2 ** int(np.log2(max(min(n / self.config.shortest, self.config.segments), 1)))
        return np.linspace(0, n, number, endpoint=False).astype(np.int64)

    def _step(self, now: Path, damping: float, share: float) -> tuple[Path | None, float]:
        """Return a better path, or None, and the next damping."""
        normal, gradient = within_bounds(now.p, self.low, self.high, now.normal, now.gradient)
        for attempt in range(self.config.attempts):
            p = np.clip(now.p + damped_step(normal, gradient, damping), self.low, self.high)
            if np.isfinite(p).all():
                # The first attempt mostly succeeds, and then its sensitivities are needed.
                found = self.solve(p, share, slopes=attempt == 0, limit=now.sse)
                if found is not None and attempt:
                    found = self.solve(p, share, slopes=True)
                if found is not None:
                    return found, max(damping * self.config.easing, 1e-12)
            damping *= self.config.stiffening
        return None, damping

    def residuals(self, path: Path) -> Float:
        """Return the weighted residuals, channel after channel of each run."""
        rows = []
        for (out, _), (observed, weights) in zip(path.runs, self.target.samples, strict=True):
            n = out.shape[1]
            rows.append(((observed[:n].T - out) * weights[:n].T)[weights[:n].T > 0])
        return np.concatenate(rows)

    def jacobian(self, path: Path) -> Float:
        """Return the derivatives (free, n) of the solution, in the order and the units of the residuals."""
        columns = []
        for (_, sens), (_, weights), (_, place) in zip(
            path.runs, self.target.samples, self.places, strict=True
        ):
            seen = weights.T > 0  # sensitivities of what was not observed may be missing
            wide = np.zeros((self.n_free, int(seen.sum())))
            wide[place] = sens[:, seen] * weights.T[seen]
            columns.append(wide)
        return np.hstack(columns)

    def shot(self, path: Path) -> Shot:
        """Return the result at the minimum, with the covariance of the constants.

        It is wider by the number of values over the number of independent ones.
        """
        equation = make_law(self.skeleton, path.p[: self.k])
        independent = float(sum(worth(part) for part in np.split(self.residuals(path), self.cuts())))
        freedom = max(self.n_values - self.n_free, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            found = inverse(path.normal) * (path.sse / freedom * self.n_values / independent)
        found = np.clip(np.nan_to_num(found, nan=HUGE), -HUGE, HUGE)[: self.k, : self.k]
        rest = self.n_values, self.n_free, found, independent, None, self.by_state(path)
        return Shot(self.skeleton, equation, self.initial(path.p), path.sse, *rest)

    def by_state(self, path: Path) -> tuple[Residuals, ...]:
        """Return what is left of each state."""
        return tuple(residuals_of(parts, self.n_values) for parts in self.series(path))

    def series(self, path: Path) -> list[list[Float]]:
        """Return the residuals of each state, channel after channel of each run."""
        found: list[list[Float]] = [[] for _ in self.orders]
        for (out, _), (observed, weights) in zip(path.runs, self.target.samples, strict=True):
            for channel, (y, x, w) in enumerate(zip(observed.T, out, weights.T, strict=True)):
                seen = w > 0
                found[channel // 3].append((y[seen] - x[seen]) * w[seen])
        return found

    def cuts(self) -> Int:
        """Return where the residuals of each channel of each run end, but the last."""
        seen = [int(n) for _, weights in self.target.samples for n in (weights > 0).sum(axis=0) if n]
        return np.cumsum(seen)[:-1]


def _n_points(n: int, share: float) -> int:
    """Return how many of `n` times the first `share` of a record has."""
    return n if share >= 1 else max(int(share * n), min(n, 5))
