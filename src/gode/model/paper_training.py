"""The paper's training: binary cross-entropy and KL divergence, Adam, a plateau schedule (torch).

On a GPU, a step of the optimiser is recorded once and replayed, since the single operations take less time
than asking for them; the numbers are those of the same steps done one by one.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from gode.arrays import Int
from gode.errors import FileError
from gode.model.gvae import PaperSizes, PaperVAE
from gode.model.training import Epoch, Trained

State = dict[str, Tensor]
WARM_UP = 3  # steps before one is recorded, in which torch makes its choices
ALONE = threading.Lock()  # threads may train several networks, but must neither seed torch nor record at once


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
    max_seconds: float = math.inf  # of this call; what a resumed run took before does not count
    seed: int = 0


def train_paper(
    rules: Int,
    sizes: PaperSizes,
    *,
    config: PaperTrainConfig,
    device: str = "cpu",
    resume: State | None = None,
    on_step: Callable[[Epoch, Callable[[], State]], None] | None = None,
) -> Trained:
    """Train the paper's network on padded rules (n, n_max); return the weights of least validation loss.

    `on_step` gets every epoch's record and a function that returns a state from which `resume` goes on.
    """
    start, place = time.perf_counter(), torch.device(device)
    with _own_stream(place):
        training = _Training(rules, sizes, config, place)
        if resume:
            training.restore(resume)
        training.prepare()
        before = training.records[-1].seconds if training.records else 0.0
        while not training.is_over():
            loss, held_loss = training.epoch(len(training.records))
            seconds = time.perf_counter() - start
            training.keep(Epoch(len(training.records), loss, held_loss, 0.0, math.nan, before + seconds))
            if on_step:
                on_step(training.records[-1], training.state)
            if seconds > config.max_seconds:
                break
        weights = {k: v.cpu().numpy() for k, v in training.best_weights.items()}
        return Trained(weights, tuple(training.records), training.state())


class _Training:
    """A network under training, with everything that changes on the way."""

    def __init__(self, rules: Int, sizes: PaperSizes, config: PaperTrainConfig, place: torch.device) -> None:
        self.config, self.place, on_gpu = config, place, place.type == "cuda"
        with ALONE, torch.random.fork_rng(devices=[place] if on_gpu else []):
            torch.manual_seed(config.seed)
            self.model = PaperVAE(sizes).to(place)
        order = np.random.default_rng(config.seed).permutation(len(rules))
        cut = int(config.held_out * len(rules))
        self.held, self.kept = (
            nn.functional.one_hot(torch.as_tensor(rules[part], device=place), sizes.n_rules).float()
            for part in (order[:cut], order[cut:])
        )
        self.rate = torch.tensor(config.learning_rate, device=place) if on_gpu else config.learning_rate
        self.optimiser = torch.optim.Adam(
            self.model.parameters(), lr=self.rate, capturable=on_gpu, fused=on_gpu or None
        )
        self.schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.optimiser, factor=config.factor, patience=config.patience, min_lr=config.lowest_rate
        )
        self._fill_optimiser()
        self.noise = torch.Generator(device=place).manual_seed(config.seed + 1)
        self.total, self.held_loss = torch.zeros(2, device=place)
        self.step: Callable[..., None] = self._step
        self.validate: Callable[..., None] = self._validate
        self.records: list[Epoch] = []
        self.best, self.best_epoch = math.inf, 0
        self.best_weights = {k: v.clone() for k, v in self.model.state_dict().items()}

    def prepare(self) -> None:
        """On a GPU, record a step and a validation, to replay them from now on."""
        if self.place.type == "cuda":
            self.record(recorded)

    def record(self, recorder: Callable[..., Callable[..., None]]) -> None:
        """Replace step and validation by recordings, which read their inputs from one place."""
        n, latent = min(self.config.batch, len(self.kept)), self.model.sizes.latent
        rows, eps = torch.arange(n, device=self.place), torch.zeros(n, latent, device=self.place)
        changed = [*self.model.parameters(), self.total, self.held_loss]
        changed += [value for slot in self.optimiser.state.values() for value in slot.values()]
        self.step = recorder(self._step, (rows, eps), changed)
        eps = torch.zeros(len(self.held), latent, device=self.place)
        self.validate = recorder(self._validate, (eps,), changed)

    def is_over(self) -> bool:
        """Return whether the stopping rule is met."""
        last = len(self.records) - 1
        return last - self.best_epoch >= self.config.stop_after or last + 1 >= self.config.epochs

    def epoch(self, number: int) -> tuple[float, float]:
        """Go once through the training part; return the mean loss there and the loss on the held-out part."""
        n, batch = len(self.kept), self.config.batch
        rng = np.random.default_rng([self.config.seed, number])
        order = torch.as_tensor(rng.permutation(n), device=self.place)
        shape = n + len(self.held), self.model.sizes.latent
        eps = torch.randn(shape, generator=self.noise, device=self.place)
        self.total.zero_()
        for i in range(0, n, batch):
            end = min(i + batch, n)
            (self.step if end - i == min(batch, n) else self._step)(order[i:end], eps[i:end])
        self.validate(eps[n:])
        total, held_loss = torch.stack([self.total, self.held_loss]).tolist()
        self._schedule(held_loss)
        return total / math.ceil(n / batch), held_loss

    def keep(self, record: Epoch) -> None:
        """Note an epoch, and the weights if it is the best one."""
        self.records.append(record)
        if record.reconstruction < self.best:
            self.best, self.best_epoch = record.reconstruction, record.number
            for name, value in self.model.state_dict().items():
                self.best_weights[name].copy_(value)

    def state(self) -> State:
        """Return everything as tensors, so that it can be stored without pickle."""
        out = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        out |= {f"best.{k}": v for k, v in self.best_weights.items()}
        for name, slot in self._slots():
            out |= {f"optimiser.{name}.{k}": v for k, v in slot.items()}
        schedule = self.schedule
        numbers = [float(self.rate), schedule.best, schedule.num_bad_epochs, schedule.last_epoch]
        out["schedule"] = torch.tensor(numbers, dtype=torch.float64)
        out["noise"] = self.noise.get_state()
        rows = [[e.number, e.loss, e.reconstruction, e.seconds] for e in self.records]
        out["records"] = torch.tensor(rows, dtype=torch.float64).reshape(-1, 4)
        return {k: v.detach().cpu().clone() for k, v in out.items()}

    def restore(self, state: State) -> None:
        """Go back to a state.

        Raises:
            FileError: if it is that of another network.
        """
        mine = self.state()
        if {k: v.shape for k, v in state.items() if k != "records"} != {
            k: v.shape for k, v in mine.items() if k != "records"
        }:
            raise FileError("the state is that of another network; delete it to start anew")
        self.model.load_state_dict({k: state[f"model.{k}"] for k in self.model.state_dict()})
        self.best_weights = {k: state[f"best.{k}"].to(self.place) for k in self.best_weights}
        for name, slot in self._slots():
            for k, value in slot.items():
                value.copy_(state[f"optimiser.{name}.{k}"])
        rate, self.schedule.best, bad, last = state["schedule"].tolist()
        self.schedule.num_bad_epochs, self.schedule.last_epoch = int(bad), int(last)
        self._set_rate(rate)
        self.noise.set_state(state["noise"].cpu())
        self.records = [
            Epoch(int(n), loss, held, 0.0, math.nan, s) for n, loss, held, s in state["records"].tolist()
        ]
        best = min(self.records, key=lambda e: e.reconstruction)
        self.best, self.best_epoch = best.reconstruction, best.number

    def _step(self, rows: Tensor, eps: Tensor) -> None:
        """Improve the network on some rows."""
        loss = self._loss(self.kept[rows], eps)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        self.total += loss.detach()

    def _validate(self, eps: Tensor) -> None:
        with torch.no_grad():
            self.held_loss.copy_(self._loss(self.held, eps))

    def _loss(self, one_hot: Tensor, eps: Tensor) -> Tensor:
        """Return the loss of eq. 3."""
        mean, logvar = self.model.encode(one_hot)
        logits = self.model.decode(mean + self.config.noise * eps * torch.exp(0.5 * logvar))
        cross = nn.functional.binary_cross_entropy_with_logits(logits, one_hot)
        kl = -0.5 * torch.mean(1 + logvar - mean**2 - logvar.exp())
        return cross + self.config.kl_weight * kl

    def _schedule(self, held_loss: float) -> None:
        self.schedule.step(held_loss)
        self._set_rate(float(self.optimiser.param_groups[0]["lr"]))

    def _set_rate(self, rate: float) -> None:
        """Set the learning rate; a recorded step reads it where it always was."""
        if isinstance(self.rate, Tensor):
            self.rate.fill_(rate)
        else:
            self.rate = rate
        self.optimiser.param_groups[0]["lr"] = self.rate

    def _slots(self) -> list[tuple[str, dict[str, Tensor]]]:
        return [(name, self.optimiser.state[p]) for name, p in self.model.named_parameters()]

    def _fill_optimiser(self) -> None:
        """Give Adam its zeros now: made within a recorded step, they would be zeros at every replay."""
        for p in self.model.parameters():
            step = torch.zeros((), device=p.device)
            self.optimiser.state[p] = {
                "step": step,
                "exp_avg": torch.zeros_like(p),
                "exp_avg_sq": torch.zeros_like(p),
            }


def recorded(
    function: Callable[..., None], inputs: tuple[Tensor, ...], changed: Sequence[Tensor]
) -> Callable[..., None]:
    """Return `function` as a CUDA graph that reads tensors of the shapes of `inputs`.

    The function runs a few times beforehand; what it has `changed` is then put back.
    """
    stream = torch.cuda.current_stream()
    with ALONE:
        before = [value.detach().clone() for value in changed]
        for _ in range(WARM_UP):
            function(*inputs)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            function(*inputs)
        with torch.no_grad():
            for value, old in zip(changed, before, strict=True):
                value.copy_(old)
        stream.synchronize()

    def replay(*given: Tensor) -> None:
        for place, value in zip(inputs, given, strict=True):
            place.copy_(value)
        graph.replay()

    return replay


def _own_stream(place: torch.device) -> AbstractContextManager[object]:
    return torch.cuda.stream(torch.cuda.Stream(place)) if place.type == "cuda" else nullcontext()
