import numpy as np
import pytest

from gode.equation import parse_skeleton
from gode.equation.tape import COLUMNS, compile_scales, compile_tape
from gode.fitting.varpro import ADDEND_STARTS, EXPONENT_STARTS, FACTOR_STARTS, starting_values

T = np.linspace(1.0, 9.0, 40)
U = 4.0 + np.sin(T)


def values(text, n=12):
    skeleton = parse_skeleton(text)
    terms, k = skeleton.terms, skeleton.n_constants
    tape, scales = compile_tape(terms, COLUMNS, k), compile_scales(terms, COLUMNS, k)
    x = np.vstack([T, U, np.cos(T), -np.sin(T)])
    return starting_values(tape, scales.tape, scales.role, x, n)


def size(values):
    return np.sqrt(np.mean(values**2))


def test_a_factor_starts_in_the_inverse_size_of_what_it_multiplies():
    assert sorted(values("u' = C*exp(C*u)")[:, 0] * size(U)) == pytest.approx(sorted(FACTOR_STARTS))


def test_an_addend_starts_in_the_size_of_what_it_is_added_to():
    assert sorted(values("u' = C/(u + C)")[:, 0] / size(U)) == pytest.approx(sorted(ADDEND_STARTS))


def test_an_exponent_starts_from_a_table():
    assert sorted(values("u' = C*u^C")[:, 0]) == pytest.approx(sorted(EXPONENT_STARTS))


def test_a_frequency_starts_at_multiples_of_a_quarter_of_a_cycle_over_the_record():
    quarters = values("u' = C*u + C*cos(C*t)", n=80)[:, 0] / (0.5 * np.pi / (T[-1] - T[0]))
    assert sorted(quarters) == pytest.approx(np.arange(1.0, 81.0))


def test_constants_start_from_different_combinations():
    found = values("u' = C*exp(C*u) + C*u^C", n=144)
    assert len(np.unique(found, axis=0)) == 144
