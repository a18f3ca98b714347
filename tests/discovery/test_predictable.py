"""How long a record can be forecast."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gode

LORENZ = ["x' = s*y - s*x", "y' = r*x - y - x*z", "z' = x*y - b*z"]


@pytest.fixture(scope="module")
def chaos():
    """A fit to noisy motion of Lorenz's system, and its true motion beyond."""
    t = np.linspace(0.0, 24.0, 1201)

    def slope(_, x):
        return [10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]]

    x = solve_ivp(slope, (0.0, 24.0), [-8.0, 7.0, 27.0], t_eval=t, rtol=1e-11, atol=1e-11).y
    noisy = x + 0.01 * np.std(x, axis=1)[:, None] * np.random.default_rng(0).standard_normal(x.shape)
    data = {name: row[:601] for name, row in zip("xyz", noisy, strict=True)}
    return gode.fit(LORENZ, t[:601], data, units={"t": "s"}), t, x


def test_chaos_can_be_forecast_for_a_while_and_says_so(chaos):
    found, *_ = chaos
    assert 2.0 < found.predictable < 11.0
    (told,) = [remark for remark in found.remarks if "predictable" in remark]
    assert told.startswith(f"predictable for about {found.predictable:.2g} s beyond the end of the record")


def test_until_the_horizon_the_forecast_is_near_the_truth(chaos):
    found, t, x = chaos
    before = (t > 12.0) & (t < 12.0 + 0.8 * found.predictable)
    forecast = found.simulate(t).values[::3]
    gap = np.abs(forecast - x) / np.std(x, axis=1)[:, None]
    assert np.max(gap[:, before]) < 1.5
    assert np.max(gap[:, t > 12.0]) > 1.5


def test_a_decay_can_be_forecast_as_long_as_it_was_seen():
    t = np.linspace(0.0, 5.0, 60)
    u = np.exp(-t) + 0.01 * np.random.default_rng(0).standard_normal(60)
    found = gode.fit("u' = -k*u", t, u)
    assert found.predictable == np.inf
    assert not [remark for remark in found.remarks if "predictable" in remark]


def test_where_no_equation_is_supported_nothing_is_foretold():
    found = gode.discover(np.linspace(0.0, 10.0, 40), np.full(40, 3.0), effort="quick")
    assert found.quality.verdict.is_failure
    assert np.isfinite(found.predictable)
    assert not [remark for remark in found.remarks if "predictable" in remark]


def test_where_an_input_ends_with_the_record_nothing_is_told():
    t = np.linspace(0.0, 10.0, 80)
    u = 0.5 * np.sin(t) + 0.01 * np.random.default_rng(0).standard_normal(80)
    assert gode.fit("u' = -k*u + F", t, u, force=np.cos(t)).predictable is None


def test_with_fewer_values_than_numbers_nothing_is_told():
    t = np.linspace(0.0, 3.0, 6)
    found = gode.fit("u' = a + b*u + c*u^2 + d*u^3 + g*sin(3*u) + h*cos(5*u)", t, 1 / (1 + 3 * np.exp(-t)))
    assert found.predictable is None
