"""PEtab problems are read by the petab library without a complaint, and hold the data and our fit."""

import numpy as np
import pytest

import commands
from commands import refused
from gode import fit
from gode.errors import EquationError

petab = pytest.importorskip("petab.v1", reason="petab is not installed")

# The library of today asks pandas and SciPy for what they no longer like.
pytestmark = pytest.mark.filterwarnings("ignore")

T = np.linspace(2.0, 12.0, 40)


def growth_to(capacity, start, seed):
    noise = 0.02 * np.random.default_rng(seed).standard_normal(len(T))
    return capacity / (1 + 2 * np.exp(-(T - start))) + noise


@pytest.fixture(scope="module")
def wells():
    """Three runs that begin at different times, with a capacity of their own."""
    times = [T, T + 1, T + 2]
    values = [growth_to(k, 2.0, k) for k in (3, 4, 5)]
    return fit("u' = r*u*(1 - u/K)", times, values, individual=["K"])


def read(found, folder, **options):
    found.save_petab(folder, **options)
    problem = petab.Problem.from_yaml(folder / "problem.yaml")
    assert petab.lint_problem(problem) is False  # whether there are errors
    return problem


@pytest.mark.parametrize("name", ["growth", "duffing", "predation", "masses"])
def test_the_library_finds_nothing_wrong(name, request, tmp_path):
    found = request.getfixturevalue(name)
    problem = read(found, tmp_path)
    data = found.prepared.dataset.runs[0]
    assert len(problem.measurement_df) == np.isfinite(data.observed).sum()
    assert problem.measurement_df["time"].min() == 0.0


def test_runs_are_conditions_with_parameters_of_their_own(wells, tmp_path):
    problem = read(wells, tmp_path)
    assert list(problem.condition_df.index) == ["run_0", "run_1", "run_2"]
    nominal = problem.parameter_df["nominalValue"]
    assert nominal["c1"] == pytest.approx(1.0, rel=0.03)
    capacities = [nominal[problem.condition_df.loc[f"run_{i}", "c2"]] for i in range(3)]
    assert capacities == pytest.approx([3.0, 4.0, 5.0], rel=0.03)
    noise = problem.measurement_df["noiseParameters"].astype(float)
    assert noise.to_numpy() == pytest.approx(0.02, rel=0.3)


def test_one_run_can_be_chosen(wells, tmp_path):
    problem = read(wells, tmp_path, run=2)
    assert list(problem.condition_df.index) == ["run_2"]
    assert problem.parameter_df["nominalValue"]["c2"] == pytest.approx(5.0, rel=0.03)


def test_known_initial_values_are_not_estimated(tmp_path):
    found = fit("u' = r*u*(1 - u/K)", T, growth_to(3, 2.0, 1), initial=[1.0])
    rows = read(found, tmp_path).parameter_df
    assert rows["estimate"].to_dict() == {"c1": 1, "c2": 1, "u_start": 0}


def test_runs_with_inputs_of_their_own_get_a_sentence(tmp_path):
    forces = [np.sin(T), np.cos(T)]
    values = [np.cumsum(force) * (T[1] - T[0]) for force in forces]
    found = fit("u' = C*F + C*u", [T, T], values, force=forces)
    with pytest.raises(EquationError, match="the runs have different inputs"):
        found.save_petab(tmp_path)
    assert read(found, tmp_path, run=1).model is not None


@pytest.fixture(scope="module")
def tablets():
    """Three subjects who swallow at different times, one of them twice."""
    rng, t = np.random.default_rng(0), np.linspace(0.5, 24.0, 40)
    doses = [[("d", 0.0, 300.0)], [("d", 1.0, 200.0), ("d", 12.1, 50.0)], [("d", 0.0, 400.0)]]
    levels = []
    for rows in doses:
        level = 0.05 * rng.standard_normal(len(t))
        for _, begin, amount in rows:
            since = np.maximum(t - begin, 0.0)
            level += amount / 40 * 1.2 / 1.05 * (np.exp(-0.15 * since) - np.exp(-1.2 * since))
        levels.append(level)
    law = ["d' = -ka*d", "c' = ka*d/V - ke*c"]
    return fit(law, [t] * 3, {"c": levels}, doses=doses, initial={"c": [0.0] * 3})


def test_doses_are_events_whose_times_and_amounts_belong_to_conditions(tablets, tmp_path):
    problem = read(tablets, tmp_path)
    amounts = problem.condition_df[["dose_1_amount", "dose_2_amount"]].to_numpy(float)
    assert amounts.tolist() == [[300.0, 0.0], [200.0, 50.0], [400.0, 0.0]]
    # Time begins at the first reading or dose.
    assert problem.condition_df["dose_2_time"].iloc[1] == pytest.approx(11.6)
    assert problem.condition_df["dose_1_time"].tolist() == pytest.approx([0.0, 0.5, 0.0])


@pytest.mark.parametrize("name", ["late_growth", "dosed", "pushed"])
def test_delays_doses_and_formulas_are_read_by_the_library(name, request, tmp_path):
    found = request.getfixturevalue(name)
    formulas = read(found, tmp_path).observable_df["observableFormula"]
    assert len(formulas) == len(found.prepared.dataset.channels)


def test_conditions_simulated_by_roadrunner_are_our_solutions(tablets, tmp_path):
    roadrunner = pytest.importorskip("roadrunner", reason="libroadrunner is not installed")
    problem = read(tablets, tmp_path)
    nominal = problem.parameter_df["nominalValue"]
    for run, (_, condition) in enumerate(problem.condition_df.iterrows()):
        model = roadrunner.RoadRunner((tmp_path / "model.xml").read_text())
        model.integrator.absolute_tolerance = model.integrator.relative_tolerance = 1e-11
        for name, value in {**nominal, **condition.drop("conditionName")}.items():
            model[f"init({name})"] = nominal[value] if value in nominal else float(value)
        data = tablets.prepared.dataset.runs[run]
        model.timeCourseSelections = ["time", "c"]
        got = model.simulate(times=(data.t - data.t[0]).tolist())[:, 1]
        wanted = tablets.simulate(run=run)["c"]
        assert np.allclose(got, wanted, rtol=0, atol=1e-6)


def test_the_command_line_needs_a_folder(wells, tmp_path):
    wells.save(tmp_path / "record.json")
    command = ["export", tmp_path, "--to", "petab"]
    assert "name it with --out FOLDER" in refused(*command)
    done = commands.gode(*command, "--out", tmp_path / "problem")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "problem" / "problem.yaml").exists()
