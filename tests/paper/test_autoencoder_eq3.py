"""The paper's training: its loss falls, and it stops by its own rule."""

from itertools import pairwise

import numpy as np
import pytest

from gode.library import draw_library
from gode.model.choices import padded

torch = pytest.importorskip("torch")

from gode.paper.autoencoder_eq3 import PaperSizes, PaperTrainConfig, train_paper  # noqa: E402 -- needs torch
from model_spaces import SMALL  # noqa: E402

pytestmark = pytest.mark.torch
LIBRARY = draw_library(SMALL, 200, order=1, rng=0)
RULES, _ = padded(LIBRARY.derivations, len(SMALL.rules), SMALL.limit)
SIZES = PaperSizes(n_rules=len(SMALL.rules) + 1, n_max=SMALL.limit, latent=6, dense=12, hidden=8)


def test_loss_falls_and_every_epoch_is_reported():
    seen = []
    config = PaperTrainConfig(epochs=8, batch=50)
    trained = train_paper(RULES, SIZES, config=config, on_step=seen.append)
    assert trained.epochs == tuple(seen)
    assert seen[-1].loss < 0.8 * seen[0].loss
    assert seen[-1].reconstruction < seen[0].reconstruction  # on what is held out


def test_same_seed_gives_the_same_weights():
    runs = [train_paper(RULES, SIZES, config=PaperTrainConfig(epochs=2, seed=s)) for s in (0, 0, 1)]
    for name, value in runs[0].weights.items():
        np.testing.assert_array_equal(value, runs[1].weights[name])
    assert not np.array_equal(runs[0].weights["out.weight"], runs[2].weights["out.weight"])


def test_training_stops_without_a_better_validation_loss():
    config = PaperTrainConfig(learning_rate=0.5, stop_after=4, epochs=2000, batch=200, noise=0.0)
    epochs = train_paper(RULES, SIZES, config=config).epochs
    losses = [epoch.reconstruction for epoch in epochs]
    assert len(epochs) < 2000
    assert np.argmin(losses) == len(losses) - 1 - 4


def test_weights_are_those_of_the_best_epoch():
    short, long = (PaperTrainConfig(learning_rate=0.5, epochs=n, batch=200, noise=0.0) for n in (1, 12))
    trained = train_paper(RULES, SIZES, config=long)
    best = int(np.argmin([epoch.reconstruction for epoch in trained.epochs]))
    until = train_paper(RULES, SIZES, config=PaperTrainConfig(**{**vars(short), "epochs": best + 1}))
    np.testing.assert_array_equal(trained.weights["out.weight"], until.weights["out.weight"])


def test_rate_falls_on_a_plateau(monkeypatch):
    rates = []
    step = torch.optim.lr_scheduler.ReduceLROnPlateau.step

    def watch(self, loss):
        step(self, loss)
        rates.append(self.optimizer.param_groups[0]["lr"])

    monkeypatch.setattr(torch.optim.lr_scheduler.ReduceLROnPlateau, "step", watch)
    config = PaperTrainConfig(epochs=30, patience=1, learning_rate=0.3, lowest_rate=5e-7, noise=0.0)
    train_paper(RULES[:20], SIZES, config=config)
    assert rates[-1] < 0.3
    assert all(b in (a, pytest.approx(0.9 * a)) for a, b in pairwise(rates))


def test_global_random_state_is_left_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state().clone()
    train_paper(RULES, SIZES, config=PaperTrainConfig(epochs=1))
    assert torch.equal(torch.get_rng_state(), before)
