"""The text of peers is turned into equations; those that are installed find a simple one."""

import importlib.util

import numpy as np
import pytest

from gode.equation import parse_equation
from gode.errors import DataError, EquationError
from gode_bench.jobs import Job, measured
from gode_bench.methods import METHODS, Task
from gode_bench.odebench.score import score_system
from gode_bench.odebench.systems import system
from gode_bench.peers import PEERS, PeerTask
from gode_bench.peers.notation import infix, product
from gode_bench.problems import problem
from gode_bench.score import score

COLUMN = np.linspace(1.0, 2.0, 5)


def task(order: int, force=None) -> PeerTask:
    return PeerTask(COLUMN, COLUMN + 1, COLUMN + 2, COLUMN + 3, force, order, 0, 0.1)


def test_a_task_regresses_the_highest_derivative_on_what_may_explain_it():
    assert task(1).names == ("u", "t")
    assert task(2).names == ("u", "v", "t")
    assert task(2, COLUMN).names == ("u", "v", "F")
    np.testing.assert_array_equal(task(1).target, COLUMN + 2)
    np.testing.assert_array_equal(task(2).target, COLUMN + 3)
    np.testing.assert_array_equal(task(2).columns[:, 1], COLUMN + 2)


def test_the_answer_is_an_equation_of_our_parser():
    text = task(2, COLUMN).equation("((-0.5) * v) + (2e-3 * u^3) + F")
    assert parse_equation(text) == parse_equation("u'' = -0.5*u' + 0.002*u^3 + F")
    with pytest.raises(DataError, match="not finite"):
        task(1).equation("nan * u")


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("add(X0, mul(0.5, X1))", "(X0 + (0.5 * X1))"),
        ("sub(neg(X0), -0.25)", "((-(X0)) - (-0.25))"),
        ("div(sin(X0), log(X1))", "((sin(X0)) / (log(abs(X1))))"),
        ("X0", "X0"),
    ],
)
def test_programs_become_ordinary_expressions(program, text):
    assert infix(program) == text


@pytest.mark.parametrize("program", ["", "add(X0", "add X0", "add(X0, X1) X2", "mul(,)"])
def test_broken_programs_are_refused(program):
    with pytest.raises(EquationError):
        infix(program)


def test_features_become_products():
    assert [product(name) for name in ("1", "u^2 v", "sin(1 u)", "u v^2 t")] == [
        "1", "u^2*v", "sin(1*u)", "u*v^2*t",
    ]  # fmt: skip


@pytest.mark.parametrize("name", PEERS)
def test_an_installed_peer_finds_a_curve_near_the_truth(name):
    pytest.importorskip(PEERS[name].needs)
    job = Job(study="b1", problem="ID9", method=name)
    text = METHODS[name].work(Task(measured(job), 0, "quick", "b1"))
    assert score(problem("ID9"), text).errors[0] < 0.2


@pytest.mark.parametrize("name", [name for name in PEERS if PEERS[name].of_systems])
def test_an_installed_peer_finds_a_system(name):
    pytest.importorskip(PEERS[name].needs)
    job = Job(study="odebench", problem="24", method=name, noise=0.0, initial="unknown")
    found = score_system(system("24"), METHODS[name].work(Task(measured(job), 0, "quick", "odebench")))
    assert min(found.r2) > 0.99
    assert found.large == (True, True)


def test_what_is_not_installed_says_so():
    absent = [name for name in PEERS if importlib.util.find_spec(PEERS[name].needs) is None]
    assert [METHODS[name].installed for name in absent] == [False] * len(absent)
    assert [METHODS[name].version for name in absent] == [None] * len(absent)
