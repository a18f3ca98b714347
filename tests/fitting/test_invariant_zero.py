import pytest

from gode.equation import parse_system
from gode.equation.system import make_law
from gode.fitting.invariant_zero import law_keeps_zero


def law(text: str, *constants: float):
    return make_law(parse_system([part.strip() for part in text.split(";")]), constants)


@pytest.mark.parametrize(
    "text",
    [
        "x' = C*x - C*x^2 - C*x*y; y' = C*y - C*y^2 - C*x*y",
        "x' = C*x - C*x*y/(C + x); y' = C*x*y/(C + x) - C*y",
        "x' = C*x*log(x); y' = C*y*exp(C*x)",
    ],
)
def test_laws_of_species_last(text):
    n = text.count("C")
    assert law_keeps_zero(law(text, *(0.5 for _ in range(n))))


@pytest.mark.parametrize(
    "text",
    [
        "x' = C*x; y' = C*x - C*y",
        "x' = C - C*x; y' = C*y",
        "x' = C*x*y; y' = C*y + C*t",
        "x' = C*cos(x); y' = C*y",
    ],
)
def test_what_is_made_of_something_else_does_not_last(text):
    assert not law_keeps_zero(law(text, *(0.5 for _ in range(text.count("C")))))


def test_the_values_of_powers_count():
    text = "x' = C*x^C; y' = C*y"
    assert law_keeps_zero(law(text, 1.0, 0.7, 1.0))
    assert not law_keeps_zero(law(text, 1.0, -0.02, 1.0))
