"""The network that smooths a signal, with exact time derivatives, trained by Adam; NumPy only (sec. 2.3).

Arrays hold channels: a signal and its first and second derivative in time, (channels, features, n). The
forward pass computes values and derivatives, the backward pass the gradient of a loss on all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gode.arrays import Float

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
