"""Plain terms in the place of one with constants inside: 1 and u^2 for cos(C*u), where they are as good.

Within the range of the data a function with an inner constant is often no more than the start of its series.
The search reaches one term at a time, and from cos(C*u) neither 1 nor u^2 alone is better.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from gode.arrays import Float
from gode.data import Columns
from gode.equation import Equation, Node
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import Term
from gode.equation.tree import has_constant, unlabelled
from gode.search.templates import Vocabulary, borrowed

CLOSE = 0.03  # of the variation of a term that plain ones may miss


def expanded(equation: Equation, vocabulary: Vocabulary, columns: Columns) -> Iterator[Equation]:
    """Yield the equation with a term replaced by one or two plain ones, then one more, and so on."""
    template = vocabulary.template
    terms = {unlabelled(term.body) for term in equation.skeleton.terms if term.constant is not None}
    replaceable = sorted(b for b in template.terms_of(equation.skeleton) if has_constant(b) and b in terms)
    if not replaceable:
        return
    plain = [body for body in vocabulary.bodies if not has_constant(body)]
    values = _values([Term(1.0, None, body) for body in plain], equation, columns)
    sound = np.flatnonzero(np.isfinite(values).all(axis=1))
    plain, values = [plain[i] for i in sound], values[sound]
    for inner in replaceable:
        bodies = template.terms_of(equation.skeleton)
        term = next((t for t in equation.skeleton.terms if unlabelled(t.body) == inner), None)
        if term is None or term.constant is None:
            continue
        others = [b for b in sorted(bodies) if not has_constant(b)]
        wanted = _values([term], equation, columns)[0]
        basis = _values([Term(1.0, None, body) for body in others], equation, columns)
        if not (np.isfinite(wanted).all() and np.isfinite(basis).all() and wanted.any()):
            continue
        unit = np.abs(wanted).max()
        like = _like(wanted / unit, _scaled(values)[0], _scaled(basis)[0])
        if not like:
            continue
        skeleton = template.skeleton((bodies - {inner}) | {plain[i] for i in like})
        rows, sizes = _scaled(np.vstack([basis, values[like]]))
        share = np.linalg.lstsq(rows.T, wanted / unit, rcond=None)[0] / sizes * unit
        shares = dict(zip([*others, *(plain[i] for i in like)], share.tolist(), strict=True))
        equation = _with_shares(borrowed(template, skeleton, equation, [1.0] * skeleton.n_constants), shares)
        yield equation


def _with_shares(equation: Equation, shares: dict[Node, float]) -> Equation:
    """Return the equation with terms that are larger by these numbers."""
    constants = list(equation.constants)
    for term in equation.skeleton.terms:
        if term.constant is not None:
            constants[term.constant] += shares.get(unlabelled(term.body), 0.0) / term.multiplier
    return Equation(equation.skeleton, tuple(constants))


def _values(terms: Sequence[Term], equation: Equation, columns: Columns) -> Float:
    """Return what each term (p, n) is along the data."""
    n = len(equation.constants)
    with np.errstate(all="ignore"):
        tapes = [compile_tape([term], columns.names, n) for term in terms]
        rows = [evaluate(tape, equation.constants, columns.matrix).value for tape in tapes]
    return np.array(rows).reshape(len(terms), columns.n_points)


def _scaled(values: Float) -> tuple[Float, Float]:
    """Return rows whose largest value is one, and what they were divided by."""
    sizes = np.abs(values).max(axis=1, initial=0.0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    return values / sizes[:, None], sizes


def _like(wanted: Float, values: Float, others: Float) -> list[int]:
    """Return the most frequent one or two of `values` that with `others` make up what is wanted."""
    q = np.linalg.qr(others.T)[0]
    left, rest = wanted - q @ (q.T @ wanted), values - (values @ q) @ q.T
    products, along = rest @ rest.T, rest @ left
    squares, total = np.diag(products), np.sum(values**2, axis=1)
    area = squares[:, None] * squares - products**2
    share = (
        squares[:, None] * along**2 - 2 * products * along[:, None] * along + squares * along[:, None] ** 2
    )
    enough = left @ left - CLOSE**2 * len(wanted) * np.var(wanted)
    ones = np.flatnonzero((squares > 1e-9 * total) & (along**2 >= enough * squares))
    if len(ones):
        return [int(ones[0])]
    pairs = np.argwhere(np.triu((area > 1e-9 * total[:, None] * total) & (share >= enough * area), 1))
    return min(pairs.tolist(), key=sum, default=[])
