import math
import signal
import threading

import numpy as np
import pytest

import gode
from examples_found import SMALL
from gode.search.interrupts import Interrupts


@pytest.fixture(autouse=True)
def default_handler():
    """A shell that runs the tests in the background has Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_waits_for_the_next_check():
    with Interrupts() as interrupts:
        interrupts.check()
        press()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
        interrupts.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_ctrl_c_does_not_wait():
    with Interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_another_thread_and_another_handler_are_left_alone():
    seen = []

    def elsewhere():
        with Interrupts() as interrupts:
            interrupts.check()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_limit_of_time_counts_once_there_is_enough():
    interrupts = Interrupts(1e-9)
    interrupts.check()
    interrupts.enough()
    with pytest.raises(KeyboardInterrupt):
        interrupts.check()
    assert interrupts.timed_out
    with pytest.raises(KeyboardInterrupt):
        interrupts.check()  # what was left to do took too long as well
    interrupts.check()  # what is needed for an answer is done
    interrupts.limit(None)
    interrupts.enough()
    interrupts.check()
    assert not interrupts.timed_out


@pytest.mark.parametrize("stage", ["sums", "library", "latent space", "trajectories", "neighbours"])
def test_ctrl_c_in_any_stage_returns_the_best_so_far(stage):
    t = np.linspace(0.0, 2.0, 12)  # So short a record is not decided at a first look.
    u = np.exp(-t) + 0.05 * np.random.default_rng(0).standard_normal(12)
    pressed = []

    def on_step(step):
        if step.stage == stage and not pressed:
            pressed.append(step)
            press()

    found = gode.discover(t, u, on_step=on_step, **SMALL)
    assert pressed
    assert found.interrupted
    assert found.simulate().u == pytest.approx(u, abs=0.4 * np.std(u))


def test_the_time_that_is_left_and_spent_is_told():
    assert Interrupts().left == math.inf
    interrupts = Interrupts(100.0)
    assert 99 < interrupts.left <= 100
    assert 0 <= interrupts.spent < 1
    assert Interrupts(-1.0).left == 0
