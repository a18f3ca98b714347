"""CMA-ES in the latent space: start, ask, tell, restart, stop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gode.arrays import Float
from gode.equation import Skeleton
from gode.search.objective import Objective

if TYPE_CHECKING:
    from cma import CMAEvolutionStrategy


class Space(Protocol):
    """A latent space, as far as the search needs one."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    def decode(self, z: Float) -> list[Skeleton | None]:
        """Return the skeleton at each point."""


def make_strategy(
    start: Float, sigma: float, population: int, rng: np.random.Generator, **options: float
) -> "CMAEvolutionStrategy":
    """Return CMA-ES about `start` with the initial standard deviation `sigma`; all it draws is from `rng`."""
    import cma  # with matplotlib, which fits, reports and simulations need not wait for

    ours = {
        "popsize": population,
        "verbose": -9,
        "verb_log": 0,
        "seed": np.nan,  # the global random state is left alone
        "randn": lambda *shape: rng.standard_normal(shape),
    }
    return cma.CMAEvolutionStrategy(np.asarray(start, np.float64), sigma, ours | options)


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
    strategy = make_strategy(start, config.sigma, config.population, rng)
    best, idle = np.inf, 0
    for _ in range(config.max_generations):
        before = objective.n_fitted
        points = strategy.ask()
        scores = [objective.score(s) for s in space.decode(np.asarray(points, np.float64))]
        finite = [s for s in scores if np.isfinite(s)]
        worst = max(finite, default=0.0) + 1.0
        strategy.tell(points, [s if np.isfinite(s) else worst for s in scores])
        if on_step:
            on_step()
        better = min(scores) < best - 1e-9
        best = min(best, *scores)
        idle = 0 if better and objective.n_fitted > before else idle + 1
        if objective.n_fitted >= end or idle >= config.patience or strategy.stop():
            break
