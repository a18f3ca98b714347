"""Causes are told apart by trying: each record has one thing wrong with it, and that is what is told."""

import re

import numpy as np
import pytest

import gode
from gode.discovery.causes import UNMEASURED, helpful, nothing_helps
from gode.discovery.remedies import Remedy, in_pieces, later
from gode.solve import solve

T = np.linspace(0.0, 30.0, 200)
STEP = T[1] - T[0]
FORCE = 2 * np.sin(0.9 * T) + 1.4 * np.sin(2.1 * T + 1) + np.sin(3.3 * T + 2)
FINE = np.linspace(-5.0, 30.0, 7001)
FINE_FORCE = 2 * np.sin(0.9 * FINE) + 1.4 * np.sin(2.1 * FINE + 1) + np.sin(3.3 * FINE + 2)


def noisy(clean, size=0.01, seed=0):
    return clean + size * np.random.default_rng(seed).standard_normal(clean.shape)


def driven(acting):
    """Return a plant of first order under what acts of the force."""
    inputs = {"F": (FINE[1000:], acting[1000:])}
    return noisy(solve(gode.parse_equation("u' = -0.7*u + 1.5*F"), T, [0.0], inputs=inputs).u)


def causes_of(u, law="u' = C*u + C*F", force=FORCE, **options):
    found = gode.fit(law, T, u, force=force, **options)
    assert found.quality.verdict.is_failure
    return found.causes


@pytest.mark.parametrize("delay", [0.6, *(pytest.param(x, marks=pytest.mark.slow) for x in (0.45, 1.1))])
def test_a_delay_is_told_to_half_a_sample_with_what_to_do(delay):
    acting = np.interp(FINE - delay, FINE, FINE_FORCE)
    (cause,) = causes_of(driven(acting))
    found = re.match(r"the input acts about ([\d.]+) units of time \(± ([\d.]+)\) later than it was", cause)
    assert found is not None, cause
    assert abs(float(found[1]) - delay) <= STEP / 2
    assert float(found[2]) == pytest.approx(STEP / 2, rel=0.1)
    assert "write F(t - tau) for F" in cause


@pytest.mark.slow
def test_an_input_that_was_shifted_too_far_is_told_as_early():
    acting = np.interp(FINE + 0.6, FINE, FINE_FORCE)
    (cause,) = causes_of(driven(acting))
    assert "earlier than it was recorded: --edit 'shift F by -0.6" in cause


def test_the_unit_of_time_is_told(tmp_path):
    acting = np.interp(FINE - 0.6, FINE, FINE_FORCE)
    found = gode.fit("u' = C*u + C*F", T, driven(acting), force=FORCE, units={"t": "h"})
    assert " h (± " in found.causes[0]


def test_a_limit_of_the_input_is_told_with_its_place():
    (cause,) = causes_of(driven(np.clip(FINE_FORCE, -1.5, 1.5)))
    low, high = map(float, re.search(r"below (-[\d.]+) and above ([\d.]+)", cause).groups())
    assert high == -low == pytest.approx(1.5, rel=0.1)


@pytest.mark.slow
def test_a_dead_zone_of_the_input_is_told_with_its_width():
    acting = np.sign(FINE_FORCE) * np.maximum(np.abs(FINE_FORCE) - 1.0, 0.0)
    (cause,) = causes_of(driven(acting))
    assert float(re.search(r"within about ± ([\d.]+)", cause)[1]) == pytest.approx(1.0, rel=0.15)


def test_dry_friction_is_told_and_not_a_delay():
    law = gode.parse_equation("u'' = -9*u - 0.1*u' - 0.8*sign(u')")
    t = np.linspace(0.0, 8.0, 240)
    u = noisy(solve(law, t, [1.0, 0.0]).u, 0.003)
    found = gode.fit("u'' = C*u + C*u'", t, u)
    assert found.quality.verdict.is_failure
    assert found.causes[0].startswith("dry friction seems to act on u: add C*sign(u')")
    assert not any("delay" in cause or "measured" in cause for cause in found.causes)


@pytest.mark.slow
def test_a_stop_is_told_with_its_place():
    law = gode.parse_equation("u'' = -0.3*u' - 29*u - 20*abs(u - 0.4) + 8 + F")
    force = 6 * np.sin(2.2 * T)
    u = noisy(solve(law, T, [0.0, 0.0], inputs={"F": force}).u, 0.005)
    cause, *_ = causes_of(u, "u'' = C*u + C*u' + C*F", force)
    assert float(re.search(r"where u passes about ([\d.]+)", cause)[1]) == pytest.approx(0.4, abs=0.05)


def test_a_stop_that_is_told_of_a_rigid_law_says_what_acts_and_what_each_letter_is():
    causes = causes_of(noisy(5 * np.sin(T)), "u' = 3", None)
    assert any("as if a stop or a gap acted on u there" in cause for cause in causes)
    assert all("is a constant to fit" in cause for cause in causes if "C*" in cause)


