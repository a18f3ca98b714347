import numpy as np

from gode.data import Dataset, make_run
from gode.equation import parse_equation, parse_skeleton
from gode.fitting.prepare import prepare
from gode.search.archive import Archive
from gode.search.explore import make_regions, spaces_of
from gode.search.interrupts import Interrupts
from gode.search.refine import refine
from gode.search.settings import Settings
from gode.search.templates import SumTemplate
from gode.search.workers import Workers
from gode.solve import solve

T = np.linspace(0.0, 10.0, 60)


def refined(equation, initial, scored, *, listed=0, without=("t",)):
    """The archive after only these skeletons were scored for data of an equation."""
    noise = 0.02 * np.random.default_rng(0).standard_normal(len(T))
    u = solve(parse_equation(equation), T, [initial]).u + noise
    prepared = prepare(Dataset((make_run(T, u=u, initial=[initial]),)), 1, 1e-5)
    settings = Settings(order=1, grammar="first-order", effort="quick", listed=listed, without=without)
    interrupts = Interrupts()
    regions = make_regions(
        spaces_of(settings, ()), prepared, settings, interrupts, SumTemplate(order=settings.order)
    )
    for text in scored:
        regions[0].objective.score(parse_skeleton(text))
    archive = Archive(prepared, settings, None, Workers(prepared, settings), interrupts, {})
    refine(regions, archive)
    return archive


def skeletons(archive):
    return [str(c.equation.skeleton) for c in archive.leaders()]


LOGISTIC = ("u' = 0.8*u - 0.16*u^2", 0.5)


def test_neighbours_of_the_best_lead_to_the_law():
    found = refined(*LOGISTIC, ["u' = C*u + C"])
    assert skeletons(found)[0] == "u' = C*u + C*u^2"
    assert found.n_fitted > 100, "by the cheap score"


def test_parts_of_a_long_equation_are_tried():
    found = refined(*LOGISTIC, ["u' = C*u + C*u^2 + C*sin(u) + C"])
    assert skeletons(found)[0] == "u' = C*u + C*u^2"


def test_without_rounds_only_what_was_scored_is_fitted():
    found = refined(*LOGISTIC, ["u' = C*u + C"], listed=1)
    assert skeletons(found) == ["u' = C*u + C"]


def test_a_whole_exponent_is_tried_in_place_of_a_fitted_one():
    found = refined(*LOGISTIC, ["u' = C*u + C*u^C"])
    assert skeletons(found)[0] == "u' = C*u + C*u^2"


def test_what_is_left_out_is_not_tried():
    found = refined(*LOGISTIC, ["u' = C*u + C"], without=("t", "^"))
    assert not any("^" in text for text in skeletons(found))
