"""TermBook: how a grammar writes the terms of a skeleton.

A sentence is a sum of terms. The book knows, for each body that a term of the grammar can mean, one way
to write it, learned from the library. With it, a skeleton given by its normal form, such as a person's
guess or a neighbour of a good one, becomes a sentence of the grammar: what encoding and moves need.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, islice, permutations

from gode.equation import Node, Skeleton, parse_tree
from gode.equation.operators import FUNCTIONS, KINKED
from gode.equation.sums import Sum, from_sum, pivot_body, to_sum
from gode.equation.tree import (
    FREE,
    by_term,
    derivative_order,
    has_constant,
    is_other,
    mul,
    renamed,
    unlabelled,
    variables,
)
from gode.errors import EquationError, GrammarError, ModelError
from gode.grammar import Derivation, Grammar, generate, tokenize
from gode.grammar.earley import NOTHING
from gode.library import sentence_skeleton, term_tokens, term_tree

MAX_TERMS = 4000
WAVES = frozenset(FUNCTIONS) - KINKED - {"log"}
FREED_INSIDE = frozenset[str](), WAVES, WAVES | {"log"}  # where constants are put, as long as it takes


@dataclass(frozen=True)
class TermBook:
    """Ways to write terms under a grammar; each is text with its sign in front, such as ``+C*u^2``."""

    grammar: Grammar
    texts: Sequence[str]

    @cached_property
    def ways(self) -> dict[frozenset[Node], str]:
        """The texts by the bodies they mean; the first text given for some bodies wins.

        Texts with a symbol that no active rule writes are left out.
        """
        found: dict[frozenset[Node], str] = {}
        for text, bodies in self._written():
            found.setdefault(bodies, text)
        return found

    def singles(self) -> Iterator[Node]:
        """Yield the single terms in the order of their texts, of which only those asked for are read."""
        seen: set[Node] = set()
        for _, bodies in self._written():
            if len(bodies) == 1 and not bodies <= seen:
                seen |= bodies
                yield from bodies

    def _written(self) -> Iterator[tuple[str, frozenset[Node]]]:
        """Yield the texts that active rules can write, and the bodies they mean."""
        rules = zip(self.grammar.rules, self.grammar.active, strict=True)
        usable = {symbol for rule, active in rules if active for symbol in rule.terminals}
        for text in self.texts:
            if usable.issuperset(self._symbols(text)):
                yield text, frozenset(self.meaning(text))

    def _symbols(self, text: str) -> tuple[str, ...]:
        try:
            return tokenize(self.grammar, text[1:])
        except GrammarError as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> ModelError:
        return ModelError(f"the terms of grammar {self.grammar.name} are broken: {error}")

    @cached_property
    def wide_ways(self) -> list[tuple[frozenset[Node], str]]:
        """The texts that mean several bodies at once, as C*log(C*u) = C*log(u) + C."""
        return [way for way in self.ways.items() if len(way[0]) > 1]

    @cached_property
    def meanings(self) -> dict[str, Sum]:
        """What each text means, its sign left out."""
        return {text: self.meaning(text) for text in self.texts}

    def meaning(self, text: str) -> Sum:
        """Return what a text means, its sign left out.

        Raises:
            ModelError: if it is no term of the grammar.
        """
        if text not in self._known:
            try:
                self._known[text] = _meaning(self.grammar, text[1:])
            except (GrammarError, EquationError) as error:
                raise self._broken(error) from None
        return self._known[text]

    @cached_property
    def _known(self) -> dict[str, Sum]:
        """The meanings that were asked for so far."""
        return {}

    @cached_property
    def frame(self) -> Sum:
        """What the grammar's template adds to a sentence."""
        return to_sum(unlabelled(parse_tree(self.grammar.template.replace("{sentence}", "0"))))

    @cached_property
    def orders(self) -> dict[str, int]:
        """The highest derivative in each text."""
        return {
            text: max((derivative_order(n) for body in terms for n in variables(body)), default=0)
            for text, terms in self.meanings.items()
        }

    def write_freed(self, skeleton: Skeleton) -> Derivation | None:
        """Return a derivation of `skeleton` with its coefficients free, if need be those in functions too."""
        ways = (self.write(freed(skeleton, inside=functions)) for functions in FREED_INSIDE)
        return next((derivation for derivation in ways if derivation is not None), None)

    def write(self, skeleton: Skeleton) -> Derivation | None:
        """Return a derivation of `skeleton`, or None if the grammar, or the book, has no words for it."""
        wanted = to_sum(skeleton.key)
        if not self.frame.keys() <= wanted.keys():
            return None
        for texts in self._covers([body for body in wanted if body not in self.frame]):
            if self._means(texts, skeleton, wanted):
                derivation = self._derivation(texts)
                if derivation is not None:
                    return derivation
        return None

    def _covers(self, bodies: list[Node]) -> Iterator[list[str]]:
        """Yield lists of texts that together mean just these bodies, shortest first."""
        plain = sorted(map(_plain, bodies))  # the second of two sin(C*u) is written as the first
        own = [text for body in plain if (text := self.ways.get(frozenset([body])))]
        left = {body for body in plain if frozenset([body]) not in self.ways}
        if not left:
            yield own
            return
        more: list[str] = []
        wanted = frozenset(plain)
        fitting = [way for way in self.wide_ways if way[0] <= wanted]
        while left:
            several, text = max(fitting, key=lambda way: len(way[0] & left), default=(frozenset(), ""))
            if not several & left:
                return
            more.append(text)
            left -= several
        met = {body for text in more for body in self.meanings[text]}
        yield [text for text in own if not self.meanings[text].keys() <= met] + more
        yield own + more

    def _means(self, texts: list[str], skeleton: Skeleton, wanted: Sum) -> bool:
        """Tell whether a sum of `texts` is `skeleton`, whose normal form is `wanted`."""
        total = dict(self.frame)
        for text in texts:
            for body, coefficient in self.meanings[text].items():
                if coefficient is not None or (body in total and has_constant(body)):
                    return self._slowly_means(texts, skeleton)
                total[body] = None
        pivot = pivot_body(total)
        if pivot is not None and total[pivot] is None and sum(c is not None for c in total.values()) <= 1:
            total = {body: 1.0 if body == pivot else None for body in total}
        return total == wanted or self._slowly_means(texts, skeleton)

    def _slowly_means(self, texts: list[str], skeleton: Skeleton) -> bool:
        try:
            return sentence_skeleton(self.grammar, self._sentence(texts)) == skeleton
        except EquationError:
            return False

    def _derivation(self, texts: list[str]) -> Derivation | None:
        """Return a derivation of the sum of `texts`, in an order that the grammar allows."""
        for ordered in self._orderings(texts):
            derivation = self._parsed(self._sentence(ordered))
            if derivation is not None and len(derivation) <= self.grammar.limit:
                return derivation
        return None

    def _sentence(self, texts: list[str]) -> tuple[str, ...]:
        """Return the tokens of a sum; a plus in front of it is not written."""
        signed = [token for text in texts for token in (text[0], *tokenize(self.grammar, text[1:]))]
        return tuple(signed[1:] if signed[:1] == ["+"] else signed)

    def _parsed(self, tokens: tuple[str, ...]) -> Derivation | None:
        """Return what `gode.grammar.parse` does, but None without a reason, which takes long to find."""
        number = self.grammar.coded.number
        return self.grammar.parser.derive([number.get(token, NOTHING) for token in tokens])

    def _orderings(self, texts: list[str]) -> Iterator[list[str]]:
        """Yield the ways to put the terms in order that a grammar may ask for."""
        texts = sorted(texts, key=lambda text: -self.orders[text])
        plus, minus = ([t for t in texts if t[0] == sign] for sign in "+-")
        nothing = self.ways.get(frozenset())
        if not minus and nothing:
            yield [*plus, nothing]
        yield plus + minus
        for i in range(1, len(plus)):
            yield [plus[i], *plus[:i], *plus[i + 1 :], *minus]


