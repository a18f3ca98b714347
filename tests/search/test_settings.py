import numpy as np
import pytest

from gode.errors import ConfigError
from gode.options.checks import checked_words, without_numpy
from gode.search.settings import EFFORTS, Settings, check_start


def settings(**options):
    return Settings(**{"order": 1, "grammar": "first-order", **options})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": True}, "order must be 1 or 2, got True"),
        ({"order": 1.0}, "order must be 1 or 2, got 1.0"),
        ({"preset": "Paper"}, "preset must be one of default, paper, got 'Paper'"),
        ({"effort": None}, "effort must be one of quick, normal, thorough, got None"),
        ({"seed": 1.5}, "seed must be a whole number from 0 on, got 1.5"),
        ({"without": ("log", "+")}, "without cannot leave out [+]"),
        ({"interpolation": "step"}, "interpolation must be one of"),
    ],
)
def test_settings_that_cannot_be_get_a_sentence(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        settings(**options)


def test_the_paper_may_do_without_any_symbol():
    assert settings(preset="paper", without=("+",)).without == ("+",)


def test_more_effort_is_more_of_everything():
    quick, normal, thorough = (vars(EFFORTS[name]) for name in ("quick", "normal", "thorough"))
    assert all(quick[stage] < normal[stage] < thorough[stage] for stage in quick)


def test_of_a_listed_grammar_all_equations_are_tried_and_nothing_else():
    budget = settings(listed=77).budget
    assert budget.library == 77
    assert budget.latent == budget.sums == 0
    assert settings().budget == EFFORTS["normal"]


def test_whole_numbers_of_numpy_become_those_of_python():
    assert type(without_numpy(np.int64(3))) is int
    assert without_numpy(True) is True
    assert without_numpy("x") == "x"


def test_symbols_are_one_word_or_several():
    assert checked_words("log") == ("log",)
    assert checked_words(["log", "t"]) == ("log", "t")
    with pytest.raises(ConfigError, match="without must be symbols as text"):
        checked_words([1])


@pytest.mark.parametrize(
    ("start", "without", "sentence"),
    [
        ("u'' = C*u", (), "start is of order 2, but order=1 was asked for"),
        ("u' = C*u + C*F", (), "start has the input F, which is not given"),
        ("u' = C*u + C*log(u)", ("log",), "start has log, which without= leaves out"),
    ],
)
def test_a_guess_that_cannot_be_the_answer_gets_a_sentence(start, without, sentence):
    with pytest.raises(ConfigError, match=sentence):
        check_start(settings(start=start, without=without), ())


def test_a_guess_that_can_be_the_answer_or_none_passes():
    check_start(settings(start="u' = C*u + C*F", without=("log",)), ("F",))
    check_start(settings(start=""), ())
