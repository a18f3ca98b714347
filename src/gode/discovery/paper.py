"""The paper's method: its network smooths, CMA-ES searches its latent space, its criterion decides.

What the paper leaves open is listed in docs/method-paper.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.choices import EffortName
from gode.data import Columns, Dataset, MlpConfig, Smooth, columns_of_run, join_runs, smooth, smooth_mlp
from gode.data.mlp import dominant_period
from gode.discovery.paper_objective import Judged, PaperObjective
from gode.discovery.result import Discovery
from gode.equation import Skeleton, parse_skeleton
from gode.errors import ConfigError, DataError, ModelError
from gode.fitting import PaperConfig
from gode.fitting.prepare import Prepared, assemble, input_values, known_values
from gode.fitting.shooting import Shot, shoot
from gode.model import LatentSpace, Listing
from gode.search import EvolutionConfig, evolve
from gode.search.interrupts import Interrupts
from gode.search.pool import Stage, Step
from gode.search.settings import Settings
from gode.selection import Candidate, in_order

EXPLICIT = "u' = {sentence}"  # the template of B1
LISTED = 40  # equations that are reported at most
UNSOLVED = "no equation of this grammar can be solved along these data; try another order or grammar"
RESCUE = 60  # points decoded if the search was interrupted before it found anything


@dataclass(frozen=True, kw_only=True)
class PaperEffort:
    """Which share of the paper's budget is spent."""

    population: float
    runs: int  # independent searches; the paper reports the best of five
    epochs: int  # of the network, of the paper's 10,000
    blind_epochs: int  # the same for accelerations alone, of the paper's 100,000


