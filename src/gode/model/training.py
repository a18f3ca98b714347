"""The grammar variational autoencoder of our own models, and its training, which can be resumed (torch).

The state of every few epochs is saved without pickle; a training resumed from it ends with the same weights.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from gode.arrays import Bool, Float, Int
from gode.errors import ConfigError, FileError
from gode.files import replacing
from gode.model.choices import Corpus

Weights = dict[str, Float]
BATCHES_SORTED = 16  # Sequences are sorted by length within so many batches, which then have little padding.
EVERY = 5  # The state is saved after every fifth epoch.
BEHAVIOUR_WEIGHT = 2.0  # Weight of the auxiliary head in the loss of the models that come with gode.


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The dimensions of our network; the same names stand on the model's card."""

    n_rules: int
    n_heads: int
    latent: int = 32
    rule_width: int = 24
    head_width: int = 16
    encoder: int = 128  # of each direction
    decoder: int = 192
    behaviour: int = 0  # outputs of the auxiliary head; 0 for none

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if name == "behaviour" else 1):
                raise ConfigError(f"{name} must be positive, got {value}")


class GrammarVAE(nn.Module):
    """The decoder predicts the next rule from z, the rules so far and the symbol to replace."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        s = sizes
        self.rule = nn.Embedding(s.n_rules + 1, s.rule_width)  # the last row stands for "nothing yet"
        self.head = nn.Embedding(s.n_heads, s.head_width)
        self.forward_gru = nn.GRU(s.rule_width, s.encoder)
        self.backward_gru = nn.GRU(s.rule_width, s.encoder)
        self.posterior = nn.Linear(2 * s.encoder, 2 * s.latent)
        self.first = nn.Linear(s.latent, s.decoder)
        self.decoder_gru = nn.GRU(s.rule_width + s.head_width + s.latent, s.decoder)
        self.out = nn.Linear(s.decoder, s.n_rules)
        if s.behaviour:
            self.behaviour = nn.Sequential(
                nn.Linear(s.latent, 128), nn.SiLU(), nn.Linear(128, s.behaviour), nn.Sigmoid()
            )

    def encode(self, rules: Tensor, backward: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance; `rules` and `backward` are (time, batch), padded at the end."""
        last = (lengths - 1).clamp(min=0)
        batch = torch.arange(len(lengths), device=lengths.device)
        ends = [
            gru(self.rule(x))[0][last, batch]
            for gru, x in ((self.forward_gru, rules), (self.backward_gru, backward))
        ]
        mean, logvar = self.posterior(torch.cat(ends, dim=1)).chunk(2, dim=1)
        return mean, logvar

    def decode(self, z: Tensor, before: Tensor, heads: Tensor) -> Tensor:
        """Return the logits (time, batch, rules) given the rules before each step and the symbols."""
        wide = z.expand(before.shape[0], *z.shape)
        x = torch.cat([self.rule(before), self.head(heads), wide], dim=2)
        hidden, _ = self.decoder_gru(x, torch.tanh(self.first(z))[None])
        logits: Tensor = self.out(hidden)
        return logits


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How our network is trained."""

    epochs: int = 200
    batch: int = 512
    learning_rate: float = 2e-3  # decays to one per cent along a cosine
    kl_weight: float = 0.1  # per sequence; 1 collapses the posterior
    warm_up: float = 0.2  # share of the epochs over which the KL weight rises from zero
    behaviour_weight: float = 0.0
    held_out: int = 1000  # held-out skeletons reconstructed after every epoch
    patience: int = 40  # epochs without a better held-out reconstruction, once the warm-up is over
    enough: float = 1.0  # held-out exact reconstruction at which training may stop
    max_seconds: float = math.inf
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or self.held_out < 1:
            raise ConfigError("epochs, batch and held_out must be at least 1")


@dataclass(frozen=True)
class Epoch:
    """The record of one epoch."""

    number: int
    loss: float
    reconstruction: float
    kl: float
    exact: float  # share of held-out skeletons reproduced exactly
    seconds: float


@dataclass(frozen=True)
class Trained:
    """The best weights, the record of every epoch, and a state from which training resumes."""

    weights: Weights
    epochs: tuple[Epoch, ...]
    state: dict[str, Tensor] = field(default_factory=dict)


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
            _write_state(path, state)

    trained = train(
        corpus,
        sizes,
        config=config,
        device=device,
        resume=_read_state(path) if path.is_file() else None,
        on_step=keep,
    )
    return trained.weights, trained.epochs


def train(
    corpus: Corpus,
    sizes: Sizes,
    *,
    config: TrainConfig,
    device: str = "cpu",
    resume: dict[str, Tensor] | None = None,
    on_step: Callable[[Epoch, dict[str, Tensor]], None] | None = None,
) -> Trained:
    """Train our network and return the weights with the best held-out reconstruction.

    `on_step` gets every epoch's record and a state; training resumed from it gives the same weights.
    """
    place = torch.device(device)
    if corpus.held_out.all():
        raise ConfigError("all skeletons are held out, none is left to train on; draw more")
    data = _Data(corpus, config, place)
    with torch.random.fork_rng(devices=[place] if place.type == "cuda" else []):
        torch.manual_seed(config.seed)
        model = GrammarVAE(sizes).to(place)
    optimiser = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, weight_decay=1e-4)
    noise = torch.Generator(device=place).manual_seed(config.seed + 1)
    progress = _TrainingState(model, optimiser, noise)
    if resume:
        progress.restore(resume)
    spent = progress.records[-1].seconds if progress.records else 0.0
    start = time.perf_counter() - spent
    for number in range(progress.epoch, config.epochs):
        record = _epoch(model, data, optimiser, noise, config, number, start)
        progress.keep(record)
        if on_step:
            on_step(record, progress.state())
        late = number - progress.best_epoch >= config.patience and number > config.warm_up * config.epochs
        if late or time.perf_counter() - start > config.max_seconds or progress.best >= config.enough:
            break
    weights = {k: v.cpu().numpy() for k, v in progress.best_weights.items() if not k.startswith("behaviour")}
    return Trained(weights, tuple(progress.records), progress.state())


class _Data:
    """The corpus on the device, time first, split into training and held-out parts."""

    def __init__(self, corpus: Corpus, config: TrainConfig, device: torch.device) -> None:
        n, steps = corpus.rules.shape
        held = np.flatnonzero(corpus.held_out)[: config.held_out]
        self.held = torch.as_tensor(held, device=device)
        self.train = torch.as_tensor(np.flatnonzero(~corpus.held_out), device=device)
        self.train_lengths = corpus.lengths[~corpus.held_out]
        n_rules = corpus.allowed.shape[1]
        back = np.full_like(corpus.rules, n_rules)
        for i, length in enumerate(corpus.lengths):
            back[i, :length] = corpus.rules[i, :length][::-1]
        before = np.hstack([np.full((n, 1), n_rules), corpus.rules[:, :-1]])
        valid = np.arange(steps)[None, :] < corpus.lengths[:, None]
        encoder_rules = np.where(valid, corpus.rules, n_rules)

        def put(x: Int | Bool) -> Tensor:
            return torch.as_tensor(np.ascontiguousarray(x), device=device)

        self.rules, self.back = put(encoder_rules), put(back)
        self.before, self.heads = put(np.where(valid, before, n_rules)), put(corpus.heads)
        self.target = put(np.where(valid, corpus.rules, 0))
        self.valid, self.lengths = put(valid), put(corpus.lengths)
        self.allowed = put(corpus.allowed)
        self.behaviour = torch.as_tensor(corpus.behaviour, dtype=torch.float32, device=device)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, int]]:
        """Yield the rows of each batch and its longest length; batches hold sequences of similar length."""
        order = rng.permutation(len(self.train))
        block = size * BATCHES_SORTED
        parts = [order[i : i + block] for i in range(0, len(order), block)]
        parts = [part[np.argsort(self.train_lengths[part], kind="stable")] for part in parts]
        batches = [part[i : i + size] for part in parts for i in range(0, len(part), size)]
        for i in rng.permutation(len(batches)):
            yield (
                self.train[torch.as_tensor(batches[i]).to(self.train.device)],
                int(self.train_lengths[batches[i]].max()),
            )


def _masked_logits(model: GrammarVAE, data: _Data, rows: Tensor, z: Tensor, steps: int) -> Tensor:
    heads = data.heads[rows, :steps].T
    logits = model.decode(z, data.before[rows, :steps].T, heads)
    return logits.masked_fill(~data.allowed[heads], -1e9)


def _losses(
    model: GrammarVAE, data: _Data, rows: Tensor, steps: int, noise: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Return reconstruction, KL divergence and behavioural error, each per sequence."""
    mean, logvar = model.encode(data.rules[rows, :steps].T, data.back[rows, :steps].T, data.lengths[rows])
    eps = torch.randn(mean.shape, generator=noise, device=mean.device)
    z = mean + eps * torch.exp(0.5 * logvar)
    logits = _masked_logits(model, data, rows, z, steps)
    target, valid = data.target[rows, :steps].T, data.valid[rows, :steps].T
    entropy = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    reconstruction = (entropy * valid.flatten()).sum() / len(rows)
    kl = 0.5 * (mean**2 + logvar.exp() - 1 - logvar).sum() / len(rows)
    if data.behaviour.numel():
        wrong = ((model.behaviour(mean) - data.behaviour[rows]) ** 2).sum() / len(rows)
    else:
        wrong = torch.zeros((), device=mean.device)
    return reconstruction, kl, wrong


