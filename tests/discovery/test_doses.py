"""Laws of states that were dosed: fits, searches, simulations, records and bad input."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import gode
from gode.cli import main
from gode.data.doses import make_doses
from gode.equation import parse_equation
from gode.equation.system import parse_system_values
from gode.errors import DataError, EquationError
from gode.solve import solve

T = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 9.0, 12.0, 24.0])
ORAL = ["depot' = -ka*depot", "c' = ka*depot/V - ke*c"]
SUBJECTS = [(4.0, 1.8, 0.37, 0.054), (4.4, 0.7, 0.5, 0.1), (5.9, 8.0, 0.38, 0.087), (4.5, 1.2, 0.43, 0.09)]


def curve(dose, ka, v, ke):
    """The concentration after a dose by mouth, in closed form."""
    return dose * ka / v / (ka - ke) * (np.exp(-ke * T) - np.exp(-ka * T))


@pytest.fixture(scope="module")
def subjects():
    rng = np.random.default_rng(0)
    curves = [curve(*numbers) + 0.1 * rng.standard_normal(len(T)) for numbers in SUBJECTS]
    doses = [[("depot", 0.0, numbers[0])] for numbers in SUBJECTS]
    return gode.fit(
        ORAL, [T] * 4, {"c": curves}, doses=doses, initial={"c": [0.0] * 4}, individual=True
    )  # fmt: skip


def test_each_subject_has_the_constants_of_its_closed_form_and_none_is_swapped(subjects):
    own, names = subjects.candidates[0].own, [p.name for p in subjects.equation.equation.skeleton.parameters]
    assert names == ["ka", "V", "ke"]
    for values, errors, (_, *truth) in zip(own.values, own.covariances, SUBJECTS, strict=True):
        assert np.all(np.abs(values - truth) < 4 * np.sqrt(np.diag(errors)))
        assert values[0] > 3 * values[2]  # absorption is faster than elimination in every one


def test_hidden_state_is_empty_before_the_first_dose(subjects):
    assert [run.initial[0] for run in subjects.prepared.dataset.runs] == [0.0] * 4
    assert subjects.candidates[0].initial[:, 0].tolist() == [0.0] * 4


def test_record_with_doses_is_read_back_and_its_report_made(subjects, tmp_path):
    subjects.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert again.prepared.dataset.runs[2].doses == subjects.prepared.dataset.runs[2].doses
    assert again.simulate(T, run=2)["c"] == pytest.approx(subjects.simulate(T, run=2)["c"])
    assert "depot" in subjects.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_dose_can_be_another_in_a_simulation(subjects):
    usual, double = (
        subjects.simulate(T, initial={"depot": 0.0, "c": 0.0}, doses=[("depot", 0.0, amount)])["c"]
        for amount in (1.0, 2.0)
    )
    assert np.allclose(double, 2 * usual, atol=1e-9)


def test_new_individual_of_a_dosed_population_is_refused(subjects):
    with pytest.raises(DataError, match="a new individual is not predicted where runs have doses"):
        subjects.predict_new(T)


def test_dose_before_the_first_reading_begins_the_record():
    t = T[1:]
    found = gode.fit("c' = -ke*c", t, {"c": 9.0 * np.exp(-0.3 * t)}, doses=[("c", 0.0, 9.0)], initial=[0.0])
    run = found.prepared.dataset.runs[0]
    assert run.t[0] == 0.0
    assert np.isnan(run.observed[:, 0]).all()
    assert found.equation.constants[0].value == pytest.approx(0.3, rel=1e-4)


def sawtooth():
    """A level that doses raise and u' = -0.2 u - 0.02 u^2 lowers."""
    t = np.linspace(0.0, 40.0, 81)
    doses = [("u", 0.0, 10.0), ("u", 12.0, 10.0), ("u", 24.0, 12.0), ("u", 30.0, 10.0, 4.0)]
    made = gode.data.from_arrays.make_dataset(t, np.linspace(0, 1, 81), doses=doses).runs[0].doses
    clean = solve(parse_equation("u' = -0.2*u - 0.02*u^2"), t, [1.0], doses=made).u
    return t, clean + 0.1 * np.random.default_rng(0).standard_normal(81), doses


def test_fit_of_a_state_that_is_dosed_itself():
    t, u, doses = sawtooth()
    found = gode.fit("u' = -a*u - b*u^2", t, u, doses=doses)
    assert found.quality.verdict == "good"
    constants = {c.place: c for c in found.equation.constants}
    assert abs(constants["a"].value - 0.2) < 4 * constants["a"].error
    assert abs(constants["b"].value - 0.02) < 4 * constants["b"].error


