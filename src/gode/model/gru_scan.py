"""Bidirectional GRU layers on a GPU, one kernel for a whole sequence (torch).

The paper's decoder has 80 units and up to 70 steps: as single operations, the GPU waits for most of the time.
`gru_scan.cu` runs all steps of a layer at once; what is left, products with whole sequences, is torch's.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import torch
from torch import Tensor, nn

ROWS, STAGES = 8, 4  # as in gru_scan.cu
WIDEST = 80  # units: wider weights do not fit a block's registers
BYTES = 4


class Scan(Protocol):
    """The steps of one layer, both directions; shapes as in `gru_scan.cu`."""

    def forward(self, gates: Tensor, weight: Tensor, bias: Tensor, n_steps: int) -> tuple[Tensor, Tensor]:
        """Return the states and what the backward pass needs of them; `gates` may hold one step for all."""

    def backward(
        self, slope: Tensor, out: Tensor, saved: Tensor, weight: Tensor, *, repeated: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the derivatives by the gates, by what the recurrent weights added to them, and by the bias.

        If the gates were `repeated`, those by the gates are those of all steps together.
        """


class CudaScan:
    """The steps as kernels for `hidden` units, compiled for the GPU at hand."""

    def __init__(self, hidden: int, compiler: Callable[..., Any]) -> None:
        source = (files("gode.model") / "gru_scan.cu").read_text()
        self.hidden = hidden
        self._forward, self._backward = (
            compiler(source, name, nvcc_options=[f"-DH={hidden}"]) for name in ("gru_forward", "gru_backward")
        )
        self._read, self._past = (
            STAGES * ROWS * (parts * hidden + 4) * BYTES for parts in (3, 6)
        )  # shared memory
        self._backward.set_shared_memory_config(self._past)

    def forward(self, gates: Tensor, weight: Tensor, bias: Tensor, n_steps: int) -> tuple[Tensor, Tensor]:
        """Return states and what to save; see `Scan`."""
        batch = gates.shape[1]
        out = gates.new_empty(n_steps, batch, 2 * self.hidden)
        saved = gates.new_empty(n_steps, batch, 2, 4 * self.hidden)
        tensors = [gates.contiguous(), weight.contiguous(), bias.contiguous(), out, saved]
        self._launch(self._forward, [*tensors, n_steps, batch, int(len(gates) == 1)], batch, self._read)
        return out, saved

    def backward(
        self, slope: Tensor, out: Tensor, saved: Tensor, weight: Tensor, *, repeated: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the derivatives; see `Scan`."""
        n_steps, batch = out.shape[:2]
        inner = out.new_empty(n_steps, batch, 2, 3 * self.hidden)
        slopes = inner if repeated else torch.empty_like(inner)
        total = out.new_empty(1, batch, 2, 3 * self.hidden)
        sums = out.new_empty(-(-batch // ROWS), 2, 4 * self.hidden)
        tensors = [slope.contiguous(), out, saved, weight.contiguous(), slopes, inner, total, sums]
        self._launch(self._backward, [*tensors, n_steps, batch], batch, self._past)
        return total if repeated else slopes, inner, sums.sum(0)

    def _launch(self, kernel: Callable[..., None], args: list[Tensor | int], batch: int, shared: int) -> None:
        blocks = -(-batch // ROWS)
        kernel(grid=(blocks, 2, 1), block=(2 * self.hidden, 1, 1), args=args, shared_mem=shared)


@cache
def cuda_scan(hidden: int) -> CudaScan | None:
    """Return the kernels for `hidden` units, or None where this torch or this size has none."""
    compiler = getattr(torch.cuda, "_compile_kernel", None)
    fits = hidden % 16 == 0 and hidden <= WIDEST
    return CudaScan(hidden, compiler) if compiler and fits and torch.cuda.is_available() else None


class _Layer(torch.autograd.Function):
    """gates (time or 1, batch, 2, 3 hidden), weight, bias -> states (time, batch, 2 hidden)."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor, bias: Tensor, n_steps: int, scan: Scan) -> Tensor:
        """Run the steps."""
        out, saved = scan.forward(gates, weight, bias, n_steps)
        ctx.save_for_backward(out, saved, weight)
        ctx.scan, ctx.repeated = scan, len(gates) == 1
        return out

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        """Return the derivatives by gates, weight and bias."""
        out, saved, weight = ctx.saved_tensors
        slopes, inner, by_bias = ctx.scan.backward(slope, out, saved, weight, repeated=ctx.repeated)
        ahead, back = out.split(weight.shape[2], dim=2)
        by_weight = torch.stack([_product(inner[1:, :, 0], ahead[:-1]), _product(inner[:-1, :, 1], back[1:])])
        return slopes, by_weight, by_bias, None, None


def repeated_gru(gru: nn.GRU, x: Tensor, n_steps: int, scan: Scan) -> Tensor:
    """Return the states (time, batch, 2 hidden) of `gru`, whose every step reads `x` (batch, inputs)."""
    x = x[None]
    for layer in range(gru.num_layers):
        into, weight, into_bias, bias = (
            torch.stack([getattr(gru, f"{part}_l{layer}{way}") for way in ("", "_reverse")])
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        two = 2 * gru.hidden_size  # reset and update, whose two biases are but one
        biases = torch.cat([into_bias[:, :two] + bias[:, :two], into_bias[:, two:], bias[:, two:]], dim=1)
        gates = nn.functional.linear(x, into.flatten(0, 1))
        x = _run(gates.view(*gates.shape[:2], 2, -1), weight, biases, n_steps, scan)
    return x


def _run(gates: Tensor, weight: Tensor, bias: Tensor, n_steps: int, scan: Scan) -> Tensor:
    states: Tensor = _Layer.apply(gates, weight, bias, n_steps, scan)  # type: ignore[no-untyped-call]
    return states


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Return the product of two sequences, summed over time and batch."""
    return a.flatten(0, 1).T @ b.flatten(0, 1)
