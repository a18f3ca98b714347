"""Smoothing by the paper's network, three layers of 32 SiLU units (sec. 2.3), with its losses (eq. 11).

Where u was observed, the network is fitted to it and then differentiated (B1, B2). Where only derivatives
were observed, it is fitted to those, with losses on the initial values and on drift (eq. 11, B3). The paper
has no uncertainties: ours are those of a Bayesian linear regression on the last hidden layer.

Arrays hold channels: a signal and its first and second derivative in time, (channels, features, n). The
forward pass computes values and derivatives, the backward pass the gradient of a loss on all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gode.arrays import Float
from gode.data.dataset import Run, Smooth
from gode.errors import ConfigError, DataError

Layer = tuple[Float, Float]  # weights (out, in), biases (out,)
Loss = Callable[[Float], tuple[float, Float]]  # channels (channels, n) -> loss and its derivatives in them
TANH_GAIN = 5.0 / 3.0  # of Xavier's initial weights
MOMENTS = (0.9, 0.999)  # Adam's decay rates
SMALL = 1e-8  # Adam's epsilon


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a network is trained."""

    epochs: int
    rate: float = 1e-3
    decay: float = 0.95  # factor of the rate after every `step` epochs
    step: int = 500


class Trace:
    """What the backward pass needs: of each layer its input, pre-activations and activation derivatives."""

    def __init__(self) -> None:
        self.layers: list[tuple[Float, Float, tuple[Float, ...]]] = []
        self.last = np.empty(0)


def initial_parameters(sizes: Sequence[int], *, rng: np.random.Generator) -> Float:
    """Return the parameters of a network with these layers: Xavier's uniform weights, biases zero."""
    parts = []
    for inputs, outputs in pairwise(sizes):
        bound = TANH_GAIN * np.sqrt(6.0 / (inputs + outputs))
        parts += [rng.uniform(-bound, bound, inputs * outputs), np.zeros(outputs)]
    return np.concatenate(parts)


def layers_of(parameters: Float, sizes: Sequence[int]) -> list[Layer]:
    """Return views of `parameters` as weights and biases."""
    layers, place = [], 0
    for inputs, outputs in pairwise(sizes):
        middle, end = place + inputs * outputs, place + (inputs + 1) * outputs
        layers.append((parameters[place:middle].reshape(outputs, inputs), parameters[middle:end]))
        place = end
    return layers


def forward(layers: Sequence[Layer], x: Float) -> tuple[Float, Trace]:
    """Return the output's channels (channels, n) for the inputs' (channels, inputs, n), and the trace."""
    trace, h = Trace(), x
    for weights, biases in layers[:-1]:
        a = np.matmul(weights, h)
        a[0] += biases[:, None]
        activation = silu(a[0], len(x))
        trace.layers.append((h, a, activation))
        h = _forward_silu(a, activation)
    trace.last = h
    weights, biases = layers[-1]
    out = np.matmul(weights, h)[:, 0]
    out[0] += biases[0]
    return out, trace


def backward(layers: Sequence[Layer], trace: Trace, slope: Float) -> Float:
    """Return the gradient in all parameters, given the loss's derivatives (channels, n) in the output."""
    adjoint = slope[:, None, :]
    parts = _gradients(adjoint, trace.last)
    for (weights, _), (h, a, activation) in zip(layers[:0:-1], trace.layers[::-1], strict=True):
        adjoint = _backward_silu(np.matmul(weights.T, adjoint), a, activation)
        parts = [*_gradients(adjoint, h), *parts]
    return np.concatenate(parts)


def silu(a: Float, most: int) -> tuple[Float, ...]:
    """Return a·sigmoid(a) and its derivatives up to order `most`, at most 3."""
    half = np.tanh(0.5 * a)
    s = 0.5 * half
    s += 0.5  # the sigmoid
    g = 1.0 - s
    g *= s  # its derivative
    out = [a * s, a * g]
    out[1] += s
    if most >= 2:
        q = g * half  # minus its second derivative
        out.append(2.0 * g)
        out[2] -= a * q
    if most >= 3:
        half *= half
        half -= 2.0 * g
        half *= g
        half *= a
        q *= 3.0
        half -= q
        out.append(half)
    return tuple(out)


