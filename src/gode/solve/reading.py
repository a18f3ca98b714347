"""Known inputs at any time, and the error against what was observed (compiled)."""

from gode.compiling import inner_njit


@inner_njit
def read_signals(signals, t, x):
    """Write the value of each input at time `t` into the last entries of the point `x`."""
    n = len(signals.starts) - 1
    for i in range(n):
        low, high = signals.starts[i], signals.starts[i + 1] - 1
        first = low
        while high - low > 1:
            middle = (low + high) // 2
            if signals.knots[middle] <= t:
                low = middle
            else:
                high = middle
        d = t - signals.knots[max(low, first)]
        c = signals.coefficients[low]
        x[len(x) - n + i] = ((c[0] * d + c[1]) * d + c[2]) * d + c[3]


@inner_njit
def add_squares(observed, weights, out, first, last, channels, sse):
    """Return `sse` plus the squared errors of samples first..last-1 in some channels."""
    for i in range(first, last):
        for d in channels:
            if weights[i, d] > 0.0:
                sse += ((observed[i, d] - out[d, i]) * weights[i, d]) ** 2
    return sse


@inner_njit
def is_seen(weights, channel):
    """Tell whether a channel was observed."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i, channel]
    return total > 0.0
