"""CMA-ES in the latent space: start, ask, tell, restart, stop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gode.arrays import Float
from gode.equation import Skeleton
from gode.search.evolution import Evolution
from gode.search.objective import Objective


class Space(Protocol):
    """A latent space, as far as the search needs one."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    def decode(self, z: Float) -> list[Skeleton | None]:
        """Return the skeleton at each point."""


@dataclass(frozen=True, kw_only=True)
class LatentConfig:
    """How the latent space is searched."""

    population: int = 24
    sigma: float = 0.35  # initial standard deviation; the paper's 0.5 goes nearly as far as a random point
    patience: int = 5  # generations without a better score, or without a new skeleton, before a restart
    max_generations: int = 40


def search_latent(
    objective: Objective,
    space: Space,
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
    space: Space,
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
