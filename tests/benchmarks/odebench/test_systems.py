import numpy as np
import pytest

from gode.equation import parse_tree
from gode.errors import ConfigError
from gode_bench.odebench.systems import (
    ACCURATE,
    CHAOTIC,
    chosen_systems,
    clean,
    observed,
    solution,
    system,
    systems,
)


def test_there_are_63_systems_of_one_to_four_states():
    sizes = [len(one.states) for one in systems().values()]
    assert [sizes.count(d) for d in (1, 2, 3, 4)] == [23, 28, 10, 2]
    assert list(systems()) == [str(i) for i in range(1, 64)]
    assert all(len(start) == len(one.states) for one in systems().values() for start in one.initials)
    assert all("Lorenz" in system(name).title for name in CHAOTIC[:2])


def test_every_system_has_both_solutions():
    for one in systems().values():
        for which in (0, 1):
            x = clean(one, which)
            assert x.shape == (150, len(one.states))
            np.testing.assert_allclose(x[0], one.initials[which])


def test_the_solution_is_that_of_the_equations():
    growth, oscillator = system("2"), system("24")
    np.testing.assert_allclose(clean(growth)[:, 0], 4.78 * np.exp(0.23 * growth.t), rtol=1e-7)
    w = 2.1**0.5
    x = 0.4 * np.cos(w * oscillator.t) - 0.03 / w * np.sin(w * oscillator.t)
    np.testing.assert_allclose(clean(oscillator)[:, 0], x, atol=1e-7)


def test_noise_is_multiplicative_and_of_the_seed_and_the_system():
    one = system("27")
    x = clean(one)
    t, y = observed(one, 0.05, 0.0, 3)
    np.testing.assert_array_equal(t, np.linspace(0, 10, 150))
    share = (y / x - 1) / 0.05
    assert 0.85 < np.std(share) < 1.15
    assert abs(np.mean(share)) < 0.2
    np.testing.assert_array_equal(observed(one, 0.0, 0.0, 3)[1], x)
    np.testing.assert_array_equal(observed(one, 0.05, 0.0, 3)[1], y)
    assert not np.allclose(observed(one, 0.05, 0.0, 4)[1], y)
    np.testing.assert_allclose((observed(one, 0.1, 0.0, 3)[1] / x - 1) / 0.1, share)


def test_half_of_the_points_is_dropped_and_the_rest_is_as_before():
    one = system("27")
    t, y = observed(one, 0.05, 0.0, 3)
    some, values = observed(one, 0.05, 0.5, 3)
    assert len(some) == 75
    assert np.all(np.diff(some) > 0)
    np.testing.assert_array_equal(values, y[np.searchsorted(t, some)])


def test_systems_are_chosen_by_numbers_and_ranges():
    assert [one.name for one in chosen_systems(["24,25", "3", "61-63"])] == [
        "24",
        "25",
        "3",
        "61",
        "62",
        "63",
    ]
    assert len(chosen_systems([])) == 63
    with pytest.raises(ConfigError, match=r"odebench has no system '64'; choose from 1 to 63"):
        chosen_systems(["60-64"])


@pytest.mark.parametrize("right", ["x0^2", "1/(x0 - 1)", "log(-x0)", "exp(exp(x0 + 5))"])
def test_what_cannot_be_solved_has_no_solution(right):
    tree = parse_tree(right, inputs=("x0",))
    assert solution([tree], ["x0"], [1.0], np.linspace(0, 10, 20), ACCURATE) is None
