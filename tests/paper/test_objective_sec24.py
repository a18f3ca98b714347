import numpy as np
import pytest

from gode.data import Smooth, make_run
from gode.equation import parse_skeleton
from gode.paper import PaperObjective
from gode.paper.discover import smoothed_columns
from gode.paper.losses_eq4_to_9 import PaperConfig, criterion, residual_loss, solution_loss
from gode.paper.objective_sec24 import FAILURE_COST, FIRST_THRESHOLD
from gode.solve import solve

T = np.linspace(0.0, 3.0, 61)
WAVE = parse_skeleton("u'' + C*u = 0")
DAMPED = parse_skeleton("u'' + C*u' + C*u = 0")
DRIFT = parse_skeleton("u'' + C*t = 0")


def objective(solving=True):
    u = np.vstack([np.sin(2 * T), 2 * np.cos(2 * T), -4 * np.sin(2 * T)])
    run = make_run(T, u=u[0], initial=[0.0, 2.0])
    smooth = Smooth(T, u, np.full_like(u, 0.01), np.array([0.01, np.nan, np.nan]), np.zeros(2))
    return PaperObjective(
        [run],
        [smooth],
        smoothed_columns([run], [smooth]),
        order=2,
        solving=solving,
        config=PaperConfig(max_iterations=500),
        check=lambda: None,
    )


def test_a_true_equation_is_solved_and_scored_by_its_complexity():
    judged = objective().judge(WAVE)
    assert judged.equation.constants == pytest.approx((4.0,), abs=1e-2)
    assert judged.residual_loss < 0.02
    assert judged.solution_loss < 1e-3
    assert judged.score == pytest.approx(
        criterion(judged.equation.complexity, judged.solution_loss, len(T), 0.1)
    )


def test_losses_are_those_of_the_equations_named():
    scorer = objective()
    judged = scorer.judge(DRIFT)
    solution = solve(judged.equation, T, [0.0, 2.0])
    assert judged.residual_loss == pytest.approx(residual_loss(judged.equation, scorer.columns))
    assert judged.solution_loss == pytest.approx(solution_loss([solution], scorer.columns, 2), rel=1e-3)


def test_threshold_follows_the_lowest_losses_and_decides_what_is_solved():
    scorer = objective()
    assert scorer.threshold == FIRST_THRESHOLD
    scores = scorer.generation([WAVE, DAMPED, None])
    losses = [scorer.judge(s).residual_loss for s in (WAVE, DAMPED)]
    assert scorer.threshold == pytest.approx(1.05 * np.mean(losses))
    assert scores[2] == FAILURE_COST
    assert scores[0] < scores[1] < 5.0
    unsolved = scorer.judge(DRIFT)
    assert unsolved.solution_loss is None
    assert unsolved.score == pytest.approx(
        criterion(unsolved.equation.complexity, unsolved.residual_loss, len(T), 0.1)
    )
    assert scorer.solved(unsolved).solution_loss is not None
    scorer.restart()
    assert scorer.threshold == FIRST_THRESHOLD


def test_only_twenty_losses_make_the_threshold():
    scorer = objective()
    bad = parse_skeleton("u'' + C*u^3*t^3 = 0")
    scorer.generation([WAVE] * 20 + [bad] * 30)
    assert scorer.threshold == pytest.approx(1.05 * scorer.judge(WAVE).residual_loss)


def test_first_benchmark_scores_by_the_residual_alone():
    judged = objective(solving=False).judge(DRIFT)
    assert judged.solution_loss is None
    assert judged.score == judged.residual_loss


@pytest.mark.parametrize(
    "text",
    [
        "u' + C*u = 0",  # of another order
        "u'' + C*u = F",  # with an input that is not known
        "u'' - u''*exp(C*t) = 0",  # true for any function with C = 0
        "u'' = C*u^2 + exp(exp(5*t))",  # not finite
    ],
)
def test_what_is_not_sought_fails_or_is_trivial_costs_most(text):
    scorer = objective()
    assert scorer.generation([parse_skeleton(text)]) == [FAILURE_COST]
    assert scorer.best(3) == []


def test_a_skeleton_is_fitted_once_however_it_is_written():
    scorer = objective()
    first = scorer.judge(WAVE)
    assert scorer.judge(parse_skeleton("C*u'' = C*u")) is first
    assert scorer.n_fitted == 1


def test_every_equation_of_the_final_list_was_solved_and_the_best_is_first():
    scorer = objective()
    scorer.generation([WAVE, DAMPED])
    assert scorer.judge(DRIFT).solution_loss is None
    assert scorer.judge(parse_skeleton("u'' = C*exp(u^2*t)")) is not None  # its solution diverges
    decided = scorer.decided()
    assert all(one.solution_loss is not None for one in decided)
    assert [one.score for one in decided] == sorted(one.score for one in decided)
    assert decided[0].equation.skeleton == WAVE
    assert len(decided) == 3 < scorer.n_fitted
