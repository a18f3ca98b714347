"""Resumable training: the state of every few epochs is saved, without pickle (torch)."""

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from gode.errors import ConfigError, FileError
from gode.files import replacing
from gode.model.corpus import Corpus
from gode.model.gvae import Sizes
from gode.model.training import Epoch, TrainConfig, Weights, train

EVERY = 5  # epochs
BEHAVIOUR_WEIGHT = 2.0


def train_resumable(
    corpus: Corpus,
    path: Path,
    *,
    latent: int,
    epochs: int,
    seed: int,
    device: str,
    on_step: Callable[[str, float, str], None],
) -> tuple[Weights, tuple[Epoch, ...]]:
    """Train, saving the state at `path`; resumed from a saved state, the result is the same."""
    if not _is_device(device):
        raise ConfigError(f"there is no device {device!r} here; use cpu, or cuda where there is one")
    n_heads, n_rules = corpus.allowed.shape
    sizes = Sizes(n_rules=n_rules, n_heads=n_heads, latent=latent, behaviour=corpus.behaviour.shape[1])
    config = TrainConfig(epochs=epochs, seed=seed, behaviour_weight=BEHAVIOUR_WEIGHT)

    def keep(epoch: Epoch, state: dict[str, Tensor]) -> None:
        words = (
            f"epoch {epoch.number + 1}, loss {epoch.loss:.2f}, {100 * epoch.exact:.1f} % exact on held-out"
        )
        on_step("training", (epoch.number + 1) / config.epochs, words)
        if epoch.number % EVERY == EVERY - 1:
            _write(path, state)

    trained = train(
        corpus,
        sizes,
        config=config,
        device=device,
        resume=_read(path) if path.is_file() else None,
        on_step=keep,
    )
    return trained.weights, trained.epochs


def _write(path: Path, state: dict[str, Tensor]) -> None:
    """Write a state atomically."""
    with replacing(path) as draft:
        save_file({k: v.detach().cpu().contiguous().clone() for k, v in state.items()}, draft)


def _read(path: Path) -> dict[str, Tensor]:
    try:
        state = dict(load_file(path))
    except (SafetensorError, OSError) as error:
        raise FileError(f"{path} is no state of a training ({error}); delete it to start anew") from None
    if not {"noise", "records"} <= state.keys():
        raise FileError(f"{path} is no state of a training; delete it to start anew")
    return state


def _is_device(name: str) -> bool:
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError):  # an unknown name; a torch built without cuda
        return False
    return True
