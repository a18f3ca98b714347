"""Quality: figures that mean what they say."""

import numpy as np
import pytest

from gode.equation import parse_skeleton
from gode.errors import ModelError
from gode.library import Library, draw_library
from gode.model.making import check, exact_share, term_distance
from gode.paper.benchmarks_sec3 import true_skeletons
from model_spaces import SMALL, book_of, random_space

TEXTS = ("u' = C*u", "u' = C*u + C", "u' = C + C*u^2", "u' = C*sin(C*u)", "u' = C*u + C*u^2 + C*u^3")


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("u' = C*u", "u' = C*u", 0),
        ("u' = C*u", "u' = C*u + C", 1),
        ("u' = C*u", "u' = C*u^2", 1),
        ("u' = C*u + C", "u' = C*u^2 + C*t", 2),
        ("u' = C*u", "u' = C*u^2 + C*u^3 + C", 3),
        ("u' = C*sin(C*u)", "u' = C*sin(C*u) + C*sin(C*u)", 1),
        ("u' = 2*u", "u' = C*u", 0),  # coefficients are no terms
    ],
)
def test_distance_counts_terms(one: str, other: str, distance: int):
    assert term_distance(parse_skeleton(one), parse_skeleton(other)) == distance


def test_distance_is_a_metric():
    skeletons = [parse_skeleton(text) for text in TEXTS]
    for a in skeletons:
        assert term_distance(a, a) == 0
        for b in skeletons:
            assert term_distance(a, b) == term_distance(b, a)
            for c in skeletons:
                assert term_distance(a, c) <= term_distance(a, b) + term_distance(b, c)


@pytest.fixture(scope="module")
def library() -> Library:
    return draw_library(SMALL, 60, order=1, rng=0)


@pytest.mark.parametrize("kind", ["gode", "paper"])
def test_check_runs_on_any_space(kind: str, library: Library, rng):
    space = random_space(SMALL, rng, kind=kind, terms=book_of(library))
    known, unseen = Library(SMALL, library.derivations[:40]), Library(SMALL, library.derivations[40:])
    quality = check(space, known, unseen, true_skeletons(), n_prior=300, rng=np.random.default_rng(0))
    assert quality.valid == quality.solvable == 1.0
    for share in (quality.exact, quality.unique, quality.novel, quality.covered):
        assert 0 <= share <= 1
    assert quality.unique == len({s for s in space.decode(_prior(space, 300))}) / 300
    assert list(quality.locality) == ["0.05", "0.1", "0.2", "0.5"]
    assert -1 <= quality.behaviour <= 1
    assert 1 < quality.expressible < 43


def _prior(space, n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, space.dimension))


def test_untrained_space_reconstructs_little_and_an_empty_library_all(library: Library, rng):
    space = random_space(SMALL, rng)
    assert exact_share(space, library) < 0.2
    assert exact_share(space, Library(SMALL, ())) == 1.0


def test_exact_counts_skeletons_not_texts(library: Library, rng):
    """A space that decodes to another order of the same terms has reconstructed the skeleton."""
    space = random_space(SMALL, rng)
    decoded = tuple(space.decode_derivations(space.encode_derivations(library.derivations)))
    same = [a == b for a, b in zip(Library(SMALL, decoded), library, strict=True)]
    assert exact_share(space, library) == np.mean(same)


def test_nothing_unseen_is_an_error(library: Library, rng):
    with pytest.raises(ModelError, match="no skeleton is left that small was not trained on"):
        check(random_space(SMALL, rng), library, Library(SMALL, ()), (), rng=rng)
