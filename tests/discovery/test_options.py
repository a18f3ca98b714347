import numpy as np
import pytest

from gode.data.from_arrays import make_dataset
from gode.discovery.options import Options
from gode.errors import ConfigError

T = np.linspace(0.0, 1.0, 6)
FREE, FORCED = make_dataset(T, T), make_dataset(T, T, force="sin(t)")


def grammars(dataset=FREE, **options):
    return [s.grammar for s in Options(**options).settings(dataset)]


def test_the_order_chooses_the_grammar_and_adds_the_implicit_one():
    (settings,) = Options(order=2).settings(FREE)
    assert (settings.grammar, settings.implicit, settings.share) == ("second-order", True, 1.0)
    assert grammars(order=1) == ["first-order"]


def test_a_grammar_that_is_asked_for_is_the_only_one():
    (settings,) = Options(grammar="b1").settings(FREE)
    assert (settings.grammar, settings.implicit) == ("b1", False)


def test_the_paper_has_its_own_grammars_and_no_implicit_one():
    assert grammars(preset="paper", order=1) == ["b1-paper"]
    assert grammars(preset="paper", order=2) == ["b2-paper"]
    assert grammars(FORCED, preset="paper", order=2) == ["b3-paper"]
    assert not Options(preset="paper").settings(FREE)[0].implicit


def test_both_orders_share_the_effort_and_a_guess_goes_to_its_own():
    first, second = Options(order="auto", start="u'' = C*u").settings(FREE)
    assert (first.order, second.order) == (1, 2)
    assert first.share == second.share == 0.5
    assert (first.start, second.start) == (None, "u'' = C*u")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_seconds": 0}, "max_seconds must be a positive number of seconds, got 0"),
        ({"max_seconds": True}, "max_seconds must be a positive number"),
        ({"max_seconds": float("inf")}, "max_seconds must be a positive number"),
        ({"order": 3}, "order must be 1, 2 or 'auto', got 3"),
        ({"order": "auto", "preset": "paper"}, "order='auto' is not part of the paper's method"),
    ],
)
def test_options_that_cannot_be_get_a_sentence(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Options(**options)


def test_a_limit_that_was_too_short_for_an_answer_is_told():
    options = Options(max_seconds=10.0)
    assert options.told_of_time(11.9) == "stopped after 10 s, as asked"
    assert options.told_of_time(12.1).startswith("stopped after 12.1 s, as soon as there was an answer")


def test_a_guess_is_for_one_state():
    t = np.linspace(0.0, 1.0, 9)
    both = make_dataset(t, np.column_stack([t, t**2]))
    with pytest.raises(ConfigError, match="start= guesses the equation of one state"):
        Options(start="u' = C*u").settings(both)
