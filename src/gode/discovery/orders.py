"""Choice of the order: one search for each, compared on the same values by the same criterion."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.discovery.result import Discovery
from gode.errors import DataError
from gode.fitting.shooting import shoot
from gode.search.interrupts import Interrupts
from gode.search.settings import Settings
from gode.selection import Candidate, Pool, judge, rank

Search = Callable[[Settings], Discovery]


def better_order(
    search: Search, tasks: Sequence[Settings], interrupts: Interrupts, max_seconds: float | None
) -> Discovery:
    """Return what the search found for the task whose equation explains the data better.

    Each task has an equal share of the time; after Ctrl-C no other is begun.

    Raises:
        DataError: if none of them finds an equation.
    """
    found: list[Discovery] = []
    failure: DataError | None = None
    for number, settings in enumerate(tasks):
        interrupts.limit(None if max_seconds is None else max_seconds * (number + 1) / len(tasks))
        try:
            found.append(search(settings))
        except DataError as error:
            failure = error
        except KeyboardInterrupt:
            if not found:
                raise
            found[-1] = replace(found[-1], interrupted=True)
        if found and found[-1].interrupted:
            break
    if not found:
        assert failure is not None
        raise failure
    return found[0] if len(tasks) == 1 else _best(found, len(tasks))


def _best(found: Sequence[Discovery], n_tried: int) -> Discovery:
    """Return the discovery with the least criterion, and a remark on it."""
    scores = _criteria(found)
    best = int(np.argmin(scores))
    return replace(
        found[best],
        n_fitted=sum(one.n_fitted for one in found),
        timed_out=any(one.timed_out for one in found),
        interrupted=any(one.interrupted for one in found),
        remarks=(*found[best].remarks, _remark(found, n_tried, scores, best)),
    )


def _remark(found: Sequence[Discovery], n_tried: int, scores: Float, best: int) -> str:
    order = found[best].settings.order
    if len(found) < n_tried:
        return f"order {order} was taken: nothing was found for the other"
    tried = " and ".join(str(one.settings.order) for one in found)
    other = float(np.min(np.delete(scores, best)))
    if not np.isfinite(other):
        return f"orders {tried} were tried: order {order} was taken, the other has no solution"
    gap = other - float(scores[best])
    better = f"order {order} explains the data better, by {gap:.3g} units of the criterion"
    return f"orders {tried} were tried: {better}"


def _criteria(found: Sequence[Discovery]) -> Float:
    """Return the criterion of the equation of each, all on the same whole records."""
    judged = [c for one in found if (c := _on_all(one, found[0])) is not None]
    pool = Pool(judged, found[0].prepared.floor)
    known = {c.equation.order: c.criterion for c in rank(pool, found[0].settings.selection).candidates}
    return np.array([known.get(one.settings.order, np.inf) for one in found])


def _on_all(one: Discovery, other: Discovery) -> Candidate | None:
    """Return the equation of a discovery, unchanged, judged on the data and weights of another."""
    best, settings = one.candidates[0], one.settings
    fixed = replace(settings.shooting, max_iterations=0, segments=1)
    target = other.prepared.whole
    constants: Sequence[float] | Float = best.equation.constants
    own: Sequence[int] = ()
    if best.own is not None:
        constants = np.array([best.law_of(i).constants for i in range(len(best.initial))])
        own = best.own.places
    skeleton = best.equation.skeleton
    shot = shoot(skeleton, constants, target, own, config=fixed, start=best.initial)
    judged = judge(shot, other.prepared.floor, settings.selection, other.prepared.columns)
    return None if judged is None else replace(judged, n_free=best.n_free)
