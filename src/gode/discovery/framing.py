"""The equation or frame that a user gave, in the names of the data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from gode.data import Dataset
from gode.data.columns import INPUT
from gode.data.labels import column_units
from gode.data.states import NAME
from gode.discovery.called import called
from gode.equation import Node
from gode.equation.dimensions import Inference, UnitConflict, columns_of_view
from gode.equation.frame import Frame
from gode.equation.parse_frame import parse_frame, split_equations
from gode.equation.system import seen_to_display
from gode.equation.tree import STATE, renamed, walk
from gode.errors import ConfigError, EquationError, pointed
from gode.fitting.views import is_plain
from gode.options.table import Bounds, Texts
from gode.search.assumptions import KEEPS_ZERO, REST, rest_place
from gode.search.known import Known
from gode.units import Unit


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
    return parse_frame(
        texts,
        states=dataset.states,
        inputs=inputs,
        called=called_in(dataset, words) if len(dataset.states) == 1 else {},
        single=single,
        functions=functions,
        fixed=fixed,
        bounds=bounds,
    )


def frame_of(known: Known, dataset: Dataset, *, functions: bool = True) -> Frame:
    """Return the frame that a user gave for these data; it is refused if it mixes up units that are given."""
    given, limits = dict(known.fixed), known.limits
    frame = read_frame(list(known.frame), dataset, functions=functions, fixed=given, bounds=limits)
    if known.units:
        check_units(frame, column_units(dataset))
    return frame


def at_rest(known: Known, dataset: Dataset, order: int | str) -> Known:
    """Return what is known with the frame that a known equilibrium means: u' = f(u) - f(2.5).

    Any law that rests there is such a difference, and each is one. Inputs are zero at rest.

    Raises:
        ConfigError: if the equilibrium does not go with the states, or with what else was given.
    """
    given = [name for name in known.assume if name.startswith(REST)]
    if KEEPS_ZERO in known.assume and (known.frame or given):
        raise ConfigError(
            f"assume has {KEEPS_ZERO!r}, which does not go with {'frame=' if known.frame else given[0]}; "
            "write a frame with the state as a factor instead, as u' = u*f(u)"
        )
    if not given:
        return known
    (name, *others), states = given, dataset.states
    place = rest_place(name)
    if set(place) == {""} and len(states) == 1:
        place = {states[0]: place[""]}
    if set(place) != {*states} or others or order not in (1, 2):
        wanted = "2.5" if len(states) == 1 else ",".join(f"{state}:1" for state in states)
        reason = f"expected a value for each state, as {REST}{wanted}; once, with order=1 or order=2"
        raise ConfigError(pointed(reason, name, len(REST)))
    made = tuple(_resting(own, dataset, place, int(order), "autonomous" in known.assume) for own in states)
    if (known.frame and known.frame != made) or "rest-at-zero" in known.assume:
        raise ConfigError(
            f"{name} stands for the frame {'; '.join(made)}; write your own frame with it instead"
        )
    return replace(known, frame=made)


def _resting(own: str, dataset: Dataset, place: Mapping[str, float], order: int, autonomous: bool) -> str:
    """Return the equation of one state: an unknown function of everything, less its value at rest."""
    columns = {state: f"{place[state]:.15g}" for state in dataset.states}
    if order == 2:
        columns |= {f"{state}'": "0" for state in dataset.states}
    columns |= dict.fromkeys(dataset.inputs, "0") | ({} if autonomous else {"t": "t"})
    name = "f" if len(dataset.states) == 1 else f"f_{own}"
    left = own + "'" * order
    return f"{left} = {name}({', '.join(columns)}) - {name}({', '.join(columns.values())})"


def check_units(frame: Frame, columns: Mapping[str, Unit]) -> None:
    """See to it that a frame adds nothing of different units.

    Raises:
        EquationError: with both units and a caret under the place.
    """
    inference = Inference({}, len(frame.parameters))
    for own, (tree, text) in enumerate(zip(frame.trees, frame.texts, strict=True)):
        names = {} if frame.single else seen_to_display(own, frame.states, frame.inputs)
        inference.columns = columns_of_view(columns, names)
        try:
            inference.unit(tree)
        except UnitConflict as conflict:
            place = _place(renamed(conflict.node, names), text)
            raise EquationError(pointed(conflict.told(names), text, place)) from None


def _place(node: Node, text: str) -> int:
    """Return where a tree begins in a text: at the first term with just its columns, or at one of these."""
    wanted = Counter(str(n.value) for n in walk(node) if n.op == "var")
    columns = re.compile(r"(?<![\w'])[^\W\d]\w*'*(?![\w'(])")
    for term in re.finditer(r"[^-+=]+", text):
        found = [m for m in columns.finditer(text, *term.span()) if m[0] in wanted]
        if found and Counter(m[0] for m in found) == wanted:
            return term.start() + len(term[0]) - len(term[0].lstrip(" ("))
    return next((m.start() for m in columns.finditer(text) if m[0] in wanted), 0)


def called_in(dataset: Dataset, words: str) -> dict[str, str]:
    """Return what a text calls a single state and its inputs: by the user's names, or as u, F, v1, ..."""
    names, used = called(dataset), {*NAME.findall(words)}
    state = names.get(STATE, STATE)
    if not re.search(rf"\b{state}\s*(?:\(\s*t\s*\))?\s*['′,]", words):
        state = STATE
    given = {column: name for column, name in names.items() if name in used and column not in used}
    return {STATE: state} | {column: name for column, name in given.items() if name != state}


def in_columns(text: str, dataset: Dataset) -> str:
    """Return a text with the names of the user as u, F, v1, ..."""
    back = {name: column for column, name in called_in(dataset, text).items()}
    return NAME.sub(lambda found: back.get(found[0], found[0]), text)
