"""The paper's grammar variational autoencoder (sec. 2.2) and its training (eq. 3, sec. 3.1.2); needs torch.

Only scripts/train_models.py trains it. The trained networks come with the package as `b1-paper`, `b2-paper`
and `b3-paper`; `gode.model.inference.PaperNetwork` is the same network in NumPy.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from gode.arrays import Int
from gode.model.training import Epoch, Trained


@dataclass(frozen=True, kw_only=True)
class PaperSizes:
    """The dimensions of the paper's network; `n_rules` counts the padding rule, which is the last."""

    n_rules: int
    n_max: int
    latent: int = 24
    kernels: tuple[int, int, int] = (7, 8, 9)
    dense: int = 80
    hidden: int = 80


@dataclass(frozen=True, kw_only=True)
class PaperTrainConfig:
    """Section 3.1.2 of the paper; what it leaves open is taken from the authors' published runs."""

    kl_weight: float = 1e-3
    batch: int = 500
    learning_rate: float = 1e-3
    factor: float = 0.9  # by which the learning rate falls on a plateau
    patience: int = 400  # epochs that make a plateau
    lowest_rate: float = 5e-5
    stop_after: int = 1000  # epochs without a better validation loss
    held_out: float = 0.1
    noise: float = 1e-4  # scale of the reparametrisation noise in the authors' runs
    epochs: int = 100_000
    max_seconds: float = math.inf
    seed: int = 0


class PaperVAE(nn.Module):
    """Rules, one-hot, through three convolutions to z; z, repeated, through bidirectional GRUs to rules."""

    def __init__(self, sizes: PaperSizes) -> None:
        super().__init__()
        self.sizes = sizes
        s = sizes
        widths = (s.n_rules, *s.kernels)
        self.convolutions = nn.ModuleList(nn.Conv1d(widths[i], k, k) for i, k in enumerate(s.kernels))
        left = s.n_max - sum(k - 1 for k in s.kernels)
        self.dense = nn.Linear(left * s.kernels[-1], s.dense)
        self.mean = nn.Linear(s.dense, s.latent)
        self.logvar = nn.Linear(s.dense, s.latent)
        self.first = nn.Linear(s.latent, s.latent)
        self.gru = nn.GRU(s.latent, s.hidden, num_layers=3, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * s.hidden, s.n_rules)

    def encode(self, one_hot: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of one-hot rules (batch, time, rules)."""
        x = one_hot.transpose(1, 2)
        for convolution in self.convolutions:
            x = torch.relu(convolution(x))
        x = torch.relu(self.dense(x.flatten(1)))
        return self.mean(x), nn.functional.softplus(self.logvar(x))

    def decode(self, z: Tensor) -> Tensor:
        """Return the logits (batch, time, rules)."""
        x = nn.functional.elu(self.first(z))
        hidden, _ = self.gru(x[:, None, :].expand(-1, self.sizes.n_max, -1))
        logits: Tensor = self.out(hidden)
        return logits


def paper_loss(model: PaperVAE, one_hot: Tensor, eps: Tensor, config: PaperTrainConfig) -> Tensor:
    """Return the binary cross-entropy plus the weighted KL divergence (eq. 3); `eps` is standard normal."""
    mean, logvar = model.encode(one_hot)
    logits = model.decode(mean + config.noise * eps * torch.exp(0.5 * logvar))
    cross = nn.functional.binary_cross_entropy_with_logits(logits, one_hot)
    kl = -0.5 * torch.mean(1 + logvar - mean**2 - logvar.exp())
    return cross + config.kl_weight * kl


def train_paper(
    rules: Int,
    sizes: PaperSizes,
    *,
    config: PaperTrainConfig,
    device: str = "cpu",
    on_step: Callable[[Epoch], None] | None = None,
) -> Trained:
    """Train the paper's network on padded rules (n, n_max); return the weights of least validation loss.

    `on_step` gets every epoch's record, in which `reconstruction` is the validation loss.
    """
    start, place = time.perf_counter(), torch.device(device)
    with torch.random.fork_rng(devices=[place] if place.type == "cuda" else []):
        torch.manual_seed(config.seed)
        model = PaperVAE(sizes).to(place)
    order = np.random.default_rng(config.seed).permutation(len(rules))
    cut = int(config.held_out * len(rules))
    held, kept = (
        nn.functional.one_hot(torch.as_tensor(rules[part], device=place), sizes.n_rules).float()
        for part in (order[:cut], order[cut:])
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=config.factor, patience=config.patience, min_lr=config.lowest_rate
    )
    noise = torch.Generator(device=place).manual_seed(config.seed + 1)
    records: list[Epoch] = []
    best, best_weights = 0, {}
    for number in range(config.epochs):
        loss, held_loss = _epoch(model, kept, held, optimiser, noise, config, number)
        schedule.step(held_loss)
        seconds = time.perf_counter() - start
        records.append(Epoch(number, loss, held_loss, 0.0, math.nan, seconds))
        if not number or held_loss < records[best].reconstruction:
            best = number
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        if on_step:
            on_step(records[-1])
        if number - best >= config.stop_after or seconds > config.max_seconds:
            break
    return Trained({name: value.cpu().numpy() for name, value in best_weights.items()}, tuple(records))


def _epoch(
    model: PaperVAE,
    kept: Tensor,
    held: Tensor,
    optimiser: torch.optim.Optimizer,
    noise: torch.Generator,
    config: PaperTrainConfig,
    number: int,
) -> tuple[float, float]:
    """Go once through the training part; return the mean loss there and the loss on the held-out part."""
    n, place = len(kept), kept.device
    order = torch.as_tensor(np.random.default_rng([config.seed, number]).permutation(n), device=place)
    eps = torch.randn((n + len(held), model.sizes.latent), generator=noise, device=place)
    losses = []
    for i in range(0, n, config.batch):
        end = min(i + config.batch, n)
        loss = paper_loss(model, kept[order[i:end]], eps[i:end], config)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    with torch.no_grad():
        held_loss = paper_loss(model, held, eps[n:], config)
    return float(torch.stack(losses).mean()), float(held_loss)
