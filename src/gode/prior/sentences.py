"""Laws as sentences of a grammar: every spelling of a term is tried until the grammar accepts it.

Grammars write each term with a constant in front, and factors in an order of their own. So a law is taken
whatever the factors of its terms, and a power that is no whole number may be written as a constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import factorial

from gode.equation import Node, Skeleton
from gode.equation.tree import is_other, var, variables
from gode.errors import GrammarError
from gode.grammar import Grammar, tokenize
from gode.grammar.forest import Forest, forest, is_derived
from gode.grammar.learning import Written
from gode.prior.corpus import KnownLaw
from gode.prior.spelling import freed, spelled_term
from gode.prior.terms import ways_of_writing

MOST_SPELLINGS = 400  # of one term that are tried
MOST_SENTENCES = 24  # of one law that are kept
SENTENCE = "{sentence}"


@dataclass(frozen=True)
class Sentences:
    """The equations of some laws that a grammar can write, and those it cannot."""

    written: tuple[Written, ...]
    names: tuple[str, ...]  # of the written ones
    missed: tuple[str, ...]  # within the grammar's scope, but it has no sentence for them
    beyond: int  # equations of another order, or in columns that it does not know


def write_laws(grammar: Grammar, laws: Sequence[KnownLaw]) -> Sentences:
    """Return the equations of `laws` as sentences of a grammar.

    A grammar that knows other states v1, v2, ... is for equations of systems, any other for scalar equations.

    Raises:
        GrammarError: if the grammar's template is not that of a sum.
    """
    writer = _Writer(grammar)
    written, names, missed = [], [], []
    beyond = 0
    for law in laws:
        for state, part in zip(law.skeleton.states, law.skeleton.parts, strict=True):
            bodies = writer.bodies(part, len(law.skeleton.states))
            if bodies is None:
                beyond += 1
                continue
            name = f"{law.name}: {part}" if len(law.skeleton.states) == 1 else f"{law.name}, {state}: {part}"
            sentences = writer.sentences(bodies)
            if sentences:
                written.append(Written(sentences, law.field))
                names.append(name)
            else:
                missed.append(name)
    return Sentences(tuple(written), tuple(names), tuple(missed), beyond)


class _Writer:
    """Writes equations in one grammar, and remembers how their terms are spelled."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.known = {token.rstrip("'") for token in grammar.terminals}
        self.known |= {"F"} if "F" in grammar.template else set()
        self.for_systems = any(is_other(token) for token in grammar.terminals)
        left, _, right = grammar.template.replace(" ", "").partition("=")
        self.other_side = right if left == SENTENCE else left
        if SENTENCE not in (left, right) or self.other_side not in ("u'", "u''", "0", "F"):
            raise GrammarError(
                f"grammar {grammar.name} has the template {grammar.template!r}; laws can be written for "
                "u' = {sentence}, u'' = {sentence}, {sentence} = 0 and {sentence} = F"
            )
        self._spelled: dict[Node, tuple[tuple[str, ...], ...]] = {}

    def bodies(self, part: Skeleton, n_states: int) -> tuple[Node, ...] | None:
        """Return the terms that a sentence must write; None if the equation is beyond the grammar's scope."""
        columns = {name.rstrip("'") for name in variables(part.key)} - {"u"}
        if not columns <= self.known or self.for_systems != (n_states > 1):
            return None
        ways = ways_of_writing(part)
        if self.other_side in ("0", "F"):
            pieces = ways[0]
            terms = [body for body, _ in pieces.terms]
            terms += pieces.leading or [var(part.highest)]
            if self.other_side == "F" and var("F") not in terms:
                return None
            return tuple(body for body in terms if self.other_side == "0" or body != var("F"))
        order = self.other_side.count("'")
        # the grammar of systems serves both orders
        if ways[-1].leading or not (part.order == order or (self.for_systems and part.order < order)):
            return None
        return tuple(body for body, _ in ways[-1].terms)

    def sentences(self, bodies: tuple[Node, ...]) -> tuple[tuple[Forest, float], ...]:
        """Return the sentences of a sum: each term in front once, the others in a fixed order."""
        found = {}
        orders = float(factorial(max(len(bodies) - 1, 0)))
        spelled = [self.spellings(body) for body in bodies]
        for i in range(len(bodies)):
            for chosen in islice(product(spelled[i], *spelled[:i], *spelled[i + 1 :]), MOST_SENTENCES):
                tokens = chosen[0] + tuple(token for term in chosen[1:] for token in ("+", *term))
                if tokens not in found and (trees := forest(self.grammar, tokens)) is not None:
                    found[tokens] = trees
        return tuple((trees, orders) for trees in found.values())

    def spellings(self, body: Node) -> tuple[tuple[str, ...], ...]:
        """Return the ways to write a term that some symbol of the grammar derives."""
        if body not in self._spelled:
            self._spelled[body] = self._accepted(body) or self._accepted(freed(body))
        return self._spelled[body]

    def _accepted(self, body: Node) -> tuple[tuple[str, ...], ...]:
        found = {}
        for text in islice(spelled_term(body, derivative="diff" in self.known), MOST_SPELLINGS):
            try:
                tokens = tokenize(self.grammar, text)
            except GrammarError:  # a symbol that the grammar does not have
                continue
            if tokens not in found:
                found[tokens] = is_derived(self.grammar, tokens)
        return tuple(tokens for tokens, derived in found.items() if derived)
