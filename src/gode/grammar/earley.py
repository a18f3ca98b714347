"""Earley's parser with one token of lookahead, for any context-free grammar, on coded sentences.

A place is a rule with a dot in its body, as one number; the place after the next symbol is one more. An
item is a place with the position where its rule began. Only items that have consumed a token are stored:
the predictions of a set depend only on the symbols it waits for and on the next token, so they are cached.
Symbols that can be empty are skipped in the same table, so that no item has zero length and a set is
complete once all of its items are processed.

Of several derivations the first found is kept: rules are tried in the order of the grammar, and an entry is
never replaced. A derivation therefore refers only to earlier entries and contains no cycle.

The symbols of a coded grammar are numbered: nonterminals from 0 in order of their first rule, then
terminals, then the end of the sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from gode.grammar.notation import Rule, closing_lengths_of

NEVER = 10**9  # closing length of a symbol that cannot terminate

Choice = tuple[tuple[int, ...], tuple[float, ...]]  # rules and their cumulative probabilities


@dataclass(frozen=True)
class Coded:
    """The rules as integers; an inactive rule keeps its number."""

    nonterminals: tuple[str, ...]
    terminals: tuple[str, ...]
    heads: tuple[int, ...]
    bodies: tuple[tuple[int, ...], ...]
    open_symbols: tuple[tuple[int, ...], ...]  # nonterminals of each body, reversed for a stack
    active_rules: tuple[tuple[int, ...], ...]  # of each nonterminal
    closing: tuple[int, ...]  # fewest rules that close each nonterminal
    rule_closing: tuple[int, ...]  # the same with that rule first
    probabilities: tuple[float, ...]

    @property
    def end(self) -> int:
        """The number that stands for the end of a sentence."""
        return len(self.nonterminals) + len(self.terminals)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each terminal."""
        return {name: i for i, name in enumerate(self.terminals, start=len(self.nonterminals))}

    @cached_property
    def head_number(self) -> dict[str, int]:
        """The number of each nonterminal."""
        return {name: i for i, name in enumerate(self.nonterminals)}

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """The choices of each nonterminal with 0, 1, 2, ... rules to spare; the last entry holds for more."""
        return tuple(_choices(self, head) for head in range(len(self.nonterminals)))


def code(rules: Sequence[Rule], active: Sequence[bool]) -> Coded:
    """Return `rules` as integers."""
    nonterminals = tuple(dict.fromkeys(rule.head for rule in rules))
    terminals = tuple(dict.fromkeys(s for rule in rules for s in rule.terminals))
    number = {(name, False): i for i, name in enumerate(nonterminals)}
    number |= {(name, True): i for i, name in enumerate(terminals, start=len(nonterminals))}
    lengths = closing_lengths_of(rule for rule, on in zip(rules, active, strict=True) if on)
    heads = tuple(number[rule.head, False] for rule in rules)
    return Coded(
        nonterminals=nonterminals,
        terminals=terminals,
        heads=heads,
        bodies=tuple(tuple(number[symbol] for symbol in _symbols(rule)) for rule in rules),
        open_symbols=tuple(tuple(number[s, False] for s in reversed(rule.nonterminals)) for rule in rules),
        active_rules=tuple(
            tuple(r for r, on in enumerate(active) if on and heads[r] == head)
            for head in range(len(nonterminals))
        ),
        closing=tuple(lengths.get(name, NEVER) for name in nonterminals),
        rule_closing=tuple(1 + sum(lengths.get(s, NEVER) for s in rule.nonterminals) for rule in rules),
        probabilities=renormalised(rules, active),
    )


def renormalised(rules: Sequence[Rule], active: Sequence[bool]) -> tuple[float, ...]:
    """Return the probability of each rule among the active ones of its head; 0 for an inactive rule."""
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for rule, on in zip(rules, active, strict=True):
        if on:
            totals[rule.head] = totals.get(rule.head, 0.0) + rule.probability
            counts[rule.head] = counts.get(rule.head, 0) + 1
    return tuple(
        0.0
        if not on
        else rule.probability / totals[rule.head]
        if totals[rule.head] > 0
        else 1 / counts[rule.head]
        for rule, on in zip(rules, active, strict=True)
    )


def _symbols(rule: Rule) -> list[tuple[str, bool]]:
    return list(zip(rule.body, rule.terminal, strict=True))


def _choices(coded: Coded, head: int) -> tuple[Choice, ...]:
    """Return the choices for `head`; a rule needs what it takes beyond the fewest rules that close `head`."""
    needs = {rule: coded.rule_closing[rule] - coded.closing[head] for rule in coded.active_rules[head]}
    most = max(needs.values(), default=0)
    return tuple(_choice(coded, [r for r in needs if needs[r] <= spare]) for spare in range(most + 1))


def _choice(coded: Coded, rules: list[int]) -> Choice:
    """Return the rules of positive probability; all of them, equally likely, if none has."""
    likely = [r for r in rules if coded.probabilities[r] > 0]
    weights = [coded.probabilities[r] for r in likely] or [1.0] * len(rules)
    sums = list(accumulate(weights))
    return tuple(likely or rules), (*(s / sums[-1] for s in sums[:-1]), 1.0)


