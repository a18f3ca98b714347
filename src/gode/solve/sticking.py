"""Sticking under dry friction: it holds a velocity at zero if it opposes motion both ways (compiled).

Only a single equation of second order sticks: in a system, which velocities rest together is a question of
its own, and the solver steps over the reversals.
"""

import math

from gode.compiling import inner_njit
from gode.equation.operators import CODES
from gode.equation.point import value_at_point
from gode.solve.reading import read_signals

SIGN = CODES["sign"]
TINY = 1e-14  # velocity that counts as zero, as a share of the largest
LOOKS = 1000  # times in the span at which the end of sticking is looked for
HALVINGS = 40  # bisections to find that time


@inner_njit
def is_dry(tape):
    """Tell whether there is a sign function: friction that does not vanish with the velocity."""
    found = False
    for op in tape.code:  # np.any makes an array first, and takes its time to compile
        found = found or op == SIGN
    return found


@inner_njit
def rhs_at(tape, equation, slope, left, weight, c, signals, t, u, du, x, values):
    """Return the right-hand side at a time, a place and a velocity."""
    x[0], x[1], x[2] = t, u, du
    if len(signals.starts) > 1:
        read_signals(signals, t, x)
    value_at_point(
        tape.code, tape.arg, tape.literal, tape.starts, left, c, weight, equation, x, values, slope
    )
    return slope[0]


@inner_njit
def sticks(tape, equation, slope, left, weight, c, signals, t, u, fastest, x, values):
    """Tell whether a body at rest stays so at time `t`."""
    slow = TINY * fastest + 1e-300
    ahead = rhs_at(tape, equation, slope, left, weight, c, signals, t, u, slow, x, values)
    behind = rhs_at(tape, equation, slope, left, weight, c, signals, t, u, -slow, x, values)
    return ahead < 0.0 and behind > 0.0


@inner_njit
def rest(
    tape, equation, slope, left, weight, c, signals, t, now, done, y, fastest, x, values, out, sens, resting
):
    """Keep the velocity at zero while the body sticks; return its end and how many of `t` are past."""
    for p in range(y.shape[1]):
        y[1, p] = 0.0
    while done < len(t):
        until = min(t[done], now + (t[-1] - t[0]) / LOOKS)
        if until <= now:  # below the spacing of floating-point numbers at large times
            until = t[done]
        if not sticks(tape, equation, slope, left, weight, c, signals, until, y[0, 0], fastest, x, values):
            for _ in range(HALVINGS):
                middle = 0.5 * (now + until)
                if sticks(
                    tape, equation, slope, left, weight, c, signals, middle, y[0, 0], fastest, x, values
                ):
                    now = middle
                else:
                    until = middle
            push = rhs_at(tape, equation, slope, left, weight, c, signals, until, y[0, 0], 0.0, x, values)
            y[1, 0] = math.copysign(TINY * fastest + 1e-300, push)
            return until, done
        now = until
        if now == t[done]:
            out[0, done], out[1, done], resting[done] = y[0, 0], 0.0, True
            for p in range(sens.shape[0]):
                sens[p, 0, done], sens[p, 1, done] = y[0, p + 1], 0.0
            done += 1
    return now, done
