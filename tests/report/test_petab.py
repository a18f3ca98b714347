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


def test_doses_get_a_sentence(tmp_path):
    u = 3 * np.exp(-0.3 * (T - T[0]))
    found = fit("u' = C*u", T, u, doses=[("u", T[0], 3.0)], initial=[0.0])
    with pytest.raises(EquationError, match="doses are not written"):
        found.save_petab(tmp_path)


def test_the_command_line_needs_a_folder(wells, tmp_path):
    wells.save(tmp_path / "record.json")
    command = ["export", tmp_path, "--to", "petab"]
    assert "name it with --out FOLDER" in refused(*command)
    done = commands.gode(*command, "--out", tmp_path / "problem")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "problem" / "problem.yaml").exists()
