"""The stages of a discovery: cheap search, the trajectory, moves on the trajectory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.discovery.progress import Progress, Stage
from gode.discovery.settings import Settings
from gode.equation import Equation, Node, Skeleton, parse_skeleton
from gode.equation.tree import depends_on
from gode.errors import EquationError, ModelError
from gode.fitting import fit_constants
from gode.fitting.shooting import start_error
from gode.grammar import generate, sample
from gode.library import sentence_skeleton
from gode.model import LatentSpace, Listing
from gode.search import Objective, Scored, Vocabulary, neighbours, search_latent
from gode.search.moves import borrowed, deletions, rounded, unbent, without_factors
from gode.search.screen import best_sums
from gode.selection import Candidate, is_misfit, ranked

MAX_TERMS = 6
COUNTED = 100  # sentences after which the progress is told
POLISHED = 3  # leaders whose parts are tried last of all
MAX_RULES = 40  # of a random sentence
FACTORS = 2  # that may be left out of one equation
WITHIN = 15.0  # of the best criterion: what may come first with constants less


@dataclass(frozen=True)
class Territory:
    """One grammar to search: its latent space, its terms, its scores, and its share of the effort."""

    space: LatentSpace | Listing
    vocabulary: Vocabulary
    objective: Objective
    reserve: Vocabulary  # more terms: for sums, and for data that these do not explain
    share: float = 1.0


def make_vocabulary(
    space: LatentSpace | Listing, objective: Objective, inputs: tuple[str, ...], size: int
) -> Vocabulary:
    """Return the terms of the space's grammar that these data allow, the most frequent first."""
    single = (next(iter(bodies)) for bodies in space.book.ways if len(bodies) == 1)
    absent = {"F"} - set(inputs)
    bodies = [b for b in single if objective.allows(b) and not any(depends_on(b, name) for name in absent)]
    return Vocabulary(tuple(b for b in bodies[:size] if objective.distinguishes(b)), space.grammar.template)


def explore(territories: Sequence[Territory], progress: Progress, rng: np.random.Generator) -> None:
    """Look for skeletons by their cheap score in each grammar: sentences, sums, the latent space, moves."""
    for land, own_rng in zip(territories, rng.spawn(len(territories)), strict=True):
        before = progress.n_fitted

        def count(stage: Stage, objective: Objective = land.objective, before: int = before) -> None:
            progress.n_fitted = before + objective.n_fitted
            if stage is Stage.SUMS:
                progress.interrupts.enough()
            progress.tell(stage)

        _explore(land, progress.settings, own_rng, count)


def _explore(
    land: Territory, settings: Settings, rng: np.random.Generator, count: Callable[[Stage], None]
) -> None:
    effort, objective, space = settings.budget, land.objective, land.space
    library_rng, latent_rng = rng.spawn(2)
    drawn = random_skeletons(space, round(land.share * effort.library), library_rng)
    for number, skeleton in enumerate(space.skeletons or drawn):
        objective.score(skeleton)
        if number % COUNTED == COUNTED - 1:
            count(Stage.LIBRARY)
    count(Stage.LIBRARY)
    for problem in (p for p in objective.problems if p.form is objective.problems[0].form):
        for bodies in best_sums(land.reserve, problem, effort.sums, objective.fit):
            objective.score(land.reserve.skeleton(bodies))
    count(Stage.SUMS)
    starts = [np.zeros(space.dimension)]
    if settings.start:
        starts = [*_encoded_guess(objective, space, settings.start), *starts]
    starts += encoded_leaders(objective, space, effort.climbers)
    search_latent(
        objective,
        space,
        starts,
        budget=round(land.share * effort.latent),
        config=settings.latent,
        rng=latent_rng,
        on_step=lambda: count(Stage.LATENT),
    )
    _climb(land, round(land.share * effort.moves), count)


