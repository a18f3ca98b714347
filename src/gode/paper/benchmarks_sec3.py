"""The paper's benchmarks B1, B2 and B3 (sec. 3): their 43 equations, and how the paper searches in them.

A comment beside an equation tells what is printed. How they are sampled and scored is no part of this
package: the benchmarks are one of their own.
"""

from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.choices import EffortName
from gode.data import Dataset
from gode.equation import Skeleton, parse_equation, parse_skeleton
from gode.errors import ConfigError, ModelError
from gode.model import LatentSpace, Listing
from gode.paper.evolution_sec23 import EvolutionConfig

# fmt: off
EQUATIONS = {
    # Suite B1.
    "ID1": "u' + u/(1.2*2.31) = 0.7/2.31",
    "ID2": "u' - 0.23*u = 0",
    "ID3": "u' - 0.79*u + 0.79/74.3*u^2 = 0",
    "ID4": "u' - 1/(1 + exp(0.5 - u/0.96)) = -0.5",
    "ID5": "u' + 0.0021175*u^2 = 9.81",
    "ID6": "u' - 2.1*u + 0.5*u^2 = 0",
    "ID7": "u' - 0.032*u*log(2.29*u) = 0",
    "ID8": "u' - 0.14*u*(u/4.4 - 1)*(1 - u/130) = 0",
    "ID9": "u' + 0.6*u = 0.32",
    "ID10": "u' - 0.2*u^1.2*(1 - u) + 0.8*u*(1 - u)^1.2 = 0",
    "ID11": "u' + u^3 = 0",
    "ID12": "u' - 1.8*u + 0.1107*u^2 = 0",
    "ID13": "u' - 0.0981*(9.7*cos(u) - 1)*sin(u) = 0",
    "ID14": "u' - 0.78*u*(1 - u/81) + 0.9*u^2/(21.2^2 + u^2) = 0",
    "ID15": "u' - 0.4*u*(1 - u/95) + u^2/(1 + u^2) = 0",
    "ID16": "u' - 0.1*u - 0.04*u^3 + 0.001*u^5 = 0",
    "ID17": "u' - 0.4*u*(1 - u/100) = -0.3",
    "ID18": "u' - 0.4*u*(1 - u/100) + 0.24*u/(50 + u) = 0",
    # printed: u' + 0.08 u u/(0.8 + u) + u (1 - u) = 0
    "ID19": "u' - u*(1 - u) + 0.08*u/(0.8 + u) = 0",
    # printed: + u²/(u² + 1)
    "ID20": "u' + 0.55*u - u^2/(u^2 + 1) = 0.1",
    # printed: u' - 0.2 u + exp(u) = 1.2
    "ID21": "u' + 0.2*u + exp(-u) = 1.2",
    "ID22": "u' - 0.4*u^5/(123 + u^5) + 0.89*u = 1.4",
    "ID23": "u' + sin(u) = 0.21",
    "ID24": "u' + sin(0.2*t*u) = 0.21",
    "ID25": "u' + u = -0.9832*cos(0.132*t)",
    "ID26": "u' - exp(1.73/u) = -7.928",
    "ID27": "u' - exp(1.03*u) = cos(0.2*t) - 7.928",
    "ID28": "u' - 4.21*u*(2.1 - 0.15*u) = 2.1*t*cos(t)",
    "ID29": "u' - 0.1137*u = -9.7*sin(1.32*t)",
    "ID30": "u' - 0.0837*u - log(7.293*u) = 0",  # printed: a second ID27
    # Suite B2.
    "LODE1": "u' + u/t - 2 = 0",  # printed: u/2
    "LODE2": "u' + u*cos(t)/sin(t) - 1/sin(t) = 0",
    "LODE3": "u' + u/5 - exp(-t/5)*cos(t) = 0",
    "LODE4": "u'' + 64*u = 0",
    "LODE5": "u'' - 6*u' + 9*u = 0",
    "NLODE1": "u' - 1/(2*u) = 0",
    "NLODE2": "u''*u' + 4/t^3 = 0",
    "NLODE3": "u''*t^2 + u'^2*t^2 + 1/log(t) = 0",
    "NLODE4": "u''^2 - 81*u^2 = 0",  # printed: 9 u²
    "NLODE5": "u''*u' - 2.1*u - 9.84*t^3 = 0",
    # Suite B3.
    "Pendulum": "2*u'' + u' + 5*u = F",
    "Duffing": "5*u'' + u' + 7*u + 25*u^3 = F",
    # The damping is as printed, although the classical equation has the other sign.
    "VanDerPol": "u'' + 5*(1 - u^2)*u' + u = F",
}
# fmt: on


def true_skeletons() -> tuple[Skeleton, ...]:
    """Return the equations with a free constant for every number, in the order of the paper."""
    return tuple(parse_equation(text).skeleton for text in EQUATIONS.values())


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
