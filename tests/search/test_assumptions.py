"""Assumptions about a law: which terms keep them, and what they cost."""

import numpy as np
import pytest

import gode
from gode.equation import parse_tree
from gode.errors import ConfigError
from gode.search.assumptions import keeps


@pytest.mark.parametrize(
    ("name", "kept", "barred"),
    [
        (
            "odd",
            ["u", "u^3", "sin(C*u)", "u'*abs(u')", "u^2*u'", "u/(C + u^2)"],
            ["1", "u^2", "cos(u)", "exp(C*u)"],
        ),
        ("energy", ["u", "u^2", "sin(u)", "1"], ["u'", "u*u'", "t", "sin(C*t)"]),
        ("autonomous", ["u", "u'", "1"], ["t", "u*sin(C*t)"]),
        ("rest-at-zero", ["u", "u'", "sin(u)", "u*t"], ["1", "cos(u)", "t", "log(u)", "1/(C + u)"]),
    ],
)
def test_terms_that_break_an_assumption_are_barred(name, kept, barred):
    assert all(keeps(parse_tree(text), (name,)) for text in kept)
    assert not any(keeps(parse_tree(text), (name,)) for text in barred)


def test_an_unknown_assumption_is_refused():
    with pytest.raises(ConfigError, match="it takes odd, energy"):
        gode.discover([0, 1, 2], [0, 1, 2], assume="even")
    with pytest.raises(ConfigError, match="of second order"):
        gode.discover(np.arange(20.0), np.arange(20.0) ** 2, assume="energy")


def test_a_wrong_assumption_has_its_price_and_a_right_one_none():
    t = np.linspace(0, 10, 60)
    u = 5 / (1 + 9 * np.exp(-0.8 * t)) + 0.02 * np.random.default_rng(0).standard_normal(60)
    found = gode.discover(t, u, effort="quick", assume=["odd", "rest-at-zero"])
    odd, rest = found.remarks
    assert "assumed is odd" in odd
    assert "costs nothing" in rest
    assert all("u^2" not in str(c.equation).replace("u^2)", "") for c in found.candidates[:1])
