"""What an assumption costs: by how much the criterion of a law falls if it need not be kept."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gode.equation import Equation, Law
from gode.equation.tree import renumber
from gode.search.archive import Archive
from gode.search.assumptions import REST, keeps
from gode.search.cheap import sought
from gode.search.coupling import initial_of, variants
from gode.search.explore import Region
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
        starts = [Start(searches[0].regions[0].template.without_rest(best.equation))]
    elif len(searches) == 1:
        starts = [
            start for start in _near(best, regions(0)[0], archive) if _breaks(start.equation, name, searches)
        ]
    else:
        freed = [Search(regions(own), search.archive) for own, search in enumerate(searches)]
        starts = [Start(law) for law in variants(best, freed, archive) if _breaks(law, name, searches)]
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


def _breaks(law: Law, name: str, searches: Sequence[Search]) -> bool:
    """Tell whether a term of a law does not keep an assumption."""
    return not all(
        keeps(renumber(body), (name,), part.order)
        for part, search in zip(law.skeleton.parts, searches, strict=True)
        for body in sought(search.regions[0].template, part)
    )
