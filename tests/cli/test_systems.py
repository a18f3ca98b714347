"""Several signals at the command line: from the file to the equations, and from a record onwards."""

import json
import signal

import numpy as np
import pytest

import gode as package
from commands import finished, gode, refused, start, wait_for_work
from gode.equation.system import parse_system_values
from gode.solve import solve
from gode.tables.text import parse_table

TRUTH = ["prey' = 0.9*prey - 0.5*prey*predator", "predator' = 0.5*prey*predator - 0.8*predator"]
FEW = """%template u' = {sentence}
law -> 'C' '*' 'v1' | grow | grow '+' pair | grow '+' square | grow '+' pair '+' square
grow -> 'C' '*' 'u'
pair -> 'C' '*' 'u' '*' 'v1'
square -> 'C' '*' 'u' '^' '2'
"""
LOTKA = "Hare' = C*Hare - C*Hare*Lynx; Lynx' = C*Hare*Lynx - C*Lynx"


def columns(result):
    assert result.exit_code == 0, result.output
    table = parse_table(result.stdout.encode(), "stdout")
    return {name: table.numbers(name) for name in table.names}


@pytest.fixture(scope="module")
def fur(tmp_path_factory):
    t = np.linspace(0.0, 8.0, 50)
    rng = np.random.default_rng(2)
    x = solve(parse_system_values(TRUTH), t, [2.0, 1.0]).values[::3] + 0.01 * rng.standard_normal((2, 50))
    path = tmp_path_factory.mktemp("data") / "fur.csv"
    rows = [f"{a:.4f};{b:.5f};{c:.5f};3" for a, b, c in zip(t, *x, strict=True)]
    path.write_text("\n".join(["Year;Hare [1000];Lynx;station", *rows]))
    return path