def bodies_of(tree: Node) -> frozenset[Node]:
    """Return the bodies of a tree, whatever their coefficients."""
    return frozenset(to_sum(unlabelled(tree)))


def freed(skeleton: Skeleton, *, inside: Collection[str]) -> Skeleton:
    """Return `skeleton` with every coefficient of its sum free, and those `inside` some functions too.

    A truth may say u - u^2 or sin(u) where a grammar writes C*u + C*u^2 and sin(C*u).
    """
    tree = unlabelled(skeleton.key)
    return Skeleton(from_sum(_all_free(to_sum(_loosened(tree, inside)))))


def _all_free(terms: Sum) -> Sum:
    return dict.fromkeys(terms)


def _loosened(node: Node, functions: Collection[str]) -> Node:
    args = tuple(_loosened(arg, functions) for arg in node.args)
    if node.op in functions:
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
        best.setdefault(frozenset(_meaning(grammar, text[1:])), text)
    return list(best.values())


def _meaning(grammar: Grammar, text: str) -> Sum:
    return to_sum(unlabelled(term_tree(tokenize(grammar, text))))


def _plain(body: Node) -> Node:
    """Return a body without the number that sets it apart from an equal one; see `gode.equation.sums`."""
    return mul(*body.args) if body.op == "*" and body.value else body


