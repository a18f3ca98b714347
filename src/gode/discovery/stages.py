"""The stages of a discovery: cheap search, the trajectory, moves on the trajectory."""

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field

import numpy as np

from gode.discovery.interrupts import Interrupts
from gode.discovery.prepare import Prepared
from gode.discovery.settings import EFFORTS, Effort, Settings
from gode.equation import Node, Skeleton, parse_skeleton
from gode.equation.tree import depends_on
from gode.errors import EquationError, ModelError
from gode.fitting import fit_constants
from gode.fitting.shooting import shoot
from gode.grammar import generate, sample
from gode.library import sentence_skeleton
from gode.model import LatentSpace
from gode.search import Objective, Scored, Vocabulary, neighbours, search_latent
from gode.search.moves import deletions
from gode.selection import Candidate, judge, ranked

MAX_TERMS = 6
MAX_RULES = 40  # of a random sentence


@dataclass(frozen=True)
class Step:
    """What is being done now, for a progress line."""

    stage: str
    n_fitted: int
    n_solved: int
    best: str


@dataclass
class Progress:
    """The candidates found so far; it survives an interruption."""

    prepared: Prepared
    settings: Settings
    on_step: Callable[[Step], None] | None
    candidates: dict[Node, Candidate | None] = field(default_factory=dict)
    n_fitted: int = 0
    memo: MutableMapping[Scored, Candidate | None] = field(default_factory=dict)  # fits known from before
    interrupts: Interrupts = field(default_factory=Interrupts)

    def tell(self, stage: str) -> None:
        """Report where the discovery stands."""
        if self.on_step:
            order = self.ranked()
            best = str(order[0].equation) if order else ""
            self.on_step(Step(stage, self.n_fitted, len(self.candidates), best))

    def ranked(self) -> list[Candidate]:
        """Return the candidates, the best first."""
        return ranked([c for c in self.candidates.values() if c is not None])

    def solve(self, scored: Scored) -> None:
        """Fit one skeleton to the trajectory, once."""
        key = scored.skeleton.key
        if key not in self.candidates:
            if scored not in self.memo:
                self.interrupts.check()
                target, config = self.prepared.target, self.settings.shooting
                shot = shoot(scored.skeleton, scored.equation.constants, target, config=config)
                self.memo[scored] = judge(shot, self.prepared.floor, self.settings.selection)
            self.candidates[key] = self.memo[scored]


def make_vocabulary(space: LatentSpace, inputs: tuple[str, ...], size: int) -> Vocabulary:
    """Return the terms of the space's grammar that these data allow, the most frequent first."""
    single = (next(iter(bodies)) for bodies in space.book.ways if len(bodies) == 1)
    absent = {"F"} - set(inputs)
    bodies = [b for b in single if not any(depends_on(b, name) for name in absent)]
    return Vocabulary(tuple(bodies[:size]), space.grammar.template)


def explore(
    objective: Objective,
    space: LatentSpace,
    vocabulary: Vocabulary,
    progress: Progress,
    rng: np.random.Generator,
) -> None:
    """Look for skeletons by their cheap score: random sentences, the latent space, moves."""
    effort, settings = _effort(progress), progress.settings
    library_rng, latent_rng = rng.spawn(2)
    for skeleton in _random_sentences(space, effort.library, library_rng):
        objective.score(skeleton)
    _count(objective, progress, "library")
    starts = [np.zeros(space.dimension)]
    if settings.start:
        starts.insert(0, _encoded_guess(objective, space, settings.start))
    starts += _encoded_leaders(objective, space, effort.climbers)
    search_latent(
        objective,
        space,
        starts,
        budget=effort.latent,
        config=settings.latent,
        rng=latent_rng,
        on_step=lambda: _count(objective, progress, "latent space"),
    )
    _climb(objective, vocabulary, effort.moves, progress)


def refine(objective: Objective, vocabulary: Vocabulary, progress: Progress) -> None:
    """Fit the best of every size to the trajectory, then their neighbours, until nothing gets better."""
    effort = _effort(progress)
    for scored in objective.best(effort.per_size):
        progress.solve(scored)
        progress.tell("trajectories")
    expanded: set[Node] = set()
    for _ in range(effort.rounds):
        leaders = [c for c in progress.ranked()[:4] if c.equation.skeleton.key not in expanded]
        if not leaders:
            break
        for leader in leaders[:2]:
            expanded.add(leader.equation.skeleton.key)
            _expand(leader.equation.skeleton, objective, vocabulary, progress, effort.per_round)


def _effort(progress: Progress) -> Effort:
    return EFFORTS[progress.settings.effort]


def _count(objective: Objective, progress: Progress, stage: str) -> None:
    progress.n_fitted = objective.n_fitted
    progress.tell(stage)


def _random_sentences(space: LatentSpace, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
    limit = max(MAX_RULES, space.grammar.closing_length(space.grammar.start))
    for _ in range(n):
        tokens = generate(space.grammar, sample(space.grammar, rng=rng, max_rules=limit))
        try:
            yield sentence_skeleton(space.grammar, tokens)
        except EquationError:  # a third derivative
            continue


def _encoded_guess(objective: Objective, space: LatentSpace, text: str) -> np.ndarray:
    guess = parse_skeleton(text)
    objective.score(guess)
    return np.asarray(space.encode([guess])[0], np.float64)


def _encoded_leaders(objective: Objective, space: LatentSpace, n: int) -> list[np.ndarray]:
    points = []
    for scored in objective.leaders(2 * n):
        try:
            points.append(np.asarray(space.encode([scored.skeleton])[0], np.float64))
        except ModelError:  # written in a way the book does not know
            continue
    return points[:n]


def _climb(objective: Objective, vocabulary: Vocabulary, budget: int, progress: Progress) -> None:
    """Go from the best skeletons to their neighbours by the cheap score."""
    end = objective.n_fitted + budget
    done: set[Node] = set()
    while objective.n_fitted < end:
        waiting = (s for s in objective.leaders(40) if s.skeleton.key not in done)
        scored = next(waiting, None)
        if scored is None:
            break
        done.add(scored.skeleton.key)
        for bodies in neighbours(
            vocabulary.terms_of(scored.skeleton), vocabulary.bodies[: len(vocabulary.bodies) // 2]
        ):
            if len(bodies) <= MAX_TERMS:
                objective.score(vocabulary.skeleton(bodies))
        _count(objective, progress, "moves")


def _expand(
    skeleton: Skeleton, objective: Objective, vocabulary: Vocabulary, progress: Progress, limit: int
) -> None:
    """Fit to the trajectory the neighbours of a good equation that the cheap score likes, and its parts."""
    bodies = vocabulary.terms_of(skeleton)
    parts = [vocabulary.skeleton(part) for part in deletions(bodies)]
    others = [vocabulary.skeleton(b) for b in neighbours(bodies, vocabulary.bodies) if len(b) <= MAX_TERMS]
    scores = [(objective.score(s), i) for i, s in enumerate(others)]
    best = [others[i] for score, i in sorted(scores)[:limit] if np.isfinite(score)]
    for near in [*parts, *best]:
        if near.key not in progress.candidates and objective.admits(near):
            found = fit_constants(near, objective.problems[0], config=objective.fit)
            if found.equation is not None:
                progress.solve(Scored(near, found.equation, 0.0))
    _count(objective, progress, "neighbours")
