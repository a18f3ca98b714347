import numpy as np
import pytest

from gode.data.example import load_example
from gode.discovery import discover, fit
from gode.equation import parse_equation, parse_skeleton
from gode.equation.tree import symbols
from gode.errors import ConfigError, DataError, GodeError
from gode.solve import solve

T = np.linspace(0.0, 10.0, 80)


def oscillator(noise, rng):
    solved = solve(parse_equation("u'' = -0.4*u' - 4*u"), T, [1.0, 0.0])
    return solved.u + noise * rng.standard_normal(len(T))


@pytest.fixture(scope="module")
def growth():
    example = load_example("growth")
    return discover(example.t, example.u, order=1, effort="quick", seed=0)


def test_growth_is_found_with_error_bars_that_hold_the_truth(growth):
    assert growth.equation.equation.skeleton == parse_skeleton("u' = C*u + C*u^2")
    places = {c.place: c for c in growth.equation.constants}
    assert abs(places["u"].value - 0.62) < 4 * places["u"].error
    assert abs(places["u^2"].value + 0.053913) < 4 * places["u^2"].error
    assert growth.noise[0] == pytest.approx(0.03 * np.std(load_example("growth").u), rel=0.3)


def test_the_table_names_the_best_and_its_rivals(growth):
    table = growth.equations
    assert table["why"].iloc[0].startswith("best")
    assert table["criterion"].iloc[0] == 0.0
    assert table["criterion"].is_monotonic_increasing
    near = table[table["why"].str.startswith(("best", "near tie"))]
    assert [str(tie) for tie in growth.ties] == near["equation"].tolist()


def test_near_ties_are_the_least_set_that_is_probable_enough(growth):
    criteria = np.array([c.criterion for c in growth.candidates])
    chances = np.exp(-0.5 * (criteria - criteria.min()) / growth.settings.selection.temperature)
    held = np.cumsum(chances) / chances.sum()
    n = len(growth.ties)
    assert growth.settings.selection.level <= held[n - 1]
    assert n == 1 or held[n - 2] < growth.settings.selection.level


def test_simulation_goes_beyond_the_data(growth):
    later = growth.simulate(np.linspace(0.0, 40.0, 50), initial=[0.4])
    assert later.failure is None
    assert later.u[-1] == pytest.approx(11.5, rel=0.02)
    assert np.allclose(growth.simulate().u, load_example("growth").u, atol=1.0)


def test_the_same_seed_gives_the_same_answer_and_no_global_state_is_touched(growth):
    np.random.seed(5)  # noqa: NPY002  the global state is what is looked at
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    example = load_example("growth")
    again = discover(example.t, example.u, order=1, effort="quick", seed=0)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert again.equations["equation"].tolist() == growth.equations["equation"].tolist()
    assert again.n_fitted == growth.n_fitted


def test_an_interruption_leaves_a_usable_result():
    example = load_example("growth")

    def interrupt(step):
        if step.n_solved >= 3:
            raise KeyboardInterrupt

    found = discover(example.t, example.u, order=1, effort="quick", on_step=interrupt)
    assert found.interrupted
    assert found.simulate().failure is None


def test_an_early_interruption_still_leaves_an_equation():
    example = load_example("growth")

    def interrupt(step):
        if step.stage == "sums":
            raise KeyboardInterrupt

    found = discover(example.t, example.u, order=1, effort="quick", on_step=interrupt)
    assert found.interrupted
    assert found.simulate().u == pytest.approx(example.u, abs=0.3 * np.std(example.u))


def test_a_damped_oscillator_is_found_from_several_runs(rng):
    runs = [oscillator(0.02, rng) for _ in range(2)]
    found = discover([T, T], runs, order=2, effort="quick", initial=[[1.0, 0.0], [1.0, 0.0]])
    assert found.equation.equation.skeleton == parse_skeleton("u'' = C*u' + C*u")


