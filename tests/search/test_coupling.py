"""From equations for each state to laws for all of them."""

from dataclasses import replace

import numpy as np
import pytest

from gode.data.from_arrays import make_dataset
from gode.equation import Link, SystemSkeleton, parse_equation, parse_system
from gode.equation.system import law_of, make_law, parse_system_values
from gode.fitting.prepare import along, inputs_seen, prepare, view
from gode.search.archive import Stage
from gode.search.explore import spaces_of
from gode.search.interrupts import Interrupts
from gode.search.law import LawSearch, best_combinations, take_away, variants
from gode.search.settings import Settings
from gode.search.simplify import with_shared_constants
from gode.search.workers import Start, Workers
from gode.selection import Candidate, SelectionConfig
from gode.solve import solve

SIR = ["s' = -0.5*s*i", "i' = 0.5*s*i - 0.3*i", "r' = 0.3*i"]


@pytest.fixture(scope="module")
def epidemic():
    """Data of an epidemic with 2 % of noise, prepared."""
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 20.0, 60)
    clean = solve(parse_system_values(SIR), t, [2.0, 0.05, 0.0]).values[::3]
    x = (clean + 0.02 * rng.standard_normal(clean.shape)).T
    return prepare(make_dataset(t, x, names=["s", "i", "r"]), 1, 1e-5)


@pytest.fixture(scope="module")
def fitted(epidemic) -> Candidate:
    """The right law with a constant of its own in each term."""
    workers = Workers(epidemic, Settings(order=1, grammar="systems"))
    found = workers.fit(Start(parse_system_values(SIR)))
    assert found is not None
    return found


def test_combinations_come_in_the_order_of_their_sums():
    criteria = [[0.0, 1.0, 5.0], [0.0, 2.0]]
    assert list(best_combinations(criteria, 4)) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert len(list(best_combinations(criteria, 100))) == 6


def test_a_law_has_the_equations_of_its_states_and_all_their_constants():
    dataset = make_dataset(np.linspace(0, 1, 9), np.random.default_rng(0).random((9, 2)), names=["x", "y"])
    law = law_of(dataset.states, dataset.inputs, [parse_equation("u' = 2*u"), parse_equation("u' = 3*u - 4")])
    assert str(law) == "x' = 2*x\ny' = 3*y - 4"


def test_the_view_of_an_equation_has_the_other_states_as_inputs(epidemic):
    seen = view(epidemic, 1, 1, 1e-5)
    assert seen.dataset.inputs == ("v1", "v2") == inputs_seen(epidemic.dataset, 1)
    assert np.array_equal(seen.dataset.runs[0].observed[0], epidemic.dataset.runs[0].observed[3])
    names = seen.columns.names
    assert np.allclose(seen.columns.matrix[names.index("v2")], epidemic.smooths[0].values[6])


def test_the_view_of_a_scalar_record_is_the_record(epidemic):
    t = np.linspace(0.0, 5.0, 30)
    scalar = prepare(make_dataset(t, np.exp(-t)), 1, 1e-5)
    assert view(scalar, 0, 1, 1e-5) is scalar


def test_a_view_of_second_order_has_the_slopes_of_the_other_states():
    dataset = make_dataset(np.linspace(0, 1, 9), np.random.default_rng(0).random((9, 2)), names=["x", "y"])
    assert inputs_seen(dataset, 2) == ("v1", "v1'")


def test_the_solution_of_a_law_smooths_better_than_a_process_of_each_state(epidemic, fitted):
    smooths = along(epidemic, [fitted.equation], fitted.initial)
    clean = solve(parse_system_values(SIR), epidemic.dataset.runs[0].t, [2.0, 0.05, 0.0]).values[::3]
    before, after = (np.std(s[0].values[::3] - clean) for s in (epidemic.smooths, smooths))
    assert after < 0.7 * before


def test_what_leaves_one_state_enters_another_at_the_same_rate(epidemic, fitted):
    tied = with_shared_constants(fitted, epidemic.floor, SelectionConfig())
    assert tied is not None
    assert tied.skeleton.n_constants == fitted.equation.skeleton.n_constants - 2
    rates = tied.skeleton.numbers(tied.constants)
    assert sorted(np.abs(rates).round(6).tolist()).count(round(abs(float(rates[0])), 6)) == 2


def test_rates_that_differ_are_not_tied(epidemic):
    workers = Workers(epidemic, Settings(order=1, grammar="systems"))
    other = ["s' = -0.5*s*i", "i' = 0.9*s*i - 0.8*i", "r' = 0.3*i"]
    t = epidemic.dataset.runs[0].t
    clean = solve(parse_system_values(other), t, [2.0, 0.05, 0.0]).values[::3]
    noise = 0.005 * np.random.default_rng(4).standard_normal(clean.shape)
    prepared = prepare(make_dataset(t, (clean + noise).T, names=["s", "i", "r"]), 1, 1e-5)
    found = Workers(prepared, workers.settings).fit(Start(parse_system_values(other)))
    assert found is not None
    assert with_shared_constants(found, prepared.floor, SelectionConfig()) is None


