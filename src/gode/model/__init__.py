"""A continuous map of the library."""

from gode.model.latent import LatentSpace, Listing, equation_space, load_model, model_names, open_space
from gode.model.termbook import terms_for

__all__ = [
    "LatentSpace",
    "Listing",
    "equation_space",
    "load_model",
    "model_names",
    "open_space",
    "terms_for",
]
