"""The highest derivatives of explicit equations along a solution (compiled)."""

import math

import numpy as np

from gode.compiling import inner_njit
from gode.equation.point import gradient_at_point, value_at_point
from gode.solve.giving import give, next_jump
from gode.solve.reading import read_signals


@inner_njit
def highest_along(tape, layout, equation, left, active, weight, c, signals, t, n, param, x, out, sens):
    """Write right-hand sides and sensitivities at the first `n` times; return whether all are finite."""
    orders, channel = layout.orders, layout.channel
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    multiplier, linear = tape.multiplier, tape.linear
    values, adjoint = np.empty(len(code)), np.empty(len(code))
    gradient, slope = np.zeros((len(orders), len(c) + len(x))), np.zeros(len(orders))
    doses, given = signals.doses, 0
    rate, rate_slope = np.zeros(len(orders)), np.zeros((len(orders), len(param)))
    unused = np.zeros((len(channel), 1 + len(param)))
    finite = True
    for i in range(n):
        while next_jump(doses, given, t[i]) < t[i]:  # a reading comes before a dose at the same time
            give(doses, given, c, param, unused, rate, rate_slope)
            given += 1
        x[0] = t[i]
        for j in range(len(channel)):
            x[1 + channel[j]] = out[channel[j], i]
        if len(signals.starts) > 1:
            read_signals(signals, t[i], x)
        value_at_point(code, arg, literal, starts, left, c, weight, equation, x, values, slope)
        for e in range(len(orders)):
            top = 3 * e + orders[e]
            out[top, i] = slope[e] + rate[e]
            finite = finite and math.isfinite(out[top, i])
        if len(param) == 0:
            continue
        gradient_at_point(
            code,
            arg,
            starts,
            multiplier,
            linear,
            left,
            active,
            weight,
            equation,
            values,
            len(c),
            adjoint,
            gradient,
        )
        for e in range(len(orders)):
            top = 3 * e + orders[e]
            for p in range(len(param)):
                change = 0.0 if param[p] < 0 else gradient[e, param[p]]
                for j in range(len(channel)):
                    change += gradient[e, len(c) + 1 + channel[j]] * sens[p, channel[j], i]
                sens[p, top, i] = change + rate_slope[e, p]
    return finite
