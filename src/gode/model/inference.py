"""The trained networks in NumPy: encoding, and decoding that can only write sentences of the grammar.

Names and shapes of the weights are checked before a file from elsewhere is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gode.arrays import Bool, Int
from gode.errors import ModelError
from gode.model.choices import Plan

Single = NDArray[np.float32]
Weights = dict[str, Single]
Pick = Callable[[Single, Bool], Int]  # logits and the rules allowed -> one rule per row
Shape = tuple[int, ...]

# The tensors from which the free sizes of a network are read, with the axis that holds each.
SIZE_TENSORS = {
    "gode": {
        "latent": ("first.weight", 1),
        "rule_width": ("rule.weight", 1),
        "head_width": ("head.weight", 1),
        "encoder": ("forward_gru.weight_hh_l0", 1),
        "decoder": ("out.weight", 1),
    },
    "paper": {
        "latent": ("mean.bias", 0),
        "dense": ("dense.bias", 0),
        "hidden": ("gru.weight_hh_l0", 1),
        "first_kernel": ("convolutions.0.bias", 0),
        "second_kernel": ("convolutions.1.bias", 0),
        "third_kernel": ("convolutions.2.bias", 0),
    },
}


class Network(Protocol):
    """What a trained model can do; sequences are padded with the number of rules."""

    latent: int

    def encode(self, rules: Int, lengths: Int) -> Single:
        """Return the means (n, latent) of some sequences."""

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points; every one is closed within the limit."""


