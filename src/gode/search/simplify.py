"""Simplifications of a fitted law: round exponents, plain terms for curved ones, constants that are one.

Expansion: within the range of the data a function with an inner constant is often no more than the start of
its series. The search reaches one term at a time, and from cos(C*u) neither 1 nor u^2 alone is better.

Sharing: in mass action and conserved quantities the same constant stands in two equations, equal or with
opposite sign; a factor may be one. A law that says so has a number less to fit. Which constraints the data
allow follows from the covariance of the constants: a constraint A c = b raises the sum of squares by about
(A c - b)^T (A N^-1 A^T)^-1 (A c - b), with N the normal matrix of the fit.

Individuals: the price of one value for all runs is predicted from the estimates of each run and their
errors; the constant for which it is least is then fitted so, and stays shared if the criterion is less for
it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gode.arrays import Float, rows_of
from gode.data import Columns
from gode.data.from_arrays import MAX_SIZE
from gode.equation import Equation, Law, LawSkeleton, Link, Node
from gode.equation.frame import with_numbers
from gode.equation.system import joined, make_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import Term
from gode.equation.tree import has_constant, renamed, sorted_tree, unlabelled
from gode.fitting.constant_prior import Kind, roles
from gode.fitting.covariance import CERTAIN, CHANCE
from gode.fitting.population import CHOSEN
from gode.search.archive import Archive, Stage
from gode.search.templates import Template, Vocabulary, borrowed
from gode.search.workers import Start
from gode.selection import UNUSUAL, Candidate, SelectionConfig, front, price_of_number, weighed

ROUND = 0.02  # An exponent that is nearer to a multiple of 1/2 may be that, whatever its error.
LARGEST_EXPONENT = 5.0  # A larger round exponent is no more usual than another; set by hand.
CLOSE = 0.03  # A series may miss this fraction of the variation of the term that it replaces.
LEADERS = 8  # So many laws are changed further, and with them the front of accuracy and complexity.

Fit = Callable[[Start], Candidate | None]


def rounded(equation: Equation, errors: Sequence[float] | Float, template: Template) -> Iterator[Equation]:
    """Yield the equation with each of its exponents that may be round, and with all of them."""
    fixed: dict[int, float] = {}
    for term in equation.skeleton.terms:
        for role in roles(term.body):
            value = equation.constants[role.constant]
            if role.kind != Kind.EXPONENT or not abs(value) <= LARGEST_EXPONENT:
                continue
            near = round(2 * value) / 2
            within = max(CHANCE * errors[role.constant], ROUND)
            if abs(value - near) <= within and near not in (0.0, 1.0):
                fixed[role.constant] = near
    choices = [{place: value} for place, value in fixed.items()]
    for chosen in [*choices, fixed] if len(fixed) > 1 else choices:
        found = template.with_numbers(equation.skeleton, chosen)
        if found is not None:
            yield Equation(found[0], tuple(equation.constants[i] for i in found[1]))


def expanded(equation: Equation, vocabulary: Vocabulary, columns: Columns) -> Iterator[Equation]:
    """Yield the equation with a term replaced by one or two plain ones, then one more, and so on."""
    template = vocabulary.template
    terms = {unlabelled(term.body) for term in equation.skeleton.terms}
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
        if term is None:
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


@dataclass(frozen=True)
class Constraint:
    """c[one] = factor * c[other], or c[one] = factor where there is no other."""

    one: int
    other: int | None
    factor: float
    price: float  # -2 log of its prior odds


@dataclass(frozen=True)
class _Factor:
    """A constant that multiplies a whole term."""

    place: int  # among the constants of all equations
    equation: int
    body: Node  # as the states are numbered, whichever equation it is in
    sign: float


def with_shared_constants(
    candidate: Candidate, floor: Sequence[float], config: SelectionConfig
) -> Law | None:
    """Return the law with the constraints that lower its criterion, None if there is none.

    A number costs what it does where laws are ranked, so that a law is there in the form that will be named.
    Residuals below the `floor` of their state are rounding: they do not speak against a constraint.
    """
    law = candidate.equation
    if law.skeleton.links or candidate.n_values <= candidate.n_free:
        return None
    sure = np.abs(law.constants) > CERTAIN * candidate.errors  # others may be nothing at all
    possible = [c for c in _constraints(law.skeleton) if sure[c.one] and (c.other is None or sure[c.other])]
    with np.errstate(over="ignore", invalid="ignore"):  # of constants that the data do not determine
        chosen, values = _chosen(candidate, floor, possible, config)
    return _constrained(law, chosen, values) if chosen else None


def _constraints(skeleton: LawSkeleton) -> Iterator[Constraint]:
    """Yield what may hold: one term in two equations, a difference of two terms, and factors of one."""
    factors = list(_factors(skeleton))
    for a, b in combinations(factors, 2):
        if a.equation == b.equation:
            yield Constraint(a.place, b.place, -a.sign * b.sign, UNUSUAL)
        elif a.body == b.body:
            yield from (Constraint(a.place, b.place, sign * a.sign * b.sign, 0.0) for sign in (1.0, -1.0))
    for a in factors:
        for sign in (1.0, -1.0):
            yield Constraint(a.place, None, sign * a.sign, UNUSUAL)


def _factors(skeleton: LawSkeleton) -> Iterator[_Factor]:
    for i, part in enumerate(skeleton.parts):
        names = skeleton.names(i)
        for term in part.terms:
            if term.constant is not None:
                body = sorted_tree(unlabelled(renamed(term.body, names)))
                yield _Factor(skeleton.offsets[i] + term.constant, i, body, np.sign(term.multiplier))


def _chosen(
    candidate: Candidate, floor: Sequence[float], possible: list[Constraint], config: SelectionConfig
) -> tuple[list[Constraint], Float]:
    """Return the constraints to hold, the most probable first, and the constants under them."""
    price = price_of_number(candidate, floor, config)
    c, m = np.array(candidate.equation.constants), candidate.n_values
    variance = max(candidate.rms**2, 1e-30)
    share = candidate.independent / m * (1 - candidate.n_free / m) / variance
    inverse = candidate.covariance * share  # of the normal matrix
    chosen: list[Constraint] = []
    rounding = sum(state.share * least**2 for state, least in zip(candidate.states, floor, strict=True))
    sse, k = (variance + rounding) * m, candidate.n_free
    while possible:
        gains = [price + _gain(one, c, inverse, sse, k, m) for one in possible]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        one = possible.pop(best)
        row, rest = _row(one, c)
        direction = inverse @ row
        size = float(row @ direction)
        sse, k = sse + rest**2 / size, k - 1
        c = c - direction * rest / size
        inverse = inverse - np.outer(direction, direction) / size
        chosen.append(one)
        possible = [p for p in possible if not _repeats(p, chosen)]
    return chosen, c


def _row(one: Constraint, c: Float) -> tuple[Float, float]:
    """Return the row of A and the residual A c - b of a constraint."""
    row = np.zeros(len(c))
    row[one.one] = 1.0
    if one.other is None:
        return row, float(c[one.one] - one.factor)
    row[one.other] = -one.factor
    return row, float(c[one.one] - one.factor * c[one.other])


def _gain(one: Constraint, c: Float, inverse: Float, sse: float, k: int, m: int) -> float:
    """Return by how much a constraint lowers the criterion, but for the price of a number."""
    row, rest = _row(one, c)
    size = float(row @ inverse @ row)
    least = max(1e-12 * float(np.abs(row) @ np.abs(np.diag(inverse))), 1e-150)
    if not size > least or abs(rest) > MAX_SIZE:
        return -np.inf  # it follows from those that were chosen, or is far from true
    more = m * np.log1p(rest**2 / size / sse) + m * np.log(max(m - k, 0.5) / max(m - k + 1, 0.5))
    return float(-more - one.price)


def _repeats(one: Constraint, chosen: list[Constraint]) -> bool:
    """Tell whether a constraint is about constants that are tied or fixed already."""
    fixed = {c.one for c in chosen if c.other is None}
    if one.one in fixed or one.other in fixed:
        return True
    return any({one.one, one.other} == {c.one, c.other} for c in chosen)


def _constrained(law: Law, chosen: list[Constraint], values: Float) -> Law:
    """Return the law under these constraints: links between constants, numbers where they are fixed."""
    skeleton = law.skeleton
    root, factor = _roots(skeleton.n_numbers, [one for one in chosen if one.other is not None])
    fixed = {
        i: one.factor * factor[i] / factor[one.one]
        for one in chosen
        for i, r in enumerate(root)
        if one.other is None and r == root[one.one]
    }
    parts, order = [], []  # the equations, and which constant each of theirs was
    for part, start, end in zip(skeleton.parts, skeleton.offsets[:-1], skeleton.offsets[1:], strict=True):
        found = with_numbers(part, {i - start: v for i, v in fixed.items() if start <= i < end})
        assert found is not None, "a factor of one leaves its term as it is"
        new, old = found
        parts.append(new)
        order += [start + i for i in old]
    places = {r: k for k, r in enumerate(dict.fromkeys(root[i] for i in order))}
    links = tuple(Link(places[root[i]], factor[i]) for i in order)
    tied = len(links) > len(places) or any(link.factor != 1 for link in links)
    made = joined(skeleton.states, skeleton.inputs, parts, links if tied else ())
    return make_law(made, [float(values[r]) for r in places])


def _roots(n: int, ties: Iterable[Constraint]) -> tuple[list[int], list[float]]:
    """Return each of `n` constants as a factor times another, the same for all that are tied."""
    root, factor = list(range(n)), [1.0] * n
    for tie in ties:
        a, b = root[tie.one], root[tie.other or 0]
        ratio = tie.factor * factor[tie.other or 0] / factor[tie.one]
        for i in range(n if a != b else 0):
            if root[i] == a:
                root[i], factor[i] = b, factor[i] * ratio
    return root, factor


def leading(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the best laws, and the front of accuracy and complexity: those that are worth a closer look."""
    return list({id(c): c for c in [*candidates[:LEADERS], *front(candidates)]}.values())


