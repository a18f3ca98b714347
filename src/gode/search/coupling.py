"""From equations for each state to laws for all of them, decided by fits of all equations together.

Each equation was sought with the other states as known signals. Its best candidates are combined, and the
best laws are changed in one equation at a time: another candidate, a term less, more or in place of another.
"""

import heapq
from collections.abc import Iterator, Sequence

from gode.equation import Equation, Law, Skeleton
from gode.fitting import fit_constants
from gode.search.archive import Archive, Initial, Key, Stage
from gode.search.refine import Search, better_start, good_neighbours
from gode.search.sharing import shared
from gode.selection import Candidate


def couple(
    searches: Sequence[Search], archive: Archive, rounds: int, seeds: Sequence[Candidate] = ()
) -> None:
    """Fit combinations of the best equations of each state, then change the best laws until none is better.

    Args:
        rounds: how often the best law is changed, at most.
        seeds: laws to fit as well, from where their fits ended.
    """
    look = archive.settings.search
    tops = [search.archive.leaders() for search in searches]
    if all(tops):
        found = [
            law
            for chosen in best_combinations([[c.criterion for c in top] for top in tops], look.combinations)
            for law in laws_of(archive, [tops[s][i].single for s, i in enumerate(chosen)], searches)
        ]
        for seed in seeds:
            archive.solve([seed.equation], Stage.COUPLING, initial_of(seed))
        archive.solve(found, Stage.COUPLING)
        archive.improve([law for law in found[: look.grown] if _is_far(law, archive)], Stage.COUPLING)
    changed: set[Key] = set()
    for _ in range(rounds):
        waiting = [c for c in archive.leaders()[:2] if c.equation.skeleton.key not in changed]
        if not waiting:
            break
        leader = waiting[0]
        changed.add(leader.equation.skeleton.key)
        archive.solve(list(variants(leader, searches, archive)), Stage.COUPLING, initial_of(leader))
    share_constants(archive)


def _is_far(law: Law, archive: Archive) -> bool:
    fitted = archive.candidates.get(law.skeleton.key)
    return fitted is None or fitted.rms > archive.settings.shooting.far


def initial_of(candidate: Candidate) -> Initial:
    """Return the initial values of a fit, from which another may start."""
    return tuple(tuple(run) for run in candidate.initial.tolist())


def share_constants(archive: Archive) -> None:
    """Fit the best laws once more with constants that may be one held equal."""
    leaders = archive.leaders()
    near = [c for c in leaders if c.criterion < leaders[0].criterion + archive.settings.search.nearby]
    for candidate in near:
        law = shared(candidate, archive.prepared.floor)
        if law is not None:
            archive.solve([law], Stage.SHARING, initial_of(candidate))


def laws_of(archive: Archive, equations: Sequence[Equation], searches: Sequence[Search]) -> Iterator[Law]:
    """Yield the laws that equations for all states suggest."""
    objectives = [search.regions[0].objective for search in searches]

    def fit(state: int, skeleton: Skeleton) -> Equation | None:
        objective = objectives[state]
        return fit_constants(skeleton, objective.problems[0], config=objective.fit).equation

    yield from objectives[0].template.laws(archive.prepared.dataset, equations, fit)


def best_combinations(criteria: Sequence[Sequence[float]], n: int) -> Iterator[tuple[int, ...]]:
    """Yield the `n` combinations of one of each list with the least sums, each list in increasing order."""
    first = (0,) * len(criteria)
    heap, seen = [(sum(row[0] for row in criteria), first)], {first}
    while heap and n > 0:
        total, chosen = heapq.heappop(heap)
        yield chosen
        n -= 1
        for s, i in enumerate(chosen):
            more = (*chosen[:s], i + 1, *chosen[s + 1 :])
            if i + 1 < len(criteria[s]) and more not in seen:
                seen.add(more)
                heapq.heappush(heap, (total - criteria[s][i] + criteria[s][i + 1], more))


def variants(leader: Candidate, searches: Sequence[Search], archive: Archive) -> Iterator[Law]:
    """Yield the law with one of its equations changed."""
    settings, dataset = archive.settings, archive.prepared.dataset
    for search in searches:
        region = search.regions[0]
        part = region.template.part(leader.equation)
        if part is None:
            continue
        others = [c.single for c in search.archive.leaders()[: settings.search.exchanged]]
        close = good_neighbours(part.skeleton, region, archive, settings.budget.per_round)
        near = [better_start(skeleton, part, region.objective, search.archive) for skeleton in close]
        for equation in [*near, *others]:
            if equation.skeleton != part.skeleton:
                yield region.template.changed(leader.equation, equation, dataset)
