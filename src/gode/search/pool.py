"""Progress: the equations fitted to the trajectory so far. It survives an interruption."""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import nan

from gode.equation import Node
from gode.fitting.prepare import Prepared
from gode.search import Scored
from gode.search.interrupts import Interrupts
from gode.search.pace import Pace, planned
from gode.search.settings import Settings
from gode.search.workers import Workers
from gode.selection import Candidate, in_order

PATIENT = 2.0  # marks the fits that were completed
KEPT_WHOLE = 12  # equations that go from the first part of a long record to all of it


class Stage(StrEnum):
    """What is being done."""

    SMOOTHING = "smoothing"
    LIBRARY = "library"
    SUMS = "sums"
    LATENT = "latent space"
    MOVES = "moves"
    TRAJECTORIES = "trajectories"
    NEIGHBOURS = "neighbours"
    WHOLE = "whole records"
    DIGITS = "the last digits"
    FACTORS = "factors of one"
    BEST = "the best so far"


SEARCHING = (Stage.LIBRARY, Stage.SUMS, Stage.LATENT, Stage.MOVES)  # by cheap fits


@dataclass(frozen=True)
class Step:
    """What is being done now, for a progress line."""

    stage: Stage
    n_fitted: int
    n_solved: int
    best: str
    left: float = nan  # seconds that the rest may take: 0 if it takes longer than planned, NaN if unknown


@dataclass
class Progress:
    """The candidates found so far.

    `memo` holds the fits known from before; the score of a key tells whether it was fitted to whole records,
    and patiently.
    """

    prepared: Prepared
    settings: Settings
    on_step: Callable[[Step], None] | None
    workers: Workers
    interrupts: Interrupts
    memo: MutableMapping[Scored, Candidate | None]
    candidates: dict[Node, Candidate | None] = field(default_factory=dict)
    waiting: dict[Node, Candidate | None] = field(default_factory=dict)  # whole records, earlier pass
    homes: dict[Node, int] = field(default_factory=dict)  # in which grammar each skeleton was found
    n_fitted: int = 0
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        plan = planned(self.settings.budget, self.settings.share / self.prepared.passes)
        self.pace = Pace(plan, self.prepared.passes)

    def tell(self, stage: Stage) -> None:
        """Report where the discovery stands."""
        if self.on_step:
            order = self.leaders()
            best = str(order[0].equation) if order else ""
            left = self.pace.left(n_cheap=self.n_fitted, on_trajectory=stage not in SEARCHING)
            left = min(left, self.interrupts.left)
            self.on_step(Step(stage, self.n_fitted, len(self.candidates), best, left))

    def leaders(self) -> list[Candidate]:
        """Return the candidates, the best first as if all residuals were white: that leads to accuracy."""
        return in_order([c for c in self.candidates.values() if c is not None])

    def solve(self, several: Sequence[Scored], stage: Stage) -> None:
        """Fit skeletons to the trajectory, each once."""
        fresh: dict[Node, Scored] = {}
        for scored in several:
            if scored.skeleton.key not in self.candidates:
                fresh.setdefault(scored.skeleton.key, scored)
        self._solve_into(self.candidates, list(fresh.values()), stage)

    def improve(self, several: Sequence[Scored], stage: Stage) -> None:
        """Fit skeletons to the trajectory from these constants, patiently, and keep what gets better."""
        for scored in several:
            key = replace(scored, score=PATIENT + self.workers.whole)
            if key not in self.memo:
                self.memo[key] = self.workers.judge_one(scored, self.workers.whole, patient=True)
            new, old = self.memo[key], self.candidates.get(scored.skeleton.key)
            if old is None or (new is not None and new.criterion < old.criterion):
                self.candidates[scored.skeleton.key] = new
            self.interrupts.check()
            self.tell(stage)

    def again(self) -> None:
        """Begin another pass: skeletons that found no solution may try again, from other starts.

        What was fitted to whole records waits for what this pass brings so far; first parts screen again.
        """
        self.pace.again()
        self.candidates = {key: found for key, found in self.candidates.items() if found is not None}
        if self.workers.whole:
            self.waiting, self.candidates, self.workers.whole = self.candidates, {}, False

    def settle(self) -> None:
        """After an interruption: what was fitted to whole records counts more than first parts."""
        if self.waiting:
            self.candidates, self.workers.whole = self.waiting, True

    def widen(self) -> bool:
        """Go on with whole records, if only their first part was used; the best so far come along."""
        if self.prepared.whole is self.prepared.target:
            return False
        best = [Scored(c.equation.skeleton, c.equation, c.criterion) for c in self.leaders()[:KEPT_WHOLE]]
        found: dict[Node, Candidate | None] = {}
        self.workers.whole = True
        try:
            self._solve_into(found, best, Stage.WHOLE)
        except KeyboardInterrupt:
            self.workers.whole = any(found.values())
            self.candidates = found if self.workers.whole else self.candidates
            raise
        if not any(found.values()) and not self.waiting:
            self.workers.whole = False
            return False
        better = {k: c for k, c in self.waiting.items() if c and not _is_as_good(found.get(k), c)}
        self.candidates, self.waiting = {**found, **better}, {}
        return True

    def _solve_into(self, found: dict[Node, Candidate | None], several: list[Scored], stage: Stage) -> None:
        keys = {id(s): replace(s, score=float(self.workers.whole)) for s in several}
        found.update({s.skeleton.key: self.memo[keys[id(s)]] for s in several if keys[id(s)] in self.memo})
        fresh = [s for s in several if keys[id(s)] not in self.memo]
        for scored, candidate in self.workers.judge(fresh):
            self.memo[keys[id(scored)]] = candidate
            found[scored.skeleton.key] = candidate
            self.interrupts.check()
            self.tell(stage)


def _is_as_good(one: Candidate | None, other: Candidate) -> bool:
    return one is not None and one.criterion <= other.criterion
