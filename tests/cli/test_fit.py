import json

import numpy as np

from commands import GROWTH, gode, refused

EQUATION = "u' = C*u - C*u^2"


def test_the_constants_of_a_known_equation_are_fitted(tmp_path):
    result = gode("fit", EQUATION, GROWTH, "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0, result.output
    assert "0.631 ± 0.011 multiplying u" in result.output
    assert "Undecided" not in result.output  # nothing else was tried
    assert (tmp_path / "new" / "folder" / "record.json").exists()


def test_machines_get_json_and_nothing_else():
    found = json.loads(gode("fit", EQUATION, GROWTH, "--json").stdout)
    np.testing.assert_allclose(sorted(c["value"] for c in found["constants"]), [-0.05496, 0.6314], rtol=1e-3)
    assert found["text"] == "u' = 0.6314*u - 0.05496*u^2"
    assert found["interrupted"] is False
    assert found["data"][0].endswith("growth.csv: 71 rows; time from 't', u from 'u'")


def test_bad_questions_are_one_sentence():
    assert "holds no derivative" in gode("fit", "u = C", GROWTH).stderr
    assert "no column 'w'" in refused("fit", EQUATION, GROWTH, "--u", "w")
    assert "neither a column of" in refused("fit", EQUATION, GROWTH, "--force", "sin(w)")
    assert "nor a formula in t" in refused("fit", EQUATION, GROWTH, "--force", "u*t")
    assert "given 2 times for 1 runs" in refused("fit", EQUATION, GROWTH, "--initial", "1", "--initial", "2")
    assert "is an unknown function" in gode("fit", "u' = C*w(u)", GROWTH).stderr


def test_a_column_that_never_changes_has_a_law_that_is_zero_and_no_minus(tmp_path):
    (tmp_path / "a.csv").write_text("t,u\n" + "".join(f"{i / 4},3\n" for i in range(40)))
    done = gode("discover", tmp_path / "a.csv", "--effort", "quick")
    assert "  0 multiplying u" in done.stdout
    assert "Predictable" not in done.stdout


def test_an_equation_behind_its_data_is_told_as_the_mistake():
    assert "the equation comes first, then" in gode("fit", GROWTH, EQUATION).stderr
    assert "missing argument 'FILE...'" in gode("fit", EQUATION).stderr


def test_more_initial_values_than_the_order_are_refused():
    message = refused("fit", "u' = C*u", GROWTH, "--initial", "1,2")
    assert "--initial must be a value for each state for order 1, got 2 values" in message


def test_a_run_that_cannot_be_used_is_named_after_its_file(tmp_path):
    rows = [f"{t / 10},{2.718 ** (-t / 10)}" for t in range(20)]
    (tmp_path / "long.csv").write_text("\n".join(["t,u", *rows]))
    (tmp_path / "short.csv").write_text("\n".join(["t,u", *rows[:3]]))
    message = refused("fit", "u' = C*u", tmp_path / "long.csv", tmp_path / "short.csv")
    assert "short: 3 usable points are too few" in message
