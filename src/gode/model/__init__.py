"""A continuous map of the library."""

from gode.model.latent import LatentSpace, load_model, model_names

__all__ = ["LatentSpace", "load_model", "model_names"]
