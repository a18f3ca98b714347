"""Behaviour: what a skeleton can express, whatever it looks like."""

import numpy as np
import pytest

from gode.equation import Skeleton, parse_skeleton, parse_tree
from gode.grammar import grammar_names
from gode.model.making import N_POINTS, N_TESTS, behaviour_of, make_probe
from model_spaces import library_of


@pytest.fixture(scope="module")
def probe():
    return make_probe(list(library_of("first-order", 150)), rng=np.random.default_rng(1))


def shares(text: str, probe) -> np.ndarray:
    return behaviour_of([parse_skeleton(text)], probe)[0]


@pytest.mark.parametrize("name", grammar_names())
def test_shares_lie_between_zero_and_one(name: str):
    skeletons = list(library_of(name, 60))
    found = behaviour_of(skeletons, make_probe(skeletons, rng=np.random.default_rng(0)))
    assert found.shape == (60, N_TESTS)
    assert np.all((found >= 0) & (found <= 1))
    assert np.mean(found.any(axis=1)) > 0.7
    assert np.ptp(found, axis=0).max() > 0.1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("u' = C*u + C", "u' = C + C*u"),
        ("u' = C*(C*u + C)", "3*u' - C*u = C"),
        ("u' = C*log(C*u)", "u' = C*log(u) + C"),
        ("u' = C*u/(C + u)", "C*u' = C*u/(C*u + C)"),
    ],
)
def test_same_family_has_the_same_shares(one: str, other: str, probe):
    np.testing.assert_allclose(shares(one, probe), shares(other, probe), atol=1e-9)


def test_labels_of_constants_do_not_matter(probe):
    tree = parse_tree("u' - C*sin(C*u) - C*u")
    relabelled = Skeleton(parse_tree("u' - C*u - C*sin(C*u)"))
    np.testing.assert_array_equal(*behaviour_of([Skeleton(tree), relabelled], probe))


def test_richer_family_expresses_more(probe):
    poor, rich = shares("u' = C*u", probe), shares("u' = C*u + C*u^2 + C", probe)
    assert np.all(rich >= poor - 1e-12)
    assert rich.sum() > poor.sum() + 1


def test_a_test_function_within_the_family_is_expressed_fully():
    alone = [parse_skeleton("u' = C*u + C*u^2")]
    found = behaviour_of(alone, make_probe(alone, rng=np.random.default_rng(2)))
    np.testing.assert_allclose(found, 1.0, atol=1e-9)


def test_same_rng_gives_the_same_probe():
    skeletons = list(library_of("b1", 30))
    one, again, other = (make_probe(skeletons, rng=np.random.default_rng(s)) for s in (3, 3, 4))
    np.testing.assert_array_equal(one.tests, again.tests)
    assert not np.array_equal(one.tests, other.tests)


def test_skeletons_without_finite_terms_are_no_trap(rng):
    """All of them overflow on the points: the probe still comes, and they express nothing."""
    wild = [parse_skeleton("u' = C*exp(exp(exp(exp(u + 9))))")]
    probe = make_probe(wild, rng=rng)
    assert probe.tests.shape == (N_TESTS, N_POINTS)
    assert not behaviour_of(wild, probe).any()


def test_inputs_are_columns_too(probe):
    assert shares("u'' = C*F + C*u", probe).sum() > shares("u'' = C*u", probe).sum()
