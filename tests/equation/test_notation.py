"""Derivatives as people write them: operators, quotients, an index t, and Newton's dots."""

import numpy as np
import pytest
from click.testing import CliRunner

import gode
from gode.cli import main
from gode.equation import parse_system, parse_tree
from gode.equation.frame import parse_frame
from gode.equation.notation import in_primes
from gode.equation.system import written_states
from gode.errors import EquationError

FIRST = ["d/dt(x)", "d/dt (x(t))", "dx/dt", "dx(t)/dt", "x_t", "x\u0307", "\u1e8b", "\u1e8b(t)"]
SECOND = [
    "d2x/dt2",
    "d^2x/dt^2",
    "d**2x/dt**2",
    "d²x/dt²",
    "d^2/dt^2(x)",
    "d/dt(d/dt(x))",
    "x_tt",
    "x\u0308",
    "\u1e8d",
]


@pytest.mark.parametrize("left", FIRST)
def test_first_derivatives(left):
    assert parse_tree(f"{left} = -2*x", states=("x",)) == parse_tree("x' = -2*x", states=("x",))
    assert written_states([f"{left} = -2*x"]) == ("x",)


@pytest.mark.parametrize("left", SECOND)
def test_second_derivatives(left):
    assert parse_tree(f"{left} = -2*x", states=("x",)) == parse_tree("x'' = -2*x", states=("x",))
    assert written_states([f"{left} = -2*x"]) == ("x",)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("m*u_tt + c*u_t + k*u = F", "m*u'' + c*u' + k*u = F"),
        ("m*\u00fc + c*u\u0307 + k*u = F", "m*u'' + c*u' + k*u = F"),
        ("theta\u0308 = -sin(theta) - c*theta\u0307", "theta'' = -sin(theta) - c*theta'"),
        ("x\u0307_1 = -x_1*\u1e8b1", "x_1' = -x_1*x1'"),
        ("d2x/dt2 = -k*x - c*dx/dt", "x'' = -k*x - c*x'"),
    ],
)
def test_an_equation_may_hold_several_of_them(text, meant):
    assert in_primes([text]) == [meant]


@pytest.mark.parametrize(
    "text",
    [
        "u' = -k*u + k_t*u^2",  # k_t is a constant beside k
        "x_t' = -k*x_t",  # the state is called x_t
        "diff(x_t, t) = -x_t + x",
        "x_t = s*y",  # a formula of what was measured
        "größe' = -k*größe",
        "menü' = -k*menü",
        "u' = -dt*u",
    ],
)
def test_names_stay_what_they_are(text):
    assert in_primes([text]) == [text]


def test_a_name_with_an_index_that_is_known_stays():
    assert in_primes(["x_t = s*x"], states=("x",), others=("x_t",)) == ["x_t = s*x"]
    assert in_primes(["x' = -k*x", "x_t = s*x"]) == ["x' = -k*x", "x_t = s*x"]
    assert in_primes(["u' = c*du/dt"], states=("u",), others=("dt",)) == ["u' = c*du/dt"]


def test_systems_and_frames_read_them():
    assert parse_system(["dx/dt = C*x - C*x*y", "y_t = C*x*y - C*y"]) == parse_system(
        ["x' = C*x - C*x*y", "y' = C*x*y - C*y"]
    )
    frame = parse_frame("d/dt(x) = r*x - f(x, y); \u1e8f = e*f(x, y) - m*y", states=("x", "y"))
    assert frame.texts == ("x' = r*x - f(x, y)", " y' = e*f(x, y) - m*y")


def test_an_error_shows_the_text_as_it_was_understood():
    with pytest.raises(EquationError) as caught:
        parse_tree("dx/dt = -2*x + ]", states=("x",))
    told = str(caught.value).splitlines()
    assert told[1] == "  x' = -2*x + ]"
    assert told[2].index("^") == told[1].index("]")


@pytest.fixture
def decay():
    t = np.linspace(0, 5, 40)
    return t, 3 * np.exp(-0.7 * t) + 0.01 * np.random.default_rng(3).standard_normal(40)


def test_fits_read_them(decay):
    t, x = decay
    wanted = gode.fit("x' = -k*x", t, x)
    for text in ("dx/dt = -k*x", "x_t = -k*x", "\u1e8b = -k*x"):
        assert gode.fit(text, t, x).equation == wanted.equation
    named = gode.fit(["d/dt(x_t) = -k*x_t"], t, {"x_t": x})
    assert str(named.equation) == str(wanted.equation).replace("x", "x_t")


def test_the_command_line_reads_them(decay, tmp_path):
    t, x = decay
    path = tmp_path / "decay.csv"
    np.savetxt(path, np.column_stack([t, x]), delimiter=",", header="t,x", comments="")
    ran = CliRunner().invoke(main, ["fit", "dx/dt = -k*x", str(path), "--quiet"])
    assert ran.exit_code == 0, ran.output
    assert ran.output == CliRunner().invoke(main, ["fit", "x' = -k*x", str(path), "--quiet"]).output
