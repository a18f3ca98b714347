"""Solutions, predictions and residuals of laws of several states."""

import numpy as np
import pytest

from gode.discovery import fit
from gode.equation.system import parse_system_values
from gode.errors import DataError
from gode.solve import solve

LAW = parse_system_values(["prey' = 1.1*prey - 0.4*prey*pred", "pred' = 0.1*prey*pred - 0.4*pred"])
T = np.linspace(0.0, 20.0, 60)


@pytest.fixture(scope="module")
def found():
    values = solve(LAW, T, [10.0, 5.0]).values[::3].T
    values = values + 0.2 * np.random.default_rng(0).standard_normal(values.shape)
    texts = ["prey' = C*prey + C*prey*pred", "pred' = C*prey*pred + C*pred"]
    return fit(texts, T, values, names=["prey", "pred"])


def test_initial_values_may_be_in_order_nested_or_by_name(found):
    given = ([3.0, 2.0], [[3.0], [2.0]], np.array([3.0, 2.0]), {"pred": 2.0, "prey": [3.0]})
    first, *others = (found.simulate(T, start)["pred"] for start in given)
    assert first[0] == 2.0
    assert all(np.array_equal(first, other) for other in others)


def test_a_name_that_is_no_state_is_refused(found):
    with pytest.raises(DataError, match="'fox', which is no state"):
        found.simulate(T, {"fox": 1.0, "prey": 2.0})
    with pytest.raises(DataError, match="no state is called 'fox'"):
        found.predict(T)["fox"]


def test_a_missing_initial_value_is_refused(found):
    with pytest.raises(DataError, match="2 finite initial value"):
        found.simulate(T, {"prey": 2.0})


def test_prediction_of_a_state_has_its_own_band(found):
    later = np.linspace(20.0, 25.0, 30)
    whole = found.predict(later)
    own = whole["pred"]
    truth = solve(LAW, np.append(T, later[1:]), [10.0, 5.0])["pred"][59:]
    assert whole.values.shape == whole.lower.shape == (2, 30)
    assert np.array_equal(own.u, whole.values[1])
    assert np.all(own.lower < own.upper)
    assert np.mean((own.lower <= truth) & (truth <= own.upper)) > 0.8
    assert "pred(25)" in repr(own)
    assert "prey(25)" in repr(whole)


def test_each_state_has_a_channel_and_a_noise_of_its_own(found):
    assert [c.name for c in found.quality.channels] == ["prey", "pred"]
    assert found.noise[[0, 3]] == pytest.approx([0.2, 0.2], rel=0.3)
    assert np.isnan(found.noise[[1, 2, 4, 5]]).all()
    assert found.quality.misfit == pytest.approx(1.0, abs=0.1)


def test_rival_laws_have_one_row_each(found):
    (text,) = found.equations["equation"]
    assert text == "; ".join(str(found.equation).split("\n"))


def test_an_input_may_be_given_by_its_name():
    law = parse_system_values(["x' = -x + y + F", "y' = -y + G"], inputs=("F", "G"))
    drive = {"F": "sin(t)", "G": "cos(2*t)"}
    values = solve(law, T, [1.0, 0.0], inputs=drive).values[::3].T
    values = values + 0.01 * np.random.default_rng(1).standard_normal(values.shape)
    found = fit(["x' = C*x + C*y + C*F", "y' = C*y + C*G"], T, values, names=["x", "y"], force=drive)
    same = found.simulate(T, [0.0, 0.0], {"F": "sin(t)"})
    assert np.allclose(same.values[::3], found.simulate(T, [0.0, 0.0]).values[::3])
    still = found.simulate(T, [0.0, 0.0], {"F": "0", "G": "0*t"})
    assert np.allclose(still.values[::3], 0.0)
    with pytest.raises(DataError, match="'H', which is no input; the inputs are F, G"):
        found.simulate(T, [0.0, 0.0], {"H": "t"})
