import numpy as np
import pytest

from gode.data.from_arrays import make_dataset
from gode.discovery import fit
from gode.equation import parse_skeleton
from gode.fitting import ConstantsConfig, fit_constants
from gode.fitting.cheap import without_drift
from gode.fitting.prepare import along, prepare, resolves_inputs

T = np.linspace(0.0, 10.0, 120)


def smoothed(u):
    return prepare(make_dataset(T, u, None, None, None, None), 1, 1e-5).columns.matrix[1]


def test_a_decay_to_zero_stays_positive(rng):
    u = np.exp(-T) + 0.02 * rng.standard_normal(len(T))
    assert u.min() < 0
    assert smoothed(u).min() > 0
    assert smoothed(-u).max() < 0


def test_an_oscillation_keeps_both_signs(rng):
    u = np.sin(2 * T) + 0.02 * rng.standard_normal(len(T))
    assert smoothed(u).min() < -0.9
    assert smoothed(u).max() > 0.9


def test_five_accelerations_are_enough_and_raise_no_warning():
    dataset = make_dataset(np.arange(5.0), None, None, np.array([1.0, -0.2, -0.9, 0.3, 0.8]), None, None)
    assert prepare(dataset, 2, 1e-5).columns.n_points == 5


def test_the_drift_of_integrated_accelerations_is_taken_out(rng):
    t = np.linspace(0.0, 30.0, 400)
    a = -9 * np.sin(3 * t) + 0.5 * rng.standard_normal(len(t))
    dataset = make_dataset(t, None, None, a, None, [0.0, 3.0])
    prepared = prepare(dataset, 2, 1e-5)
    drifting, straight = prepared.columns.matrix, without_drift(dataset, prepared.columns).matrix
    for i, true in ((1, np.sin(3 * t)), (2, 3 * np.cos(3 * t))):
        assert np.std(straight[i] - true) < 0.2 * np.std(true)
        assert np.std(straight[i] - true) < np.std(drifting[i] - true)
    assert np.array_equal(straight[3], drifting[3])


def test_a_start_that_is_smoothed_to_the_wrong_side_of_zero_does_not_end_a_fit():
    t = np.linspace(0.0, 6.0, 80)
    u = 1.5 - 1.5 * np.exp(-0.8 * t) + 0.05 * np.random.default_rng(2).standard_normal(80)
    found = fit("u' = C*u + C*u^0.3", t, u)
    assert found.candidates[0].initial[0, 0] > 0
    assert found.candidates[0].rms < 1.2


def test_noise_in_proportion_stays_so_along_the_solution_of_a_law(rng):
    t = np.linspace(0.0, 8.0, 120)
    u = 5 * np.exp(-t) * (1 + 0.05 * rng.standard_normal(len(t)))
    found = fit("u' = C*u", t, u)
    best = found.candidates[0]
    (path,) = along(found.prepared, [best.equation], best.initial, [1.0])
    assert path.sigma[0] / path.values[0] == pytest.approx(0.05, rel=0.3)


def pushed(width, rng):
    """Return positions under a force of forty pulses of this width, at any times and of any size."""
    t = np.linspace(0.0, 20.0, 4000)
    force = np.zeros(len(t))
    for centre in rng.uniform(0.2, 19.8, 40):
        force += rng.standard_normal() * np.exp(-(((t - centre) / width) ** 2))
    velocity = t[1] * np.cumsum(force)
    return t, t[1] * np.cumsum(velocity), force


def test_cheap_scores_see_all_samples_of_an_input_that_averages_do_not_resolve(rng):
    for width, resolved in ((0.3, True), (0.025, False)):
        t, u, force = pushed(width, rng)
        dataset = make_dataset(t, u, force=force)
        prepared = prepare(dataset, 2, 1e-5)
        assert resolves_inputs(prepared.target.dataset, prepared.whole.dataset) == resolved
        gaps = np.diff(prepared.problems[0].columns.matrix[0])
        assert (np.median(gaps) > 1.5 * np.median(np.diff(prepared.whole.dataset.runs[0].t))) == resolved


def test_pulses_that_averages_do_not_resolve_explain_what_they_move(rng):
    t, u, force = pushed(0.03, rng)
    problem = prepare(make_dataset(t, u, force=force), 2, 1e-5).problems[0]
    found = fit_constants(parse_skeleton("u'' = C*F + C"), problem, config=ConstantsConfig())
    assert found.loss < 0.03 * np.std(problem.operator.target)
