"""A grammar as the networks see it: only the steps at which there is a choice, and a library of such steps.

A symbol with a single rule leaves no choice, so its rule is applied together with the one before it. The
sequences that the decoder has to predict become shorter by about half. A corpus holds those of a library as
arrays, saved and loaded without torch.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation import Skeleton
from gode.errors import ModelError
from gode.files import opened
from gode.grammar import Derivation, Grammar
from gode.library import MAX_UNPACKED, Library, check_unpacked

NEVER = 10**6  # Spare rules that no sentence has: what needs as many is not allowed.
Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The choices a grammar offers, as arrays.

    Heads are numbered among all nonterminals; a rule's `opens` are the symbols with a choice that it
    leaves open, its `cost` the rules it stands for: itself and the forced ones behind it.
    """

    grammar: Grammar
    every_step: bool = False  # keep forced steps, as the paper's network does

    @cached_property
    def heads(self) -> Int:
        """The head of each rule."""
        return np.array(self.grammar.coded.heads, np.int64)

    @cached_property
    def forced(self) -> dict[int, int]:
        """The symbols with one rule, and that rule; switched-off rules count, so that this never changes."""
        if self.every_step:
            return {}
        rules: dict[int, list[int]] = {}
        for rule, head in enumerate(self.grammar.coded.heads):
            rules.setdefault(head, []).append(rule)
        return {head: of[0] for head, of in rules.items() if len(of) == 1}

    @cached_property
    def followers(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """For each rule, the symbols with a choice that it opens, first one first, and its cost."""
        return tuple(self._follow(rule) for rule in range(len(self.grammar.rules)))

    @cached_property
    def start(self) -> tuple[tuple[int, ...], int]:
        """The symbols open at the start, and the rules spent to get there."""
        head = self.grammar.coded.head_number[self.grammar.start]
        return self._follow(self.forced[head]) if head in self.forced else ((head,), 0)

    @cached_property
    def closing(self) -> Int:
        """The fewest rules that close each symbol, by its active rules."""
        return np.minimum(np.array(self.grammar.coded.closing, np.int64), NEVER)

    @cached_property
    def need(self) -> Int:
        """What each rule takes beyond the fewest rules that close its head."""
        total = [cost + sum(self.closing[s] for s in opens) for opens, cost in self.followers]
        return np.array(total, np.int64) - self.closing[self.heads]

    @cached_property
    def spare(self) -> int:
        """The spare rules: how many more than the shortest sentence has may be used.

        Raises:
            ModelError: if no sentence fits the limit.
        """
        fewest = self.grammar.closing_length(self.grammar.start)
        if fewest > self.grammar.limit:
            raise ModelError(
                f"no sentence of grammar {self.grammar.name} fits its limit of {self.grammar.limit} rules, "
                f"the shortest has {fewest}; switch fewer rules off"
            )
        return self.grammar.limit - fewest

    @cached_property
    def least(self) -> Int:
        """(heads, rules): the spare rules that a rule needs to replace a symbol; `NEVER` if it may not."""
        return np.where(self.allowed, self.need[None, :], NEVER)

    @cached_property
    def fitting(self) -> Bool:
        """Which rules may replace a symbol; row: symbol * (self.spare + 1) + number of spare rules."""
        to_spare = np.arange(self.spare + 1)
        return (self.least[:, None, :] <= to_spare[None, :, None]).reshape(-1, len(self.heads))

    @cached_property
    def allowed(self) -> Bool:
        """(heads, rules): which rules may replace a symbol."""
        table = np.zeros((len(self.grammar.nonterminals), len(self.grammar.rules)), np.bool_)
        table[self.heads, np.arange(len(self.heads))] = self.grammar.active
        return table

    @cached_property
    def open_table(self) -> tuple[Int, Int]:
        """The symbols each rule opens, last one first and padded with -1, and how many they are."""
        width = max(1, *(len(opens) for opens, _ in self.followers))
        table = np.full((len(self.followers), width), -1, np.int64)
        for rule, (opens, _) in enumerate(self.followers):
            table[rule, : len(opens)] = opens[::-1]
        return table, np.array([len(opens) for opens, _ in self.followers], np.int64)

    def choices(self, derivation: Derivation) -> tuple[int, ...]:
        """Return the rules of `derivation` at which there was a choice."""
        heads, forced = self.grammar.coded.heads, self.forced
        return tuple(rule for rule in derivation if heads[rule] not in forced)

    def derivation(self, choices: Sequence[int]) -> Derivation:
        """Return the whole derivation behind some choices."""
        coded, forced = self.grammar.coded, self.forced
        rest = iter(choices)
        stack = [coded.head_number[self.grammar.start]]
        derivation = []
        while stack:
            head = stack.pop()
            rule = forced[head] if head in forced else next(rest)
            derivation.append(rule)
            stack += coded.open_symbols[rule]
        return tuple(derivation)

    def sentence(self, choices: Sequence[int]) -> tuple[str, ...]:
        """Return the tokens of the sentence behind some choices, without building its derivation."""
        starts, rests = self._spelled
        tokens = [*starts[-1]]
        stack = [*rests[-1]]
        for rule in choices:
            stack.pop()  # the symbol that the rule replaces; behind it lie the tokens that follow
            tokens += starts[rule]
            stack += rests[rule]
            while stack and (run := stack[-1]) is not None:
                tokens += run
                stack.pop()
        return tuple(tokens)

    @cached_property
    def _spelled(self) -> tuple[list[Tokens], list[list[Tokens | None]]]:
        """What each rule writes, forced rules applied; at the end, the start.

        First the tokens before the first symbol with a choice, then the rest, last one first: such symbols,
        as None, and the tokens behind each, if there are any.
        """
        start = self.grammar.coded.head_number[self.grammar.start]
        written = [self._spell(rule) for rule in range(len(self.grammar.rules))]
        written.append(self._spell(self.forced[start]) if start in self.forced else [start])
        starts, rests = [], []
        for symbols in written:
            runs: list[Tokens | None] = [
                (*run,) if is_tokens else None
                for is_tokens, group in groupby(symbols, lambda symbol: isinstance(symbol, str))
                for run in ([group] if is_tokens else ([symbol] for symbol in group))
            ]
            first = runs.pop(0) if runs and runs[0] is not None else ()
            starts.append(first or ())
            rests.append(runs[::-1])
        return starts, rests

    def _spell(self, rule: int) -> list[str | int]:
        coded = self.grammar.coded
        out: list[str | int] = []
        for symbol in coded.bodies[rule]:
            if symbol >= len(coded.nonterminals):
                out.append(coded.terminals[symbol - len(coded.nonterminals)])
            else:
                out += self._spell(self.forced[symbol]) if symbol in self.forced else [symbol]
        return out

    def _follow(self, rule: int) -> tuple[tuple[int, ...], int]:
        opens: list[int] = []
        cost = 1
        for symbol in reversed(self.grammar.coded.open_symbols[rule]):
            if symbol in self.forced:
                inner, more = self._follow(self.forced[symbol])
                opens += inner
                cost += more
            else:
                opens.append(symbol)
        return tuple(opens), cost


def padded(sequences: Sequence[Sequence[int]], fill: int, width: int | None = None) -> tuple[Int, Int]:
    """Return sequences of different length as one array, and their lengths."""
    lengths = np.array([len(s) for s in sequences], np.int64)
    out = np.full((len(sequences), width or int(lengths.max(initial=1))), fill, np.int64)
    for i, sequence in enumerate(sequences):
        out[i, : len(sequence)] = sequence
    return out, lengths


@dataclass(frozen=True)
class Corpus:
    """Choice sequences, padded at the end, and the behaviour of their skeletons (n, m), or (0, 0)."""

    rules: Int  # (n, time)
    heads: Int  # (n, time)
    lengths: Int
    allowed: Bool  # (heads, rules)
    held_out: Bool  # (n,) never trained on
    behaviour: Float = field(default_factory=lambda: np.zeros((0, 0)))


def make_corpus(library: Library, held_out: Bool, behaviour: Float | None = None) -> Corpus:
    """Return a library's derivations as padded choice sequences."""
    plan = Plan(library.grammar)
    rules, lengths = padded([plan.choices(d) for d in library.derivations], 0)
    nothing = np.zeros((0, 0))
    extra = nothing if behaviour is None else behaviour
    return Corpus(rules, plan.heads[rules], lengths, plan.allowed, held_out, extra)


def is_held_out(skeleton: Skeleton) -> bool:
    """Tell whether a skeleton is held out: a twentieth, by hash, is never used in training."""
    return hashlib.blake2b(str(skeleton).encode(), digest_size=8).digest()[0] % 20 == 0


def save_corpus(corpus: Corpus, path: Path) -> None:
    """Write a corpus to a compressed file."""
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            rules=corpus.rules.astype(np.int16),
            heads=corpus.heads.astype(np.int16),
            lengths=corpus.lengths,
            allowed=corpus.allowed,
            held_out=corpus.held_out,
            behaviour=corpus.behaviour.astype(np.float16),
        )


def load_corpus(path: Path) -> Corpus:
    """Read what `save_corpus` wrote."""
    with opened(path) as file:
        check_unpacked(file, MAX_UNPACKED, str(path))
        with np.load(file, allow_pickle=False) as stored:
            rules, heads = (stored[k].astype(np.int64) for k in ("rules", "heads"))
            behaviour = stored["behaviour"].astype(np.float64)
            return Corpus(rules, heads, stored["lengths"], stored["allowed"], stored["held_out"], behaviour)
