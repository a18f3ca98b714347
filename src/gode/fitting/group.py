"""Trajectory fits of laws whose constants may belong to the runs, and the covariance of the estimates.

A run's own constants and initial values touch it alone. Without shared constants the runs are fitted one by
one; with them the normal equations have the form of an arrow, and what belongs to a run is eliminated first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from gode.arrays import Bool, Float
from gode.equation import Law, LawSkeleton
from gode.equation.system import make_law
from gode.fitting.correlated import HUGE, correlation, inverse, longer, sandwich, spread_by
from gode.fitting.evidence import Residuals, residuals_of
from gode.fitting.individuals import NORMAL, Individuals
from gode.fitting.moderated import moderated
from gode.fitting.shooting import Check, Path, ShootConfig, Shooter, Shot, failed, shoot
from gode.fitting.target import Target
from gode.fitting.whiteness import worth

WORSE = 4.0  # times the median mean square, above which a run is fitted again from the constants of others
MOST_TAKEN = 0.75  # of the values of a run, as degrees of freedom of its fit
LENDERS = 2  # runs whose constants are tried for it, besides the median of all


def shoot_law(
    skeleton: LawSkeleton,
    constants: Sequence[float] | Float,
    target: Target,
    own: Sequence[int],
    *,
    config: ShootConfig,
    start: Float | None = None,
    check: Check = None,
) -> Shot:
    """Fit `skeleton` to the trajectory; the constants `own` belong to each run.

    Args:
        constants: (k,) starting values, or (runs, k) of each run.
        start, check: see `shoot`.
    """
    given = np.asarray(constants, np.float64)
    if not len(own):
        one = given if given.ndim == 1 else given[0]
        return shoot(skeleton, one, target, config=config, start=start, check=check)
    group = _Group(skeleton, target, own, config, check)
    found = group.fit(np.broadcast_to(given, (len(group.shooters), skeleton.n_constants)), start)
    return failed(skeleton, group.n_values, group.n_free) if found is None else group.shot(found)


def start_errors(skeleton: LawSkeleton, table: Float, target: Target, *, config: ShootConfig) -> Float:
    """Return the squared error (runs,) of each run before anything is fitted; inf without a solution."""
    errors = []
    for i, constants in enumerate(table):
        shooter = Shooter(skeleton, target.of_run(i), config)
        p, sse = shooter.first(constants, None)
        if not np.isfinite(sse):
            found = shooter.solve(p, 1.0, slopes=False)
            sse = np.inf if found is None else found.sse
        errors.append(sse)
    return np.array(errors)


def joint_covariance(
    equation: Law, initial: Float, target: Target, *, config: ShootConfig
) -> tuple[Float, Bool]:
    """Return the covariance of the constants and then the fitted initial values of every run.

    The correlation of the residuals enters it.

    Also returns which initial values (runs, sum of orders) were fitted. Where the equation has no solution,
    the covariance is zero.
    """
    shooter = Shooter(equation.skeleton, target, config)
    p, _ = shooter.first(np.array(equation.constants, np.float64), initial)
    now = shooter.solve(p, 1.0, slopes=True)
    if now is None:
        return np.zeros((len(p), len(p))), shooter.free
    return sandwich(shooter.residuals(now), shooter.jacobian(now), shooter.cuts()), shooter.free


@dataclass(frozen=True)
class Uncertainty:
    """The covariances of a law with constants of each run."""

    shared: Float  # (shared, shared)
    runs: list[Float]  # of each run: of all constants as it has them, then of its fitted initial values
    free: Bool  # (runs, sum of orders) which initial values were fitted

    def of_run(self, run: int) -> tuple[Float, Bool]:
        """Return the covariance of one run and what of it was fitted, as `joint_covariance` does."""
        alone = np.zeros_like(self.free)
        alone[run] = self.free[run]
        return self.runs[run], alone


def uncertainty(
    law: Law, own: Individuals, initial: Float, target: Target, *, config: ShootConfig
) -> Uncertainty | None:
    """Return the covariances of a law that was fitted with constants of each run; None without a solution."""
    group = _Group(law.skeleton, target, own.places, config)
    table = np.tile(np.array(law.constants), (len(group.shooters), 1))
    table[:, list(own.places)] = own.values
    paths = group.solve([s.first(table[i], initial[i : i + 1])[0] for i, s in enumerate(group.shooters)])
    return None if paths is None else group.uncertainty(paths)


class _Group:
    """One skeleton on the runs of a target, each with a fit of its own."""

    def __init__(
        self,
        skeleton: LawSkeleton,
        target: Target,
        own: Sequence[int],
        config: ShootConfig,
        check: Check = None,
    ) -> None:
        self.skeleton, self.config, self.own = skeleton, config, list(own)
        self.k = skeleton.n_constants
        self.shared = [i for i in range(self.k) if i not in own]
        runs = range(len(target.dataset.runs))
        self.shooters = [Shooter(skeleton, target.of_run(i), config, check) for i in runs]
        self.free = np.vstack([shooter.free for shooter in self.shooters])
        self.n_values = sum(shooter.n_values for shooter in self.shooters)
        self.n_free = len(self.shared) + len(self.own) * len(self.shooters) + int(self.free.sum())

    def fit(self, table: Float, start: Float | None) -> list[Path] | None:
        """Return the paths of least squares from constants (runs, k), None if a run has none."""
        if self.shared:
            table = table.copy()
            table[:, self.shared] = np.median(table[:, self.shared], axis=0)
        firsts = [
            s.first(row, None if start is None else start[i : i + 1])[0]
            for i, (s, row) in enumerate(zip(self.shooters, table, strict=True))
        ]
        if self.shared:
            return self._together(firsts)
        return self._repaired([s.fit(p) for s, p in zip(self.shooters, firsts, strict=True)])

    def solve(self, points: Sequence[Float], limit: float = np.inf) -> list[Path] | None:
        """Return the path of each run, None if one has none or they are above `limit` together."""
        found, total = [], 0.0
        for shooter, p in zip(self.shooters, points, strict=True):
            path = shooter.solve(p, 1.0, slopes=True, limit=min(limit, HUGE**2) - total)
            if path is None:
                return None
            found.append(path)
            total += path.sse
        return found

    def _repaired(self, paths: list[Path | None]) -> list[Path] | None:
        """Return the paths; those that failed or stayed far behind, from the constants of others."""
        sizes = np.array(
            [
                np.inf if p is None else p.sse / max(s.n_values, 1)
                for p, s in zip(paths, self.shooters, strict=True)
            ]
        )
        solved = [p for p in paths if p is not None]
        if 2 * len(solved) < len(paths):
            return None
        typical = float(np.median(sizes[np.isfinite(sizes)]))
        best = [paths[i] for i in np.argsort(sizes)[:LENDERS]]
        loans = [np.median([p.p[: self.k] for p in solved], axis=0)]
        loans += [p.p[: self.k] for p in best if p is not None]
        for i in np.flatnonzero(sizes > WORSE * typical):
            shooter = self.shooters[i]
            others = [shooter.fit(shooter.first(loan, None)[0]) for loan in loans]
            tried = [p for p in (paths[i], *others) if p is not None]
            paths[i] = min(tried, key=lambda p: p.sse, default=None)
        whole = [p for p in paths if p is not None]
        return whole if len(whole) == len(paths) else None

    def _together(self, points: Sequence[Float]) -> list[Path] | None:
        """Return the paths of least squares with shared constants, by Levenberg-Marquardt on all runs."""
        now, damping = self.solve(points), self.config.damping
        if now is None:
            return None
        for _ in range(self.config.max_iterations):
            after = None
            for _ in range(self.config.attempts):
                steps = self._step(now, damping)
                if all(np.isfinite(step).all() for step in steps):
                    after = self.solve(self._moved(now, steps), _sse(now))
                if after is not None:
                    break
                damping *= self.config.stiffening
            if after is None:
                break
            gain, now, damping = _sse(now) - _sse(after), after, max(damping * self.config.easing, 1e-12)
            if gain <= self.config.tolerance * _sse(now):
                break
        return now

    def _moved(self, paths: Sequence[Path], steps: Sequence[Float]) -> list[Float]:
        """Return the points after a step, within the bounds of the constants."""
        rows = zip(self.shooters, paths, steps, strict=True)
        return [np.clip(path.p + step, shooter.low, shooter.high) for shooter, path, step in rows]

    def _step(self, paths: Sequence[Path], damping: float) -> list[Float]:
        """Return the damped step of each run; the shared constants take the same one in all of them."""
        s, total = self.shared, sum(p.normal[np.ix_(self.shared, self.shared)] for p in paths)
        pull = sum(p.gradient[s] for p in paths)
        left, locals_ = _damped(np.asarray(total), damping), []
        for path in paths:
            rest = [i for i in range(len(path.p)) if i not in s]
            both = np.linalg.pinv(_damped(path.normal[np.ix_(rest, rest)], damping), hermitian=True)
            across = path.normal[np.ix_(s, rest)] @ both
            left = left - across @ path.normal[np.ix_(rest, s)]
            pull = pull - across @ path.gradient[rest]
            locals_.append((rest, both))
        common = np.linalg.pinv(left, hermitian=True) @ pull
        steps = []
        for path, (rest, both) in zip(paths, locals_, strict=True):
            step = np.empty(len(path.p))
            step[s] = common
            step[rest] = both @ (path.gradient[rest] - path.normal[np.ix_(rest, s)] @ common)
            steps.append(step)
        return steps

    def shot(self, paths: Sequence[Path]) -> Shot:
        """Return the result at the minimum; the constants of the law are the median of the runs."""
        found = self.uncertainty(paths)
        table = np.array([p.p[: self.k] for p in paths])
        law = make_law(self.skeleton, np.median(table, axis=0))
        own = Individuals(
            tuple(self.own),
            table[:, self.own],
            np.array([c[np.ix_(self.own, self.own)] for c in found.runs]),
        )
        covariance = np.mean([c[: self.k, : self.k] for c in found.runs], axis=0) / len(paths)
        covariance[np.ix_(self.shared, self.shared)] = found.shared
        initial = np.vstack([s.initial(p.p) for s, p in zip(self.shooters, paths, strict=True)])
        independent = sum(worth(part) for part in self._series(paths))
        rest = self.n_values, self.n_free, covariance, float(independent), None, self._by_state(paths), own
        return Shot(self.skeleton, law, initial, _sse(paths), *rest)

    def _by_state(self, paths: Sequence[Path]) -> tuple[Residuals, ...]:
        """Return what is left of each state."""
        runs = [s.series(p) for s, p in zip(self.shooters, paths, strict=True)]
        states = [[part for run in runs for part in run[s]] for s in range(len(runs[0]))]
        return tuple(residuals_of(parts, self.n_values) for parts in states)

    def _series(self, paths: Sequence[Path]) -> list[Float]:
        """Return the residuals, channel after channel of each run."""
        return [
            part
            for shooter, path in zip(self.shooters, paths, strict=True)
            for part in np.split(shooter.residuals(path), shooter.cuts())
        ]

    def uncertainty(self, paths: Sequence[Path]) -> Uncertainty:
        """Return the covariances at the minimum, wide enough that 1.96 standard errors hold 95 %."""
        with np.errstate(over="ignore", invalid="ignore"):  # of what the data do not determine
            return self._uncertainty(paths)

    def _uncertainty(self, paths: Sequence[Path]) -> Uncertainty:
        phi, share = correlation(self._series(paths), self.n_free)
        s, slow = self.shared, longer(phi, share)
        parts = [
            self._part(shooter, path, phi, share) for shooter, path in zip(self.shooters, paths, strict=True)
        ]
        variances, freedom = self._noise(paths, [part.taken for part in parts])
        total = max(self.n_values / slow - self.n_free, 3.0)
        weighted = list(zip(parts, variances, strict=True))
        bread = inverse(sum((part.left / v for part, v in weighted), np.zeros((len(s), len(s)))))
        common = bread @ sum((part.meat / v for part, v in weighted), np.zeros((len(s), len(s)))) @ bread
        runs = []
        for part, variance in weighted:
            rest, beside = part.rest, part.both @ part.beside @ bread  # what a run adds to the shared ones
            found = np.zeros((len(s) + len(rest),) * 2)
            found[np.ix_(s, s)] = common
            found[np.ix_(rest, s)] = beside - part.across @ common
            found[np.ix_(s, rest)] = found[np.ix_(rest, s)].T
            both = beside @ part.across.T
            found[np.ix_(rest, rest)] = (
                part.both @ part.inner @ part.both * variance
                + part.across @ common @ part.across.T
                - both
                - both.T
            )
            wider = (stdtrit(np.clip(freedom / slow, 3.0, total), 0.975) / NORMAL) ** 2
            runs.append(np.nan_to_num(found * wider, nan=HUGE, posinf=HUGE, neginf=-HUGE))
        return Uncertainty(common * (stdtrit(total, 0.975) / NORMAL) ** 2, runs, self.free)

    def _part(self, shooter: Shooter, path: Path, phi: float, share: float) -> "_Part":
        """Return what a run says of its own numbers and of the shared ones, under correlated noise."""
        s, rest = self.shared, [i for i in range(len(path.p)) if i not in self.shared]
        j = shooter.jacobian(path)
        both = inverse(path.normal[np.ix_(rest, rest)])
        across = both @ path.normal[np.ix_(rest, s)]
        own, left = j[rest], j[s] - across.T @ j[rest]
        spread = spread_by(np.vstack([own, left]), phi, share, shooter.cuts())
        inner = own @ spread[: len(rest)].T
        meat, beside = left @ spread[len(rest) :].T, own @ spread[len(rest) :].T
        taken = float(np.clip(np.trace(both @ inner), len(rest), MOST_TAKEN * shooter.n_values))
        return _Part(rest, both, across, inner, left @ left.T, meat, beside, taken)

    def _noise(self, paths: Sequence[Path], taken: Sequence[float]) -> tuple[Float, float]:
        """Return the variance of the noise of each run over the assumed one, and its degrees of freedom."""
        counts = np.array([s.n_values for s in self.shooters], np.float64)
        numbers = np.array(taken) + len(self.shared) / len(paths)
        return moderated(np.array([p.sse for p in paths]), np.maximum(counts - numbers, 0.5))


class _Part(NamedTuple):
    """A run at the minimum: its own numbers, and what it says of the shared ones with these fitted."""

    rest: list[int]
    both: Float  # inverse of the normal matrix of its own numbers
    across: Float  # by how much these follow the shared ones
    inner: Float  # normal matrix of its own under correlated noise
    left: Float  # normal matrix of the shared ones, less what its own explain
    meat: Float  # the same under correlated noise
    beside: Float  # of its own with the shared ones under correlated noise
    taken: float  # degrees of freedom of its own


def _damped(normal: Float, damping: float) -> Float:
    size = np.diag(normal)
    return normal + np.diag(damping * np.where(size > 0, size, float(size.max(initial=0.0)) * 1e-12 + 1e-300))


def _sse(paths: Sequence[Path]) -> float:
    return float(sum(p.sse for p in paths))
