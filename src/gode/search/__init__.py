"""Which skeletons to try."""

from gode.search.latent import LatentConfig, search_latent
from gode.search.moves import Vocabulary, neighbours
from gode.search.objective import Objective, ObjectiveConfig, Scored

__all__ = [
    "LatentConfig",
    "Objective",
    "ObjectiveConfig",
    "Scored",
    "Vocabulary",
    "neighbours",
    "search_latent",
]
