"""Fit the best skeletons and their neighbours to the trajectory."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gode.equation import Equation, Node, Skeleton
from gode.fitting import fit_constants
from gode.fitting.shooting import start_error
from gode.search.explore import MAX_TERMS, Region
from gode.search.moves import borrowed, deletions, neighbours, rounded, unbent, without_factors
from gode.search.objective import Objective, Scored
from gode.search.pool import Progress, Stage
from gode.selection import Candidate, is_misfit, ranked

POLISHED = 3  # leaders whose parts are tried last of all
FACTORS = 2  # that may be left out of one equation
WITHIN = 15.0  # of the best criterion: what may come first with constants less


def refine(regions: Sequence[Region], progress: Progress) -> None:
    """Fit the best of every size to the trajectory, then their neighbours, until nothing gets better.

    Where even the best leave more than noise, rarer terms are tried as neighbours, too.
    """
    effort = progress.settings.budget
    _solve_best(regions, progress)
    _spread_out(regions, progress, round(regions[0].share * effort.rounds), effort.per_round)
    found = ranked(progress.leaders())
    if found and is_misfit(found):
        larger = [replace(land, vocabulary=land.reserve) for land in regions]
        _spread_out(larger, progress, -(-effort.rounds // 4), effort.per_round)
    if progress.widen() and effort.rounds:
        _spread_out(regions, progress, 1, effort.per_round // 2)
    for leader in progress.leaders()[: POLISHED if effort.rounds else 0]:
        _expand(leader, regions, progress, 0)
    far = [c for c in progress.leaders()[: 2 * POLISHED] if c.rms > progress.settings.shooting.far]
    progress.improve([Scored(c.equation.skeleton, c.equation, 0.0) for c in far], Stage.DIGITS)
    for _ in range(FACTORS if effort.rounds else 0):
        _leave_out_factors(regions, progress)


def _solve_best(regions: Sequence[Region], progress: Progress) -> None:
    """Fit the best of every size by the cheap score to the trajectory."""
    for number, land in enumerate(regions):
        chosen = land.objective.best(max(round(land.share * progress.settings.budget.per_size), 1))
        for scored in chosen:
            progress.homes.setdefault(scored.skeleton.key, number)
        progress.solve(chosen, Stage.TRAJECTORIES)


def _spread_out(regions: Sequence[Region], progress: Progress, rounds: int, limit: int) -> None:
    """Go from the leaders on the trajectory to their neighbours, some rounds or until none is new."""
    expanded: set[Node] = set()
    for _ in range(rounds):
        waiting = [c for c in progress.leaders()[:4] if c.equation.skeleton.key not in expanded]
        if not waiting:
            break
        for leader in waiting[:2]:
            expanded.add(leader.equation.skeleton.key)
            _expand(leader, regions, progress, limit)


def _leave_out_factors(regions: Sequence[Region], progress: Progress) -> None:
    """Fit the leaders without a factor near one, which costs less than a fitted one."""
    leaders = progress.leaders()
    reach = leaders[0].criterion + WITHIN if leaders else 0.0
    near = [c for c in leaders if c.criterion <= reach]
    chosen = []
    for leader in near:
        home = progress.homes[leader.equation.skeleton.key]
        for plain in without_factors(leader.equation, leader.errors):
            if regions[home].objective.admits(plain.skeleton):
                progress.homes.setdefault(plain.skeleton.key, home)
                chosen.append(Scored(plain.skeleton, plain, 0.0))
    progress.solve(chosen, Stage.FACTORS)


def _expand(leader: Candidate, regions: Sequence[Region], progress: Progress, limit: int) -> None:
    """Fit to the trajectory the neighbours of a good equation that the cheap score likes, and its parts."""
    skeleton = leader.equation.skeleton
    home = progress.homes[skeleton.key]
    objective, vocabulary = regions[home].objective, regions[home].vocabulary
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