@dataclass(frozen=True)
class Recurrent:
    """A GRU layer of torch's weights, arranged for few passes over memory: reset, update and new apart.

    A sigmoid is 0.5 + 0.5 tanh(x/2); the halves are taken into the weights beforehand, and so is every
    bias that can be.
    """

    weight: Single  # (3, size, size): reset, update, new; halved
    bias: Single  # of the new part; halved
    into: Single  # (3, inputs, size), reset and update halved
    into_bias: Single  # (3, 1, size)

    @classmethod
    def of(cls, w: Weights, name: str, suffix: str) -> "Recurrent":
        """Return the layer called `name` with a `suffix` such as _l0."""
        into, weight, into_bias, bias = (
            w[f"{name}.{part}{suffix}"].reshape(3, -1, *w[f"{name}.{part}{suffix}"].shape[1:])
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        scale = np.array([0.5, 0.5, 1.0], np.float32)[:, None]
        early = np.append(bias[:2], np.zeros_like(bias[2:]), axis=0)
        return cls(
            np.multiply(weight.transpose(0, 2, 1), 0.5, order="C"),
            0.5 * bias[2],
            np.multiply(into.transpose(0, 2, 1), scale[:, None], order="C"),
            ((into_bias + early) * scale)[:, None],
        )

    def step(self, gates: Single, hidden: Single) -> None:
        """Advance the states (n, size) by `gates` (3, n, size) = input @ into + into_bias, then overwritten.

        With r = 1 + tanh and z = tanh, of halves: n = tanh(gates + inner r), h = ((h + n) + (h - n) z) / 2.
        """
        inner = np.matmul(hidden, self.weight)
        both, new, (reset, update, given) = gates[:2], inner[2], gates
        both += inner[:2]
        np.tanh(both, out=both)
        reset += 1.0
        new += self.bias
        new *= reset
        new += given
        np.tanh(new, out=new)
        np.subtract(hidden, new, out=reset)
        reset *= update
        hidden += new
        hidden += reset
        hidden *= 0.5


@dataclass
class Machine:
    """The open symbols of many half-written sentences, and what each may still spend."""

    plan: Plan
    stack: Int  # (n, most symbols)
    size: Int
    spare: Int
    start: Int  # where in the flattened stack each begins

    @classmethod
    def fresh(cls, plan: Plan, n: int) -> "Machine":
        """Return `n` sentences of which nothing is written."""
        opens, _ = plan.start
        width = plan.grammar.limit + 1 + plan.open_table[0].shape[1]
        stack = np.zeros((n, width), np.int64)
        stack[:, : len(opens)] = opens[::-1]
        return cls(plan, stack, np.full(n, len(opens)), np.full(n, plan.spare), np.arange(n) * width)

    def heads(self) -> Int:
        """Return the symbol that each sentence replaces next."""
        return np.asarray(self.stack.reshape(-1).take(self.start + self.size - 1))

    def allowed(self, heads: Int) -> Bool:
        """Return which rules leave each sentence closable."""
        return np.asarray(self.plan.fitting.take(heads * (self.plan.spare + 1) + self.spare, axis=0))

    def apply(self, rules: Int) -> None:
        """Replace the next symbol of each sentence by what its rule says."""
        table, counts = self.plan.open_table
        flat, top = self.stack.reshape(-1), self.start + self.size - 1
        for k in range(table.shape[1]):  # what is written beyond the last symbol is never read
            flat[top + k] = table[:, k].take(rules)
        self.spare -= self.plan.need.take(rules)
        self.size += counts.take(rules) - 1

    def retire(self, *others: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Forget the closed sentences, here and in other arrays; open ones from the end take their places."""
        is_open = self.size > 0
        n = int(np.count_nonzero(is_open))
        if n == len(is_open):
            return others
        to, source = np.flatnonzero(~is_open[:n]), n + np.flatnonzero(is_open[n:])
        arrays = self.stack, self.size, self.spare, *others
        for array in arrays:
            array[to] = array[source]
        self.stack, self.size, self.spare = (array[:n] for array in arrays[:3])
        self.start = self.start[:n]
        return tuple(array[:n] for array in others)


def greedy(logits: Single, allowed: Bool) -> Int:
    """Pick the most likely allowed rule."""
    return np.asarray(np.where(allowed, logits, -np.inf).argmax(1))


def sampled(temperature: float, rng: np.random.Generator) -> Pick:
    """Return a pick that draws allowed rules at a temperature."""

    def pick(logits: Single, allowed: Bool) -> Int:
        noise = temperature * rng.gumbel(size=logits.shape)
        return np.asarray(np.where(allowed, logits + noise, -np.inf).argmax(1))

    return pick


class GrammarNetwork:
    """Our network; see `gode.model.training.GrammarVAE`."""

    def __init__(self, weights: Weights) -> None:
        w = {name: np.asarray(value, np.float32) for name, value in weights.items()}
        rule, head = w["rule.weight"], w["head.weight"]
        self.n_rules = len(rule) - 1
        self.latent = w["first.weight"].shape[1]
        layers = [Recurrent.of(w, name, "_l0") for name in ("forward_gru", "backward_gru")]
        self.readers = [(rule @ layer.into + layer.into_bias, layer) for layer in layers]
        self.posterior = w["posterior.weight"][: self.latent].T.copy(), w["posterior.bias"][: self.latent]
        self.first = w["first.weight"].T.copy(), w["first.bias"]
        self.decoder = Recurrent.of(w, "decoder_gru", "_l0")
        by_rule, by_head, self.latent_gates = np.split(
            self.decoder.into, [rule.shape[1], rule.shape[1] + head.shape[1]], axis=1
        )
        # (3, (rules + 1) * heads, size): what the rule before and the symbol to replace add
        pairs = (rule @ by_rule + self.decoder.into_bias)[:, :, None] + (head @ by_head)[:, None]
        self.rule_gates = pairs.reshape(3, -1, pairs.shape[3])
        self.n_heads = len(head)
        self.out = w["out.weight"].T.copy(), w["out.bias"]

    def encode(self, rules: Int, lengths: Int) -> Single:
        """Return the means of some sequences."""
        order = np.argsort(-lengths, kind="stable")
        rules, lengths = rules[order], lengths[order]
        place = lengths[:, None] - 1 - np.arange(rules.shape[1])[None, :]
        backward = np.take_along_axis(rules, np.maximum(place, 0), axis=1)
        ends = [
            self._read(x, lengths, *reader) for x, reader in zip((rules, backward), self.readers, strict=True)
        ]
        mean = np.hstack(ends) @ self.posterior[0] + self.posterior[1]
        out = np.empty_like(mean)
        out[order] = mean
        return out

    @staticmethod
    def _read(rules: Int, lengths: Int, gates: Single, layer: Recurrent) -> Single:
        """Run one recurrent layer over sequences sorted by falling length; return where each ends."""
        hidden = np.zeros((len(rules), len(layer.bias)), np.float32)
        for step in range(int(lengths[0]) if len(lengths) else 0):
            n = int(np.searchsorted(-lengths, -step))  # those longer than `step`
            layer.step(gates.take(rules[:n, step], axis=1), hidden[:n])
        return hidden

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points."""
        written = _Written(len(z), plan, self.n_rules)
        machine, rows, before = Machine.fresh(plan, len(z)), np.arange(len(z)), np.full(len(z), self.n_rules)
        fixed = np.matmul(z, self.latent_gates).swapaxes(0, 1)  # (n, 3, size)
        hidden = np.tanh(z @ self.first[0] + self.first[1])
        for step in range(plan.grammar.limit):
            rows, before, fixed, hidden = machine.retire(rows, before, fixed, hidden)
            if not len(rows):
                break
            heads = machine.heads()
            gates = self.rule_gates.take(before * self.n_heads + heads, axis=1)
            gates += fixed.swapaxes(0, 1)
            self.decoder.step(gates, hidden)
            before[:] = pick(hidden @ self.out[0] + self.out[1], machine.allowed(heads))
            machine.apply(before)
            written.put(step, rows, before)
        return written.rules, written.lengths


class _Written:
    """The rules written so far."""

    def __init__(self, n: int, plan: Plan, fill: int) -> None:
        self.rules = np.full((n, plan.grammar.limit), fill)
        self.lengths = np.zeros(n, np.int64)

    def put(self, step: int, rows: Int, rules: Int) -> None:
        """Write the rules of some rows at a step."""
        self.rules[rows, step] = rules
        self.lengths[rows] = step + 1


class PaperNetwork:
    """The paper's network; see `gode.paper.autoencoder_eq3.PaperVAE`. Its sequences hold every rule."""

    def __init__(self, weights: Weights) -> None:
        w = {name: np.asarray(value, np.float32) for name, value in weights.items()}
        self.w = w
        self.latent = len(w["mean.bias"])
        self.n_rules = len(w["out.bias"]) - 1
        self.layers = [[Recurrent.of(w, "gru", f"_l{i}{end}") for end in ("", "_reverse")] for i in range(3)]

    def encode(self, rules: Int, lengths: Int) -> Single:
        """Return the means of some sequences."""
        w = self.w
        x = np.eye(self.n_rules + 1, dtype=np.float32)[rules].transpose(0, 2, 1)
        for i in range(3):
            kernel, bias = w[f"convolutions.{i}.weight"], w[f"convolutions.{i}.bias"]
            windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2], axis=2)
            x = np.maximum(np.einsum("bctk,ock->bot", windows, kernel, optimize=True) + bias[:, None], 0)
        x = np.maximum(x.reshape(len(x), x.shape[1] * x.shape[2]) @ w["dense.weight"].T + w["dense.bias"], 0)
        return np.asarray(x @ w["mean.weight"].T + w["mean.bias"], np.float32)

    def logits(self, z: Single, n_steps: int) -> Single:
        """Return the logits (n, time, rules) of all steps at once."""
        w = self.w
        first = z @ w["first.weight"].T + w["first.bias"]
        elu = np.where(first > 0, first, np.expm1(np.minimum(first, 0))).astype(np.float32)
        x = np.repeat(elu[None], n_steps, axis=0)
        for ahead, back in self.layers:
            x = np.concatenate([self._run(x, ahead), self._run(x[::-1], back)[::-1]], axis=2)
        return np.asarray((x @ w["out.weight"].T + w["out.bias"]).transpose(1, 0, 2), np.float32)

    @staticmethod
    def _run(x: Single, layer: Recurrent) -> Single:
        """Return the hidden states (time, n, size) of one layer in one direction."""
        gates = x[:, None] @ layer.into + layer.into_bias
        hidden = np.zeros((x.shape[1], len(layer.bias)), np.float32)
        out = np.empty((*x.shape[:2], len(layer.bias)), np.float32)
        for i in range(len(x)):
            layer.step(gates[i], hidden)
            out[i] = hidden
        return out

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points."""
        limit = plan.grammar.limit
        logits = self.logits(z, limit)[:, :, : self.n_rules]
        written, machine, rows = (
            _Written(len(z), plan, self.n_rules),
            Machine.fresh(plan, len(z)),
            np.arange(len(z)),
        )
        for step in range(limit):
            (rows,) = machine.retire(rows)
            if not len(rows):
                break
            rules = pick(logits[rows, step], machine.allowed(machine.heads()))
            machine.apply(rules)
            written.put(step, rows, rules)
        return written.rules, written.lengths


def check_shapes(kind: str, found: Mapping[str, Shape], n_rules: int, n_heads: int, limit: int) -> None:
    """Check that tensors of these names and shapes form a network of `kind` for such a grammar.

    Raises:
        ModelError: if one is missing, left over or of another shape.
    """
    sizes = {size: _axis(found, *place) for size, place in SIZE_TENSORS[kind].items()}
    wanted = wanted_shapes(kind, sizes, n_rules, n_heads, limit)
    for name in sorted(wanted.keys() | found.keys()):
        if found.get(name) != wanted.get(name):
            raise ModelError(
                f"weight {name!r} should be {wanted.get(name, 'absent')}, "
                f"but is {found.get(name, 'absent')}; these are the weights of something else"
            )


def wanted_shapes(
    kind: str, sizes: Mapping[str, int], n_rules: int, n_heads: int, limit: int
) -> dict[str, Shape]:
    """Return the shapes of a network's weights by name; `sizes` are those named in `SIZE_TENSORS`."""
    return _gode(sizes, n_rules, n_heads) if kind == "gode" else _paper(sizes, n_rules, limit)


