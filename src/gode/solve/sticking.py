"""Bodies that stick: dry friction holds a velocity at zero that it drives back from both sides (compiled)."""

import math

import numpy as np

from gode.compiling import cached_njit
from gode.equation.interpreter import SIGN
from gode.equation.point import value_at_point
from gode.solve.reading import read_signals

TINY = 1e-14  # of the largest velocity: what counts as rest
LOOKS = 1000  # times in a span at which a body that sticks may come loose
HALVINGS = 40  # to find out when it does


@cached_njit
def is_dry(tape):
    """Tell whether there is a friction that does not vanish with the velocity."""
    return np.any(tape.code == SIGN)


@cached_njit
def sticks(tape, weight, c, signals, t, u, fastest, x, stack):
    """Tell whether a body at rest stays so at time `t`."""
    x[0, 0], x[1, 0], x[2, 0] = t, u, TINY * fastest + 1e-300
    if x.shape[0] > 4:
        read_signals(signals, t, x, 4)
    ahead = value_at_point(tape.code, tape.arg, tape.literal, tape.starts, c, weight, x, stack)
    x[2, 0] = -x[2, 0]
    behind = value_at_point(tape.code, tape.arg, tape.literal, tape.starts, c, weight, x, stack)
    return ahead < 0.0 and behind > 0.0


@cached_njit
def rest(tape, weight, c, signals, t, now, done, y, fastest, x, stack, out, sens, resting):
    """Let a body that sticks rest until it comes loose; return that time and how many of `t` are past."""
    y[1] = 0.0
    while done < len(t):
        until = min(t[done], now + (t[-1] - t[0]) / LOOKS)
        if until <= now:  # where times are large and steps are small
            until = t[done]
        if not sticks(tape, weight, c, signals, until, y[0, 0], fastest, x, stack):
            for _ in range(HALVINGS):
                middle = 0.5 * (now + until)
                if sticks(tape, weight, c, signals, middle, y[0, 0], fastest, x, stack):
                    now = middle
                else:
                    until = middle
            x[0, 0], x[2, 0] = until, 0.0
            if x.shape[0] > 4:
                read_signals(signals, until, x, 4)
            push = value_at_point(tape.code, tape.arg, tape.literal, tape.starts, c, weight, x, stack)
            y[1, 0] = math.copysign(TINY * fastest + 1e-300, push)
            return until, done
        now = until
        if now == t[done]:
            out[0, done], out[1, done], resting[done] = y[0, 0], 0.0, True
            sens[:, 0, done], sens[:, 1, done] = y[0, 1:], 0.0
            done += 1
    return now, done
