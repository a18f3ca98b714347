"""Whether runs differ: a plainer law with constants of each run, weighed against the law that all runs share.

A law with the time in it, or with many terms, can follow runs that differ although it is wrong for each of
them. So the leading laws that are plainer than it, and it itself where it leaves something, are fitted with
constants of each run, of which those are shared that the criterion wants shared.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import rows_of
from gode.discovery.quality import Verdict
from gode.discovery.result import Discovery
from gode.equation.tree import TIME, variables
from gode.fitting.population import CHOSEN
from gode.search.simplify import LEADERS, with_common
from gode.search.workers import Start, Workers
from gode.selection import Candidate, independent_values, weighed


def told_of_each_run(found: Discovery) -> list[str]:
    """Return a sentence on runs that differ if the criterion clearly prefers constants of each run."""
    settings, prepared = found.settings, found.prepared
    if len(prepared.dataset.runs) < 2 or settings.individual or not settings.grammar or prepared.dataset.held:
        return []
    floor, config, m = prepared.floor, settings.selection, independent_values(found.candidates)
    workers = Workers(prepared, replace(settings, individual=CHOSEN))
    fits = [_with_own(law, workers) for law in _plainer(found)]
    rivals = [weighed(law, floor, config, m) for law in fits if law is not None and law.own is not None]
    best = min(rivals, key=lambda c: c.criterion, default=found.candidates[0])
    gain = found.candidates[0].criterion - best.criterion
    if not gain > config.support * len(best.equation.skeleton.parts):
        return []
    text = "; ".join(best.equation.lines(3))
    return [
        f"the runs differ: with constants of each run, {text} explains them better, by {gain:.3g} units of "
        "the criterion (--individual auto, or individual='auto')"
    ]


def _plainer(found: Discovery) -> Sequence[Candidate]:
    """Return the leading laws without the time and with fewer constants, and that named if it is not good."""
    first = found.candidates[0]
    most = first.equation.skeleton.n_constants - (found.quality.verdict is Verdict.GOOD)
    plain = [
        c
        for c in found.candidates
        if c.equation.skeleton.n_constants <= most
        and not any(TIME in variables(part.normal) for part in c.equation.skeleton.parts)
    ]
    return sorted(plain, key=lambda c: c.criterion)[:LEADERS]


def _with_own(law: Candidate, workers: Workers) -> Candidate | None:
    """Return a law with constants of each run, but for those that all runs may share."""

    def fit(start: Start) -> Candidate | None:
        return workers.fit(start, strict=False)

    table = np.tile(np.array(law.equation.constants), (len(workers.prepared.dataset.runs), 1))
    start = Start(law.equation, whole=True, each=rows_of(table), own=tuple(range(table.shape[1])))
    found = fit(start)
    if found is None:
        return None
    return with_common(found, fit, workers.prepared.floor, workers.settings.selection)
