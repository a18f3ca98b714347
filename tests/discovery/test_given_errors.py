"""Standard errors of the readings, sd=, on every way in and in all that is made of them."""

import shlex

import numpy as np
import pandas as pd
import pytest

import gode
from gode.data.from_arrays import make_dataset
from gode.data.smoothing import stride_averaged
from gode.discovery import fit
from gode.errors import DataError
from gode.measured import read_arguments
from gode.report import load
from gode.report.repeat import command, python_call
from gode.tables.dataset import DataOptions, read_dataset

LAW = "u' = r*u*(1 - u/K)"
T = np.linspace(0.0, 10.0, 60)
U = 5 / (1 + 9 * np.exp(-0.8 * T))
RNG = np.random.default_rng(4)
SD = np.where(RNG.random(60) < 0.5, 0.02, 0.4)
NOISE = SD * RNG.standard_normal(60)


def values(found) -> dict[str, float]:
    return {c.name: c.value for c in found.equation.constants}


@pytest.fixture(scope="module")
def weighted():
    return fit(LAW, T, U + NOISE, sd=SD)


def test_accurate_readings_count_more_and_error_bars_say_so(weighted):
    plain = fit(LAW, T, U + NOISE)
    far, near = (abs(values(found)["r"] - 0.8) for found in (plain, weighted))
    assert near < 0.4 * far
    errors = {c.name: c.error for c in weighted.equation.constants}
    assert abs(values(weighted)["r"] - 0.8) < 3 * errors["r"]
    assert errors["r"] < 0.3 * next(c.error for c in plain.equation.constants if c.name == "r")
    assert weighted.quality.verdict.value == "good"
    assert not weighted.remarks


@pytest.mark.parametrize(("factor", "words"), [(0.1, "too small"), (10.0, "too large")])
def test_a_common_factor_changes_nothing_but_is_told(weighted, factor, words):
    other = fit(LAW, T, U + NOISE, sd=factor * SD)
    assert values(other) == pytest.approx(values(weighted), rel=1e-6)
    (remark,) = other.remarks
    assert "times the standard errors that were given" in remark
    assert words in remark


def test_runs_and_states_have_their_own():
    both = np.column_stack([np.exp(-T), np.exp(-2 * T)])
    one = make_dataset(T, both, names=["x", "y"], sd={"y": SD})
    assert np.isnan(one.runs[0].sd[:3]).all()
    assert np.array_equal(one.runs[0].sd[3], SD)
    speed = make_dataset([T, T], velocity=[U, U], sd=[SD, 2 * SD])
    assert np.array_equal(speed.runs[1].sd[1], 2 * SD)


def test_the_error_of_an_average_is_that_of_its_samples():
    run = make_dataset(T, U, sd=SD).runs[0]
    coarse = stride_averaged(run, 2)
    assert coarse.sd[0, 1:] == pytest.approx(np.sqrt(np.mean(SD.reshape(-1, 2) ** 2, axis=1)))
    assert np.isnan(coarse.sd[0, 0])  # the first time, which is kept without a reading


@pytest.mark.parametrize(
    ("sd", "told"),
    [
        (np.where(T > 5, 0.0, 1.0), "sd of u must be positive wherever there is a reading, got 0 at row 30"),
        (np.where(T > 5, np.nan, 1.0), "got nan at row 30"),
        (np.ones(7), "sd has 7 values, but t has 60"),
    ],
)
def test_errors_that_cannot_be_are_refused(sd, told):
    with pytest.raises(DataError, match=told):
        fit(LAW, T, U, sd=sd)


def test_an_error_is_not_needed_where_there_is_no_reading():
    gap = np.where(T > 9, np.nan, U)
    assert make_dataset(T, gap, sd=np.where(T > 9, np.nan, 0.1)).runs[0].sd.shape == (3, 54)


def test_a_record_keeps_them_and_the_repeated_calls_name_them(weighted, tmp_path):
    weighted.save(tmp_path / "record.json")
    again = load(tmp_path / "record.json")
    assert np.array_equal(again.prepared.dataset.runs[0].sd, weighted.prepared.dataset.runs[0].sd, True)
    assert again.quality.misfit == pytest.approx(weighted.quality.misfit)
    assert "t, u, sd=sd)" in python_call(again)
    words = shlex.split(command(again))
    assert words[words.index("--sd") + 1] == "sd"


def table(tmp_path, **more):
    columns = {"hours": T, "cells": U + NOISE, "err": SD, **more}
    pd.DataFrame(columns).to_csv(tmp_path / "growth.csv", index=False)
    return tmp_path / "growth.csv"


def test_a_column_of_a_file_holds_them(tmp_path, weighted):
    path = table(tmp_path)
    found = fit(LAW, **read_arguments(str(path), sd="err"))
    assert values(found) == pytest.approx(values(weighted))
    with pytest.raises(DataError, match=r"no column 'error'; .* did you mean 'err'"):
        read_arguments(str(path), sd="error")
    with pytest.raises(DataError, match="--sd names 2 columns for 1 state; give one for each"):
        read_arguments(str(table(tmp_path, more=SD)), u="cells", sd="err,more")


def test_a_column_that_is_called_so_is_pointed_to(tmp_path):
    dataset, readings = read_dataset([str(table(tmp_path))], DataOptions(u="cells"))
    assert "(--sd err if it holds standard errors)" in readings.told[0]
    assert dataset.runs[0].sd is None


def test_wells_have_a_column_each(tmp_path):
    path = table(tmp_path, other=U, spread=2 * SD)
    found = read_arguments(str(path), time="hours", u="cells,other", sd="err,spread")
    assert np.array_equal(found["sd"][1], 2 * SD)


def test_an_estimator_takes_a_column_of_its_rows(weighted):
    rows = pd.DataFrame({"t": T, "err": SD})
    model = gode.ODERegressor(equation=LAW, sd="err").fit(rows, U + NOISE)
    assert values(model.discovery_) == pytest.approx(values(weighted))
    assert np.array_equal(model.predict(rows), model.predict(rows[["t"]]))
    with pytest.raises(DataError, match="sd= names the column 'error' of a DataFrame X"):
        gode.ODERegressor(equation=LAW, sd="error").fit(rows, U)
