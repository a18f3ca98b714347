from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.discovery.rivals import MAX_RIVALS, with_weights
from gode.equation import parse_equation

T = np.linspace(0.0, 6.0, 60)


@pytest.fixture(scope="module")
def found():
    noise = 0.02 * np.random.default_rng(3).standard_normal(len(T))
    return gode.fit("u' = C*u", T, 2 * np.exp(-0.7 * T) + noise)


def rival(found, text, **changes):
    return replace(found.candidates[0], equation=parse_equation(text), **changes)


def weights(found, *others):
    return [w for _, w in with_weights(found.candidates[0], others, found.prepared, found.settings.selection)]


def test_an_equation_as_good_as_the_one_named_weighs_as_much(found):
    assert weights(found, found.candidates[0]) == pytest.approx([0.5])
    assert weights(found, *[found.candidates[0]] * 3) == pytest.approx([0.25] * 3)


def test_a_fitted_number_more_without_a_gain_weighs_less(found):
    named = found.candidates[0]
    (weight,) = weights(found, replace(named, n_free=named.n_free + 1))
    ratio = weight / (1 - weight)
    assert ratio < np.exp(-0.5 * np.log(len(T)))  # Schwarz's price, and the accuracy of the data on top
    assert ratio > 1e-4


def test_what_fits_badly_or_has_no_solution_is_left_out(found):
    assert weights(found, rival(found, "u' = -0.3*u"), rival(found, "u' = 9*u^2")) == []


def test_no_more_than_a_number_of_rivals_is_weighed(found):
    assert len(weights(found, *[found.candidates[0]] * (MAX_RIVALS + 5))) == MAX_RIVALS
