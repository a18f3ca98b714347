"""Other rules of evidence replayed on pools of simulated problems and of measured records.

    python -m gode_bench.making_pools out/pools --suite b1 odebench measured systems --seed 7101
    python -m gode_bench.evidence_rules out/pools

For each group of pools and each rule: the mean errors of the law that is named, how often it is right, how
often the near ties hold a right one, and how many near ties there are. Laplace's evidence takes the
covariance that the fit has, and for each constant a prior that is flat in the logarithm, some times its size
wide.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gode.arrays import Float
from gode.equation.tree import number, walk
from gode.files import read_json
from gode.fitting.constant_prior import Kind, roles
from gode.fitting.evidence import CORRELATIONS, PRIOR, deviance
from gode.json_codec import decode
from gode.selection import (
    Candidate,
    SelectionConfig,
    in_order,
    independent_values,
    ties,
    weighed,
)

MAX_BYTES = 100_000_000
CONFIG = SelectionConfig()
INNER, POWERS = 1.5, 2.0  # widths of the priors of constants inside terms, as in gode.fitting.constant_prior
PRICES = (2.0, 4.0)  # what a choice that was tried may cost
WIDTHS = (1.0, 3.0, 10.0, 30.0)  # of the prior of a constant, in sizes of it
Rule = Callable[["Saved", float, tuple[float, ...]], float]


@dataclass(frozen=True)
class Saved:
    """A candidate with its errors, whether it is right, and what was saved of its fit."""

    candidate: Candidate
    row: dict[str, Any]

    @property
    def right(self) -> bool:
        """Whether it has a structure that is right."""
        return bool(self.row["right"])


def main(folder: Path) -> None:
    """Print the table of each group of pools."""
    groups: dict[str, list[tuple[list[Saved], tuple[float, ...]]]] = {}
    for path in sorted(folder.glob("*.json")):
        data: Any = read_json(path, MAX_BYTES)
        found = [Saved(decode(Candidate, row["candidate"], str(path)), row) for row in data["candidates"]]
        part = ", first 60 %" if path.stem.endswith("_0.6") else ""
        groups.setdefault(path.stem.partition("_")[0] + part, []).append((found, tuple(data["floor"])))
    for name, pools in groups.items():
        held = sum(any(one.right for one in pool) for pool, _ in pools)
        print(f"\n{name}: {len(pools)} pools, {held} hold a right law\n")
        print("| rule | errors | right | among | near ties |\n| --- | --- | --- | --- | --- |")
        for title, rule in RULES.items():
            rows = [replayed(pool, floor, rule) for pool, floor in pools]
            errors = " / ".join(f"{np.mean([row[0][i] for row in rows]):.4f}" for i in (0, 1))
            right, among = sum(row[1] for row in rows), sum(row[2] for row in rows)
            print(f"| {title} | {errors} | {right} | {among} | {np.mean([row[3] for row in rows]):.1f} |")


def replayed(pool: list[Saved], floor: tuple[float, ...], rule: Rule) -> tuple[list[float], bool, bool, int]:
    """Return the errors of the law that a rule names, whether it is right, whether a tie is, how many."""
    m = independent_values([one.candidate for one in pool])
    by_law = {}
    for one in pool:
        candidate = replace(one.candidate, criterion=rule(one, m, floor))
        by_law[id(candidate)] = candidate, one
    order = in_order([candidate for candidate, _ in by_law.values()])
    near = ties(order, CONFIG, floor)
    first = by_law[id(order[0])][1]
    return first.row["errors"], first.right, any(by_law[id(c)][1].right for c in near), len(near)


def as_it_is(one: Saved, m: float, floor: tuple[float, ...]) -> float:
    """Return the criterion."""
    return weighed(one.candidate, floor, CONFIG, m).criterion


def without_draws(one: Saved, m: float, floor: tuple[float, ...]) -> float:
    """Return the criterion of Laplace's evidence as it is claimed at the optimum."""
    return as_it_is(one, m, floor) - one.candidate.missing


