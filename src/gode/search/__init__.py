"""Which skeletons to try."""

from gode.search.latent import EvolutionConfig, LatentConfig, evolve, search_latent
from gode.search.moves import Vocabulary, neighbours
from gode.search.objective import Objective, ObjectiveConfig, Scored

__all__ = [
    "EvolutionConfig",
    "LatentConfig",
    "Objective",
    "ObjectiveConfig",
    "Scored",
    "Vocabulary",
    "evolve",
    "neighbours",
    "search_latent",
]
