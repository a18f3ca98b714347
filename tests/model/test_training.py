"""Training: the loss falls, the same seed gives the same weights, an interruption changes nothing."""

import numpy as np
import pytest

from gode.errors import ConfigError
from gode.grammar import load_grammar
from gode.library import draw_library
from gode.model.choices import Corpus, is_held_out, make_corpus

torch = pytest.importorskip("torch")

from gode.model.inference import GrammarNetwork  # noqa: E402
from gode.model.latent import LatentSpace  # noqa: E402
from gode.model.making import exact_share  # noqa: E402
from gode.model.training import (  # noqa: E402
    Sizes,
    TrainConfig,
    train,
)
from model_spaces import SMALL  # noqa: E402

pytestmark = pytest.mark.torch
LIBRARY = draw_library(SMALL, 300, order=1, rng=0)
HELD = np.array([is_held_out(s) for s in LIBRARY])
CORPUS = make_corpus(LIBRARY, HELD, np.random.default_rng(0).random((300, 4)))
CONFIG = TrainConfig(epochs=6, batch=16, behaviour_weight=0.5, learning_rate=1e-2)


def sizes(behaviour: int = 4) -> Sizes:
    n_heads, n_rules = CORPUS.allowed.shape
    return Sizes(
        n_rules=n_rules, n_heads=n_heads, latent=6, rule_width=8, head_width=4, encoder=16, decoder=24,
        behaviour=behaviour,
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained():
    return train(CORPUS, sizes(), config=CONFIG)


def test_loss_falls(trained):
    losses = [epoch.loss for epoch in trained.epochs]
    assert [epoch.number for epoch in trained.epochs] == list(range(6))
    assert losses[-1] < 0.9 * losses[0]
    assert all(0 <= epoch.exact <= 1 and epoch.kl >= 0 for epoch in trained.epochs)


def test_same_seed_gives_the_same_weights(trained):
    again = train(CORPUS, sizes(), config=CONFIG)
    other = train(CORPUS, sizes(), config=TrainConfig(**{**vars(CONFIG), "seed": 1}))
    for name, value in trained.weights.items():
        np.testing.assert_array_equal(value, again.weights[name])
    assert not np.array_equal(trained.weights["out.weight"], other.weights["out.weight"])


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_interrupted_training_ends_with_the_same_weights(trained, stop: int):
    states = []

    def interrupt(epoch, state):
        states.append({k: v.clone() for k, v in state.items()})
        if epoch.number + 1 == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(CORPUS, sizes(), config=CONFIG, on_step=interrupt)
    resumed = train(CORPUS, sizes(), config=CONFIG, resume=states[-1])
    for name, value in trained.weights.items():
        np.testing.assert_array_equal(value, resumed.weights[name])
    assert [e.loss for e in resumed.epochs] == [e.loss for e in trained.epochs]
    assert np.all(np.diff([e.seconds for e in resumed.epochs]) > 0)


def test_finished_training_resumes_to_its_end(trained):
    again = train(CORPUS, sizes(), config=CONFIG, resume=trained.state)
    for name, value in trained.weights.items():
        np.testing.assert_array_equal(value, again.weights[name])
    assert again.epochs == trained.epochs


def test_global_random_state_is_left_alone():
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 -- the global state is what is tested
    before = torch.get_rng_state().clone(), np.random.get_state()[1].copy()  # noqa: NPY002
    train(CORPUS, sizes(), config=TrainConfig(epochs=1))
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_weights_are_for_numpy_and_without_the_auxiliary_head(trained):
    assert not [name for name in trained.weights if name.startswith("behaviour")]
    space = LatentSpace("small", "gode", SMALL, GrammarNetwork(trained.weights), {"terms": []})
    held = type(LIBRARY)(SMALL, tuple(d for d, out in zip(LIBRARY.derivations, HELD, strict=True) if out))
    best = max(epoch.exact for epoch in trained.epochs)
    assert exact_share(space, held) == pytest.approx(best, abs=1.5 / len(held))


def test_training_without_behaviour_works():
    plain = Corpus(CORPUS.rules, CORPUS.heads, CORPUS.lengths, CORPUS.allowed, CORPUS.held_out)
    assert len(train(plain, sizes(0), config=TrainConfig(epochs=1)).epochs) == 1


def test_training_stops_when_nothing_improves():
    config = TrainConfig(epochs=50, batch=300, learning_rate=1e-9, patience=2, warm_up=0.06)
    assert len(train(CORPUS, sizes(), config=config).epochs) == 5


def test_training_stops_when_it_is_good_enough():
    assert len(train(CORPUS, sizes(), config=TrainConfig(epochs=50, enough=0.0)).epochs) == 1


def test_nothing_held_out_is_no_trap():
    corpus = make_corpus(LIBRARY, np.zeros(300, bool))
    assert train(corpus, sizes(0), config=TrainConfig(epochs=2)).epochs[-1].exact == 0


def test_everything_held_out_is_an_error():
    with pytest.raises(ConfigError, match="all skeletons are held out"):
        train(make_corpus(LIBRARY, np.ones(300, bool)), sizes(0), config=CONFIG)


@pytest.mark.parametrize("option", ["epochs", "batch", "held_out"])
def test_bad_config_is_an_error(option: str):
    with pytest.raises(ConfigError, match="at least 1"):
        TrainConfig(**{option: 0})
    with pytest.raises(ConfigError, match="latent must be positive"):
        Sizes(n_rules=3, n_heads=2, latent=0)


def test_enough_training_reconstructs():
    """Two dozen skeletons, learned by heart: what the loss asks for is what decoding gives."""
    library = draw_library(load_grammar("b1"), 24, order=1, rng=0)
    corpus = make_corpus(library, np.arange(24) < 0)
    n_heads, n_rules = corpus.allowed.shape
    few = Sizes(n_rules=n_rules, n_heads=n_heads, latent=8, encoder=32, decoder=48)
    config = TrainConfig(epochs=120, batch=24, kl_weight=1e-3, patience=1000, learning_rate=1e-2)
    weights = train(corpus, few, config=config).weights
    space = LatentSpace("b1", "gode", library.grammar, GrammarNetwork(weights), {"terms": []})
    assert exact_share(space, library) > 0.9
