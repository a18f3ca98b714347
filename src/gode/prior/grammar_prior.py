"""How probable a term is in the grammars that come with gode, whose probabilities were set by hand."""

from functools import lru_cache
from itertools import islice
from math import factorial

import numpy as np

from gode.arrays import Float
from gode.equation import Node
from gode.errors import GrammarError
from gode.grammar import Grammar, load_grammar, tokenize
from gode.grammar.forest import forest
from gode.prior.writing import freed, spelled_term

TERM = "term"  # The symbol that derives a term in each of these grammars.
MOST_SPELLINGS = 200  # At most so many spellings of a term are tried, which bounds the time of long products.
MOST_OTHERS = 3  # The grammar of systems knows three other states.


@lru_cache(maxsize=50_000)
def term_probability(form: Node, n_names: int, symmetries: int, kind: tuple[int, bool, bool]) -> float:
    """Return the probability of a pattern of a term in equations of a kind; zero if no grammar writes it."""
    order, has_others, forced = kind
    if n_names > MOST_OTHERS or order not in (1, 2):
        return 0.0
    grammar, rules = _grammar(order, max(n_names, 1) if has_others else 0, forced)
    total, met = 0.0, set()
    for text in islice(spelled_term(freed(form)), MOST_SPELLINGS):
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
