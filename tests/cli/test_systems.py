"""Several signals at the command line: from the file to the equations, and from a record onwards."""

import json

import numpy as np
import pytest

from commands import gode, refused
from gode.equation.parse_system import parse_system_values
from gode.solve import solve
from gode.tables.text import parse_table

TRUTH = ["prey' = 0.9*prey - 0.5*prey*predator", "predator' = 0.5*prey*predator - 0.8*predator"]
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


def test_the_equations_are_told_line_by_line_with_their_constants(fur):
    result = gode("fit", LOTKA, fur)
    assert result.exit_code == 0, result.output
    assert "Hare from 'Hare [1000]', Lynx from 'Lynx'" in result.output
    lines = result.output.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  Hare' = "))
    assert lines[first + 1].startswith("  Lynx' = ")
    assert "multiplying Hare, in Hare'" in result.output
    assert " in Hare, " in result.output
    assert "The fit is good" in result.output


def test_equations_may_be_given_one_by_one_and_columns_in_their_order(fur):
    words = ("fit", "x' = C*x - C*x*y", "y' = C*x*y - C*y", fur, "--states", "Hare,Lynx", "--json")
    found = json.loads(gode(*words).stdout)
    assert found["states"] == ["x", "y"]
    assert found["data"][0].split("; ")[1] == "time from 'Year', x from 'Hare [1000]', y from 'Lynx'"
    assert {c["place"] for c in found["constants"]} == {"x, in x'", "x*y, in x'", "y, in y'", "y*x, in y'"}
    assert set(found["noise"]) == set(found["misfits"]) == {"x", "y"}


def test_a_system_is_solved_from_its_text():
    found = columns(gode("simulate", "x' = y; y' = -x", "--to", "3", "--points", "30", "--initial", "0,1"))
    np.testing.assert_allclose(found["x"], np.sin(found["t"]), atol=1e-4)
    words = ("simulate", "x'' = -x + a; y' = b - y", "--to", "1", "--points", "5", "--initial", "0,0,0")
    found = columns(gode(*words, "--force", "a=1,b=2*t"))
    np.testing.assert_allclose(found["x"], 1 - np.cos(found["t"]), atol=1e-4)
    np.testing.assert_allclose(found["y"], 2 * (found["t"] - 1 + np.exp(-found["t"])), atol=1e-4)


def test_bad_questions_are_one_sentence(fur):
    assert "the state Hare needs one equation, got 2" in refused("fit", f"{LOTKA}; Hare' = C", fur)
    assert "has no column 'Lynxes'; " in refused("fit", LOTKA.replace("Lynx'", "Lynxes'"), fur)
    assert "did you mean 'Lynx'?" in refused("discover", fur, "--states", "Hare,Lynks")
    assert "station is constant" in refused("discover", fur, "--states", "Hare,Lynx,station")
    assert "has 2 formulas; name each" in refused(
        "simulate", "x' = y; y' = F", "--to", "1", "--initial", "1,1", "--force", "1,2"
    )
