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

from gode.arrays import rows_of
from gode.data.dataset import column_units
from gode.equation import Equation, Law, Skeleton
from gode.equation.dimensions import columns_of_view
from gode.equation.frame import Frame
from gode.equation.system import make_law, seen_to_display
from gode.equation.tree import renumber
from gode.fitting import fit_constants
from gode.fitting.prepare import Prepared, along, assemble, is_its_view, view
from gode.fitting.trajectory import ShootConfig
from gode.model import LatentSpace, Listing
from gode.search.archive import Archive, Key, Stage, Step
from gode.search.assumptions import REST, keeps, remark_on, satisfies
from gode.search.cheap import sought
from gode.search.explore import Region, explore, explore_sums, make_regions, plainest, score_sums
from gode.search.hidden import HiddenSearch
from gode.search.interrupts import Interrupts
from gode.search.refine import (
    Search,
    better_rows,
    better_start,
    glance,
    good_neighbours,
    refine,
    simpler_forms,
    step_away,
    with_a_term_less,
)
from gode.search.settings import Settings
from gode.search.simplify import share_over_runs, with_shared_constants
from gode.search.stopping import is_at_noise, is_decided
from gode.search.templates import FrameTemplate, SumTemplate, Template
from gode.search.workers import Start, Workers
from gode.selection import Candidate

# After an interruption, the best so many of every size by the cheap score are fitted until one of them can be
# solved, and of several states so many times as many combinations of equations.
RESCUED = (1, 5, 50)
COMBINED = 3
EARLIER = 0.5  # Each pass but the last has this fraction of the effort: it need only find a law to smooth by.


def couple(searches: Sequence[Search], archive: Archive, rounds: int) -> None:
    """Fit combinations of the best equations of each state, then change the best until none is better.

    Args:
        rounds: how often the best law is changed, at most.
    """
    look = archive.settings.search
    config = archive.settings.shooting
    tops = [_near_the_data(each.archive.leaders(), each.archive.prepared, config) for each in searches]
    if all(tops):
        found = [
            law
            for chosen in best_combinations([[c.criterion for c in top] for top in tops], look.combinations)
            for law in laws_of(archive, [tops[s][i].single for s, i in enumerate(chosen)], searches)
        ]
        archive.solve(found, Stage.COUPLING)
        archive.improve([law for law in found[: look.grown] if _is_far(law, archive)], Stage.COUPLING)
    changed: set[Key] = set()
    for _ in range(rounds):
        waiting = [c for c in archive.leaders()[:2] if c.equation.skeleton.key not in changed]
        if not waiting:
            break
        leader = waiting[0]
        changed.add(leader.equation.skeleton.key)
        archive.solve(list(variants(leader, searches, archive)), Stage.COUPLING, rows_of(leader.initial))
    share_constants(archive)


def _near_the_data(fitted: Sequence[Candidate], seen: Prepared, config: ShootConfig) -> list[Candidate]:
    """Return the fits of one equation's forms that are not hopeless where the first of them is not.

    A form that cannot follow its state along the others as measured does not so along their solution. Along
    noisy ones errors add up, so that it has to miss half of the variance of its state.
    """
    far = config.far * max([1.0, *(c.rms for c in fitted[:1])])
    most = max(far, np.sqrt(config.gain) / seen.target.noise_share)
    return [c for c in fitted if c.rms <= most]


def _is_far(law: Law, archive: Archive) -> bool:
    fitted = archive.candidates.get(law.skeleton.key)
    return fitted is None or fitted.rms > archive.settings.shooting.far


def share_constants(archive: Archive) -> None:
    """Fit the best laws once more with constants that may be one held equal."""
    leaders = archive.leaders()
    near = [c for c in leaders if c.criterion < leaders[0].criterion + archive.settings.search.nearby]
    for candidate in near:
        law = with_shared_constants(candidate, archive.prepared.floor, archive.settings.selection)
        if law is not None:
            archive.solve([law], Stage.SHARING, rows_of(candidate.initial))


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


