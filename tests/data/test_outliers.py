import numpy as np

from gode.data import Dataset, make_run
from gode.data.outliers import outliers, outliers_told
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
    assert words.startswith("4 readings lie far from the others and were left out: ")
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
        assert outliers(seen, prepared.smooths[0]).sum() == named


def test_no_outlier_no_words():
    data = Dataset((make_run(t=T, u=LOGISTIC),))
    assert outliers_told(data, data) == []
