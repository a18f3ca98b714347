from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.data.example import load_example
from gode.discovery.api import better_order
from gode.discovery.options import Options
from gode.errors import ConfigError
from gode.report.record import discovery_of, record_of
from gode.search.interrupts import Interrupts

PLAIN = {"effort": "quick", "without": ("t", "exp", "log", "sin", "cos", "tanh")}


def swing(rng):
    t = np.linspace(0.0, 12.0, 60)
    return t, np.exp(-0.1 * t) * np.cos(2 * t) + 0.02 * rng.standard_normal(60)


FEW = """\
%template {sentence} = 0
sum -> "u'" '+' 'C' '*' 'u' | "u'" '+' 'C' '*' 'u' '+' 'C' '*' 'u' '^' '2' | "u''" '+' 'C' '*' 'u' rest
rest -> '+' 'C' '*' "u'" | '+' 'C' '*' 'u' '^' '3'
"""


@pytest.fixture
def few(tmp_path):
    """A grammar of two equations of each order."""
    (tmp_path / "few.grammar").write_text(FEW)
    return str(tmp_path / "few.grammar")


def test_auto_compares_the_orders_that_a_small_grammar_writes(rng, few):
    example = load_example("growth")
    grown = gode.discover(example.t, example.u, order="auto", grammar=few)
    assert (grown.settings.order, str(grown)) == (1, "u' = 0.6314*u - 0.05496*u^2")
    swinging = gode.discover(*swing(rng), order="auto", grammar=few)
    assert swinging.settings.order == 2
    assert swinging.n_fitted == 2 * 4
    assert swinging.remarks[0].startswith("orders 1 and 2 were tried: order 2 explains the data better, by ")


@pytest.mark.slow
def test_auto_takes_the_first_order_for_growth_and_the_second_for_a_swing(rng):
    example = load_example("growth")
    grown = gode.discover(example.t, example.u, order="auto", grammar=None, **PLAIN)
    assert grown.settings.order == 1
    assert grown.remarks[0].startswith("orders 1 and 2 were tried: order 1 explains the data better, by ")
    swinging = gode.discover(*swing(rng), order="auto", **PLAIN)
    assert swinging.settings.order == 2
    assert swinging.candidates[0].rms < 1.3
    assert swinging.n_fitted > 300


def test_a_record_keeps_the_remarks(rng, few):
    found = gode.discover(*swing(rng), order="auto", max_seconds=0.01, grammar=few)
    again = discovery_of(record_of(found))
    assert again.timed_out
    assert again.remarks == found.remarks
    assert found.remarks[0].startswith("stopped after ")
    assert not found.interrupted
    assert found.simulate().failure is None


def test_an_interrupted_second_search_keeps_what_the_first_has_found(rng, few):
    found = [gode.discover(*swing(rng), order=1, grammar=few)]

    def search(_):
        if not found:
            raise KeyboardInterrupt
        return found.pop()

    tasks = [replace(found[0].settings, order=k) for k in (1, 2)]
    result = better_order(search, tasks, Interrupts(), None)
    assert result.interrupted
    assert result.remarks == ("order 1 was taken: nothing was found for the other",)
    with pytest.raises(KeyboardInterrupt):
        better_order(search, tasks, Interrupts(), None)


def test_a_search_that_ends_later_than_asked_says_so():
    options = Options(max_seconds=20)
    assert options.told_of_time(20.4) == "stopped after 20 s, as asked"
    late = "stopped after 31.2 s, as soon as there was an answer; 20 s were asked for"
    assert options.told_of_time(31.21) == late


def test_other_orders_and_times_are_refused():
    t = np.linspace(0.0, 1.0, 20)
    with pytest.raises(ConfigError, match="order must be 1, 2 or 'auto', got 'both'"):
        gode.discover(t, t, order="both")
    with pytest.raises(ConfigError, match="not part of the paper's method"):
        gode.discover(t, t, order="auto", preset="paper")
    for bad in (0, -1, float("nan"), "20", True):
        with pytest.raises(ConfigError, match="max_seconds must be a positive number"):
            gode.discover(t, t, max_seconds=bad)
