import numpy as np
import pytest

from gode.data import make_run, smooth_gp
from gode.data.gp import covariance, functionals

T = np.linspace(0.0, 6.0, 90)


def relative(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def test_noise_is_taken_out_and_its_size_found(rng):
    true = np.sin(1.5 * T) + 0.3 * T
    noisy = true + 0.05 * rng.standard_normal(len(T))
    smooth = smooth_gp(make_run(T, u=noisy))
    assert relative(smooth.values[0], true) < 0.5 * relative(noisy, true)
    assert relative(smooth.values[1], 1.5 * np.cos(1.5 * T) + 0.3) < 0.06
    assert smooth.noise[0] == pytest.approx(0.05, rel=0.3)
    assert np.isnan(smooth.noise[1:]).all()


@pytest.mark.parametrize("seed", [1, 7, 10, 11])
def test_loud_noise_about_a_slow_change_is_not_taken_for_the_signal(seed):
    t = np.linspace(0.0, 10.0, 150)
    true = 1.3 - 0.025 * t + 0.02 * np.sin(t)
    noisy = true + 0.06 * np.random.default_rng(seed).standard_normal(len(t))
    found = smooth_gp(make_run(t, u=noisy))
    assert found.noise[0] == pytest.approx(0.06, rel=0.25)
    assert np.sqrt(np.mean((found.values[0] - true) ** 2)) < 0.02


def test_deviations_cover_the_truth(rng):
    inside = []
    for _ in range(10):
        noisy = np.sin(T) + 0.1 * rng.standard_normal(len(T))
        smooth = smooth_gp(make_run(T, u=noisy))
        for values, deviations, true in zip(
            smooth.values[:2], smooth.deviations[:2], (np.sin(T), np.cos(T)), strict=True
        ):
            inside.append(np.mean(np.abs(values - true) < 1.96 * deviations))
    assert 0.85 < np.mean(inside) <= 1.0


def test_acceleration_alone_gives_the_state_back_from_known_initial_values():
    run = make_run(T, acceleration=-4 * np.sin(2 * T), initial=[0.0, 2.0])
    smooth = smooth_gp(run)
    assert relative(smooth.values[0], np.sin(2 * T)) < 0.02
    assert relative(smooth.values[1], 2 * np.cos(2 * T)) < 0.01


def test_velocity_alone_gives_the_state_back():
    smooth = smooth_gp(make_run(T, velocity=np.cos(T), initial=[0.0]))
    assert relative(smooth.values[0], np.sin(T)) < 0.01


def test_known_initial_values_are_met(rng):
    noisy = np.exp(-T) + 0.05 * rng.standard_normal(len(T))
    smooth = smooth_gp(make_run(T, u=noisy, initial=[1.0, -1.0]))
    assert smooth.values[0, 0] == pytest.approx(1.0, abs=2e-3)
    assert smooth.values[1, 0] == pytest.approx(-1.0, abs=2e-2)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_units_do_not_matter(unit):
    signal = np.sin(T) + 0.02 * np.random.default_rng(3).standard_normal(len(T))
    smooth = smooth_gp(make_run(T * 1e3, u=signal * unit))
    assert np.allclose(
        smooth.values[0] / unit, smooth_gp(make_run(T, u=signal)).values[0], rtol=1e-3, atol=1e-3
    )


def test_covariances_of_derivatives_are_derivatives_of_covariances():
    x, step = np.array([0.3, 0.7]), 1e-5

    def at(place, order):
        return functionals(place, np.full(len(place), float(order)), 1.3)

    for order in (1, 2):
        exact = covariance(at(x, order), at(x, 0), 0.2, 0.7, 2.0)
        up, down = (covariance(at(x + s, order - 1), at(x, 0), 0.2, 0.7, 2.0) for s in (step, -step))
        assert np.allclose(exact, (up - down) / (2 * step), rtol=1e-6, atol=1e-6)
