"""Known inputs at any time (compiled)."""

from gode.compiling import inner_njit


@inner_njit
def read_signals(signals, t, x, first_row):
    """Write the value of each input at time `t` into the rows of `x` from `first_row` on."""
    for i in range(len(signals.starts) - 1):
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
        for m in range(x.shape[1]):
            x[first_row + i, m] = ((c[0] * d + c[1]) * d + c[2]) * d + c[3]
