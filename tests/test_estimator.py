import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import gode
from examples_found import SMALL
from gode import ODERegressor
from gode.equation.system import parse_system_values
from gode.errors import ConfigError, DataError, NotFittedError
from gode.solve import solve

LOGISTIC = "u' = C*u - C*u^2"
DRIVEN = "C*u'' + C*u' + C*u = F"


def growth(n: int = 60, end: float = 10.0, noise: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, end, n)
    return t, 5 / (1 + 9 * np.exp(-0.8 * t)) + noise * np.random.default_rng(1).standard_normal(n)


def driven(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The input, the displacement and the acceleration of u'' + 0.4*u' + 4*u = F from rest."""
    force = np.sin(1.3 * t) + 0.5 * np.cos(3.1 * t)
    truth = gode.parse_equation("u'' + 0.4*u' + 4*u = F")
    solution = solve(truth, t, [0.0, 0.0], inputs={"F": (t, force)})
    return force, solution.u, solution.d2u


def test_fit_discovers_and_predict_goes_beyond_the_data():
    t, u = growth()
    model = ODERegressor(random_state=3, **SMALL)
    assert model.fit(t, u) is model
    assert str(model.equation_).startswith("u' = ")
    assert (model.discovery_.settings.seed, model.discovery_.settings.effort) == (3, "quick")
    later = np.linspace(10.0, 20.0, 11)
    np.testing.assert_allclose(model.predict(later), 5 / (1 + 9 * np.exp(-0.8 * later)), rtol=0.02)


def test_columns_rows_and_frames_mean_the_same():
    t, u = growth()
    expected = ODERegressor(equation=LOGISTIC).fit(t, u).predict(t)
    mixed = np.random.default_rng(0).permutation(len(t))
    frames = [pd.DataFrame({"time": t}), pd.DataFrame(index=pd.Index(t, name="t"), data={})]
    for X, y in [
        (t[:, None], u[:, None]),
        (list(t), list(u)),
        (t[mixed], u[mixed]),
        (frames[0], pd.Series(u)),
    ]:
        model = ODERegressor(equation=LOGISTIC).fit(X, y)
        assert model.n_features_in_ == 1
        np.testing.assert_allclose(model.predict(t), expected, rtol=1e-9)
    assert list(ODERegressor(equation=LOGISTIC).fit(frames[0], u).feature_names_in_) == ["time"]


def test_prediction_keeps_the_order_of_its_rows():
    t, u = growth()
    model = ODERegressor(equation=LOGISTIC).fit(t, u)
    np.testing.assert_array_equal(model.predict([3.0, 1.0, 3.0]), model.predict([1.0, 3.0])[[1, 0, 1]])
    assert model.predict([0.0, 2.0], initial=[4.9])[0] == 4.9


def test_an_input_is_a_column_of_x():
    t = np.linspace(0.0, 20.0, 200)
    force, u, _ = driven(t)
    frame = pd.DataFrame({"force": force, "t": t})
    model = ODERegressor(equation=DRIVEN).fit(frame[:120], u[:120])
    assert model.n_features_in_ == 2
    with pytest.raises(DataError, match=r"unknown between 11.9598 and 15.0754"):
        model.predict(frame[150:])
    assert model.score(frame[120:], u[120:]) > 0.99
    np.testing.assert_allclose(model.predict(np.c_[t, force])[150:], u[150:], atol=0.02 * np.std(u))


def test_an_input_may_be_a_formula_and_the_signal_an_acceleration():
    t = np.linspace(0.0, 12.0, 240)
    _, _, acceleration = driven(t)
    model = ODERegressor(
        equation=DRIVEN, signal="acceleration", force="sin(1.3*t) + 0.5*cos(3.1*t)", initial=[0.0, 0.0]
    ).fit(t[:160], acceleration[:160])
    assert model.score(t, acceleration) > 0.999


def test_score_is_the_share_of_variance_that_is_explained():
    t, u = growth()
    model = ODERegressor(equation=LOGISTIC).fit(t, u)
    left = u - model.predict(t)
    assert model.score(t, u) == pytest.approx(1 - np.sum(left**2) / np.sum((u - u.mean()) ** 2))
    holes = np.where(np.arange(len(u)) % 2, u, np.nan)
    assert model.score(t, holes) == pytest.approx(model.score(t[1::2], u[1::2]))
    first = np.arange(len(t)) < 30
    assert model.score(t, u, sample_weight=first) == pytest.approx(model.score(t[:30], u[:30]))


def test_a_solution_that_fails_scores_worst():
    t = np.linspace(0.0, 0.8, 40)
    model = ODERegressor(equation="u' = C*u^2").fit(t, 1 / (1 - t))
    assert model.score([0.5, 0.7, 5.0], [2.0, 3.0, 4.0]) == -np.inf
    assert np.isnan(model.predict([0.5, 5.0])[1])


def test_parameters_are_read_changed_and_shown():
    model = ODERegressor(effort="quick", without=["log"])
    assert model.get_params()["without"] == ["log"]
    assert set(model.get_params()) >= {"order", "equation", "effort", "random_state"}
    assert repr(model.set_params(order=2)) == "ODERegressor(order=2, without=['log'], effort='quick')"
    with pytest.raises(ConfigError, match="no parameter 'efort'"):
        model.set_params(efort="quick")


BAD = [
    ({}, np.zeros((5, 3)), np.zeros(5), r"\(n, 2\), got \(5, 3\)"),
    ({}, np.arange(5.0), np.zeros(4), "y has 4 values, but X has 5 rows"),
    ({}, np.arange(5.0), np.zeros((5, 2, 2)), "y must hold a signal"),
    ({}, ["a", "b"], [1.0, 2.0], "X must be numbers"),
    ({}, pd.DataFrame({"t": [1.0], "x": [1.0], "y": [1.0]}), [1.0], "drop the others"),
    ({"signal": "w"}, np.arange(5.0), np.zeros(5), "signal must be one of"),
    ({"random_state": "x"}, np.arange(9.0), np.arange(9.0), "random_state must be"),
    ({"force": "sin(t)"}, np.zeros((5, 2)), np.zeros(5), "given twice"),
]


@pytest.mark.parametrize(("options", "X", "y", "sentence"), BAD)
def test_bad_input_is_told_in_one_sentence(options: dict[str, object], X: object, y: object, sentence: str):
    with pytest.raises((DataError, ConfigError), match=sentence) as caught:
        ODERegressor(**options).fit(X, y)
    assert "\n" not in str(caught.value)


def test_asking_before_fitting_or_with_other_columns_is_an_error():
    with pytest.raises(NotFittedError, match="call fit"):
        ODERegressor().predict([1.0])
    t, u = growth()
    model = ODERegressor(equation=LOGISTIC).fit(t, u)
    with pytest.raises(DataError, match="X has 2 columns, but fit was given 1"):
        model.predict(np.c_[t, t])
    with pytest.raises(DataError, match="no number to compare"):
        model.score([1.0], [np.nan])


def test_a_generator_gives_new_seeds_and_none_repeats():
    from gode.estimator import _seed

    rng = np.random.default_rng(0)
    assert _seed(rng) != _seed(rng)
    assert _seed(None) == _seed(None) == 0
    assert _seed(np.int64(7)) == 7
    assert 0 <= _seed(np.random.RandomState(0)) < 2**31  # scikit-learn hands these out


def test_it_needs_no_scikit_learn():
    program = "import sys, gode; gode.ODERegressor(order=2).get_params(); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_scikit_learn_clones_and_checks_it():
    base = pytest.importorskip("sklearn.base")
    validation = pytest.importorskip("sklearn.utils.validation")
    t, u = growth()
    model = ODERegressor(equation=LOGISTIC, without=("log",), random_state=2)
    twin = base.clone(model)
    assert twin.get_params() == model.get_params()
    assert base.is_regressor(model)
    with pytest.raises(pytest.importorskip("sklearn.exceptions").NotFittedError):
        validation.check_is_fitted(model)
    validation.check_is_fitted(model.fit(t, u))
    assert "discovery_" not in vars(base.clone(model))


def test_a_search_over_forecasts_chooses_the_equation():
    selection = pytest.importorskip("sklearn.model_selection")
    t, u = growth(80)
    equations = ["u' = C*u", LOGISTIC, "u' = C + C*u"]
    folds = selection.TimeSeriesSplit(n_splits=3)
    search = selection.GridSearchCV(ODERegressor(), {"equation": equations}, cv=folds)
    search.fit(t[:, None], u)
    assert search.best_params_ == {"equation": LOGISTIC}
    assert search.best_estimator_.equation_.constants[0].value == pytest.approx(0.8, rel=0.05)
    scores = selection.cross_val_score(
        search.best_estimator_, pd.DataFrame({"t": t}), u, cv=folds, scoring="r2"
    )
    assert len(scores) == 3


def test_it_ends_a_pipeline():
    pipeline = pytest.importorskip("sklearn.pipeline")
    t, u = growth()
    chain = pipeline.make_pipeline(ODERegressor(equation=LOGISTIC))
    assert chain.fit(t[:, None], u).score(t[:, None], u) > 0.99


LOTKA = ["prey' = C*prey - C*prey*predator", "predator' = C*prey*predator - C*predator"]


def two_species() -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 8.0, 60)
    truth = parse_system_values(["x' = 0.9*x - 0.5*x*y", "y' = 0.4*x*y - 0.8*y"])
    clean = solve(truth, t, [2.0, 1.0]).values[::3].T
    return t, clean + 0.01 * np.random.default_rng(2).standard_normal((60, 2))


