"""The trained networks in NumPy: encoding, and decoding that can only write sentences of the grammar."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gode.arrays import Bool, Int
from gode.model.plan import Plan

Single = NDArray[np.float32]
Weights = dict[str, Single]
Pick = Callable[[Single, Bool], Int]  # logits and the rules allowed -> one rule per row


class Network(Protocol):
    """What a trained model can do; sequences are padded with the number of rules."""

    latent: int

    def encode(self, rules: Int, lengths: Int) -> Single:
        """Return the means (n, latent) of some sequences."""

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points; every one is closed within the limit."""


@dataclass(frozen=True)
class Recurrent:
    """A GRU layer of torch's weights, arranged for few passes over memory.

    A sigmoid is 0.5 + 0.5 tanh(x/2); the halves are taken into the weights beforehand, and so is every
    bias that can be.
    """

    weight: Single  # (size, 3 size): reset, update, new; halved
    bias: Single  # of the new part; halved
    into: Single  # (inputs, 3 size), reset and update halved
    into_bias: Single

    @classmethod
    def of(cls, w: Weights, name: str, suffix: str) -> "Recurrent":
        """Return the layer called `name` with a `suffix` such as _l0."""
        into, weight = w[f"{name}.weight_ih{suffix}"].T, w[f"{name}.weight_hh{suffix}"].T
        into_bias, bias = w[f"{name}.bias_ih{suffix}"], w[f"{name}.bias_hh{suffix}"]
        gates = 2 * len(weight)
        scale = np.where(np.arange(3 * len(weight)) < gates, 0.5, 1.0).astype(np.float32)
        early = np.append(bias[:gates], np.zeros_like(bias[gates:]))
        return cls(
            np.multiply(weight, 0.5, order="C"),
            0.5 * bias[gates:],
            np.multiply(into, scale, order="C"),
            (into_bias + early) * scale,
        )

    def step(self, gates: Single, hidden: Single) -> Single:
        """Return the next hidden state; `gates` = input @ into + into_bias is overwritten."""
        size = hidden.shape[1]
        inner = hidden @ self.weight
        both, new = gates[:, : 2 * size], inner[:, 2 * size :]
        both += inner[:, : 2 * size]
        np.tanh(both, out=both)
        both += 1.0
        new += self.bias
        new *= both[:, :size]
        new += gates[:, 2 * size :]
        np.tanh(new, out=new)
        after = hidden - new
        after *= both[:, size:]
        after *= 0.5
        after += new
        return after


@dataclass
class Machine:
    """The open symbols of many half-written sentences, and what each may still spend."""

    plan: Plan
    stack: Int  # (n, limit)
    size: Int
    spare: Int

    @classmethod
    def fresh(cls, plan: Plan, n: int) -> "Machine":
        """Return `n` sentences of which nothing is written."""
        opens, _ = plan.start
        stack = np.zeros((n, plan.grammar.limit + 1), np.int64)
        stack[:, : len(opens)] = opens[::-1]
        return cls(plan, stack, np.full(n, len(opens)), np.full(n, plan.spare))

    def heads(self) -> Int:
        """Return the symbol that each sentence replaces next."""
        return np.asarray(self.stack[np.arange(len(self.size)), self.size - 1])

    def allowed(self, heads: Int) -> Bool:
        """Return which rules leave each sentence closable."""
        return np.asarray(self.plan.least[heads] <= self.spare[:, None])

    def apply(self, rules: Int) -> None:
        """Replace the next symbol of each sentence by what its rule says."""
        table, counts = self.plan.open_table
        self.spare -= self.plan.need[rules]
        self.size -= 1
        count = counts[rules]
        for k in range(int(count.max(initial=0))):
            more = np.flatnonzero(count > k)
            self.stack[more, self.size[more] + k] = table[rules[more], k]
        self.size += count

    def keep(self, rows: Int) -> None:
        """Forget the sentences that are not among `rows`."""
        self.stack, self.size, self.spare = self.stack[rows], self.size[rows], self.spare[rows]


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
    """Our network; see `gode.model.gvae.GrammarVAE`."""

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
            self.decoder.into, [rule.shape[1], rule.shape[1] + head.shape[1]]
        )
        # (rules + 1, heads, gates): what the rule before and the symbol to replace add
        self.rule_gates = (rule @ by_rule + self.decoder.into_bias)[:, None] + (head @ by_head)[None]
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
        hidden = np.zeros((len(rules), len(layer.weight)), np.float32)
        for step in range(int(lengths[0]) if len(lengths) else 0):
            n = int(np.searchsorted(-lengths, -step))  # those longer than `step`
            hidden[:n] = layer.step(gates[rules[:n, step]], hidden[:n])
        return hidden

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points."""
        n = len(z)
        out = np.full((n, plan.grammar.limit), self.n_rules)
        lengths = np.zeros(n, np.int64)
        machine = Machine.fresh(plan, n)
        rows = np.arange(n)
        fixed = z @ self.latent_gates
        hidden = np.tanh(z @ self.first[0] + self.first[1])
        before = np.full(n, self.n_rules)
        for step in range(plan.grammar.limit):
            if not machine.size.all():
                alive = np.flatnonzero(machine.size)
                machine.keep(alive)
                rows, fixed, hidden, before = rows[alive], fixed[alive], hidden[alive], before[alive]
            if not len(rows):
                break
            heads = machine.heads()
            gates = self.rule_gates[before, heads]
            gates += fixed
            hidden = self.decoder.step(gates, hidden)
            before = pick(hidden @ self.out[0] + self.out[1], machine.allowed(heads))
            machine.apply(before)
            out[rows, step] = before
            lengths[rows] = step + 1
        return out, lengths


class PaperNetwork:
    """The paper's network; see `gode.model.gvae.PaperVAE`. Its sequences hold every rule."""

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
        gates = x @ layer.into + layer.into_bias
        hidden = np.zeros((x.shape[1], len(layer.weight)), np.float32)
        out = np.empty((*x.shape[:2], len(layer.weight)), np.float32)
        for i in range(len(x)):
            hidden = layer.step(gates[i], hidden)
            out[i] = hidden
        return out

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points."""
        n, limit = len(z), plan.grammar.limit
        logits = self.logits(z, limit)[:, :, : self.n_rules]
        out = np.full((n, limit), self.n_rules)
        lengths = np.zeros(n, np.int64)
        machine = Machine.fresh(plan, n)
        rows = np.arange(n)
        for step in range(limit):
            alive = np.flatnonzero(machine.size)
            machine.keep(alive)
            rows = rows[alive]
            if not len(rows):
                break
            rules = pick(logits[rows, step], machine.allowed(machine.heads()))
            machine.apply(rules)
            out[rows, step] = rules
            lengths[rows] = step + 1
        return out, lengths
