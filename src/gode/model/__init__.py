"""A continuous map of the library."""

from gode.model.latent import LatentSpace, load_model, model_names
from gode.model.listing import Listing, open_space

__all__ = ["LatentSpace", "Listing", "load_model", "model_names", "open_space"]