def refine(territories: Sequence[Territory], progress: Progress) -> None:
    """Fit the best of every size to the trajectory, then their neighbours, until nothing gets better.

    Where even the best leave more than noise, rarer terms are tried as neighbours, too.
    """
    effort = progress.settings.budget
    _solve_best(territories, progress)
    _spread_out(territories, progress, round(territories[0].share * effort.rounds), effort.per_round)
    found = ranked(progress.leaders())
    if found and is_misfit(found):
        larger = [replace(land, vocabulary=land.reserve) for land in territories]
        _spread_out(larger, progress, -(-effort.rounds // 4), effort.per_round)
    if progress.widen() and effort.rounds:
        _spread_out(territories, progress, 1, effort.per_round // 2)
    for leader in progress.leaders()[: POLISHED if effort.rounds else 0]:
        _expand(leader, territories, progress, 0)
    far = [c for c in progress.leaders()[: 2 * POLISHED] if c.rms > progress.settings.shooting.far]
    progress.improve([Scored(c.equation.skeleton, c.equation, 0.0) for c in far], Stage.DIGITS)
    for _ in range(FACTORS if effort.rounds else 0):
        _leave_out_factors(territories, progress)


def _solve_best(territories: Sequence[Territory], progress: Progress) -> None:
    """Fit the best of every size by the cheap score to the trajectory."""
    for number, land in enumerate(territories):
        chosen = land.objective.best(max(round(land.share * progress.settings.budget.per_size), 1))
        for scored in chosen:
            progress.homes.setdefault(scored.skeleton.key, number)
        progress.solve(chosen, Stage.TRAJECTORIES)


def _spread_out(territories: Sequence[Territory], progress: Progress, rounds: int, limit: int) -> None:
    """Go from the leaders on the trajectory to their neighbours, some rounds or until none is new."""
    expanded: set[Node] = set()
    for _ in range(rounds):
        waiting = [c for c in progress.leaders()[:4] if c.equation.skeleton.key not in expanded]
        if not waiting:
            break
        for leader in waiting[:2]:
            expanded.add(leader.equation.skeleton.key)
            _expand(leader, territories, progress, limit)


def _leave_out_factors(territories: Sequence[Territory], progress: Progress) -> None:
    """Fit the leaders without a factor near one, which costs less than a fitted one."""
    leaders = progress.leaders()
    reach = leaders[0].criterion + WITHIN if leaders else 0.0
    near = [c for c in leaders if c.criterion <= reach]
    chosen = []
    for leader in near:
        home = progress.homes[leader.equation.skeleton.key]
        for plain in without_factors(leader.equation, leader.errors):
            if territories[home].objective.admits(plain.skeleton):
                progress.homes.setdefault(plain.skeleton.key, home)
                chosen.append(Scored(plain.skeleton, plain, 0.0))
    progress.solve(chosen, Stage.FACTORS)


def random_skeletons(space: LatentSpace | Listing, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
    """Yield the skeletons of `n` random sentences of the grammar."""
    limit = max(MAX_RULES, space.grammar.closing_length(space.grammar.start))
    for _ in range(n):
        tokens = generate(space.grammar, sample(space.grammar, rng=rng, max_rules=limit))
        try:
            yield sentence_skeleton(space.grammar, tokens)
        except EquationError:  # a third derivative
            continue


def _encoded_guess(objective: Objective, space: LatentSpace | Listing, text: str) -> list[Float]:
    guess = parse_skeleton(text)
    objective.score(guess)
    try:
        return [np.asarray(space.encode([guess])[0], np.float64)]
    except ModelError:  # this grammar cannot write it
        return []


def encoded_leaders(objective: Objective, space: LatentSpace | Listing, n: int) -> list[Float]:
    """Return the points of the best `n` skeletons that the space can write."""
    points = []
    for scored in objective.leaders(2 * n):
        try:
            points.append(np.asarray(space.encode([scored.skeleton])[0], np.float64))
        except ModelError:  # written in a way the book does not know
            continue
    return points[:n]


def _climb(land: Territory, budget: int, count: Callable[[Stage], None]) -> None:
    """Go from the best skeletons to their neighbours by the cheap score."""
    objective, vocabulary = land.objective, land.vocabulary
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
        count(Stage.MOVES)


def _expand(leader: Candidate, territories: Sequence[Territory], progress: Progress, limit: int) -> None:
    """Fit to the trajectory the neighbours of a good equation that the cheap score likes, and its parts."""
    skeleton = leader.equation.skeleton
    home = progress.homes[skeleton.key]
    objective, vocabulary = territories[home].objective, territories[home].vocabulary
    bodies = vocabulary.terms_of(skeleton)
    parts = [vocabulary.skeleton(part) for part in (*deletions(bodies), *unbent(bodies))]
    parts = [part for part in parts if objective.admits(part)]
    near_ones = neighbours(bodies, vocabulary.bodies) if limit else ()
    others = [vocabulary.skeleton(b) for b in near_ones if len(b) <= MAX_TERMS]
    before = objective.n_fitted
    scores = [(objective.score(s), i) for i, s in enumerate(others)]
    progress.n_fitted += objective.n_fitted - before
    best = [others[i] for score, i in sorted(scores)[:limit] if np.isfinite(score)]
    chosen = []
    for near in [*parts, *best]:
        if near.key not in progress.candidates:
            progress.homes.setdefault(near.key, home)
            chosen.append(Scored(near, _start(near, leader.equation, objective, progress), 0.0))
    progress.solve(chosen, Stage.NEIGHBOURS)
    whole = [Scored(e.skeleton, e, 0.0) for e in rounded(leader.equation) if objective.admits(e.skeleton)]
    for scored in whole:
        progress.homes.setdefault(scored.skeleton.key, home)
    progress.improve([*whole, *_better_starts(parts, leader, progress)], Stage.NEIGHBOURS)


def _better_starts(parts: Sequence[Skeleton], leader: Candidate, progress: Progress) -> Iterator[Scored]:
    """Yield the parts that were fitted worse than the constants of the whole fit them as they are."""
    config = progress.settings.shooting
    for part in parts:
        known = progress.candidates.get(part.key)
        rms = config.far if known is None else known.rms
        start = borrowed(part, leader.equation, [1.0] * part.n_constants)
        if start_error(start, progress.workers.target, config=config) < rms**2 * leader.n_values:
            yield Scored(part, start, 0.0)


def _start(near: Skeleton, leader: Equation, objective: Objective, progress: Progress) -> Equation:
    """Return the better start for a neighbour: its cheap fit, or the constants of the equation it is near."""
    cheap = fit_constants(near, objective.problems[0], config=objective.fit).equation
    other = borrowed(near, leader, cheap.constants if cheap else [1.0] * near.n_constants)
    starts = [other] if cheap is None else [cheap, other]
    config = progress.settings.shooting
    return min(starts, key=lambda e: start_error(e, progress.workers.target, config=config))
