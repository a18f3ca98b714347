"""Fit the best skeletons and their neighbours to the trajectory."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gode.arrays import Float, Rows, rows_of
from gode.equation import Equation, Skeleton
from gode.fitting import fit_constants
from gode.fitting.smoothed_fit import fit_each
from gode.fitting.trajectory_fit import start_error
from gode.search.archive import Archive, Key, Stage
from gode.search.cheap import Objective, Scored
from gode.search.explore import Region
from gode.search.simplify import expanded, rounded
from gode.search.templates import borrowed, deletions, neighbours
from gode.selection import Candidate

# Where each run has constants of its own, it is smoothed by itself and poorly, and so many times as many
# skeletons go to the trajectory; set by hand.
WIDER = 3
WHITE = 0.8  # Residuals count as white if at least this fraction of them is independent; set by hand.


@dataclass(frozen=True)
class Search:
    """The search for the equation of one state: where it looked, and what fits that state alone."""

    regions: Sequence[Region]
    archive: Archive


def refine(regions: Sequence[Region], archive: Archive) -> None:
    """Fit the best of every size to the trajectory, then their neighbours, until nothing gets better."""
    effort = archive.settings.budget
    _solve_best(regions, archive)
    _spread_out(regions, archive, round(regions[0].effort * effort.rounds), effort.per_round)
    if archive.widen() and effort.rounds:
        _spread_out(regions, archive, 1, effort.per_round // 2)
    _try_parts(regions, archive)
    _simplify(regions, archive)
    leaders = archive.leaders()[: archive.settings.search.completed]
    far = [c for c in leaders if c.rms > archive.settings.shooting.far]
    archive.improve([c.equation for c in far], Stage.DIGITS)


def glance(regions: Sequence[Region], archive: Archive) -> None:
    """Fit to the trajectory what is near the best by the cheap score; of one state, all a step away, too."""
    effort, margin = archive.settings.budget, archive.settings.search.nearby
    for number, region in enumerate(regions):
        wanted = max(round(region.effort * effort.per_size), 1)
        _solve_scored(region.objective.near(wanted, margin), number, archive)


def step_away(regions: Sequence[Region], archive: Archive) -> None:
    """Fit to the trajectory what is one step away from the leaders, then their simpler forms.

    The law that then leads may be none of these leaders, so what is a step away from it follows.
    """
    limit = archive.settings.budget.per_round
    _spread_out(regions, archive, 1, limit)
    archive.widen()
    _simplify(regions, archive)
    while (order := archive.settled()) and order[0].equation.skeleton.key not in archive.expanded:
        archive.expanded.add(order[0].equation.skeleton.key)
        _expand(order[0], regions, archive, limit)
        _simplify(regions, archive)


def _solve_best(regions: Sequence[Region], archive: Archive) -> None:
    """Fit the best of every size by the cheap score to the trajectory."""
    for number, region in enumerate(regions):
        wanted = archive.settings.budget.per_size * (WIDER if region.objective.run_problems else 1)
        _solve_scored(region.objective.best(max(round(region.effort * wanted), 1)), number, archive)


def _solve_scored(chosen: Sequence[Scored], region: int, archive: Archive) -> None:
    """Fit some of the equations that were scored in a region, which has this number, to the trajectory."""
    for scored in chosen:
        archive.homes.setdefault(scored.skeleton.key, region)
    rows: dict[Key, Rows] = {scored.skeleton.key: scored.rows for scored in chosen}
    archive.solve([scored.equation for scored in chosen], Stage.TRAJECTORIES, each=rows)


def _spread_out(regions: Sequence[Region], archive: Archive, rounds: int, limit: int) -> None:
    """Go from the leaders on the trajectory to their neighbours, some rounds or until none is new."""
    for _ in range(rounds):
        waiting = [c for c in archive.leaders()[:4] if c.equation.skeleton.key not in archive.expanded]
        if not waiting:
            break
        for leader in waiting[:2]:
            archive.expanded.add(leader.equation.skeleton.key)
            _expand(leader, regions, archive, limit)


def _try_parts(regions: Sequence[Region], archive: Archive) -> None:
    """Fit all sums of fewer terms of the leaders, where residuals are correlated.

    Until then they were compared as if white, under which small terms that follow the systematic errors of a
    measurement seem to be worth their price.
    """
    order = archive.settled() if archive.settings.budget.rounds else []
    if not order or order[0].independent > WHITE * order[0].n_values:
        return
    for leader in order[: archive.settings.search.pruned]:
        region = regions[archive.homes[leader.equation.skeleton.key]]
        bodies = sorted(region.template.terms_of(leader.single.skeleton))
        parts = [
            region.template.skeleton(frozenset(chosen))
            for size in range(len(bodies) - 1, 0, -1)
            for chosen in combinations(bodies, size)
        ]
        fresh = [p for p in parts if p.key not in archive.candidates and region.objective.admits(p)]
        for part in fresh:
            archive.homes.setdefault(part.key, archive.homes[leader.equation.skeleton.key])
        starts = [better_start(part, leader.single, region.objective, archive) for part in fresh]
        archive.solve(starts, Stage.NEIGHBOURS)


def _simplify(regions: Sequence[Region], archive: Archive) -> None:
    """Fit the leaders with short series for terms with inner constants, then with round exponents."""
    for number, region in enumerate(regions):
        for simpler in (_in_series, _with_round_exponents):
            here = [c for c in archive.settled() if archive.homes[c.equation.skeleton.key] == number]
            leaders = [c for c in here[: archive.settings.search.completed] if c.own is None]
            chosen = [e for c in leaders for e in simpler(c.single, c.errors, region)]
            for equation in chosen:
                archive.homes.setdefault(equation.skeleton.key, number)
            archive.solve(chosen, Stage.NEIGHBOURS)


def simpler_forms(equation: Equation, errors: Float, region: Region) -> list[Equation]:
    """Return the forms of a fitted equation that are admitted with short series or round exponents."""
    return [*_in_series(equation, errors, region), *_with_round_exponents(equation, errors, region)]


def _in_series(equation: Equation, errors: Float, region: Region) -> list[Equation]:
    """Return the equation with short series for terms with inner constants, where they are admitted."""
    forms = expanded(equation, region.vocabulary, region.objective.problems[0].columns)
    return [form for form in forms if region.objective.admits(form.skeleton)]


def _with_round_exponents(equation: Equation, errors: Float, region: Region) -> list[Equation]:
    """Return the equation with round exponents, where its errors allow them."""
    forms = rounded(equation, errors, region.template)
    return [form for form in forms if region.objective.admits(form.skeleton)]


def _expand(leader: Candidate, regions: Sequence[Region], archive: Archive, limit: int) -> None:
    """Fit to the trajectory the neighbours of a good equation that the cheap score likes, and its parts."""
    skeleton = leader.single.skeleton
    home = archive.homes[skeleton.key]
    objective = regions[home].objective
    chosen: list[Equation] = []
    rows: dict[Key, Rows] = {}
    for near in good_neighbours(skeleton, regions[home], archive, limit):
        if near.key not in archive.candidates:
            archive.homes.setdefault(near.key, home)
            if objective.run_problems:
                rows[near.key] = better_rows(near, leader, objective, archive)
                chosen.append(Equation(near, tuple(np.median(rows[near.key], axis=0).tolist())))
            else:
                chosen.append(better_start(near, leader.single, objective, archive))
    archive.solve(chosen, Stage.NEIGHBOURS, each=rows)


def good_neighbours(skeleton: Skeleton, region: Region, archive: Archive, limit: int) -> list[Skeleton]:
    """Return the sums with a term less, and the best by the cheap score with one less, more or another."""
    objective, template = region.objective, region.template
    bodies = template.terms_of(skeleton)
    near_ones = neighbours(bodies, region.vocabulary.bodies)
    others = [template.skeleton(b) for b in near_ones if len(b) <= archive.settings.search.max_terms]
    before = objective.n_fitted
    scores = [(objective.score(s), i) for i, s in enumerate(others)]
    archive.n_fitted += objective.n_fitted - before
    best = [others[i] for score, i in sorted(scores)[:limit] if np.isfinite(score)]
    return [*with_a_term_less(skeleton, region), *best]


def with_a_term_less(skeleton: Skeleton, region: Region) -> list[Skeleton]:
    """Return the sums that are admitted with one of the terms left out."""
    parts = map(region.template.skeleton, deletions(region.template.terms_of(skeleton)))
    return [part for part in parts if region.objective.admits(part)]


def better_rows(near: Skeleton, leader: Candidate, objective: Objective, archive: Archive) -> Rows:
    """Return the better start of each run for a neighbour: its cheap fit, or the constants of the leader."""
    cheap = fit_each(near, objective.run_problems[0], config=objective.fit)
    other = cheap.equation.constants if cheap else [1.0] * near.n_constants
    laws = [leader.law_of(i).equations[0] for i in range(len(leader.initial))]
    table = np.array([borrowed(objective.template, near, law, other).constants for law in laws])
    if cheap is not None and len(cheap.table) == len(table):  # only some of many runs have a cheap fit
        config, target = archive.settings.shooting, archive.target
        for i, (row, lent) in enumerate(zip(cheap.table, table, strict=True)):
            starts = [Equation(near, tuple(numbers.tolist())) for numbers in (lent, row)]
            one_run = target.of_run(i)
            table[i] = min(starts, key=lambda e: start_error(e, one_run, config=config)).constants
    return rows_of(table)


def better_start(near: Skeleton, leader: Equation, objective: Objective, archive: Archive) -> Equation:
    """Return the better start for a neighbour: its cheap fit, or the constants of the equation it is near."""
    archive.interrupts.check()
    cheap = fit_constants(near, objective.problems[0], config=objective.fit).equation
    other = borrowed(objective.template, near, leader, cheap.constants if cheap else [1.0] * near.n_constants)
    starts = [other] if cheap is None else [cheap, other]
    config = archive.settings.shooting
    return min(starts, key=lambda e: start_error(e, archive.target, config=config))
