"""Cheap scores: one skeleton at a time by a fit of its constants, or all sums of a few terms at once.

A score is an information criterion: n log(SSE/n) + k log n + a price per operation. No skeleton is fitted
twice. The best of every number of constants are kept, because the cheap fit and the trajectory disagree on
the right number.

The least squares of a sum of terms follow from the inner products of its terms, which are the same for all
sums, so that all sums of a few terms without inner constants and one of any kind are compared by linear
algebra. Constants inside a term stay at the values from which fits start.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int, Rows, rows_of
from gode.data import Columns
from gode.equation import Equation, Node, Skeleton, Term
from gode.equation.dimensions import keeps_units
from gode.equation.operators import KINKED
from gode.equation.tape import FREQUENCY, compile_scales, compile_tape, evaluate
from gode.equation.tree import (
    TIME,
    ZERO,
    add,
    by_term,
    count_constants,
    depends_on,
    has_constant,
    is_other,
    renumber,
    symbols,
    var,
    variables,
    walk,
)
from gode.fitting import ConstantsConfig, Form, Regression, fit_constants
from gode.fitting.smoothed_fit import fit_each
from gode.fitting.varpro import term_at_starts, transform
from gode.search.assumptions import keeps
from gode.search.settings import ALL
from gode.search.templates import Bodies, SumTemplate, Template, Vocabulary
from gode.selection import SelectionConfig
from gode.units import Unit

# All sums of up to three of so many terms without inner constants are compared: 696 of them. Set by hand, so
# that they take about as long as the random sentences.
CORE_TERMS = 16
LARGEST_SUM = 4  # The largest sums have so many terms; the last of them may have inner constants.
# So many terms with the highest derivative lead sums of an implicit grammar, and of so many runs the sums of
# squares are added up where each has constants of its own; both limit the time and were set by hand.
LEADING = 4
MOST_RUNS = 12
CHUNK = 8  # So many sums are compared at a time: measured, what they need then stays in the cache of a core.
# Terms are linearly dependent, or cancel, if what is left of them is a smaller fraction; far above rounding.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """What a skeleton must be, and how its cheap fit is scored."""

    order: int
    max_constants: int = ConstantsConfig.max_constants
    operation_price: float = 2.0  # The price of an operation; measured, results are alike between 2 and 4.
    quota: int = ALL.per_size  # So many skeletons are kept for each number of constants, the most asked for.
    time_alone: bool = False  # whether an equation may do without the state
    # Smaller residuals, relative to the standard deviation of the target, count as this much: rounding.
    floor: float = SelectionConfig.floor
    barred: frozenset[str] = frozenset()  # symbols that no term may hold
    assume: tuple[str, ...] = ()  # see gode.search.assumptions
    units: Mapping[str, Unit] = field(default_factory=dict)  # units of columns, which laws may not mix up


@dataclass(frozen=True)
class Scored:
    """A skeleton with its cheap fit."""

    skeleton: Skeleton
    equation: Equation
    score: float
    rows: Rows = ()  # the constants of each run, where the runs have constants of their own


class Objective:
    """Scores skeletons on one or more problems that the same data pose."""

    def __init__(
        self,
        problems: Iterable[Regression],
        *,
        config: ObjectiveConfig,
        fit: ConstantsConfig,
        check: Callable[[], None] | None = None,
        run_problems: Sequence[Sequence[Regression]] = (),
        template: Template = SumTemplate(),  # noqa: B008
    ) -> None:
        """Make the objective.

        Args:
            check: is called before each fit and may raise to end the search.
            run_problems: for each problem that of each run, where the runs have constants of their own.
            template: what the skeletons look like.
        """
        self.template = template
        self.problems = tuple(problems)
        self.run_problems = tuple(map(tuple, run_problems))
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
        inputs = self.problems[0].columns.inputs
        right = skeleton.order == self.config.order and skeleton.n_constants <= self.config.max_constants
        if not right or any(name not in inputs for name in skeleton.inputs) or len(skeleton.terms) < 2:
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

    def near(self, limit: int, margin: float) -> list[Scored]:
        """Return those of `best` that score within a margin of the best on one of the problems."""
        least: dict[int, float] = {}
        for (problem, _), heap in self._best.items():
            least[problem] = min([least.get(problem, np.inf), *(s.score for _, _, s in heap)])
        close = {
            hash(scored.skeleton.key)
            for (problem, _), heap in self._best.items()
            for _, _, scored in heap
            if scored.score <= least[problem] + margin
        }
        return [scored for scored in self.best(limit) if hash(scored.skeleton.key) in close]

    def leaders(self, n: int, problem: int = 0) -> list[Scored]:
        """Return the `n` best by the score of one problem, the first by default."""
        heaps = (heap for (number, _), heap in self._best.items() if number == problem)
        everyone = sorted((s for heap in heaps for _, _, s in heap), key=lambda s: s.score)
        return everyone[:n]

    def _fitted(self, skeleton: Skeleton) -> float:
        scores = []
        for number, (problem, floor) in enumerate(zip(self.problems, self.floors, strict=True)):
            if self.run_problems:
                scores.append(self._fitted_by_run(skeleton, number))
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

    def _fitted_by_run(self, skeleton: Skeleton, number: int) -> float:
        """Return the score on one problem with constants of each run."""
        found = fit_each(skeleton, self.run_problems[number], config=self.fit)
        leverage = np.inf if found is None else _leverage(found.equation, self.problems[number])
        if found is None or not np.isfinite(leverage):
            return np.inf
        variance = (found.loss * leverage) ** 2 + self.floors[number]
        n, runs = self.problems[number].columns.n_points, len(self.run_problems[number])
        k, price = runs * skeleton.n_constants, self.config.operation_price * skeleton.burden
        freedom = max(n - k, 0.5)
        score = float(n * np.log(variance * n / freedom) + k * np.log(max(n / runs, 2.0)) + price)
        self._keep(number, Scored(skeleton, found.equation, score, rows_of(found.table)))
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
        slope = np.sqrt(np.mean(np.sum(slopes, axis=0) ** 2))
        largest = np.sqrt(np.mean(np.square(slopes)))
        return float(1 / slope) if slope > NEGLIGIBLE * largest else np.inf


def _floor(problem: Regression, relative: float) -> float:
    """Return the mean square of residuals that are rounding."""
    target = problem.operator.target
    spread = np.std(target) if np.any(target) else np.std(problem.columns.matrix[1 + 1 : 4], axis=1).max()
    return float((relative * spread) ** 2 + 1e-300)


def best_sums(
    vocabulary: Vocabulary,
    problem: Regression,
    n: int,
    config: ConstantsConfig,
    highest: str,
    run_problems: Sequence[Regression] = (),
) -> list[Bodies]:
    """Return the `n` sums of each size that leave the least squares, the best first.

    Where the grammar fixes no term, the sums are led by each of a few terms with the highest derivative.

    Args:
        run_problems: the problem of each run, where the runs have constants of their own.
    """
    if n < 1:
        return []
    some = np.unique(np.linspace(0, len(run_problems) - 1, MOST_RUNS).astype(int)) if run_problems else ()
    parts = [run_problems[i] for i in some] or [problem]
    template = vocabulary.template
    terms = [template.added(body) for body in vocabulary.bodies]
    if template.fixed != ZERO or problem.form is not Form.RESIDUAL:
        pairs = [(part, target) for part in parts if (target := _target(vocabulary, part)) is not None]
        if not pairs:
            return []
        parts = [part for part, _ in pairs]
        tables, owner = _rows(terms, parts, config)
        return _best_of(vocabulary, [target for _, target in pairs], parts, tables, owner, n)
    leading = [b for b in vocabulary.bodies if depends_on(b, highest) and not has_constant(b)]
    leads = [b for b in leading if b != var(highest)][:LEADING]
    tables, owner = _rows(terms if leads else [], parts, config)
    found: list[Bodies] = []
    for lead in leads:
        targets = [_values(lead, part, config)[0] for part in parts]
        others = owner != vocabulary.bodies.index(lead)
        rows = [table[others] for table in tables]
        sums = _best_of(vocabulary, targets, parts, rows, owner[others], -(-n // LEADING))
        found += [bodies | {lead} for bodies in sums]
    return found


def _best_of(
    vocabulary: Vocabulary,
    targets: Sequence[Float],
    parts: Sequence[Regression],
    tables: Sequence[Float],
    owner: Int,
    n: int,
) -> list[Bodies]:
    """Return the `n` sums of each size that are closest to the targets, one for each problem.

    Args:
        tables: the rows of the terms along each problem.
        owner: the term of each row.
    """
    if vocabulary.template.linear:
        tables, targets, owner = _without_known(vocabulary, parts, tables, targets, owner)
    if not len(owner):
        return []
    first = np.flatnonzero(np.diff(owner, prepend=-1))  # where the rows of each term begin
    core = [int(i) for i in first if not has_constant(vocabulary.bodies[owner[i]])][:CORE_TERMS]
    products = [_Products(rows, target, core) for rows, target in zip(tables, targets, strict=True)]
    found: dict[Bodies, None] = {}
    for size in range(vocabulary.template.least_terms - 1, LARGEST_SUM):
        chosen_ones = list(combinations(range(len(core)), size))
        sums = np.array(chosen_ones, np.int64).reshape(len(chosen_ones), size)
        scores = np.sum([table.scores(sums, first) for table in products], axis=0)
        wanted = len(found) + n
        for place in _descending(scores.ravel(), LARGEST_SUM * wanted):  # in so many orders
            which, last = divmod(place, len(first))
            chosen = [owner[core[i]] for i in sums[which]] + [owner[first[last]]]
            if len(set(chosen)) == len(chosen):
                found[frozenset(vocabulary.bodies[k] for k in chosen)] = None
            if len(found) == wanted:
                break
    return list(found)


def _descending(scores: Float, likely: int) -> Iterator[int]:
    """Yield the places of scores, the largest first; the most are sorted only if all the likely are used."""
    block = np.arange(len(scores))
    if likely < len(scores):
        block = np.flatnonzero(scores >= -np.partition(-scores, likely)[likely])
    yield from block[np.argsort(-scores[block], kind="stable")].tolist()
    yield from np.argsort(-scores, kind="stable")[len(block) :].tolist()


class _Products:
    """The inner products of all terms with each other and with the target, of all runs or of one."""

    def __init__(self, rows: Float, target: Float, core: Sequence[int]) -> None:
        self.core = core
        self.products = rows[core] @ rows.T
        self.pulls = rows @ target

    def scores(self, sums: Int, first: Int) -> Float:
        """Return the sum of squares that each sum explains together with each term (sums, terms)."""
        found = np.zeros((len(sums), len(first)))
        work = _Work.of(min(CHUNK, len(sums)), sums.shape[1], len(self.pulls))
        for low in range(0, len(sums), CHUNK):
            some = sums[low : low + CHUNK]
            gains = _gains(some, self.core, self.products, self.pulls, work.first(len(some)))
            found[low : low + CHUNK] = np.maximum.reduceat(gains, first, axis=1)
        return found


class _Work(NamedTuple):
    """Memory that all chunks of sums use in turn: fresh pages cost more time than the arithmetic."""

    across: Float  # (sums, terms of a sum, rows)
    weights: Float
    left: Float  # (sums, rows)
    rest: Float
    size: Float

    @classmethod
    def of(cls, n_sums: int, n_terms: int, n_rows: int) -> "_Work":
        wide, flat = (n_sums, n_terms, n_rows), (n_sums, n_rows)
        return cls(np.empty(wide), np.empty(wide), np.empty(flat), np.empty(flat), np.empty(flat))

    def first(self, n: int) -> "_Work":
        """Return the memory of the first `n` sums."""
        return _Work(*(part[:n] for part in self))


def _gains(sums: Int, core: Sequence[int], products: Float, pulls: Float, work: _Work) -> Float:
    """Return the sum of squares that each sum explains together with each row (sums, rows)."""
    across, weights, left, rest, size = work
    columns = np.array(core)
    among = products[sums[:, :, None], columns[sums][:, None, :]] + 1e-12 * np.eye(sums.shape[1])
    np.take(products, sums, axis=0, out=across, mode="clip")  # the other modes of take copy `out`
    pull = pulls[columns[sums]]
    inverse = np.linalg.inv(among)
    np.matmul(inverse, across, out=weights)
    np.einsum("smr,smr->sr", across, weights, out=left)
    np.subtract(1.0, left, out=left)
    np.einsum("sm,smr->sr", pull, weights, out=rest)
    np.subtract(pulls, rest, out=rest)
    alone = np.einsum("sm,smk,sk->s", pull, inverse, pull)
    np.maximum(left, NEGLIGIBLE, out=size)
    np.square(rest, out=rest)
    np.divide(rest, size, out=rest)
    rest[~(left > NEGLIGIBLE)] = 0.0
    rest += alone[:, None]
    spread = np.diagonal(inverse, axis1=1, axis2=2)  # variance inflation of each term by the others
    sound = np.all((spread > 0) & (spread < 1 / NEGLIGIBLE), axis=1)
    rest[~sound] = 0.0
    return rest


def _target(vocabulary: Vocabulary, problem: Regression) -> Float | None:
    """Return the signal that a sum of terms has to match; None where it depends on constants."""
    fixed = vocabulary.template.fixed
    if not vocabulary.template.is_linear:
        return None
    if has_constant(fixed) or variables(fixed) - set(problem.columns.names):
        return None
    if problem.form is Form.RESIDUAL:
        values = _values(fixed, problem, ConstantsConfig())[0]
        return values if values.any() else None
    highest = var(problem.columns.names[1 + problem.operator.order])
    if fixed == highest:
        return problem.operator.target
    terms = fixed.args if fixed.op == "+" else ()
    if highest not in terms or any(highest.value in variables(term) for term in terms if term != highest):
        return None
    rest = _values(add(*(term for term in terms if term != highest)), problem, ConstantsConfig())
    transform(rest, problem.operator, np.empty(rest.shape[1]))
    return np.asarray(problem.operator.target + rest[0])


def _without_known(
    vocabulary: Vocabulary,
    problems: Sequence[Regression],
    tables: Sequence[Float],
    targets: Sequence[Float],
    owner: Int,
) -> tuple[list[Float], list[Float], Int]:
    """Return the terms and the targets without their parts along the known terms of the equation."""
    found, rests, left = [], [], []
    for problem, table, target in zip(problems, tables, targets, strict=True):
        (known,), _ = _rows(vocabulary.template.linear, [problem], ConstantsConfig())
        rows = projected_out(table, known)
        size = np.linalg.norm(rows, axis=1)
        left.append(size > NEGLIGIBLE)  # Other terms, normalised to one, are combinations of known ones.
        found.append(np.where(left[-1][:, None], rows, 0.0) / np.where(left[-1], size, 1.0)[:, None])
        rests.append(projected_out(target[None], known)[0])
    kept = np.any(left, axis=0)
    return [rows[kept] for rows in found], rests, owner[kept]


def projected_out(rows: Float, basis: Float) -> Float:
    """Return rows without their parts along the rows of a basis."""
    if not len(basis):
        return rows
    directions = np.linalg.qr(basis.T)[0].T
    return np.asarray(rows - (rows @ directions.T) @ directions)


def _rows(
    bodies: Sequence[Node], problems: Sequence[Regression], config: ConstantsConfig
) -> tuple[list[Float], Int]:
    """Return the normalised terms (rows, n) along each problem, and the term of each row.

    A term has a row per start of its constants; one that is defined along none of the problems is left out,
    and is zero along those where it is not.
    """
    tables, owner = [[np.zeros((0, p.columns.n_points))] for p in problems], []
    for k, body in enumerate(bodies):
        found = [_values(body, problem, config) for problem in problems]
        sizes = []
        for rows, problem in zip(found, problems, strict=True):
            if problem.operator.order > 0:
                transform(rows, problem.operator, np.empty(rows.shape[1]))
            with np.errstate(over="ignore"):  # such terms are not usable
                sizes.append(np.linalg.norm(rows, axis=1))
        usable = np.isfinite(sizes) & (np.array(sizes) > 0)
        kept = usable.any(axis=0)
        for table, rows, size, fine in zip(tables, found, sizes, usable, strict=True):
            table.append(np.where(fine[kept, None], rows[kept], 0.0) / np.where(fine, size, 1.0)[kept, None])
        owner += [k] * int(kept.sum())
    return [np.vstack(table) for table in tables], np.array(owner, np.int64)


def _values(body: Node, problem: Regression, config: ConstantsConfig) -> Float:
    """Return a term (starts, n) at all values from which its constants are fitted; NaN where it has none."""
    term, names, x = Term(1.0, None, renumber(body)), problem.columns.names, problem.operator.x
    size = count_constants(body)
    tape, scales = compile_tape([term], names, size), compile_scales([term], names, size)
    n = config.n_frequencies if FREQUENCY in scales.role else config.n_starts if size else 1
    return np.asarray(term_at_starts(tape, scales.tape, scales.role, x, n))
