"""Context-free grammars, their sentences and derivations; independent of differential equations."""

from gode.grammar.derivation import Derivation, closing_lengths, generate, parse, tokenize
from gode.grammar.notation import Rule
from gode.grammar.rules import Grammar, grammar_names, load_grammar
from gode.grammar.sampling import allowed_rules, sample, sample_many

__all__ = [
    "Derivation",
    "Grammar",
    "Rule",
    "allowed_rules",
    "closing_lengths",
    "generate",
    "grammar_names",
    "load_grammar",
    "parse",
    "sample",
    "sample_many",
    "tokenize",
]
