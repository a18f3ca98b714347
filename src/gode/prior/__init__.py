"""How probable a law is before any data: learned from laws that people use."""

from gode.prior.corpus import KnownLaw, known_laws, load_corpus, read_corpus
from gode.prior.model import Prior, Smoothing, default_prior, learn_prior, log_prior

__all__ = [
    "KnownLaw",
    "Prior",
    "Smoothing",
    "default_prior",
    "known_laws",
    "learn_prior",
    "load_corpus",
    "log_prior",
    "read_corpus",
]
