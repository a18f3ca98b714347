"""What a user said of the law, in the names of the data: an equation or frame, and constants of each run.

Inside, a single state and its inputs are u, F, v1, ...; several states have their names throughout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Series
from gode.data import Dataset
from gode.data.columns import INPUT
from gode.data.dataset import column_units, plain_label
from gode.data.doses import DOSE
from gode.data.states import NAME, TAKEN
from gode.discovery.reported_constants import is_unnamed
from gode.equation import LawSkeleton, Node
from gode.equation.dimensions import Inference, UnitConflict, columns_of_view
from gode.equation.frame import Frame, parse_frame, split_equations
from gode.equation.skeleton import Parameter, name_of_equation, shown_name
from gode.equation.system import names_in_law, seen_to_display, with_names, written_states
from gode.equation.tree import STATE, delays, number, renamed, walk
from gode.errors import ConfigError, DataError, EquationError, pointed
from gode.fitting.population import ALL, CHOSEN, own_places
from gode.fitting.prepare import is_its_view
from gode.identifiers import identifiers
from gode.options.table import Bounds, Texts
from gode.search.archive import Step
from gode.search.assumptions import KEEPS_ZERO, REST, Known, rest_place
from gode.selection import Candidate
from gode.units import Unit


def display_names(dataset: Dataset) -> dict[str, str]:
    """Return what a single state and its inputs are called, by u, F, v1, ..., where they have other names."""
    if len(dataset.states) > 1:
        return {}
    out: dict[str, str] = {}
    for column in (*dataset.states, *dataset.inputs):
        name = _given(dataset, column)
        taken = {*TAKEN, *out.values()} - ({INPUT} if column == INPUT else set())
        out[column] = identifiers([name], taken)[0] if name else column
    return {column: name for column, name in out.items() if name != column}


def display_name(dataset: Dataset, column: str) -> str:
    """Return what a column, or a derivative of one, is called when it is shown."""
    return shown_name(column, display_names(dataset))


def column_of(dataset: Dataset, name: str) -> str:
    """Return the column, or the derivative of one, that a user calls by its name, or as gode does."""
    back = {other: column for column, other in display_names(dataset).items()}
    return shown_name(name, back)


def by_columns(dataset: Dataset, given: Mapping[str, object]) -> dict[str, object]:
    """Return what a user gave for states or inputs, by their columns."""
    return {column_of(dataset, str(name)): value for name, value in given.items()}


def with_called(candidates: Sequence[Candidate], dataset: Dataset) -> Sequence[Candidate]:
    """Return fitted laws that are shown in the names of the data."""
    names = display_names(dataset)
    made = [with_names(c.equation, names) for c in candidates]
    if all(law is c.equation for law, c in zip(made, candidates, strict=True)):
        return candidates
    return [replace(c, equation=law) for law, c in zip(made, candidates, strict=True)]


def named_steps(on_step: Callable[[Step], None], dataset: Dataset) -> Callable[[Step], None]:
    """Return a callback that is told the laws of each step in the names of the data."""
    if not display_names(dataset):
        return on_step
    known: dict[int, tuple[Candidate, Candidate]] = {}  # so that a law stays the same object

    def named(candidate: Candidate) -> Candidate:
        if id(candidate) not in known:
            known[id(candidate)] = candidate, with_called([candidate], dataset)[0]
        return known[id(candidate)][1]

    def tell(step: Step) -> None:
        leaders = [named(c) if c.equation.states == dataset.states else c for c in step.leaders]
        on_step(replace(step, best=str(leaders[0].equation) if leaders else "", leaders=leaders))

    return tell


def _given(dataset: Dataset, column: str) -> str:
    """Return the name that the user gave a column; empty where there is none, or it is a formula or many."""
    label = plain_label(dataset.labels.get(column, ""))
    if label in [run.inputs.get(column) for run in dataset.runs if isinstance(run.inputs.get(column), str)]:
        return ""
    parts = label.split(",")
    wells = {part for name in dataset.names for part in name.split(", ")}
    several = len(parts) > 1 and (label == ",".join(dataset.names) or {*parts} <= wells)
    return "" if several or not any(c.isalpha() for c in label) else label


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
    words = " ".join(split_equations(texts))
    inputs = dataset.inputs or ((INPUT,) if is_its_view(dataset) else ())
    called_here = called_in(dataset, words)
    frame = parse_frame(
        texts,
        states=dataset.states,
        inputs=inputs,
        called=called_here,
        functions=functions,
        fixed=fixed,
        bounds=bounds,
    )
    _check_delays(frame, dataset, called_here)
    return frame


def _check_delays(frame: Frame, dataset: Dataset, called_here: Mapping[str, str]) -> None:
    """See to it that what is delayed is known, by less than the record is long.

    Raises:
        DataError: with a caret under the place.
    """
    longest = max(float(np.ptp(run.t)) for run in dataset.runs)
    for index, (tree, text) in enumerate(zip(frame.trees, frame.texts, strict=True)):
        names = seen_to_display(index, frame.states, frame.inputs)
        for column, by in (node.args for node in delays(tree)):
            data_name = names[str(column.value)]
            name = called_here.get(data_name, data_name)
            found = re.search(rf"\b{re.escape(name)}\s*\(\s*t\s*-", text)
            place = found.start() if found else 0
            if data_name not in (*dataset.states, *dataset.inputs):
                reason = f"{name} is delayed, but no such input was given; pass it as force="
                raise DataError(pointed(reason, text, place))
            if by.op == "num" and number(by) > longest:
                reason = f"{name} is late by {number(by):g}, longer than the record of {longest:g}"
                raise DataError(pointed(reason, text, place))


def with_formulas(texts: Texts | None, observe: Mapping[str, str] | None) -> Texts | None:
    """Return equations with formulas of what is measured as further ones.

    Raises:
        ConfigError: if there are formulas, but no equations.
    """
    if not observe:
        return texts
    if texts is None:
        name = next(iter(observe))
        raise ConfigError(
            f"observe= says of what {name} is a formula, but the equations of its states are missing; give "
            "them to gode.fit, or as frame= with unknown functions"
        )
    return [*split_equations(texts), *(f"{name} = {formula}" for name, formula in observe.items())]


def names_with_hidden(equation: Texts, measured: Mapping[str, Series]) -> tuple[str, ...] | None:
    """Return the states of the equations where some of them were not measured; None where all were."""
    texts = split_equations(equation)
    if len(texts) <= len(measured):
        return None
    try:
        written = written_states(texts)
    except EquationError:  # it is read again where its place can be told
        return None
    other = [str(name) for name in measured if name not in written]
    if other:
        raise DataError(
            f"the data hold {other[0]!r}, but the equations are those of {', '.join(written)}; call what was "
            "measured as in the equations, and leave out what was not"
        )
    return written


def with_dose_named(dataset: Dataset, texts: Texts) -> Dataset:
    """Return data with doses with a known input `dose`, zero between them, if equations have this name."""
    own = display_names(dataset)
    taken = {*dataset.states, *dataset.inputs, *own.values()}
    if not dataset.is_dosed or DOSE in taken or DOSE not in NAME.findall(" ".join(split_equations(texts))):
        return dataset
    name = names_in_law(dataset.states, (*dataset.inputs, DOSE))[DOSE]
    runs, held = (
        tuple(replace(run, inputs={**run.inputs, name: "0"}) for run in part)
        for part in (dataset.runs, dataset.held)
    )
    return replace(dataset, runs=runs, held=held, labels={**dataset.labels, name: DOSE})


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
    if set(place) == {""}:  # without a name it is that of the only state
        place = dict(zip(states, place.values(), strict=False))
    if set(place) != {*states} or others or order not in (1, 2):
        wanted = ",".join(f"{state}:1" for state in states)
        forms = f"{REST}2.5 of one state or {REST}{wanted} by name"
        reason = f"expected a value for each state, as {forms}; once, with order=1 or order=2"
        raise ConfigError(pointed(reason, name, len(REST)))
    made = tuple(
        _resting(i, dataset, place, int(order), "autonomous" in known.assume) for i in range(len(states))
    )
    if (known.frame and known.frame != made) or "rest-at-zero" in known.assume:
        raise ConfigError(
            f"{name} stands for the frame {'; '.join(made)}; write your own frame with it instead"
        )
    return replace(known, frame=made)


def _resting(index: int, dataset: Dataset, place: Mapping[str, float], order: int, autonomous: bool) -> str:
    """Return the equation of one state: an unknown function of everything, less its value at rest."""
    columns = {state: f"{place[state]:.15g}" for state in dataset.states}
    if order == 2:
        columns |= {f"{state}'": "0" for state in dataset.states}
    columns |= dict.fromkeys(dataset.inputs, "0") | ({} if autonomous else {"t": "t"})
    name = name_of_equation("f", dataset.states, index)
    left = dataset.states[index] + "'" * order
    return f"{left} = {name}({', '.join(columns)}) - {name}({', '.join(columns.values())})"


def check_units(frame: Frame, columns: Mapping[str, Unit]) -> None:
    """See to it that a frame adds nothing of different units.

    Raises:
        EquationError: with both units and a caret under the place.
    """
    inference = Inference({}, len(frame.parameters))
    for index, (tree, text) in enumerate(zip(frame.trees, frame.texts, strict=True)):
        names = seen_to_display(index, frame.states, frame.inputs)
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
    names, used = display_names(dataset), {*NAME.findall(words)}
    state = names.get(STATE, STATE)
    if not re.search(rf"\b{state}\s*(?:\(\s*t\s*\))?\s*['′,]", words):
        state = STATE
    given = {column: name for column, name in names.items() if name in used and column not in used}
    return {STATE: state} | {column: name for column, name in given.items() if name != state}


def in_columns(text: str, dataset: Dataset) -> str:
    """Return a text with the names of the user as u, F, v1, ..."""
    back = {name: column for column, name in called_in(dataset, text).items()}
    return NAME.sub(lambda found: back.get(found[0], found[0]), text)
