"""Real processes killed at random moments: `gode train`. (discover: tests/cli, bench: tests/benchmarks.)"""

import signal

import numpy as np
import pytest

from commands import start
from model_spaces import SMALL

WAIT = 600  # seconds after which a process hangs
OPTIONS = ["--order", "1", "--size", "150", "--latent", "4", "--epochs", "12"]


def train(tmp_path, out):
    grammar = tmp_path / "tiny.grammar"
    grammar.write_text(SMALL.text())
    return start("train", grammar, "--out", out, *OPTIONS)


def finished(process):
    output, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 0, output + errors


@pytest.mark.slow
@pytest.mark.torch
def test_a_killed_training_goes_on_to_the_same_model(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    finished(train(tmp_path, whole))
    rng = np.random.default_rng(2)
    for _ in range(4):
        process = train(tmp_path, cut)
        for _ in range(int(rng.integers(1, 6))):  # lines of progress
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished(train(tmp_path, cut))
    assert (cut / "tiny.safetensors").read_bytes() == (whole / "tiny.safetensors").read_bytes()
    assert not list(cut.glob("*.part*"))
