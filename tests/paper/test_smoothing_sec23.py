import numpy as np
import pytest

from gode.data import make_run
from gode.errors import ConfigError, DataError
from gode.paper.smoothing_sec23 import (
    Goal,
    MlpConfig,
    Units,
    dominant_period,
    make_goal,
    mlp_loss,
    oscillates,
    smooth_mlp,
)

T = np.linspace(0.0, 6.0, 45)
QUICK = MlpConfig(epochs=2500, blind_epochs=2500)


def relative(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def smoothed(run, config=QUICK, **options):
    return smooth_mlp(run, config=config, rng=np.random.default_rng(0), **options)


def test_noise_is_taken_out_and_its_size_found(rng):
    true = np.exp(-0.5 * T)
    noisy = true + 0.05 * rng.standard_normal(len(T))
    smooth = smoothed(make_run(T, u=noisy))
    assert relative(smooth.values[0], true) < 0.7 * relative(noisy, true)
    assert relative(smooth.values[1], -0.5 * true) < 0.4
    assert smooth.noise[0] == pytest.approx(0.05, rel=0.3)
    assert np.isnan(smooth.noise[1:]).all()
    covered = np.abs(smooth.values[0] - true) < 3 * smooth.deviations[0]
    assert np.mean(covered) > 0.6
    assert np.all(smooth.deviations[0] < 0.05)


def test_acceleration_and_initial_values_give_the_state_back():
    run = make_run(T, acceleration=-4 * np.sin(2 * T), initial=[0.0, 2.0])
    smooth = smoothed(run, period=1.0)
    assert relative(smooth.values[2], -4 * np.sin(2 * T)) < 0.05
    assert relative(smooth.values[1], 2 * np.cos(2 * T)) < 0.1
    assert relative(smooth.values[0], np.sin(2 * T)) < 0.3
    assert np.isfinite(smooth.noise[2])


def test_velocity_alone_gives_the_state_back():
    smooth = smoothed(make_run(T, velocity=np.cos(T), initial=[0.0]))
    assert relative(smooth.values[0], np.sin(T)) < 0.1


def test_the_same_rng_gives_the_same_network_and_another_does_not():
    run, config = make_run(T, u=np.exp(-T)), MlpConfig(epochs=20)
    first, second = smoothed(run, config), smoothed(run, config)
    other = smooth_mlp(run, config=config, rng=np.random.default_rng(1))
    assert np.array_equal(first.values, second.values)
    assert not np.array_equal(first.values, other.values)


@pytest.mark.parametrize(("time", "size"), [(1e-6, 1e6), (1e5, 1e-9)])
def test_far_units_do_not_matter(time, size):
    config = MlpConfig(epochs=400)
    plain = smoothed(make_run(T - 2.0, u=np.exp(-T)), config)
    run = make_run((T - 2.0) * time + 40 * time, u=size * np.exp(-T))
    scaled = smoothed(run, config)
    assert np.all(np.isfinite(scaled.values))
    assert relative(scaled.values[0] / size, np.exp(-T)) < 0.2
    assert relative(plain.values[0], np.exp(-T)) < 0.2


def test_loss_of_displacements_is_their_mean_square_error():
    goal = Goal(np.array([[1.0, np.nan, 3.0]]), np.full(2, np.nan), np.zeros((1, 0)), 1e-3)
    loss, slope = mlp_loss(np.array([[2.0, 7.0, 5.0]]), goal)
    assert loss == pytest.approx((1 + 4) / 2)
    assert slope == pytest.approx(np.array([[1.0, 0.0, 2.0]]))


def test_loss_of_accelerations_is_equation_11():
    t = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    run = make_run(t, acceleration=[1.0, 0.0, -1.0, 0.0, 1.0], initial=[0.5, -0.5])
    goal = make_goal(run, Units.of(run), 2.0, 1e-3)
    out = np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 1.0, 3.0, 5.0], [1.0, 0.0, 0.0, 0.0, 1.0]])
    prediction = 1 / 5
    start = 0.5**2 + 2.5**2
    # from t = 2 on: u is a straight line, all of which is trend; the mean of u' is 3
    drift = ((4 + 9 + 16) + 3 * 9) / 3
    assert mlp_loss(out, goal)[0] == pytest.approx(prediction + start + 1e-3 * drift)


def test_slope_of_the_loss_agrees_with_finite_differences(rng):
    run = make_run(T, acceleration=np.sin(T), initial=[0.5, -0.5])
    goal = make_goal(run, Units.of(run), 2.0, 0.7)
    out = rng.standard_normal((3, len(T)))
    _, slope = mlp_loss(out, goal)
    for place in [(0, 0), (1, 0), (2, 3), (0, 40), (1, 44)]:
        step = np.zeros_like(out)
        step[place] = 1e-6
        numeric = (mlp_loss(out + step, goal)[0] - mlp_loss(out - step, goal)[0]) / 2e-6
        assert slope[place] == pytest.approx(numeric, rel=1e-5, abs=1e-7)


def test_waves_oscillate_and_decays_do_not(rng):
    noise = 0.05 * rng.standard_normal(len(T))
    assert oscillates(make_run(T, u=np.sin(4 * T) + 0.3 * T + noise))
    assert not oscillates(make_run(T, u=np.exp(-T) + 0.2 * noise))


def test_period_of_a_wave_is_found():
    t = np.linspace(0.0, 60.0, 601)
    assert dominant_period(t, 3 + 2 * np.sin(0.5 * t)) == pytest.approx(4 * np.pi, rel=0.1)
    assert dominant_period(t, np.full(601, 2.0)) == 0.0


def test_unknown_initial_values_get_a_sentence():
    with pytest.raises(DataError, match=r"needs u\(t0\) and u'\(t0\); pass initial="):
        smoothed(make_run(T, acceleration=np.sin(T), initial=[1.0]))


def test_epochs_must_be_positive():
    with pytest.raises(ConfigError, match="epochs must be at least 1"):
        MlpConfig(epochs=0)