PAPER_EFFORTS: dict[str, PaperEffort] = {
    EffortName.QUICK: PaperEffort(population=0.3, runs=1, epochs=2_000, blind_epochs=3_000),
    EffortName.NORMAL: PaperEffort(population=1.0, runs=1, epochs=10_000, blind_epochs=10_000),
    EffortName.THOROUGH: PaperEffort(population=1.0, runs=5, epochs=10_000, blind_epochs=100_000),
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the paper searches in one of its benchmarks."""

    population: int
    generations: int
    iterations: int  # of the simplex search for constants
    solving: bool = True  # whether solutions and complexity count, and the search starts at the bias equation


B1 = Plan(population=100, generations=10, iterations=300, solving=False)
B2 = Plan(population=200, generations=10, iterations=500)
B3 = Plan(population=500, generations=5, iterations=500)


def paper_grammar(order: int, *, forced: bool) -> str:
    """Return the paper's model for equations of this order, with a known force or without."""
    return "b3-paper" if forced else ("b1-paper" if order == 1 else "b2-paper")


def discover_by_paper(
    dataset: Dataset,
    space: LatentSpace | Listing,
    settings: Settings,
    interrupts: Interrupts,
    on_step: Callable[[Step], None] | None,
) -> Discovery:
    """Find the equation behind `dataset` by the paper's method."""
    effort, plan = PAPER_EFFORTS[settings.effort], plan_of(space, dataset)
    interrupts.enough()  # it can end at any time
    settings = replace(settings, selection=replace(settings.selection, tie=0.0))  # the paper knows no ties
    start = _start(space, settings, plan)
    smooth_rng, *search_rngs = np.random.default_rng(settings.seed).spawn(1 + effort.runs)
    smooths, interrupted = smoothed(dataset, settings, smooth_rng, interrupts, on_step)
    prepared = prepared_by(smooths, dataset, settings)
    config = PaperConfig(max_constants=settings.constants.max_constants, max_iterations=plan.iterations)
    objective = PaperObjective(
        prepared, order=settings.order, solving=plan.solving, config=config, check=interrupts.check
    )
    if settings.start:
        objective.judge(parse_skeleton(settings.start))
    evolution = EvolutionConfig(
        population=max(int(effort.population * plan.population), 10),
        generations=plan.generations,
        keep_best=plan.solving,
    )

    def score(points: Float) -> list[float]:
        scores = objective.generation(space.decode(points))
        _tell(objective, on_step, Stage.LATENT)
        return scores

    try:
        for rng in [] if interrupted else search_rngs:
            objective.restart()
            evolve(score, start, config=evolution, rng=rng)
    except KeyboardInterrupt:
        interrupted = True
    if interrupted and not objective.best(1):
        points = start + evolution.sigma * search_rngs[0].standard_normal((RESCUE, space.dimension))
        objective.generation(space.decode(points))
    found = decided(objective, settings)
    if not found:
        raise DataError(UNSOLVED)
    late = interrupted and interrupts.timed_out
    return Discovery(found, prepared, settings, objective.n_fitted, interrupted and not late, timed_out=late)


def plan_of(space: LatentSpace | Listing, dataset: Dataset) -> Plan:
    """Return the plan of the benchmark to which the space's equations belong.

    Raises:
        ConfigError: if they need a force and none is known, or there is no space to search.
    """
    if not space.dimension:
        raise ConfigError(
            f"the paper's method searches a latent space, which grammar {space.name} has not; "
            "train one with gode train, or leave preset= as it is"
        )
    template = space.grammar.template
    if template == EXPLICIT:
        return B1
    if template.replace(" ", "").endswith("=F"):
        if not dataset.inputs:
            raise ConfigError(
                f"the equations of grammar {space.name} have a known force; pass force=, or another grammar"
            )
        return B3
    return B2


def smoothed(
    dataset: Dataset,
    settings: Settings,
    rng: np.random.Generator,
    interrupts: Interrupts,
    on_step: Callable[[Step], None] | None,
) -> tuple[tuple[Smooth, ...], bool]:
    """Return the runs smoothed by the paper's network, and whether that was interrupted.

    After an interruption the quick Gaussian process takes over, so that there is a result.
    """
    effort = PAPER_EFFORTS[settings.effort]
    config = MlpConfig(epochs=effort.epochs, blind_epochs=effort.blind_epochs)

    def on_epoch(_: int) -> None:
        interrupts.check()
        if on_step:
            on_step(Step(Stage.SMOOTHING, 0, 0, ""))

    smooths = []
    try:
        for run, run_rng in zip(dataset.runs, rng.spawn(len(dataset.runs)), strict=True):
            forces = [dominant_period(run.t, f) for f in input_values(run, run.t).values()]
            period = max(forces, default=0.0)
            smooths.append(smooth_mlp(run, config=config, rng=run_rng, period=period, on_epoch=on_epoch))
    except KeyboardInterrupt:
        return tuple(smooth(run, known=known_values(run, settings.order)) for run in dataset.runs), True
    return tuple(smooths), False


def prepared_by(smooths: tuple[Smooth, ...], dataset: Dataset, settings: Settings) -> Prepared:
    """Return the data in the forms that stages and reports need, with the network's columns throughout."""
    prepared = assemble(dataset, dataset, smooths, settings.order, settings.selection.floor)
    return replace(prepared, columns=_columns(dataset, smooths))


def decided(objective: PaperObjective, settings: Settings) -> list[Candidate]:
    """Return the best equations, by the paper's criterion, of those that can be solved at all."""
    found: list[Candidate] = []
    for judged in objective.best(objective.n_fitted):
        solved = objective.solved(judged)
        if solved is not None:
            found.append(_candidate(solved, objective, settings))
        if len(found) == LISTED:
            break
    return in_order(found)


def _columns(dataset: Dataset, smooths: tuple[Smooth, ...]) -> Columns:
    pairs = zip(dataset.runs, smooths, strict=True)
    return join_runs([columns_of_run(r.t, *s.values, inputs=input_values(r, r.t)) for r, s in pairs])


def _start(space: LatentSpace | Listing, settings: Settings, plan: Plan) -> Float:
    """Return where the search starts: at the guess, at the bias equation (B2, B3), or at the origin."""
    if settings.start:
        return _encoded(space, parse_skeleton(settings.start))
    if not plan.solving:
        return np.zeros(space.dimension)
    bias = "C*u' + C*u" if settings.order == 1 else "C*u'' + C*u'"
    try:
        return _encoded(space, parse_skeleton(space.grammar.template.replace("{sentence}", bias)))
    except ModelError:  # a grammar of the user's that cannot write it
        return np.zeros(space.dimension)


def _encoded(space: LatentSpace | Listing, skeleton: Skeleton) -> Float:
    return np.asarray(space.encode([skeleton])[0], np.float64)


def _tell(objective: PaperObjective, on_step: Callable[[Step], None] | None, stage: Stage) -> None:
    if on_step:
        best = objective.best(1)
        text = str(best[0].equation) if best else ""
        on_step(Step(stage, objective.n_fitted, objective.n_solved, text))


def _candidate(judged: Judged, objective: PaperObjective, settings: Settings) -> Candidate:
    """Return the candidate of a solved equation; the errors of its constants are those of the trajectory."""
    equation = judged.equation
    fixed = replace(settings.shooting, max_iterations=0, horizons=())  # the constants stay as they are
    shot = shoot(equation.skeleton, equation.constants, objective.prepared.whole, config=fixed)
    covariance, rms = _uncertainty(shot)
    return Candidate(
        equation,
        shot.initial if len(shot.initial) else _initial(objective, settings.order),
        np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        covariance,
        rms,
        equation.complexity,
        judged.score,
    )


def _uncertainty(shot: Shot) -> tuple[Float, float]:
    if shot.equation is None:
        return np.full_like(shot.covariance, np.nan), np.inf
    return shot.covariance, float(np.sqrt(shot.sse / shot.n_values))


def _initial(objective: PaperObjective, order: int) -> Float:
    prepared = objective.prepared
    known = np.array([run.initial[:order] for run in prepared.dataset.runs])
    smooth = np.array([s.values[:order, 0] for s in prepared.smooths])
    return np.asarray(np.where(np.isfinite(known), known, smooth))
