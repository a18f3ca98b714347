"""What is told of constants that the data do not determine one by one."""

import numpy as np
import pytest

import gode

T = np.linspace(0.2, 24.0, 30)
RNG = np.random.default_rng(0)


def noisy(clean):
    return clean + 0.02 * np.std(clean) * RNG.standard_normal(len(clean))


DECAY = noisy(np.exp(-T / 5))
ABSORBED = noisy(8 * 1.2 / (1.2 - 0.15) * (np.exp(-0.15 * T) - np.exp(-1.2 * T)))


def told(found):
    return [remark for remark in found.remarks if "determined" in remark]


@pytest.mark.parametrize(
    ("law", "combination"),
    [("u' = -a*b*u", "a*b"), ("u' = -(a + b)*u", "a + b"), ("u' = -a*u/b^2", "a/b^2")],
)
def test_combination_that_is_determined_is_told(law, combination):
    found = gode.fit(law, T, DECAY)
    assert told(found) == [f"a and b are not determined one by one by these data, only {combination} is"]


def test_columns_are_told_where_an_equation_has_none_of_them():
    (sentence,) = told(gode.fit("u' = -k*w", T, DECAY))
    assert sentence.startswith("k and w are not determined one by one by these data, only k*w is")
    assert sentence.endswith("the columns are t, u")


def test_size_of_a_hidden_state_and_what_it_is_multiplied_by_are_told():
    found = gode.fit(["d' = -ka*d", "c' = ka*d/V - ke*c"], T, {"c": ABSORBED})
    (sentence,) = told(found)
    assert "V and d(0.2) are not determined one by one" in sentence
    assert found.quality.verdict == "good"


def test_nothing_is_told_where_all_is_determined():
    assert not told(gode.fit("u' = -a*u + b", T, DECAY))
    known = gode.fit(["d' = -ka*d", "c' = ka*d/V - ke*c"], T, {"c": ABSORBED}, initial={"d": 6.3})
    assert not told(known)


def test_initial_value_that_is_zero_within_its_error_bar_is_determined():
    t = np.append(0.0, T)
    found = gode.fit(["c' = -ke*c + s*d", "d' = -ka*d"], t, {"c": 12 * (np.exp(-0.2 * t) - np.exp(-1.3 * t))})
    assert told(found) == ["s and d(0) are not determined one by one by these data, only s*d(0) is"]


def test_rates_that_may_change_places_are_told():
    found = gode.fit(["d' = -ka*d", "c' = ka*d - ke*c"], T, {"c": ABSORBED})
    (sentence,) = (remark for remark in found.remarks if "explained as well" in remark)
    assert "bounds choose between the two" in sentence


@pytest.mark.parametrize("seed", range(3))
def test_of_equally_good_constants_those_are_told_whose_hidden_state_is_fast(seed):
    rng = np.random.default_rng(seed)
    ka, ke = 1.2 * np.exp(0.2 * rng.standard_normal(2)) * (1.0, 0.15)
    since = T - T[0]
    clean = 10 * ka / (ka - ke) * (np.exp(-ke * since) - np.exp(-ka * since))
    measured = clean + 0.02 * np.std(clean) * rng.standard_normal(len(T))
    found = gode.fit(["d' = -ka*d", "c' = ka*d/V - ke*c"], T, {"c": measured}, initial={"d": 100.0})
    rates = {each.place: each.value for each in found.equation.constants}
    assert [rates["ka"], rates["ke"], rates["V"]] == pytest.approx([ka, ke, 10.0], rel=0.1)
    assert any("explained as well by" in remark for remark in found.remarks)
