"""FIRST and FOLLOW sets and empty derivations of a grammar's symbols: the parser's lookahead."""

from gode.grammar.coding import Coded


class Lookahead:
    """Tables over the active rules of a grammar.

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
