import numpy as np
import pytest

import gode
from gode.discovery.forms import plainest_first, same_function
from gode.solve import solve


@pytest.fixture(scope="module")
def fits():
    t = np.linspace(0, 12, 200)
    path = solve(gode.parse_equation("u'' = -0.1*u' - 2*u - 0.35*u^3"), t, [0.6, 0.0])
    u = path.u + 0.01 * np.random.default_rng(0).standard_normal(len(t))
    texts = ("u'' = C*u' + C*u + C*u^3", "u'' = C*u' + C*u + C*sin(u)", "u'' = C*u' + C*u")
    return [gode.fit(text, t, u, initial=[0.6, 0.0]) for text in texts]


def test_forms_of_one_function_are_recognised(fits):
    cubic, sine, linear = (fit.candidates[0] for fit in fits)
    found = same_function(cubic, [cubic, sine, linear], fits[0].prepared)
    assert found == [cubic, sine]


def test_of_several_forms_the_most_plausible_is_named(fits):
    cubic, sine, _ = (fit.candidates[0] for fit in fits)
    selection = fits[0].settings.selection
    order = sorted([cubic, sine], key=lambda c: c.criterion)
    assert plainest_first(order, fits[0].prepared, selection)[0] is cubic
    assert plainest_first([sine], fits[0].prepared, selection) == [sine]


def test_a_law_that_was_given_has_no_probability(fits):
    assert np.isnan(fits[0].probability)
    assert fits[0].certainty == ""
