"""What an assumption costs: by how much the criterion of a law falls if it need not be kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from gode.equation import Equation, Law, Node
from gode.equation.frame import Frame
from gode.equation.names import HOLE
from gode.equation.skeleton import Parameter
from gode.equation.tree import const, renumber
from gode.search.archive import Archive
from gode.search.assumptions import REST, keeps
from gode.search.coupling import initial_of, variants
from gode.search.explore import Region
from gode.search.framed import named_law
from gode.search.objective import sought
from gode.search.refine import Search, better_rows, better_start, good_neighbours
from gode.search.workers import Start
from gode.selection import Candidate


def cost_of(
    name: str,
    best: Candidate,
    searches: Sequence[Search],
    archive: Archive,
    regions: Callable[[int], list[Region]],
) -> float:
    """Return by how much the criterion falls without an assumption: of laws near the best that break it.

    Args:
        regions: where to look for the equation of one state if nothing of it is assumed.
    """
    if name.startswith(REST):
        starts = [Start(_not_resting(best, searches[0]))]
    elif len(searches) == 1:
        starts = [start for start in _near(best, regions(0)[0], archive) if _breaks(start.equation, name)]
    else:
        freed = [Search(regions(own), search.archive) for own, search in enumerate(searches)]
        starts = [Start(law) for law in variants(best, freed, archive) if _breaks(law, name)]
    here = [start._replace(whole=archive.whole, initial=initial_of(best)) for start in starts]
    tried = [archive.workers.fit(start) for start in here]
    return best.criterion - min([best.criterion, *(c.criterion for c in tried if c is not None)])


def _near(best: Candidate, region: Region, archive: Archive) -> Iterator[Start]:
    """Yield the equations near the best one, each run with its own constants where it has some."""
    for skeleton in good_neighbours(best.single.skeleton, region, archive, archive.settings.budget.per_round):
        if best.own is None:
            yield Start(better_start(skeleton, best.single, region.objective, archive))
        else:
            rows = better_rows(skeleton, best, region.objective, archive)
            yield Start(Equation(skeleton, tuple(np.median(rows, axis=0).tolist())), each=rows)


def _breaks(law: Law, name: str) -> bool:
    """Tell whether a term of a law does not keep an assumption."""
    bodies = [(body, part.order) for part in law.skeleton.parts for body in sought(part)]
    return not all(keeps(renumber(body), (name,), order) for body, order in bodies)


def _not_resting(best: Candidate, search: Search) -> Law:
    """Return the law with a constant in place of what it is at rest."""
    blank, skeleton = search.regions[0].blank, best.equation.skeleton
    assert blank is not None, "a known equilibrium is a frame"
    filling = {found.name: renumber(found.tree) for found in skeleton.functions}
    values = {p.name: c for p, c in zip(skeleton.parameters, best.equation.constants, strict=True)}
    levels = {f"C{own + 1}": 0.0 for own in range(len(skeleton.parts))}
    return named_law(_with_levels(blank.frame), filling, {**values, **levels})


def _with_levels(frame: Frame) -> Frame:
    """Return the frame with a constant in each equation in place of the function at rest."""
    first = len(frame.parameters)

    def freed(node: Node, own: int) -> Node:
        if node.op == HOLE and any(arg.op == "num" for arg in node.args):
            return const(first + own)
        return node._replace(args=tuple(freed(arg, own) for arg in node.args))

    trees = tuple(freed(tree, own) for own, tree in enumerate(frame.trees))
    levels = tuple(Parameter(f"C{own + 1}") for own in range(len(trees)))
    return replace(frame, trees=trees, parameters=(*frame.parameters, *levels))
