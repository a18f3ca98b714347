import re

import numpy as np
import pytest

from gode.discovery import discover
from gode.equation import parse_skeleton
from gode.errors import ConfigError, GodeError
from gode.paper.losses_eq4_to_9 import residual_loss

T = np.linspace(0.0, 5.0, 50)
LOGISTIC = 4.0 / (1.0 + 7.0 * np.exp(-1.3 * T))


def relative(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def found(u, **options):
    return discover(T, u, **{"order": 1, "preset": "paper", "effort": "quick", **options})


@pytest.fixture(scope="module")
def growth():
    return found(LOGISTIC, initial=[0.5])


def test_growth_is_described_by_an_equation_of_the_papers_grammar(growth):
    assert growth.settings.grammar == "b1-paper"
    assert relative(growth.simulate().u, LOGISTIC) < 0.03
    assert growth.n_fitted > 100
    assert growth.prepared.smooths[0].hyperparameters[0] == 2000  # epochs of the network


def test_decay_is_found_without_the_symbols_left_out():
    decay = found(3 * np.exp(-0.7 * T), initial=[3.0], without=["log", "t"])
    assert relative(decay.simulate().u, 3 * np.exp(-0.7 * T)) < 0.02
    assert not any(re.search(r"\b(log|t)\b", str(c.equation)) for c in decay.candidates)


def test_ranking_is_that_of_the_residual_loss_and_the_constants_are_not_refitted(growth):
    losses = [residual_loss(c.equation, growth.prepared.columns) for c in growth.candidates]
    assert losses == sorted(losses)
    assert [c.criterion for c in growth.candidates] == pytest.approx(losses)


def test_all_of_the_result_works(growth):
    table = growth.equations
    assert table["criterion"].iloc[0] == 0.0
    assert table["why"].iloc[0].startswith("best")
    assert len(growth.ties) == 1
    assert growth.equation.constants
    assert all(0 < c.error < np.inf for c in growth.equation.constants)
    assert "u" in growth.equation.latex()
    assert growth.equation.rhs()


def test_the_same_seed_gives_the_same_answer(growth):
    again = found(LOGISTIC, initial=[0.5])
    assert [str(c.equation) for c in again.candidates] == [str(c.equation) for c in growth.candidates]
    assert again.n_fitted == growth.n_fitted


def test_an_oscillator_is_found_from_a_guess_by_solving():
    t = np.linspace(0.0, 2.0, 50)
    wave = discover(
        t, np.sin(3 * t), order=2, initial=[0.0, 3.0], preset="paper", effort="quick", start="u'' = C*u"
    )
    assert wave.settings.grammar == "b2-paper"
    assert wave.equation.equation.skeleton == parse_skeleton("u'' = C*u")
    assert relative(wave.simulate().u, np.sin(3 * t)) < 0.1
    assert all(np.isfinite(c.rms) for c in wave.candidates)


def test_an_interruption_of_the_search_leaves_the_best_so_far():
    steps = []

    def interrupt(step):
        steps.append(step)
        if step.stage == "latent space":
            raise KeyboardInterrupt

    stopped = found(LOGISTIC, on_step=interrupt)
    assert stopped.interrupted
    assert {step.stage for step in steps} == {"smoothing", "latent space"}
    assert steps[-1].n_fitted > 10
    assert steps[-1].best
    assert stopped.simulate().failure is None


def test_an_interruption_of_the_smoothing_still_leaves_an_equation():
    def interrupt(step):
        raise KeyboardInterrupt

    stopped = found(LOGISTIC, on_step=interrupt)
    assert stopped.interrupted
    assert stopped.simulate().failure is None


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"preset": "papers"}, ConfigError, "preset must be one of default, paper"),
        ({"grammar": "b3-paper"}, ConfigError, "have a known force; pass force="),
        ({"start": "u' = C*tanh(u)"}, GodeError, "cannot write"),
    ],
)
def test_bad_options_get_a_sentence(options, error, sentence):
    with pytest.raises(error, match=sentence):
        found(LOGISTIC, **options)


@pytest.mark.slow
def test_acceleration_under_a_known_force_is_searched_with_the_third_grammar():
    force = discover(
        T,
        acceleration=-np.sin(T) + np.cos(2 * T),
        order=2,
        initial=[0.0, 1.0],
        force="cos(2*t)",
        preset="paper",
        effort="quick",
    )
    assert force.settings.grammar == "b3-paper"
    assert force.simulate().failure is None
    assert " = F" in str(force)
