"""Which skeletons to try."""

from gode.search.cheap import Objective, ObjectiveConfig, Scored
from gode.search.latent import search_latent
from gode.search.settings import LatentConfig
from gode.search.templates import Vocabulary, neighbours

__all__ = [
    "LatentConfig",
    "Objective",
    "ObjectiveConfig",
    "Scored",
    "Vocabulary",
    "neighbours",
    "search_latent",
]
