"""The trained networks in NumPy: encoding, and decoding that can only write sentences of the grammar."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gode.arrays import Bool, Float, Int
from gode.model.plan import NEVER, Plan

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


def gru_step(gates: Single, hidden: Single, weight: Single, bias: Single) -> Single:
    """Return the next hidden state; `gates` is what the input adds to the three gates."""
    inner = hidden @ weight + bias
    size = hidden.shape[1]
    both = _sigmoid(gates[:, : 2 * size] + inner[:, : 2 * size])
    reset, keep = both[:, :size], both[:, size:]
    new = np.tanh(gates[:, 2 * size :] + reset * inner[:, 2 * size :])
    return np.asarray(new + keep * (hidden - new), np.float32)


def _sigmoid(x: Single) -> Single:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x), np.float32)


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
        opens, cost = plan.start
        limit = plan.grammar.limit
        stack = np.zeros((n, limit + 1), np.int64)
        stack[:, : len(opens)] = opens[::-1]
        closing = int(sum(plan.closing[s] for s in opens))
        spare = np.full(n, limit - cost - closing)
        return cls(plan, stack, np.full(n, len(opens)), spare)

    def heads(self) -> Int:
        """Return the symbol that each sentence replaces next."""
        return np.asarray(self.stack[np.arange(len(self.size)), self.size - 1])

    def allowed(self, heads: Int) -> Bool:
        """Return which rules leave each sentence closable."""
        plan = self.plan
        return np.asarray(plan.allowed[heads] & (plan.need[None, :] <= self.spare[:, None]))

    def apply(self, rules: Int) -> None:
        """Replace the next symbol of each sentence by what its rule says."""
        table, counts = self.plan.open_table
        self.spare -= self.plan.need[rules]
        self.size -= 1
        rows = np.arange(len(rules))
        for k in range(table.shape[1]):
            more = counts[rules] > k
            self.stack[rows[more], self.size[more] + k] = table[rules[more], k]
        self.size += counts[rules]

    def keep(self, rows: Bool) -> None:
        """Forget the sentences that are not among `rows`."""
        self.stack, self.size, self.spare = self.stack[rows], self.size[rows], self.spare[rows]


def greedy(logits: Single, allowed: Bool) -> Int:
    """Pick the most likely allowed rule."""
    return np.asarray(np.where(allowed, logits, -np.inf).argmax(1))


def sampled(temperature: float, rng: np.random.Generator) -> Pick:
    """Return a pick that draws allowed rules at a temperature."""

    def pick(logits: Single, allowed: Bool) -> Int:
        noise = rng.gumbel(size=logits.shape)
        return np.asarray(np.where(allowed, logits / temperature + noise, -np.inf).argmax(1))

    return pick


class GrammarNetwork:
    """Our network; see `gode.model.gvae.GrammarVAE`."""

    def __init__(self, weights: Weights) -> None:
        w = {name: np.asarray(value, np.float32) for name, value in weights.items()}
        rule, head = w["rule.weight"], w["head.weight"]
        self.n_rules = len(rule) - 1
        self.latent = w["first.weight"].shape[1]
        self.readers = [self._reader(w, name, rule) for name in ("forward_gru", "backward_gru")]
        self.posterior = w["posterior.weight"][: self.latent].T.copy(), w["posterior.bias"][: self.latent]
        self.first = w["first.weight"].T.copy(), w["first.bias"]
        into = w["decoder_gru.weight_ih_l0"].T
        cut = rule.shape[1], rule.shape[1] + head.shape[1]
        self.rule_gates = rule @ into[: cut[0]] + w["decoder_gru.bias_ih_l0"]
        self.head_gates = head @ into[cut[0] : cut[1]]
        self.latent_gates = into[cut[1] :].copy()
        self.recurrent = w["decoder_gru.weight_hh_l0"].T.copy(), w["decoder_gru.bias_hh_l0"]
        self.out = w["out.weight"].T.copy(), w["out.bias"]

    @staticmethod
    def _reader(w: Weights, name: str, rule: Single) -> tuple[Single, Single, Single]:
        gates = rule @ w[f"{name}.weight_ih_l0"].T + w[f"{name}.bias_ih_l0"]
        return gates, w[f"{name}.weight_hh_l0"].T.copy(), w[f"{name}.bias_hh_l0"]

    def encode(self, rules: Int, lengths: Int) -> Single:
        """Return the means of some sequences."""
        order = np.argsort(-lengths, kind="stable")
        rules, lengths = rules[order], lengths[order]
        place = lengths[:, None] - 1 - np.arange(rules.shape[1])[None, :]
        backward = np.take_along_axis(rules, np.maximum(place, 0), axis=1)
        ends = [
            self._read(x, lengths, reader) for x, reader in zip((rules, backward), self.readers, strict=True)
        ]
        mean = np.hstack(ends) @ self.posterior[0] + self.posterior[1]
        out = np.empty_like(mean)
        out[order] = mean
        return out

    @staticmethod
    def _read(rules: Int, lengths: Int, reader: tuple[Single, Single, Single]) -> Single:
        """Run one recurrent layer over sequences sorted by falling length; return where each ends."""
        gates, weight, bias = reader
        hidden = np.zeros((len(rules), len(weight)), np.float32)
        for step in range(int(lengths[0]) if len(lengths) else 0):
            n = int(np.searchsorted(-lengths, -step))  # those longer than `step`
            hidden[:n] = gru_step(gates[rules[:n, step]], hidden[:n], weight, bias)
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
            alive = machine.size > 0
            if not alive.all():
                machine.keep(alive)
                rows, fixed, hidden, before = rows[alive], fixed[alive], hidden[alive], before[alive]
            if not len(rows):
                break
            heads = machine.heads()
            gates = self.rule_gates[before] + self.head_gates[heads] + fixed
            hidden = gru_step(gates, hidden, *self.recurrent)
            before = pick(hidden @ self.out[0] + self.out[1], machine.allowed(heads))
            machine.apply(before)
            out[rows, step] = before
            lengths[rows] = step + 1
        return out, lengths


class PaperNetwork:
    """The paper's network; see `gode.model.gvae.PaperVAE`. Its sequences hold every rule."""

    def __init__(self, weights: Weights) -> None:
        self.w = {name: np.asarray(value, np.float32) for name, value in weights.items()}
        self.latent = len(self.w["mean.bias"])
        self.n_rules = len(self.w["out.bias"]) - 1

    def encode(self, rules: Int, lengths: Int) -> Single:
        """Return the means of some sequences."""
        w = self.w
        x = np.eye(self.n_rules + 1, dtype=np.float32)[rules].transpose(0, 2, 1)
        for i in range(3):
            kernel, bias = w[f"convolutions.{i}.weight"], w[f"convolutions.{i}.bias"]
            windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2], axis=2)
            x = np.maximum(np.einsum("bctk,ock->bot", windows, kernel, optimize=True) + bias[:, None], 0)
        x = np.maximum(x.reshape(len(x), -1) @ w["dense.weight"].T + w["dense.bias"], 0)
        return np.asarray(x @ w["mean.weight"].T + w["mean.bias"], np.float32)

    def logits(self, z: Single, n_steps: int) -> Single:
        """Return the logits (n, time, rules) of all steps at once."""
        w = self.w
        first = z @ w["first.weight"].T + w["first.bias"]
        elu = np.where(first > 0, first, np.expm1(np.minimum(first, 0))).astype(np.float32)
        x = np.repeat(elu[None], n_steps, axis=0)
        for layer in range(3):
            ways = [self._direction(x, f"_l{layer}{end}", bool(end)) for end in ("", "_reverse")]
            x = np.concatenate(ways, axis=2)
        return np.asarray((x @ w["out.weight"].T + w["out.bias"]).transpose(1, 0, 2), np.float32)

    def _direction(self, x: Single, suffix: str, backward: bool) -> Single:
        into, weight = self.w[f"gru.weight_ih{suffix}"].T, self.w[f"gru.weight_hh{suffix}"].T.copy()
        gates = x @ into + self.w[f"gru.bias_ih{suffix}"]
        hidden = np.zeros((x.shape[1], len(weight)), np.float32)
        out = np.empty((*x.shape[:2], len(weight)), np.float32)
        steps = range(len(x) - 1, -1, -1) if backward else range(len(x))
        for i in steps:
            hidden = gru_step(gates[i], hidden, weight, self.w[f"gru.bias_hh{suffix}"])
            out[i] = hidden
        return out

    def decode(self, z: Single, plan: Plan, pick: Pick) -> tuple[Int, Int]:
        """Return sequences and their lengths for some points."""
        n, limit = len(z), plan.grammar.limit
        logits = self.logits(z, limit)[:, :, : self.n_rules]
        out = np.full((n, limit), self.n_rules)
        lengths = np.zeros(n, np.int64)
        machine = Machine.fresh(plan, n)
        for step in range(limit):
            rows = np.flatnonzero(machine.size > 0)
            if not len(rows):
                break
            part = Machine(plan, machine.stack[rows], machine.size[rows], machine.spare[rows])
            rules = pick(logits[rows, step], part.allowed(part.heads()))
            part.apply(rules)
            machine.stack[rows], machine.size[rows], machine.spare[rows] = part.stack, part.size, part.spare
            out[rows, step] = rules
            lengths[rows] = step + 1
        return out, lengths


def check_limit(plan: Plan) -> int:
    """Return the rules to spare at the start; negative if no sentence fits the limit."""
    opens, cost = plan.start
    closing = int(sum(plan.closing[s] for s in opens))
    return plan.grammar.limit - cost - closing if closing < NEVER else -1


__all__ = ["Float", "GrammarNetwork", "Machine", "Network", "PaperNetwork", "greedy", "sampled"]