def test_a_scalar_equation_shares_nothing():
    t = np.linspace(0.0, 5.0, 30)
    prepared = prepare(make_dataset(t, np.exp(-t)), 1, 1e-5)
    workers = Workers(prepared, Settings(order=1, grammar="first-order"))
    found = workers.fit(Start(parse_equation("u' = -u")))
    assert found is not None
    assert with_shared_constants(found, prepared.floor, SelectionConfig()) is None


def test_the_fit_of_a_tied_law_has_a_number_less_and_its_error(epidemic, fitted):
    tied = with_shared_constants(fitted, epidemic.floor, SelectionConfig())
    assert tied is not None
    again = Workers(epidemic, Settings(order=1, grammar="systems")).fit(Start(tied))
    assert again is not None
    assert again.n_free == fitted.n_free - 2
    assert again.criterion < fitted.criterion
    assert again.covariance.shape == (2, 2)
    assert np.all(again.errors > 0)


def test_links_enter_what_tells_fits_apart_but_not_what_tells_laws_apart():
    free = parse_system(["x' = C*x*y", "y' = C*x*y"])
    tied = SystemSkeleton(free.states, free.parts, (), (Link(0), Link(0, -1.0)))
    assert free.key != tied.key
    assert free.structure == tied.structure


def test_rounding_does_not_speak_against_a_factor_of_one():
    t = np.linspace(0.0, 8.0, 60)
    law = parse_system_values(["x' = 1.0000001*y", "y' = -0.9999999*x - 0.3*y"])
    clean = solve(law, t, [1.0, 0.0]).values[::3]
    prepared = prepare(make_dataset(t, clean.T, names=["x", "y"]), 1, 1e-5)
    found = Workers(prepared, Settings(order=1, grammar="systems")).fit(Start(law))
    assert found is not None
    tied = with_shared_constants(found, prepared.floor, SelectionConfig())
    assert tied is not None
    assert tied.skeleton.n_constants == 1


@pytest.fixture(scope="module")
def swings():
    """The search for the law of a damped oscillator with 1 % of noise, its views set up."""
    t = np.linspace(0.0, 8.0, 80)
    clean = solve(parse_system_values(["x' = y", "y' = -2*x - 0.3*y"]), t, [1.0, 0.0]).values[::3]
    x = (clean + 0.01 * np.random.default_rng(5).standard_normal(clean.shape)).T
    settings = Settings(order=1, grammar="systems")
    prepared = prepare(make_dataset(t, x, names=["x", "y"]), 1, 1e-5)
    spaces = spaces_of(settings, inputs_seen(prepared.dataset, 1))
    with LawSearch(prepared, settings, spaces, Interrupts(), {}, None, 1) as search:
        search.searches = []
        for _ in prepared.dataset.states:
            search._search_of(1)
        yield search


def test_terms_that_rounds_of_changes_left_behind_are_taken_away(swings):
    archive = swings.archive
    archive.solve([parse_system_values(["x' = y + 0.001", "y' = -2*x - 0.3*y + 0.001*x^2"])], Stage.COUPLING)
    assert archive.settled()[0].equation.skeleton.n_constants == 4
    take_away(swings.searches, archive)
    assert str(archive.settled()[0].equation.skeleton) == "x' = y\ny' = C*y + C*x"
    for search in swings.searches:  # a search that goes on finds the region of each law
        assert {*search.archive.candidates} <= {*search.archive.homes}


def test_a_term_that_is_nearly_straight_becomes_so_in_the_whole_law(swings):
    archive = swings.archive
    law = parse_system_values(["x' = y", "y' = -400*tanh(0.005*x) - 0.3*y"])
    archive.solve([law], Stage.COUPLING)
    tried = [
        v.lines(2)
        for v in variants(archive.candidates[law.skeleton.key], swings.searches, archive, shorter=True)
    ]
    assert any(lines[1] == "y' = -2*x - 0.3*y" for lines in tried), tried


def test_a_constant_is_one_where_the_ranking_prefers_it(swings):
    """A factor two standard errors from one: Schwarz's price would keep it, that of the ranking does not."""
    archive, law = swings.archive, parse_system_values(["x' = 1.01*y", "y' = -2*x - 0.3*y"])
    archive.solve([law], Stage.COUPLING)
    found = archive.candidates[law.skeleton.key]
    factor, *others = found.equation.constants
    near = np.copysign(1 + 2 * found.errors[0], factor)
    away = replace(found, equation=make_law(law.skeleton, [near, *others]))
    tied = with_shared_constants(away, archive.prepared.floor, archive.settings.selection)
    assert tied is not None
    assert str(tied.skeleton) == "x' = y\ny' = C*y + C*x"


def test_an_equation_that_cannot_follow_its_state_alone_is_not_tried_in_a_law(swings):
    law = parse_system_values(["x' = y", "y' = -2*x - 0.3*y + 0.001*x^2"])
    swings.archive.solve([law], Stage.COUPLING)
    leader = swings.archive.candidates[law.skeleton.key]
    tried = {str(v.skeleton) for v in variants(leader, swings.searches, swings.archive, shorter=True)}
    assert "x' = y\ny' = C*y + C*x" in tried
    assert not any("y' = C*y + C*x^2" in text for text in tried), "nothing swings without x"
