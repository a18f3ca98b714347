"""Grammars: which sentences may be written, read from `.grammar` files.

Rule numbers never change: `without` deactivates rules instead of removing them, so that derivations and
trained models stay valid. The paper's padding rule `Nothing -> None` is not part of the grammar; code that
needs arrays pads them.
"""

import hashlib
import os
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from gode.errors import GrammarError, shortened
from gode.files import read_text
from gode.grammar.earley import Coded, Parser, code
from gode.grammar.notation import (
    Rule,
    checked_rules,
    closing_lengths_of,
    read_grammar_text,
    write_grammar_text,
)

SUFFIX = ".grammar"
MAX_BYTES = 10_000_000  # of a grammar file


@dataclass(frozen=True)
class Grammar:
    """A context-free grammar whose sentences stand for equations.

    `template` says which equation: its `{sentence}` is replaced. `limit` is the largest number of rules
    of a derivation that `sample` draws by default.
    """

    rules: tuple[Rule, ...]
    start: str
    template: str
    limit: int
    active: tuple[bool, ...]
    name: str = field(compare=False)

    @classmethod
    def from_text(cls, text: str, source: str = "<text>") -> "Grammar":
        """Return the grammar written in `text`; `source` names it in errors.

        Raises:
            GrammarError: with the line and the reason, if the text is no valid grammar.

        Example:
            >>> Grammar.from_text("sum -> 'C' '*' 'u' | 'C' '*' 'u' '+' sum").start
            'sum'
        """
        read = read_grammar_text(text, source)
        rules = checked_rules(read.alternatives, source)
        everything = (True,) * len(rules)
        return cls(rules, rules[0].head, read.template, read.limit, everything, Path(source).stem)

    @classmethod
    def read(cls, path: str | Path) -> "Grammar":
        """Return the grammar in the file at `path`."""
        text = read_text(path, MAX_BYTES, what=f"a {SUFFIX} file", error=GrammarError)
        return cls.from_text(text, str(path))

    def text(self) -> str:
        """Return a text that `from_text` reads back; it holds all rules, the inactive ones too."""
        return write_grammar_text(self.rules, self.template, self.limit)

    def digest(self) -> str:
        """Return the SHA-256, in hex, of start symbol and rules, without probabilities and activity."""
        lines = [self.start, *map(str, self.rules)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def without(self, *unwanted: str | Rule) -> "Grammar":
        """Return the grammar with some rules deactivated.

        Args:
            unwanted: terminals, such as 'log', whose rules are deactivated; or rules, also as text.

        Raises:
            GrammarError: if a name matches nothing, or no sentence would be left.
        """
        off = {i for name in unwanted for i in self._matching(name)}
        active = tuple(on and i not in off for i, on in enumerate(self.active))
        finishing = closing_lengths_of(rule for rule, on in zip(self.rules, active, strict=True) if on)
        if self.start not in finishing:
            names = ", ".join(map(str, unwanted))
            raise GrammarError(
                f"grammar {self.name}: without {names}, the start symbol {self.start} can never finish; "
                f"keep some of them"
            )
        return replace(
            self,
            active=tuple(
                on and all(symbol in finishing for symbol in rule.nonterminals)
                for rule, on in zip(self.rules, active, strict=True)
            ),
        )

    def rules_of(self, head: str) -> tuple[int, ...]:
        """Return the numbers of the active rules of `head`."""
        return self.coded.active_rules[self._number(head)]

    @property
    def nonterminals(self) -> tuple[str, ...]:
        """The heads, in order of their first rule."""
        return self.coded.nonterminals

    @property
    def terminals(self) -> tuple[str, ...]:
        """The terminals of all rules, in order of appearance."""
        return self.coded.terminals

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probability of each rule among the active ones of its head; 0 for an inactive rule."""
        return self.coded.probabilities

    @cached_property
    def coded(self) -> Coded:
        """The rules as integers."""
        return code(self.rules, self.active)

    @cached_property
    def parser(self) -> Parser:
        """The parser of coded sentences."""
        return Parser(self.coded, self.nonterminals.index(self.start))

    @cached_property
    def token_pattern(self) -> re.Pattern[str]:
        """The pattern of the longest terminal, after white space."""
        longest_first = sorted(self.terminals, key=len, reverse=True)
        return re.compile(r"\s*(" + "|".join(map(re.escape, longest_first)) + ")")

    def closing_length(self, head: str) -> int:
        """Return the fewest active rules that close `head`."""
        return self.coded.closing[self._number(head)]

    def _number(self, head: str) -> int:
        if head not in self.coded.head_number:
            raise GrammarError(
                f"grammar {self.name} has no symbol {head}; it has {', '.join(self.nonterminals)}"
            )
        return self.coded.head_number[head]

    def _matching(self, name: str | Rule) -> list[int]:
        found = [i for i, rule in enumerate(self.rules) if name in rule.terminals]
        found = found or [i for i, rule in enumerate(self.rules) if str(name) == str(rule)]
        if not found:
            known = " ".join(self.terminals)
            raise GrammarError(
                f"grammar {self.name} has no terminal or rule {name}; its terminals are {known}"
            )
        return found


def grammar_names() -> tuple[str, ...]:
    """Return the names of the grammars that come with gode."""
    names = (entry.name for entry in files("gode.grammar").joinpath("files").iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))


def load_grammar(name_or_path: str | Path) -> Grammar:
    """Return a grammar that comes with gode, by name, or the one in a file."""
    name = str(name_or_path)
    if name in grammar_names():
        file = files("gode.grammar").joinpath("files").joinpath(name + SUFFIX)
        return Grammar.from_text(file.read_text(encoding="utf-8"), name + SUFFIX)
    if isinstance(name_or_path, Path) or name.endswith(SUFFIX) or os.path.exists(name):
        return Grammar.read(name_or_path)
    raise GrammarError(
        f"no grammar is called {shortened(name)!r}; use one of {', '.join(grammar_names())}, or a path"
    )
