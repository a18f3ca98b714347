"""Runs that differ: told where a plainer law with constants of each run is clearly better, only there."""

from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.discovery.causes import with_causes
from gode.discovery.differing_runs import told_of_each_run
from gode.discovery.quality import Verdict
from gode.search.settings import GRAMMARS
from gode.selection import weighed

T = np.linspace(0.0, 16.0, 40)
LAWS = ("u' = C*u - C*u^2", "u' = C*u - C*u^2 + C*t*u + C*t*u^2 + C*u^3 + C*t")


def found_in(rates):
    """A discovery that names a law with the time in it, as a search does that tried it and a plain one."""
    rng = np.random.default_rng(1)
    runs = [5.0 / (1 + 9 * np.exp(-r * T)) + 0.05 * rng.standard_normal(len(T)) for r in rates]
    fits = [gode.fit(law, [T] * len(rates), runs) for law in LAWS]
    whole, settings = fits[0].prepared, replace(fits[0].settings, grammar=GRAMMARS[1])
    both = [weighed(f.candidates[0], whole.floor, settings.selection, float(40 * len(rates))) for f in fits]
    return replace(fits[0], candidates=both[::-1], settings=settings, causes=())


@pytest.fixture(scope="module")
def differing():
    return found_in((0.4, 0.5, 0.6, 0.75))


def test_runs_that_differ_are_told_where_a_law_with_the_time_in_it_is_named(differing):
    (told,) = told_of_each_run(differing)
    assert "the runs differ" in told
    assert "*u^2" in told
    assert "t*u" not in told
    assert "--individual auto" in told


def test_a_law_that_mixes_runs_that_differ_is_not_called_good(differing):
    told = replace(differing, causes=tuple(told_of_each_run(differing)))
    assert told.quality.surpassed
    assert told.quality.verdict is not Verdict.GOOD
    assert "the runs differ" in " ".join(with_causes(differing).causes)


def test_a_good_law_is_good_only_while_nothing_explains_more():
    alike = found_in((0.5, 0.5, 0.5))
    good = replace(alike, candidates=alike.candidates[1:])
    assert good.quality.verdict is Verdict.GOOD
    other = replace(good, causes=("something else",))
    assert other.quality.verdict is Verdict.PATTERN
    assert "unexplained" not in other.assessment.headline
    assert "explains the data better" in other.assessment.sure


def test_runs_that_do_not_differ_are_not_told():
    assert told_of_each_run(found_in((0.5, 0.5, 0.5, 0.5))) == []


def test_one_run_has_none_to_differ_from():
    assert told_of_each_run(found_in((0.5,))) == []
