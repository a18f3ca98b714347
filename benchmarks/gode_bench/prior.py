"""How well the prior predicts laws that it has not seen, beside hand-set rules and the price of operations.

    python -m gode_bench.prior

Three tables: by field, each left out in turn; by grammar, with the probabilities of its rules hand-set and
learned; and the truths of the benchmarks, which are not among the laws. The price of operations is no
probability, so it is compared among rivals: the law and several hundred equations drawn from the grammars
that see the same signals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gode.equation import Skeleton
from gode.equation.system import parse_system_values
from gode.equation.tree import variables
from gode.grammar import load_grammar
from gode.grammar.learning import best_strength, cross_validated, nats
from gode.library import draw_library
from gode.prior import KnownLaw, Prior, default_prior, known_laws, learn_prior
from gode.prior.corpus import fields
from gode.prior.model import visible
from gode.prior.terms import View
from gode.prior.writing import write_laws
from gode_bench.odebench.systems import systems
from gode_bench.problems import SUITES

GRAMMARS = ("first-order", "second-order", "implicit", "systems")
N_DRAWN = 500  # rivals from each grammar


@dataclass(frozen=True)
class Score:
    """One equation: its log prior, its price, and the shares of both among its rivals."""

    prior: float
    operations: float
    prior_share: float
    price_share: float
    prior_rank: int
    price_rank: int


@lru_cache(maxsize=1)
def drawn() -> tuple[Skeleton, ...]:
    """Equations drawn from the grammars with hand-set probabilities, less those of the known laws."""
    found: dict[Skeleton, None] = {}
    for order, name in ((1, "first-order"), (2, "second-order")):
        found |= dict.fromkeys(draw_library(load_grammar(name), N_DRAWN, order=order, rng=order))
    both = load_grammar("systems")
    still = replace(both.without("u'", "v1'", "v2'", "v3'"), template="u' = {sentence}")
    for order, grammar in ((1, still), (2, both)):
        found |= dict.fromkeys(draw_library(grammar, 2 * N_DRAWN, order=order, rng=order))
    known = {part for law in known_laws() for part in law.skeleton.parts}
    return tuple(skeleton for skeleton in found if skeleton not in known)


@lru_cache(maxsize=64)
def rivals(view: View) -> tuple[Skeleton, ...]:
    """Those of the same order that see no other signals."""
    own = {"u" + "'" * view.order}
    return tuple(
        s for s in drawn() if s.order == view.order and all(view.holds(c) for c in variables(s.key) - own)
    )


def score(part: Skeleton, n_states: int, n_inputs: int, prior: Prior) -> Score:
    """Return how the prior and the price judge one equation."""
    others, forced = visible(n_states, n_inputs)
    against = [s for s in rivals(View(part.order, others, forced)) if s != part]
    logs = np.array([prior.log_prior(s, others=others, forced=forced) for s in (part, *against)])
    prices = -np.array([s.burden for s in (part, *against)])
    shares = [float(x[0] - np.logaddexp.reduce(x)) for x in (logs, prices)]
    ranks = [1 + int(np.sum(x > x[0])) for x in (logs, prices)]
    return Score(float(logs[0]), part.burden, shares[0], shares[1], ranks[0], ranks[1])


def row(name: str, scores: Sequence[Score]) -> str:
    """Return a line of a table."""
    mean = np.mean([[s.prior, -s.operations, s.prior_share, s.price_share] for s in scores], axis=0)
    ranks = np.median([[s.prior_rank, s.price_rank] for s in scores], axis=0)
    figures = [f"{-x:.2f}" for x in mean] + [f"{rank:.0f}" for rank in ranks]
    return f"| {name} | {len(scores)} | {' | '.join(figures)} |"


HEAD = (
    "| {} | equations | nats | operations | among rivals: prior | price | rank: prior | price |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def score_laws(laws: Sequence[KnownLaw], prior: Prior) -> list[Score]:
    """Return the scores of all equations of some laws."""
    return [
        score(part, len(law.skeleton.states), law.n_inputs, prior)
        for law in laws
        for part in law.skeleton.parts
    ]


def by_field() -> None:
    """Print the table of fields, each left out of what the prior is learned from."""
    print(HEAD.format("field left out"))
    everything = []
    for field in fields(known_laws()):
        prior = learn_prior([law for law in known_laws() if law.field != field])
        found = score_laws([law for law in known_laws() if law.field == field], prior)
        print(row(field, found), flush=True)
        everything += found
    print(row("**all**", everything), flush=True)


def by_grammar() -> None:
    """Print the table of grammars: nats per equation with hand-set and with learned probabilities."""
    print("\n| grammar | written | not written | hand-set, nats | learned, nats | strength |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in GRAMMARS:
        grammar = load_grammar(name)
        found = write_laws(grammar, known_laws())
        strength = best_strength(grammar, found.written)
        hand, learned = nats(grammar, found.written), cross_validated(grammar, found.written, strength)
        sizes = f"{len(found.written)} | {len(found.missed)}"
        print(f"| `{name}` | {sizes} | {hand.mean():.2f} | {learned.mean():.2f} | {strength:g} |", flush=True)


def by_benchmark() -> None:
    """Print the table of the benchmarks' truths."""
    print("\n" + HEAD.format("truths"))
    prior = default_prior()
    truths = [parse_system_values(one.truths, states=one.states).skeleton for one in systems().values()]
    for n in sorted({len(law.parts) for law in truths}):
        own = [score(part, n, 0, prior) for law in truths if len(law.parts) == n for part in law.parts]
        print(row(f"ODEBench, {n} state{'s' if n > 1 else ''}", own), flush=True)
    for name, suite in SUITES.items():
        own = [score(p.equation.skeleton, 1, int(p.force is not None), prior) for p in suite]
        print(row(f"paper, {name.upper()}", own), flush=True)


if __name__ == "__main__":
    by_field()
    by_grammar()
    by_benchmark()
