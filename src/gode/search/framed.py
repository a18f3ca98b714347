"""Laws of a frame: what was found for its functions in the equations of single states, put into all of them.

A function that several equations share was sought in each of them. A law has one of these answers in all of
its places; the constants that are then unknown are fitted cheaply, with the others held.
"""

from collections.abc import Iterator, Mapping, Sequence

from gode.equation import Equation, Law, Node, Skeleton
from gode.equation.frame import Frame
from gode.equation.system import make_law
from gode.equation.tree import add, const, mul, num, power, renumber, replace_constants
from gode.fitting import fit_constants
from gode.search.archive import Archive
from gode.search.blank import values_by_name
from gode.search.objective import Objective
from gode.search.refine import Search, better_start, good_neighbours
from gode.selection import Candidate


def laws_of_frame(frame: Frame, equations: Sequence[Equation], searches: Sequence[Search]) -> Iterator[Law]:
    """Yield the laws that the equations of single states suggest: several where they disagree."""
    order = sorted(range(len(equations)), key=lambda s: (bool(_blank_scaled(searches[s])), s))
    seen = []
    for first in order:
        filling: dict[str, Node] = {}
        for s in [first, *(s for s in order if s != first)]:
            for found in equations[s].skeleton.functions:
                filling.setdefault(found.name, renumber(found.tree))
        if filling not in seen:
            seen.append(filling)
            yield law_with(frame, filling, [equations[s] for s in order], searches, order)


def law_with(
    frame: Frame,
    filling: Mapping[str, Node],
    equations: Sequence[Equation],
    searches: Sequence[Search],
    order: Sequence[int],
) -> Law:
    """Return the law with these functions, its constants from equations that have them, or fitted cheaply."""
    values: dict[str, float] = {}
    for s, equation in zip(order, equations, strict=True):
        same = all(renumber(f.tree) == filling[f.name] for f in equation.skeleton.functions)
        if same and not _blank_scaled(searches[s]):
            values = {**values_by_name(equation), **values}
    for s in order:
        part = frame.part(s, filling)
        if any(p.name not in values for p in part.parameters):
            values |= fitted_rest(part, values, searches[s].regions[0].objective)
    return named_law(frame, filling, values)


def named_law(frame: Frame, filling: Mapping[str, Node], values: Mapping[str, float]) -> Law:
    """Return the law of a frame with the values of its constants."""
    skeleton = frame.law(filling)
    return make_law(skeleton, [values.get(p.name, 1.0) for p in skeleton.parameters])


def fitted_rest(part: Skeleton, known: Mapping[str, float], objective: Objective) -> dict[str, float]:
    """Return the constants of an equation that are not known, fitted cheaply with the others held."""
    left = [i for i, p in enumerate(part.parameters) if p.name not in known]
    tree = replace_constants(
        part.tree, lambda i: const(left.index(i)) if i in left else num(known[part.parameters[i].name])
    )
    smaller = Skeleton(_gathered(tree), tuple(part.parameters[i] for i in left))
    found = fit_constants(smaller, objective.problems[0], config=objective.fit).equation
    return values_by_name(found) if found is not None else {part.parameters[i].name: 1.0 for i in left}


def _gathered(node: Node) -> Node:
    args = tuple(map(_gathered, node.args))
    match node.op:
        case "+":
            return add(*args)
        case "*":
            return mul(*args)
        case "^":
            return power(*args)
    return node._replace(args=args)


def variants_of_frame(
    leader: Candidate, frame: Frame, searches: Sequence[Search], archive: Archive
) -> Iterator[Law]:
    """Yield the law with one of its unknown functions changed."""
    skeleton, look = leader.equation.skeleton, archive.settings.search
    filling = {f.name: renumber(f.tree) for f in skeleton.functions}
    values = {p.name: c for p, c in zip(skeleton.parameters, leader.equation.constants, strict=True)}
    for s, search in enumerate(searches):
        region = search.regions[0]
        if not region.blank or not region.blank.unknowns or region.blank.scaled:
            continue
        alone = frame.part(s, filling, alone=True)
        own = Equation(alone, tuple(values[p.name] for p in alone.parameters))
        close = good_neighbours(alone, region, archive, archive.settings.budget.per_round)
        near = [better_start(each, own, region.objective, search.archive) for each in close]
        others = [c.single for c in search.archive.leaders()[: look.exchanged]]
        for equation in [*near, *others]:
            changed = {f.name: renumber(f.tree) for f in equation.skeleton.functions}
            yield named_law(frame, {**filling, **changed}, {**values, **values_by_name(equation)})


def _blank_scaled(search: Search) -> bool:
    blank = search.regions[0].blank
    return blank is not None and bool(blank.scaled)
