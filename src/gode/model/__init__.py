"""A continuous map of the library."""

from gode.model.latent import LatentSpace, load_model, model_names
from gode.model.listing import Listing, open_space
from gode.model.terms import terms_for
from gode.model.views import equation_space

__all__ = [
    "LatentSpace",
    "Listing",
    "equation_space",
    "load_model",
    "model_names",
    "open_space",
    "terms_for",
]
