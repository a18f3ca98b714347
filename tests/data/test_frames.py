"""Tables of Arrow and Polars are taken as those of pandas are."""

import numpy as np
import pytest

import gode

T = np.linspace(0.0, 5.0, 60)
X = np.exp(-T) + 0.01 * np.random.default_rng(0).standard_normal(60)
Y = 1 - X + 0.01 * np.random.default_rng(1).standard_normal(60)
LAW = ["x' = C*x", "y' = C*x"]


@pytest.fixture(params=["polars", "pyarrow"])
def table(request):
    """What makes a table of a library from columns."""
    library = pytest.importorskip(request.param)
    return library.DataFrame if request.param == "polars" else library.table


def test_columns_are_states_by_their_names(table):
    both = table({"t": T, "x": X, "y": Y})
    found = gode.fit(LAW, both["t"], both.select(["x", "y"]))
    assert str(found.equation) == str(gode.fit(LAW, T, {"x": X, "y": Y}).equation)
    assert found.equation.states == ("x", "y")


def test_a_regressor_takes_them(table):
    model = gode.ODERegressor(equation="u' = C*u").fit(table({"t": T}), table({"u": X}))
    assert model.predict(table({"t": T})) == pytest.approx(np.exp(-T), abs=0.02)


def test_a_long_table_holds_records(table):
    long = table({"t": np.tile(T, 2), "u": np.tile(X, 2), "well": np.repeat(["a", "b"], len(T))})
    found = {r.id: r for r in gode.discover_many(long, id="well", n_jobs=1, max_seconds=1.0, effort="quick")}
    assert sorted(found) == ["a", "b"]
    assert not found["a"].failure
