"""Spaces by name: a model, or a listing of a grammar with so few skeletons that all can be tried.

The shipped model of systems knows four states of second order. For an equation of fewer states, or of first
order, the rules of what is absent are switched off, and the weights stay valid.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from gode.equation import Node, Skeleton
from gode.equation.tree import STATE, derivative_order, is_other
from gode.errors import ModelError
from gode.grammar import Grammar, allowed_rules, generate, grammar_names, load_grammar, sample
from gode.grammar.derivation import Derivation
from gode.grammar.rules import SUFFIX
from gode.library import FEW, admitted, sentence_skeleton, term_tokens
from gode.model.inference import Single
from gode.model.latent import LatentSpace, load_model, model_names
from gode.model.termbook import TermBook

SENTENCES = 5_000  # So many sentences are enumerated; of a larger grammar, sentences are drawn.
LONGEST = 100  # Grammars whose sentences may have more rules are not enumerated.
PATIENCE = 20  # Drawing ends after so many draws without a new skeleton, for each that was found.
FEWEST = 100  # In this rule at least so many count as found.
INPUT = "F"
# The templates of explicit equations by their order, from 1.
EXPLICIT = tuple(f"{STATE}{primes} = {{sentence}}" for primes in ("'", "''"))


@dataclass(frozen=True)
class Listing:
    """A grammar and all of its skeletons, with the interface of a latent space."""

    name: str
    grammar: Grammar
    source: str  # the file, for messages

    dimension = 0

    @cached_property
    def skeletons(self) -> tuple[Skeleton, ...]:
        """All skeletons of the grammar, each once.

        Raises:
            ModelError: if they are too many or none.
        """
        found = all_skeletons(self.grammar, FEW)
        if found is None:
            raise ModelError(
                f"grammar {self.name} writes more than {FEW} different equations, too many to try them all; "
                f"train a model with `gode train {self.source} --out models` and use models/{self.name}, "
                "or allow fewer rules with %limit"
            )
        if not found:
            raise ModelError(
                f"grammar {self.name} writes no equation of order 1 or 2 that holds u; change its rules"
            )
        return found

    @property
    def book(self) -> TermBook:
        """An empty book: only the listed skeletons are used."""
        return TermBook(self.grammar, ())

    def without(self, *unwanted: str) -> "Listing":
        """Return the listing of the grammar without some terminals, such as 'log' or 't'."""
        return Listing(self.name, self.grammar.without(*unwanted), self.source)

    def encode(self, skeletons: Sequence[Skeleton]) -> Single:
        """Raise ModelError: a listing has no points."""
        raise ModelError(f"grammar {self.name} is listed: it has no latent space; train one with gode train")

    def decode(self, z: ArrayLike) -> list[Skeleton | None]:
        """Raise ModelError: a listing has no points."""
        raise ModelError(f"grammar {self.name} is listed: it has no latent space; train one with gode train")


def open_space(name: str) -> LatentSpace | Listing:
    """Return the model called `name`, or the listing of a grammar file.

    A file with the rules of a grammar that comes with gode and other probabilities, as `gode grammar learn`
    writes, opens the model of that grammar; sentences are drawn with the probabilities of the file.

    Raises:
        ModelError, GrammarError: if there is neither, or it is not valid.
    """
    name = str(name)  # any other type is then reported as unknown
    is_model = name in model_names() or os.path.isfile(f"{name.removesuffix('.json')}.json")
    is_grammar = name in grammar_names() or name.endswith(SUFFIX) or os.path.isfile(name)
    if is_model or not is_grammar:
        return load_model(name)
    grammar = load_grammar(name)
    return _trained_on(grammar) or Listing(grammar.name, grammar, name)


@lru_cache(maxsize=16)  # the equations of a system have one order and see as many columns
def equation_space(
    space: LatentSpace | Listing, order: int, columns: tuple[str, ...]
) -> LatentSpace | Listing:
    """Return the part of a space that writes equations of `order` with `columns` alone on the right.

    Args:
        columns: u, v1, v2, ..., their derivatives and F, as far as they are there; any below `order` may be
            written. More than the grammar knows do no harm.

    Raises:
        GrammarError: if no sentence is left.
    """
    grammar = space.grammar
    signals = [name for name in grammar.terminals if name == INPUT or _is_state(name)]
    absent = [name for name in signals if name not in columns or derivative_order(name) >= order]
    template = EXPLICIT[order - 1] if grammar.template in EXPLICIT else grammar.template
    fewer = grammar.without(*absent) if absent else grammar
    return replace(space, grammar=replace(fewer, template=template))


def _trained_on(grammar: Grammar) -> LatentSpace | None:
    """Return the model of the same rules that comes with gode, with the probabilities of `grammar`."""
    for name in set(grammar_names()) & set(model_names()):
        if load_grammar(name).digest() == grammar.digest():
            space = load_model(name)
            same = (space.grammar.digest(), space.grammar.template, space.grammar.limit)
            if same == (grammar.digest(), grammar.template, grammar.limit):
                return replace(space, name=grammar.name, grammar=grammar)
    return None


def all_skeletons(grammar: Grammar, most: int) -> tuple[Skeleton, ...] | None:
    """Return the skeletons of a grammar, each once; None if there are more than `most`.

    Many sentences may stand for few skeletons, as sums have their terms in any order; then sentences are
    drawn until no new skeleton has appeared for long.
    """
    first = list(islice(_derivations(grammar), SENTENCES + 1)) if grammar.limit <= LONGEST else []
    complete = 0 < len(first) <= SENTENCES
    found: dict[Node, Skeleton] = {}
    met: set[object] = set()
    idle = 0
    for derivation in first if complete else _drawn(grammar):
        idle += 1
        if len(found) > most:
            return None
        if not complete and idle > PATIENCE * (len(found) + FEWEST):
            break
        tokens = generate(grammar, derivation)
        terms = tuple(sorted(term_tokens(tokens)))
        if terms in met:
            continue
        met.add(terms)
        key = admitted(grammar, tokens, None)
        if key is not None and key not in found:
            found[key], idle = sentence_skeleton(grammar, tokens), 0
    return tuple(found.values()) if len(found) <= most else None


def _derivations(grammar: Grammar) -> Iterator[Derivation]:
    """Yield every derivation within the grammar's limit."""
    todo: list[tuple[Derivation, tuple[str, ...]]] = [((), (grammar.start,))]
    while todo:
        done, waiting = todo.pop()
        if not waiting:
            yield done
        for rule in reversed(allowed_rules(grammar, waiting, grammar.limit - len(done))):
            opened = reversed(grammar.rules[rule].nonterminals)
            todo.append(((*done, rule), (*waiting[:-1], *opened)))


def _drawn(grammar: Grammar) -> Iterator[Derivation]:
    rng = np.random.default_rng(0)
    while True:
        yield sample(grammar, rng=rng)


def _is_state(name: str) -> bool:
    return name.rstrip("'") == STATE or is_other(name)
