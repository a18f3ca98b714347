"""SumTemplate: an equation that is a sum of terms, of those that models write and of others.

A model is trained on the sentences of its grammar. What people need besides, limits and kinks at a place that
the data tell, times with a state, roots and Arrhenius' law, is reached by sums of terms.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import final

import numpy as np

from gode.data import Dataset
from gode.equation import (
    Equation,
    Law,
    Node,
    Skeleton,
    Term,
    parse_skeleton,
    parse_tree,
)
from gode.equation.frame import with_numbers
from gode.equation.sums import to_sum
from gode.equation.system import law_of
from gode.equation.tree import (
    FREE,
    STATE,
    add,
    const,
    is_other,
    mul,
    renumber,
    unlabelled,
    variables,
)
from gode.fitting.invariant_zero import with_zero_kept
from gode.model.termbook import terms_for
from gode.search.templates.template import (
    Admission,
    Bodies,
    Fit,
    Points,
    Space,
    grammar_terms,
    random_skeletons,
)

KINKS = ("max(0, u - C)", "abs(u - C)", "max(0, F - C)", "u*max(0, F - C)")
FURTHER = {
    "first-order": (*KINKS, "sqrt(u)", "sqrt(F)", "exp(C/u)"),
    "second-order": (*KINKS, "max(0, u - C)*u'", "exp(C/u)", "t*u"),
    "systems": (
        *KINKS, "max(0, v1 - C)", "abs(v1 - C)", "u*max(0, v1 - C)", "t*u", "t*v1", "sqrt(u)", "sqrt(v1)"
    ),
}  # fmt: skip


@lru_cache(maxsize=100)
def further_terms(grammar: str, columns: tuple[str, ...]) -> tuple[Node, ...]:
    """Return the further terms that go with one of our grammars, in the columns that an equation sees."""
    bodies = [_body(text) for text in FURTHER.get(grammar, ())]
    others = tuple(name for name in columns if is_other(name))
    single = [body for body in bodies if not any(map(is_other, variables(body)))]
    shared = [body for body in bodies if body not in single]
    return (*single, *(_renamed(shared, others) if others else ()))


def _body(text: str) -> Node:
    states = ("u", "v1")
    (body,) = to_sum(unlabelled(mul(FREE, parse_tree(text, states=states))))
    return body


def _renamed(bodies: Iterable[Node], others: tuple[str, ...]) -> Iterable[Node]:
    return terms_for(list(bodies), others)


@final
@dataclass(frozen=True)
class SumTemplate:
    """An equation that is a sum of terms, of which a grammar may fix one."""

    text: str = "u' = {sentence}"
    order: int = 1
    state: int = 0  # number of the state whose equation it is
    keeps_zero: bool = False  # whether the state is a factor of each term that does not vanish with it

    @cached_property
    def fixed(self) -> Node:
        """The equation without its sentence."""
        states = {STATE, *re.findall(r"\bv\d+\b", self.text)}
        return parse_tree(self.text.replace("{sentence}", "0"), states=tuple(sorted(states)))

    @property
    def linear(self) -> tuple[Node, ...]:
        """Nothing: all terms with a constant are sought."""
        return ()

    @property
    def is_linear(self) -> bool:
        """A sum is linear in its terms."""
        return True

    @property
    def least_terms(self) -> int:
        """Two: a right-hand side of one term is hardly ever a law, and rises early among sums anyway."""
        return 2

    def of_space(self, space: Space, *, keeps_zero: bool) -> "SumTemplate":
        """Return the template of a grammar."""
        return replace(self, text=space.grammar.template, keeps_zero=keeps_zero)

    def added(self, term: Node) -> Node:
        """Return the term."""
        return term

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the sum of these terms, each with a free constant."""
        return _sum_of(self.fixed, bodies)

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the terms that the template does not fix."""
        return frozenset(to_sum(unlabelled(skeleton.key))) - frozenset(to_sum(self.fixed))

    def sums(self, skeleton: Skeleton) -> Mapping[str, tuple[Term, ...]]:
        """Return all terms of the equation, as those of one function."""
        return {"": skeleton.terms}

    def named(self, skeleton: Skeleton) -> Mapping[str, int]:
        """Return nothing: no constant has a name."""
        return {}

    def with_numbers(
        self, skeleton: Skeleton, values: Mapping[int, float]
    ) -> tuple[Skeleton, list[int]] | None:
        """Return the sum with these numbers."""
        return with_numbers(skeleton, values)

    def constant_rate(self) -> Skeleton:
        """Return the equation of a constant rate."""
        return parse_skeleton(STATE + "'" * self.order + " = C")

    def sentences(self, space: Space, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
        """Yield random sentences, or all of a grammar that is listed."""
        drawn = space.skeletons or random_skeletons(space, n, rng)
        return map(self._with_zero_kept, drawn) if self.keeps_zero else iter(drawn)

    def _with_zero_kept(self, skeleton: Skeleton) -> Skeleton:
        return self.skeleton(
            frozenset(with_zero_kept(body, skeleton.order) for body in self.terms_of(skeleton))
        )

    def points(self, space: Space) -> Points:
        """Return the latent space of the grammar."""
        return space

    def words(self, space: Space, inputs: Sequence[str], admission: Admission, size: int) -> tuple[Node, ...]:
        """Return the first `size` terms of the grammar that are allowed, if the data tell them apart."""
        bodies = grammar_terms(space, inputs)
        if self.keeps_zero:
            bodies = dict.fromkeys(with_zero_kept(body, self.order) for body in bodies)
        absent = {"F"} - set(inputs)
        allowed = (b for b in bodies if admission.allows(b) and not variables(b) & absent)
        return tuple(b for b in islice(allowed, size) if admission.distinguishes(b))

    def further(self, space: Space, inputs: Sequence[str], admission: Admission) -> tuple[Node, ...]:
        """Return the allowed terms that sums of a few terms are tried with besides those of the grammar."""
        bodies = further_terms(space.name, tuple(inputs))
        if self.keeps_zero:
            bodies = tuple(with_zero_kept(body, self.order) for body in bodies)
        absent = {"F"} - set(inputs)
        return tuple(
            b
            for b in dict.fromkeys(bodies)
            if not variables(b) & absent and admission.allows(b) and admission.distinguishes(b)
        )

    def laws(self, dataset: Dataset, equations: Sequence[Equation], fit: Fit) -> Iterator[Law]:
        """Yield the law that these equations make."""
        yield law_of(dataset.states, dataset.inputs, equations)

    def part(self, law: Law) -> Equation:
        """Return the equation of this state."""
        return law.equations[self.state]

    def changed(self, law: Law, equation: Equation, dataset: Dataset) -> Law:
        """Return the law with this equation in the place of its own."""
        before, after = law.equations[: self.state], law.equations[self.state + 1 :]
        return law_of(dataset.states, dataset.inputs, [*before, equation, *after])

    def without_rest(self, law: Law) -> Law:
        """Return the law: no equilibrium of a sum of terms is known."""
        return law


@lru_cache(maxsize=5_000)  # the neighbours of one skeleton are neighbours of others, too
def _sum_of(fixed: Node, bodies: Bodies) -> Skeleton:
    terms = [mul(const(0), body) for body in sorted(bodies)]
    return Skeleton(renumber(add(fixed, *terms)))
