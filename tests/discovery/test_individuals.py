"""One law behind several runs, each with constants of its own."""

import numpy as np
import pytest

import gode
from gode.errors import ConfigError, DataError

T = np.linspace(0.0, 10.0, 8)
RATES = np.array([0.7, 0.9, 1.1, 0.8, 1.0])
LEVELS = np.array([8.0, 12.0, 9.0, 11.0, 10.0])
LAW = "u' = r*u*(1 - u/K)"


def _curves(rates, levels, noise=0.1):
    rng = np.random.default_rng(3)
    return [
        k / (1 + 9 * np.exp(-r * T)) + noise * rng.standard_normal(len(T))
        for r, k in zip(rates, levels, strict=True)
    ]


@pytest.fixture(scope="module")
def grown():
    return gode.fit(LAW, [T] * 5, _curves(RATES, LEVELS), individual=True)


def test_each_run_has_its_constants_with_error_bars(grown):
    table = grown.individuals
    assert list(table.columns) == ["r", "r error", "K", "K error"]
    assert list(table.index) == [f"run {i}" for i in range(5)]
    assert np.all(np.abs(table["K"] - LEVELS) < 4 * table["K error"])
    assert np.all(np.abs(table["r"] - RATES) < 4 * table["r error"])
    assert grown.quality.verdict == "good"


def test_the_population_has_a_mean_and_a_spread(grown):
    row = grown.population.loc["K"]
    assert row["mean"] == pytest.approx(LEVELS.mean(), abs=2 * row["error"])
    assert row["spread"] == pytest.approx(LEVELS.std(ddof=1), rel=0.5)
    assert [c.value for c in grown.equation.constants] == pytest.approx(grown.population["mean"].tolist())


def test_each_run_is_simulated_with_its_own_constants(grown):
    far = [grown.simulate([0.0, 40.0], run=i).u[-1] for i in range(5)]
    assert far == pytest.approx(grown.individuals["K"].tolist(), rel=1e-3)
    band = grown.predict([0.0, 10.0], run=1)
    assert band.upper[-1] - band.lower[-1] < 1.5


def test_a_record_of_individuals_loads_as_it_was(grown, tmp_path):
    grown.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert again.individuals.equals(grown.individuals)
    assert again.population.to_numpy() == pytest.approx(grown.population.to_numpy(), rel=1e-9)
    assert again.predict([0.0, 5.0], run=2).upper == pytest.approx(grown.predict([0.0, 5.0], run=2).upper)


def test_an_export_is_of_the_mean_or_of_a_run(grown):
    mean, level = (float(grown.population["mean"]["K"]), float(grown.individuals["K"].iloc[1]))
    assert f"{mean:.12g}"[:9] in grown.export("python")
    assert f"{level:.12g}"[:9] in grown.export("python", run=1)
    with pytest.raises(DataError, match="run must be a number from 0 to 4"):
        grown.export("python", run="B7")


def test_points_of_a_new_individual_narrow_its_prediction(grown):
    later = np.linspace(0.0, 20.0, 5)
    before = grown.predict_new(later, initial=[1.0])
    seen = T[:5], (12.0 / (1 + 9 * np.exp(-1.0 * T)))[:5]
    after = grown.predict_new(later, seen=seen)
    widths = [band.upper[-1] - band.lower[-1] for band in (before, after)]
    assert before.lower[-1] < 10.0 < before.upper[-1]
    assert widths[0] > 3.0
    assert widths[1] < 0.6 * widths[0]
    assert after.u[-1] == pytest.approx(12.0, abs=widths[1])


def test_a_new_individual_cannot_be_seen_after_it_is_predicted(grown):
    with pytest.raises(DataError, match="before the first point seen"):
        grown.predict_new([0.0, 1.0], seen=([0.5, 1.0], [1.0, 2.0]))


def test_named_constants_may_differ_while_others_are_shared():
    found = gode.fit(LAW, [T] * 5, _curves([0.9] * 5, LEVELS), individual=["K"])
    assert list(found.individuals.columns) == ["K", "K error"]
    rate = next(c for c in found.equation.constants if c.name == "r")
    assert rate.value == pytest.approx(0.9, abs=3 * rate.error)
    assert rate.error < 0.05


