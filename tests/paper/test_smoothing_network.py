import numpy as np
import pytest

from gode.paper.smoothing_sec23 import (
    Training,
    backward,
    forward,
    initial_parameters,
    layers_of,
    network_inputs,
    silu,
    train,
)

SIZES = (2, 5, 4, 1)
T = np.linspace(0.0, 2.0, 7)


def parameters(rng, sizes=SIZES):
    flat = initial_parameters(sizes, rng=rng)
    return flat + 0.2 * rng.standard_normal(len(flat))  # biases too


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_gradient_agrees_with_finite_differences(rng, channels):
    flat, wanted = parameters(rng), rng.standard_normal((channels, len(T)))
    x = network_inputs(T, oscillating=True)[:channels]

    def loss(p):
        return float(np.sum((forward(layers_of(p, SIZES), x)[0] - wanted) ** 2))

    out, trace = forward(layers_of(flat, SIZES), x)
    gradient = backward(layers_of(flat, SIZES), trace, 2 * (out - wanted))
    steps = 1e-6 * np.eye(len(flat))
    numeric = [(loss(flat + step) - loss(flat - step)) / 2e-6 for step in steps]
    assert gradient == pytest.approx(np.array(numeric), rel=1e-5, abs=1e-6)


def test_channels_are_the_derivatives_in_time(rng):
    flat, step = parameters(rng), 1e-5

    def at(t):
        return forward(layers_of(flat, SIZES), network_inputs(t, oscillating=True))[0]

    middle, up, down = at(T), at(T + step), at(T - step)
    assert middle[1] == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-6, abs=1e-8)
    assert middle[2] == pytest.approx((up[1] - down[1]) / (2 * step), rel=1e-6, abs=1e-8)


def test_silu_is_its_definition_and_its_derivatives_follow():
    a, step = np.linspace(-4.0, 4.0, 33), 1e-5
    orders = silu(a, 3)
    assert orders[0] == pytest.approx(a / (1 + np.exp(-a)))
    for i in range(3):
        slope = (silu(a + step, 3)[i] - silu(a - step, 3)[i]) / (2 * step)
        assert orders[i + 1] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_initial_weights_have_the_size_of_xavier_and_biases_are_zero(rng):
    layers = layers_of(initial_parameters((100, 200, 1), rng=rng), (100, 200, 1))
    weights, biases = layers[0]
    bound = 5 / 3 * np.sqrt(6 / 300)
    assert np.abs(weights).max() == pytest.approx(bound, rel=1e-2)
    assert np.std(weights) == pytest.approx(bound / np.sqrt(3), rel=0.05)
    assert not biases.any()


def test_first_steps_are_those_of_adam(rng):
    sizes = (1, 3, 1)
    flat, x = parameters(rng, sizes), network_inputs(T, oscillating=False)[:1]

    def loss(out):
        return 0.0, 2 * (out - np.sin(T))

    trained = flat.copy()
    assert list(train(trained, sizes, x, loss, Training(epochs=2, rate=0.1, decay=0.5, step=1))) == [0, 1]
    plain, mean, square = flat.copy(), np.zeros_like(flat), np.zeros_like(flat)
    for epoch in (1, 2):
        out, trace = forward(layers_of(plain, sizes), x)
        g = backward(layers_of(plain, sizes), trace, loss(out)[1])
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
        rate = 0.1 * 0.5 ** (epoch - 1)
        plain = plain - rate * (mean / (1 - 0.9**epoch)) / (np.sqrt(square / (1 - 0.999**epoch)) + 1e-8)
    assert trained == pytest.approx(plain, rel=1e-9)
