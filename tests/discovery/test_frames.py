"""discover() with a frame: what is found for unknown functions, and that it is kept."""

import numpy as np
import pytest

import gode
from gode.errors import ConfigError

T = np.linspace(0, 10, 60)
U = 5 / (1 + 9 * np.exp(-0.8 * T)) + 0.02 * np.random.default_rng(0).standard_normal(60)


@pytest.fixture(scope="module")
def found():
    return gode.discover(T, U, frame="u' = r*u - f(u)", effort="quick")


def test_an_unknown_function_is_found_and_the_constants_keep_their_names(found):
    assert found.equation.functions["f"].endswith("*u^2")
    r, factor = found.equation.constants
    assert (r.name, factor.place) == ("r", "u^2 in f")
    assert r.value == pytest.approx(0.8, abs=4 * r.error)
    assert factor.value == pytest.approx(0.16, abs=4 * factor.error)


def test_a_record_keeps_the_frame_and_what_was_found(found, tmp_path):
    found.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert again.settings.known == found.settings.known
    assert again.equation.functions == found.equation.functions
    assert [c.equation for c in again.candidates[:3]] == [c.equation for c in found.candidates[:3]]


def test_a_frame_without_unknown_functions_is_a_fit():
    fitted = gode.discover(T, U, frame="u' = r*u*(1 - u/K)", fixed={"K": 5})
    assert fitted.n_fitted == 1
    assert [c.name for c in fitted.equation.constants] == ["r"]


def test_values_without_a_frame_are_refused():
    with pytest.raises(ConfigError, match="of constants in frame="):
        gode.discover(T, U, fixed={"K": 5})
    with pytest.raises(ConfigError, match="do not go together"):
        gode.discover(T, U, frame="u' = f(u)", start="u' = C*u")