def test_constants_of_runs_and_shared_ones_are_told_with_units():
    curves = _curves(RATES, [10.0] * 5)
    found = gode.fit(LAW, [T] * 5, curves, individual=["r"], units={"t": "h", "u": "g"})
    (rate,) = found.equation.per_run
    assert rate.label == "r [1/h]"
    assert str(rate).endswith(" 1/h")
    assert len(rate.runs) == 5
    (shared,) = found.equation.of_all_runs
    assert (shared.name, shared.unit) == ("K", "g")
    assert shared.value == pytest.approx(10.0, rel=0.05)


def test_the_criterion_decides_constant_by_constant():
    found = gode.fit(LAW, [T] * 5, _curves([0.9] * 5, LEVELS), individual="auto")
    assert list(found.individuals.columns) == ["K", "K error"]


def test_runs_that_are_alike_share_all_constants():
    found = gode.fit(LAW, [T] * 5, _curves([0.9] * 5, [10.0] * 5), individual="auto")
    assert list(found.individuals.columns) == []
    assert found.candidates[0].own is None


def test_constants_without_a_name_have_letters():
    found = gode.fit("u' = C*u", [T] * 3, [np.exp(-k * T) for k in (0.2, 0.3, 0.5)], individual=True)
    assert found.equation.lines_per_run() == ["u' = -a*u"]
    assert found.individuals["a"].tolist() == pytest.approx([0.2, 0.3, 0.5], rel=1e-3)


def test_letters_follow_the_text():
    rows = zip(RATES[:3], LEVELS[:3], strict=True)
    curves = [k / (1 + 9 * np.exp(-r * T)) for r, k in rows]
    found = gode.fit("u' = C*u^2 + C*u", [T] * 3, curves, individual=True)
    assert found.equation.lines_per_run() == ["u' = a*u - b*u^2"]
    assert found.individuals["a"].tolist() == pytest.approx(RATES[:3], rel=1e-3)
    assert (found.individuals["a"] / found.individuals["b"]).tolist() == pytest.approx(LEVELS[:3], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "share",
    [
        pytest.param(True, marks=pytest.mark.xfail(strict=True, reason="eight points a run: kind not seen")),
        False,
    ],
)
def test_residuals_tell_whether_noise_is_a_share_of_the_value(share):
    rng = np.random.default_rng(4)
    t = np.linspace(0, 10, 8)
    rates, levels = rng.normal(0.8, 0.15, 12), rng.normal(10.0, 2.0, 12)
    curves = [k / (1 + 9 * np.exp(-r * t)) for r, k in zip(rates, levels, strict=True)]
    noise = [0.05 * (u if share else 3.0) * rng.standard_normal(8) for u in curves]
    found = gode.fit(LAW, [t] * 12, [u + e for u, e in zip(curves, noise, strict=True)], individual=True)
    assert found.noise_kinds == {"u": "multiplicative" if share else "additive"}
    mean = found.population.loc["r"]
    assert abs(mean["mean"] - rates.mean()) < 2 * np.median(found.individuals["r error"]) / np.sqrt(12)


def test_bad_questions_are_one_sentence():
    curves = _curves(RATES, LEVELS)
    with pytest.raises(DataError, match="there is only one; pass lists"):
        gode.fit(LAW, T, curves[0], individual=True)
    with pytest.raises(ConfigError, match=r"'Q', which is no constant of the equation.*are r, K"):
        gode.fit(LAW, [T] * 5, curves, individual=["Q"])
    with pytest.raises(ConfigError, match="individual must be True, 'auto' or names"):
        gode.fit(LAW, [T] * 5, curves, individual=2.5)
    with pytest.raises(ConfigError, match="it has no named constants"):
        gode.discover([T] * 5, curves, individual=["K"])
    many = "u' = C + C*u + C*u^2 + C*u^3 + C*u^4 + C*t"
    with pytest.raises(DataError, match="run 1 has 6 values, too few for 6 constants"):
        gode.fit(many, [T, T[:6]], [curves[0], curves[1][:6]], individual=True)


@pytest.mark.slow
def test_the_law_of_a_dozen_short_runs_is_found_together():
    rng = np.random.default_rng(0)
    rates, levels = rng.normal(0.8, 0.15, 12), rng.normal(10.0, 2.0, 12)
    found = gode.discover([T] * 12, _curves(rates, levels, noise=0.15), individual=True, effort="quick")
    assert found.equation.equation.skeleton == gode.parse_skeleton("u' = C*u + C*u^2")
    assert len(found.individuals) == 12
