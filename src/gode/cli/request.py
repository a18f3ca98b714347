"""What a command asks for: the data and the options of a search, as its words give them."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from gode.cli.known import bounds_of, fixed_values, units_of
from gode.errors import EquationError
from gode.tables.cells import split_list
from gode.tables.columns import parts_of
from gode.tables.dataset import DataOptions, check_initial

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.discovery.options import Options
    from gode.tables.runs import Readings


def asked_search(
    read: "Callable[[DataOptions], tuple[Dataset, Readings]]",
    data: DataOptions,
    *,
    order: str | None,
    frame: str | None,
    fix: tuple[str, ...],
    bounds: tuple[str, ...],
    units: tuple[str, ...],
    assume: tuple[str, ...],
    individual: str | None,
    hidden: str | None,
    **choices: object,
) -> "tuple[Dataset, Readings, Options, list[str]]":
    """Return the data and the options of a search as the command gives them, and what to say about them.

    Raises:
        ConfigError, DataError, EquationError: if they do not go together.
    """
    if frame is not None:
        data = named_by_equations(data, [text for text in frame.split(";") if text.strip()])
    of_columns = units_of(units)
    dataset, readings = read(replace(data, column_units=of_columns))
    from gode.discovery.framing import frame_of  # after the files were read: they are slow to import
    from gode.discovery.options import Options
    from gode.equation.frame import order_of
    from gode.search.known import make_known

    known = make_known(frame, fixed_values(fix), bounds_of(bounds), of_columns, assume)
    if frame is not None:
        order = str(max(order_of(tree) for tree in frame_of(known, dataset).trees))
    order = order or ("2" if any(name.endswith("''") for name in dataset.channels) else "1")
    given = Options(**choices)  # type: ignore[arg-type]
    own = individuals_of(individual, dataset)
    options = replace(given, known=known, individual=own, hidden=hidden_of(hidden))
    options = replace(options, order="auto" if order == "auto" else int(order))
    return dataset, readings, options, check_initial(dataset, order)


def _named_by_equation(options: DataOptions, text: str) -> DataOptions:
    """Return the options; an equation of a state that is not called u names its column, if no option does."""
    from gode.equation.system import written_states

    if any(name is not None for name in (options.u, options.states, options.velocity, options.acceleration)):
        return options
    with suppress(EquationError):  # it is read again where its place can be told
        (state,) = written_states([text])
        return options if state == "u" else replace(options, states=state)
    return options


def individuals_of(option: str | None, dataset: "Dataset") -> tuple[str, ...]:
    """Return the constants that each run has for itself: all, auto, or their names.

    Raises:
        ConfigError, DataError: if they cannot be asked for.
    """
    from gode.discovery.framing import individuals_asked

    return individuals_asked(None if option is None else option.split(","), dataset)


def hidden_of(option: str | None) -> int | str | tuple[str, ...]:
    """Return how many states are sought that no column measures: a number, auto, or their names.

    Raises:
        ConfigError: if it is none of these.
    """
    from gode.discovery.hidden import AUTO, hidden_asked

    if option is None:
        return 0
    number = option.strip()
    if number.lstrip("-").isdecimal():
        return hidden_asked(int(number))
    return hidden_asked(number if number == AUTO else split_list(option))


def named_by_equations(options: DataOptions, texts: Sequence[str]) -> DataOptions:
    """Return the options with the states called as in some equations, and a single input F if it is there."""
    from gode.equation.system import written_states

    if len(texts) == 1:
        return _named_by_equation(replace(options, single=True), texts[0])
    called = written_states(texts)
    force = options.force
    if force is not None and len(parts_of(force)) == 1 and any(re.search(r"\bF\b", text) for text in texts):
        force = f"F={force}"
    return replace(options, called=called, force=force)
