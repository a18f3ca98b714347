"""discover() and fit(): the calls on which everything else is built."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from gode.data import Dataset, Run, make_run
from gode.discovery.paper import discover_by_paper, paper_grammar
from gode.discovery.prepare import prepare
from gode.discovery.result import Discovery
from gode.discovery.settings import EFFORTS, GRAMMARS, Settings
from gode.discovery.stages import Progress, Step, explore, make_vocabulary, refine
from gode.equation import parse_skeleton
from gode.errors import DataError
from gode.fitting import fit_constants
from gode.model import LatentSpace, load_model
from gode.search import Objective, ObjectiveConfig, Scored

INPUT = "F"


def discover(
    t: ArrayLike | Sequence[ArrayLike],
    u: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    velocity: ArrayLike | Sequence[ArrayLike] | None = None,
    acceleration: ArrayLike | Sequence[ArrayLike] | None = None,
    force: object = None,
    order: int = 1,
    initial: ArrayLike | Sequence[ArrayLike] | None = None,
    grammar: str | None = None,
    preset: str = "default",
    effort: str = "normal",
    start: str | None = None,
    without: Sequence[str] = (),
    seed: int = 0,
    on_step: Callable[[Step], None] | None = None,
) -> Discovery:
    """Find the equation of this order behind some measurements.

    Args:
        t: times of one run, or a list of them for several runs; so are all other data.
        u, velocity, acceleration: what was measured, NaN where it was not.
        force: the known input F as samples at `t`, a formula in t, or a callable.
        initial: known initial values, [u(t0)] or [u(t0), u'(t0)].
        grammar: a model that comes with gode, or the path of one made by `gode train`.
        preset: default, or paper for the method of the paper as it was published.
        effort: quick, normal or thorough.
        start: a guess, such as ``u'' = C*u`` or ``C*u'' + C*u = 0``.
        without: symbols that the equation may not have, such as log or t.
        on_step: called with the progress; Ctrl-C returns the best equation so far.

    Raises:
        DataError, ConfigError: with a sentence that says what to do.

    Example:
        >>> d = discover(t, u, order=1)  # doctest: +SKIP
        >>> print(d.equation)  # doctest: +SKIP
    """
    by_paper = preset == "paper"
    usual = paper_grammar(order, forced=force is not None) if by_paper else GRAMMARS.get(order, "")
    settings = Settings(
        order=order,
        grammar=grammar or usual,
        preset=preset,
        effort=effort,
        start=start,
        without=(without,) if isinstance(without, str) else tuple(without),
        seed=seed,
    )
    dataset = make_dataset(t, u, velocity, acceleration, force, initial)
    space = _space(settings, dataset.inputs)
    return (discover_by_paper if by_paper else discover_in)(dataset, space, settings, on_step)


def discover_in(
    dataset: Dataset, space: LatentSpace, settings: Settings, on_step: Callable[[Step], None] | None
) -> Discovery:
    """Find the equation behind `dataset`: smooth, search by cheap scores, decide on the trajectory."""
    rng = np.random.default_rng(settings.seed)
    prepared = prepare(dataset, settings.order, settings.selection.floor)
    config = ObjectiveConfig(order=settings.order, max_constants=settings.constants.max_constants)
    objective = Objective(prepared.problems, config=config, fit=settings.constants)
    vocabulary = make_vocabulary(space, dataset.inputs, EFFORTS[settings.effort].vocabulary)
    progress = Progress(prepared, settings, on_step)
    interrupted = False
    try:
        explore(objective, space, vocabulary, progress, rng)
        refine(objective, vocabulary, progress)
    except KeyboardInterrupt:
        interrupted = True
        for scored in objective.leaders(5) if not progress.ranked() else ():
            progress.solve(scored)
    found = progress.ranked()
    if not found:
        raise DataError(
            "no equation of this grammar can be solved along these data; try another order or grammar"
        )
    return Discovery(found, prepared, settings, objective.n_fitted, interrupted)


def fit(
    equation: str,
    t: ArrayLike | Sequence[ArrayLike],
    u: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    velocity: ArrayLike | Sequence[ArrayLike] | None = None,
    acceleration: ArrayLike | Sequence[ArrayLike] | None = None,
    force: object = None,
    initial: ArrayLike | Sequence[ArrayLike] | None = None,
) -> Discovery:
    """Fit the constants C of an equation to measurements, on the trajectory; see `discover` for the data.

    Example:
        >>> g = fit("C*u'' + C*u' + C*u = F", t, u, force=f)  # doctest: +SKIP
    """
    skeleton = parse_skeleton(equation)
    settings = Settings(order=skeleton.order, grammar="", effort="quick")
    settings = replace(settings, constants=replace(settings.constants, max_constants=60))
    dataset = make_dataset(t, u, velocity, acceleration, force, initial)
    prepared = prepare(dataset, settings.order, settings.selection.floor)
    progress = Progress(prepared, settings, None)
    failure = None
    for problem in prepared.problems:
        found = fit_constants(skeleton, problem, config=settings.constants)
        failure = failure or found.failure
        if found.equation is not None:
            progress.candidates.pop(skeleton.key, None)
            progress.solve(Scored(skeleton, found.equation, 0.0))
            if progress.ranked():
                return Discovery(progress.ranked(), prepared, settings, 1)
    raise DataError(f"{skeleton} cannot be fitted to these data: {failure or 'its solution diverges'}")


def make_dataset(
    t: ArrayLike | Sequence[ArrayLike],
    u: ArrayLike | Sequence[ArrayLike] | None,
    velocity: ArrayLike | Sequence[ArrayLike] | None,
    acceleration: ArrayLike | Sequence[ArrayLike] | None,
    force: object,
    initial: ArrayLike | Sequence[ArrayLike] | None,
) -> Dataset:
    """Return the checked runs of what a user passed: arrays for one run, lists of arrays for several."""
    several = isinstance(t, list | tuple) and len(t) > 0 and np.ndim(t[0]) > 0
    if not several:
        return Dataset((_run(t, u, velocity, acceleration, force, initial, label=""),))
    assert isinstance(t, list | tuple)
    named = {"u": u, "velocity": velocity, "acceleration": acceleration, "force": force, "initial": initial}
    parts = {name: _per_run(values, name, len(t)) for name, values in named.items()}
    runs = [_run(times, *(part[i] for part in parts.values()), label=f"run {i}") for i, times in enumerate(t)]
    return Dataset(tuple(runs))


def _per_run(values: object, name: str, n: int) -> list[object]:
    if values is None or isinstance(values, str) or callable(values):
        return [values] * n
    if not isinstance(values, list | tuple) or len(values) != n:
        raise DataError(f"t holds {n} runs, so {name} must be a list of {n} arrays, one for each run")
    return list(values)


def _run(
    t: object,
    u: object,
    velocity: object,
    acceleration: object,
    force: object,
    initial: object,
    *,
    label: str,
) -> Run:
    inputs = {} if force is None else {INPUT: force}
    return make_run(
        t,  # type: ignore[arg-type]
        u=u,  # type: ignore[arg-type]
        velocity=velocity,  # type: ignore[arg-type]
        acceleration=acceleration,  # type: ignore[arg-type]
        inputs=inputs,
        initial=initial,  # type: ignore[arg-type]
        label=label,
    )


def _space(settings: Settings, inputs: tuple[str, ...]) -> LatentSpace:
    space = load_model(settings.grammar)
    unwanted = list(settings.without)
    if (
        INPUT not in inputs
        and INPUT in space.grammar.terminals
        and "{sentence} = F" not in space.grammar.template
    ):
        unwanted.append(INPUT)
    return space.without(*unwanted) if unwanted else space
