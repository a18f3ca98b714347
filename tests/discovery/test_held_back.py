"""The end of each record is held back from the fits, laws are ranked by it, and everything says so."""

import shlex
from dataclasses import replace

import numpy as np
import pytest

import gode
from commands import gode as command_line
from gode.data.from_arrays import make_dataset
from gode.discovery import fit
from gode.discovery.given import fit_known
from gode.discovery.quality import best_foretold_first, forecast_of
from gode.errors import ConfigError, DataError
from gode.report import load
from gode.report.page import discovery_page
from gode.report.repeat import command, python_call
from gode.search.assumptions import make_known

T = np.linspace(0.0, 10.0, 60)
U = 5 / (1 + 9 * np.exp(-0.8 * T))
NOISE = 0.05 * np.random.default_rng(3).standard_normal(60)
LOGISTIC, LINE = "u' = C*u - C*u^2", "u' = C*u^0.5"


def fitted(law: str, share: float = 0.3):
    dataset = make_dataset(T, U + NOISE).hold_back(share)
    return fit_known(dataset, make_known(law))


@pytest.fixture(scope="module")
def found():
    return gode.discover(T, U + NOISE, order=1, effort="quick", hold_out=0.3)


def test_the_end_of_each_run_is_apart_and_comes_back():
    dataset = make_dataset([T, 2 * T], [U, U], force=[T, T**2], sd=[0 * T + 1, 0 * T + 2])
    kept = dataset.hold_back(0.25)
    assert [run.n_points for run in kept.held] == [15, 15]
    assert all(run.t[-1] < rest.t[0] for run, rest in zip(kept.runs, kept.held, strict=True))
    assert np.isnan(kept.held[0].initial).all()
    for one, other in zip(dataset.runs, kept.with_held().runs, strict=True):
        assert np.array_equal(one.t, other.t)
        assert np.array_equal(one.observed, other.observed, equal_nan=True)
        assert np.array_equal(one.inputs["F"], other.inputs["F"])
        assert np.array_equal(one.sd, other.sd, equal_nan=True)


def test_too_much_is_refused():
    with pytest.raises(DataError, match=r"leaves 2 of 60 times to fit; .* hold back less"):
        make_dataset(T, U).hold_back(0.97)


@pytest.mark.parametrize("share", [0, 1, -0.2, True, "a fifth"])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(ConfigError, match=r"hold_out= must be a share of each record such as 0\.2"):
        gode.discover(T, U, hold_out=share)


def test_the_right_law_passes_and_another_fails():
    right, wrong = fitted(LOGISTIC), fitted("u' = C")
    assert right.quality.verdict.value == "good"
    assert not right.quality.forecast.is_failed
    assert right.quality.forecast.n == 18
    assert right.quality.words.endswith("times the noise: it passes this test.")
    assert wrong.quality.forecast.is_failed


def test_the_error_is_that_of_the_solution_at_the_end():
    right = fitted(LOGISTIC)
    solved = right.simulate(T).values[0][-18:]
    expected = np.sqrt(np.mean((solved - (U + NOISE)[-18:]) ** 2)) / right.noise[0]
    assert right.quality.forecast.misfit == pytest.approx(expected, rel=1e-6)


def test_a_fit_that_misses_the_end_is_not_called_good():
    early = T <= 4  # growth is exponential, and then no more
    data = np.where(early, 0.1 * np.exp(0.8 * T), 0.1 * np.exp(3.2)) + 0.02 * NOISE
    dataset = make_dataset(T, data).hold_back(0.6)
    grown = fit_known(dataset, make_known("u' = C*u"))
    assert grown.quality.verdict.value == "pattern"
    assert "follows the data that it was fitted to" in grown.quality.words
    assert grown.quality.words.endswith("it fails this test.")


def test_laws_are_ranked_by_what_was_held_back_and_ties_by_the_criterion():
    right, wrong = fitted(LOGISTIC), fitted(LINE)
    laws = [replace(wrong.candidates[0], criterion=0.0), replace(right.candidates[0], criterion=5.0)]
    assert best_foretold_first(laws, right.prepared) == [laws[1], laws[0]]
    twin = replace(laws[1], criterion=4.0)
    assert best_foretold_first([twin, laws[1]], right.prepared) == [twin, laws[1]]


def test_nothing_held_back_is_no_test():
    assert forecast_of(fit(LOGISTIC, T, U).candidates[0], fit(LOGISTIC, T, U).prepared, np.ones(3)) is None
    assert fit(LOGISTIC, T, U).quality.forecast is None


def test_a_search_names_the_law_and_the_record_repeats_it(found, tmp_path):
    assert found.prepared.dataset.runs[0].t[-1] <= 7
    assert "u^2" in str(found.equation)
    found.save(tmp_path / "record.json")
    again = load(tmp_path / "record.json")
    assert again.quality.forecast == found.quality.forecast
    assert [str(c.equation) for c in again.candidates[:5]] == [str(c.equation) for c in found.candidates[:5]]
    assert "hold_out=0.3" in python_call(again)
    words = shlex.split(command(again))
    assert words[words.index("--hold-out") + 1] == "0.3"
    assert "Held back as a test" in discovery_page(again, title="growth")


def test_candidates_are_a_table_with_the_error_on_what_was_held_back(found):
    table = found.candidates.table
    assert len(table) == len(found.candidates)
    assert list(table.columns) == ["law", "complexity", "misfit", "criterion", "probability", "held back"]
    assert table["law"][0] == str(found.equation)
    assert table["misfit"][0] == pytest.approx(found.quality.misfit)
    assert table["held back"][0] == pytest.approx(found.quality.forecast.misfit)
    assert table["probability"].sum() == pytest.approx(1)
    assert table["law"][0] in repr(found.candidates)
    assert "<table" in found.candidates._repr_html_()


def test_the_command_line_and_its_edit_take_the_same_way(found, tmp_path):
    path = tmp_path / "growth.csv"
    rows = np.column_stack([T, U + NOISE]).tolist()
    path.write_text("t,u\n" + "".join(f"{t!r},{u!r}\n" for t, u in rows))
    done = command_line(
        "fit", LOGISTIC, str(path), "--edit", "hold back 30 %", "--out", str(tmp_path / "out")
    )
    assert "held back as a test: the last 30 % of each run" in done.output
    assert "it passes this test" in done.output
    shown = command_line("show", str(tmp_path / "out"), "--candidates").output
    assert "held back" in shown
    assert "it passes this test" in command_line("show", str(tmp_path / "out")).output
    both = command_line("discover", str(path), "--edit", "hold back 30 %", "--hold-out", "0.2")
    assert both.exit_code == 2
    assert "--hold-out and an edit both hold back a part of the data" in both.output