def take_away(searches: Sequence[Search], archive: Archive) -> None:
    """Fit the best law without each of its terms, and with simpler ones, until it is the best.

    It may be the last to come.
    """
    tried: set[Key] = set()
    while (order := archive.settled()) and order[0].equation.skeleton.key not in tried:
        tried.add(order[0].equation.skeleton.key)
        fewer = list(variants(order[0], searches, archive, shorter=True))
        archive.solve(fewer, Stage.COUPLING, rows_of(order[0].initial))
        share_constants(archive)


def variants(
    leader: Candidate, searches: Sequence[Search], archive: Archive, *, shorter: bool = False
) -> Iterator[Law]:
    """Yield the law with one of its equations changed; if `shorter`, with a term less or a simpler one."""
    settings, dataset = archive.settings, archive.prepared.dataset
    for search in searches:
        region = search.regions[0]
        part = region.template.part(leader.equation)
        if part is None:
            continue
        seen, config = search.archive.prepared, settings.shooting
        best = [] if shorter else _near_the_data(search.archive.leaders(), seen, config)
        if shorter:
            close = with_a_term_less(part.skeleton, region)
        else:
            close = good_neighbours(part.skeleton, region, archive, settings.budget.per_round)
        near = [better_start(skeleton, part, region.objective, search.archive) for skeleton in close]
        if shorter:
            near += simpler_forms(part, np.zeros(len(part.constants)), region)
        for equation in (part, *near):
            search.archive.homes.setdefault(equation.skeleton.key, 0)
        search.archive.solve([part, *near], Stage.NEIGHBOURS)
        fits = search.archive.candidates
        close_enough = _near_the_data([c for e in (part, *near) if (c := fits[e.skeleton.key])], seen, config)
        kept = {c.equation.skeleton.key for c in close_enough}
        near = [e for e in near if e.skeleton.key in kept or fits[e.skeleton.key] is None]
        for equation in [*near, *(c.single for c in best[: settings.search.exchanged])]:
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
    else:
        freed = [Search(regions(state), search.archive) for state, search in enumerate(searches)]
        near = [start for search in freed for start in _near(best, search, archive)]
        starts = [start for start in near if _breaks(start.equation, name, searches)]
    here = [start._replace(whole=archive.whole, initial=rows_of(best.initial)) for start in starts]
    tried = [archive.workers.fit(start) for start in here]
    return best.criterion - min([best.criterion, *(c.criterion for c in tried if c is not None)])


def _near(best: Candidate, search: Search, archive: Archive) -> Iterator[Start]:
    """Yield the laws with a near equation of one state, and constants of each run where there are such."""
    region, dataset = search.regions[0], archive.prepared.dataset
    template = region.template
    part = template.part(best.equation)
    if part is None:
        return
    for skeleton in good_neighbours(part.skeleton, region, archive, archive.settings.budget.per_round):
        if best.own is None:
            near = better_start(skeleton, part, region.objective, search.archive)
            yield Start(template.changed(best.equation, near, dataset))
            continue
        alone = better_rows(skeleton, best, region.objective, search.archive)
        each = [Equation(skeleton, row) for row in alone]
        laws = [template.changed(best.law_of(run), near, dataset) for run, near in enumerate(each)]
        rows = tuple(law.constants for law in laws)
        yield Start(make_law(laws[0].skeleton, np.median(rows, axis=0)), each=rows)


