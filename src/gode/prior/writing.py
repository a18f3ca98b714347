"""Laws as sentences of a grammar: every spelling of a term is tried until the grammar accepts it.

Grammars write each term with a constant in front, and factors in an order of their own. So a law is taken
whatever the factors of its terms, in every order of factors and summands, with roots, powers and divisions,
and a power that is no whole number may be written as a constant.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations, product
from math import factorial

import numpy as np

from gode.arrays import Float
from gode.equation import Node, Skeleton
from gode.equation.operators import FUNCTIONS
from gode.equation.tree import FREE, MINUS_ONE, ONE, is_other, mul, num, number, power, var, variables
from gode.errors import GrammarError
from gode.grammar import Grammar, load_grammar, tokenize
from gode.grammar.learning import Forest, Written, forest, is_derived
from gode.prior.corpus import KnownLaw
from gode.prior.terms import ways_of_writing

MOST_SPELLINGS = 400  # At most so many spellings of a term are tried, which bounds the time of long products.
MOST_SENTENCES = 24  # At most so many ways to join the spellings of its terms are kept of a law.
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
        for i, part in enumerate(law.skeleton.parts):
            bodies = writer.bodies(part, len(law.skeleton.states))
            if bodies is None:
                beyond += 1
                continue
            name = f"{law.name}: {part.text(law.skeleton.names(i))}"
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


def spelled_term(body: Node, *, derivative: bool = False) -> Iterator[str]:
    """Yield the spellings of a term with a constant in front; derivatives as diff(u,t) if so wanted."""
    plain = _term(body, derivative)
    for text in plain:
        yield f"C{text}" if text.startswith("/") else f"C*{text}" if text else "C"


def _term(body: Node, derivative: bool) -> list[str]:
    """Return the spellings of a product; one that has only divisors begins with a stroke."""
    factors = [f for f in (body.args if body.op == "*" else (body,)) if f != ONE]
    above = [_factor(f, derivative) for f in factors if not _divides(f)]
    below = [_factor(_inverse(f), derivative) for f in factors if _divides(f)]
    found = []
    for over in permutations(above):
        for under in permutations(below):
            for chosen in product(*over, *under):
                front, back = chosen[: len(over)], chosen[len(over) :]
                found.append("*".join(front) + "".join(f"/{text}" for text in back))
                if len(back) > 1:
                    found.append("*".join(front) + f"/({'*'.join(back)})")
    return list(dict.fromkeys(found))


def _factor(factor: Node, derivative: bool) -> list[str]:
    base, exponent = factor.args if factor.op == "^" else (factor, ONE)
    texts = _base(base, derivative)
    if exponent == ONE:
        return texts
    if exponent.op == "const":
        return [f"{text}^C" for text in texts]
    n = number(exponent)
    found = [f"{text}^{n:g}" for text in texts]
    if n == 0.5:
        found += [f"sqrt({text[1:-1] if base.op == '+' else text})" for text in texts]
    if n in (2, 3):
        found += ["*".join([text] * int(n)) for text in texts]
    return found


def _base(base: Node, derivative: bool) -> list[str]:
    if base.op == "var":
        name = str(base.value)
        if derivative and name.endswith("'"):
            stem = name.rstrip("'")
            return [f"diff(diff({stem},t),t)" if name.endswith("''") else f"diff({stem},t)"]
        return [name]
    if base.op == "+":
        return [f"({text})" for text in _sum(base.args, derivative)]
    sums = [_args(arg) for arg in base.args]
    if base.op in FUNCTIONS and FUNCTIONS[base.op].parity:  # sin(u - F) is -sin(F - u)
        sums += [tuple(map(_negated, terms)) for terms in sums if len(terms) > 1]
    return [f"{base.op}({text})" for terms in sums for text in _sum(terms, derivative)]


def _negated(term: Node) -> Node:
    return term if any(f.op == "const" for f in _factors(term)) else mul(MINUS_ONE, term)


def _sum(terms: Sequence[Node], derivative: bool) -> list[str]:
    """Return the spellings of a sum inside a function or a bracket."""
    found = []
    for order in permutations(terms):
        for chosen in product(*[_summand(term, derivative) for term in order]):
            text = "".join(part if part.startswith("-") else f"+{part}" for part in chosen)
            found.append(text.removeprefix("+"))
    return list(dict.fromkeys(found))


def _summand(term: Node, derivative: bool) -> list[str]:
    factors = _factors(term)
    numbers = [f for f in factors if f.op in ("num", "const")]
    rest = tuple(f for f in factors if f.op not in ("num", "const"))
    own = "C" if any(f.op == "const" for f in numbers) else f"{number(numbers[0]):g}" if numbers else "1"
    sign = "-" if own.startswith("-") else ""
    own = own.removeprefix("-")
    found = []
    for text in _term(Node("*", 0.0, rest) if len(rest) != 1 else rest[0], derivative):
        if own == "1" and text and not text.startswith("/"):
            found.append(sign + text)
        else:
            found.append(sign + own + (text if text.startswith("/") else f"*{text}" if text else ""))
    return found


def _args(node: Node) -> tuple[Node, ...]:
    return node.args if node.op == "+" else (node,)


def _factors(node: Node) -> tuple[Node, ...]:
    return node.args if node.op == "*" else (node,)


def _divides(factor: Node) -> bool:
    return factor.op == "^" and factor.args[1].op == "num" and number(factor.args[1]) < 0


def _inverse(factor: Node) -> Node:
    return power(factor.args[0], num(-number(factor.args[1])))


def freed(node: Node) -> Node:
    """Return a term whose unusual powers are free constants."""
    args = tuple(freed(arg) for arg in node.args)
    if node.op == "^" and args[1].op == "num" and number(args[1]) not in (-3, -2, -1, 2, 3):
        return Node("^", 0.0, (args[0], FREE))
    return node._replace(args=args)


TERM = "term"  # The symbol that derives a term in each of these grammars.
MOST_SPELLINGS_IN_GRAMMAR = 200  # The same bound where grammars of the package price a term.
MOST_OTHERS = 3  # The grammar of systems knows three other states.


@lru_cache(maxsize=50_000)
def term_probability(form: Node, n_names: int, symmetries: int, kind: tuple[int, bool, bool]) -> float:
    """Return the probability of a pattern of a term in equations of a kind; zero if no grammar writes it."""
    order, has_others, forced = kind
    if n_names > MOST_OTHERS or order not in (1, 2):
        return 0.0
    grammar, rules = _grammar(order, max(n_names, 1) if has_others else 0, forced)
    total, met = 0.0, set()
    for text in islice(spelled_term(freed(form)), MOST_SPELLINGS_IN_GRAMMAR):
        try:
            tokens = tokenize(grammar, text)
        except GrammarError:  # a function that the grammar does not have
            return total
        if tokens not in met and (trees := forest(grammar, tokens, TERM)) is not None:
            total += trees.probability(rules)
        met.add(tokens)
    return total * factorial(n_names) / symmetries


@lru_cache(maxsize=32)
def _grammar(order: int, others: int, forced: bool) -> tuple[Grammar, Float]:
    """Return the grammar of a kind of equation, less what that does not see, and its probabilities."""
    grammar = load_grammar("systems" if others else "first-order" if order == 1 else "second-order")
    absent = [f"v{i + 1}" for i in range(others, MOST_OTHERS)] if others else []
    unseen = {name + prime for name in absent for prime in ("", "'")} | (set() if forced else {"F"})
    if others and order == 1:
        unseen |= {"u'"} | {f"v{i + 1}'" for i in range(MOST_OTHERS)}
    grammar = grammar.without(*sorted(unseen & set(grammar.terminals)))
    return grammar, np.array(grammar.probabilities)
