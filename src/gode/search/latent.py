"""CMA-ES in the latent space: start, ask, tell, restart, stop."""

from collections.abc import Callable, Sequence

import numpy as np

from gode.arrays import Float
from gode.search.evolution import Evolution
from gode.search.objective import Objective
from gode.search.settings import LatentConfig
from gode.search.templates import Points


def search_latent(
    objective: Objective,
    space: Points,
    starts: Sequence[Float],
    *,
    budget: int,
    config: LatentConfig,
    rng: np.random.Generator,
    on_step: Callable[[], None] | None = None,
) -> None:
    """Search from each start in turn until `budget` new skeletons have been fitted."""
    end = objective.n_fitted + budget
    for i, start in enumerate(starts):
        share = (end - objective.n_fitted) // (len(starts) - i)
        if share <= 0:
            break
        _climb(objective, space, start, objective.n_fitted + share, config, rng, on_step)


def _climb(
    objective: Objective,
    space: Points,
    start: Float,
    end: int,
    config: LatentConfig,
    rng: np.random.Generator,
    on_step: Callable[[], None] | None,
) -> None:
    """Run CMA-ES from one start."""
    strategy = Evolution(start, config.sigma, config.population, rng=rng)
    best, idle = np.inf, 0
    for _ in range(config.max_generations):
        before = objective.n_fitted
        points = strategy.ask()
        scores = [objective.score(s) for s in space.decode(points)]
        finite = [s for s in scores if np.isfinite(s)]
        worst = max(finite, default=0.0) + 1.0
        strategy.tell(points, [s if np.isfinite(s) else worst for s in scores])
        if on_step:
            on_step()
        better = min(scores) < best - 1e-9
        best = min(best, *scores)
        idle = 0 if better and objective.n_fitted > before else idle + 1
        if objective.n_fitted >= end or idle >= config.patience or strategy.is_over:
            break