def test_symbols_left_out_do_not_occur():
    example = load_example("growth")
    found = discover(example.t, example.u, order=1, effort="quick", without=["t", "log"])
    used = [symbols(parse_skeleton(text).normal) for text in found.equations["equation"]]
    assert not any({"t", "log"} & some for some in used)


def test_a_guess_is_tried():
    example = load_example("growth")
    found = discover(example.t, example.u, order=1, effort="quick", start="u' = C*u + C*u^2")
    assert found.equation.equation.skeleton == parse_skeleton("u' = C*u + C*u^2")


def test_fit_keeps_the_scale_that_a_force_fixes(rng):
    truth = parse_equation("2*u'' + u' + 5*u + 3*u^3 = F")
    force = "3*cos(1.3*t)"
    t = np.linspace(0.0, 20.0, 200)
    solved = solve(truth, t, [0.5, 0.0], inputs={"F": force})
    noisy = solved.u + 0.005 * rng.standard_normal(len(t))
    found = fit("C*u'' + C*u' + C*u + C*u^3 = F", t, noisy, force=force, initial=[0.5, 0.0])
    places = {c.place: c.value for c in found.equation.constants}
    assert places == pytest.approx({"u''": 2.0, "u'": 1.0, "u": 5.0, "u^3": 3.0}, rel=0.05)
    samples = 3 * np.cos(1.3 * t)
    same = fit("C*u'' + C*u' + C*u + C*u^3 = F", t, noisy, force=samples, initial=[0.5, 0.0])
    assert [c.value for c in same.equation.constants] == pytest.approx(list(places.values()), rel=1e-3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"preset": "best"}, "preset must be one of default, paper, got 'best'"),
        ({"order": 3}, "order must be 1, 2 or 'auto'"),
        ({"effort": "heroic"}, "effort must be one of quick, normal, thorough"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"grammar": "nowhere"}, "there is no model 'nowhere'"),
        ({"without": ["sinh"]}, "sinh"),
        ({"start": "u' = 2u"}, r"write '\*' for a product"),
        ({"initial": [1.0, 2.0, 3.0]}, "initial must be"),
        ({"force": "cos(u)"}, "may depend on t alone"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(GodeError, match=sentence) as caught:
        discover(T, np.exp(-T), **{"order": 1, "effort": "quick", **options})
    assert isinstance(caught.value, ValueError)


def test_a_guess_with_a_symbol_that_is_left_out_gets_a_sentence():
    with pytest.raises(ConfigError, match="start has log, which without= leaves out"):
        discover(T, T, start="u' = C*log(u)", without=["log"])


def test_runs_of_different_number_get_a_sentence():
    with pytest.raises(DataError, match="t holds 2 runs, so u must be a list of 2 arrays"):
        discover([T, T], [np.exp(-T)], order=1)


@pytest.mark.slow
def test_two_processes_give_the_answer_of_one(growth):
    example = load_example("growth")
    spread = discover(example.t, example.u, order=1, effort="quick", seed=0, n_jobs=2)
    assert spread.equations.equals(growth.equations)


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, True, "two"])
def test_a_wrong_number_of_processes_is_refused(n_jobs):
    with pytest.raises(ConfigError, match="n_jobs must be a whole number from 1 on"):
        discover(T, np.exp(-T), order=1, n_jobs=n_jobs)


def test_noise_alone_supports_no_equation(rng):
    found = discover(T, 3 + 0.1 * rng.standard_normal(len(T)), order=1, effort="quick")
    assert not found.supported
    assert str(found).startswith("no equation is supported by these data")


def test_an_implicit_equation_is_found_and_written_as_one():
    t = np.linspace(0.0, 3.0, 60)
    u = np.sqrt(4.0 - (t - 1.0) ** 2 / 4 + t)  # u*u' = 0.75 - t/4
    found = discover(t, u, order=1, grammar="implicit", effort="quick")
    assert found.simulate().failure is None
    assert np.allclose(found.simulate().u, u, atol=1e-3)