def test_a_search_tells_a_start_that_nobody_measured_before_the_first_dose():
    t = np.linspace(0.5, 12.0, 24)
    u = 9.0 * np.exp(-0.3 * t) + 0.02 * np.random.default_rng(0).standard_normal(24)
    few = {"effort": "quick", "without": ["log", "exp", "sin", "cos", "/", "^", "t"]}
    found = gode.discover(t, {"c": u}, doses=[("c", 0.0, 7.0)], **few)
    assert any("--initial c=0" in sentence for sentence in found.remarks)
    known = gode.discover(t, {"c": u}, doses=[("c", 0.0, 9.0)], initial={"c": 0}, **few)
    assert not any("before the first dose" in sentence for sentence in known.remarks)


@pytest.mark.slow
def test_discovery_of_the_law_of_a_state_that_is_dosed():
    t, u, doses = sawtooth()
    found = gode.discover(t, u, doses=doses, effort="quick")
    assert found.quality.verdict == "good"
    assert found.equation.equation.skeleton == gode.parse_skeleton("u' = C*u + C*u^2")


@pytest.mark.parametrize(
    ("doses", "message"),
    [
        ([("dept", 0.0, 1.0)], "goes into 'dept', which is no state; the states are depot, c"),
        ([("depot", 30.0, 1.0)], "the dose at 30 lies after the last reading, at 24"),
        ([("depot", np.nan, 1.0)], "must have finite numbers"),
        ([("depot", 0.0, 1.0, -1.0)], "must not be negative, got -1"),
        ([("depot", 0.0)], "a dose is \\(state, time, amount\\)"),
        ([(0.0, 1.0)], "a dose is \\(state, time, amount\\)"),
        ({"state": ["depot"], "dose": [1.0]}, "a table of doses has the columns state, time, amount"),
        ({"time": [0.0], "amount": [1.0]}, "a table of doses has the columns state, time, amount"),
    ],
)
def test_bad_doses_are_refused_in_a_sentence(doses, message):
    with pytest.raises(DataError, match=message):
        gode.fit(ORAL, T, {"c": curve(*SUBJECTS[0])}, doses=doses)


def test_table_of_doses_is_as_good_as_rows():
    table = {"state": ["depot", "depot"], "time": [0.0, 2.0], "amount": [1.0, 2.0]}
    rows = [("depot", 0.0, 1.0), ("depot", 2.0, 2.0)]
    made = gode.data.from_arrays.make_dataset
    by_table, by_rows = (
        made(T, {"depot": T * np.nan, "c": T}, doses=each).runs[0].doses for each in (table, rows)
    )
    assert by_table == by_rows


def test_dose_into_a_derivative_of_a_first_order_law_is_refused():
    with pytest.raises((DataError, EquationError), match="a dose goes into c', but the equation of c is of"):
        gode.fit("c' = -ke*c", T, {"c": np.exp(-T)}, doses=[("c'", 0.0, 1.0)])


def test_clearance_half_life_and_volume_of_a_linear_law_are_told():
    t = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 12.0, 18.0, 24.0])
    level = 100.0 * 1.2 / 20.0 / (1.2 - 0.1) * (np.exp(-0.1 * t) - np.exp(-1.2 * t))
    level *= 1 + 0.001 * np.random.default_rng(0).standard_normal(len(t))
    bounds = {"ka": (0.5, None)}
    found = gode.fit(ORAL, t, {"c": level}, doses=[("depot", 0.0, 100.0)], initial={"c": 0.0}, bounds=bounds)
    (remark,) = [sentence for sentence in found.remarks if "clearance" in sentence]
    values = [float(word) for word in re.findall(r"([0-9.]+) ±", remark)]
    assert values == pytest.approx([2.0, np.log(2) / 0.1, 20.0], rel=0.02)


def test_a_start_that_nobody_measured_before_the_first_dose_is_told():
    t = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 12.0, 18.0, 24.0])
    level = 0.5 * np.exp(-0.1 * t) + 6.0 / 1.1 * (np.exp(-0.1 * t) - np.exp(-1.2 * t))
    level *= 1 + 0.01 * np.random.default_rng(0).standard_normal(len(t))
    given = {"doses": [("depot", 0.0, 100.0)], "bounds": {"ka": (0.5, None)}}
    found = gode.fit(ORAL, t, {"c": level}, **given)
    (remark,) = [sentence for sentence in found.remarks if "before the first dose" in sentence]
    assert remark.endswith('say so: --initial c=0, or initial={"c": 0}')
    known = gode.fit(ORAL, t, {"c": level}, initial={"c": 0.5}, **given)
    assert not any("before the first dose" in sentence for sentence in known.remarks)


