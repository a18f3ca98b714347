"""Windows of long records and pieces of a cycle or two: of scalars and systems, short and long."""

from itertools import pairwise

import numpy as np
import pytest

from gode.data import join_runs
from gode.data.from_arrays import make_dataset
from gode.fitting.cheap import cheap_problems, problems_of_each
from gode.fitting.prepare import prepare, view
from gode.fitting.problem import Form, integral_problem


def problems(t, u, *, order=1, initial=None, state=0):
    """Return the cheap problems of one state of a record (n, d), or of several."""
    return view(
        prepare(make_dataset(t, u, None, None, None, initial), order, 1e-5), state, order, 1e-5
    ).problems


def circles(n, cycles):
    t = np.linspace(0.0, 2 * np.pi * cycles, n)
    return t, np.c_[np.sin(t), np.cos(t)]


@pytest.mark.parametrize(("n", "cycles"), [(1000, 48), (2500, 3), (601, 100), (130, 2)])
def test_a_long_record_of_a_system_is_taken_in_windows_and_pieces(n, cycles):
    integral, residual = sorted(problems(*circles(n, cycles)), key=lambda p: p.form)
    assert (integral.form, residual.form) == (Form.INTEGRAL, Form.RESIDUAL)
    assert integral.columns.n_points == residual.columns.n_points
    assert len(integral.columns.starts) >= len(residual.columns.starts)
    np.testing.assert_array_equal(integral.columns.matrix[0], residual.columns.matrix[0])


def test_pieces_of_a_window_last_a_cycle_or_two():
    t, u = circles(1000, 48)
    (integral,) = (p for p in problems(t, u) if p.form is Form.INTEGRAL)
    starts, time = integral.columns.starts, integral.columns.matrix[0]
    lengths = [time[high - 1] - time[low] for low, high in pairwise(starts)]
    assert len(lengths) > 6
    assert 0.5 < np.median(lengths) / (2 * np.pi) < 2.5


@pytest.mark.parametrize("lengths", [(5,), (7,), (8,), (15, 15, 15, 15), (80, 10, 7), (20, 20, 9, 5)])
def test_short_runs_are_pieces_as_they_are(lengths):
    runs = [circles(n, 2) for n in lengths]
    found = problems([t for t, _ in runs], [u for _, u in runs])
    assert {p.form for p in found} == {Form.INTEGRAL, Form.RESIDUAL}
    for problem in found:
        assert problem.columns.n_points == sum(lengths) == problem.columns.starts[-1]


def test_known_initial_values_are_those_of_the_first_piece_of_each_run():
    t, u = circles(120, 6)
    (integral,) = (p for p in problems(t, u, initial=[0.0, 1.0]) if p.form is Form.INTEGRAL)
    first, second = integral.columns.starts[1:3]
    assert not integral.operator.basis[:, :first].any()
    np.testing.assert_allclose(np.linalg.norm(integral.operator.basis[:, first:second]), 1.0)


def test_a_known_and_an_unknown_run_are_each_as_by_themselves(rng):
    runs = [prepare(make_dataset(*circles(n, 1), None, None, None, None), 1, 1e-5) for n in (30, 20)]
    own = [view(each, 0, 1, 1e-5).columns for each in runs]
    both = integral_problem(join_runs(own), 1, initial=[[0.1], [np.nan]])
    apart = [integral_problem(own[0], 1, initial=[[0.1]]), integral_problem(own[1], 1)]
    np.testing.assert_allclose(both.operator.target, np.concatenate([p.operator.target for p in apart]))
    assert not both.operator.basis[:, :30].any()
    np.testing.assert_allclose(both.operator.basis[:, 30:], apart[1].operator.basis)


def test_runs_that_differ_in_speed_pose_their_own_problems_in_the_order_of_all():
    slow, fast = np.linspace(0.0, 10.0, 60), np.linspace(0.0, 10.0, 60)
    dataset = make_dataset([slow, fast], [np.sin(slow), np.sin(12 * fast)], None, None, None, None)
    prepared = prepare(dataset, 2, 1e-5)
    together = cheap_problems(dataset, prepared.columns, 2, prepared.noise)
    each = problems_of_each(dataset, prepared.columns, 2, prepared.noise, together)
    assert [[p.form for p in runs] for runs in each] == [[p.form] * 2 for p in together]
