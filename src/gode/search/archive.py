"""Archive: the equations fitted to the trajectory so far, and the time that the rest may take.

It survives an interruption.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import nan
from types import MappingProxyType

from gode.arrays import Rows, rows_of
from gode.equation import Law
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target, shorter
from gode.search.cheap import LARGEST_SUM, ObjectiveConfig
from gode.search.interrupts import Interrupts
from gode.search.settings import Effort, SearchConfig, Settings
from gode.search.workers import Start, Workers
from gode.selection import Candidate, Pool, in_order, rank

# A fit to the trajectory is taken to need so many times as long as a cheap one, typical of a quick discovery,
# until so many have been timed.
TYPICAL_RATIO = 8.0
TIMED = 5


@dataclass(frozen=True)
class Workload:
    """How many fits a search makes, if its stages do not end early."""

    cheap: float
    fits: float


def planned(effort: Effort, fraction: float) -> Workload:
    """Return the plan of one pass with a fraction of an effort.

    The best of each number of constants go to the trajectory, then in each round the neighbours of a leader
    and the sums with one of its terms less.
    """
    cheap = fraction * (effort.library + effort.latent) + (LARGEST_SUM - 1) * effort.sums
    parts = SearchConfig.max_terms - 1
    round_of_fits = effort.per_round + parts
    return Workload(
        cheap, fraction * (ObjectiveConfig.max_constants * effort.per_size + effort.rounds * round_of_fits)
    )


class Pace:
    """Counts the fits of one search, and their time."""

    def __init__(self, plan: Workload, searches: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.plan, self.searches, self.clock = plan, searches, clock
        self.cheap, self.fits = 0, 0  # the fits of this search
        self.seconds = {False: 0.0, True: 0.0}  # the time of cheap fits, and of fits to the trajectory
        self.counts = {False: 0, True: 0}
        self.seen = 0
        self.last: float | None = None  # The time before the first call is that of loading and compiling.

    def left(self, *, n_cheap: int, on_trajectory: bool) -> float:
        """Count the fits since the last call; return the estimated seconds that are left.

        Args:
            n_cheap: the cheap fits so far, in all searches.
        """
        now, before = self.clock(), self.last
        new, self.seen, self.last = n_cheap - self.seen, n_cheap, now
        if before is None:
            self.cheap += new
            return math.nan
        self.seconds[on_trajectory] += now - before
        if on_trajectory:
            self.fits, self.counts[True] = self.fits + 1, self.counts[True] + 1
        else:
            self.cheap, self.counts[False] = self.cheap + new, self.counts[False] + new
        return self._estimate(on_trajectory)

    def _estimate(self, on_trajectory: bool) -> float:
        n, seconds = self.counts, self.seconds
        if not n[False]:
            return math.nan
        cheap = seconds[False] / n[False]
        fit = seconds[True] / n[True] if n[True] >= TIMED else TYPICAL_RATIO * cheap
        later = (self.searches - 1) * (cheap * self.plan.cheap + fit * self.plan.fits)
        searching = 0.0 if on_trajectory else cheap * max(self.plan.cheap - self.cheap, 0.0)
        return later + searching + fit * max(self.plan.fits - self.fits, 0.0)


class Stage(StrEnum):
    """What is being done."""

    SMOOTHING = "smoothing"
    LIBRARY = "library"
    SUMS = "sums"
    LATENT = "latent space"
    TRAJECTORIES = "trajectories"
    NEIGHBOURS = "neighbours"
    COUPLING = "all equations together"
    SHARING = "shared constants"
    WHOLE = "whole records"
    DIGITS = "the last digits"
    BEST = "the best so far"


Key = tuple[object, ...]  # what identifies a skeleton
SEARCHING = (Stage.LIBRARY, Stage.SUMS, Stage.LATENT)  # by cheap fits


@dataclass(frozen=True)
class Step:
    """What is being done now, for a progress line."""

    stage: Stage
    n_fitted: int
    n_solved: int
    best: str
    left: float = nan  # seconds that the rest may take: 0 if it takes longer than planned, NaN if unknown
    leaders: Sequence[Candidate] = ()  # fitted to the trajectory so far, the best first


@dataclass
class Archive:
    """The candidates found so far.

    `memo` holds all fits, also those of an earlier call that was stopped.
    """

    prepared: Prepared
    settings: Settings
    on_step: Callable[[Step], None] | None
    workers: Workers
    interrupts: Interrupts
    memo: MutableMapping[Start, Candidate | None]
    candidates: dict[Key, Candidate | None] = field(default_factory=dict)
    whole: bool = False  # whether whole records are fitted now, not their first part
    expanded: set[Key] = field(default_factory=set)  # of which all neighbours were looked at
    homes: dict[Key, int] = field(default_factory=dict)  # in which grammar each skeleton was found
    n_fitted: int = 0
    view: str = ""  # which view of the data is fitted, where there are several states
    searches: int = 1  # how many such searches are still to come, with this one
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        self.pace = Pace(planned(self.settings.budget, self.settings.share), self.searches)

    @property
    def target(self) -> Target:
        """What trajectories are compared with now."""
        return self.prepared.whole if self.whole else self.prepared.target

    def tell(self, stage: Stage) -> None:
        """Report where the discovery stands."""
        if self.on_step:
            order = self.leaders()
            best = str(order[0].equation) if order else ""
            left = self.pace.left(n_cheap=self.n_fitted, on_trajectory=stage not in SEARCHING)
            left = min(left, self.interrupts.left)
            self.on_step(Step(stage, self.n_fitted, len(self.candidates), best, left, order))

    def leaders(self) -> list[Candidate]:
        """Return the candidates, the best first as if all residuals were white: that leads to accuracy."""
        return in_order([c for c in self.candidates.values() if c is not None])

    def settled(self) -> list[Candidate]:
        """Return the candidates as they will be ranked: with the number of independent residuals."""
        found = [c for c in self.candidates.values() if c is not None]
        return rank(Pool(found, self.prepared.floor), self.settings.selection).candidates

    def solve(
        self,
        several: Iterable[Law],
        stage: Stage,
        initial: Rows = (),
        each: Mapping[Key, Rows] | None = None,
        starts: Mapping[Key, Rows] | None = None,
    ) -> None:
        """Fit equations to the trajectory from their constants, each skeleton once.

        Args:
            initial: (runs, sum of orders) values to start from; by default the smoothed ones.
            each: constants of each run to start from, where these have their own.
            starts: values to start from, where laws have their own.
        """
        fresh: dict[Key, Law] = {}
        for equation in several:
            if equation.skeleton.key not in self.candidates:
                fresh.setdefault(equation.skeleton.key, equation)
        self._solve_into(self.candidates, list(fresh.values()), stage, initial, each, starts or {})

    def improve(self, several: Iterable[Law], stage: Stage, starts: Mapping[Key, Rows] | None = None) -> None:
        """Complete the fit of equations, also where it is far from the data; keep what gets better.

        Args:
            starts: values to start from, where laws have their own.
        """
        for equation in several:
            old = self.candidates.get(equation.skeleton.key)
            initial = {**self._begun([old]), **(starts or {})}.get(equation.skeleton.key, ())
            start = Start(equation, self.whole, patient=True, view=self.view, initial=initial)
            if start not in self.memo:
                self.memo[start] = self.workers.fit(start)
            new = self.memo[start]
            if old is None or (new is not None and new.criterion < old.criterion):
                self.candidates[equation.skeleton.key] = new
            self.interrupts.check()
            self.tell(stage)

    def widen(self) -> bool:
        """Go on with whole records, if only their first part was used; the best so far come along."""
        if self.whole or self.prepared.whole is self.prepared.target:
            return False
        leaders = self.leaders()[: self.settings.search.whole]
        best, begun = [c.equation for c in leaders], self._begun(leaders)
        found: dict[Key, Candidate | None] = {}
        self.whole, self.expanded = True, set()
        try:
            self._solve_into(found, best, Stage.WHOLE, own=begun)
        finally:  # also after an interruption
            self.whole = any(found.values())
            self.candidates = found if self.whole else self.candidates
        return self.whole

    def _begun(self, candidates: Sequence[Candidate | None]) -> dict[Key, Rows]:
        """Return the fitted initial values of laws with hidden states, which no smoothed curve has."""
        hidden = bool(self.prepared.dataset.hidden)
        known = [c for c in candidates if hidden and c is not None]
        return {c.equation.skeleton.key: rows_of(c.initial) for c in known}

    def shorten(self) -> bool:
        """Go on with the first half of what was tried to follow; return False where that is short already.

        A law that cannot be solved along a long or sensitive record may still be seen in its first part.
        """
        part = shorter(self.target)
        if part is None or self.prepared.chosen:  # an answer is for all runs
            return False
        self.prepared, self.whole = replace(self.prepared, target=part), False
        self.workers.close()
        self.workers.prepared = self.prepared
        self.candidates, self.expanded = {}, set()
        self.view = f"{self.view}half of "  # fits to another part are others
        return True

    def _solve_into(
        self,
        found: dict[Key, Candidate | None],
        several: Sequence[Law],
        stage: Stage,
        initial: Rows = (),
        each: Mapping[Key, Rows] | None = None,
        own: Mapping[Key, Rows] = MappingProxyType({}),
    ) -> None:
        runs = len(self.target.dataset.runs)
        rows = {key: own for key, own in (each or {}).items() if len(own) == runs}
        starts = [
            Start(
                law,
                self.whole,
                view=self.view,
                initial=own.get(law.skeleton.key, initial),
                each=rows.get(law.skeleton.key, ()),
            )
            for law in several
        ]
        found.update({s.equation.skeleton.key: self.memo[s] for s in starts if s in self.memo})
        for start, candidate in self.workers.fits([s for s in starts if s not in self.memo]):
            self.memo[start] = candidate
            found[start.equation.skeleton.key] = candidate
            self.interrupts.check()
            self.tell(stage)
