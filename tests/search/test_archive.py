from dataclasses import replace

import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_equation, parse_skeleton
from gode.fitting.prepare import prepare
from gode.search.archive import Archive, Stage
from gode.search.interrupts import Interrupts
from gode.search.settings import Settings
from gode.search.workers import Start, Workers

T = np.linspace(0.0, 10.0, 60)
LAW, LINE = parse_equation("u' = 0.7*u - 0.15*u^2"), parse_equation("u' = 0.3*u + 0.1")
EXPLODING = parse_equation("u' = 9*u^3 + 9")


@pytest.fixture(scope="module")
def growth():
    noise = 0.03 * np.random.default_rng(0).standard_normal(60)
    run = make_run(T, u=5.0 / (1.0 + 9.0 * np.exp(-0.8 * T)) + noise)
    return prepare(Dataset((run,)), 1, 1e-5)


def archive_of(prepared, *, order=1, on_step=None, interrupts=None, memo=None):
    settings = Settings(order=order, grammar="", effort="quick")
    interrupts = interrupts or Interrupts()
    workers = Workers(prepared, settings)
    return Archive(prepared, settings, on_step, workers, interrupts, {} if memo is None else memo)


def test_each_skeleton_is_fitted_once(growth):
    archive = archive_of(growth)
    archive.solve([LAW, parse_equation("u' = 0.9*u - 0.2*u^2")], Stage.TRAJECTORIES)
    archive.solve([parse_equation("u' = 0.5*u - 0.1*u^2")], Stage.NEIGHBOURS)
    assert list(archive.memo) == [Start(LAW)]


def test_what_an_earlier_call_fitted_is_not_fitted_again(growth):
    first = archive_of(growth)
    first.solve([LAW], Stage.TRAJECTORIES)
    marked = replace(first.leaders()[0], rms=123.0)
    again = archive_of(growth, memo={Start(LAW): marked})
    again.solve([LAW], Stage.TRAJECTORIES)
    assert again.leaders() == [marked]


def test_leaders_are_those_with_a_solution_the_least_criterion_first(growth):
    archive = archive_of(growth)
    archive.solve([EXPLODING, LINE, LAW], Stage.TRAJECTORIES)
    assert [c.equation.skeleton for c in archive.leaders()] == [LAW.skeleton, LINE.skeleton]
    assert archive.candidates[EXPLODING.skeleton.key] is None


def test_only_what_is_better_replaces_a_candidate(growth):
    archive = archive_of(growth)
    archive.solve([LAW], Stage.TRAJECTORIES)
    key, (found,) = LAW.skeleton.key, archive.leaders()
    for criterion, kept in ((found.criterion - 50, True), (found.criterion + 50, False)):
        old = replace(found, criterion=criterion)
        archive.candidates[key] = old
        archive.improve([LAW], Stage.DIGITS)
        assert (archive.candidates[key] is old) is kept


def test_progress_tells_stage_numbers_and_the_best(growth):
    steps = []
    archive = archive_of(growth, on_step=steps.append)
    archive.n_fitted = 7
    archive.solve([LINE, LAW], Stage.TRAJECTORIES)
    assert [(s.stage, s.n_fitted, s.n_solved) for s in steps] == [(Stage.TRAJECTORIES, 7, n) for n in (1, 2)]
    assert parse_equation(steps[1].best).skeleton == LAW.skeleton


def test_an_interruption_keeps_what_was_fitted(growth):
    interrupts = Interrupts(1e-9)
    interrupts.enough()
    archive = archive_of(growth, interrupts=interrupts)
    with pytest.raises(KeyboardInterrupt):
        archive.solve([LAW, LINE], Stage.TRAJECTORIES)
    assert [c.equation.skeleton for c in archive.leaders()] == [LAW.skeleton]


def test_a_short_record_has_no_whole_to_go_on_to(growth):
    archive = archive_of(growth)
    archive.solve([LAW], Stage.TRAJECTORIES)
    assert not archive.widen()
    assert not archive.whole


@pytest.fixture(scope="module")
def swing():
    t = np.linspace(0.0, 100.0, 1000)
    noise = 0.02 * np.random.default_rng(0).standard_normal(1000)
    run = make_run(t, u=np.cos(2 * t) + noise, initial=[1.0, 0.0])
    return prepare(Dataset((run,)), 2, 1e-5)


def test_the_best_go_from_the_first_part_of_a_record_to_all_of_it(swing):
    archive = archive_of(swing, order=2)
    terms = [f"{a}*{b}" for a in ("1", "t", "u", "u'") for b in ("u^2", "u'", "exp(u)", "cos(t)")]
    texts = ["u'' = -3.9*u", *(f"u'' = -3.9*u + 0.001*{term}" for term in terms)]
    archive.solve([parse_equation(text) for text in texts], Stage.TRAJECTORIES)
    screened = archive.leaders()
    assert len(screened) > archive.settings.search.whole
    assert not screened[0].whole
    assert archive.widen()
    assert archive.target is swing.whole
    assert len(archive.candidates) == archive.settings.search.whole
    best = archive.leaders()[0]
    assert best.whole
    assert best.n_values == 1000
    assert archive.settled()[0].equation.skeleton == parse_skeleton("u'' = C*u")
