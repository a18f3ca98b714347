"""Speller: derivations of sums, put together from the derivations of their terms.

Parsing a sentence costs more than all else in encoding. A term's share of a leftmost derivation depends
only on the term, on whether it is the first, and on the sign behind it, so it is parsed once, within a
short sentence, and remembered. What is put together is generated and compared: where a grammar is not a
sum in this sense, the whole sentence is parsed instead.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product

from gode.errors import GrammarError
from gode.grammar import Derivation, Grammar, generate, tokenize
from gode.grammar.earley import NOTHING

COMPANIONS = 4  # terms that are tried next to one to make a sentence


@dataclass(frozen=True)
class Speller:
    """A grammar, terms such as ``+C*u^2`` to make short sentences of, and what is remembered."""

    grammar: Grammar
    texts: Sequence[str]
    _tokens: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _parts: dict[tuple[str, bool, str], Derivation | None] = field(default_factory=dict)

    def derivation(self, texts: Sequence[str]) -> Derivation | None:
        """Return a derivation of the sum of some terms, or None if the grammar has none."""
        if not texts or texts[0][0] != "+":
            return None
        tokens = self._sentence(texts)
        composed = self._composed(texts)
        if composed is not None and _generates(self.grammar, composed, tokens):
            return composed
        return _parsed(self.grammar, tokens)

    def tokens(self, text: str) -> tuple[str, ...]:
        """Return the tokens of a term, without its sign."""
        if text not in self._tokens:
            self._tokens[text] = tokenize(self.grammar, text[1:])
        return self._tokens[text]

    def _sentence(self, texts: Sequence[str]) -> tuple[str, ...]:
        signed = [token for text in texts for token in (text[0], *self.tokens(text))]
        return tuple(signed[1:])

    def _composed(self, texts: Sequence[str]) -> Derivation | None:
        rules: list[int] = []
        for i, text in enumerate(texts):
            after = texts[i + 1][0] if i + 1 < len(texts) else ""
            part = self._part(text, i == 0, after)
            if part is None:
                return None
            rules += part
        return tuple(rules)

    def _part(self, text: str, first: bool, after: str) -> Derivation | None:
        key = text, first, after
        if key not in self._parts:
            self._parts[key] = self._find_part(text, first, after)
        return self._parts[key]

    def _find_part(self, text: str, first: bool, after: str) -> Derivation | None:
        """Return the share of `text` in the first short sentence that the grammar can write."""
        for before, behind in product([()] if first else self._leads(), self._ends(after)):
            texts = (*before, text, *behind)
            derivation = _parsed(self.grammar, self._sentence(texts))
            if derivation is not None:
                return self._shares(texts, derivation)[len(before)]
        return None

    def _leads(self) -> list[tuple[str, ...]]:
        return [(text,) for text in self._some("+")]

    def _ends(self, after: str) -> Iterator[tuple[str, ...]]:
        """Yield what may stand behind a term, if the sign `after` comes next."""
        if not after:
            yield ()
            return
        for text in self._some(after):
            yield (text,)
            yield from ((text, last) for last in self._some("-")[:1] if after == "+")

    def _some(self, sign: str) -> list[str]:
        return [text for text in self.texts if text[0] == sign][:COMPANIONS]

    def _shares(self, texts: Sequence[str], derivation: Derivation) -> list[Derivation]:
        """Split a derivation into what is applied within each term, its sign in front of it left out."""
        starts = list(accumulate((len(self.tokens(text)) + 1 for text in texts), initial=0))
        coded = self.grammar.coded
        n = len(coded.nonterminals)
        shares: list[list[int]] = [[] for _ in texts]
        stack, place = [coded.head_number[self.grammar.start]], 0
        for rule in derivation:
            shares[min(bisect_right(starts, place), len(texts)) - 1].append(rule)
            stack.pop()
            stack += reversed(coded.bodies[rule])
            while stack and stack[-1] >= n:
                stack.pop()
                place += 1
        return [tuple(share) for share in shares]


def _parsed(grammar: Grammar, tokens: tuple[str, ...]) -> Derivation | None:
    """Return what `gode.grammar.parse` does, but None without a reason, which takes long to find."""
    number = grammar.coded.number
    return grammar.parser.derive([number.get(token, NOTHING) for token in tokens])


def _generates(grammar: Grammar, derivation: Derivation, tokens: tuple[str, ...]) -> bool:
    try:
        return generate(grammar, derivation) == tokens
    except GrammarError:
        return False
