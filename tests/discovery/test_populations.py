"""When laws in which what is zero stays zero are preferred, and what that leads to."""

from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.data import Dataset, make_run
from gode.discovery.populations import are_populations
from gode.fitting.invariant_zero import law_keeps_zero

T = np.linspace(0.0, 20.0, 40)
GROWTH = 5 / (1 + 9 * np.exp(-T))
DECAY = 4 * np.exp(-0.2 * T)


def records(first, second, inputs=None, **labels) -> Dataset:
    run = make_run(t=T, u=np.column_stack([first, second]), inputs=inputs or {}, states=("x", "y"))
    return Dataset((run,), labels, states=("x", "y"))


def test_states_that_are_never_negative_may_be_populations():
    data = records(GROWTH, DECAY)
    assert are_populations(data)
    assert are_populations(replace(data, labels={"x": "hare [1/ha]", "y": "lynx [g/l]"}))


@pytest.mark.parametrize(
    "data",
    [
        records(GROWTH, DECAY - 1.0),  # negative at the end
        records(GROWTH - GROWTH[0], DECAY),  # of nothing at the start
        records(GROWTH, DECAY, {"F": np.ones(40)}),
        records(GROWTH, DECAY, x="x [V]"),
        records(GROWTH, DECAY, y="temperature"),
    ],
)
def test_other_states_are_no_populations(data):
    assert not are_populations(data)


@pytest.mark.slow
def test_competing_species_do_not_grow_from_each_other():
    t, x = np.linspace(0, 20, 40), np.ones((40, 2))
    h = (t[1] - t[0]) / 200
    z = np.array([1.0, 1.0])
    for i in range(1, 40):
        for _ in range(200):
            z = z + h * z * np.array([0.8 - 0.04 * z[0] - 0.02 * z[1], 0.6 - 0.03 * z[1] - 0.025 * z[0]])
        x[i] = z
    rng = np.random.default_rng([11, 1])
    seen = np.maximum(x + 0.05 * x.std(axis=0) * rng.standard_normal(x.shape), 1e-3)
    found = gode.discover(t, seen, names=["x", "y"], effort="quick")
    assert law_keeps_zero(found.equation.law)
    assert (found.candidates[0].initial > 0).all()
    assert any("zero stays zero" in remark for remark in found.remarks)