def test_several_states_are_fitted_predicted_and_scored_together():
    t, x = two_species()
    model = ODERegressor(equation=LOTKA).fit(t[:45], x[:45])
    assert model.equation_.states == ("prey", "predator")
    later = model.predict(t[45:])
    assert later.shape == (15, 2)
    np.testing.assert_allclose(later, x[45:], atol=0.1)
    each = [
        1 - np.sum((x[:, i] - p) ** 2) / np.sum((x[:, i] - x[:, i].mean()) ** 2)
        for i, p in enumerate(model.predict(t).T)
    ]
    assert model.score(t, x) == pytest.approx(np.mean(each))
    assert model.predict([0.0, 1.0], initial={"prey": 3.0, "predator": 2.0})[0].tolist() == [3.0, 2.0]
    with pytest.raises(DataError, match=r"y must have the shape \(60, 2\) as in fit, got \(60,\)"):
        model.score(t, x[:, 0])


def test_the_columns_of_a_frame_name_the_states():
    t, x = two_species()
    frame = pd.DataFrame(x, columns=["prey", "predator"])
    assert ODERegressor(equation=LOTKA).fit(t, frame[::-1][::-1]).equation_.states == ("prey", "predator")
    renamed = ODERegressor(equation=["a' = C*a*b", "b' = C*b"], names=["a", "b"]).fit(t, frame)
    assert renamed.equation_.states == ("a", "b")
    odd = frame.rename(columns={"prey": "Prey [1000]"})
    text = [line.replace("prey", "Prey_1000") for line in LOTKA]
    assert ODERegressor(equation=text).fit(t, odd).equation_.states == ("Prey_1000", "predator")


def test_runs_are_named_by_a_column_and_may_have_their_own_constants():
    t = np.linspace(0.0, 6.0, 8)
    rates = {"ann": 0.2, "bob": 0.5}
    X = pd.DataFrame({"t": np.tile(t, 2), "patient": np.repeat([*rates], 8)})
    y = np.concatenate([3.0 * np.exp(-k * t) for k in rates.values()])
    model = ODERegressor(equation="u' = -k*u", runs="patient", individual=True).fit(X, y)
    assert model.discovery_.individuals["k"].tolist() == pytest.approx([*rates.values()], rel=1e-3)
    assert model.predict(X.iloc[::-1]) == pytest.approx(y[::-1], rel=1e-3)
    with pytest.raises(DataError, match="holds the run 'zoe', which fit was not given"):
        model.predict(X.assign(patient="zoe"))
    with pytest.raises(DataError, match="runs= names the column 'patient'"):
        model.fit(X[["t"]], y)