def share_over_runs(archive: Archive) -> None:
    """Decide for the best laws which of their constants all runs share, if that was asked for."""
    if archive.settings.individual != CHOSEN:
        return
    chosen = leading(archive.leaders())

    def fit(start: Start) -> Candidate | None:
        if start not in archive.memo:
            archive.memo[start] = archive.workers.fit(start._replace(view=archive.view))
        archive.interrupts.check()
        archive.tell(Stage.SHARING)
        return archive.memo[start]

    for candidate in chosen:
        found = with_common(candidate, fit, archive.prepared.floor, archive.settings.selection)
        archive.candidates[candidate.equation.skeleton.key] = found


def with_common(
    candidate: Candidate, fit: Fit, floor: tuple[float, ...], config: SelectionConfig
) -> Candidate:
    """Return the law with those constants shared by all runs for which the criterion is less."""
    now = weighed(candidate, floor, config)
    while now.own is not None:
        tried = [weighed(_predicted(now, i), floor, config) for i in range(len(now.own.places))]
        least = int(np.argmin([c.criterion for c in tried]))
        if tried[least].criterion >= now.criterion:
            break
        found = fit(_start(now, least))
        if found is None or found.criterion >= now.criterion:
            break
        now = found
    return now


def _common(candidate: Candidate, i: int) -> tuple[float, float]:
    """Return the value of own constant `i` that suits all runs best, and the chi-squared that it costs."""
    own = candidate.own
    assert own is not None
    weights = 1.0 / np.maximum(own.covariances[:, i, i], 1e-300)
    values = own.values[:, i]
    centre = float(weights @ values / weights.sum())
    return centre, float(weights @ (values - centre) ** 2)


