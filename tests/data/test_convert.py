from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import gode
from gode.data import make_run
from gode.data.states import as_seconds
from gode.errors import DataError

T = np.arange(12) * 0.5
START = np.datetime64("2024-12-31T23:59:58", "ns")
STAMPS = START + (T * 1e9).astype("timedelta64[ns]")
MOMENTS = {
    **{unit: STAMPS.astype(f"datetime64[{unit}]") for unit in ("ms", "us", "ns")},
    "durations": STAMPS - START,
    "durations in ms": (STAMPS - START).astype("timedelta64[ms]"),
    "index": pd.DatetimeIndex(STAMPS),
    "series": pd.Series(STAMPS, index=range(3, 15)),
    "zone": pd.Series(STAMPS).dt.tz_localize("Europe/Berlin"),
    "stamps": list(pd.DatetimeIndex(STAMPS)),
    "objects": [datetime(2024, 12, 31, 23, 59, 58) + timedelta(seconds=s) for s in T],
    "objects in a zone": [datetime(2024, 12, 31, tzinfo=UTC) + timedelta(seconds=s) for s in T],
    "deltas": [timedelta(seconds=s) for s in T],
}


@pytest.mark.parametrize("name", MOMENTS)
def test_dates_of_any_kind_and_unit_become_seconds_from_the_first(name):
    np.testing.assert_array_equal(make_run(MOMENTS[name], u=T).t, T)


def test_whole_seconds_and_days_become_seconds():
    np.testing.assert_array_equal(as_seconds(STAMPS[::2].astype("datetime64[s]"))[0], T[::2])
    days = [date(2024, 12, 30), date(2025, 1, 1)]
    np.testing.assert_array_equal(as_seconds(days)[0], [0, 2 * 86400])
    np.testing.assert_array_equal(as_seconds(np.array(days, "datetime64[D]"))[0], [0, 2 * 86400])
    np.testing.assert_array_equal(as_seconds(np.array(["2024-12", "2025-01"], "M8[M]"))[0], [0, 31 * 86400])


@pytest.mark.parametrize(
    "times",
    [
        np.where(T == 1.0, np.datetime64("NaT"), STAMPS),
        pd.Series(STAMPS).where(T != 1.0),
        np.ma.masked_array(STAMPS, T == 1.0),
        [None if t == 1.0 else d for t, d in zip(T, MOMENTS["objects"], strict=True)],
        [pd.NaT if t == 1.0 else d for t, d in zip(T, MOMENTS["stamps"], strict=True)],
    ],
)
def test_a_missing_date_drops_its_row(times):
    np.testing.assert_array_equal(make_run(times, u=T).t, T[T != 1.0])


def test_dates_of_different_kinds_are_refused():
    with pytest.raises(DataError, match="dates of different kinds"):
        make_run([datetime(2024, 1, 1), *[datetime(2024, 1, d, tzinfo=UTC) for d in range(2, 9)]], u=T[:8])
    with pytest.raises(DataError, match="durations in months or years"):
        make_run(np.arange(12).astype("timedelta64[M]"), u=T)
    with pytest.raises(DataError, match="u must be numbers"):
        make_run(T, u=STAMPS)
    with pytest.raises(DataError, match="nothing is observed"):
        make_run(np.full(12, np.datetime64("NaT")), u=T)


def test_numbers_are_no_dates():
    assert as_seconds(T) is None
    assert as_seconds(["2024-01-01"]) is None
    assert as_seconds([[1, 2], [3]]) is None


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_an_estimator_counts_from_the_first_date_of_its_fit(unit):
    stamps, u = STAMPS.astype(f"datetime64[{unit}]"), np.exp(-0.4 * T)
    model = gode.ODERegressor(equation="u' = C*u").fit(stamps[::-1], u[::-1])
    np.testing.assert_allclose(model.equation_.constants[0].value, -0.4, rtol=1e-6)
    np.testing.assert_allclose(model.predict(stamps[4:]), u[4:], rtol=1e-6)
    frame = pd.DataFrame({"time": stamps})
    np.testing.assert_allclose(model.fit(frame, u).predict(frame[3:]), u[3:], rtol=1e-6)
    with pytest.raises(DataError, match="X holds dates, but fit was given numbers"):
        model.fit(T, u).predict(stamps)
