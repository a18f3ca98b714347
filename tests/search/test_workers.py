import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.fitting.prepare import prepare
from gode.search.settings import Settings
from gode.search.workers import Start, Workers, cores, processes

T = np.linspace(0.0, 10.0, 60)


def workers(u, **options):
    noise = 0.03 * np.random.default_rng(0).standard_normal(len(T))
    dataset = Dataset((make_run(T, u=u + noise, **options),))
    return Workers(prepare(dataset, 1, 1e-5), Settings(order=1, grammar="", effort="quick"))


@pytest.fixture(scope="module")
def growth():
    return workers(5.0 / (1.0 + 9.0 * np.exp(-0.8 * T)))


@pytest.fixture(scope="module")
def charging():
    return workers(1.0 - np.exp(-0.5 * T))


def test_what_the_samples_do_not_resolve_is_no_candidate(growth):
    start = Start(parse_equation("u' = 0.8*u - 0.16*u^2 + 0.001*sin(300*t)"))
    assert growth.fit(start) is None
    assert growth.fit(start, strict=False) is not None


def test_what_has_no_solution_is_no_candidate(growth):
    start = Start(parse_equation("u' = 9*u^3 + 9"))
    assert growth.fit(start) is None
    assert growth.fit(start, strict=False) is None


def test_an_initial_value_that_may_be_zero_is_held_there_and_not_fitted(charging):
    start = Start(parse_equation("u' = -0.4*u + 0.4"))
    held, free = charging.fit(start), charging.fit(start, strict=False)
    assert (held.held, held.initial.tolist(), held.n_free) == (((0, 0),), [[0.0]], 2)
    assert (free.held, free.n_free) == ((), 3)
    assert held.criterion < free.criterion


def test_an_initial_value_far_from_zero_is_fitted(growth):
    found = growth.fit(Start(parse_equation("u' = 0.8*u - 0.16*u^2")))
    assert (found.held, found.n_free) == ((), 3)
    assert found.initial[0, 0] == pytest.approx(0.5, abs=0.1)


def test_candidates_come_in_the_order_of_their_starts(growth):
    starts = [Start(parse_equation(text)) for text in ("u' = 0.3*u + 0.1", "u' = 0.8*u - 0.16*u^2")]
    found = list(growth.fits(starts))
    assert [start for start, _ in found] == starts
    assert [c.equation.skeleton for _, c in found] == [start.equation.skeleton for start in starts]


def test_there_is_at_most_one_process_for_each_core_and_one_for_a_callable_input():
    plain = Dataset((make_run(T, u=T),))
    assert processes(1, plain) == 1
    assert processes(1000, plain) == cores()
    assert processes(1000, Dataset((make_run(T, u=T, inputs={"F": np.sin}),))) == 1
