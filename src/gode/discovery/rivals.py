"""The equations that may be the law besides the one that is named, with their weights, for bands."""

from collections.abc import Sequence

from gode.selection import Candidate, SelectionConfig, probabilities

MOST = 30  # rivals that are followed
NEGLIGIBLE = 1e-3  # weights below this are left out


def with_weights(
    candidates: Sequence[Candidate], config: SelectionConfig, floor: Sequence[float] = ()
) -> list[tuple[Candidate, float]]:
    """Return the others with their posterior probabilities; with that of the first, the sum is one."""
    first, *shares = probabilities(candidates, config, floor).tolist()
    others = sorted(zip(candidates[1:], shares, strict=True), key=lambda pair: -pair[1])
    chosen = [(c, share) for c, share in others[:MOST] if share > NEGLIGIBLE]
    total = first + sum(share for _, share in chosen)
    return [(c, share / total) for c, share in chosen]