def _exact_share(model: GrammarVAE, data: _Data, rows: Tensor) -> float:
    """Return the share of sequences that the most likely rule at each step reproduces from their mean."""
    right = 0
    with torch.no_grad():
        for part in rows.split(2000):
            mean, _ = model.encode(data.rules[part].T, data.back[part].T, data.lengths[part])
            logits = _masked_logits(model, data, part, mean, data.rules.shape[1])
            hit = (logits.argmax(2) == data.target[part].T) | ~data.valid[part].T
            right += int(hit.all(0).sum())
    return right / max(len(rows), 1)


def _epoch(
    model: GrammarVAE,
    data: _Data,
    optimiser: torch.optim.Optimizer,
    noise: torch.Generator,
    config: TrainConfig,
    number: int,
    start: float,
) -> Epoch:
    """Train for one epoch; return its record."""
    rng = np.random.default_rng([config.seed, number])
    share = number / config.epochs
    for group in optimiser.param_groups:
        group["lr"] = config.learning_rate * max(0.5 * (1 + math.cos(math.pi * share)), 0.01)
    kl_weight = config.kl_weight * min(1.0, (number + 1) / (config.warm_up * config.epochs + 1))
    totals = torch.zeros(3, device=data.rules.device)
    count = 0
    for rows, steps in data.batches(config.batch, rng):
        reconstruction, kl, wrong = _losses(model, data, rows, steps, noise)
        loss = reconstruction + kl_weight * kl + config.behaviour_weight * wrong
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        totals += torch.stack([loss.detach(), reconstruction.detach(), kl.detach()])
        count += 1
    loss_, reconstruction_, kl_ = (totals / count).tolist()
    exact = _exact_share(model, data, data.held)
    return Epoch(number, loss_, reconstruction_, kl_, exact, time.perf_counter() - start)


