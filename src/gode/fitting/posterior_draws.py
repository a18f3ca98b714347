"""How much of the posterior that Laplace's approximation claims for a law is there.

A law may fit from its own fitted numbers and blow up from others within their error bars, where terms cancel
each other or a start lies at the brink. Evidence by Laplace's approximation looks at the optimum alone and
does not see that. So numbers p are drawn from the normal law that it assumes, about the optimum p0 with the
precision P, and the share of the evidence that is there is the mean over the draws of

    min(1, exp(-(S(p) - S(p0))/(2 s²) + z²/2)),     z² = (p - p0)^T P (p - p0),

with S the sum of squared residuals and s² the variance of one that is independent of the others. A number
that the data leave open is drawn within its own size.
"""

import numpy as np

from gode.arrays import Float
from gode.equation import Law
from gode.fitting.target import Target
from gode.fitting.trajectory import Path, ShootConfig, Trajectories

DRAWS = 48  # So many are drawn from the posterior of one law; with 20, replays name one law less of twenty.


def missing_evidence(
    law: Law,
    initial: Float,
    target: Target,
    independent: float,
    *,
    config: ShootConfig,
    rng: np.random.Generator,
) -> float:
    """Return -2 log of the share of its evidence that is there, for constants that all runs share.

    Args:
        initial: (runs, sum of orders) the fitted initial values.
        independent: effective number of independent residuals.
    """
    problem = Trajectories(law.skeleton, target, config)
    table = np.tile(np.array(law.constants), (len(initial), 1))
    path = problem.solve(problem.parameters.joined(table, initial))
    if path is None:
        return greatest_loss()
    freedom = max(problem.n_values - len(path.p), 1)
    variance = max(path.sse / freedom * problem.n_values / max(independent, 2.0), 1e-12)
    root = _root_of_covariance(path, variance)
    found = []
    for _ in range(DRAWS):
        z = rng.standard_normal(len(path.p))
        claimed = float(z @ z)
        p = np.clip(path.p + root @ z, problem.parameters.low, problem.parameters.high)
        worst = path.sse + variance * (claimed + 2 * greatest_loss())
        rise = (problem.error(p, limit=worst) - path.sse) / variance
        found.append(float(np.exp(min((claimed - rise) / 2, 0.0))) if np.isfinite(rise) else 0.0)
    share = max(float(np.mean(found)), 1e-300)
    return min(-2 * float(np.log(share)), greatest_loss())


def _root_of_covariance(path: Path, variance: float) -> Float:
    """Return a root of the inverse of the precision of all numbers, each with a prior of its own size."""
    size = np.maximum(np.abs(path.p), 1e-12)
    with np.errstate(over="ignore", invalid="ignore"):
        precision = path.normals[0].matrix / variance * np.outer(size, size) + np.eye(len(size))
    weights, axes = np.linalg.eigh(np.clip(np.nan_to_num(precision), -1e100, 1e100))
    return np.asarray(size[:, None] * (axes / np.sqrt(np.maximum(weights, 1.0))))


def greatest_loss() -> float:
    """Return what a law loses of which no draw finds anything, as if half a draw had."""
    return float(2 * np.log(2 * DRAWS))
