"""What a law calls its columns when it is shown: a single state and its inputs have the names of the user.

Inside they are u, F, v1, ...; several states have their names throughout.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gode.data import Dataset
from gode.data.columns import INPUT
from gode.data.labels import plain_label
from gode.data.states import TAKEN
from gode.equation.skeleton import shown_name
from gode.equation.system import with_names
from gode.identifiers import identifiers
from gode.search.archive import Step
from gode.selection import Candidate


def called(dataset: Dataset) -> dict[str, str]:
    """Return what a single state and its inputs are called, by u, F, v1, ..., where they have other names."""
    if len(dataset.states) > 1:
        return {}
    out: dict[str, str] = {}
    for column in (*dataset.states, *dataset.inputs):
        name = _given(dataset, column)
        taken = {*TAKEN, *out.values()} - ({INPUT} if column == INPUT else set())
        out[column] = identifiers([name], taken)[0] if name else column
    return {column: name for column, name in out.items() if name != column}


def shown(dataset: Dataset, column: str) -> str:
    """Return what a column, or a derivative of one, is called when it is shown."""
    return shown_name(column, called(dataset))


def column_of(dataset: Dataset, name: str) -> str:
    """Return the column, or the derivative of one, that a user calls by its name, or as gode does."""
    back = {other: column for column, other in called(dataset).items()}
    return shown_name(name, back)


def by_columns(dataset: Dataset, given: Mapping[str, object]) -> dict[str, object]:
    """Return what a user gave for states or inputs, by their columns."""
    return {column_of(dataset, str(name)): value for name, value in given.items()}


def with_called(candidates: Sequence[Candidate], dataset: Dataset) -> Sequence[Candidate]:
    """Return fitted laws that are shown in the names of the data."""
    names = called(dataset)
    made = [with_names(c.equation, names) for c in candidates]
    if all(law is c.equation for law, c in zip(made, candidates, strict=True)):
        return candidates
    return [replace(c, equation=law) for law, c in zip(made, candidates, strict=True)]


def named_steps(on_step: Callable[[Step], None], dataset: Dataset) -> Callable[[Step], None]:
    """Return a callback that is told the laws of each step in the names of the data."""
    if not called(dataset):
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