def train(parameters: Float, sizes: Sequence[int], x: Float, loss: Loss, config: Training) -> Iterator[int]:
    """Train `parameters` in place by Adam on the whole record; yield each epoch."""
    layers = layers_of(parameters, sizes)
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    first, second = MOMENTS
    for epoch in range(config.epochs):
        out, trace = forward(layers, x)
        _, slope = loss(out)
        gradient = backward(layers, trace, slope)
        mean += (1 - first) * (gradient - mean)
        square += (1 - second) * (gradient * gradient - square)
        rate = config.rate * config.decay ** (epoch // config.step)
        size = np.sqrt(square / (1 - second ** (epoch + 1))) + SMALL
        parameters -= rate / (1 - first ** (epoch + 1)) * mean / size
        yield epoch


def _forward_silu(a: Float, activation: tuple[Float, ...]) -> Float:
    """Return the channels of silu(a), by the chain rule."""
    h = np.empty_like(a)
    h[0] = activation[0]
    if len(a) > 1:
        np.multiply(activation[1], a[1], out=h[1])
    if len(a) > 2:
        np.multiply(activation[1], a[2], out=h[2])
        h[2] += activation[2] * a[1] * a[1]
    return h


def _backward_silu(adjoint: Float, a: Float, activation: tuple[Float, ...]) -> Float:
    """Return the derivatives in the channels of a, given those in the channels of silu(a)."""
    out = adjoint * activation[1]
    if len(a) > 1:
        part = activation[2] * a[1]
        out[0] += adjoint[1] * part
    if len(a) > 2:
        part *= adjoint[2]
        out[1] += part
        out[1] += part
        slope = activation[3] * a[1]
        slope *= a[1]
        slope += activation[2] * a[2]
        slope *= adjoint[2]
        out[0] += slope
    return out


def _gradients(adjoint: Float, h: Float) -> list[Float]:
    """Return the gradients in the weights and biases of a layer with the input h."""
    weights = np.matmul(adjoint, h.transpose(0, 2, 1)).sum(axis=0)
    return [weights.ravel(), adjoint[0].sum(axis=1)]


HIDDEN = (32, 32, 32)
USUAL = (1e-2, 1e3)  # range of the paper's signals and spans; outside it, units are powers of ten
FAR = 3.0  # a record that starts more than this many spans from t = 0 is shifted to start there
CROSSINGS = 4  # of a band about its straight line: a signal with at least so many is oscillating
BAND = 0.3  # half the width of that band, in standard deviations
REPORT = 200  # epochs between two calls of `on_epoch`


@dataclass(frozen=True, kw_only=True)
class MlpConfig:
    """How the paper's network is trained."""

    epochs: int = 10_000  # where u was observed: B1 and B2
    blind_epochs: int = 100_000  # where only derivatives were: B3
    rate: float = 1e-3
    decay: float = 0.95  # factor of the rate at each of its steps
    steps: int = 20  # of the rate where u was observed: one every 500 epochs
    blind_steps: int = 50  # where only derivatives were: one every 2000
    drift_weight: float = 1e-3  # eq. 11

    def __post_init__(self) -> None:
        for name in ("epochs", "blind_epochs", "steps", "blind_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    def training(self, blind: bool) -> Training:
        """Return the schedule with u observed, or without."""
        epochs = self.blind_epochs if blind else self.epochs
        step = max(epochs // (self.blind_steps if blind else self.steps), 1)
        return Training(epochs=epochs, rate=self.rate, decay=self.decay, step=step)


@dataclass(frozen=True)
class Goal:
    """What the network is fitted to, in its own units; NaN where nothing was observed or known."""

    observed: Float  # (channels, n)
    initial: Float  # (2,) known values at the first time, if u was not observed
    line: Float  # (2, m) orthonormal basis of straight lines over the last m times, for drift; m may be 0
    drift_weight: float


@dataclass(frozen=True)
class Units:
    """The network's units of time and of u, and its zero of time."""

    start: float
    span: float
    size: float

    @classmethod
    def of(cls, run: Run) -> "Units":
        """Return the user's own units, unless they are far from those for which the network was designed."""
        length = float(run.t[-1] - run.t[0])
        span = _unit(length)
        start = float(run.t[0]) if abs(run.t[0]) > FAR * length or span != 1.0 else 0.0
        order = int(np.flatnonzero(np.isfinite(run.observed).any(axis=1))[0])
        seen = run.observed[order][np.isfinite(run.observed[order])]
        return cls(start, span, _unit(float(np.sqrt(np.mean(seen**2))) * span**order))

    def time(self, t: Float) -> Float:
        """Return the network's times."""
        return np.asarray((t - self.start) / self.span)

    @property
    def channels(self) -> Float:
        """The user's units of u, u', u'' in those of the network."""
        return np.array([self.size, self.size / self.span, self.size / self.span**2])


def smooth_mlp(
    run: Run,
    *,
    config: MlpConfig,
    rng: np.random.Generator,
    period: float = 0.0,
    on_epoch: Callable[[int], None] | None = None,
) -> Smooth:
    """Return `run` smoothed by a network; its initial values are used where u was not observed.

    Args:
        period: of the force; the loss on drift begins after the first one (eq. 11).

    Raises:
        DataError: if u was not observed and its initial values are not known.
    """
    units = Units.of(run)
    goal = make_goal(run, units, period, config.drift_weight)
    x = network_inputs(units.time(run.t), oscillating=oscillates(run))
    sizes = (x.shape[1], *HIDDEN, 1)
    parameters = initial_parameters(sizes, rng=rng)
    training = config.training(blind=bool(np.isfinite(goal.initial).any()))
    seen = x[: len(goal.observed)]
    for epoch in train(parameters, sizes, seen, lambda out: mlp_loss(out, goal), training):
        if on_epoch and epoch % REPORT == 0:
            on_epoch(epoch)
    out, trace = forward(layers_of(parameters, sizes), x)
    weights = layers_of(parameters, sizes)[-1][0]
    deviations, noise = last_layer(out, trace.last, goal, float(np.mean(weights**2)))
    unit = units.channels
    used = np.array([training.epochs, mlp_loss(out[: len(goal.observed)], goal)[0]])
    return Smooth(run.t, out * unit[:, None], deviations * unit[:, None], noise * unit, used)


def make_goal(run: Run, units: Units, period: float, drift_weight: float) -> Goal:
    """Return what the network is fitted to on `run`."""
    seen = np.any(np.isfinite(run.observed), axis=1)
    highest = int(np.flatnonzero(seen)[-1])
    observed = (run.observed / units.channels[:, None])[: highest + 1]
    initial = run.initial / units.channels[:2]
    if seen[0]:
        initial = np.full(2, np.nan)
    needed = int(np.flatnonzero(seen)[0])
    if not np.all(np.isfinite(initial[:needed])) and needed:
        what = "u(t0)" if needed == 1 else "u(t0) and u'(t0)"
        raise DataError(
            f"u was not observed, so the paper's network needs {what}; pass initial=, or use preset='default'"
        )
    t = units.time(run.t)
    late = t[t >= t[0] + period / units.span] if needed == 2 else t[:0]
    line = np.linalg.qr(np.vstack([np.ones_like(late), late - t[0]]).T)[0].T if len(late) > 2 else late[None]
    return Goal(observed, initial, line, drift_weight)


def network_inputs(t: Float, *, oscillating: bool) -> Float:
    """Return the channels (3, inputs, n) of t, or of t and sin t for an oscillating signal."""
    rows = [np.vstack([t, np.ones_like(t), np.zeros_like(t)])]
    if oscillating:
        rows.append(np.vstack([np.sin(t), np.cos(t), -np.sin(t)]))
    return np.stack(rows, axis=1)


def oscillates(run: Run) -> bool:
    """Tell whether the lowest observed channel oscillates about its straight line, at least twice."""
    order = int(np.flatnonzero(np.isfinite(run.observed).any(axis=1))[0])
    seen = np.isfinite(run.observed[order])
    t, y = run.t[seen], run.observed[order][seen]
    rest = y - np.polyval(np.polyfit(t - t.mean(), y, 1), t - t.mean())
    outside = rest[np.abs(rest) > BAND * np.std(rest)]
    return int(np.sum(np.diff(np.sign(outside)) != 0)) >= CROSSINGS


def dominant_period(t: Float, values: Float) -> float:
    """Return the period of the strongest oscillation in `values`; 0 for a constant."""
    even = np.interp(np.linspace(t[0], t[-1], len(t)), t, values)
    strength = np.abs(np.fft.rfft(even - even.mean()))
    peak = int(np.argmax(strength))
    return float(t[-1] - t[0]) / peak if peak and strength[peak] > 1e-12 * np.abs(even).max() else 0.0


def mlp_loss(out: Float, goal: Goal) -> tuple[float, Float]:
    """Return the loss of the network's channels and its derivatives in them: eq. 11; B1 and B2 have its
    first term alone, on u."""
    rest = np.where(np.isfinite(goal.observed), out - goal.observed, 0.0)
    counts = np.maximum(np.isfinite(goal.observed).sum(axis=1, keepdims=True), 1)
    slope = 2.0 * rest / counts
    loss = 0.5 * float(np.vdot(slope, rest))
    for i in range(min(len(out), 2)):
        if np.isfinite(goal.initial[i]):
            miss = float(out[i, 0] - goal.initial[i])
            slope[i, 0] += 2.0 * miss
            loss += miss**2
    m = goal.line.shape[1]
    if m:
        trend = goal.line.T @ (goal.line @ out[0, -m:]), np.full(m, out[1, -m:].mean())
        for i, part in enumerate(trend):
            slope[i, -m:] += 2.0 * goal.drift_weight / m * part
            loss += goal.drift_weight / m * float(part @ part)
    return loss, slope


def last_layer(out: Float, features: Float, goal: Goal, weight: float) -> tuple[Float, Float]:
    """Return the standard deviations (3, n) of all channels and the noise (3,) of the observed ones.

    The last layer is a linear model on `features` (3, 32, n); its weights have a prior of size `weight`.
    """
    ones = np.zeros((3, 1, out.shape[1]))
    ones[0] = 1.0
    phi = np.concatenate([features, ones], axis=1)
    noise, precision = np.full(3, np.nan), np.zeros(0)
    seen = np.isfinite(goal.observed)
    rows = [i for i in range(len(seen)) if seen[i].any()]
    inside = {i: phi[i][:, seen[i]] for i in rows}
    squares = {i: float(np.sum((out[i] - goal.observed[i])[seen[i]] ** 2)) for i in rows}
    freedom = dict.fromkeys(rows, 0.0)
    for _ in range(3):  # noise and degrees of freedom depend on each other
        precision = np.eye(phi.shape[1]) / max(weight, 1e-12)
        for i in rows:
            n = inside[i].shape[1]
            noise[i] = np.sqrt(squares[i] / max(n - freedom[i], 0.3 * n)) + 1e-12
            precision += inside[i] @ inside[i].T / noise[i] ** 2
        for j in np.flatnonzero(np.isfinite(goal.initial)):  # eq. 11 weighs it like all measurements together
            precision += np.outer(phi[j, :, 0], phi[j, :, 0]) * len(out[0]) / noise[rows[0]] ** 2
        inverse = np.linalg.pinv(precision, hermitian=True)
        for i in rows:
            freedom[i] = float(np.sum(inside[i] * (inverse @ inside[i]))) / noise[i] ** 2
    variance = np.einsum("kin,kin->kn", phi, np.matmul(np.linalg.pinv(precision, hermitian=True), phi))
    return np.sqrt(np.maximum(variance, 0.0)), noise


def _unit(size: float) -> float:
    return 1.0 if USUAL[0] <= size <= USUAL[1] or size <= 0 else float(10.0 ** np.floor(np.log10(size)))
