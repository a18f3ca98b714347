"""Random tables and options: a sound result or one sentence, never a traceback, a warning or a hang."""

import pytest

from robust_cases import flaw, outcome, random_call


@pytest.mark.parametrize("seed", range(8))
def test_a_random_call_gives_a_sound_result_or_one_sentence(seed):
    assert flaw(outcome(random_call(seed, plain=True, most=25))) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100, 10))
def test_a_hundred_random_calls_give_a_sound_result_or_one_sentence(seed):
    for number in range(seed, seed + 10):
        found = outcome(random_call(number, plain=number % 3 > 0))
        assert flaw(found) is None, f"call {number}"
