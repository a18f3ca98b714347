"""The prior learned from the laws that come with gode."""

from functools import lru_cache

from gode.equation.system import LawSkeleton
from gode.prior.corpus import known_laws
from gode.prior.learned import kept_prior
from gode.prior.model import Prior, learn_prior


@lru_cache(maxsize=1)
def default_prior() -> Prior:
    """Return the prior learned from the laws that come with gode."""
    return kept_prior() or learn_prior(known_laws())


def log_prior(skeleton: LawSkeleton, *, others: int | None = None, forced: bool | None = None) -> float:
    """Return the log prior probability of a law, in nats; that of a system is the sum over its equations.

    It does not depend on how terms and factors are ordered, on how other states are numbered, nor on the
    values of factors in front of terms. It is finite for every skeleton, and remembered.

    Args:
        others: how many signals v1, v2, ... one equation of a system may see; by default those that occur. A
            system knows.
        forced: whether there is a known input F; by default, whether it occurs.
    """
    return default_prior().log_prior(skeleton, others=others, forced=forced)