def terms_for(bodies: Iterable[Node], others: tuple[str, ...]) -> tuple[Node, ...]:
    """Return the terms of a grammar over the other states that a system has, the most frequent first.

    The grammar treats the states v1, v2, ... alike, so each term stands for all those with other names: in a
    system of fewer states some are left out, in one of more states every term is written for all of them. A
    term that becomes many is taken later, as each of them is less frequent.

    Args:
        bodies: single terms, the most frequent first.
        others: the names of the other columns: v1, v2, ..., and v1', v2', ... where terms may hold them.
    """
    return _terms_for(tuple(bodies), others)


@lru_cache(maxsize=32)  # systems of one size share their terms
def _terms_for(bodies: tuple[Node, ...], others: tuple[str, ...]) -> tuple[Node, ...]:
    states = [name for name in others if not derivative_order(name)]
    hidden = {f"{name}'" for name in states} - set(others)
    sizes = {kind: _n_renamings(kind, len(states)) for kind in map(_kind, bodies)}
    kinds = [kind for kind, size in sizes.items() if size]
    rank = {kind: place * math.sqrt(sizes[kind]) for place, kind in enumerate(kinds, start=1)}
    found = (term for kind in sorted(kinds, key=rank.__getitem__) for term in _renamings(kind, states))
    return tuple(islice((term for term in found if not variables(term) & hidden), MAX_TERMS))


@by_term
def _kind(body: Node) -> Node:
    """Return the term that stands for all those that differ in the names of the other states."""
    return min(_renamed(body, _first_names(body)))


def _n_renamings(kind: Node, n_states: int) -> int:
    names = _first_names(kind)
    return math.comb(n_states, len(names)) * len(_renamed(kind, names))


def _renamings(kind: Node, states: Sequence[str]) -> Iterator[Node]:
    """Yield the different terms that `kind` becomes when its other states are any of `states`."""
    for chosen in combinations(states, len(_first_names(kind))):
        yield from _renamed(kind, chosen)


@by_term
def _renamed(body: Node, states: tuple[str, ...]) -> tuple[Node, ...]:
    """Return the different terms that `body` becomes when its other states are `states`, in any order."""
    own = sorted({name.rstrip("'") for name in variables(body) if is_other(name)})
    found: dict[Node, None] = {}
    for chosen in permutations(states):
        names = {a + "'" * k: b + "'" * k for a, b in zip(own, chosen, strict=True) for k in range(3)}
        found |= dict.fromkeys(to_sum(mul(FREE, renamed(body, names))))
    return tuple(found)


def _first_names(body: Node) -> tuple[str, ...]:
    """Return v1, v2, ..., as many as there are other states in `body`."""
    n = len({name.rstrip("'") for name in variables(body) if is_other(name)})
    return tuple(f"v{i + 1}" for i in range(n))
