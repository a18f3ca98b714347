"""Laws with states that no column measures, at the command line."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from commands import gode, refused

COMPARTMENTS = "c' = -ke*c - k12*c + k21*p; p' = k12*c - k21*p"
RATES = {"ke": 0.2, "k12": 0.3, "k21": 0.1}


@pytest.fixture(scope="module")
def drug(tmp_path_factory):
    """A file with the concentration in the blood, of which a part goes to the tissue and back."""
    t = np.linspace(0.0, 30.0, 40)
    ke, k12, k21 = RATES.values()
    rates = np.array([[-ke - k12, k21], [k12, -k21]])
    c = solve_ivp(lambda t, y: rates @ y, (0.0, 30.0), [10.0, 0.0], t_eval=t, rtol=1e-9).y[0]
    c += 0.03 * np.std(c) * np.random.default_rng(0).standard_normal(len(t))
    file = tmp_path_factory.mktemp("drug") / "drug.csv"
    np.savetxt(file, np.column_stack([t, c]), delimiter=",", header="t,c", comments="")
    return file


def test_states_in_no_column_are_hidden_and_their_start_is_given_by_name(drug):
    result = gode("fit", COMPARTMENTS, drug, "--initial", "p=0", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert any("p is in no column, so it is taken for a hidden state" in line for line in found["data"])
    values = {each["place"]: (each["value"], each["error"]) for each in found["constants"]}
    for name, true in RATES.items():
        value, error = values[name]
        assert abs(value - true) < 4 * error


def test_unknown_functions_may_hold_a_hidden_state(drug):
    frame = "c' = -ke*c - f(c, p); p' = f(c, p)"
    result = gode("discover", drug, "--frame", frame, "--initial", "p=0", "--effort", "quick", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert any("p is in no column, so it is taken for a hidden state" in line for line in found["data"])
    assert "p" in found["functions"]["f"]


def test_the_start_of_a_hidden_state_of_a_search_is_given_by_name(drug):
    result = gode("discover", drug, "--hidden", "p", "--initial", "p=0", "--effort", "quick", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [line.split("'")[0] for line in found["equation"].splitlines()] == ["c", "p"]


def test_states_that_are_all_in_no_column_are_refused_with_the_columns_there_are(drug):
    message = refused("fit", "a' = -k*a + b; b' = -k*b", drug)
    assert "no column 'a'" in message
    assert "its columns are" in message


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("q=0", "the states are c, p"),
        ("p=none", "must be numbers"),
        ("p=0,p=1", "gives p twice"),
        ("p=", "must be numbers"),
    ],
)
def test_initial_values_by_name_that_cannot_be_used_are_told(drug, words, sentence):
    assert sentence in refused("fit", COMPARTMENTS, drug, "--initial", words)
