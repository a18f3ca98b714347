import numpy as np
import pytest

from gode.data import columns_of_run, join_runs
from gode.equation import parse_equation
from gode.fitting.problem import is_resolved

T = np.linspace(0.0, 10.0, 101)
ONE = columns_of_run(T, np.sin(T), np.cos(T), -np.sin(T))
TWO = join_runs([ONE, ONE])


@pytest.mark.parametrize("columns", [ONE, TWO], ids=["one run", "two runs"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u' = -0.5*u + 2*sin(3*t)", True),
        ("u' = -0.5*u + 2*sin(60*t)", False),  # a cycle between two samples
        ("u' = -0.5*u + 2*cos(10*t)", True),  # a radian between two samples
        ("u' = -0.5*u + 2*cos(15*t)", False),
        ("u' = -0.5*u + 2*sin(15*t)", False),
        ("u' = -0.5*u + tan(15*t)", False),
        ("u' = -0.5*u + 2*exp(-40*t)", True),
        ("u' = -0.5*u + 2*exp(-60*t)", False),
        ("u' = -0.5*u + tanh(40*t)", True),
        ("u' = -0.5*u + tanh(60*t)", False),
        ("u' = -0.5*u + 2*exp(-0.3*t)", True),
        ("u' = -0.5*u + 2*exp(-4e100*t)", False),
        ("u' = -0.5*u + tanh(5e5*u)", False),
        ("u' = -0.5*u + sin(u)", True),
        ("u' = 2/(3 + u)", True),
        ("u' = 2/(1.04 + u)", False),  # a pole just beyond the data
        ("u' = 2/u^2", False),  # u passes through zero
        ("u' = log(2 + u)", True),
        ("u' = log(t)", False),  # t begins at zero
        ("u' = 1/t^0.3", False),
        ("u' = t^0.3", True),
    ],
)
def test_only_what_the_samples_show_is_resolved(text, expected, columns):
    equation = parse_equation(text)
    assert is_resolved(equation, columns) is expected


def columns_of(*values):
    u = np.array(values, float)
    return columns_of_run(np.arange(len(u)), u, np.zeros(len(u)))


def test_a_function_without_constants_needs_no_resolution():
    coarse = columns_of(*(3 * np.cos(2 * np.arange(20))))
    assert is_resolved(parse_equation("u' = 2*sin(u)"), coarse)
    assert not is_resolved(parse_equation("u' = 2*sin(1.1*u)"), coarse)


@pytest.mark.parametrize(("top", "expected"), [(2.65, True), (5.0, False)])
def test_what_is_divided_by_may_not_change_tenfold_between_two_samples(top, expected):
    equation = parse_equation("u' = 2/(0.1 + u^2)")
    rising = (1.0, 1.0, 1.0, top, top, top)
    assert is_resolved(equation, columns_of(*rising)) is expected
    assert is_resolved(equation, columns_of(*rising[::-1])) is expected


def test_from_run_to_run_anything_may_change():
    runs = join_runs([columns_of(1.0, 1.1, 1.2, 1.1), columns_of(9.0, 9.1, 9.2), columns_of(1.0, 1.1, 1.2)])
    assert is_resolved(parse_equation("u' = 2/(0.1 + u^2)"), runs)
