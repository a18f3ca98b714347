import numpy as np
import pytest

from commands import gode, refused
from examples_found import fitted_oscillator, found_growth
from gode.tables.text import parse_table


@pytest.fixture
def record(tmp_path):
    found_growth().save(tmp_path / "record.json")
    return tmp_path / "record.json"


def columns(result):
    assert result.exit_code == 0, result.output
    table = parse_table(result.stdout.encode(), "stdout")
    return {name: table.numbers(name) for name in table.names}


def test_an_equation_is_solved():
    found = columns(gode("simulate", "u'' = -4*u", "--to", "3", "--points", "50", "--initial", "1,0"))
    np.testing.assert_allclose(found["u"], np.cos(2 * found["t"]), atol=1e-4)
    np.testing.assert_allclose(found["acceleration"], -4 * found["u"], atol=1e-9)


def test_a_record_is_solved_over_its_data_and_beyond(record):
    found = columns(gode("simulate", record))
    t = found_growth().prepared.dataset.runs[0].t
    times = np.linspace(t[0], t[-1], 201)
    assert found["u"].tolist() == found_growth().simulate(times).u.tolist()  # every digit
    longer = columns(gode("simulate", record.parent, "--to", "40", "--points", "9"))
    assert len(longer["t"]) == 9
    assert longer["t"][-1] == 40


def test_the_solution_goes_to_a_file(record, tmp_path):
    result = gode("simulate", record, "--out", tmp_path / "u.csv")
    assert result.stdout == ""
    assert (tmp_path / "u.csv").read_text().startswith("t,u,velocity\n0.0,")


def test_a_force_is_a_formula():
    words = ("simulate", "u' = F", "--to", "2", "--initial", "0")
    found = columns(gode(*words, "--force", "2*t"))
    np.testing.assert_allclose(found["u"], found["t"] ** 2, atol=1e-5)
    assert "the input F" in refused(*words)


def test_bad_questions_are_one_sentence(record, tmp_path):
    assert "needs --to and --initial" in refused("simulate", "u' = u")
    assert "needs 2 finite initial value(s)" in refused("simulate", "u'' = u", "--to", "1", "--initial", "1")
    assert "--initial must be numbers" in refused("simulate", "u' = u", "--to", "1", "--initial", "one")
    assert "the last time must lie after" in refused("simulate", "u' = u", "--to", "-1", "--initial", "1")
    assert "there is no solution after t = " in refused(
        "simulate", "u' = u^2", "--to", "3", "--points", "301", "--initial", "1"
    )
    assert "give --initial for another start" in refused("simulate", record, "--from", "2")
    assert "there is one run only, number 0, got '4'" in refused("simulate", record, "--run", "4")
    assert "there is no record " in refused("simulate", tmp_path / "nowhere.json")
    assert "there is no record 'nofile'; name a record.json" in refused("simulate", "nofile")
    assert "cannot be written (No such file" in refused(
        "simulate", record, "--out", tmp_path / "no" / "u.csv"
    )


def test_the_end_of_a_solution_is_told_whatever_times_are_asked_for():
    words = refused("simulate", "u' = u^2", "--to", "2", "--points", "21", "--initial", "1")
    assert 0.99 < float(words.partition("after t = ")[2].partition(":")[0]) <= 1.0


def test_a_solution_that_goes_on_is_not_said_to_end():
    words = refused("simulate", "u' = 0.5*u - 0.1*u^2", "--to", "1e12", "--points", "21", "--initial", "1")
    assert "diverges" not in words
    assert "cannot be followed to t = 1e+12" in words


def test_an_input_is_known_only_where_it_was_measured(tmp_path):
    fitted_oscillator().save(tmp_path / "record.json")
    assert "known from 0 to 6 only" in refused("simulate", tmp_path, "--to", "9")
    assert columns(gode("simulate", tmp_path, "--to", "9", "--force", "sin(t)"))["t"][-1] == 9
