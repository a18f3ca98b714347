import numpy as np
import pytest

from gode.data import columns_of_run, join_runs
from gode.equation import parse_equation
from gode.fitting.resolved import is_resolved

T = np.linspace(0.0, 10.0, 101)
ONE = columns_of_run(T, np.sin(T), np.cos(T), -np.sin(T))
TWO = join_runs([ONE, ONE])


@pytest.mark.parametrize("columns", [ONE, TWO], ids=["one run", "two runs"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u' = -0.5*u + 2*sin(3*t)", True),
        ("u' = -0.5*u + 2*sin(60*t)", False),  # a cycle between two samples
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