# What a place waits for if not for a nonterminal: nothing more, or a token.
COMPLETE, SCAN = -2, -1
NOTHING = -1  # The number of a token that occurs in no rule.

Waiting = dict[int, list[tuple[int, int]]]
Predicted = tuple[tuple[int, ...], dict[int, tuple[int, ...]]]


@dataclass
class _Chart:
    """The Earley sets of positions 0 to n."""

    width: int  # positions, to code an item as place * width + origin
    waiting: list[Waiting] = field(default_factory=list)  # symbol -> places after it, with origins
    # the same, for rules that begin here
    predicted: list[dict[int, tuple[int, ...]]] = field(default_factory=list)
    # item -> start of its last symbol, place after it
    links: list[dict[int, tuple[int, int]]] = field(default_factory=list)
    # symbol * width + origin -> the same
    done: list[dict[int, tuple[int, int]]] = field(default_factory=list)
    # places after the next token, origin, position
    scans: list[tuple[int, int, int]] = field(default_factory=list)


class Lookahead:
    """FIRST and FOLLOW sets and empty derivations, over the active rules of a grammar.

    `empty[symbol]` is a derivation of the empty sentence, for symbols that have one; `first[symbol]` holds
    the tokens that a sentence of `symbol` may begin with, `follow[symbol]` those that may come after it.
    """

    def __init__(self, coded: Coded, start: int) -> None:
        rules = sorted(rule for group in coded.active_rules for rule in group)
        self._parts = [(rule, coded.heads[rule], coded.bodies[rule]) for rule in rules]
        n = len(coded.nonterminals)
        self.empty: dict[int, tuple[int, ...]] = {}
        self.first: list[set[int]] = [set() if symbol < n else {symbol} for symbol in range(coded.end)]
        self.follow: list[set[int]] = [set() for _ in range(coded.end)]
        self.follow[start].add(coded.end)
        self._fill_empty()
        self._fill_first()
        self._fill_follow()

    def _fill_empty(self) -> None:
        """Find empty derivations by iteration; the first found is kept, so each is built of earlier ones."""
        size = -1
        while size < len(self.empty):
            size = len(self.empty)
            for rule, head, body in self._parts:
                if head not in self.empty and all(symbol in self.empty for symbol in body):
                    self.empty[head] = (rule, *(r for symbol in body for r in self.empty[symbol]))

    def _fill_first(self) -> None:
        size = -1
        while size < (size := sum(map(len, self.first))):
            for _, head, body in self._parts:
                for symbol in body:
                    self.first[head] |= self.first[symbol]
                    if symbol not in self.empty:
                        break

    def _fill_follow(self) -> None:
        size = -1
        while size < (size := sum(map(len, self.follow))):
            for _, head, body in self._parts:
                after = set(self.follow[head])
                for symbol in reversed(body):
                    self.follow[symbol] |= after
                    after = after | self.first[symbol] if symbol in self.empty else set(self.first[symbol])


