"""Minima of fits with hidden states: how they are reached, which is told, and which others fit as well.

Where two constants may change places, as absorption and elimination of a drug, the data choose neither. Then
the minimum is told whose hidden states forget their start sooner: what is fast is seldom measured. The other
is told in a remark.
"""

from collections.abc import Sequence

import numpy as np

from gode.arrays import Float
from gode.equation import Law, LawSkeleton
from gode.equation.system import make_law
from gode.errors import DataError
from gode.fitting.multistart import Minimum, minima, with_images
from gode.fitting.population import NORMAL_95
from gode.fitting.prepare import Prepared
from gode.search.settings import Settings
from gode.selection import Candidate
from gode.solve import solve

APART = 0.05  # Constants that differ by a smaller fraction are the same minimum.


def reached_minima(skeleton: LawSkeleton, prepared: Prepared, settings: Settings) -> list[Minimum]:
    """Return the minima from random starts; of those as good as the least, the one to be told comes first.

    Raises:
        DataError: if there is no solution from any start.
    """
    rng = np.random.default_rng(settings.seed)
    given = skeleton, prepared.target
    hidden, config = prepared.dataset.hidden, settings.shooting
    found = minima(*given, prepared.columns, hidden, rng=rng, config=config)
    if not found:
        raise DataError(f"{skeleton} cannot be fitted to these data: its solution diverges from every start")
    found = with_images(*given, found, config=config)
    enough = _enough(found[0].sse, prepared.target.dataset.n_observed)
    good = [each for each in found if each.sse <= enough]
    if hidden and len(good) > 1:
        good.sort(key=lambda each: _memory(make_law(skeleton, each.constants), prepared, each.initial))
    return [*good, *found[len(good) :]]


def in_order_of_fit(found: Sequence[Candidate], hidden: bool) -> list[Candidate]:
    """Return fits, the best first; with hidden states, those as good as the best keep their order."""
    if not found:
        return []
    least = min(found, key=lambda c: c.rms)
    enough = _enough(least.rms**2, least.n_values) if hidden else 0.0
    return sorted(found, key=lambda c: max(c.rms**2, enough))


def others_as_good(best: Candidate, reached: Sequence[Minimum]) -> list[str]:
    """Return a sentence on other constants that fit as well, if such a minimum was reached."""
    named = best.equation.skeleton.parameters
    values = np.array(best.equation.constants)
    enough = _enough(best.rms**2 * best.n_values, best.n_values)
    for other in reached if named else ():
        near = np.allclose(other.constants, values, rtol=APART)
        if not near and other.sse <= enough:
            told = ", ".join(f"{p.name} = {x:.4g}" for p, x in zip(named, other.constants, strict=True))
            return [f"these data are explained as well by {told}; bounds choose between the two"]
    return []


def _enough(sse: float, n_values: int) -> float:
    """Return the squared residuals, or their mean, below which a fit is as good as one that leaves `sse`.

    Over the mean, the data exclude neither of two fits that differ by less than the 95 % quantile of
    chi-squared with one degree of freedom.
    """
    return sse * (1 + NORMAL_95**2 / max(n_values, 1))


def _memory(law: Law, prepared: Prepared, initial: Float) -> float:
    """Return how long hidden states remember where they began, of those that do so longest."""
    run, orders = prepared.target.dataset.runs[0], law.skeleton.orders
    path = solve(law, run.t, initial[0], inputs=dict(run.signals), doses=run.doses, sensitivities=True)
    if path.failure is not None:
        return np.inf
    of_starts = path.sensitivities[len(path.sensitivities) - sum(orders) :]
    places = [(sum(orders[:s]), 3 * s) for s in prepared.dataset.hidden]
    return max(float(np.trapezoid(np.abs(of_starts[place, row]), run.t)) for place, row in places)
