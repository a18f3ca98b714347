"""The text format of grammars: lines `head -> 'terminal' other [0.4] | ...`, read and written.

Terminals stand in single or double quotes, so that `"u'"` can be one; `''` or nothing between two bars is
the empty alternative. `#` starts a comment. A line that starts with `|` continues the head above.
`%template u' = {sentence}` says which equation a sentence stands for, `%limit 40` how many rules a
derivation may use.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import groupby

from gode.errors import GrammarError, shortened

DEFAULT_TEMPLATE = "{sentence} = 0"
DEFAULT_LIMIT = 40
MOST_DIGITS = 4  # of %limit, which is at most 9999

_LEXEME = re.compile(
    r"""\s*(?: (?P<quoted>'[^']*'|"[^"]*") | (?P<arrow>->) | (?P<bar>\|) | \[(?P<probability>[^\]]*)\]
             | (?P<name>\w+) | (?P<comment>\#.*) | (?P<bad>\S) )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Rule:
    """One way to replace `head`; `terminal[i]` says whether `body[i]` is a terminal."""

    head: str
    body: tuple[str, ...]
    terminal: tuple[bool, ...]
    probability: float

    def __str__(self) -> str:
        """Return the rule as text, without its probability."""
        return f"{self.head} -> {self.body_text()}"

    def body_text(self) -> str:
        """Return the right-hand side as text."""
        parts = (
            quoted(s) if is_terminal else s for s, is_terminal in zip(self.body, self.terminal, strict=True)
        )
        return " ".join(parts) or "''"

    @property
    def terminals(self) -> tuple[str, ...]:
        """The terminals of the body, from left to right."""
        return tuple(s for s, is_terminal in zip(self.body, self.terminal, strict=True) if is_terminal)

    @property
    def nonterminals(self) -> tuple[str, ...]:
        """The nonterminals of the body, from left to right."""
        return tuple(s for s, is_terminal in zip(self.body, self.terminal, strict=True) if not is_terminal)


@dataclass(frozen=True)
class Alternative:
    """One alternative as written, with its line, and its probability if given."""

    head: str
    body: tuple[str, ...]
    terminal: tuple[bool, ...]
    probability: float | None
    line: int


@dataclass(frozen=True)
class GrammarText:
    """The content of a grammar text, not yet validated as a whole."""

    alternatives: tuple[Alternative, ...]
    template: str
    limit: int


def quoted(terminal: str) -> str:
    """Return `terminal` in the quotes it needs."""
    return f'"{terminal}"' if "'" in terminal else f"'{terminal}'"


def fault(source: str, line: int, reason: str) -> GrammarError:
    """Return the error for `reason` with its line."""
    return GrammarError(f"{source}, line {line}: {shortened(reason)}")


def read_grammar_text(text: str, source: str) -> GrammarText:
    """Parse `text`; `source` names it in errors."""
    settings = {"template": DEFAULT_TEMPLATE, "limit": str(DEFAULT_LIMIT)}
    alternatives: list[Alternative] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("%"):
            key, value = _read_directive(line.strip(), source, number)
            settings[key] = value
        else:
            head = alternatives[-1].head if alternatives else ""
            alternatives += _read_line(line, head, source, number)
    return GrammarText(tuple(alternatives), settings["template"], int(settings["limit"]))


def write_grammar_text(rules: tuple[Rule, ...], template: str, limit: int) -> str:
    """Return a text that `read_grammar_text` reads back; equal probabilities are left out."""
    chances: dict[str, list[float]] = {}
    for rule in rules:
        chances.setdefault(rule.head, []).append(rule.probability)
    lines = [f"%template {template}", f"%limit {limit}"]
    for head, group in groupby(rules, key=lambda rule: rule.head):
        plain = set(chances[head]) == {1 / len(chances[head])}
        bodies = (r.body_text() + ("" if plain else f" [{r.probability!r}]") for r in group)
        lines.append(f"{head} -> " + " | ".join(bodies))
    return "\n".join(lines) + "\n"


def _read_directive(line: str, source: str, number: int) -> tuple[str, str]:
    key, _, value = line[1:].partition("#")[0].strip().partition(" ")
    value = value.strip()
    if key == "limit":
        plain = value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS
        if not plain or int(value) == 0:
            raise fault(
                source,
                number,
                f"%limit must be a whole number from 1 to 9999, got {value[:40]!r}; write e.g. %limit 40",
            )
    elif key == "template":
        if value.count("{sentence}") != 1:
            raise fault(
                source,
                number,
                f"%template must hold {{sentence}} once, got {value!r}; write e.g. u' = {{sentence}}",
            )
    else:
        raise fault(source, number, f"unknown directive %{key}; use %template or %limit")
    return key, value


def _read_line(line: str, head_above: str, source: str, number: int) -> Iterator[Alternative]:
    """Yield the alternatives on one line; none if it is blank."""
    lexemes = list(_lexemes(line, source, number))
    if not lexemes:
        return
    if lexemes[0][0] == "bar":
        if not head_above:
            raise fault(source, number, "'|' continues no rule; start with head ->")
        head, lexemes = head_above, lexemes[1:]
    elif [kind for kind, _ in lexemes[:2]] == ["name", "arrow"]:
        head, lexemes = lexemes[0][1], lexemes[2:]
        if not lexemes:
            raise fault(source, number, f"nothing follows '{head} ->'; write '' for an empty alternative")
    else:
        raise fault(
            source, number, f"missing arrow in {line.strip()!r}; write head -> 'terminal' other | ..."
        )
    for part in _split_at_bars(lexemes):
        yield _read_alternative(head, part, source, number)


def _lexemes(line: str, source: str, number: int) -> Iterator[tuple[str, str]]:
    for match in _LEXEME.finditer(line):
        kind = match.lastgroup or ""
        value = match[kind]
        if kind == "comment":
            return
        if kind == "bad":
            column = match.start("bad") + 1
            if value in "'\"":
                raise fault(source, number, f"unterminated quote at column {column}; close it with {value}")
            raise fault(
                source, number, f"unexpected {value} at column {column}; quote it if it is a terminal"
            )
        yield kind, value


def _split_at_bars(lexemes: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    parts: list[list[tuple[str, str]]] = [[]]
    for lexeme in lexemes:
        if lexeme[0] == "bar":
            parts.append([])
        else:
            parts[-1].append(lexeme)
    return parts


def _read_alternative(head: str, lexemes: list[tuple[str, str]], source: str, number: int) -> Alternative:
    probability = None
    if lexemes and lexemes[-1][0] == "probability":
        probability = _read_probability(lexemes.pop()[1], source, number)
    for kind, value in lexemes:
        if kind == "arrow":
            raise fault(source, number, "a second arrow; put each head on its own line")
        if kind == "probability":
            raise fault(
                source, number, f"[{value}] stands inside an alternative; put it at its end, before '|'"
            )
        if kind == "quoted" and re.search(r"\s", value):
            raise fault(
                source, number, f"terminal {value} holds white space, which sentences skip; split it in two"
            )
    symbols = [(value[1:-1] if kind == "quoted" else value, kind == "quoted") for kind, value in lexemes]
    symbols = [symbol for symbol in symbols if symbol[0]]
    return Alternative(head, tuple(s for s, _ in symbols), tuple(t for _, t in symbols), probability, number)


def _read_probability(text: str, source: str, number: int) -> float:
    try:
        probability = float(text)
    except ValueError:
        raise fault(source, number, f"probability [{text}] is no number; write e.g. [0.25]") from None
    if not 0 <= probability <= 1 + 1e-6:
        raise fault(
            source, number, f"probability [{text}] must lie in [0, 1]; it is negative, too large or no number"
        )
    return probability


PROBABILITY_TOLERANCE = 1e-6


def checked_rules(alternatives: tuple[Alternative, ...], source: str) -> tuple[Rule, ...]:
    """Return the rules of these `alternatives`.

    Raises:
        GrammarError: with the line and the reason, if they are no valid grammar.
    """
    if not alternatives:
        raise GrammarError(f"{source}: the grammar is empty; write at least one rule such as start -> 'C'")
    _check_duplicates(alternatives, source)
    rules = _with_probabilities(alternatives, source)
    lines = {id(rule): alternative.line for rule, alternative in zip(rules, alternatives, strict=True)}
    _check_defined(rules, lines, source)
    _check_finishing(rules, lines, source)
    _check_reachable(rules, lines, source)
    return rules


def closing_lengths_of(rules: Iterable[Rule]) -> dict[str, int]:
    """Return the fewest rules that derive a sentence from each head; one that has none is left out.

    Heads are settled in the order of these lengths (Knuth 1977), so each symbol of a rule is visited once.
    """
    parts = [(rule.head, rule.nonterminals) for rule in rules]
    waiting, totals = [len(inner) for _, inner in parts], [1] * len(parts)
    users: defaultdict[str, list[int]] = defaultdict(list)  # the rules with a symbol, once per occurrence
    for number, (_, inner) in enumerate(parts):
        for symbol in inner:
            users[symbol].append(number)
    ready = [(1, head) for head, inner in parts if not inner]
    heapify(ready)
    lengths: dict[str, int] = {}
    while ready:
        length, head = heappop(ready)
        if head in lengths:
            continue
        lengths[head] = length
        for number in users[head]:
            waiting[number] -= 1
            totals[number] += length
            if not waiting[number]:
                heappush(ready, (totals[number], parts[number][0]))
    return lengths


def _check_duplicates(alternatives: tuple[Alternative, ...], source: str) -> None:
    seen: set[tuple[str, tuple[str, ...], tuple[bool, ...]]] = set()
    for a in alternatives:
        key = (a.head, a.body, a.terminal)
        if key in seen:
            raise fault(source, a.line, f"rule {Rule(*key, 0.0)} is written twice; remove one")
        seen.add(key)


def _with_probabilities(alternatives: tuple[Alternative, ...], source: str) -> tuple[Rule, ...]:
    by_head: defaultdict[str, list[Alternative]] = defaultdict(list)
    for alternative in alternatives:
        by_head[alternative.head].append(alternative)
    for head, group in by_head.items():
        _check_probabilities(head, group, source)
    return tuple(
        Rule(a.head, a.body, a.terminal, 1 / len(by_head[a.head]) if a.probability is None else a.probability)
        for a in alternatives
    )


def _check_probabilities(head: str, group: list[Alternative], source: str) -> None:
    given = [a.probability for a in group if a.probability is not None]
    if not given:
        return
    if len(given) < len(group):
        line = next(a.line for a in group if a.probability is None)
        raise fault(
            source,
            line,
            f"only {len(given)} of {len(group)} alternatives of {head} have a probability; give all or none",
        )
    if not math.isclose(sum(given), 1, abs_tol=PROBABILITY_TOLERANCE, rel_tol=0):
        raise fault(
            source, group[0].line, f"the probabilities of {head} sum to {sum(given):g}; make them sum to 1"
        )


def _check_defined(rules: tuple[Rule, ...], lines: dict[int, int], source: str) -> None:
    heads = {rule.head for rule in rules}
    for rule in rules:
        for symbol in rule.nonterminals:
            if symbol not in heads:
                raise fault(
                    source,
                    lines[id(rule)],
                    f"symbol {symbol} is undefined; add {symbol} -> ... or quote it as a terminal",
                )


def _check_finishing(rules: tuple[Rule, ...], lines: dict[int, int], source: str) -> None:
    finishing = closing_lengths_of(rules)
    for rule in rules:
        if rule.head not in finishing:
            raise fault(
                source,
                lines[id(rule)],
                f"symbol {rule.head} can never finish; add an alternative without a loop",
            )


def _check_reachable(rules: tuple[Rule, ...], lines: dict[int, int], source: str) -> None:
    inner: defaultdict[str, set[str]] = defaultdict(set)
    for rule in rules:
        inner[rule.head].update(rule.nonterminals)
    reached, ahead = {rules[0].head}, [rules[0].head]
    while ahead:
        new = inner[ahead.pop()] - reached
        reached |= new
        ahead += new
    for rule in rules:
        if rule.head not in reached:
            raise fault(
                source,
                lines[id(rule)],
                f"symbol {rule.head} is never reached from {rules[0].head}; use or remove it",
            )