def _breaks(law: Law, name: str, searches: Sequence[Search]) -> bool:
    """Tell whether a term of a law does not keep an assumption."""
    return not all(
        keeps(renumber(body), (name,), part.order)
        for part, search in zip(law.skeleton.parts, searches, strict=True)
        for body in sought(search.regions[0].template, part)
    )


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
        self.looked: list[Search] = []  # the first look of this pass, where it has not decided
        self.archive = self._archive(prepared, n_jobs)
        self.begun = self.archive  # as it was before that look

    @property
    def prepared(self) -> Prepared:
        """The data in the form in which laws are fitted to them."""
        return self.archive.prepared

    @property
    def passes(self) -> int:
        """How often the search goes over the data.

        The solution of a law is a better smoother than one that knows nothing of the other states, or that
        integrates noisy accelerations; where u of a single state was measured, it is compared as it is.
        """
        return 2 if self.prepared.blind or not is_its_view(self.prepared.dataset) else 1

    def __enter__(self) -> "LawSearch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.archive.workers.close()

    def run(self, rng: np.random.Generator) -> None:
        """Search until the effort is spent, or until a first look has decided."""
        if self.prepared.dataset.hidden:
            HiddenSearch(self.archive, self.spaces[0], rng, self.frame).run()
        else:
            self._search(rng)
        if not self.archive.leaders():
            self.rescue()
        share_over_runs(self.archive)

    def _search(self, rng: np.random.Generator) -> None:
        """Look for the equation of each state, then for the law; again along the solution of the best one.

        The first pass need only find a law to smooth by, which a first look at clean records does as well.
        """
        for number in range(1, self.passes + 1):
            if number > 1 and not self._retrace(f"pass {number}: "):
                break
            if self._look(number):
                return
            last = number == self.passes
            if last or not self.looked or not is_at_noise(self.archive):
                self._search_pass(rng, number, last=last)
        if self.passes == 1 and self._follows_closer_than_smooth():
            self._look_along_law()
        if not self._is_alone:
            self.archive.widen()
            take_away(self.searches, self.archive)

    def _look(self, number: int) -> bool:
        """Score sums of few terms, fit the best and what is a step away; tell if that decides, or keep it."""
        self.searches, self.looked = [], []
        archive, settings = self.archive, self.settings
        self.begun = replace(archive, candidates=dict(archive.candidates), homes=dict(archive.homes))
        known_of_one_run = self.prepared.blind or settings.individual  # for which there is no bound
        if known_of_one_run or not settings.ends_early:
            return False
        for _ in self.prepared.dataset.states:
            search = self._search_of(number)
            explore_sums(search.regions, search.archive)
            archive.n_fitted = search.archive.n_fitted
        self.interrupts.enough()
        for search in self.searches:
            glance(search.regions, search.archive)
        if self._is_alone:
            step_away(self.searches[0].regions, archive)
        else:
            couple(self.searches, archive, settings.budget.rounds // 2)
            archive.widen()
            take_away(self.searches, archive)
        if is_decided(archive, archive.n_fitted + len(archive.candidates)):
            return True
        self.looked = self.searches
        return False

    def _follows_closer_than_smooth(self) -> bool:
        """Tell whether the best law leaves smaller residuals than the smoothed curve.

        The curve has more degrees of freedom, so that it would leave smaller ones if it missed nothing.
        """
        leaders = self.archive.leaders()
        if not leaders or len(leaders[0].initial) != len(self.prepared.dataset.runs):
            return False
        target = self.archive.target
        pairs = zip(target.samples, target.guides, strict=True)
        left = sum(
            float(np.sum(((observed - guide.T) * weights) ** 2)) for (observed, weights), guide in pairs
        )
        return leaders[0].rms ** 2 * leaders[0].n_values < left

    def _look_along_law(self) -> None:
        """Score the sums of few terms once more, along the solution of the best law, and fit the best."""
        archive = self.archive
        again = self._along(archive.leaders()[0])
        if again is None:
            return
        again = replace(self.prepared, columns=again.columns, problems=again.problems, each=again.each)
        regions = self._regions(again, self.settings, 0)
        explore_sums(regions, archive)
        glance(regions, archive)
        step_away(regions, archive)

    def _search_pass(self, rng: np.random.Generator, number: int, *, last: bool) -> None:
        """Look for the equation of each state with a share of the effort, then for the law."""
        self.searches = []
        if self.archive.whole:  # The look came to whole records; first parts screen.
            self.archive = self.begun
        self.archive.n_fitted = self.begun.n_fitted
        for _ in self.prepared.dataset.states:
            self._search_view(rng, number, last=last)
        if self._is_alone:
            return
        rounds = self.settings.budget.rounds
        couple(self.searches, self.archive, rounds)
        while not self.archive.leaders() and self.archive.shorten():
            couple(self.searches, self.archive, rounds)

    @property
    def _is_alone(self) -> bool:
        """Whether the equation of one state is all of the law."""
        return all(search.archive is self.archive for search in self.searches)

    def _search_of(self, number: int, *, last: bool = True) -> Search:
        """Return the search for the equation of the next state, which goes on from the first look."""
        own, share = len(self.searches), 1.0 if last else EARLIER
        state = self.prepared.dataset.states[own]
        if self.looked:
            looked = self.looked[own]
            archive = self.archive if is_its_view(self.prepared.dataset) else looked.archive
            regions = [replace(region, effort=share * region.effort) for region in looked.regions]
        else:
            archive = self._archive_of_view(f"pass {number}, {state}: ", last=last)
            settings = replace(self.settings, share=share * self.settings.share)
            regions = self._regions(archive.prepared, settings, own)
        archive.n_fitted = self.archive.n_fitted
        self.searches.append(Search(regions, archive))
        return self.searches[-1]

    def _archive_of_view(self, name: str, *, last: bool = True) -> Archive:
        """Return the archive of the next equation: that of the law where the equation is all of it."""
        seen = self._view(len(self.searches))
        if seen is self.prepared:
            return self.archive
        left = len(self.prepared.dataset.states)
        return self._archive(seen, 1, name, searches=(1 if last else 2) * left - len(self.searches))

    def _retrace(self, name: str) -> bool:
        """Smooth the data by the solution of the best law so far; return whether that has one."""
        prepared, settings = self.prepared, self.settings
        leaders = self.archive.leaders()[: max(settings.search.combinations, 1)]
        n_runs = len(prepared.dataset.runs)
        if not leaders or len(leaders[0].initial) != n_runs:  # only some of the runs were fitted
            return False
        again = self._along(leaders[0], self._sizes(leaders[0]))
        if again is None:
            return False
        self.archive.workers.close()
        new = self._archive(again, self.n_jobs, name)
        new.n_fitted, new.homes = self.archive.n_fitted, self.archive.homes
        for law in leaders:  # An interruption must not lose the best one.
            new.solve([law.equation], Stage.COUPLING, rows_of(law.initial))
        self.archive = new
        return True

    def _along(self, best: Candidate, sizes: Sequence[float] = ()) -> Prepared | None:
        """Return the data smoothed by the solution of a law of all runs; None if it has none."""
        prepared, settings = self.prepared, self.settings
        laws = [best.law_of(run) for run in range(len(best.initial))]
        smooths = along(prepared, laws, best.initial, sizes)
        if smooths is None:
            return None
        return assemble(
            prepared.dataset,
            prepared.whole.dataset,
            smooths,
            settings.order,
            settings.selection.floor,
            individual=bool(settings.individual),
            solved=True,
        )

    def _sizes(self, best: Candidate) -> list[float]:
        """Return the residuals of each state over the noise; none of a law that is far from the data."""
        if best.rms > self.settings.shooting.far:
            return []
        freedom = max(1 - best.n_free / best.n_values, 0.5)
        return [float(np.sqrt(max(state.square, 1e-12) / freedom)) for state in best.states]

    def _view(self, state: int) -> Prepared:
        order = self._template(state).order
        floor, individual = self.settings.selection.floor, bool(self.settings.individual)
        return view(self.prepared, state, order, floor, individual=individual)

    def _regions(self, prepared: Prepared, settings: Settings, state: int) -> list[Region]:
        """Return where to look for the equation of one state."""
        dataset, units = self.prepared.dataset, {}
        if settings.known.units:
            units = columns_of_view(
                column_units(dataset), seen_to_display(state, dataset.states, dataset.inputs)
            )
        return make_regions(self.spaces, prepared, settings, self.interrupts, self._template(state), units)

    def _template(self, state: int) -> Template:
        if self.frame is None:
            return SumTemplate(order=self.settings.order, state=state)
        return FrameTemplate(self.frame, state)

    def _search_view(self, rng: np.random.Generator, number: int, *, last: bool) -> None:
        """Look for the equation of the next state with a share of the effort."""
        search = self._search_of(number, last=last)
        regions, archive = search.regions, search.archive
        explore(regions, archive, rng, summed=bool(self.looked))
        refine(regions, archive)
        while not archive.leaders() and archive.shorten():
            refine(regions, archive)
        self.archive.n_fitted = archive.n_fitted

    def _archive(self, prepared: Prepared, n_jobs: int, name: str = "", *, searches: int = 1) -> Archive:
        workers = Workers(prepared, self.settings, n_jobs, self.interrupts.check)
        if self.interrupts.timed_out:
            workers.hurry(brief=True)
        return Archive(
            prepared,
            self.settings,
            self.on_step,
            workers,
            self.interrupts,
            self.memo,
            view=name,
            searches=searches,
        )

    def leaders(self) -> list[Candidate]:
        """Return the candidates, the best first; only those that keep what was assumed, if there are any.

        Of one law with and without constants that are held equal, that one counts which will be ranked first.
        """
        archive = self.archive
        ranked = [archive.candidates[c.equation.skeleton.key] for c in archive.settled()]
        every = [c for c in ranked if c is not None]
        columns, assumed = self.prepared.columns, self.settings.known.assume
        return [c for c in every if satisfies(c.equation, columns, assumed)] or every

    def assumed(self, best: Candidate) -> Iterator[str]:
        """Yield a remark on each assumption, with what it costs in the criterion."""
        for name in self.settings.known.assume:
            yield remark_on(name, self._cost(name, best))

    def _cost(self, name: str, best: Candidate) -> float | None:
        """Return by how much the criterion falls without an assumption; None where that was not tried."""
        if name == "nonnegative":
            return best.criterion - self.archive.leaders()[0].criterion
        if self.prepared.dataset.hidden:
            return None
        if self.settings.individual and (self.prepared.chosen or name.startswith(REST)):
            return None
        known = self.settings.known
        others = tuple(other for other in known.assume if other != name)
        free = replace(self.settings, known=replace(known, assume=others))
        views = [search.archive.prepared for search in self.searches]
        return cost_of(
            name, best, self.searches, self.archive, lambda state: self._regions(views[state], free, state)
        )

    def rescue(self) -> None:
        """After an interruption, or without an answer: fit the best by the cheap score until there is one."""
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
        if not self.archive.leaders():
            for search in self.searches:
                _follow_part(search, RESCUED[0])
            self._combined(RESCUED[0])
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
            for state in range(len(self.prepared.dataset.states)):
                if state == len(self.searches):
                    archive = self._archive_of_view(f"rescue {state}: ")
                    regions = self._regions(archive.prepared, self.settings, state)
                    self.searches.append(Search(regions, archive))
                search = self.searches[state]
                region = search.regions[0]
                if not region.objective.best(1):
                    score_sums(region, self.settings)
                search.archive.solve([s.equation for s in region.objective.best(n)], Stage.BEST)
            self._combined(n)

    def _combined(self, n: int) -> None:
        """Fit combinations of the best equations of all states, and the simplest."""
        apart = [search.archive.leaders() for search in self.searches if search.archive is not self.archive]
        if not apart or not all(apart):
            return
        chosen = [
            [top[i].single for i, top in zip(places, apart, strict=True)]
            for places in best_combinations([[c.criterion for c in top] for top in apart], COMBINED * n)
        ]
        chosen.append([min((c.single for c in top), key=lambda e: e.complexity) for top in apart])
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
