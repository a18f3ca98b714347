"""Rules of selection, replayed on saved pools of candidates: which equation would each rule name?

    gode bench b1 --seeds 30 31 --methods gode --pools --out out/bench
    python benchmarks/selection.py out/bench/pools

For each rule: the mean errors of u and u' of the equation named, how often it has the true structure, how
often the near ties hold it, and how many near ties there are. A rule that does not pay here is left out.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gode.benchmarks.pools import SavedPool, read_pools
from gode.selection import Candidate, Pool, SelectionConfig, rank

CONFIG = SelectionConfig()
Rule = Callable[[Candidate], Candidate]


def all_independent(c: Candidate) -> Candidate:
    """Return it as if its residuals were independent."""
    return replace(c, independent=float(c.n_values))


def white(c: Candidate) -> Candidate:
    """Return it as if neighbouring residuals had no products: white noise alone is considered."""
    return replace(c, by_state=tuple(tuple(state.white) for state in c.states))


def believed(weight: float) -> Rule:
    """Return the rule in which the prior counts so many times."""
    return lambda c: replace(c, unusual=weight * c.unusual)


RULES: dict[str, Rule] = {
    "as it is": lambda c: c,
    "all residuals independent": all_independent,
    "white noise": white,
    "white noise, all residuals independent": lambda c: white(all_independent(c)),
    "no prior": believed(0.0),
    "half the prior": believed(0.5),
    "twice the prior": believed(2.0),
}


def replayed(saved: SavedPool, rule: Rule) -> tuple[tuple[float, ...], bool, bool, int]:
    """Return the errors of the equation named, whether it is right, whether a near tie is, how many."""
    pool = Pool([rule(c) for c in saved.pool.candidates], saved.pool.floor, saved.pool.polynomials)
    ranking = rank(pool, CONFIG)
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
