"""Context-free grammars, their sentences and derivations; independent of differential equations."""

from gode.grammar.derivation import (
    Derivation,
    allowed_rules,
    closing_lengths,
    generate,
    parse,
    sample,
    sample_many,
    tokenize,
)
from gode.grammar.notation import Rule
from gode.grammar.rules import Grammar, grammar_names, load_grammar

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
