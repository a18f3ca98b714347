"""Which constants each run is to have for itself, as a user asks for it."""

from collections.abc import Iterable, Sequence

from gode.data import Dataset
from gode.discovery.constants import is_unnamed
from gode.equation import LawSkeleton
from gode.equation.skeleton import Parameter
from gode.errors import ConfigError, DataError
from gode.fitting.population import ALL, CHOSEN, own_places


def individuals_asked(individual: object, dataset: Dataset) -> tuple[str, ...]:
    """Return the constants that each run is to have for itself: none, all, auto, or their names.

    Raises:
        ConfigError: if it is neither of these.
        DataError: if there is only one run.
    """
    if individual is None or individual is False or individual == ():
        return ()
    if individual is True:
        wanted: tuple[object, ...] = ALL
    elif isinstance(individual, str):
        wanted = (individual,)
    else:
        wanted = tuple(individual) if isinstance(individual, Iterable) else (individual,)
    if not wanted or not all(isinstance(name, str) and name for name in wanted):
        raise ConfigError(
            f"individual must be True, 'auto' or names of constants such as ['K'], got {individual!r}"
        )
    if len(dataset.runs) < 2:
        raise DataError(
            "individual= gives each run constants of its own, but there is only one; pass lists of arrays, "
            "one for each run, or name the column that tells runs apart (--runs)"
        )
    return tuple(str(name) for name in wanted)


def check_names(individual: Sequence[str], parameters: Sequence[Parameter]) -> None:
    """Raise ConfigError if a name is none of the constants of an equation or a frame."""
    if not individual or tuple(individual) in (ALL, CHOSEN):
        return
    names = [parameter.name for parameter in parameters if not is_unnamed(parameter.name)]
    for name in individual:
        if name not in names:
            known = f"its named constants are {', '.join(names)}" if names else "it has no named constants"
            raise ConfigError(
                f"individual= names {name!r}, which is no constant of the equation: {known}; "
                "name some of them, or give individual=True"
            )


def check_enough(dataset: Dataset, skeleton: LawSkeleton, individual: Sequence[str]) -> None:
    """Raise DataError if a run has too few values for constants of its own, and say which."""
    if not individual:
        return
    check_names(individual, skeleton.parameters)
    own, starts = len(own_places(skeleton, individual)), sum(skeleton.orders)
    for i in range(len(dataset.runs)):
        alone = dataset.of_runs([i]).n_observed
        if alone < own + starts and individual != CHOSEN:
            raise DataError(
                f"{dataset.name_of(i)} has {alone} values, too few for {own} constants and {starts} initial "
                f"value{'s' if starts > 1 else ''} of its own; drop it, or let fewer constants be individual"
            )