def _axis(found: Mapping[str, Shape], name: str, axis: int) -> int:
    shape = found.get(name, ())
    if len(shape) <= axis or not shape[axis]:
        raise ModelError(
            f"weight {name!r} is missing or empty, its shape is {shape}; "
            f"these are the weights of something else"
        )
    return shape[axis]


def _gode(sizes: Mapping[str, int], n_rules: int, n_heads: int) -> dict[str, Shape]:
    z, r, h, e, d = (sizes[k] for k in ("latent", "rule_width", "head_width", "encoder", "decoder"))
    return {
        "rule.weight": (n_rules + 1, r),
        "head.weight": (n_heads, h),
        **_gru("forward_gru", "_l0", r, e),
        **_gru("backward_gru", "_l0", r, e),
        **_linear("posterior", 2 * e, 2 * z),
        **_linear("first", z, d),
        **_gru("decoder_gru", "_l0", r + h + z, d),
        **_linear("out", d, n_rules),
    }


def _paper(sizes: Mapping[str, int], n_rules: int, limit: int) -> dict[str, Shape]:
    z, f, g = sizes["latent"], sizes["dense"], sizes["hidden"]
    kernels = [sizes[k] for k in ("first_kernel", "second_kernel", "third_kernel")]
    widths = [n_rules + 1, *kernels]
    wanted: dict[str, Shape] = {}
    for i, k in enumerate(kernels):
        wanted |= {f"convolutions.{i}.weight": (k, widths[i], k), f"convolutions.{i}.bias": (k,)}
    left = limit - sum(k - 1 for k in kernels)
    wanted |= _linear("dense", left * kernels[-1], f)
    wanted |= _linear("mean", f, z) | _linear("logvar", f, z) | _linear("first", z, z)
    for layer in range(3):
        for end in ("", "_reverse"):
            wanted |= _gru("gru", f"_l{layer}{end}", 2 * g if layer else z, g)
    return wanted | _linear("out", 2 * g, n_rules + 1)


def _linear(name: str, into: int, out: int) -> dict[str, Shape]:
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def _gru(name: str, suffix: str, into: int, size: int) -> dict[str, Shape]:
    return {
        f"{name}.weight_ih{suffix}": (3 * size, into),
        f"{name}.weight_hh{suffix}": (3 * size, size),
        f"{name}.bias_ih{suffix}": (3 * size,),
        f"{name}.bias_hh{suffix}": (3 * size,),
    }
