"""Look for skeletons by their cheap score: random sentences, sums of terms, the latent space."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, zip_longest

import numpy as np

from gode.arrays import Float
from gode.choices import Preset
from gode.data.columns import INPUT
from gode.equation import Equation, Node, Skeleton, parse_skeleton
from gode.equation.tree import STATE, depends_on, is_other, variables
from gode.errors import GrammarError, ModelError
from gode.fitting import Form, fit_constants
from gode.fitting.lasting import lasting
from gode.fitting.prepare import Prepared
from gode.model import LatentSpace, Listing, load_model, open_space
from gode.model.spaces import equation_space
from gode.model.termbook import terms_for
from gode.search.archive import Archive, Stage
from gode.search.assumptions import LASTING
from gode.search.blank import Blank
from gode.search.functions import Completed, function_space, function_terms, random_fillings
from gode.search.interrupts import Interrupts
from gode.search.latent import search_latent
from gode.search.moves import Vocabulary
from gode.search.objective import Objective, ObjectiveConfig
from gode.search.screen import best_sums
from gode.search.sentences import random_skeletons
from gode.search.settings import IMPLICIT, Settings
from gode.units import Unit

COUNTED = 100  # sentences after which the progress is told


@dataclass(frozen=True)
class Region:
    """One grammar to search: its latent space, its terms, its scores, and its share of the effort."""

    space: LatentSpace | Listing
    vocabulary: Vocabulary
    objective: Objective
    reserve: Vocabulary  # more terms, for sums of few of them
    share: float = 1.0
    blank: Blank | None = None  # the equation of a frame, if there is one

    def sentences(self, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
        """Yield the skeletons of `n` random sentences, or all that the grammar has."""
        if self.blank is None:
            drawn = self.space.skeletons or random_skeletons(self.space, n, rng)
            yield from map(self._lasting, drawn) if self.objective.lasting else drawn
        else:
            yield self.blank.skeleton(frozenset())
            yield from random_fillings(self.blank, self.functions, n, rng)

    def _lasting(self, skeleton: Skeleton) -> Skeleton:
        """Return a sentence with the state as a factor of each term that does not vanish where it does."""
        bodies = self.vocabulary.terms_of(skeleton)
        return self.vocabulary.skeleton(frozenset(lasting(body, skeleton.order) for body in bodies))

    @cached_property
    def functions(self) -> list[LatentSpace | Listing | None]:
        """The space of each unknown function of a frame; None where nothing can be drawn."""
        unknowns = self.blank.unknowns if self.blank else ()
        return [function_space(self.space, unknown) if unknown.plain else None for unknown in unknowns]

    @property
    def points(self) -> LatentSpace | Listing | Completed | None:
        """The space in which to climb, None where there is none."""
        if self.blank is None:
            return self.space
        if len(self.functions) != 1 or self.functions[0] is None:
            return None
        return Completed(self.functions[0], self.blank, self.objective.config.order)


def make_regions(
    spaces: Sequence[LatentSpace | Listing],
    prepared: Prepared,
    settings: Settings,
    interrupts: Interrupts,
    blank: Blank | None = None,
    units: Mapping[str, Unit] | None = None,
) -> list[Region]:
    """Return what is searched in each grammar; the second one is implicit and known by residuals only.

    Where what is zero usually stays zero, laws that keep this are sought by themselves, too.

    Args:
        blank: the equation whose unknown functions are sought, where a frame is given.
        units: of the columns as the equation calls them, which it may not mix up.
    """
    most = settings.constants.max_constants
    if prepared.each:
        most = min(most, _affordable(prepared, settings.order))
    config = ObjectiveConfig(
        order=settings.order if blank is None else blank.known.order,
        max_constants=most,
        barred=frozenset(settings.without),
        units=units or {},
        assume=settings.known.assume,
    )
    residual = [p for p in prepared.problems if p.form is Form.RESIDUAL]
    look, part = settings.search, settings.share / prepared.passes
    kinds = [(space, config, look.implicit if number else 1.0) for number, space in enumerate(spaces)]
    if settings.selection.lasting:
        kinds.append((spaces[0], replace(config, assume=(*config.assume, LASTING)), look.lasting))
    regions = []
    for number, (space, kind, share) in enumerate(kinds):
        implicit = 0 < number < len(spaces)
        problems = residual if implicit else prepared.problems
        each = [own for own in prepared.each if own[0].form is Form.RESIDUAL or not implicit]
        objective = Objective(
            problems, config=kind, fit=settings.constants, check=interrupts.check, each=each
        )
        size = settings.budget.vocabulary
        words, more = (
            make_vocabulary(space, objective, prepared.dataset.inputs, n, blank)
            for n in (size, look.reserve * size)
        )
        regions.append(Region(space, words, objective, more, part * share, blank))
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
    space: LatentSpace | Listing,
    objective: Objective,
    inputs: tuple[str, ...],
    size: int,
    blank: Blank | None = None,
) -> Vocabulary:
    """Return the terms of the space's grammar that these data allow, the most frequent first."""
    if blank is not None:
        return _blank_vocabulary(space, objective, inputs, size, blank)
    single: Iterable[Node] = (next(iter(bodies)) for bodies in space.book.ways if len(bodies) == 1)
    others = tuple(name for name in inputs if is_other(name))
    if others:
        single = terms_for(single, others)
    if objective.lasting:
        single = dict.fromkeys(lasting(body, objective.config.order) for body in single)
    absent = {"F"} - set(inputs)
    bodies = [b for b in single if objective.allows(b) and not any(depends_on(b, name) for name in absent)]
    return Vocabulary(tuple(b for b in bodies[:size] if objective.distinguishes(b)), space.grammar.template)


