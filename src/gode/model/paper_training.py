"""The paper's training: binary cross-entropy and KL divergence, Adam, a plateau schedule (torch)."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from gode.arrays import Int
from gode.model.gvae import PaperSizes, PaperVAE
from gode.model.training import Epoch, Trained


@dataclass(frozen=True, kw_only=True)
class PaperTrainConfig:
    """Section 3.1.2 of the paper; what it leaves open is taken from the authors' published runs."""

    kl_weight: float = 1e-3
    batch: int = 500
    learning_rate: float = 1e-3
    factor: float = 0.9
    patience: int = 400  # of the schedule
    lowest_rate: float = 5e-5
    stop_after: int = 1000  # epochs without a better validation loss
    held_out: float = 0.1
    noise: float = 1e-4  # scale of the reparametrisation noise in the authors' runs
    epochs: int = 100_000
    max_seconds: float = math.inf
    seed: int = 0


def train_paper(
    rules: Int,
    sizes: PaperSizes,
    *,
    config: PaperTrainConfig,
    device: str = "cpu",
    on_step: Callable[[Epoch], None] | None = None,
) -> Trained:
    """Train the paper's network on padded rules (n, n_max); return the weights of least validation loss."""
    place = torch.device(device)
    with torch.random.fork_rng(devices=[place] if place.type == "cuda" else []):
        torch.manual_seed(config.seed)
        model = PaperVAE(sizes).to(place)
    order = np.random.default_rng(config.seed).permutation(len(rules))
    cut = int(config.held_out * len(rules))
    held, kept = (torch.as_tensor(rules[part], device=place) for part in (order[:cut], order[cut:]))
    optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=config.factor, patience=config.patience, min_lr=config.lowest_rate
    )
    noise = torch.Generator(device=place).manual_seed(config.seed + 1)
    records: list[Epoch] = []
    best, best_epoch, weights = math.inf, 0, {k: v.clone() for k, v in model.state_dict().items()}
    start = time.perf_counter()
    for number in range(config.epochs):
        loss = _epoch(model, kept, optimiser, noise, config, number)
        with torch.no_grad():
            held_loss = float(_loss(model, held, noise, config)[0])
        plateau.step(held_loss)
        records.append(Epoch(number, loss, held_loss, 0.0, math.nan, time.perf_counter() - start))
        if on_step:
            on_step(records[-1])
        if held_loss < best:
            best, best_epoch = held_loss, number
            weights = {k: v.clone() for k, v in model.state_dict().items()}
        if number - best_epoch >= config.stop_after or time.perf_counter() - start > config.max_seconds:
            break
    return Trained({k: v.cpu().numpy() for k, v in weights.items()}, tuple(records))


def _epoch(
    model: PaperVAE,
    kept: Tensor,
    optimiser: torch.optim.Optimizer,
    noise: torch.Generator,
    config: PaperTrainConfig,
    number: int,
) -> float:
    rng = np.random.default_rng([config.seed, number])
    order = torch.as_tensor(rng.permutation(len(kept)), device=kept.device)
    total, count = torch.zeros((), device=kept.device), 0
    for part in order.split(config.batch):
        loss, _ = _loss(model, kept[part], noise, config)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        total += loss.detach()
        count += 1
    return float(total) / count


def _loss(
    model: PaperVAE, rules: Tensor, noise: torch.Generator, config: PaperTrainConfig
) -> tuple[Tensor, Tensor]:
    """Return the loss of eq. 3, and the logits."""
    one_hot = nn.functional.one_hot(rules, model.sizes.n_rules).float()
    mean, logvar = model.encode(one_hot)
    eps = torch.randn(mean.shape, generator=noise, device=mean.device)
    logits = model.decode(mean + config.noise * eps * torch.exp(0.5 * logvar))
    cross = nn.functional.binary_cross_entropy_with_logits(logits, one_hot)
    kl = -0.5 * torch.mean(1 + logvar - mean**2 - logvar.exp())
    return cross + config.kl_weight * kl, logits
