"""The equation or frame that a user gave, in the names of the data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gode.data import Dataset
from gode.equation.fixing import Bounds
from gode.equation.frame import Frame
from gode.equation.parse_frame import parse_frame, split_equations
from gode.equation.tree import STATE
from gode.fitting.views import is_plain
from gode.search.known import Known, Texts
from gode.search.settings import INPUT


def read_frame(
    texts: Texts,
    dataset: Dataset,
    *,
    functions: bool,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
) -> Frame:
    """Return the frame of a text, or of several for several states, whose names are those of the data.

    A single state is called u, or as in the data; so are inputs.

    Args:
        functions: whether unknown functions are allowed.
    """
    single = is_plain(dataset)
    words = " ".join(split_equations(texts))
    inputs = dataset.inputs or ((INPUT,) if single else ())
    called = {name: called_in(name, dataset, words) for name in inputs}
    label = dataset.labels.get(STATE, STATE)
    if len(dataset.states) == 1 and label.isidentifier() and re.search(rf"\b{label}\s*['′]", words):
        called[dataset.states[0]] = label
    return parse_frame(
        texts,
        states=dataset.states,
        inputs=inputs,
        called=called,
        single=single,
        functions=functions,
        fixed=fixed,
        bounds=bounds,
    )


def frame_of(known: Known, dataset: Dataset) -> Frame:
    """Return the frame that a user gave for these data."""
    return read_frame(
        list(known.frame), dataset, functions=True, fixed=dict(known.fixed), bounds=known.limits
    )


def called_in(name: str, dataset: Dataset, words: str) -> str:
    """Return what a text calls an input: its name among the data, or the label that the user gave it."""
    label = dataset.labels.get("force" if name == INPUT else name, name)
    return label if label.isidentifier() and re.search(rf"\b{label}\b", words) else name