def test_law_that_is_not_linear_has_no_clearance():
    t, u, doses = sawtooth()
    found = gode.fit("u' = -a*u - b*u^2", t, u, doses=doses)
    assert not any("clearance" in sentence for sentence in found.remarks)


def test_share_and_lag_of_a_dose_are_fitted_and_kept_in_a_record(tmp_path):
    t = np.linspace(0.25, 48.0, 60)
    rng = np.random.default_rng(4)

    def oral(since):
        since = np.maximum(since, 0.0)
        return 1.2 / 1.05 * (np.exp(-0.15 * since) - np.exp(-1.2 * since))

    clean = (0.6 * 300 * oral(t - 0.7) + 200 * np.exp(-0.15 * (t - 24)) * (t > 24)) / 20
    law = ["depot' = f*dose(t - tlag) - ka*depot", "A' = ka*depot - ke*A"]
    found = gode.fit(
        law,
        t,
        {"c": clean + 0.1 * rng.standard_normal(len(t))},
        observe={"c": "A/V"},
        doses=[("depot", 0.0, 300.0), ("A", 24.0, 200.0)],
        initial={"A": 0.0},
    )
    constants = {each.place: each for each in found.equation.constants}
    for name, true in {"f": 0.6, "tlag": 0.7, "ka": 1.2, "ke": 0.15, "V": 20.0}.items():
        assert abs(constants[name].value - true) < 4 * constants[name].error, name
        assert constants[name].error < 0.3 * true
    found.save(tmp_path / "oral.json")
    again = gode.load(tmp_path / "oral.json")
    at = np.linspace(0.0, 48.0, 9)
    assert np.array_equal(again.simulate(at).values, found.simulate(at).values, equal_nan=True)


def test_command_takes_a_lag_of_a_column_of_amounts_and_readings_below_a_limit(tmp_path):
    rng = np.random.default_rng(3)
    t = np.linspace(0.25, 24.0, 40)
    since = np.maximum(t - 0.7, 0.0)
    c = 15 * 1.2 / 1.05 * (np.exp(-0.15 * since) - np.exp(-1.2 * since)) + 0.1 * rng.standard_normal(40)
    rows = [f"{at:.4f},{x:.4f}," if x > 0.6 else f"{at:.4f},<0.6," for at, x in zip(t, c, strict=True)]
    (tmp_path / "oral.csv").write_text("t,c,amt\n0,,300\n" + "\n".join(rows) + "\n")
    law = "depot' = dose(t - tlag) - ka*depot; c' = ka*depot/V - ke*c"
    words = ["fit", law, str(tmp_path / "oral.csv"), "--dose", "amt:depot", "--initial", "c=0", "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    constants = {c["place"]: c for c in json.loads(done.stdout)["constants"]}
    assert abs(constants["tlag"]["value"] - 0.7) < 4 * constants["tlag"]["error"]


def _after_dose(t, law):
    """What is measured after 300 were given to d at 0.5, without noise."""
    return solve(
        parse_system_values(law), t, [0.0, 0.0], doses=make_doses([("d", 0.5, 300.0)], ("d", "c"), "")
    )["c"]


def _constants(found):
    law = found.candidates[0].equation
    return dict(zip([p.name for p in law.skeleton.parameters], law.constants, strict=True))


def test_dose_at_the_start_of_a_long_record_that_is_mostly_noise():
    t = np.linspace(0.0, 1000.0, 2001)
    c = _after_dose(t, ["d' = -1.2*d", "c' = 1.2*d/30 - 0.15*c"])
    c += 0.1 * np.random.default_rng(1).standard_normal(len(t))
    law = ["d' = -ka*d", "c' = ka*d/V - ke*c"]
    d = gode.fit(law, t, {"c": c}, doses=[("d", 0.5, 300.0)], initial={"c": 0})
    assert _constants(d) == pytest.approx({"ka": 1.2, "V": 30.0, "ke": 0.15}, rel=0.1)
    assert not any("explained as well by" in remark for remark in d.remarks)


@pytest.mark.parametrize("seed", [11, 12])
def test_volume_that_divides_a_term_starts_where_the_term_is_as_large_as_the_slope(seed):
    t = np.linspace(0.0, 96.0, 300)
    c = _after_dose(t, ["d' = -0.9*d", "c' = 0.9*d/20 - 1.5*c/(3 + c)"])
    noisy = c + 0.03 * c.max() * np.random.default_rng(seed).standard_normal(len(t))
    law = ["d' = -ka*d", "c' = ka*d/V - vm*c/(km + c)"]
    d = gode.fit(law, t, {"c": noisy}, doses=[("d", 0.5, 300.0)], initial={"c": 0})
    assert _constants(d)["V"] == pytest.approx(20, rel=0.1)
