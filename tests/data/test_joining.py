import numpy as np
import pytest

from gode.data.joining import Interpolation, changes_by_jumps, chosen_interpolation
from gode.errors import ConfigError


@pytest.mark.parametrize(
    ("hold", "interpolation", "chosen"),
    [
        (None, "auto", "auto"),
        (True, "auto", "hold"),
        (False, "auto", "cubic"),
        (None, "linear", "linear"),
        (False, "linear", "linear"),
        (True, "hold", "hold"),
        (np.True_, "auto", "hold"),
    ],
)
def test_hold_is_the_short_form_of_interpolation(hold, interpolation, chosen):
    assert chosen_interpolation(hold, interpolation) is Interpolation(chosen)


@pytest.mark.parametrize(
    ("hold", "interpolation", "message"),
    [
        (True, "cubic", "hold=True contradicts interpolation='cubic'"),
        (False, "hold", "hold=False contradicts"),
        ("yes", "auto", "hold must be True, False or None, got 'yes'"),
        (None, "spline", "interpolation must be one of auto, cubic, linear, hold, got 'spline'"),
        (None, 3, "interpolation must be one of"),
    ],
)
def test_contradictions_and_other_words_are_refused(hold, interpolation, message):
    with pytest.raises(ConfigError, match=message):
        chosen_interpolation(hold, interpolation)


def test_a_switch_changes_by_jumps_and_a_ramp_does_not():
    assert changes_by_jumps(np.repeat([0.0, 1.0, 0.5], 5))
    assert not changes_by_jumps(np.linspace(0, 1, 10))
    assert not changes_by_jumps(np.ones(10))
