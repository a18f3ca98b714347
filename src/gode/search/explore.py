"""Look for skeletons by their cheap score: random sentences, sums of terms, the latent space."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.choices import Preset
from gode.data.columns import INPUT
from gode.equation import Equation, parse_skeleton
from gode.equation.tree import STATE, is_other
from gode.errors import GrammarError, ModelError
from gode.fitting import Form, fit_constants
from gode.fitting.prepare import Prepared
from gode.model import LatentSpace, Listing, load_model, open_space
from gode.model.latent import equation_space
from gode.search.archive import Archive, Stage
from gode.search.assumptions import KEEPS_ZERO
from gode.search.cheap import Objective, ObjectiveConfig, best_sums
from gode.search.interrupts import Interrupts
from gode.search.latent import search_latent
from gode.search.settings import IMPLICIT, Settings
from gode.search.templates import Points, Template, Vocabulary
from gode.units import Unit

COUNTED = 100  # The progress is reported after so many random sentences.


@dataclass(frozen=True)
class Region:
    """One grammar to search: its latent space, its terms, its scores, and its part of the effort."""

    space: LatentSpace | Listing
    vocabulary: Vocabulary
    objective: Objective
    reserve: Vocabulary  # more terms, for sums of a few of them
    effort: float = 1.0  # the fraction of the effort that is spent on it

    @property
    def template(self) -> Template:
        """What the equations look like."""
        return self.objective.template


def make_regions(
    spaces: Sequence[LatentSpace | Listing],
    prepared: Prepared,
    settings: Settings,
    interrupts: Interrupts,
    template: Template,
    units: Mapping[str, Unit] | None = None,
) -> list[Region]:
    """Return what is searched in each grammar; the second one is implicit and known by residuals only.

    Where what is zero usually stays zero, laws that keep this are sought by themselves, too.

    Args:
        template: what the equations look like; each grammar may fix more of it.
        units: of the columns as the equation calls them, which it may not mix up.
    """
    most = settings.constants.max_constants
    if prepared.each:
        most = min(most, _affordable(prepared, settings.order))
    config = ObjectiveConfig(
        order=template.order,
        max_constants=most,
        barred=frozenset(settings.without),
        units=units or {},
        assume=settings.known.assume,
    )
    residual = [p for p in prepared.problems if p.form is Form.RESIDUAL]
    look = settings.search
    kinds = [(space, config, look.implicit if number else 1.0) for number, space in enumerate(spaces)]
    if settings.selection.lasting:
        kinds.append((spaces[0], replace(config, assume=(*config.assume, KEEPS_ZERO)), look.lasting))
    regions = []
    for number, (space, kind, fraction) in enumerate(kinds):
        implicit = 0 < number < len(spaces)
        problems = residual if implicit else prepared.problems
        by_run = [runs for runs in prepared.each if runs[0].form is Form.RESIDUAL or not implicit]
        here = template.of_space(space, keeps_zero=KEEPS_ZERO in kind.assume)
        objective = Objective(
            problems,
            config=kind,
            fit=settings.constants,
            check=interrupts.check,
            run_problems=by_run,
            template=here,
        )
        size = settings.budget.vocabulary
        inputs = prepared.dataset.inputs
        words = Vocabulary(here.words(space, inputs, objective, size), here)
        wide = here.words(space, inputs, objective, look.reserve * size)
        more = Vocabulary(tuple(dict.fromkeys([*wide, *here.further(space, inputs, objective)])), here)
        regions.append(Region(space, words, objective, more, settings.share * fraction))
    return regions


def _affordable(prepared: Prepared, order: int) -> int:
    """Return the largest number of constants that the values of half of the runs can tell."""
    dataset = prepared.target.dataset
    counts = [dataset.of_runs([i]).n_observed for i in range(len(dataset.runs))]
    return max(int(np.median(counts)) - order - 1, 1)


def spaces_of(settings: Settings, inputs: tuple[str, ...]) -> list[LatentSpace | Listing]:
    """Return the space of the grammar, and that of implicit equations where one is left and wanted."""
    spaces = [_space(settings.grammar, settings, inputs)]
    if settings.implicit:
        words = load_model(IMPLICIT).grammar.terminals
        fewer = replace(settings, without=tuple(word for word in settings.without if word in words))
        with suppress(GrammarError):  # nothing implicit can be written without them
            spaces.append(_space(IMPLICIT, fewer, inputs))
    return spaces


def _space(name: str, settings: Settings, inputs: tuple[str, ...]) -> LatentSpace | Listing:
    space = open_space(name)
    products = settings.preset != Preset.PAPER  # are barred as such: a grammar needs * for factors, too
    unwanted = [word for word in settings.without if not (products and word == "*")]
    if (
        INPUT not in inputs
        and INPUT in space.grammar.terminals
        and "{sentence} = F" not in space.grammar.template
    ):
        unwanted.append(INPUT)
    space = space.without(*unwanted) if unwanted else space
    if any(map(is_other, (*inputs, *space.grammar.terminals))):
        space = equation_space(space, settings.order, (STATE, f"{STATE}'", *inputs))
    return space


def explore(
    regions: Sequence[Region], archive: Archive, rng: np.random.Generator, *, summed: bool = False
) -> None:
    """Look for skeletons by their cheap score in each grammar: sentences, sums, the latent space.

    Args:
        summed: whether the sums have been scored before.
    """
    for region, own_rng in zip(regions, rng.spawn(len(regions)), strict=True):
        before = archive.n_fitted

        def count(stage: Stage, objective: Objective = region.objective, before: int = before) -> None:
            archive.n_fitted = before + objective.n_fitted
            if stage is Stage.SUMS:
                archive.interrupts.enough()
            archive.tell(stage)

        _explore(region, archive.settings, own_rng, count, summed=summed)


def explore_sums(regions: Sequence[Region], archive: Archive) -> None:
    """Look for skeletons among the sums of few terms alone, and at the guess of the user."""
    guess = archive.settings.start
    for region in regions:
        before, fitted = archive.n_fitted, region.objective.n_fitted
        if guess:
            region.objective.score(parse_skeleton(guess))
        score_sums(region, archive.settings)
        archive.n_fitted = before + region.objective.n_fitted - fitted
        archive.tell(Stage.SUMS)


def _explore(
    region: Region,
    settings: Settings,
    rng: np.random.Generator,
    count: Callable[[Stage], None],
    *,
    summed: bool,
) -> None:
    effort, objective = settings.budget, region.objective
    library_rng, latent_rng = rng.spawn(2)
    drawn = region.template.sentences(region.space, round(region.effort * effort.library), library_rng)
    for number, skeleton in enumerate(drawn):
        objective.score(skeleton)
        if number % COUNTED == COUNTED - 1:
            count(Stage.LIBRARY)
    count(Stage.LIBRARY)
    if not summed:
        score_sums(region, settings)
    count(Stage.SUMS)
    space = region.template.points(region.space)
    if space is None:
        return
    starts = [np.zeros(space.dimension)]
    if settings.start:
        starts = [*_encoded_guess(objective, space, settings.start), *starts]
    starts += encoded_leaders(objective, space, effort.climbers)
    search_latent(
        objective,
        space,
        starts,
        budget=round(region.effort * effort.latent),
        config=settings.latent,
        rng=latent_rng,
        on_step=lambda: count(Stage.LATENT),
    )


def score_sums(region: Region, settings: Settings) -> None:
    """Score the best sums of few terms."""
    objective, highest = region.objective, STATE + "'" * settings.order
    for number, problem in enumerate(objective.problems):
        if problem.form is not objective.problems[0].form:
            continue
        by_run = objective.run_problems[number] if objective.run_problems else ()
        for bodies in best_sums(
            region.reserve, problem, settings.budget.sums, objective.fit, highest, by_run
        ):
            objective.score(region.template.skeleton(bodies))


def plainest(region: Region) -> Iterator[Equation]:
    """Yield the equation that says least, of a constant rate: it has a solution along any data."""
    skeleton = region.template.constant_rate()
    listed = region.space.skeletons  # only some equations are to be looked at
    if skeleton is not None and not listed and region.objective.admits(skeleton):
        problem = region.objective.problems[0]
        found = fit_constants(skeleton, problem, config=region.objective.fit).equation
        if found is not None:
            yield found


def _encoded_guess(objective: Objective, space: Points, text: str) -> list[Float]:
    guess = parse_skeleton(text)
    objective.score(guess)
    try:
        return [np.asarray(space.encode([guess])[0], np.float64)]
    except ModelError:  # this grammar cannot write it
        return []


def encoded_leaders(objective: Objective, space: Points, n: int) -> list[Float]:
    """Return the points of the best `n` skeletons that the space can write."""
    points = []
    for scored in objective.leaders(2 * n):
        try:
            points.append(np.asarray(space.encode([scored.skeleton])[0], np.float64))
        except ModelError:  # written in a way the book does not know
            continue
    return points[:n]
