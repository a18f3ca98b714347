"""CMA-ES in the latent space, as the paper runs it (sec. 2.3)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.search.latent import Evolution


@dataclass(frozen=True, kw_only=True)
class EvolutionConfig:
    """One run of CMA-ES."""

    population: int
    generations: int
    sigma: float = 0.5
    target: float = 1e-3  # a score this low ends the search
    keep_best: bool = False  # tell the best point so far in each generation, in place of the worst


def evolve(
    score: Callable[[Float], list[float]],
    start: Float,
    *,
    config: EvolutionConfig,
    rng: np.random.Generator,
) -> None:
    """Run CMA-ES once from `start`; `score` takes the points of a generation (population, dimension)."""
    strategy = Evolution(start, config.sigma, config.population, rng=rng, target=config.target)
    best, kept = np.inf, np.asarray(start, np.float64)
    for _ in range(config.generations):
        points = strategy.ask()
        scores = score(points)
        leader, worst = int(np.argmin(scores)), int(np.argmax(scores))
        if scores[leader] < best:
            best, kept = scores[leader], points[leader].copy()
        elif config.keep_best:
            points[worst], scores[worst] = kept.copy(), best
        strategy.tell(points, scores)
        if strategy.is_over:
            break