class _TrainingState:
    """The state of a training, from which it can be resumed."""

    def __init__(self, model: nn.Module, optimiser: torch.optim.Optimizer, noise: torch.Generator) -> None:
        self.model, self.optimiser, self.noise = model, optimiser, noise
        self.epoch, self.best, self.best_epoch, self.best_loss = 0, -1.0, 0, math.inf
        self.best_weights: dict[str, Tensor] = {}
        self.records: list[Epoch] = []

    def keep(self, record: Epoch) -> None:
        self.records.append(record)
        self.epoch = record.number + 1
        if (record.exact, -record.loss) > (self.best, -self.best_loss):
            self.best_epoch = record.number if record.exact > self.best else self.best_epoch
            self.best, self.best_loss = record.exact, record.loss
            self.best_weights = {k: v.detach().clone() for k, v in self.model.state_dict().items()}

    def state(self) -> dict[str, Tensor]:
        """Return everything as tensors, so that it can be stored without pickle."""
        out = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        out |= {f"best.{k}": v for k, v in self.best_weights.items()}
        names = [name for name, _ in self.model.named_parameters()]
        for name, slot in zip(names, self.optimiser.state_dict()["state"].values(), strict=False):
            out |= {f"optimiser.{name}.{k}": torch.as_tensor(v) for k, v in slot.items()}
        out["noise"] = self.noise.get_state()
        rows = [[e.number, e.loss, e.reconstruction, e.kl, e.exact, e.seconds] for e in self.records]
        out["records"] = torch.tensor(rows, dtype=torch.float64).reshape(-1, 6)
        return out

    def restore(self, state: dict[str, Tensor]) -> None:
        pick = {p: {k[len(p) :]: v for k, v in state.items() if k.startswith(p)} for p in ("model.", "best.")}
        self.model.load_state_dict(pick["model."])
        slots = {}
        for i, (name, parameter) in enumerate(self.model.named_parameters()):
            prefix = f"optimiser.{name}."
            slot = {k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)}
            slots[i] = {k: v.to(parameter.device) if k != "step" else v for k, v in slot.items()}
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": slots})
        self.noise.set_state(state["noise"].cpu())
        for number, *rest in state["records"].tolist():
            self.records.append(Epoch(int(number), *rest))
        best = max(self.records, key=lambda e: (e.exact, -e.loss))
        first = next(e for e in self.records if e.exact == best.exact)
        self.best, self.best_epoch, self.best_loss = best.exact, first.number, best.loss
        self.epoch = self.records[-1].number + 1
        self.best_weights = {k: v.to(next(self.model.parameters()).device) for k, v in pick["best."].items()}


def _write_state(path: Path, state: dict[str, Tensor]) -> None:
    """Write a state atomically."""
    with replacing(path) as draft:
        save_file({k: v.detach().cpu().contiguous().clone() for k, v in state.items()}, draft)


def _read_state(path: Path) -> dict[str, Tensor]:
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
