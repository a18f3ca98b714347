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
        (
            "no-spontaneous",
            ["u", "u^C", "u*log(u)", "u*v1", "u*v1/(C + u)", "sin(u)", "u*t", "u*exp(C*v1)", "u'*v1"],
            ["1", "v1", "v1*exp(C*u)", "cos(u)", "t", "F", "v1/u", "log(u)", "1/(C + u)", "u*u'"],
        ),
    ],
)
def test_terms_that_break_an_assumption_are_barred(name, kept, barred):
    assert all(keeps(parse_tree(text, inputs=("F", "v1")), (name,), 1) for text in kept)
    assert not any(keeps(parse_tree(text, inputs=("F", "v1")), (name,), 1) for text in barred)


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


T = np.linspace(0, 8, 60)
RELAXING = 2.5 - 2.2 * np.exp(-0.9 * T) + 0.02 * np.random.default_rng(0).standard_normal(60)


@pytest.mark.slow
def test_a_known_equilibrium_is_one_of_the_law():
    found = gode.discover(T, RELAXING, effort="quick", assume=["rest-at=2.5", "autonomous"])
    assert float(found.equation.rhs().split(" + ")[-1]) == pytest.approx(2.5 * 0.9, rel=0.03)
    assert [round(e.values[0].value, 6) for e in found.answers().equilibria] == [2.5]
    assert "2.5 is an equilibrium; it costs nothing" in found.remarks[0]


@pytest.mark.slow
def test_an_equilibrium_that_is_none_has_its_price():
    found = gode.discover(T, RELAXING, effort="quick", assume=["rest-at=2", "autonomous"])
    assert "the data speak against it" in found.remarks[0]


@pytest.mark.slow
def test_assumptions_about_a_system_are_kept_and_have_their_price():
    t = np.linspace(0, 16, 90)
    x = 1 + 0.5 * np.cos(t)
    y = 1 + 0.5 * np.sin(t)
    found = gode.discover(
        t, {"x": x, "y": y}, effort="quick", assume=["rest-at=x:1,y:1", "autonomous", "nonnegative"]
    )
    assert [tuple(round(v.value, 4) for v in e.values) for e in found.answers().equilibria] == [(1.0, 1.0)]
    assert len([remark for remark in found.remarks if "costs" in remark]) == 3
    assert not any("not tried" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"assume": "rest-at=a"}, 8),
        ({"assume": "rest-at="}, 8),
        ({"assume": "rest-at=x:1"}, 8),
        ({"assume": "rest-at=u:1,v:b"}, 14),
        ({"assume": "rest-at=2", "order": "auto"}, 8),
    ],
)
def test_an_equilibrium_that_cannot_be_read_is_refused_with_a_caret(options, place):
    with pytest.raises(ConfigError, match=r"rest-at=2\.5") as caught:
        gode.discover(T, RELAXING, **options)
    assert str(caught.value).splitlines()[-1] == "  " + " " * place + "^"


def test_an_equilibrium_beside_a_frame_is_refused_with_the_frame_that_it_means():
    with pytest.raises(ConfigError, match=r"stands for the frame u' = f\(u, t\) - f\(2.5, t\)"):
        gode.discover(T, RELAXING, assume="rest-at=2.5", frame="u' = f(u)")
