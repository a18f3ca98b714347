"""What a command asks for: the data and the options of a search, as its words give them."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gode.cli.options import in_python
from gode.errors import EquationError
from gode.tables.column_options import parts_of
from gode.tables.dataset import DataOptions, check_initial

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.discovery.options import Options
    from gode.tables.runs import Readings


def asked_search(
    read: "Callable[[DataOptions], tuple[Dataset, Readings]]",
    data: DataOptions,
    choices: Mapping[str, Any],
) -> "tuple[Dataset, Readings, Options, list[str]]":
    """Return the data and the options of a search as the command gives them, and what to say about them.

    Raises:
        ConfigError, DataError, EquationError: if they do not go together.
    """
    frame = choices["frame"]
    if frame is not None:
        texts = [text.strip() for text in frame.split(";") if text.strip()]
        texts += [f"{name} = {formula}" for name, formula in choices["observe"].items()]
        choices = {**choices, "frame": "; ".join(texts), "observe": {}}
        data = named_by_equations(data, texts)
    dataset, readings = read(data)
    from gode.discovery.framing import (
        frame_of,  # after the files were read: they are slow to import
        individuals_asked,
        with_dose_named,
        with_formulas,
    )
    from gode.discovery.options import chosen_options
    from gode.equation.frame import order_of

    with_formulas(choices["frame"], choices["observe"])  # formulas without equations are refused
    order = choices["order"] or (2 if any(name.endswith("''") for name in dataset.channels) else 1)
    options = chosen_options({**choices, "order": order, "units": data.column_units})
    if frame is not None:
        dataset = with_dose_named(dataset, list(options.known.frame))
        order = max(order_of(tree) for tree in frame_of(options.known, dataset).trees)
    own = individuals_asked(choices["individual"], dataset)
    options = replace(options, order=order, individual=own)
    return dataset, readings, options, check_initial(dataset, str(order))


def parted(given: Mapping[str, object]) -> tuple[DataOptions, dict[str, Any]]:
    """Return the options of a command that are about data, and the others, as they are in Python.

    Raises:
        ConfigError: if a word cannot be read.
    """
    values = in_python(given)
    data = {name: values.pop(name) for name in DataOptions.__dataclass_fields__ if name in values}
    return DataOptions(**data, column_units=values.pop("units")), values


def _named_by_equation(options: DataOptions, text: str) -> DataOptions:
    """Return the options; an equation of a state that is not called u names its column, if no option does."""
    from gode.equation.system import written_states

    if any(name is not None for name in (options.u, options.states, options.velocity, options.acceleration)):
        return options
    with suppress(EquationError):  # it is read again where its place can be told
        (state,) = written_states([text])
        return options if state == "u" else replace(options, states=state)
    return options


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
