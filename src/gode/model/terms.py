"""TermBook: how a grammar writes the terms of a skeleton.

A sentence is a sum of terms. The book knows, for each body that a term of the grammar can mean, one way
to write it, learned from the library. With it, a skeleton given by its normal form, such as a person's
guess or a neighbour of a good one, becomes a sentence of the grammar: what encoding and moves need.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gode.equation import Node, Skeleton, parse_tree
from gode.equation.sums import Sum, from_sum, to_sum
from gode.equation.tree import FUNCTIONS, derivative_order, unlabelled, variables
from gode.errors import EquationError, GrammarError
from gode.grammar import Derivation, Grammar, generate, parse, tokenize
from gode.library import sentence_skeleton, term_tokens, term_tree

MAX_TERMS = 4000


@dataclass(frozen=True)
class TermBook:
    """Ways to write terms under a grammar; each is text with its sign in front, such as ``+C*u^2``."""

    grammar: Grammar
    texts: Sequence[str]

    @cached_property
    def ways(self) -> dict[frozenset[Node], str]:
        """The texts by the bodies they mean; the first text given for some bodies wins."""
        found: dict[frozenset[Node], str] = {}
        for text in self.texts:
            found.setdefault(term_bodies(self.grammar, text[1:]), text)
        return found

    def write_freed(self, skeleton: Skeleton) -> Derivation | None:
        """Return a derivation of `skeleton` with its coefficients free, if need be those in functions too."""
        return self.write(freed(skeleton, inside=False)) or self.write(freed(skeleton, inside=True))

    def write(self, skeleton: Skeleton) -> Derivation | None:
        """Return a derivation of `skeleton`, or None if the grammar, or the book, has no words for it."""
        for texts in self._spellings(skeleton):
            sentence = "".join(texts).removeprefix("+")
            try:
                derivation = parse(self.grammar, tokenize(self.grammar, sentence))
                same = sentence_skeleton(self.grammar, generate(self.grammar, derivation)) == skeleton
            except (GrammarError, EquationError):
                continue
            if same and len(derivation) <= self.grammar.limit:
                return derivation
        return None

    def _spellings(self, skeleton: Skeleton) -> Iterable[list[str]]:
        """Yield the ways to put the terms in order that a grammar may ask for."""
        bodies = sentence_bodies(self.grammar, skeleton)
        if bodies is None:
            return
        texts = self._cover(bodies)
        if texts is None:
            return
        texts.sort(key=lambda text: -max(map(derivative_order, _names(self.grammar, text)), default=0))
        plus, minus = ([t for t in texts if t[0] == sign] for sign in "+-")
        yield plus + minus
        if not minus:
            nothing = self.ways.get(frozenset())
            if nothing:
                yield [*plus, nothing]
        for i in range(1, len(plus)):
            yield [plus[i], *plus[:i], *plus[i + 1 :], *minus]

    def _cover(self, bodies: frozenset[Node]) -> list[str] | None:
        """Return texts that together mean just these bodies, single ones first."""
        texts, left = [], set(bodies)
        for body in sorted(bodies):
            text = self.ways.get(frozenset([body]))
            if text:
                texts.append(text)
                left.discard(body)
        for several, text in self.ways.items():
            if left and len(several) > 1 and several & left and several <= bodies:
                texts.append(text)
                left -= several
        return None if left else texts


def term_bodies(grammar: Grammar, text: str) -> frozenset[Node]:
    """Return the bodies a term means, without its coefficient."""
    return bodies_of(term_tree(tokenize(grammar, text)))


def bodies_of(tree: Node) -> frozenset[Node]:
    """Return the bodies of a tree, whatever their coefficients."""
    return frozenset(to_sum(unlabelled(tree)))


def sentence_bodies(grammar: Grammar, skeleton: Skeleton) -> frozenset[Node] | None:
    """Return the bodies that a sentence for `skeleton` must have, given the grammar's template."""
    frame = bodies_of(parse_tree(grammar.template.replace("{sentence}", "0")))
    own = bodies_of(skeleton.key)
    return own - frame if frame <= own else None


def freed(skeleton: Skeleton, *, inside: bool) -> Skeleton:
    """Return `skeleton` with every coefficient of its sum free, and with `inside` those in functions too.

    A truth may say u - u^2 or sin(u) where a grammar writes C*u + C*u^2 and sin(C*u).
    """
    tree = unlabelled(skeleton.key)
    return Skeleton(from_sum(_all_free(to_sum(_loose_functions(tree) if inside else tree))))


def _all_free(terms: Sum) -> Sum:
    return dict.fromkeys(terms)


def _loose_functions(node: Node) -> Node:
    args = tuple(_loose_functions(arg) for arg in node.args)
    if node.op in FUNCTIONS and node.op not in ("log", "abs", "sign"):
        args = (from_sum(_all_free(to_sum(args[0]))),)
    return node._replace(args=args)


def make_book(grammar: Grammar, derivations: Iterable[Derivation]) -> list[str]:
    """Return the texts of the terms that occur in some derivations, the most frequent first."""
    counts: Counter[str] = Counter()
    for derivation in derivations:
        for sign, tokens in term_tokens(generate(grammar, derivation)):
            counts[sign + "".join(tokens)] += 1
    best: dict[frozenset[Node], str] = {}
    for text, _ in sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
        if len(best) >= MAX_TERMS:
            break
        best.setdefault(term_bodies(grammar, text[1:]), text)
    return list(best.values())


def _names(grammar: Grammar, text: str) -> frozenset[str]:
    return variables(term_tree(tokenize(grammar, text[1:])))
