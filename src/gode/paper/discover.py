"""The whole method: its network smooths, CMA-ES searches the latent space, its criterion decides.

What the paper leaves open is listed in docs/method-paper.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.data import Columns, Dataset, Run, Smooth, columns_of_run, join_runs, smooth
from gode.equation import parse_skeleton
from gode.fitting.prepare import Prepared, assemble, input_values, known_values
from gode.fitting.trajectory_fit import shoot
from gode.model import LatentSpace, Listing
from gode.paper.benchmarks_sec3 import PAPER_EFFORTS, PaperEffort, benchmark_of, first_point
from gode.paper.evolution_sec23 import EvolutionConfig, evolve
from gode.paper.losses_eq4_to_9 import PaperConfig
from gode.paper.objective_sec24 import Judged, PaperObjective
from gode.paper.smoothing_sec23 import MlpConfig, dominant_period, smooth_mlp
from gode.search.archive import Stage, Step
from gode.search.interrupts import Interrupts
from gode.search.settings import Settings
from gode.selection import Candidate, in_order

RESCUE = 60  # points decoded if the search was interrupted before it found anything

OnStep = Callable[[Step], None]


@dataclass(frozen=True)
class Found:
    """What the method found, with the data and the settings as it used them."""

    candidates: list[Candidate]  # those that can be solved, best first; there may be none
    prepared: Prepared
    settings: Settings
    n_fitted: int
    interrupted: bool


def discover_by_paper(
    dataset: Dataset,
    space: LatentSpace | Listing,
    settings: Settings,
    interrupts: Interrupts,
    on_step: OnStep | None,
) -> Found:
    """Find the equation behind `dataset` by the paper's method."""
    effort, benchmark = PAPER_EFFORTS[settings.effort], benchmark_of(space, dataset)
    interrupts.enough()  # it can end at any time
    settings = replace(settings, selection=replace(settings.selection, level=0.0))  # the paper knows no ties
    guess = parse_skeleton(settings.start) if settings.start else None
    start = first_point(space, benchmark, settings.order, guess)
    tell = on_step or (lambda step: None)
    smooth_rng, *rngs = np.random.default_rng(settings.seed).spawn(1 + effort.runs)
    smooths, interrupted = smoothed(dataset.runs, settings.order, effort, smooth_rng, interrupts, tell)
    objective = PaperObjective(
        dataset.runs,
        smooths,
        smoothed_columns(dataset.runs, smooths),
        order=settings.order,
        solving=benchmark.solving,
        config=PaperConfig(
            max_constants=settings.constants.max_constants, max_iterations=benchmark.iterations
        ),
        check=interrupts.check,
    )
    objective.judge(guess)
    evolution = benchmark.evolution(effort.population)
    interrupted = interrupted or not searched(objective, space, start, evolution, rngs, tell)
    if interrupted and not objective.best(1):
        points = start + evolution.sigma * rngs[0].standard_normal((RESCUE, space.dimension))
        objective.generation(space.decode(points))
    prepared = assemble(dataset, dataset, smooths, settings.order, settings.selection.floor)
    prepared = replace(prepared, columns=objective.columns)
    candidates = [_candidate(judged, prepared, settings) for judged in objective.decided()]
    return Found(in_order(candidates), prepared, settings, objective.n_fitted, interrupted)


def smoothed(
    runs: Sequence[Run],
    order: int,
    effort: PaperEffort,
    rng: np.random.Generator,
    interrupts: Interrupts,
    tell: OnStep,
) -> tuple[tuple[Smooth, ...], bool]:
    """Return the runs smoothed by the paper's network, and whether that was interrupted.

    After an interruption the quick Gaussian process takes over, so that there is a result.
    """
    config = MlpConfig(epochs=effort.epochs, blind_epochs=effort.blind_epochs)

    def on_epoch(_: int) -> None:
        interrupts.check()
        tell(Step(Stage.SMOOTHING, 0, 0, ""))

    smooths = []
    try:
        for run, run_rng in zip(runs, rng.spawn(len(runs)), strict=True):
            forces = input_values(run, run.t).values()
            period = max((dominant_period(run.t, force) for force in forces), default=0.0)
            smooths.append(smooth_mlp(run, config=config, rng=run_rng, period=period, on_epoch=on_epoch))
    except KeyboardInterrupt:
        return tuple(smooth(run, known=known_values(run, order)) for run in runs), True
    return tuple(smooths), False


def smoothed_columns(runs: Sequence[Run], smooths: Sequence[Smooth]) -> Columns:
    """Return t, the smoothed u, u', u'' and the inputs of all runs."""
    pairs = zip(runs, smooths, strict=True)
    return join_runs([columns_of_run(r.t, *s.values, inputs=input_values(r, r.t)) for r, s in pairs])


def searched(
    objective: PaperObjective,
    space: LatentSpace | Listing,
    start: Float,
    evolution: EvolutionConfig,
    rngs: Sequence[np.random.Generator],
    tell: OnStep,
) -> bool:
    """Search the latent space once with each generator; return whether nothing interrupted it."""

    def score(points: Float) -> list[float]:
        scores = objective.generation(space.decode(points))
        best = "".join(str(judged.equation) for judged in objective.best(1))
        tell(Step(Stage.LATENT, objective.n_fitted, objective.n_solved, best))
        return scores

    try:
        for rng in rngs:
            objective.restart()
            evolve(score, start, config=evolution, rng=rng)
    except KeyboardInterrupt:
        return False
    return True


def _candidate(judged: Judged, prepared: Prepared, settings: Settings) -> Candidate:
    """Return the candidate of a solved equation; the errors of its constants are those of the trajectory."""
    equation = judged.equation
    fixed = replace(settings.shooting, max_iterations=0, segments=1)  # the constants stay as they are
    shot = shoot(equation.skeleton, equation.constants, prepared.whole, config=fixed)
    failed = shot.equation is None
    covariance = np.full_like(shot.covariance, np.nan) if failed else shot.covariance
    return Candidate(
        equation,
        shot.initial if len(shot.initial) else _initial(prepared, settings.order),
        covariance,
        np.inf if failed else float(np.sqrt(shot.sse / shot.n_values)),
        judged.score,
    )


def _initial(prepared: Prepared, order: int) -> Float:
    known = np.array([run.initial[:order] for run in prepared.dataset.runs])
    smooth = np.array([s.values[:order, 0] for s in prepared.smooths])
    return np.asarray(np.where(np.isfinite(known), known, smooth))