def _blank_vocabulary(
    space: LatentSpace | Listing, objective: Objective, inputs: tuple[str, ...], size: int, blank: Blank
) -> Vocabulary:
    """Return the terms that may stand in the unknown functions of an equation, as many of each."""
    absent, words = {"F"} - set(inputs), []
    for unknown in blank.unknowns:
        terms = (
            term
            for term in function_terms(space, unknown)
            if objective.allows(term.args[0])
            and not variables(term.args[0]) & absent
            and objective.distinguishes(blank.added(term))
        )
        words.append(list(islice(terms, size)))
    mixed = [term for terms in zip_longest(*words) for term in terms if term is not None]
    return Vocabulary(tuple(mixed), space.grammar.template, blank)


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
    effort, objective = settings.budget, region.objective
    library_rng, latent_rng = rng.spawn(2)
    drawn = region.sentences(round(region.share * effort.library), library_rng)
    for number, skeleton in enumerate(drawn):
        objective.score(skeleton)
        if number % COUNTED == COUNTED - 1:
            count(Stage.LIBRARY)
    count(Stage.LIBRARY)
    score_sums(region, settings)
    count(Stage.SUMS)
    space = region.points
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
        budget=round(region.share * effort.latent),
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
        each = objective.each[number] if objective.each else ()
        for bodies in best_sums(region.reserve, problem, settings.budget.sums, objective.fit, highest, each):
            objective.score(region.reserve.skeleton(bodies))


def plainest(region: Region, settings: Settings) -> Iterator[Equation]:
    """Yield the equation that says least, of a constant rate: it has a solution along any data."""
    highest = STATE + "'" * settings.order
    skeleton = parse_skeleton(f"{highest} = C")
    listed = region.blank is not None or region.space.skeletons  # only some equations are to be looked at
    if not listed and region.objective.admits(skeleton):
        problem = region.objective.problems[0]
        found = fit_constants(skeleton, problem, config=region.objective.fit).equation
        if found is not None:
            yield found


def _encoded_guess(objective: Objective, space: LatentSpace | Listing | Completed, text: str) -> list[Float]:
    guess = parse_skeleton(text)
    objective.score(guess)
    try:
        return [np.asarray(space.encode([guess])[0], np.float64)]
    except ModelError:  # this grammar cannot write it
        return []


def encoded_leaders(objective: Objective, space: LatentSpace | Listing | Completed, n: int) -> list[Float]:
    """Return the points of the best `n` skeletons that the space can write."""
    points = []
    for scored in objective.leaders(2 * n):
        try:
            points.append(np.asarray(space.encode([scored.skeleton])[0], np.float64))
        except ModelError:  # written in a way the book does not know
            continue
    return points[:n]
