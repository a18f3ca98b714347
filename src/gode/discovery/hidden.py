"""States that no column measures: how they are asked for, and their curves once a law has been fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gode.data import Dataset, Run
from gode.data.columns import INPUT
from gode.data.states import check_names
from gode.discovery.framing import display_names
from gode.discovery.result import Discovery
from gode.errors import DataError
from gode.fitting.prepare import Prepared, along, assemble
from gode.options.checks import AUTO, MOST_HIDDEN
from gode.search.settings import Settings
from gode.selection import Candidate, independent_values, weighed

NAMES = ("w", "z", "y", "x", "v", "q", "p")  # what they are called, where a user does not say it


def with_hidden(dataset: Dataset, hidden: int | str | tuple[str, ...]) -> Dataset:
    """Return the data with states that no column measures; all states then have the names of the user.

    Raises:
        DataError: if a name is taken.
    """
    own = display_names(dataset)
    before = tuple(own.get(name, name) for name in dataset.states)
    inputs = {name: own.get(name, name) for name in dataset.inputs}
    assert hidden != AUTO, "each number is tried by itself"
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
    runs, held = (
        tuple(_with_states(run, len(hidden), inputs) for run in part) for part in (dataset.runs, dataset.held)
    )
    return replace(dataset, runs=runs, held=held, states=states, labels=labels)


def _with_states(run: Run, n: int, inputs: dict[str, str]) -> Run:
    """Return a run with states of which nothing was observed, and its inputs by other names."""
    nothing = np.full((3 * n, run.n_points), np.nan)
    return replace(
        run,
        observed=np.vstack([run.observed, nothing]),
        sd=None if run.sd is None else np.vstack([run.sd, nothing]),
        initial=np.append(run.initial, np.full(2 * n, np.nan)),
        inputs={inputs[name]: values for name, values in run.inputs.items()},
    )


def better_number(search: Callable[[int], Discovery]) -> Discovery:
    """Return what is found with the number of hidden states that pays most in the criterion.

    Laws of first and of second order without a hidden state are their rivals: a law of second order holds as
    much as one of first order with a hidden state. Two are tried where one pays, or where nothing explains
    the data.

    Raises:
        DataError: if nothing is found with any number.
    """
    found: dict[int, Discovery] = {}
    failure: DataError | None = None
    for number in range(MOST_HIDDEN + 1):
        if number > 1 and found and not _asks_for_more(found):
            break
        try:
            found[number] = search(number)
        except DataError as error:
            failure = error
        if any(one.interrupted for one in found.values()):
            break
    if not found:
        assert failure is not None
        raise failure
    scores = _criteria(found)
    best = min(scores, key=lambda number: scores[number])
    others = [score for number, score in scores.items() if number != best]
    told = f"laws with {_listed(found)} hidden states were compared"
    if others:
        gap = min(others) - scores[best]
        told += f": {best or 'none'} is best, by {gap:.3g} units of the criterion"
    return replace(
        found[best],
        n_fitted=sum(one.n_fitted for one in found.values()),
        interrupted=any(one.interrupted for one in found.values()),
        timed_out=any(one.timed_out for one in found.values()),
        remarks=(*found[best].remarks, told),
    )


def _listed(found: Mapping[int, Discovery]) -> str:
    *numbers, last = map(str, found)
    return f"{', '.join(numbers)} and {last}" if numbers else last


def _asks_for_more(found: Mapping[int, Discovery]) -> bool:
    """Tell whether a second hidden state may pay: the first did, or nothing explains the data."""
    scores = _criteria(found)
    return scores.get(1, np.inf) < scores.get(0, np.inf) or all(
        one.quality.verdict.is_failure for one in found.values()
    )


def _criteria(found: Mapping[int, Discovery]) -> dict[int, float]:
    """Return the criterion of the best law of each number of hidden states, all in the same units.

    Nobody has seen a hidden state: each must gain as much as a law gains over a random walk to be supported.
    """
    firsts = {number: one.candidates[0] for number, one in found.items()}
    m = independent_values([*firsts.values()])
    reference = next(iter(found.values())).prepared.noise
    scores = {}
    for number, one in found.items():
        best, prepared = firsts[number], one.prepared
        noise = prepared.noise[: len(reference)]
        both = np.isfinite(noise) & np.isfinite(reference)
        units = float(np.mean(2 * np.log(noise[both] / reference[both]))) if both.any() else 0.0
        config = one.settings.selection
        scores[number] = (
            weighed(best, prepared.floor, config, m).criterion + m * units + number * config.support
        )
    return scores


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
    individual, floor = bool(settings.individual), settings.selection.floor
    return assemble(
        prepared.dataset,
        prepared.whole.dataset,
        prepared.smooths,
        settings.order,
        floor,
        individual=individual,
    )
