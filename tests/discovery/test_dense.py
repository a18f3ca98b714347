"""More samples of the same record: the same equation, and smaller error bars."""

import resource

import numpy as np
import pytest

import gode
from gode.data.from_arrays import make_dataset
from gode.fitting.prepare import prepare


def growth(n, seed):
    t = np.linspace(0.0, 10.0, n)
    clean = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * t))
    return t, clean + 0.05 * np.random.default_rng(seed).standard_normal(n)


def swing(n, seed):
    t = np.linspace(0.0, 20.0, n)
    clean = np.exp(-0.1 * t) * np.cos(np.sqrt(4 - 0.01) * t)
    return t, clean + 0.03 * np.random.default_rng(seed).standard_normal(n)


RECORDS = {  # how it is made, the order, and the constants by their places
    "growth": (growth, 1, {"u": 0.8, "u^2": -0.16}),
    "swing": (swing, 2, {"u'": -0.2, "u": -4.0}),
}


def check(name, n, seed, effort):
    make, order, truth = RECORDS[name]
    found = gode.discover(*make(n, seed), order=order, effort=effort)
    assert found.supported
    constants = {c.place: c for c in found.equation.constants}
    assert constants.keys() == truth.keys(), str(found.equation)
    for place, value in truth.items():
        assert constants[place].value == pytest.approx(value, abs=3.5 * constants[place].error)
    return max(c.error / abs(c.value) for c in found.equation.constants)


@pytest.mark.parametrize("name", RECORDS)
def test_twenty_thousand_samples_are_fitted_as_well_as_a_thousand(name):
    make, order, _ = RECORDS[name]
    law = {1: "u' = C*u + C*u^2", 2: "u'' = C*u' + C*u"}[order]
    few, many = (gode.fit(law, *make(n, 0)) for n in (1000, 20_000))
    for one, other in zip(few.equation.constants, many.equation.constants, strict=True):
        assert abs(one.value - other.value) < 3 * one.error
        assert other.error < 0.4 * one.error
    assert many.noise[0] == pytest.approx(few.noise[0], rel=0.1)


def test_what_screens_a_dense_record_spans_all_of_it():
    dataset = make_dataset(*growth(50_000, 0), None, None, None, None)
    prepared = prepare(dataset, 1, 1e-5)
    for target in (prepared.target, prepared.whole):
        (run,) = target.dataset.runs
        assert run.n_points <= 2100
        assert run.t[0] == 0.0
        assert run.t[-1] > 9.9
    assert prepared.problems[0].columns.n_points <= 700


def test_a_record_of_many_cycles_is_screened_on_a_part_that_moves_as_much():
    t = np.linspace(0.0, 1000.0, 20_000)
    u = np.minimum(1.0, np.exp(0.01 * (t - 400))) * np.sin(2 * t)  # nearly at rest for a while
    prepared = prepare(make_dataset(t, u, None, None, None, None), 2, 1e-5)
    (run,) = prepared.target.dataset.runs
    assert run.n_points < prepared.whole.dataset.runs[0].n_points
    assert np.nanstd(run.observed[0]) > 0.3 * np.std(u)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n", [20_000, 100_000, 1_000_000])
@pytest.mark.parametrize("name", RECORDS)
def test_more_samples_give_the_same_equation(name, n, seed):
    assert check(name, n, seed, "normal") < check(name, 1000, seed, "normal")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2e6, "kilobytes"