@pytest.mark.slow
def test_sensitivity_to_the_start_is_told_with_how_far_a_solution_holds():
    law = gode.parse_equation("u'' = -0.1*u' + u - u^3 + F")
    t = np.linspace(0.0, 150.0, 1500)
    force = 0.35 * np.cos(1.4 * t)
    u = noisy(solve(law, t, [0.2, 0.0], inputs={"F": force}).u, 0.005)
    found = gode.fit("u'' = C*u' + C*u + C*u^3 + C*F", t, u, force=force)
    assert found.quality.verdict.is_failure
    (cause,) = found.causes
    assert cause.startswith("small changes of the start grow tenfold in about")
    assert "cut the record into runs" in cause


def test_a_linear_swing_is_not_called_sensitive():
    u = noisy(np.cos(2 * T) * np.exp(-0.02 * T) + 0.5 * np.sin(5 * T), 0.01)
    found = gode.fit("u'' = C*u + C*u'", T, u)
    assert not any("small changes" in cause for cause in found.causes)


def test_a_system_has_causes_too():
    t = np.linspace(0.0, 12.0, 120)
    law = [gode.parse_equation("u' = -0.5*u + F")]
    force = np.sin(1.7 * t) + np.sin(0.6 * t + 1)
    late = np.interp(t - 0.8, t, force)
    x = solve(law[0], t, [0.0], inputs={"F": late}).u
    y = solve(law[0], t, [0.0], inputs={"F": x}).u
    found = gode.fit(
        ["x' = C*x + C*F", "y' = C*y + C*x"], t, noisy(np.c_[x, y]), names=["x", "y"], force=force
    )
    assert any("later than it was recorded" in cause for cause in found.causes)


@pytest.mark.slow
def test_individuals_have_causes_too():
    t = np.linspace(0.0, 12.0, 80)
    force = np.sin(1.7 * t) + np.sin(0.6 * t + 1)
    late = np.interp(t - 0.9, t, force)
    runs = [
        noisy(solve(gode.parse_equation(f"u' = -{k}*u + F"), t, [0.0], inputs={"F": late}).u)
        for k in (0.4, 0.7)
    ]
    found = gode.fit("u' = C*u + C*F", [t, t], runs, force=[force, force], individual=True)
    assert any("later than it was recorded" in cause for cause in found.causes)


def test_what_another_remedy_explains_much_better_is_not_told():
    good, weak, none = Remedy("a", 0.1, "first"), Remedy("b", 0.4, "second"), Remedy("c", 0.9, "third")
    close = Remedy("d", 0.12, "fourth")
    assert [cause.partition(";")[0] for cause in helpful([none, weak, close, good])] == ["first", "fourth"]
    assert helpful([none]) == []


@pytest.mark.parametrize(
    ("of_linear", "told"),
    [
        (False, "say so; that would leave 10 % of the misfit"),
        (True, "say so; with that a linear law would leave 10 % of the misfit"),
    ],
)
def test_what_a_remedy_leaves_is_claimed_of_the_law_that_was_tried(of_linear, told):
    assert helpful([Remedy("a", 0.1, "say so", of_linear)]) == [told]


def test_what_a_linear_law_leaves_is_not_claimed_of_the_law_that_was_found():
    acting = np.interp(FINE - 0.6, FINE, FINE_FORCE)
    (cause,) = causes_of(driven(acting), "u' = C*u^3 + C*F")
    assert "with that a linear law would leave" in cause


def test_what_remains_is_told_as_a_possibility_after_what_was_tried():
    sentence = nothing_helps([Remedy("a late input"), Remedy("dry friction")])
    assert "(a late input and dry friction)" in sentence
    assert UNMEASURED in sentence


def test_a_shift_moves_the_input_and_keeps_its_span():
    (run,) = gode.fit("u' = C*u + C*F", T, driven(FINE_FORCE), force=FORCE).prepared.target.dataset.runs
    for delay in (0.7, -0.7):
        moved = later(run, {"F": delay}).inputs["F"]
        assert (moved.t[0], moved.t[-1]) == (run.t[0], run.t[-1])
        assert np.all(np.diff(moved.t) > 0)
        inner = (moved.t > 1) & (moved.t < 29)
        expected = np.interp(moved.t[inner] - delay, T, FORCE)
        np.testing.assert_allclose(moved.values[inner], expected, atol=1e-9)


def test_pieces_keep_all_values_once():
    target = gode.fit("u' = C*u + C*F", T, driven(FINE_FORCE), force=FORCE).prepared.target
    pieces, owners = in_pieces(target, 5)
    assert owners == [0] * 5
    assert sum(run.n_points for run in pieces.dataset.runs) == len(T)
    whole = np.concatenate([run.observed[0] for run in pieces.dataset.runs])
    np.testing.assert_array_equal(whole, target.dataset.runs[0].observed[0])


def test_causes_are_sought_where_two_named_constants_act_as_one():
    hours = np.array([0.0, 0.25, 0.57, 1.12, 2.02, 3.82, 5.1, 7.03, 9.05, 12.12, 24.37])
    conc = np.array([0.74, 2.84, 6.57, 10.5, 9.66, 8.58, 8.36, 7.47, 6.89, 5.94, 3.28])
    found = gode.fit(
        ["gut' = -ka*gut", "c' = ka*gut/V - ke*c"],
        hours,
        {"c": conc},
        doses=[("gut", 0.0, 320.0)],
        initial={"gut": 0.0},
        bounds={"ka": (0.5, 10.0)},
    )
    assert 1.0 < found.equation["gut"].constants[0].value < 3.0
