import numpy as np
import pytest

from gode.errors import EquationError
from gode_bench.jobs import Job
from gode_bench.judge import true_law, true_skeletons
from gode_bench.odebench.score import r_squared, read_equations, score_system, succeeded
from gode_bench.odebench.systems import clean, system, systems
from gode_bench.worker import run_job


def test_the_truth_has_full_marks():
    for name in ("4", "10", "27", "33", "47", "53", "62"):
        one = system(name)
        found = score_system(one, "\n".join(one.truths))
        assert min(found.r2) > 0.99999
        assert found.components == found.large == (True,) * len(one.states)
        assert found.structure
        assert found.complexity == 1


def test_r_squared_is_weighted_by_the_variance_of_the_states():
    true = np.column_stack([np.array([0.0, 2.0, 4.0]), np.array([0.0, 0.1, -0.1])])
    found = true + np.array([[0.0, 0.1], [0.0, 0.0], [1.0, 0.0]])
    assert r_squared(found, true) == pytest.approx(1 - (1 + 0.01) / (8 + 0.02))
    assert r_squared(true, true) == 1
    assert r_squared(None, true) is None
    assert r_squared(np.full_like(true, np.inf), true) is None


def test_a_success_is_an_r_squared_above_nine_tenths():
    assert succeeded(0.91)
    assert not succeeded(0.9)
    assert not succeeded(None)


def test_solutions_start_from_the_clean_initial_values():
    one = system("2")
    found = score_system(one, "u' = 0.25*u")
    for which in (0, 1):
        own = one.initials[which][0] * np.exp(0.25 * one.t)[:, None]
        assert found.r2[which] == pytest.approx(r_squared(own, clean(one, which)), abs=1e-5)


def test_equations_are_judged_one_by_one():
    found = score_system(system("27"), "x0' = 1.8*x0 - 1.4*x0*x1 + 0.0001*x0^2\nx1' = 1.6*x0*x1 - 3*x1 - 1")
    assert found.components == (False, False)
    assert found.large == (True, False)
    assert not found.structure
    assert score_system(system("27"), "x0' = x0*x1 - x0\n0.5*x1' - x1 = x0*x1").components == (True, True)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("x0' = x1", "expected 2 equations, got 1"),
        ("x0' = x1\nx1'' = x0", "of order 2"),
        ("x0' = x1\nx1' = x7", "'x7' is unknown"),
        ("x0' = x1\nx1'^2 = x0", "not linear"),
    ],
)
def test_what_is_no_system_is_a_failure_with_its_reason(text, failure):
    found = score_system(system("24"), text)
    assert failure in str(found.failure)
    assert found.r2 == (None, None)
    assert found.components == (False, False)


def test_a_solution_that_diverges_counts_as_minus_infinity():
    found = score_system(system("24"), "x0' = x0^2 + 1\nx1' = x0")
    assert found.r2 == (None, None)
    assert found.errors == (1.0, 1.0)


def test_a_scalar_may_be_written_in_u_or_in_its_name():
    assert read_equations("u' = 0.2*u", ["x0"]) == read_equations("x0' = 0.2*x0", ["x0"])
    with pytest.raises(EquationError):
        read_equations("", ["x0"])
    assert all(
        len(read_equations("\n".join(s.truths), s.states)) == len(s.states) for s in systems().values()
    )


def test_the_floor_has_the_true_structure_of_every_system():
    for name in ("5", "27", "47", "62"):
        job = Job(study="odebench", problem=name, method="floor", noise=0.0, initial="unknown")
        assert len(true_skeletons(job)) == len(system(name).states)
        text = true_law(job).text(None)
        assert all(score_system(system(name), text).components)


def test_the_floor_fits_a_system_from_its_constants():
    record = run_job(Job(study="odebench", problem="37", method="floor-start", initial="unknown"))
    assert min(record.score.r2) > 0.95
    assert record.equation is not None
    assert record.equation != true_law(record.job).text(None)
