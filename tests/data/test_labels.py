import numpy as np
import pytest

from gode.data.dataset import by_column, column_units, unit_of
from gode.data.from_arrays import make_dataset
from gode.errors import DataError

T = np.linspace(0.0, 5.0, 20)
LEVEL, PUMP = np.exp(-T), np.cos(T)


def test_labels_of_older_records_get_the_keys_of_columns():
    old = {"time": "Time [h]", "u": "level", "velocity": "v", "force": "pump [%]", "v1": "rain", "run": "id"}
    new = {"t": "Time [h]", "u": "level", "u'": "v", "F": "pump [%]", "v1": "rain", "run": "id"}
    assert by_column(old, ("u",), ("F", "v1")) == new
    assert by_column(new, ("u",), ("F", "v1")) == new


def test_a_state_or_input_that_is_called_like_an_argument_keeps_its_label():
    labels = {"time": "Time [h]", "velocity": "v [m/s]", "force": "f [N]"}
    found = by_column(labels, ("velocity", "y"), ("force",))
    assert found == {"t": "Time [h]", "velocity": "v [m/s]", "force": "f [N]"}


def test_units_are_given_by_the_names_of_the_user_and_by_those_of_the_equation():
    given = {"t": "h", "level": "m", "pump": "V"}
    data = make_dataset(T, LEVEL, force={"pump": PUMP}, names=["level"], units=given)
    other = make_dataset(
        T, LEVEL, force={"pump": PUMP}, names=["level"], units={"t": "h", "u": "m", "F": "V"}
    )
    assert data.labels == other.labels == {"t": "t [h]", "u": "level [m]", "F": "pump [V]"}
    assert [unit_of(data, column) for column in ("t", "u", "F")] == ["h", "m", "V"]
    assert str(column_units(data)["u'"]) == "m/h"


def test_a_unit_of_what_is_no_column_is_refused_with_the_columns():
    with pytest.raises(DataError, match="no column; the columns are t, x, y, F"):
        make_dataset(T, {"x": LEVEL, "y": PUMP}, force=T, units={"speed": "m/s"})


def test_the_unit_of_a_state_follows_from_that_of_its_acceleration():
    t = np.linspace(0.0, 4.0, 9)
    data = make_dataset(t, acceleration=np.cos(t), labels={"t": "t [s]", "u''": "roof_acc [m/s^2]"})
    units = {column: str(unit) for column, unit in column_units(data).items()}
    assert units == {"t": "s", "u": "m", "u'": "m/s", "u''": "m/s^2"}
