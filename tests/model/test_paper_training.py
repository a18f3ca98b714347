"""The paper's training: its loss falls, it stops by its own rule, and an interruption changes nothing."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gode.errors import FileError
from gode.library import draw_library
from gode.model.plan import padded

torch = pytest.importorskip("torch")

from gode.model import checkpoint, paper_training  # noqa: E402 -- needs torch
from gode.model.checkpoint import train_paper_resumable  # noqa: E402
from gode.model.gvae import PaperSizes  # noqa: E402
from gode.model.paper_training import PaperTrainConfig, train_paper  # noqa: E402
from model_spaces import SMALL  # noqa: E402

LIBRARY = draw_library(SMALL, 200, order=1, rng=0)
RULES, _ = padded(LIBRARY.derivations, len(SMALL.rules), SMALL.limit)
SIZES = PaperSizes(n_rules=len(SMALL.rules) + 1, n_max=SMALL.limit, latent=6, dense=12, hidden=8)


def test_loss_falls_and_every_epoch_is_reported():
    seen = []
    config = PaperTrainConfig(epochs=8, batch=50)
    trained = train_paper(RULES, SIZES, config=config, on_step=lambda epoch, _state: seen.append(epoch))
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


# Interruptions

FEW = RULES[:40]
CONFIG = PaperTrainConfig(epochs=6, batch=20, patience=1, learning_rate=0.02)


def same(first, second) -> bool:
    """Whether two trainings came to the same end."""
    losses = [[(e.number, e.loss, e.reconstruction) for e in t.epochs] for t in (first, second)]
    weights = all(np.array_equal(v, second.weights[k]) for k, v in first.weights.items())
    return weights and losses[0] == losses[1]


def test_resumed_training_comes_to_the_same_end():
    whole = train_paper(FEW, SIZES, config=CONFIG)
    start = train_paper(FEW, SIZES, config=replace(CONFIG, epochs=3))
    rest = train_paper(FEW, SIZES, config=CONFIG, resume=start.state)
    assert same(whole, rest)
    assert rest.epochs[-1].seconds > start.epochs[-1].seconds
    for key in ("schedule", "noise", "model.out.weight", "optimiser.out.weight.exp_avg_sq"):
        assert torch.equal(rest.state[key], whole.state[key]), key


def test_time_limit_counts_anew_and_the_rest_follows(tmp_path):
    path = tmp_path / "b1-paper.state"
    hurried = replace(CONFIG, max_seconds=0.0)  # one epoch a call
    calls = [train_paper_resumable(FEW, SIZES, path, config=hurried, device="cpu") for _ in range(6)]
    assert [len(trained.epochs) for trained in calls] == list(range(1, 7))
    assert same(calls[-1], train_paper(FEW, SIZES, config=CONFIG))


def test_finished_training_does_nothing_more(tmp_path):
    path = tmp_path / "b1-paper.state"
    first, again = (train_paper_resumable(FEW, SIZES, path, config=CONFIG, device="cpu") for _ in range(2))
    assert again.epochs == first.epochs
    stopped = replace(CONFIG, stop_after=2, epochs=10_000)  # its rule is met already, or soon
    trained = train_paper(FEW, SIZES, config=replace(stopped, learning_rate=0.5))
    more = train_paper(FEW, SIZES, config=replace(stopped, learning_rate=0.5), resume=trained.state)
    assert more.epochs == trained.epochs


def test_state_is_written_on_the_way(tmp_path, monkeypatch):
    path, seen = tmp_path / "b1-paper.state", []
    monkeypatch.setattr(checkpoint, "PAPER_EVERY", 0.0)

    def stop(epoch) -> None:
        seen.append(epoch.number)
        if epoch.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_paper_resumable(FEW, SIZES, path, config=CONFIG, device="cpu", on_save=stop)
    assert seen == [0, 1, 2, 3]
    rest = train_paper_resumable(FEW, SIZES, path, config=CONFIG, device="cpu")
    assert same(rest, train_paper(FEW, SIZES, config=CONFIG))


def test_state_of_another_network_is_an_error():
    state = train_paper(FEW, SIZES, config=replace(CONFIG, epochs=1)).state
    with pytest.raises(FileError, match="the state is that of another network"):
        train_paper(FEW, replace(SIZES, dense=13), config=CONFIG, resume=state)


def test_threads_do_not_disturb_each_other():
    configs = [replace(CONFIG, epochs=1, seed=seed) for seed in (0, 1, 2, 3)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda config: train_paper(FEW, SIZES, config=config), configs))
    alone = [train_paper(FEW, SIZES, config=config) for config in configs]
    assert all(same(one, other) for one, other in zip(together, alone, strict=True))


# Recorded steps


def replayed(function, inputs, changed):
    """A recording without a GPU: it reads and writes where the recorded step did."""
    before = [value.detach().clone() for value in changed]
    for _ in range(2):
        function(*inputs)
    with torch.no_grad():
        for value, old in zip(changed, before, strict=True):
            value.copy_(old)

    def replay(*given):
        for place, value in zip(inputs, given, strict=True):
            place.copy_(value)
        function(*inputs)

    return replay


def record_by(monkeypatch, recorder) -> None:
    def prepare(self) -> None:
        self.record(recorder)

    monkeypatch.setattr(paper_training._Training, "prepare", prepare)


def test_recorded_steps_compute_the_same(monkeypatch):
    """The way over recordings, taken on a processor: one code path, the same numbers."""
    plain = train_paper(FEW, SIZES, config=CONFIG)
    record_by(monkeypatch, replayed)
    assert same(train_paper(FEW, SIZES, config=CONFIG), plain)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="recordings need a GPU")
def test_recorded_steps_compute_the_same_on_a_gpu(monkeypatch):
    recorded = train_paper(FEW, SIZES, config=CONFIG, device="cuda")
    monkeypatch.setattr(paper_training._Training, "prepare", lambda self: None)
    plain = train_paper(FEW, SIZES, config=CONFIG, device="cuda")
    losses = [[epoch.loss for epoch in trained.epochs] for trained in (recorded, plain)]
    np.testing.assert_allclose(*losses, rtol=1e-3)