def schwarz(one: Saved, m: float, floor: tuple[float, ...]) -> float:
    """Return the criterion with log m for each number."""
    c = one.candidate
    return deviance(c.states, m, c.n_free, floor, None) + c.unusual


def laplace(width: float) -> Rule:
    """Return the rule of Laplace's evidence with priors that are flat in the logarithm."""

    def rule(one: Saved, m: float, floor: tuple[float, ...]) -> float:
        c = one.candidate
        if "normal" not in one.row:
            return as_it_is(one, m, floor)
        directions, k = _information(one, width), c.n_free
        phi = CORRELATIONS if all(state.series for state in c.states) else CORRELATIONS[:1]
        total = np.zeros(len(phi))
        for state, least in zip(c.states, floor, strict=True):
            variance = state.innovations(phi) * m / max(m - k, 0.5) + least**2
            total += state.share * m * (np.log(variance) - state.series * np.log1p(-(phi**2)))
            scale = (1 - phi) ** 2 * (m / c.n_values) / variance
            total += state.share * np.log1p(np.outer(scale, directions)).sum(axis=1)
        weights = PRIOR[: len(phi)] / PRIOR[: len(phi)].sum()
        return float(-2 * np.logaddexp.reduce(np.log(weights) - 0.5 * total)) + c.unusual

    return rule


def _information(one: Saved, width: float) -> Float:
    """Return the eigenvalues of the information matrix in units of the widths of the priors."""
    row, p = one.row, np.array(one.row["numbers"])
    widths = width * np.abs(p)
    for place, exponent in _inner(one.candidate):
        widths[place] = POWERS if exponent else INNER * abs(p[place])
    widths[row["constants"] :] = max(row["scales"])  # initial values lie anywhere in the signal
    matrix = np.array(row["normal"]) * np.outer(widths, widths)
    return np.maximum(np.linalg.eigvalsh(np.clip(np.nan_to_num(matrix), -1e100, 1e100)), 0.0)


def _inner(c: Candidate) -> Iterator[tuple[int, bool]]:
    """Yield the constants inside terms, and whether each is an exponent."""
    skeleton = c.equation.skeleton
    for i, part in enumerate(skeleton.parts):
        for term in part.terms:
            for role in roles(term.body):
                place = (
                    role.constant
                    if len(skeleton.parts) == 1
                    else skeleton.places[skeleton.offsets[i] + role.constant]
                )
                yield int(place), role.kind == Kind.EXPONENT


def priced(count: Callable[[Candidate], int], price: float) -> Rule:
    """Return the criterion with a price of each choice that was tried."""
    return lambda one, m, floor: as_it_is(one, m, floor) + price * count(one.candidate)


def zero_starts(c: Candidate) -> int:
    """Return how many initial values are held at zero."""
    return len(c.held)


def shared_constants(c: Candidate) -> int:
    """Return how many constants equal others."""
    links = getattr(c.equation.skeleton, "links", ())
    return len(links) - c.equation.skeleton.n_constants if links else 0


def half_exponents(c: Candidate) -> int:
    """Return how many exponents are half numbers."""
    powers = [node for part in c.equation.skeleton.parts for node in walk(part.key) if node.op == "^"]
    return sum(n.args[1].op == "num" and not number(n.args[1]).is_integer() for n in powers)


RULES: dict[str, Rule] = {
    "as it is": as_it_is,
    "without draws": without_draws,
    "log m a number": schwarz,
    **{f"Laplace, {w:g} times the size": laplace(w) for w in WIDTHS},
    **{f"zero starts cost {x:g}": priced(zero_starts, x) for x in PRICES},
    **{f"shared constants cost {x:g}": priced(shared_constants, x) for x in PRICES},
    **{f"half exponents cost {x:g}": priced(half_exponents, x) for x in PRICES},
}

if __name__ == "__main__":
    main(Path(sys.argv[1]))