def _predicted(candidate: Candidate, i: int) -> Candidate:
    """Return the candidate as it would be with own constant `i` shared."""
    own, n, k = candidate.own, candidate.n_values, candidate.n_free
    assert own is not None
    _, price = _common(candidate, i)
    wider = 1 + price / max(n - k, 1)  # of the sum of squares
    rest = [j for j in range(len(own.places)) if j != i]
    fewer = replace(
        own,
        places=tuple(own.places[j] for j in rest),
        values=own.values[:, rest],
        covariances=own.covariances[np.ix_(range(len(own.values)), rest, rest)],
    )
    return replace(
        candidate,
        rms=candidate.rms * float(np.sqrt(wider)),
        by_state=tuple(state.scaled(wider) for state in candidate.states),
        n_free=k - len(own.values) + 1,
        own=fewer if rest else None,
    )


def _start(candidate: Candidate, i: int) -> Start:
    """Return where the fit with own constant `i` shared starts."""
    own, law = candidate.own, candidate.equation
    assert own is not None
    centre, _ = _common(candidate, i)
    table: Float = np.tile(np.array(law.constants), (len(own.values), 1))
    table[:, list(own.places)] = own.values
    table[:, own.places[i]] = centre
    middle = np.median(table, axis=0)
    return Start(
        make_law(law.skeleton, middle),
        whole=candidate.whole,
        initial=rows_of(candidate.initial),
        each=rows_of(table),
        own=tuple(place for place in own.places if place != own.places[i]),
    )
