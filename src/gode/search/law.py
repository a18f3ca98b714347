"""The search for a law: for the equation of each state with the other states given, then for all together.

The solution of a law is a better smoother than one that knows nothing of the other states, so that a system
is searched a second time along the solution of the best law of the first pass.

Each equation was sought with the other states as known signals. Its best candidates are combined, and the
best laws are changed in one equation at a time: another candidate, a term less, more or in place of another.
"""

import heapq
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from types import TracebackType

import numpy as np

from gode.data.dataset import column_units
from gode.equation import Equation, Law, Skeleton
from gode.equation.dimensions import columns_of_view
from gode.equation.frame import Frame
from gode.equation.system import seen_to_display
from gode.equation.tree import renumber
from gode.fitting import fit_constants
from gode.fitting.prepare import Prepared, along, assemble, is_plain, retraced, view
from gode.model import LatentSpace, Listing
from gode.search.archive import Archive, Initial, Key, Stage, Step
from gode.search.assumptions import REST, keeps, satisfies, told
from gode.search.cheap import sought
from gode.search.explore import Region, explore, make_regions, plainest, score_sums
from gode.search.hidden import HiddenSearch
from gode.search.interrupts import Interrupts
from gode.search.refine import Search, better_rows, better_start, good_neighbours, refine
from gode.search.settings import Settings
from gode.search.simplify import share_over_runs, shared
from gode.search.templates import FrameTemplate, SumTemplate, Template
from gode.search.workers import Start, Workers
from gode.selection import Candidate


def couple(searches: Sequence[Search], archive: Archive, seeds: Sequence[Candidate] = ()) -> None:
    """Fit combinations of the best equations of each state, then change the best laws until none is better.

    Args:
        seeds: laws to fit as well, from where their fits ended.
    """
    look, effort = archive.settings.search, archive.settings.budget
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
    for _ in range(effort.rounds):
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


RESCUED = (1, 5, 50)  # best of every size by the cheap score: solved in turn after an interruption
COMBINED = 3  # combinations of the equations of states that are tried then
PASSES = 2  # over the data of a system
EARLIER = 0.5  # share of the effort in each pass but the last: it need only find a law to smooth by