@pytest.mark.slow
def test_a_long_record_is_screened_on_a_part_and_decided_on_the_whole():
    t = np.linspace(0.0, 60.0, 1500)
    solved = solve(parse_equation("u'' = -0.02*u' - 4*u"), t, [1.0, 0.0])
    noise = 0.02 * np.random.default_rng(4).standard_normal(len(t))
    found = discover(t, solved.u + noise, order=2, effort="quick")
    assert found.prepared.target is not found.prepared.whole
    assert found.candidates[0].n_values == 1500
    assert found.equation.equation.skeleton == parse_skeleton("u'' = C*u' + C*u")


def test_fit_is_not_caught_by_the_pole_of_another_minimum(rng):
    t = np.linspace(0.0, 12.0, 90)
    found = solve(parse_equation("u' = u - u^2 - 0.4*u/(0.8 + u)"), t, [0.13])
    for _ in range(4):
        u = found.u + 0.01 * rng.standard_normal(len(t))
        g = fit("u' = C*u + C*u^2 + C*u/(u + C)", t, u, initial=[0.13])
        assert g.simulate().u == pytest.approx(found.u, abs=0.02)


def test_a_result_is_short_in_a_terminal_and_a_picture_in_a_notebook(growth):
    assert repr(growth.equation) == f"<{growth.equation}>"
    assert str(growth.equation) in repr(growth)
    shown = (growth, growth.predict([0.0, 1.0]), growth.candidates[0], growth.quality)
    assert all(len(repr(each)) < 200 for each in shown)
    assert list(growth.equations)[:2] == ["equation", "probability"]
    assert growth.plot()._repr_png_().startswith(b"\x89PNG")


def test_a_power_is_fitted_though_the_noise_goes_below_zero(rng):
    t = np.linspace(0.0, 8.0, 80)
    u = (1 + 0.2 * t) ** -5.0 - 0.02 + 0.005 * rng.standard_normal(80)
    found = fit("u' = C*u^C", t, u, initial=[1.0])
    assert found.candidates[0].rms < 3
    assert found.simulate().u[-1] == pytest.approx(0.02, abs=0.02)


def test_rough_data_do_not_lead_the_fit_of_an_epidemic_astray():
    daily = [3.0, 9.0, 26.0, 70.0, 164.0, 266.0, 290.0, 251.0]  # of 763, about u'/u = 0.002*S - 0.4
    found = fit("u'' = u'^2/u + C*u*u' + C*u^2", np.arange(8.0), daily)
    assert found.candidates[0].rms < 3
    assert [c.value for c in found.equation.constants] == pytest.approx([-0.002, -0.0008], rel=0.5)


@pytest.mark.slow
def test_a_body_that_friction_brings_to_rest():
    t = np.linspace(0, 14, 200)
    u = solve(parse_equation("u'' = -0.35*sign(u') - 7*u"), t, [0.97, 0.0]).u
    found = discover(t, u + 0.01 * np.random.default_rng(2).normal(size=200), order=2, effort="quick")
    assert str(found.equation.equation.skeleton) == "u'' = C*sign(u') + C*u"
    assert [c.value for c in found.equation.constants] == pytest.approx([-0.35, -7], rel=0.01)


@pytest.mark.slow
def test_a_stiffening_body_is_found_from_drifting_accelerations():
    t, force = np.linspace(0, 40, 300), "cos(2*t)"
    true = solve(parse_equation("u'' = -0.2*u' - 1.5*u - 5*u^3 + 0.2*F"), t, [0.0, 0.8], inputs={"F": force})
    noisy = true.d2u + 0.15 * np.std(true.d2u) * np.random.default_rng(1).normal(size=300)
    found = discover(t, acceleration=noisy, initial=[0.0, 0.8], force=force, order=2, effort="quick")
    assert found.simulate().u == pytest.approx(true.u, abs=0.05 * np.abs(true.u).max())