class Parser:
    """The tables of one grammar, and a cache of predictions."""

    def __init__(self, coded: Coded, start: int) -> None:
        self._coded = coded
        self._start = start
        self._ahead = Lookahead(coded, start)
        self._predictions: dict[tuple[int, int], Predicted] = {}
        self._place_tables()

    def derive(self, tokens: list[int]) -> tuple[int, ...] | None:
        """Return the rules of a leftmost derivation of `tokens`, or None."""
        if not tokens:
            return self._ahead.empty.get(self._start)
        chart = self._chart([*tokens, self._coded.end])
        if len(chart.done) < chart.width or self._start * chart.width not in chart.done[-1]:
            return None
        return self._derivation(chart, len(tokens))

    def failure(self, tokens: list[int]) -> tuple[int, list[int]]:
        """Return where `tokens`, which have no derivation, go wrong, and which tokens were possible there."""
        read = len(self._chart([*tokens, self._coded.end]).done) - 1
        good = tokens[:read]
        possible = [
            t for t in self._coded.number.values() if len(self._chart([*good, t, NOTHING]).done) > read + 1
        ]
        return read, possible if self.derive(good) is None else [*possible, self._coded.end]

    def _place_tables(self) -> None:
        """Number the places; list, by next token and place, where the dot may stand after empty symbols."""
        coded = self._coded
        n = len(coded.nonterminals)
        self._rule = [rule for rule, body in enumerate(coded.bodies) for _ in range(len(body) + 1)]
        self._head = [coded.heads[rule] for rule in self._rule]
        self._first_place = [self._rule.index(rule) for rule in range(len(coded.bodies))]
        self._wants: list[int] = []
        for body in coded.bodies:
            self._wants += [*(symbol if symbol < n else SCAN for symbol in body), COMPLETE]
        reach = [self._reached(place) for place in range(len(self._rule))]
        self._viable = {
            token: [tuple(here for here, tokens in places if token in tokens) for places in reach]
            for token in [NOTHING, *coded.number.values(), coded.end]
        }

    def _reached(self, place: int) -> list[tuple[int, set[int]]]:
        """Return the places reached from `place` over empty symbols, with the tokens they can go on with."""
        rule = self._rule[place]
        reached = []
        for symbol in self._coded.bodies[rule][place - self._first_place[rule] :]:
            reached.append((place, self._ahead.first[symbol]))
            if symbol not in self._ahead.empty:
                return reached
            place += 1
        return [*reached, (place, self._ahead.follow[self._head[place]])]

    def _chart(self, tokens: list[int]) -> _Chart:
        """Return the sets at each position, up to the first token that nothing waits for."""
        chart = _Chart(width=len(tokens))
        self._open(chart, tokens[0], {}, 1 << self._start)
        for token in tokens[1:]:
            if not chart.scans:
                break
            self._advance(chart, token)
        return chart

    def _open(self, chart: _Chart, token: int, waiting: Waiting, wanted: int) -> None:
        """Predict rules for the nonterminals in the bit set `wanted`; this finishes the newest set."""
        key = (wanted, token)
        if key not in self._predictions:
            self._predictions[key] = self._predict(wanted, token)
        scans, predicted = self._predictions[key]
        position = len(chart.waiting)
        chart.waiting.append(waiting)
        chart.predicted.append(predicted)
        chart.scans += [(after, position, position) for after in scans]
        if not position:
            chart.links.append({})
            chart.done.append({})

    def _predict(self, wanted: int, token: int) -> Predicted:
        """Return the places after `token` in rules that begin with it, and after each symbol that may."""
        viable = self._viable[token]
        scans: list[int] = []
        after: dict[int, list[int]] = {}
        queue = [symbol for symbol in range(len(self._coded.nonterminals)) if wanted >> symbol & 1]
        for symbol in queue:
            for rule in self._coded.active_rules[symbol]:
                for place in viable[self._first_place[rule]]:
                    want = self._wants[place]
                    if want == SCAN:
                        scans.append(place + 1)
                    elif want != COMPLETE:
                        after.setdefault(want, []).append(place + 1)
                        if want not in queue:
                            queue.append(want)
        return tuple(scans), {symbol: tuple(places) for symbol, places in after.items()}

    def _advance(self, chart: _Chart, token: int) -> None:
        """Make the set after the token that was waited for, given that `token` comes next: the inner loop."""
        pending = chart.scans
        chart.scans = scans = []
        position, width = len(chart.done), chart.width
        links: dict[int, tuple[int, int]] = {}
        done: dict[int, tuple[int, int]] = {}
        waiting: Waiting = {}
        wanted = 0
        wants, heads, viable = self._wants, self._head, self._viable[token]
        for place, origin, begin in pending:  # grows on the way
            for here in viable[place]:
                want = wants[here]
                if want == COMPLETE:
                    head = heads[here]
                    key = head * width + origin
                    if key not in done:
                        done[key] = (begin, place)
                        for after in chart.predicted[origin].get(head, ()):
                            pending.append((after, origin, origin))
                        for after, older in chart.waiting[origin].get(head, ()):
                            pending.append((after, older, origin))
                elif (key := here * width + origin) not in links:
                    links[key] = (begin, place)
                    if want == SCAN:
                        scans.append((here + 1, origin, position))
                    else:
                        waiting.setdefault(want, []).append((here + 1, origin))
                        wanted |= 1 << want
        chart.links.append(links)
        chart.done.append(done)
        self._open(chart, token, waiting, wanted)

    def _derivation(self, chart: _Chart, length: int) -> tuple[int, ...]:
        """Return the rules of the whole sentence, from the links, leftmost first."""
        derivation: list[int] = []
        stack = [(self._start, 0, length)]
        while stack:
            symbol, origin, end = stack.pop()
            if origin == end:
                derivation += self._ahead.empty[symbol]
                continue
            rule, parts = self._parts(chart, symbol, origin, end)
            derivation.append(rule)
            stack += parts
        return tuple(derivation)

    def _parts(
        self, chart: _Chart, symbol: int, origin: int, end: int
    ) -> tuple[int, list[tuple[int, int, int]]]:
        """Return the rule of `symbol` from `origin` to `end`, and its nonterminals with spans, last first."""
        begin, place = chart.done[end][symbol * chart.width + origin]
        rule = self._rule[place]
        first = self._first_place[rule]
        spans: dict[int, tuple[int, int]] = {place - 1: (begin, end)}
        while begin > origin:
            end = begin
            begin, place = chart.links[end][(place - 1) * chart.width + origin]
            spans[place - 1] = (begin, end)
        here = first + len(self._coded.bodies[rule])
        parts = []
        for part in reversed(self._coded.bodies[rule]):
            here -= 1
            if self._wants[here] != SCAN:
                parts.append((part, *spans.get(here, (0, 0))))
        return rule, parts