class LawSearch:
    """The state of a search; use it as a context. `archive` and `prepared` hold what it leads to."""

    def __init__(
        self,
        prepared: Prepared,
        settings: Settings,
        spaces: Sequence[LatentSpace | Listing],
        interrupts: Interrupts,
        memo: MutableMapping[Start, Candidate | None],
        on_step: Callable[[Step], None] | None,
        n_jobs: int,
        frame: Frame | None = None,
    ) -> None:
        self.settings, self.spaces, self.interrupts = settings, spaces, interrupts
        self.memo, self.on_step, self.n_jobs = memo, on_step, n_jobs
        self.frame = frame
        self.searches: list[Search] = []
        self.archive = self._archive(prepared, n_jobs)

    @property
    def prepared(self) -> Prepared:
        """The data in the form in which laws are fitted to them."""
        return self.archive.prepared

    @property
    def single(self) -> bool:
        """Whether one equation is the whole law."""
        return is_plain(self.prepared.dataset)

    def __enter__(self) -> "LawSearch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.archive.workers.close()

    def run(self, rng: np.random.Generator) -> None:
        """Search until the effort is spent."""
        if self.prepared.dataset.hidden:
            HiddenSearch(self.archive, self.spaces[0], rng).run()
        elif self.single:
            self._search_alone(rng)
        else:
            self._search_together(rng)
        if not self.archive.leaders():
            self.rescue()
        share_over_runs(self.archive)

    def _search_alone(self, rng: np.random.Generator) -> None:
        """Look for the equation of the only state; once more where only accelerations were measured."""
        self._search_view(rng, self.archive)
        best = next(iter(self.archive.leaders()), None)
        again = retraced(self.prepared, best.single, best.initial) if best else None
        if again is not None:
            self.archive.again()
            regions = self._regions(again, self.settings, 0)
            self.searches = [Search(regions, self.archive)]
            explore(regions, self.archive, rng)
            refine(regions, self.archive)

    def _search_together(self, rng: np.random.Generator) -> None:
        """Look for the equation of each state, then for the law; again along the solution of the best one."""
        seeds: list[Candidate] = []
        for number in range(1, PASSES + 1):
            if number > 1 and not self._retrace(f"pass {number}: "):
                break
            self.searches = []
            for state in self.prepared.dataset.states:
                own = self._archive(self._view(len(self.searches)), 1, f"pass {number}, {state}: ")
                self._search_view(rng, own, 1.0 if number == PASSES else EARLIER)
            couple(self.searches, self.archive, seeds)
            while not self.archive.leaders() and self.archive.shorten():
                couple(self.searches, self.archive, seeds)
            seeds = self.archive.leaders()[: self.settings.search.combinations]
        if self.archive.widen():
            share_constants(self.archive)

    def _retrace(self, name: str) -> bool:
        """Smooth the data by the solution of the best law so far; return whether that has one."""
        best = next(iter(self.archive.leaders()), None)
        prepared = self.prepared
        laws = [best.law_of(i) for i in range(len(prepared.dataset.runs))] if best else []
        smooths = along(prepared, laws, best.initial, self._sizes(best)) if best else None
        if best is None or smooths is None:
            return False
        order, floor = self.settings.order, self.settings.selection.floor
        own = bool(self.settings.individual)
        again = assemble(prepared.dataset, prepared.whole.dataset, smooths, order, floor, individual=own)
        self.archive.workers.close()
        new = self._archive(again, self.n_jobs, name)
        new.n_fitted = self.archive.n_fitted
        new.solve([best.equation], Stage.COUPLING, initial_of(best))  # an interruption must not lose it
        self.archive = new
        return True

    def _sizes(self, best: Candidate) -> list[float]:
        """Return the residuals of each state over the noise; none of a law that is far from the data."""
        if best.rms > self.settings.shooting.far:
            return []
        freedom = max(1 - best.n_free / best.n_values, 0.5)
        return [float(np.sqrt(max(state.square, 1e-12) / freedom)) for state in best.states]

    def _view(self, own: int) -> Prepared:
        order = self._template(own).order
        floor, individual = self.settings.selection.floor, bool(self.settings.individual)
        return view(self.prepared, own, order, floor, individual=individual)

    def _regions(self, prepared: Prepared, settings: Settings, own: int) -> list[Region]:
        """Return where to look for the equation of one state."""
        dataset, units = self.prepared.dataset, {}
        if settings.known.units:
            names = {} if self.single else seen_to_display(own, dataset.states, dataset.inputs)
            units = columns_of_view(column_units(dataset), names)
        return make_regions(self.spaces, prepared, settings, self.interrupts, self._template(own), units)

    def _template(self, state: int) -> Template:
        if self.frame is None:
            return SumTemplate(order=self.settings.order, state=state)
        return FrameTemplate(self.frame, state)

    def _search_view(self, rng: np.random.Generator, archive: Archive, share: float = 1.0) -> None:
        """Look for the equation of one state with a share of the effort."""
        archive.n_fitted = self.archive.n_fitted
        settings = replace(self.settings, share=share * self.settings.share)
        regions = self._regions(archive.prepared, settings, len(self.searches))
        self.searches.append(Search(regions, archive))
        explore(regions, archive, rng)
        refine(regions, archive)
        while not archive.leaders() and archive.shorten():
            refine(regions, archive)
        self.archive.n_fitted = archive.n_fitted

    def _archive(self, prepared: Prepared, n_jobs: int, name: str = "") -> Archive:
        workers = Workers(prepared, self.settings, n_jobs, self.interrupts.check)
        if self.interrupts.timed_out:
            workers.hurry(brief=True)
        return Archive(prepared, self.settings, self.on_step, workers, self.interrupts, self.memo, view=name)

    def leaders(self) -> list[Candidate]:
        """Return the candidates, the best first; only those that keep what was assumed, if there are any."""
        every = self.archive.leaders()
        columns, assumed = self.prepared.columns, self.settings.known.assume
        return [c for c in every if satisfies(c.equation, columns, assumed)] or every

    def assumed(self, best: Candidate) -> Iterator[str]:
        """Yield a remark on each assumption, with what it costs in the criterion."""
        for name in self.settings.known.assume:
            yield told(name, self._cost(name, best))

    def _cost(self, name: str, best: Candidate) -> float | None:
        """Return by how much the criterion falls without an assumption; None where that was not tried."""
        if name == "nonnegative":
            return best.criterion - self.archive.leaders()[0].criterion
        if self.prepared.dataset.hidden:
            return None
        if self.settings.individual and (not self.single or self.prepared.chosen or name.startswith(REST)):
            return None
        known = self.settings.known
        others = tuple(other for other in known.assume if other != name)
        free = replace(self.settings, known=replace(known, assume=others))
        views = [search.archive.prepared for search in self.searches]
        return cost_of(
            name, best, self.searches, self.archive, lambda own: self._regions(views[own], free, own)
        )

    def rescue(self) -> None:
        """After an interruption, or without an answer: fit the best by the cheap score until there is one."""
        self.archive.settle()
        if self.prepared.dataset.hidden:  # whose laws are fitted to the trajectory from the first on
            return
        try:
            self._rescued(RESCUED)
        except KeyboardInterrupt:
            if not self.interrupts.timed_out:
                raise
            for archive in (self.archive, *(search.archive for search in self.searches)):
                archive.workers.hurry(brief=True)
        self.interrupts.finish()
        self._rescued(RESCUED[:1])  # where the time was over before any was tried
        if self.single:
            _follow_part(self.searches[0], RESCUED[0])
        while not self.archive.leaders() and self.archive.shorten():
            self._rescued(RESCUED[:1])
        if self.prepared.chosen and not self.archive.whole:
            self.archive.widen()  # an answer is for all runs, of which only some were screened
        if self.archive.workers.brief:
            self._polish()

    def _polish(self) -> None:
        """Complete the fit of the best law that a few steps led to, while there is time."""
        self.archive.workers.hurry(brief=False)
        self.interrupts.polish()
        try:
            self.archive.improve([c.equation for c in self.archive.leaders()[:1]], Stage.DIGITS)
        except KeyboardInterrupt:
            if not self.interrupts.timed_out:
                raise
        self.interrupts.finish()

    def _rescued(self, numbers: Sequence[int]) -> None:
        """Fit the best by the cheap score, ever more of them, until one is solved."""
        for n in numbers:
            if self.archive.leaders():
                break
            if self.single:
                cheap = self.searches[0].regions[0].objective.best(n)
                self.archive.solve([s.equation for s in cheap], Stage.BEST)
            else:
                self._rescue_law(n)

    def _rescue_law(self, n: int) -> None:
        """Combine the best equations of all states, and the simplest; by cheap sums if nothing was done."""
        tops = []
        for own in range(len(self.prepared.dataset.states)):
            if own == len(self.searches):
                seen = self._view(own)
                regions = self._regions(seen, self.settings, own)
                self.searches.append(Search(regions, self._archive(seen, 1, f"rescue {own}: ")))
            search = self.searches[own]
            if not search.regions[0].objective.best(1):
                score_sums(search.regions[0], self.settings)
            cheap = [s.equation for s in search.regions[0].objective.best(n)]
            search.archive.solve(cheap, Stage.BEST)
            _follow_part(search, n)
            tops.append(search.archive.leaders())
        if all(tops):
            chosen = [
                [top[i].single for i, top in zip(places, tops, strict=True)]
                for places in best_combinations([[c.criterion for c in top] for top in tops], COMBINED * n)
            ]
            chosen.append([min((c.single for c in top), key=lambda e: e.complexity) for top in tops])
            laws = [law for equations in chosen for law in laws_of(self.archive, equations, self.searches)]
            self.archive.solve(laws, Stage.BEST)


def _follow_part(search: Search, n: int) -> None:
    """Follow ever shorter first parts of the records by the best equations, or by that of a constant rate.

    Records that are too short to be cut are followed whole.
    """
    region, archive = search.regions[0], search.archive
    best = [*(scored.equation for scored in region.objective.best(n)), *plainest(region)]
    while not archive.leaders() and archive.shorten():
        archive.solve(best, Stage.BEST)
    if not archive.leaders():
        archive.solve(best, Stage.BEST)
