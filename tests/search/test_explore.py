import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation.tree import depends_on, symbols
from gode.fitting import Form
from gode.fitting.prepare import prepare
from gode.search.explore import encoded_leaders, make_regions, spaces_of
from gode.search.interrupts import Interrupts
from gode.search.settings import Settings
from gode.search.templates import SumTemplate, random_skeletons

T = np.linspace(0.0, 10.0, 60)


def settings(**options):
    known = {"order": 1, "grammar": "first-order", "implicit": True, "effort": "quick"}
    return Settings(**{**known, **options})


def prepared(**options):
    return prepare(Dataset((make_run(T, u=5.0 / (1.0 + 9.0 * np.exp(-0.8 * T)), **options),)), 1, 1e-5)


@pytest.fixture(scope="module")
def growth():
    return prepared()


def regions(prepared, **options):
    chosen = settings(**options)
    return make_regions(
        spaces_of(chosen, prepared.dataset.inputs),
        prepared,
        chosen,
        Interrupts(),
        SumTemplate(order=chosen.order),
    )


def active_symbols(space):
    pairs = zip(space.grammar.rules, space.grammar.probabilities, strict=True)
    return {word for rule, chance in pairs if chance > 0 for word in rule.terminals}


def test_a_grammar_is_searched_without_what_is_left_out_or_not_given():
    bare, implicit = spaces_of(settings(without=("log",)), ())
    assert not {"log", "F"} & (active_symbols(bare) | active_symbols(implicit))
    (forced,) = spaces_of(settings(implicit=False), ("F",))
    assert {"log", "F"} <= active_symbols(forced)


def test_the_grammar_of_systems_writes_the_columns_and_the_order_that_are_there():
    known = {"grammar": "systems", "implicit": False}
    (alone,) = spaces_of(settings(**known), ())
    (pair,) = spaces_of(settings(**known), ("v1", "F"))
    assert alone.grammar.template == pair.grammar.template == "u' = {sentence}"
    signals = {"u", "u'", "F", *(f"v{i}{prime}" for i in (1, 2, 3) for prime in ("", "'"))}
    assert active_symbols(alone) & signals == {"u"}
    assert active_symbols(pair) & signals == {"u", "v1", "F"}


def test_a_product_may_be_left_out_though_a_grammar_writes_factors_with_it(growth):
    (space,) = spaces_of(settings(implicit=False, without=("*",)), ())
    assert "*" in active_symbols(space)
    (region,) = regions(growth, implicit=False, without=("*",))
    assert not any("*" in symbols(body) for body in region.vocabulary.bodies)


def test_a_quarter_of_the_effort_goes_to_the_implicit_grammar_by_residuals_alone(growth):
    explicit, implicit = regions(growth)
    assert (explicit.effort, implicit.effort) == (1.0, 0.25)
    assert Form.INTEGRAL in {problem.form for problem in explicit.objective.problems}
    assert {problem.form for problem in implicit.objective.problems} == {Form.RESIDUAL}
    half, _ = regions(growth, share=0.5)
    assert half.effort == 0.5


def test_the_reserve_holds_four_times_as_many_terms_the_usual_ones_first(growth):
    region, _ = regions(growth)
    usual, reserve = region.vocabulary.bodies, region.reserve.bodies
    assert 20 < len(usual) <= 30
    assert 80 < len(reserve) <= 120
    assert reserve[: len(usual)] == usual


def test_terms_have_no_symbol_that_is_left_out_and_an_input_only_if_it_is_given(growth):
    region, _ = regions(growth, without=("t",))
    assert not any(depends_on(body, "t") or depends_on(body, "F") for body in region.reserve.bodies)
    forced, _ = regions(prepared(inputs={"F": np.cos(T)}))
    assert any(depends_on(body, "F") for body in forced.reserve.bodies)


def test_random_skeletons_are_those_of_the_seed():
    (space,) = spaces_of(settings(implicit=False), ())
    draws = [list(random_skeletons(space, 30, np.random.default_rng(seed))) for seed in (1, 1, 2)]
    assert len(draws[0]) == 30
    assert draws[0] == draws[1] != draws[2]


def test_the_latent_search_starts_at_the_best_skeletons(growth):
    region, _ = regions(growth)
    for skeleton in random_skeletons(region.space, 40, np.random.default_rng(0)):
        region.objective.score(skeleton)
    points = encoded_leaders(region.objective, region.space, 3)
    assert len(points) == 3
    best = region.objective.leaders(1)[0].skeleton
    assert region.space.decode(np.array(points[:1]))[0] == best
