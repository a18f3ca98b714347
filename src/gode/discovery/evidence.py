"""What selection looks at besides the fits: whether they can be solved, and what plainer models leave."""

from collections.abc import Sequence

from gode.discovery.residuals import lowest_series
from gode.discovery.simulate import Scenario, simulate
from gode.equation.terms import has_pivot_one
from gode.fitting.polynomials import fitted_polynomials
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target
from gode.search.settings import Settings
from gode.selection import Candidate, Pool, rank


def make_pool(
    candidates: Sequence[Candidate], prepared: Prepared, target: Target, settings: Settings
) -> Pool:
    """Return the pool of candidates that were fitted to `target`."""
    pool = Pool(_from_solvable(candidates, prepared, settings), prepared.floor, fitted_polynomials(target))
    order = rank(pool, settings.selection).candidates
    series = lowest_series(order[0], prepared, target.dataset) if order else []
    return Pool(pool.candidates, pool.floor, pool.polynomials, series)


def _from_solvable(
    candidates: Sequence[Candidate], prepared: Prepared, settings: Settings
) -> list[Candidate]:
    """Return the candidates from the first on that has a solution along all data; all if none has.

    A fit may end on the brink of an explosion, which a solver of another accuracy does not survive. And an
    equation that is solved for its highest derivative must give it: 0/0 may be anything.
    """
    order = rank(Pool(candidates, prepared.floor), settings.selection).candidates
    for i, candidate in enumerate(order):
        parts = candidate.equation.skeleton.parts
        guided = not all(has_pivot_one(part.normal, part.highest) for part in parts)
        scenarios = (Scenario(run.t, run=k) for k, run in enumerate(prepared.dataset.runs))
        if all(simulate(candidate, prepared, s, guided=guided).failure is None for s in scenarios):
            return order[i:]
    return order
