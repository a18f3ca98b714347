"""Constants and initial values on the trajectory: the fit that decides, and its covariance.

The equation is solved from its initial values and compared with what was observed, in whatever
channels. Levenberg-Marquardt uses the exact derivatives of the solution, which the solver carries along.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation import Equation, Skeleton
from gode.errors import Failure
from gode.fitting.correlated import HUGE, inverse, sandwich
from gode.fitting.target import Target
from gode.fitting.whiteness import worth
from gode.solve import SolveConfig, System, prepare, run

STEPS = 4  # more that a solver may take for each sample of an input


@dataclass(frozen=True, kw_only=True)
class ShootConfig:
    """How hard to fit a trajectory."""

    max_iterations: int = 25
    tolerance: float = 1e-5  # relative gain that counts as progress
    far: float = 3.0  # errors this many times the noise,
    apart: float = 0.05  # and this share of the signal, are far from the data,
    rough: float = 1e-3  # where only this gain counts as progress
    rtol: float = 1e-6  # of the solver; up to ten times as much,
    noise_share: float = 2e-4  # as long as it is below this share of the noise
    max_steps: int = 4000
    bound: float = 30.0  # a solution this many times larger than the data has diverged
    horizons: tuple[float, ...] = (
        0.07,
        0.15,
        0.3,
        0.5,
        0.75,
    )  # shares of the record to fit first if the whole fails


@dataclass(frozen=True)
class Shot:
    """A skeleton fitted to the trajectory, or the way it failed; `sse` is in units of the noise."""

    skeleton: Skeleton
    equation: Equation | None
    initial: Float  # (runs, order)
    sse: float
    n_values: int
    n_free: int  # fitted numbers: constants and unknown initial values
    covariance: Float  # of the constants
    independent: float = 0.0  # values that the residuals are worth; n_values if they are white
    failure: Failure | None = None


def shoot(
    skeleton: Skeleton,
    constants: Sequence[float],
    target: Target,
    *,
    config: ShootConfig,
    start: Float | None = None,
) -> Shot:
    """Fit `skeleton` to the trajectory from starting values of its constants.

    Args:
        start: (runs, order) initial values to start from; by default the smoothed ones.
    """
    shooter = _Shooter(skeleton, target, config)
    first = shooter.first(np.asarray(constants, np.float64), start)
    found = shooter.minimise(first, 1.0)
    for share in config.horizons if found is None else ():
        part = shooter.minimise(first, share)
        if part is not None:
            first = part[0]
    if found is None:
        found = shooter.minimise(first, 1.0)
    if found is None:
        nothing = np.zeros((skeleton.n_constants, skeleton.n_constants))
        return Shot(
            skeleton,
            None,
            np.zeros((0, 0)),
            np.inf,
            shooter.n_values,
            len(first),
            nothing,
            0.0,
            Failure.DIVERGED,
        )
    return shooter.shot(*found)


def start_error(equation: Equation, target: Target, *, config: ShootConfig) -> float:
    """Return the squared error of a trajectory before anything is fitted; inf where there is no solution."""
    shooter = _Shooter(equation.skeleton, target, config)
    return shooter.sse(shooter.first(np.asarray(equation.constants, np.float64), None))


def joint_covariance(
    equation: Equation, initial: Float, target: Target, *, config: ShootConfig
) -> tuple[Float, Bool]:
    """Return the covariance of the constants and then the fitted initial values of every run.

    The correlation of the residuals enters it.

    Also returns which initial values (runs, order) were fitted. Where the equation has no solution, the
    covariance is zero.
    """
    shooter = _Shooter(equation.skeleton, target, config)
    p = shooter.first(np.array(equation.constants, np.float64), initial)
    now = shooter.residuals(p, 1.0, slopes=True)
    if now is None:
        return np.zeros((len(p), len(p))), shooter.free
    return sandwich(*now, shooter.cuts()), shooter.free


class _Shooter:
    """One skeleton on one target."""

    def __init__(self, skeleton: Skeleton, target: Target, config: ShootConfig) -> None:
        self.skeleton, self.target, self.config = skeleton, target, config
        self.order, self.k = skeleton.order, skeleton.n_constants
        runs = target.dataset.runs
        self.known = np.array([r.initial[: self.order] for r in runs])
        self.free: Bool = ~np.isfinite(self.known)
        rtol = float(np.clip(config.noise_share * target.noise_share, config.rtol, 10 * config.rtol))
        steps = config.max_steps + max(STEPS * r.n_samples for r in runs)
        solver = SolveConfig(rtol=rtol, max_steps=steps, bound=config.bound * target.scale)
        self.systems = [
            prepare(skeleton, r.t, inputs=dict(r.signals), guide=g[self.order], config=solver)
            for r, g in zip(runs, target.guides, strict=True)
        ]
        self.far = max(config.far, config.apart / target.noise_share)
        self.seen = [np.isfinite(r.observed) for r in runs]
        self.n_values = int(sum(s.sum() for s in self.seen))

    def first(self, constants: Float, start: Float | None) -> Float:
        """Return all numbers to fit in one vector, from the best guess of the initial values."""
        guesses = [start] if start is not None else self.target.starts(self.order)
        if not self.free.any():
            return constants
        points = [np.concatenate([constants, guess[self.free]]) for guess in guesses]
        return min(points, key=self.sse) if len(points) > 1 else points[0]

    def sse(self, p: Float) -> float:
        """Return the squared error at `p`."""
        found = self.residuals(p, 1.0, slopes=False)
        return np.inf if found is None else float(found[0] @ found[0])

    def initial(self, p: Float) -> Float:
        """Return the initial values (runs, order) at `p`."""
        values = self.known.copy()
        values[self.free] = p[self.k :]
        return values

    def residuals(self, p: Float, share: float, *, slopes: bool) -> tuple[Float, Float] | None:
        """Return weighted residuals and their derivatives, or None where there is no solution."""
        rows, columns = [], []
        initial = self.initial(p)
        place = self.k
        for i, (whole, seen) in enumerate(zip(self.systems, self.seen, strict=True)):
            system, n = _shortened(whole, share)
            solved = run(system, p[: self.k], initial[i], sensitivities=slopes)
            if solved.failure is not None:
                return None
            out = np.vstack([solved.u, solved.du, solved.d2u])
            here = seen[:, :n]
            data = self.target.dataset.runs[i]
            weight = np.outer(self.target.weights, data.roots[:n])[here]
            observed = data.observed[:, :n]
            rows.append((observed[here] - out[here]) * weight)
            if slopes:
                with np.errstate(over="ignore"):  # what overflows is refused below
                    part = solved.sensitivities[:, here] * weight
                wide = np.zeros((len(p), part.shape[1]))
                wide[: self.k] = part[: self.k]
                own = np.flatnonzero(self.free[i])
                wide[place : place + len(own)] = part[self.k + own]
                place += len(own)
                columns.append(wide)
        r = np.concatenate(rows)
        j = np.hstack(columns) if slopes else np.zeros((0, 0))
        if not (np.all(np.abs(r) < HUGE) and np.all(np.abs(j) < HUGE)):
            return None
        return r, j

    def minimise(self, p: Float, share: float) -> tuple[Float, float, Float] | None:
        """Return (p, sum of squares, normal matrix) at the minimum, or None if `p` has no solution."""
        now = self.residuals(p, share, slopes=True)
        if now is None:
            return None
        best, damping = float(now[0] @ now[0]), 1e-3
        for _ in range(self.config.max_iterations):
            r, j = now
            normal, gradient = j @ j.T, j @ r
            step = self._step(p, normal, gradient, damping, best, share)
            if step is None:
                break
            p, after, damping = step
            gain = best - after
            fresh = self.residuals(p, share, slopes=True)
            if fresh is None:
                break
            now, best = fresh, after
            far = best > self.far**2 * self.n_values
            if gain <= (self.config.rough if far else self.config.tolerance) * best:
                break
        return p, best, now[1] @ now[1].T

    def _step(
        self, p: Float, normal: Float, gradient: Float, damping: float, best: float, share: float
    ) -> tuple[Float, float, float] | None:
        """Return a better point, its sum of squares and the next damping; None if none is found."""
        size = np.diag(normal).copy()
        size[size <= 0] = size.max(initial=1.0) * 1e-12 + 1e-300
        for _ in range(8):
            try:
                change = np.linalg.solve(normal + np.diag(damping * size), gradient)
            except np.linalg.LinAlgError:
                change = np.full(len(p), np.nan)
            if np.all(np.isfinite(change)):
                tried = self.residuals(p + change, share, slopes=False)
                if tried is not None:
                    sse = float(tried[0] @ tried[0])
                    if sse < best:
                        return p + change, sse, max(damping * 0.2, 1e-12)
            damping *= 6.0
        return None

    def shot(self, p: Float, sse: float, normal: Float) -> Shot:
        """Return the result at the minimum, with the covariance of the constants."""
        equation = Equation(self.skeleton, tuple(p[: self.k].tolist()))
        independent = self._independent(p)
        part = self.covariance(p, sse, normal)[: self.k, : self.k]
        return Shot(self.skeleton, equation, self.initial(p), sse, self.n_values, len(p), part, independent)

    def covariance(self, p: Float, sse: float, normal: Float) -> Float:
        """Return the covariance of all fitted numbers; wider where the residuals are not white."""
        freedom = max(self.n_values - len(normal), 1)
        drift = self.n_values / self._independent(p)
        with np.errstate(over="ignore", invalid="ignore"):
            found = inverse(normal) * (sse / freedom * drift)
        return np.asarray(np.nan_to_num(found, nan=HUGE, posinf=HUGE, neginf=-HUGE))

    def cuts(self) -> Int:
        """Return where the residuals of each channel of each run end, but the last."""
        return np.cumsum([int(row.sum()) for seen in self.seen for row in seen if row.any()])[:-1]

    def _independent(self, p: Float) -> float:
        """Return how many independent values the residuals at `p` are worth."""
        found = self.residuals(p, 1.0, slopes=False)
        if found is None:
            return float(self.n_values)
        return float(sum(worth(part) for part in np.split(found[0], self.cuts())))


def forecast(
    equation: Equation, initial: Float, target: Target, share: float, *, config: ShootConfig
) -> float:
    """Return the root mean square error, in units of the noise, of the last part of the records.

    The equation is fitted to the first `share` of them only, from the values given, and solved on.
    """
    shooter = _Shooter(equation.skeleton, target, config)
    start = np.concatenate([np.asarray(equation.constants, np.float64), initial[shooter.free]])
    fitted = shooter.minimise(start, share)
    whole = shooter.residuals(fitted[0], 1.0, slopes=False) if fitted else None
    if fitted is None or whole is None:
        return float(np.inf)
    late = [seen & (np.arange(seen.shape[1]) >= int(share * seen.shape[1])) for seen in shooter.seen]
    marks = np.concatenate([part[seen] for part, seen in zip(late, shooter.seen, strict=True)])
    rest = whole[0][marks]
    return float(np.sqrt(np.mean(rest**2))) if len(rest) else float(np.inf)


def _shortened(system: System, share: float) -> tuple[System, int]:
    n = len(system.t)
    if share >= 1:
        return system, n
    n = max(int(share * n), min(n, 5))
    guide = system.guide[:n] if len(system.guide) else system.guide
    fields = {**vars(system), "t": system.t[:n], "guide": guide}
    return System(**fields), n
