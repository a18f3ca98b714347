"""The prior that is kept in a file."""

from gode.prior import known_laws, learn_prior
from gode.prior.learned import kept_prior, prior_text


def test_the_kept_prior_is_the_one_learned_from_the_laws() -> None:
    kept, learned = kept_prior(), learn_prior(known_laws())
    assert kept is not None, "the laws changed; run python scripts/learn_prior.py"
    assert prior_text(kept) == prior_text(learned), "learning changed; run python scripts/learn_prior.py"
    assert kept.counts == learned.counts
    assert kept.composition == learned.composition
    assert kept.smoothing == learned.smoothing
