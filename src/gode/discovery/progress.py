"""Progress: the equations fitted to the trajectory so far. It survives an interruption."""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from gode.discovery.interrupts import Interrupts
from gode.discovery.prepare import Prepared
from gode.discovery.settings import Settings
from gode.discovery.workers import Workers
from gode.equation import Node
from gode.search import Scored
from gode.selection import Candidate, in_order

PATIENT = 2.0  # marks the fits that were completed
KEPT_WHOLE = 12  # equations that go from the first part of a long record to all of it


@dataclass(frozen=True)
class Step:
    """What is being done now, for a progress line."""

    stage: str
    n_fitted: int
    n_solved: int
    best: str


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
    homes: dict[Node, int] = field(default_factory=dict)  # in which grammar each skeleton was found
    n_fitted: int = 0

    def tell(self, stage: str) -> None:
        """Report where the discovery stands."""
        if self.on_step:
            order = self.leaders()
            best = str(order[0].equation) if order else ""
            self.on_step(Step(stage, self.n_fitted, len(self.candidates), best))

    def leaders(self) -> list[Candidate]:
        """Return the candidates, the best first as if all residuals were white: that leads to accuracy."""
        return in_order([c for c in self.candidates.values() if c is not None])

    def solve(self, several: Sequence[Scored], stage: str) -> None:
        """Fit skeletons to the trajectory, each once."""
        fresh: dict[Node, Scored] = {}
        for scored in several:
            if scored.skeleton.key not in self.candidates:
                fresh.setdefault(scored.skeleton.key, scored)
        self._solve_into(self.candidates, list(fresh.values()), stage)

    def improve(self, several: Sequence[Scored], stage: str) -> None:
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

    def forget_failures(self) -> None:
        """Let skeletons that found no solution try again, from other starts."""
        self.candidates = {key: found for key, found in self.candidates.items() if found is not None}

    def widen(self) -> bool:
        """Go on with whole records, if only their first part was used; the best so far come along."""
        if self.prepared.whole is self.prepared.target:
            return False
        best = [Scored(c.equation.skeleton, c.equation, c.criterion) for c in self.leaders()[:KEPT_WHOLE]]
        found: dict[Node, Candidate | None] = {}
        self.workers.whole = True
        self._solve_into(found, best, "whole records")
        if not any(found.values()):
            self.workers.whole = False
            return False
        self.candidates = found
        return True

    def _solve_into(self, found: dict[Node, Candidate | None], several: list[Scored], stage: str) -> None:
        keys = {id(s): replace(s, score=float(self.workers.whole)) for s in several}
        found.update({s.skeleton.key: self.memo[keys[id(s)]] for s in several if keys[id(s)] in self.memo})
        fresh = [s for s in several if keys[id(s)] not in self.memo]
        for scored, candidate in self.workers.judge(fresh):
            self.memo[keys[id(scored)]] = candidate
            found[scored.skeleton.key] = candidate
            self.interrupts.check()
            self.tell(stage)
