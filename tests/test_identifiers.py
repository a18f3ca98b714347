import pytest

from gode.identifiers import identifiers


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["prey", "predator"], ["prey", "predator"]),
        (["Temp °C", "flow (l/h)"], ["Temp_C", "flow_l_h"]),
        (["2nd floor", "höhe"], ["x_2nd_floor", "hohe"]),
        (["°", "%"], ["x1", "x2"]),
        (["θ", "Δφ 2", "µ"], ["theta", "Deltaphi_2", "mu"]),
        (["a b", "a-b"], ["a_b", "a_b_2"]),
        (["t", "sin"], ["x_t", "x_sin"]),
    ],
)
def test_columns_get_names_that_an_equation_can_hold(columns, names):
    assert identifiers(columns, {"t", "sin"}) == names
