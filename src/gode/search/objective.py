"""Objective: scores of skeletons by a cheap fit. No skeleton is fitted twice.

The score is an information criterion: n log(SSE/n) + k log n + a price per operation. The best of every
number of constants are kept, because the cheap fit and the trajectory disagree on the right number.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from gode.data import Columns
from gode.equation import Equation, Node, Skeleton
from gode.equation.dimensions import keeps_units
from gode.equation.operators import KINKED
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import TIME, by_term, is_other, renumber, symbols, var, variables, walk
from gode.fitting import ConstantsConfig, Form, Regression, fit_constants
from gode.fitting.each import fit_each
from gode.search.assumptions import keeps
from gode.search.templates import SumTemplate, Template
from gode.units import Unit

Rows = tuple[tuple[float, ...], ...]  # values of each run
VANISHING = 1e-6  # terms with the highest derivative whose sum is a smaller share of them cancel


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """What a skeleton must be, and how its cheap fit is scored."""

    order: int
    max_constants: int = 8
    operation_price: float = 2.0  # flat between 2 and 4 in our experiments
    quota: int = 24  # skeletons kept per number of constants
    time_alone: bool = False  # whether an equation may do without the state
    floor: float = 1e-5  # smaller residuals, as a share of the target's spread, count as this much
    barred: frozenset[str] = frozenset()  # symbols that no term may hold
    assume: tuple[str, ...] = ()  # see gode.search.assumptions
    units: Mapping[str, Unit] = field(default_factory=dict)  # of columns, which laws may not mix up


@dataclass(frozen=True)
class Scored:
    """A skeleton with its cheap fit."""

    skeleton: Skeleton
    equation: Equation
    score: float
    rows: Rows = ()  # constants of each run, where these have their own


class Objective:
    """Scores skeletons on one or more problems that the same data pose."""

    def __init__(
        self,
        problems: Iterable[Regression],
        *,
        config: ObjectiveConfig,
        fit: ConstantsConfig,
        check: Callable[[], None] | None = None,  # called before each fit; may raise to end the search
        each: Sequence[Sequence[Regression]] = (),  # the problems of each run, if it has its own constants
        template: Template = SumTemplate(),  # noqa: B008
    ) -> None:
        self.template = template
        self.problems = tuple(problems)
        self.each = tuple(tuple(runs) for runs in each)
        self.check = check
        self.config = config
        self.fit = fit
        self.seen: dict[int, float] = {}
        self.floors = [_floor(problem, config.floor) for problem in self.problems]
        self._best: dict[tuple[int, int], list[tuple[float, int, Scored]]] = {}
        self._ticket = count()
        columns = self.problems[0].columns
        same = np.all(columns.matrix > 0, axis=1) | np.all(columns.matrix < 0, axis=1)
        self.one_sided = {name for name, one in zip(columns.names, same, strict=True) if one}

    @property
    def n_fitted(self) -> int:
        """The number of different skeletons fitted so far."""
        return len(self.seen)

    def score(self, skeleton: Skeleton | None) -> float:
        """Return the score of `skeleton` on the first problem; inf for one that is not admitted or fails."""
        if skeleton is None:
            return np.inf
        key = hash(skeleton)
        if key not in self.seen:
            if self.check:
                self.check()
            self.seen[key] = self._fitted(skeleton) if self.admits(skeleton) else np.inf
        return self.seen[key]

    def admits(self, skeleton: Skeleton) -> bool:
        """Tell whether `skeleton` is an equation of the kind that is sought."""
        known = self.problems[0].columns.inputs
        right = skeleton.order == self.config.order and skeleton.n_constants <= self.config.max_constants
        if not right or any(name not in known for name in skeleton.inputs) or len(skeleton.terms) < 2:
            return False  # a single term is u'' = 0 in disguise
        if not all(self.allows(body) for body in sought(self.template, skeleton)):
            return False
        if self.config.units and not keeps_units(skeleton.normal, self.config.units):
            return False
        return self.distinguishes(skeleton.key) and (self.config.time_alone or holds_state(skeleton))

    def allows(self, body: Node) -> bool:
        """Tell whether a term has no symbol that is barred, and no unit where that has no meaning."""
        if self.config.barred and symbols(body) & self.config.barred:
            return False
        if self.config.assume and not keeps(renumber(body), self.config.assume, self.config.order):
            return False
        return not self.config.units or keeps_units(renumber(body), self.config.units)

    def distinguishes(self, tree: Node) -> bool:
        """Tell whether there is no |u| that is u, or -u, in all of these data."""
        terms = tree.args if tree.op == "+" else (tree,)
        return not self.one_sided or all([_kinked(term).isdisjoint(self.one_sided) for term in terms])

    def best(self, limit: int) -> list[Scored]:
        """Return the kept skeletons of all sizes and problems, best first, at most `limit` per size."""
        found: dict[int, Scored] = {}
        for heap in self._best.values():
            for _, _, scored in sorted(heap, key=lambda item: -item[0])[:limit]:
                found.setdefault(hash(scored.skeleton.key), scored)
        return sorted(found.values(), key=lambda s: s.score)

    def leaders(self, n: int, problem: int = 0) -> list[Scored]:
        """Return the `n` best by the score of one problem, the first by default."""
        heaps = (heap for (number, _), heap in self._best.items() if number == problem)
        everyone = sorted((s for heap in heaps for _, _, s in heap), key=lambda s: s.score)
        return everyone[:n]

    def _fitted(self, skeleton: Skeleton) -> float:
        scores = []
        for number, (problem, floor) in enumerate(zip(self.problems, self.floors, strict=True)):
            if self.each:
                scores.append(self._fitted_each(skeleton, number))
                continue
            found = fit_constants(skeleton, problem, config=self.fit)
            leverage = _leverage(found.equation, problem) if found.equation is not None else np.inf
            if found.equation is None or not np.isfinite(leverage):
                scores.append(np.inf)
                continue
            score = self._criterion(skeleton, (found.loss * leverage) ** 2 + floor, problem.columns)
            scores.append(score)
            self._keep(number, Scored(skeleton, found.equation, score))
        return min(scores[:1])

    def _fitted_each(self, skeleton: Skeleton, number: int) -> float:
        """Return the score on one problem with constants of each run."""
        found = fit_each(skeleton, self.each[number], config=self.fit)
        leverage = np.inf if found is None else _leverage(found.equation, self.problems[number])
        if found is None or not np.isfinite(leverage):
            return np.inf
        variance = (found.loss * leverage) ** 2 + self.floors[number]
        n, runs = self.problems[number].columns.n_points, len(self.each[number])
        k, price = runs * skeleton.n_constants, self.config.operation_price * skeleton.burden
        freedom = max(n - k, 0.5)
        score = float(n * np.log(variance * n / freedom) + k * np.log(max(n / runs, 2.0)) + price)
        self._keep(number, Scored(skeleton, found.equation, score, found.rows))
        return score

    def _criterion(self, skeleton: Skeleton, variance: float, columns: Columns) -> float:
        n = columns.n_points
        price = self.config.operation_price * skeleton.burden
        return float(n * np.log(variance) + skeleton.n_constants * np.log(n) + price)

    def _keep(self, problem: int, scored: Scored) -> None:
        heap = self._best.setdefault((problem, scored.skeleton.n_constants), [])
        item = (-scored.score, next(self._ticket), scored)
        if len(heap) < self.config.quota:
            heapq.heappush(heap, item)
        elif item[0] > heap[0][0]:
            heapq.heapreplace(heap, item)


def holds_state(skeleton: Skeleton) -> bool:
    """Tell whether a state, or a derivative below the highest, occurs in the equation, or nothing at all.

    A function of time alone explains anything; a constant rate or acceleration does not.
    """
    inputs = {name for name in skeleton.inputs if not is_other(name)}
    held = variables(skeleton.key)
    return held == {skeleton.highest} or not held <= {TIME, skeleton.highest, *inputs}


def sought(template: Template, skeleton: Skeleton) -> list[Node]:
    """Return the terms of the functions that are sought, all but the highest derivative."""
    found = (term.body for terms in template.sums(skeleton).values() for term in terms)
    return [body for body in found if body.value != skeleton.highest]


@by_term
def _kinked(term: Node) -> frozenset[object]:
    """Return the columns of which a term has the absolute value or the sign."""
    return frozenset([node.args[0].value for node in walk(term) if node.op in KINKED])


def _leverage(equation: Equation, problem: Regression) -> float:
    """Return the error in the highest derivative per unit of the residual; inf where they are unrelated.

    The residual of an implicit equation can be made small without solving it: exp(C*t)*u'' - C*u = 0 holds
    for any signal if its constants make both terms vanish, and u'' - exp(C*t)*u'' = 0 if they cancel. So the
    residual is divided by its derivative with respect to the highest derivative.
    """
    skeleton, columns = equation.skeleton, problem.columns
    if problem.form is not Form.RESIDUAL or skeleton.leading == (var(skeleton.highest),):
        return 1.0
    terms = [term for term in skeleton.terms if term.body in skeleton.leading]
    slopes = []
    for term in terms:
        tape = compile_tape([term], columns.names, len(equation.constants))
        found = evaluate(tape, equation.constants, columns.matrix)
        slopes.append(found.in_columns[columns.names.index(skeleton.highest)])
    with np.errstate(all="ignore"):
        whole, largest = np.sqrt(np.mean(np.sum(slopes, axis=0) ** 2)), np.sqrt(np.mean(np.square(slopes)))
        return float(1 / whole) if whole > VANISHING * largest else np.inf


def _floor(problem: Regression, share: float) -> float:
    target = problem.operator.target
    spread = np.std(target) if np.any(target) else np.std(problem.columns.matrix[1 + 1 : 4], axis=1).max()
    return float((share * spread) ** 2 + 1e-300)
