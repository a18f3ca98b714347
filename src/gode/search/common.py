"""Which constants the runs have in common: where each has its own, the criterion decides one by one.

The price of one value for all runs is predicted from the estimates of each run and their errors; the constant
for which it is least is then fitted so, and stays shared if the criterion is less for it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.equation.system import make_law
from gode.fitting.population import CHOSEN
from gode.search.archive import Archive, Stage
from gode.search.workers import Start
from gode.selection import Candidate, SelectionConfig, front, weighed

LEADERS = 8  # laws for which it is decided, besides the front of accuracy against complexity

Fit = Callable[[Start], Candidate | None]


def share_over_runs(archive: Archive) -> None:
    """Decide for the best laws which of their constants all runs share, if that was asked for."""
    if archive.settings.individual != CHOSEN:
        return
    leaders = archive.leaders()
    chosen = {id(c): c for c in [*leaders[:LEADERS], *front(leaders)]}

    def fit(start: Start) -> Candidate | None:
        if start not in archive.memo:
            archive.memo[start] = archive.workers.fit(start._replace(view=archive.view))
        archive.interrupts.check()
        archive.tell(Stage.SHARING)
        return archive.memo[start]

    for candidate in chosen.values():
        found = with_common(candidate, fit, archive.prepared.floor, archive.settings.selection)
        archive.candidates[candidate.equation.skeleton.key] = found


def with_common(
    candidate: Candidate, fit: Fit, floor: tuple[float, ...], config: SelectionConfig
) -> Candidate:
    """Return the law with those constants shared by all runs for which the criterion is less."""
    now = weighed(candidate, floor, config)
    while now.own is not None:
        tried = [weighed(_predicted(now, i), floor, config) for i in range(len(now.own.places))]
        least = int(np.argmin([c.criterion for c in tried]))
        if tried[least].criterion >= now.criterion:
            break
        found = fit(_start(now, least))
        if found is None or found.criterion >= now.criterion:
            break
        now = found
    return now


def _common(candidate: Candidate, i: int) -> tuple[float, float]:
    """Return the value of own constant `i` that suits all runs best, and the chi-squared that it costs."""
    own = candidate.own
    assert own is not None
    weights = 1.0 / np.maximum(own.covariances[:, i, i], 1e-300)
    values = own.values[:, i]
    centre = float(weights @ values / weights.sum())
    return centre, float(weights @ (values - centre) ** 2)


def _predicted(candidate: Candidate, i: int) -> Candidate:
    """Return the candidate as it would be with own constant `i` shared."""
    own, n, k = candidate.own, candidate.n_values, candidate.n_free
    assert own is not None
    _, price = _common(candidate, i)
    wider = 1 + price / max(n - k, 1)  # of the sum of squares
    rest = [j for j in range(len(own.places)) if j != i]
    fewer = replace(
        own,
        places=tuple(own.places[j] for j in rest),
        values=own.values[:, rest],
        covariances=own.covariances[np.ix_(range(len(own.values)), rest, rest)],
    )
    return replace(
        candidate,
        rms=candidate.rms * float(np.sqrt(wider)),
        by_state=tuple(state.scaled(wider) for state in candidate.states),
        n_free=k - len(own.values) + 1,
        own=fewer if rest else None,
    )


def _start(candidate: Candidate, i: int) -> Start:
    """Return where the fit with own constant `i` shared starts."""
    own, law = candidate.own, candidate.equation
    assert own is not None
    centre, _ = _common(candidate, i)
    table: Float = np.tile(np.array(law.constants), (len(own.values), 1))
    table[:, list(own.places)] = own.values
    table[:, own.places[i]] = centre
    middle = np.median(table, axis=0)
    return Start(
        make_law(law.skeleton, middle),
        whole=candidate.whole,
        initial=tuple(map(tuple, candidate.initial.tolist())),
        each=tuple(map(tuple, table.tolist())),
        own=tuple(place for place in own.places if place != own.places[i]),
    )