@pytest.fixture(scope="module")
def fitted(fur, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return gode("fit", LOTKA, fur, "--out", out), out


def test_the_input_of_a_system_may_be_called_f_by_the_user(tmp_path):
    rows = "".join(f"{i / 5},{3 - i / 20:.2f},{np.exp(-i / 9):.3f},{i % 3}\n" for i in range(30))
    (tmp_path / "a.csv").write_text("t,x,y,pump\n" + rows)
    equations = "x' = -k*x + m*F; y' = -c*y"
    texts = [
        gode("fit", equations, tmp_path / "a.csv", "--force", word, "--quiet").stdout
        for word in ("F=pump", "pump")
    ]
    assert texts[0] == texts[1] != ""


def test_the_equations_are_told_line_by_line_with_their_constants(fitted):
    result, _ = fitted
    assert result.exit_code == 0, result.output
    assert "Hare from 'Hare [1000]', Lynx from 'Lynx'" in result.output
    lines = result.output.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  Hare' = "))
    assert lines[first + 1].startswith("  Lynx' = ")
    assert "multiplying Hare, in Hare'" in result.output
    assert " in Hare, " in result.output
    assert "The fit is good" in result.output


def test_the_folder_holds_fit_and_residuals_of_each_state(fitted):
    _, out = fitted
    table = parse_table((out / "fit.csv").read_bytes(), "fit.csv")
    assert table.names == ("t", "Hare", "Hare fit", "Hare residual", "Lynx", "Lynx fit", "Lynx residual")
    left = table.numbers("Lynx") - table.numbers("Lynx fit")
    np.testing.assert_allclose(table.numbers("Lynx residual"), left, atol=1e-12)
    assert np.std(left) < 0.02


def test_equations_may_be_given_one_by_one_and_columns_in_their_order(fur):
    words = ("fit", "x' = C*x - C*x*y", "y' = C*x*y - C*y", fur, "--states", "Hare,Lynx", "--json")
    found = json.loads(gode(*words).stdout)
    assert found["states"] == ["x", "y"]
    assert found["data"][0].split("; ")[1] == "time from 'Year', x from 'Hare [1000]', y from 'Lynx'"
    assert {c["place"] for c in found["constants"]} == {"x, in x'", "x*y, in x'", "y, in y'", "y*x, in y'"}
    assert set(found["noise"]) == set(found["misfits"]) == {"x", "y"}


def test_a_record_of_a_system_is_simulated_exported_and_reported(fitted):
    _, out = fitted
    found = columns(gode("simulate", out, "--to", "12", "--points", "40"))
    assert list(found) == ["t", "Hare", "Lynx", "Hare'", "Lynx'"]
    expected = solve(parse_system_values(TRUTH), found["t"], [2.0, 1.0])
    np.testing.assert_allclose(found["Hare"], expected["prey"], atol=0.2)
    started = columns(gode("simulate", out, "--initial", "3,1", "--points", "3"))
    assert (started["Hare"][0], started["Lynx"][0]) == (3.0, 1.0)
    for language in ("python", "c", "julia", "matlab", "modelica"):
        program = gode("export", out, "--to", language)
        assert program.exit_code == 0, program.output
        assert "Lynx" in program.stdout
    assert gode("report", out, "--out", out / "again.html").exit_code == 0
    assert "Lynx" in (out / "again.html").read_text()


def test_a_system_is_solved_from_its_text():
    found = columns(gode("simulate", "x' = y; y' = -x", "--to", "3", "--points", "30", "--initial", "0,1"))
    np.testing.assert_allclose(found["x"], np.sin(found["t"]), atol=1e-4)
    words = ("simulate", "x'' = -x + a; y' = b - y", "--to", "1", "--points", "5", "--initial", "0,0,0")
    found = columns(gode(*words, "--force", "a=1,b=2*t"))
    np.testing.assert_allclose(found["x"], 1 - np.cos(found["t"]), atol=1e-4)
    np.testing.assert_allclose(found["y"], 2 * (found["t"] - 1 + np.exp(-found["t"])), atol=1e-4)


def test_bad_questions_are_one_sentence(fur, fitted):
    _, out = fitted
    assert "the state Hare needs one equation, got 2" in refused("fit", f"{LOTKA}; Hare' = C", fur)
    assert "has no column 'Lynxes'; " in refused("fit", LOTKA.replace("Lynx'", "Lynxes'"), fur)
    assert "did you mean 'Lynx'?" in refused("discover", fur, "--states", "Hare,Lynks")
    assert "station is constant" in refused("discover", fur, "--states", "Hare,Lynx,station")
    assert "needs 2 finite initial value(s)" in refused("simulate", out, "--initial", "3")
    assert "has 2 formulas; name each" in refused(
        "simulate", "x' = y; y' = F", "--to", "1", "--initial", "1,1", "--force", "1,2"
    )


@pytest.fixture(scope="module")
def search(fur):
    """The words of a discovery among few equations."""
    grammar = fur.parent / "few.grammar"
    grammar.write_text(FEW)
    return ("discover", fur, "--states", "Hare,Lynx", "--effort", "quick", "--grammar", grammar)


@pytest.fixture(scope="module")
def uninterrupted(search, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    code, output, errors = finished(start(*search, "--out", out))
    assert code == 0, errors
    return (out / "record.json").read_bytes(), output


def test_the_law_is_found_with_the_constant_that_its_equations_share(uninterrupted):
    _, output = uninterrupted
    assert "  Hare' = 0.8989*Hare - 0.4996*Hare*Lynx\n" in output
    assert "multiplying Lynx*Hare, in both equations" in output
    assert "\na stands in several equations:\n  Hare' = " in output
    assert "(one constant in two equations)" in output


def test_killed_and_started_again_it_ends_the_same(search, uninterrupted, tmp_path):
    kill_and_finish(search, uninterrupted, tmp_path, (5,))


@pytest.mark.slow
def test_killed_twice_it_ends_the_same(search, uninterrupted, tmp_path):
    kill_and_finish(search, uninterrupted, tmp_path, (2, 9))


def kill_and_finish(search, uninterrupted, tmp_path, moments):
    """Kill the command after so many fits, each time; then let it finish."""
    for n_fits in moments:
        process = start(*search, "--out", tmp_path)
        wait_for_work(process, tmp_path, n_fits)
        process.kill()
        process.communicate()
    code, output, errors = finished(start(*search, "--out", tmp_path))
    assert code == 0, errors
    assert "going on from " in output
    assert (tmp_path / "record.json").read_bytes() == uninterrupted[0]
    assert not (tmp_path / "checkpoint.jsonl").exists()


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_number_of_processes(search, uninterrupted, tmp_path):
    code, _, errors = finished(start(*search, "--jobs", "2", "--out", tmp_path))
    assert code == 0, errors
    assert (tmp_path / "record.json").read_bytes() == uninterrupted[0]


@pytest.mark.slow
def test_an_interruption_leaves_the_best_so_far(fur, tmp_path):
    words = ("discover", fur, "--states", "Hare,Lynx", "--effort", "quick", "--out", tmp_path)
    process = start(*words)
    wait_for_work(process, tmp_path, 3)
    process.send_signal(signal.SIGTERM)
    code, output, errors = finished(process)
    assert code == 143, errors
    assert "Interrupted: this is the best of " in output
    found = package.load(tmp_path / "record.json")
    assert found.interrupted
    assert found.simulate().failure is None


def test_a_guess_is_refused_in_one_sentence(search):
    assert "--start guesses the equation of one state" in refused(*search, "--start", "u' = C*u")
