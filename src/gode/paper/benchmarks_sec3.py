"""How the paper searches in its benchmarks B1, B2 and B3 (sec. 3), and what share of that is spent."""

from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.choices import EffortName
from gode.data import Dataset
from gode.equation import Skeleton, parse_skeleton
from gode.errors import ConfigError, ModelError
from gode.model import LatentSpace, Listing
from gode.paper.evolution_sec23 import EvolutionConfig

EXPLICIT = "u' = {sentence}"  # the template of B1
SMALLEST = 10  # points of a generation, whatever share is spent


@dataclass(frozen=True, kw_only=True)
class PaperEffort:
    """Which share of the paper's budget is spent."""

    population: float  # share of the paper's
    runs: int  # independent searches; the paper reports the best of five
    epochs: int  # of the smoothing network; the paper has 10,000
    blind_epochs: int  # the same where only accelerations were measured; the paper has 100,000


PAPER_EFFORTS: dict[str, PaperEffort] = {
    EffortName.QUICK: PaperEffort(population=0.3, runs=1, epochs=2_000, blind_epochs=3_000),
    EffortName.NORMAL: PaperEffort(population=1.0, runs=1, epochs=10_000, blind_epochs=10_000),
    EffortName.THOROUGH: PaperEffort(population=1.0, runs=5, epochs=10_000, blind_epochs=100_000),
}


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """How the paper searches in one of its benchmarks."""

    population: int
    generations: int
    iterations: int  # of the simplex search for constants
    solving: bool = True  # whether solutions and complexity count, and the search starts at the bias equation

    def evolution(self, share: float) -> EvolutionConfig:
        """Return the settings of CMA-ES with this share of the population."""
        return EvolutionConfig(
            population=max(int(share * self.population), SMALLEST),
            generations=self.generations,
            keep_best=self.solving,
        )


B1 = Benchmark(population=100, generations=10, iterations=300, solving=False)
B2 = Benchmark(population=200, generations=10, iterations=500)
B3 = Benchmark(population=500, generations=5, iterations=500)


def paper_grammar(order: int, *, forced: bool) -> str:
    """Return the paper's model for equations of this order, with a known force or without."""
    return "b3-paper" if forced else ("b1-paper" if order == 1 else "b2-paper")


def benchmark_of(space: LatentSpace | Listing, dataset: Dataset) -> Benchmark:
    """Return the benchmark to which the space's equations belong.

    Raises:
        ConfigError: if they need a force and none is known, or there is no space to search.
    """
    if not space.dimension:
        raise ConfigError(
            f"the paper's method searches a latent space, which grammar {space.name} has not; "
            "train one with gode train, or leave preset= as it is"
        )
    template = space.grammar.template
    if template == EXPLICIT:
        return B1
    if template.replace(" ", "").endswith("=F"):
        if not dataset.inputs:
            raise ConfigError(
                f"the equations of grammar {space.name} have a known force; pass force=, or another grammar"
            )
        return B3
    return B2


def first_point(
    space: LatentSpace | Listing, benchmark: Benchmark, order: int, guess: Skeleton | None
) -> Float:
    """Return where the search starts: at the guess, at the bias equation (B2, B3), or at the origin."""
    if guess is not None:
        return _encoded(space, guess)
    if not benchmark.solving:
        return np.zeros(space.dimension)
    bias = "C*u' + C*u" if order == 1 else "C*u'' + C*u'"
    try:
        return _encoded(space, parse_skeleton(space.grammar.template.replace("{sentence}", bias)))
    except ModelError:  # a grammar of the user's that cannot write it
        return np.zeros(space.dimension)


def _encoded(space: LatentSpace | Listing, skeleton: Skeleton) -> Float:
    return np.asarray(space.encode([skeleton])[0], np.float64)
