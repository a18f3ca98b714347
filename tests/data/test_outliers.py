from dataclasses import replace

import numpy as np

from gode.data import Dataset, make_run
from gode.data.noise import outliers, outliers_told
from gode.fitting.prepare import prepare

T = np.linspace(0, 10, 120)
LOGISTIC = 1 / (1 + 9 * np.exp(-T))


def noisy(u: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return u + share * u.std() * rng.normal(size=len(u))


def left_out(u: np.ndarray) -> np.ndarray:
    prepared = prepare(Dataset((make_run(t=T, u=u),)), 1, 1e-5)
    return np.flatnonzero(~np.isfinite(prepared.whole.dataset.runs[0].observed[0]))


def test_readings_far_from_the_curve_are_left_out_and_named():
    rng = np.random.default_rng(0)
    u = noisy(LOGISTIC, 0.03, rng)
    places = [20, 57, 58, 90]
    u[places] += 0.03 * LOGISTIC.std() * np.array([20, -20, -20, 20])
    prepared = prepare(Dataset((make_run(t=T, u=u),)), 1, 1e-5)
    assert left_out(u).tolist() == places
    (words,) = prepared.outliers
    assert words.startswith("4 readings of u lie far from the others and were left out: ")
    assert f"at t = {T[20]:.6g}" in words


def test_nothing_is_left_out_of_plain_noise_jumps_or_peaks():
    rng = np.random.default_rng(1)
    jump, peaks = np.where(T > 5, 1.0, 0.0), np.exp(-((T % 2.5 - 1.2) ** 2) / 0.02)
    for clean in (LOGISTIC, np.sin(3 * T), jump, peaks):
        for share in (0.0, 0.02, 0.1):
            assert left_out(noisy(clean, share, rng)).tolist() == []


def test_many_outliers_are_no_outliers():
    u = noisy(LOGISTIC, 0.03, np.random.default_rng(0))
    prepared = prepare(Dataset((make_run(t=T, u=u),)), 1, 1e-5)
    for n, named in ((12, 12), (13, 0)):  # a tenth of 120 readings
        seen = prepared.dataset.runs[0].observed.copy()
        seen[0, 4 : 4 + 8 * n : 8] += 2.5
        run = replace(prepared.dataset.runs[0], observed=seen)
        assert outliers(run, prepared.smooths[0]).sum() == named


def stepped(seed: int, noise: float) -> Dataset:
    """Return the response of first order to a held input, whose slope jumps with it."""
    rng = np.random.default_rng([5, 0, seed])
    t = np.linspace(0, 40, 160)
    force = rng.uniform(-1, 1, 9)[np.arange(160) // 20]
    u, keep = np.zeros(160), np.exp(-(t[1] - t[0]) / 0.8)
    for i in range(1, 160):
        u[i] = force[i - 1] + (u[i - 1] - force[i - 1]) * keep
    return Dataset((make_run(t=t, u=noisy(u, noise, rng), inputs={"F": force}),))


def test_the_bend_at_a_step_of_an_input_is_no_outlier():
    for seed in range(3):
        prepared = prepare(stepped(seed, 0.005), 1, 1e-5)
        assert prepared.outliers == []


def test_the_bend_at_a_jump_of_a_drifting_input_is_no_outlier():
    t = np.linspace(0, 40, 160)
    for seed in (0, 3):
        rng = np.random.default_rng([5, 0, seed])
        force = rng.uniform(-1, 1, 9)[np.arange(160) // 20] + 0.02 * t
        u, keep = np.zeros(160), np.exp(-(t[1] - t[0]) / 0.25)
        for i in range(1, 160):
            u[i] = force[i - 1] + (u[i - 1] - force[i - 1]) * keep
        data = Dataset((make_run(t=t, u=u + 0.002 * u.std() * rng.normal(size=160), inputs={"F": force}),))
        assert prepare(data, 1, 1e-5).outliers == []


def test_outliers_that_are_meant_are_kept():
    u = noisy(LOGISTIC, 0.03, np.random.default_rng(0))
    u[57] += 0.6 * LOGISTIC.std()
    data = Dataset((make_run(t=T, u=u),), keep_outliers=True)
    assert prepare(data, 1, 1e-5).outliers == []
    assert len(left_out(u)) == 1


def test_outliers_are_told_with_their_state_and_run():
    rng = np.random.default_rng(3)
    states = np.array([noisy(LOGISTIC, 0.03, rng), noisy(1 - LOGISTIC, 0.03, rng)])
    off = states.copy()
    off[1, 40] += 0.6 * LOGISTIC.std()
    runs = tuple(make_run(t=T, u=x.T, states=("hare", "lynx")) for x in (states, off))
    (words,) = prepare(Dataset(runs, states=("hare", "lynx")), 1, 1e-5).outliers
    assert words.startswith("One reading of lynx lies far from the others and was left out: ")
    assert f"at t = {T[40]:.6g} in run 1" in words
    assert "--keep-outliers" in words


def test_no_outlier_no_words():
    data = Dataset((make_run(t=T, u=LOGISTIC),))
    assert outliers_told(data, data) == []
