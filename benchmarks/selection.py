"""Rules of selection, replayed on saved pools of candidates: which equation would each rule name?

    gode bench b1 --seeds 30 31 --methods gode --pools --out out/bench
    python benchmarks/selection.py out/bench/pools

For each rule: the mean errors of u and u' of the equation named, how often it has the true structure, how
often the near ties hold it, and how many near ties there are. A rule that does not pay here is left out.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from math import lgamma
from pathlib import Path

import numpy as np

from gode.benchmarks.pools import SavedPool, read_pools
from gode.equation import Skeleton
from gode.grammar import generate
from gode.library import term_tokens
from gode.model import open_space
from gode.selection import Candidate, Pool, SelectionConfig, independent_values, rank

CONFIG = SelectionConfig()
Rule = Callable[[Pool], tuple[Pool, SelectionConfig]]


def all_independent(pool: Pool) -> tuple[Pool, SelectionConfig]:
    """As if all residuals were white."""
    return replace(
        pool, candidates=[replace(c, independent=float(c.n_values)) for c in pool.candidates]
    ), CONFIG


def without_freedom(pool: Pool) -> tuple[Pool, SelectionConfig]:
    """With the variance SSE / m instead of SSE / (m - k)."""
    m = independent_values(pool.candidates)

    def biased(c: Candidate) -> Candidate:
        return replace(c, rms=c.rms * float(np.sqrt(max(m - c.n_free, 0.5) / m)))

    return replace(pool, candidates=[biased(c) for c in pool.candidates]), CONFIG


def priced(operation: float) -> Rule:
    """With another price of an operation."""
    return lambda pool: (pool, replace(CONFIG, operation_price=operation))


def by_grammar(weight: float) -> Rule:
    """With the probabilities of the grammar's rules as prior, the order of terms not counted."""

    def rule(pool: Pool) -> tuple[Pool, SelectionConfig]:
        m = independent_values(pool.candidates)
        prices = [-2 * weight * log_probability(c.equation.skeleton) for c in pool.candidates]
        moved = [
            replace(c, rms=c.rms * float(np.exp(min(price, 700) / m / 2)))
            for c, price in zip(pool.candidates, prices, strict=True)
        ]
        return replace(pool, candidates=moved), replace(CONFIG, operation_price=0.0)

    return rule


def log_probability(skeleton: Skeleton) -> float:
    """Return the log probability of a skeleton under the shipped grammars, the implicit one a quarter."""
    found = [-60.0]
    for name, share in (("first-order" if skeleton.order == 1 else "second-order", 1.0), ("implicit", 0.25)):
        space = open_space(name)
        derivation = space.book.write(skeleton) or space.book.write_freed(skeleton)
        if derivation is not None:
            n = sum(1 for _ in term_tokens(generate(space.grammar, derivation)))
            rules = np.log([space.grammar.probabilities[i] for i in derivation])
            found.append(float(rules.sum() + lgamma(n + 1) + np.log(share)))
    return max(found)


RULES: dict[str, Rule] = {
    "as it is": lambda pool: (pool, CONFIG),
    "all residuals independent": all_independent,
    "variance SSE / m": without_freedom,
    "no prior": priced(0.0),
    "operations at half the price": priced(1.0),
    "operations at twice the price": priced(4.0),
    "the grammar's probabilities as prior": by_grammar(1.0),
}


def replayed(saved: SavedPool, rule: Rule) -> tuple[tuple[float, ...], bool, bool, int]:
    """Return the errors of the equation named, whether it is right, whether a near tie is, how many."""
    pool, config = rule(saved.pool)
    ranking = rank(pool, config)
    texts = [str(c.equation) for c in saved.pool.candidates]
    places = [texts.index(str(c.equation)) for c in ranking.candidates[: ranking.n_ties]]
    first = places[0]
    return saved.errors[first], saved.right[first], any(saved.right[i] for i in places), len(places)


def main(folders: list[str]) -> None:
    pools = [saved for folder in folders for saved in read_pools(Path(folder))]
    here = sum(any(saved.right) for saved in pools)
    print(f"{len(pools)} discoveries; {here} of them fitted the true structure\n")
    print("| rule | u | u' | named right | right among the near ties | near ties |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rule in RULES.items():
        rows = [replayed(saved, rule) for saved in pools]
        u, du = (np.mean([row[0][i] for row in rows]) for i in (0, 1))
        named, among = (sum(row[i] for row in rows) for i in (1, 2))
        size = np.mean([row[3] for row in rows])
        print(f"| {name} | {u:.4f} | {du:.4f} | {named} | {among} | {size:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
