"""All sums of a few plain terms and one of any kind, compared at once by linear algebra.

The least squares of a sum follow from the inner products of its terms, which are the same for all sums.
Constants inside a term stay at the values from which fits start.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.equation import Node, Term
from gode.equation.tape import FREQUENCY, compile_scales, compile_tape
from gode.equation.tree import ZERO, add, count_constants, depends_on, has_constant, renumber, var, variables
from gode.fitting import ConstantsConfig, Form, Regression
from gode.fitting.starts import term_at_starts
from gode.fitting.varpro import transform
from gode.search.templates import Bodies, Vocabulary

PLAIN = 16  # the most frequent terms without inner constants, of which all sums are formed: 696 of them
LARGEST_SUM = 4  # terms of the largest sums
LEADING = 4  # most frequent terms with the highest derivative that lead sums of an implicit grammar
CHUNK = 8  # sums at a time: what they need stays in the cache of a core
MOST_RUNS = 12  # whose sums of squares are added up, where the runs have constants of their own
INDEPENDENT = 1e-6  # a term whose residual on the others is smaller than this share is linearly dependent


def best_sums(
    vocabulary: Vocabulary,
    problem: Regression,
    n: int,
    config: ConstantsConfig,
    highest: str,
    each: Sequence[Regression] = (),
) -> list[Bodies]:
    """Return the `n` sums of each size that leave the least squares, the best first.

    Where the grammar fixes no term, the sums are led by each of a few terms with the highest derivative.

    Args:
        each: the problem of each run, where the runs have constants of their own.
    """
    if n < 1:
        return []
    some = np.unique(np.linspace(0, len(each) - 1, MOST_RUNS).astype(int)) if each else ()
    parts = [each[i] for i in some] or [problem]
    template = vocabulary.template
    terms = [template.added(body) for body in vocabulary.bodies]
    if template.fixed != ZERO or problem.form is not Form.RESIDUAL:
        pairs = [(own, target) for own in parts if (target := _target(vocabulary, own)) is not None]
        if not pairs:
            return []
        parts = [own for own, _ in pairs]
        tables, owner = _rows(terms, parts, config)
        return _best_of(vocabulary, [target for _, target in pairs], parts, tables, owner, n)
    leading = [b for b in vocabulary.bodies if depends_on(b, highest) and not has_constant(b)]
    leads = [b for b in leading if b != var(highest)][:LEADING]
    tables, owner = _rows(terms if leads else [], parts, config)
    found: list[Bodies] = []
    for lead in leads:
        targets = [_values(lead, own, config)[0] for own in parts]
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
    plain = [int(i) for i in first if not has_constant(vocabulary.bodies[owner[i]])][:PLAIN]
    products = [_Products(rows, target, plain) for rows, target in zip(tables, targets, strict=True)]
    found: dict[Bodies, None] = {}
    for size in range(vocabulary.template.least_terms - 1, LARGEST_SUM):
        chosen_ones = list(combinations(range(len(plain)), size))
        sums = np.array(chosen_ones, np.int64).reshape(len(chosen_ones), size)
        scores = np.sum([table.scores(sums, first) for table in products], axis=0)
        wanted = len(found) + n
        for place in np.argsort(-scores, axis=None, kind="stable"):
            which, last = divmod(int(place), len(first))
            chosen = [owner[plain[i]] for i in sums[which]] + [owner[first[last]]]
            if len(set(chosen)) == len(chosen):
                found[frozenset(vocabulary.bodies[k] for k in chosen)] = None
            if len(found) == wanted:
                break
    return list(found)


class _Products:
    """The inner products of all terms with each other and with the target, of all runs or of one."""

    def __init__(self, rows: Float, target: Float, plain: Sequence[int]) -> None:
        self.plain = plain
        self.products, self.pulls = rows[plain] @ rows.T, rows @ target

    def scores(self, sums: Int, first: Int) -> Float:
        """Return the sum of squares that each sum explains together with each term (sums, terms)."""
        found = np.zeros((len(sums), len(first)))
        work = _Work.of(min(CHUNK, len(sums)), sums.shape[1], len(self.pulls))
        for low in range(0, len(sums), CHUNK):
            some = sums[low : low + CHUNK]
            gains = _gains(some, self.plain, self.products, self.pulls, work.first(len(some)))
            found[low : low + CHUNK] = np.maximum.reduceat(gains, first, axis=1)
        return found


class _Work(NamedTuple):
    """Memory that all chunks of sums use in turn: fresh pages cost more time than the arithmetic."""

    across: Float  # (sums, terms of a sum, rows)
    shares: Float
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


def _gains(sums: Int, plain: Sequence[int], products: Float, pulls: Float, work: _Work) -> Float:
    """Return the sum of squares that each sum explains together with each row (sums, rows)."""
    across, shares, left, rest, size = work
    columns = np.array(plain)
    own = products[sums[:, :, None], columns[sums][:, None, :]] + 1e-12 * np.eye(sums.shape[1])
    np.take(products, sums, axis=0, out=across, mode="clip")  # the other modes of take copy `out`
    pull = pulls[columns[sums]]
    inverse = np.linalg.inv(own)
    np.matmul(inverse, across, out=shares)
    np.einsum("smr,smr->sr", across, shares, out=left)
    np.subtract(1.0, left, out=left)
    np.einsum("sm,smr->sr", pull, shares, out=rest)
    np.subtract(pulls, rest, out=rest)
    alone = np.einsum("sm,smk,sk->s", pull, inverse, pull)
    np.maximum(left, INDEPENDENT, out=size)
    np.square(rest, out=rest)
    np.divide(rest, size, out=rest)
    rest[~(left > INDEPENDENT)] = 0.0
    rest += alone[:, None]
    spread = np.diagonal(inverse, axis1=1, axis2=2)  # variance inflation of each term by the others
    sound = np.all((spread > 0) & (spread < 1 / INDEPENDENT), axis=1)
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
        left.append(size > INDEPENDENT)  # of one: others are known already
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
        for own, problem in zip(found, problems, strict=True):
            if problem.operator.order > 0:
                transform(own, problem.operator, np.empty(own.shape[1]))
            with np.errstate(over="ignore"):  # such terms are not usable
                sizes.append(np.linalg.norm(own, axis=1))
        usable = np.isfinite(sizes) & (np.array(sizes) > 0)
        kept = usable.any(axis=0)
        for table, own, size, fine in zip(tables, found, sizes, usable, strict=True):
            table.append(np.where(fine[kept, None], own[kept], 0.0) / np.where(fine, size, 1.0)[kept, None])
        owner += [k] * int(kept.sum())
    return [np.vstack(table) for table in tables], np.array(owner, np.int64)


def _values(body: Node, problem: Regression, config: ConstantsConfig) -> Float:
    """Return a term (starts, n) at all values from which its constants are fitted; NaN where it has none."""
    term, names, x = Term(1.0, None, renumber(body)), problem.columns.names, problem.operator.x
    size = count_constants(body)
    tape, scales = compile_tape([term], names, size), compile_scales([term], names, size)
    n = config.n_frequencies if FREQUENCY in scales.role else config.n_starts if size else 1
    return np.asarray(term_at_starts(tape, scales.tape, scales.role, x, n))
