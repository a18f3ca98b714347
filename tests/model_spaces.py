"""Latent spaces of random weights, and tiny grammars: what most tests of the model part need."""

import numpy as np

from gode.grammar import Grammar, load_grammar
from gode.library import Library, draw_library
from gode.model.inference import GrammarNetwork, PaperNetwork, wanted_shapes
from gode.model.latent import LatentSpace
from gode.model.termbook import make_book

SIZES = {
    "gode": {"latent": 5, "rule_width": 4, "head_width": 3, "encoder": 6, "decoder": 7},
    "paper": {
        "latent": 5,
        "dense": 6,
        "hidden": 7,
        "first_kernel": 3,
        "second_kernel": 4,
        "third_kernel": 5,
    },
}
NETWORKS = {"gode": GrammarNetwork, "paper": PaperNetwork}
SOURCES = {"b2": "b2-library", "b3": "b3-library"}
SMALL = Grammar.from_text(
    "%template u' = {sentence}\n%limit 24\n"
    "sum -> term | term '+' sum\n"
    "term -> 'C' | 'C' '*' power | 'C' '*' power '*' function | 'C' '*' function\n"
    "power -> 'u' | 'u' '^' int\n"
    "int -> '2' | '3'\n"
    "function -> 'sin' '(' angle ')' | 'exp' '(' angle ')'\n"
    "angle -> 'C' '*' variable\n"
    "variable -> 'u' | 't'\n",
    source="small.grammar",
)


def random_weights(
    kind: str, grammar: Grammar, rng: np.random.Generator, scale: float = 0.5
) -> dict[str, np.ndarray]:
    """Weights of a network of small sizes."""
    shapes = wanted_shapes(kind, SIZES[kind], len(grammar.rules), len(grammar.nonterminals), grammar.limit)
    return {name: rng.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()}


def random_space(
    grammar: Grammar, rng: np.random.Generator, *, kind: str = "gode", terms: list[str] | None = None
) -> LatentSpace:
    """A space that nobody trained."""
    network = NETWORKS[kind](random_weights(kind, grammar, rng))
    return LatentSpace(grammar.name, kind, grammar, network, {"terms": terms or []})


def library_of(name: str, n: int, seed: int = 5) -> Library:
    """A library of a packaged grammar, drawn as for its model."""
    source = load_grammar(SOURCES.get(name, name))
    model = load_grammar(name) if name in SOURCES else source
    return draw_library(source, n, order=None, rng=seed, model=model)


def book_of(library: Library) -> list[str]:
    return make_book(library.grammar, library.derivations)
