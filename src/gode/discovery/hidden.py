"""States that no column measures: how they are asked for, and their curves once a law has been fitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from gode.data import Dataset, Run
from gode.data.columns import INPUT, STATES
from gode.data.states import check_names
from gode.discovery.called import called
from gode.errors import ConfigError
from gode.fitting.prepare import Prepared, assemble
from gode.fitting.views import along
from gode.search.settings import Settings, whole
from gode.selection import Candidate

Hidden = int | Literal["auto"] | Sequence[str]

AUTO: Final = "auto"
MOST = 2  # So many hidden states can be sought.
NAMES = ("w", "z", "y", "x", "v", "q", "p")  # what they are called, where a user does not say it


def hidden_asked(hidden: object) -> int | str | tuple[str, ...]:
    """Return how many hidden states are sought: a number, auto, or their names.

    Raises:
        ConfigError: if it is none of these.
    """
    if hidden is None or hidden is False or hidden == ():
        return 0
    if hidden == AUTO:
        return AUTO
    if whole(hidden) in range(MOST + 1):
        return whole(hidden)
    if isinstance(hidden, Iterable):
        names = (hidden,) if isinstance(hidden, str) else tuple(hidden)
        if 0 < len(names) <= MOST and all(isinstance(name, str) for name in names):
            return names
    raise ConfigError(
        f"hidden must be a number of states from 0 to {MOST}, 'auto', or their names such as ['w'], got {hidden!r}"
    )


def with_hidden(dataset: Dataset, hidden: int | tuple[str, ...]) -> Dataset:
    """Return the data with states that no column measures; all states then have the names of the user.

    Raises:
        DataError: if a name is taken.
    """
    own = called(dataset)
    before = tuple(own.get(name, name) for name in dataset.states)
    inputs = {name: own.get(name, name) for name in dataset.inputs}
    if isinstance(hidden, int):
        free = [name for name in NAMES if name not in (*before, *inputs.values())]
        hidden = tuple(free[:hidden])
    if not hidden:
        return dataset
    states = (*before, *hidden)
    check_names(states, "state")
    check_names([name for name in inputs.values() if name != INPUT], "known input", states)
    places = {**dict(zip(dataset.states, before, strict=True)), **inputs}
    labels = {
        places.get(column.rstrip("'"), column.rstrip("'")) + column[len(column.rstrip("'")) :]: label
        for column, label in dataset.labels.items()
    }
    runs = tuple(_with_states(run, len(hidden), inputs) for run in dataset.runs)
    return replace(dataset, runs=runs, states=states, labels=labels)


def _with_states(run: Run, n: int, inputs: dict[str, str]) -> Run:
    """Return a run with states of which nothing was observed, and its inputs by other names."""
    return replace(
        run,
        observed=np.vstack([run.observed, np.full((3 * n, run.n_points), np.nan)]),
        initial=np.append(run.initial, np.full(2 * n, np.nan)),
        inputs={inputs[name]: values for name, values in run.inputs.items()},
    )


def filled_in(found: Candidate, prepared: Prepared, settings: Settings) -> Prepared:
    """Return the data with the curves of hidden states as the fitted law has them."""
    if not prepared.dataset.hidden:
        return prepared
    laws = [found.law_of(i) for i in range(len(found.initial))]
    smooths = along(prepared, laws, found.initial)
    if smooths is None:
        return prepared
    hidden = [3 * s + k for s in prepared.dataset.hidden for k in range(3)]
    for smooth, solved in zip(prepared.smooths, smooths, strict=True):
        smooth.values[hidden] = solved.values[hidden]
    own, floor = bool(settings.individual), settings.selection.floor
    return assemble(
        prepared.dataset, prepared.whole.dataset, prepared.smooths, settings.order, floor, individual=own
    )
