"""Discovery of laws of several states."""

import numpy as np
import pytest

import gode
from gode.discovery import Step
from gode.equation.system import parse_system_values
from gode.errors import ConfigError
from gode.solve import solve

PREDATION = ["prey' = 1.1*prey - 0.4*prey*predator", "predator' = 0.1*prey*predator - 0.4*predator"]
NAMES = ["prey", "predator"]


@pytest.fixture(scope="module")
def records():
    """Times and noisy populations."""
    t = np.linspace(0.0, 15.0, 60)
    clean = solve(parse_system_values(PREDATION), t, [10.0, 5.0]).values[::3].T
    return t, clean * (1 + 0.03 * np.random.default_rng(2).standard_normal(clean.shape))


@pytest.fixture(scope="module")
def found(records):
    """The law behind them."""
    return gode.discover(*records, names=NAMES, effort="quick")


def test_predator_and_prey_are_found_from_their_numbers(found):
    assert str(found.equation["prey"]).startswith("prey' = ")
    structure = found.candidates[0].equation.skeleton.structure
    assert structure == parse_system_values(PREDATION).skeleton.structure
    rates = found.candidates[0].equation.skeleton.numbers(found.candidates[0].equation.constants)
    assert np.allclose(np.sort(np.abs(rates)), [0.1, 0.4, 0.4, 1.1], rtol=0.05)


def test_the_noise_is_told_to_be_a_share_of_the_value(found):
    shares = found.prepared.smooths[0].shares
    assert shares is not None
    assert np.allclose(shares[[0, 3], 1], 0.03, atol=0.01)


def test_a_mapping_of_names_gives_the_same_law(records, found):
    t, x = records
    again = gode.discover(t, {"prey": x[:, 0], "predator": x[:, 1]}, effort="quick")
    assert again.candidates[0].equation == found.candidates[0].equation
    assert again.candidates[0].criterion == found.candidates[0].criterion


def test_an_interruption_leaves_a_law(records):
    stopped = []

    def stop(step: Step) -> None:
        if step.n_solved and not stopped:
            stopped.append(step)
            raise KeyboardInterrupt

    found = gode.discover(*records, names=NAMES, effort="quick", on_step=stop)
    assert found.interrupted
    assert len(found.equation.states) == 2


def test_a_known_input_may_act_on_one_state_alone():
    t = np.linspace(0.0, 12.0, 80)
    law = parse_system_values(["x' = -x + 0.5*heat", "y' = x - 0.5*y"], inputs=("heat",))
    clean = solve(law, t, [1.0, 0.0], inputs={"heat": "sin(t)"}).values[::3].T
    noise = 0.01 * np.random.default_rng(5).standard_normal(clean.shape)
    found = gode.discover(t, clean + noise, names=["x", "y"], force={"heat": "sin(t)"}, effort="quick")
    assert found.candidates[0].equation.skeleton.structure == law.skeleton.structure
    assert "heat" in str(found.equation["x"])


def test_two_masses_on_springs_are_one_system_of_second_order():
    t = np.linspace(0.0, 10.0, 80)
    law = parse_system_values(["x'' = -5*x + 2*y", "y'' = 2*x - 4*y"])
    clean = solve(law, t, [1.0, 0.0, -2.0, 0.0]).values[::3].T
    noise = 0.01 * np.random.default_rng(6).standard_normal(clean.shape)
    found = gode.discover(t, clean + noise, names=["x", "y"], order=2, effort="quick")
    assert found.candidates[0].equation.skeleton.structure == law.skeleton.structure


def test_the_method_of_the_paper_knows_one_state(records):
    with pytest.raises(ConfigError, match="one state"):
        gode.discover(*records, names=NAMES, preset="paper")


def test_fit_finds_the_constants_of_a_given_system(records):
    texts = ["prey' = C*prey - C*prey*predator", "predator' = C*prey*predator - C*predator"]
    found = gode.fit(texts, *records)
    values = {c.place: c.value for c in found.equation["prey"].constants}
    assert sorted(values.values()) == pytest.approx([-0.4, 1.1], rel=0.05)


def test_one_state_with_two_inputs_is_fitted_with_their_own_names():
    t = np.linspace(0.0, 10.0, 60)
    clean = solve(parse_system_values(["u' = -u + 2*F + v1"], inputs=("F", "v1")), t, [0.5],
                  inputs={"F": "sin(t)", "v1": "cos(3*t)"}).u  # fmt: skip
    noisy = clean + 0.01 * np.random.default_rng(7).standard_normal(60)
    found = gode.fit("u' = C*u + C*heat + C*rain", t, noisy, force={"heat": "sin(t)", "rain": "cos(3*t)"})
    assert sorted(c.value for c in found.equation.constants) == pytest.approx([-1.0, 1.0, 2.0], rel=0.05)
