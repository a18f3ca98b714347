"""Look for skeletons by their cheap score: random sentences, sums of terms, the latent space."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.choices import Preset
from gode.equation import Node, Skeleton, parse_skeleton
from gode.equation.tree import STATE, depends_on, is_other
from gode.errors import EquationError, GrammarError, ModelError
from gode.fitting import Form
from gode.fitting.prepare import Prepared
from gode.grammar import generate, sample
from gode.library import sentence_skeleton
from gode.model import LatentSpace, Listing, load_model, open_space
from gode.model.terms import terms_for
from gode.model.views import equation_space
from gode.search.archive import Archive, Stage
from gode.search.interrupts import Interrupts
from gode.search.latent import search_latent
from gode.search.moves import Vocabulary
from gode.search.objective import Objective, ObjectiveConfig
from gode.search.screen import best_sums
from gode.search.settings import IMPLICIT, INPUT, Settings

COUNTED = 100  # sentences after which the progress is told


@dataclass(frozen=True)
class Region:
    """One grammar to search: its latent space, its terms, its scores, and its share of the effort."""

    space: LatentSpace | Listing
    vocabulary: Vocabulary
    objective: Objective
    reserve: Vocabulary  # more terms, for sums of few of them
    share: float = 1.0


def make_regions(
    spaces: Sequence[LatentSpace | Listing], prepared: Prepared, settings: Settings, interrupts: Interrupts
) -> list[Region]:
    """Return what is searched in each grammar; the second one is implicit and known by residuals only."""
    config = ObjectiveConfig(
        order=settings.order,
        max_constants=settings.constants.max_constants,
        barred=frozenset(settings.without),
    )
    residual = [p for p in prepared.problems if p.form is Form.RESIDUAL]
    look, part = settings.search, settings.share / prepared.passes
    regions = []
    for number, space in enumerate(spaces):
        problems = residual if number else prepared.problems
        objective = Objective(problems, config=config, fit=settings.constants, check=interrupts.check)
        size = settings.budget.vocabulary
        words, more = (
            make_vocabulary(space, objective, prepared.dataset.inputs, n) for n in (size, look.reserve * size)
        )
        share = part * (look.implicit if number else 1.0)
        regions.append(Region(space, words, objective, more, share))
    return regions


def spaces_of(settings: Settings, inputs: tuple[str, ...]) -> list[LatentSpace | Listing]:
    """Return the space of the grammar, and that of implicit equations where one is left and wanted."""
    spaces = [_space(settings.grammar, settings, inputs)]
    if settings.implicit:
        known = load_model(IMPLICIT).grammar.terminals
        fewer = replace(settings, without=tuple(word for word in settings.without if word in known))
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


def make_vocabulary(
    space: LatentSpace | Listing, objective: Objective, inputs: tuple[str, ...], size: int
) -> Vocabulary:
    """Return the terms of the space's grammar that these data allow, the most frequent first."""
    single: Iterable[Node] = (next(iter(bodies)) for bodies in space.book.ways if len(bodies) == 1)
    others = tuple(name for name in inputs if is_other(name))
    if others:
        single = terms_for(single, others)
    absent = {"F"} - set(inputs)
    bodies = [b for b in single if objective.allows(b) and not any(depends_on(b, name) for name in absent)]
    return Vocabulary(tuple(b for b in bodies[:size] if objective.distinguishes(b)), space.grammar.template)


def explore(regions: Sequence[Region], archive: Archive, rng: np.random.Generator) -> None:
    """Look for skeletons by their cheap score in each grammar: sentences, sums, the latent space."""
    for region, own_rng in zip(regions, rng.spawn(len(regions)), strict=True):
        before = archive.n_fitted

        def count(stage: Stage, objective: Objective = region.objective, before: int = before) -> None:
            archive.n_fitted = before + objective.n_fitted
            if stage is Stage.SUMS:
                archive.interrupts.enough()
            archive.tell(stage)

        _explore(region, archive.settings, own_rng, count)


def _explore(
    region: Region, settings: Settings, rng: np.random.Generator, count: Callable[[Stage], None]
) -> None:
    effort, objective, space = settings.budget, region.objective, region.space
    library_rng, latent_rng = rng.spawn(2)
    drawn = random_skeletons(space, round(region.share * effort.library), library_rng)
    for number, skeleton in enumerate(space.skeletons or drawn):
        objective.score(skeleton)
        if number % COUNTED == COUNTED - 1:
            count(Stage.LIBRARY)
    count(Stage.LIBRARY)
    score_sums(region, settings)
    count(Stage.SUMS)
    starts = [np.zeros(space.dimension)]
    if settings.start:
        starts = [*_encoded_guess(objective, space, settings.start), *starts]
    starts += encoded_leaders(objective, space, effort.climbers)
    search_latent(
        objective,
        space,
        starts,
        budget=round(region.share * effort.latent),
        config=settings.latent,
        rng=latent_rng,
        on_step=lambda: count(Stage.LATENT),
    )


def score_sums(region: Region, settings: Settings) -> None:
    """Score the best sums of few terms."""
    objective = region.objective
    for problem in (p for p in objective.problems if p.form is objective.problems[0].form):
        for bodies in best_sums(region.reserve, problem, settings.budget.sums, objective.fit):
            objective.score(region.reserve.skeleton(bodies))


def random_skeletons(space: LatentSpace | Listing, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
    """Yield the skeletons of `n` random sentences of the grammar."""
    limit = max(space.grammar.limit, space.grammar.closing_length(space.grammar.start))
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
