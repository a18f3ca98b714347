"""The least-squares problem that trajectories pose: blocks of numbers, residuals, one Levenberg-Marquardt.

The law is solved from the initial values of each run and compared with all observed channels. With r_i the
residuals of run i over their noise, and q_i the numbers that this run depends on, the fit minimises

    S(p)  =  sum_i |r_i(q_i)|^2  +  sum_i (q_i - m)^T P (q_i - m)

over the vector p of all numbers: the constants that the runs share, then for each run the constants of its
own and its free initial values. The second sum is there if the numbers of a run have a Gaussian prior of mean
m and precision P. A step solves

    (N + damping diag N) step  =  J r + P (m - q),     N = J J^T + P,

where the derivatives J come from the sensitivities that the solver integrates along with the solution. The
matrix N is dense, or an arrow where the runs have constants of their own. Readings of which only limits are
known add residuals of their own, see `gode.fitting.limits`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.data.from_arrays import MAX_SIZE
from gode.equation import LawSkeleton
from gode.equation.tree import delays, index
from gode.fitting.limits import LimitedPath, LimitedReadings, likely_noise
from gode.fitting.normal import Normal, add_normal, add_rows, damped_arrow_step, damped_step
from gode.fitting.target import Target, state_places
from gode.solve import SolveConfig, set_up
from gode.solve.explicit import DONE
from gode.solve.solution import NOTHING, Setup, in_free_constants, integrate

STEPS = 4  # The solver may take so many more steps for each sample of an input, which it has to follow.

Check = Callable[[], None] | None  # It is called before each solution and may raise to end a fit.


@dataclass(frozen=True, kw_only=True)
class ShootConfig:
    """How hard to fit a trajectory."""

    max_iterations: int = 25  # Levenberg-Marquardt takes at most so many steps; set by hand.
    tolerance: float = 1e-5  # A relative gain in the sum of squares below this ends the fit.
    far: float = 3.0  # A fit is far from the data if its errors exceed this multiple of the noise,
    apart: float = 0.05  # and this share of the signal.
    rough: float = 1e-3  # This ends a fit that is far from the data: it will hardly be chosen.
    damping: float = 1e-3  # The first damping, relative to the diagonal of the normal matrix.
    stiffening: float = 6.0  # The damping is multiplied by this after a step that did not help,
    easing: float = 0.2  # and by this after one that did.
    attempts: int = 8  # So many dampings are tried for one step.
    rtol: float = SolveConfig.rtol  # The tolerance of the solver is at least this, at most ten times this.
    noise_share: float = 2e-4  # Between those two, the tolerance is this share of the noise.
    max_steps: int = 1000  # After these, and 20 for each sample, the implicit method takes over.
    bound: float = 30.0  # A solution this many times larger than the data has diverged.
    segments: int = 16  # If the whole record diverges, at most so many segments of it are fitted first.
    segmented: bool = False  # also where one shot stays far from the data, as in chaos
    poor: float = 1.5  # Where errors grow, a fit that leaves more times the noise is tried by segments.
    gain: float = 0.5  # A law does not fit if segments leave more than this share of its squared error.
    sensitive: float = 10.0  # Where errors grow by more along a record, the solver is made more accurate,
    unseen: float = 0.1  # unless its own error, as it grew, is below this share of the noise.


@dataclass(frozen=True)
class Parameters:
    """The fitted numbers in one vector p, and where each run finds those that it depends on.

    The numbers of a run are all constants of the law, in its order, and then the run's free initial values.
    """

    n_constants: int
    per_run: tuple[int, ...]  # which constants each run has for itself
    known: Float  # (runs, sum of orders) the initial values; NaN where they are free
    places: tuple[Int, ...]  # where in p the numbers of each run stand
    low: Float  # the bounds of p
    high: Float

    @property
    def shared(self) -> list[int]:
        """Which constants all runs share."""
        return [i for i in range(self.n_constants) if i not in self.per_run]

    @property
    def free(self) -> Bool:
        """Which initial values (runs, sum of orders) are fitted."""
        return ~np.isfinite(self.known)

    @property
    def size(self) -> int:
        """How many numbers are fitted."""
        return len(self.low)

    def joined(self, constants: Float, initial: Float) -> Float:
        """Return the vector p, within its bounds, of constants (runs, k) and initial values (runs, n)."""
        p = np.empty(self.size)
        for place, row, start, free in zip(self.places, constants, initial, self.free, strict=True):
            p[place] = np.append(row, start[free])
        return np.clip(p, self.low, self.high)

    def constants(self, p: Float) -> Float:
        """Return the constants (runs, k) that each run has at `p`."""
        return np.array([p[place[: self.n_constants]] for place in self.places])

    def initial(self, p: Float) -> Float:
        """Return the initial values (runs, sum of orders) at `p`."""
        values = self.known.copy()
        for row, place in zip(values, self.places, strict=True):
            row[~np.isfinite(row)] = p[place[self.n_constants :]]
        return values


def make_parameters(skeleton: LawSkeleton, target: Target, per_run: Sequence[int] = ()) -> Parameters:
    """Return the numbers to fit: constants, shared but for those `per_run`, and unknown initial values."""
    k = skeleton.n_constants
    known = np.array([run.initial[state_places(skeleton.orders)] for run in target.dataset.runs])
    low, high = np.full(k, -np.inf), np.full(k, np.inf)
    for i, parameter in enumerate(skeleton.parameters):
        low[i] = parameter.low
        high[i] = parameter.high
    for i in delay_numbers(skeleton):  # what acted before a record began was constant
        high[i] = min(high[i], max(float(np.ptp(run.t)) for run in target.dataset.runs))
    shared = [i for i in range(k) if i not in per_run]
    of_p = list(shared)  # the constant that each entry of p is, -1 for an initial value
    places = []
    for row in known:
        place = np.empty(k + int((~np.isfinite(row)).sum()), np.int64)
        place[shared] = range(len(shared))
        alone = [i for i in range(len(place)) if i not in shared]
        place[alone] = range(len(of_p), len(of_p) + len(alone))
        of_p += [i if i < k else -1 for i in alone]
        places.append(place)
    low = np.append(low, -np.inf)[of_p]
    high = np.append(high, np.inf)[of_p]
    return Parameters(k, tuple(per_run), known, tuple(places), low, high)


def delay_numbers(skeleton: LawSkeleton) -> list[int]:
    """Return which free constants are delays."""
    places = skeleton.places
    found, first = set[int](), 0
    for part in skeleton.parts:
        numbers = [index(node.args[1]) for node in delays(part.normal) if node.args[1].op == "const"]
        found |= {int(places[first + i]) for i in numbers}
        first += part.n_constants
    return sorted(found)


class Prior(NamedTuple):
    """A Gaussian prior of the numbers of each run: its mean (k,) and its precision (k, k)."""

    mean: Float
    precision: Float

    def cost(self, numbers: Float) -> float:
        """Return the squared distance from the mean, in standard deviations."""
        gap = numbers - self.mean
        return float(gap @ self.precision @ gap)


class RunPath(NamedTuple):
    """The solution along one run."""

    values: Float  # (channels, n)
    sensitivities: Float  # (numbers of the run, channels, n)
    sse: float  # the sum of its squared residuals, those of limited readings among them
    limited: LimitedPath  # its readings of which only limits are known


@dataclass(frozen=True)
class Path:
    """The solutions along all runs at one point of the parameter space, and how far off they are."""

    p: Float
    sse: float  # the sum of squared residuals
    cost: float  # the same and the distance from the prior: what is minimised
    runs: list[RunPath]
    normals: list[Normal]  # of all runs together, or of each run where these have constants of their own


class RunModel(NamedTuple):
    """One run: how the law is solved along it, and what its solution is compared with."""

    setup: Setup
    observed: Float  # (n, channels), 0 where nothing was observed
    weights: Float  # (n, channels) one over the noise, 0 where nothing was observed
    directions: Int  # in which sensitivities are taken: constants of all equations, initial values as -1 - i
    limited: LimitedReadings | None  # the readings of which only limits are known

    def solve(self, constants: Float, initial: Float, limit: float, *, slopes: bool) -> RunPath | None:
        """Return the solution; None without one, or with a squared error above `limit`."""
        skeleton = self.setup.skeleton
        directions = self.directions if slopes else NOTHING
        values = np.empty((self.observed.shape[1], len(self.setup.t)))
        sens = np.empty((len(directions), *values.shape))
        data = self.observed, self.weights
        if self.limited is not None:
            data = self.limited.spread(self.observed), self.limited.spread(self.weights)
        numbers = skeleton.numbers(constants)
        status, _, sse = integrate(self.setup, numbers, initial, directions, values, sens, *data, limit)
        if status != DONE or not sse < limit:
            return None
        sens = in_free_constants(skeleton, sens)
        if self.limited is None:
            return RunPath(values, sens, sse, LimitedPath.nothing(len(sens)))
        limited = self.limited.along(values, sens)
        sse += limited.squares
        if not sse < limit:
            return None
        read = self.limited.read
        return RunPath(values[:, read].copy(), sens[:, :, read].copy(), sse, limited)

    def residuals(self, path: RunPath) -> list[Float]:
        """Return the weighted residuals of each channel, empty for one that was not observed."""
        rows = zip(self.observed.T, path.values, self.weights.T, strict=True)
        return [(y[w > 0] - x[w > 0]) * w[w > 0] for y, x, w in rows]

    def series(self, path: RunPath) -> list[tuple[Float, int]]:
        """Return the residuals of each channel with the scores of limited readings among them.

        Each comes with the number of its ordinary readings.
        """
        found = [(part, len(part)) for part in self.residuals(path)]
        limited = self.limited
        if limited is None:
            return found
        for c in np.unique(limited.limits.channel):
            own = limited.limits.channel == c
            t = np.append(limited.t[limited.read][self.weights[:, c] > 0], limited.limits.t[own])
            part, n = found[c]
            found[c] = np.append(part, path.limited.scores[own])[np.argsort(t, kind="stable")], n
        return found

    def jacobian(self, path: RunPath) -> Float:
        """Return the derivatives (numbers of the run, n + m) of the solution, in the units of the residuals.

        Those of limited readings are the last.
        """
        seen = self.weights.T > 0  # sensitivities of what was not observed may be missing
        of_read = np.asarray(path.sensitivities[:, seen] * self.weights.T[seen])
        return np.hstack([of_read, path.limited.slopes]) if self.limited else of_read


class Trajectories:
    """The least-squares problem of one skeleton on the runs of a target; see the module's docstring."""

    def __init__(
        self,
        skeleton: LawSkeleton,
        target: Target,
        config: ShootConfig,
        check: Check = None,
        *,
        per_run: Sequence[int] = (),
        prior: Prior | None = None,
    ) -> None:
        self.skeleton, self.target, self.config = skeleton, target, config
        self.check, self.prior = check, prior
        self.parameters = make_parameters(skeleton, target, per_run)
        self.n_values = target.dataset.n_observed
        self.rtol = _solver_tolerance(target, config)
        self.far = max(config.far, config.apart / target.noise_share)
        self.models = self._models()

    def _models(self) -> list[RunModel]:
        """Return the runs, solved as accurately as their noise allows: all together, or each by itself."""
        skeleton, target, config = self.skeleton, self.target, self.config
        n_numbers = len(skeleton.links) or skeleton.n_constants
        bound = tuple(config.bound * scale for scale in target.scales)
        highest = [3 * s + order for s, order in enumerate(skeleton.orders)]
        models = []
        for i, run in enumerate(target.dataset.runs):
            fitted_with = target.of_run(i) if self.parameters.per_run else target
            steps = config.max_steps + max(STEPS * other.n_samples for other in fitted_with.dataset.runs)
            solver = SolveConfig(rtol=_solver_tolerance(fitted_with, config), max_steps=steps, bound=bound)
            guide = target.guides[i][highest]
            signals = dict(run.signals)
            limited = target.limited(i)
            t = run.t if limited is None else limited.t
            if limited is not None:
                guide = np.array([np.interp(t, run.t, row) for row in guide])
            setup = set_up(skeleton, t, inputs=signals, doses=run.doses, guide=guide, config=solver)
            directions = np.append(np.arange(n_numbers), -1 - np.flatnonzero(self.parameters.free[i]))
            models.append(RunModel(setup, *target.samples[i], directions, limited))
        return models

    def of_run(self, i: int) -> "Trajectories":
        """Return the problem of one run by itself."""
        return self.on(self.target.of_run(i))

    def on(self, target: Target) -> "Trajectories":
        """Return the problem of the same law on other runs, all of which share its constants."""
        return Trajectories(self.skeleton, target, self.config, self.check)

    def with_likely_noise(self, path: Path) -> "Trajectories":
        """Return the problem with limited readings as noisy as residuals say; itself without such readings.

        The noise of ordinary readings is a factor on all residuals, which moves no minimum.
        """
        if not any(model.limited for model in self.models):
            return self
        limited = sum(run.limited.squares for run in path.runs)
        freedom = sum(run.limited.freedom for run in path.runs)
        own = max(self.n_values - self.parameters.size, 1)
        noise = likely_noise(path.sse - limited, own, freedom) or 1.0
        target = replace(self.target, noise_of_limited=noise)
        return Trajectories(
            self.skeleton,
            target,
            self.config,
            self.check,
            per_run=self.parameters.per_run,
            prior=self.prior,
        )

    def is_far(self, path: Path) -> bool:
        """Tell whether a path is so far from the data that its law will hardly be chosen."""
        return path.sse > self.far**2 * self.n_values

    def is_poor(self, path: Path) -> bool:
        """Tell whether a path leaves more than the noise."""
        return path.sse > self.config.poor**2 * self.n_values

    def first(self, constants: Float, start: Float | None) -> tuple[Float, float]:
        """Return the point of constants (k,) or (runs, k) and the best guess of initial values; its error.

        The guess is chosen for all runs together, or for each if it has constants of its own. The error is
        inf where there is only one guess, which needs no solution to be chosen, or where none has one.
        """
        guesses = [start] if start is not None else self.target.starts(self.skeleton.orders)
        parameters, n_runs = self.parameters, len(self.models)
        table = np.broadcast_to(constants, (n_runs, parameters.n_constants))
        points = [parameters.joined(table, guess) for guess in guesses]
        best, total = points[0].copy(), 0.0
        for runs in [[i] for i in range(n_runs)] if parameters.per_run else [range(n_runs)]:
            least = np.inf
            several = len(points) > 1 and parameters.free[runs].any()
            for p in points if several else ():
                error = self.error(p, runs, limit=least)
                if error < least:
                    least = error
                    for i in runs:
                        best[parameters.places[i]] = p[parameters.places[i]]
            total += least
        return best, total

    def error(self, p: Float, runs: Sequence[int] | None = None, *, limit: float = MAX_SIZE**2) -> float:
        """Return the squared error of some runs at `p`, by default all; inf if not solved below `limit`."""
        initial, total = self.parameters.initial(p), 0.0
        for i in range(len(self.models)) if runs is None else runs:
            if self.check:
                self.check()
            constants = p[self.parameters.places[i][: self.parameters.n_constants]]
            solved = self.models[i].solve(constants, initial[i], limit - total, slopes=False)
            if solved is None:
                return np.inf
            total += solved.sse
        return total

    def solve(self, p: Float, limit: float = MAX_SIZE**2) -> Path | None:
        """Return the solutions at `p` with their derivatives; None without one, or above `limit` in cost."""
        k, places = self.parameters.n_constants, self.parameters.places
        initial = self.parameters.initial(p)
        sse, distance = 0.0, self._distance(p)
        paths: list[RunPath] = []
        normals = [] if self.parameters.per_run else [_empty(len(p))]
        for i, model in enumerate(self.models):
            if self.check:
                self.check()
            path = model.solve(p[places[i][:k]], initial[i], limit - distance - sse, slopes=True)
            if path is None:
                return None
            sse += path.sse
            columns = places[i]
            if self.parameters.per_run:
                columns = np.arange(len(columns))
                normals.append(_empty(len(columns)))
            data = model.observed, model.weights
            if not add_normal(path.values, path.sensitivities, *data, columns, *normals[-1]):
                return None
            if model.limited and not add_rows(*path.limited[:2], columns, normals[-1]):
                return None
            if self.prior is not None:
                normals[-1].matrix[np.ix_(columns, columns)] += self.prior.precision
                normals[-1].gradient[columns] += self.prior.precision @ (self.prior.mean - p[places[i]])
            paths.append(path)
        return Path(p, sse, distance + sse, paths, normals)

    def _distance(self, p: Float) -> float:
        """Return the squared distance from the prior."""
        if self.prior is None:
            return 0.0
        return sum(self.prior.cost(p[place]) for place in self.parameters.places)

    def minimise(self, p: Float) -> Path | None:
        """Return the path of least cost near `p` by Levenberg-Marquardt, None if `p` has no solution.

        A fit that is near the data and has not ended goes on along the valley in which it then is.
        """
        now, damping = self.solve(p), self.config.damping
        if now is None:
            return None
        for _ in range(self.config.max_iterations):
            after, damping = self._improved(now, damping)
            if after is None:
                break
            gain = now.cost - after.cost
            now = after
            if gain <= (self.config.rough if self.is_far(now) else self.config.tolerance) * now.cost:
                break
        else:
            if not self.parameters.per_run and not self.is_poor(now):
                return self.along_valley(now)
        return now

    def along_valley(self, now: Path) -> Path:
        """Return the path of least cost from one in a narrow valley that bends, by steps that bend with it.

        Near a pole, constants and initial values must change together to keep its place, so that straight
        steps leave the valley unless they are tiny. A gain may then be small far from the minimum, and
        only as many such in a row as there are numbers end the fit, or twice the usual number of steps.
        """
        damping, small = self.config.damping, 0
        for _ in range(2 * self.config.max_iterations):
            after, damping = self._improved(now, damping, bent=True)
            if after is None:
                break
            small = small + 1 if now.cost - after.cost <= self.config.tolerance * after.cost else 0
            now = after
            if small == len(now.p):
                break
        return now

    def _improved(self, now: Path, damping: float, *, bent: bool = False) -> tuple[Path | None, float]:
        """Return a path of less cost, or None, and the next damping."""
        low, high = self.parameters.low, self.parameters.high
        normals = self._within_bounds(now)
        for attempt in range(self.config.attempts):
            step = self._step(normals, damping)
            step = self._bent(step, now, damping) if bent else step
            p = np.clip(now.p + step, low, high)
            # The first attempt mostly succeeds, and then its sensitivities are needed.
            if np.isfinite(p).all() and (attempt == 0 or self._is_better(p, now)):
                found = self.solve(p, now.cost if attempt == 0 else MAX_SIZE**2)
                if found is not None:
                    return found, max(damping * self.config.easing, 1e-12)
            damping *= self.config.stiffening
        return None, damping

    def _is_better(self, p: Float, now: Path) -> bool:
        distance = self._distance(p)
        return self.error(p, limit=now.cost - distance) < np.inf

    def _within_bounds(self, now: Path) -> list[Normal]:
        """Return the normal equations of a step; numbers that would leave their bounds stay there."""
        places, gradient = self._places_of_normals(), np.zeros(len(now.p))
        for place, normal in zip(places, now.normals, strict=True):
            gradient[place] += normal.gradient
        low, high = self.parameters.low, self.parameters.high
        at_bound = ((now.p <= low) & (gradient < 0)) | ((now.p >= high) & (gradient > 0))
        if not at_bound.any():
            return now.normals
        return [normal.held_at(at_bound[place]) for place, normal in zip(places, now.normals, strict=True)]

    def _step(self, normals: Sequence[Normal], damping: float) -> Float:
        """Return the damped step of all numbers."""
        if not self.parameters.per_run:
            return np.asarray(damped_step(*normals[0], damping))
        step = np.empty(self.parameters.size)
        steps = damped_arrow_step(normals, self.parameters.shared, damping)
        for place, part in zip(self.parameters.places, steps, strict=True):
            step[place] = part
        return step

    def _bent(self, step: Float, now: Path, damping: float) -> Float:
        """Return a step with half of the acceleration that keeps to the bend of the solution along it.

        With x'' the second derivative of the solution along the step v, from its change over a tenth of it,
        the acceleration is -(N + damping diag N)^-1 J x''. One that is longer than the step belongs to a
        step that is too long, which NaN refuses. All runs must share the constants.
        """
        short, (normal,) = 0.1, now.normals
        part = self.solve(now.p + short * step) if np.isfinite(step).all() else None
        if part is None:
            return np.full_like(step, np.nan)
        jacobian = self.jacobian(now)
        here, there = (np.concatenate(self.residuals(path)) for path in (now, part))
        change = here - there - short * (step @ jacobian[:, : len(here)])
        bend = 2 / short**2 * (jacobian[:, : len(here)] @ change)
        acceleration = -np.asarray(damped_step(normal.matrix, bend, damping))
        sizes = np.sqrt(np.diag(normal.matrix))
        if not np.linalg.norm(sizes * acceleration) <= np.linalg.norm(sizes * step):
            return np.full_like(step, np.nan)
        return np.asarray(step + acceleration / 2)

    def _places_of_normals(self) -> Sequence[Int]:
        """Return where in p the numbers of each of the normal equations stand."""
        return self.parameters.places if self.parameters.per_run else [np.arange(self.parameters.size)]

    def residuals(self, path: Path) -> list[Float]:
        """Return the weighted residuals of each channel of each run that was observed."""
        runs = zip(self.models, path.runs, strict=True)
        return [part for model, run in runs for part in model.residuals(run) if len(part)]

    def series(self, path: Path) -> list[tuple[Float, int]]:
        """Return for each channel of each run what `RunModel.series` does, where there is any."""
        runs = zip(self.models, path.runs, strict=True)
        return [each for model, run in runs for each in model.series(run) if len(each[0])]

    def residuals_by_state(self, path: Path) -> list[list[Float]]:
        """Return the weighted residuals of each state, channel after channel of each run."""
        found: list[list[Float]] = [[] for _ in self.skeleton.orders]
        for model, run in zip(self.models, path.runs, strict=True):
            for channel, part in enumerate(model.residuals(run)):
                found[channel // 3].append(part)
        return found

    def limited_by_state(self, path: Path) -> list[float]:
        """Return for each state the squared residuals of its readings of which only limits are known."""
        found = [0.0] * len(self.skeleton.orders)
        for model, run in zip(self.models, path.runs, strict=True):
            channels = model.limited.limits.channel if model.limited else ()
            for channel, r in zip(channels, run.limited.residuals, strict=True):
                found[channel // 3] += float(r**2)
        return found

    def jacobian(self, path: Path) -> Float:
        """Return the derivatives (size of p, n + m) of the solution, in order and units of the residuals.

        Those of limited readings are the last.
        """
        columns, limited = [], []
        for model, run, place in zip(self.models, path.runs, self.parameters.places, strict=True):
            part = model.jacobian(run)
            wide = np.zeros((self.parameters.size, part.shape[1]))
            wide[place] = part
            own = len(part.T) - len(run.limited.residuals)
            columns.append(wide[:, :own])
            limited.append(wide[:, own:])
        return np.hstack([*columns, *limited])


def _solver_tolerance(target: Target, config: ShootConfig) -> float:
    """Return the relative tolerance of the solver, which follows from the noise."""
    return float(np.clip(config.noise_share * target.noise_share, config.rtol, 10 * config.rtol))


def _empty(n: int) -> Normal:
    return Normal(np.zeros((n, n)), np.zeros(n))
