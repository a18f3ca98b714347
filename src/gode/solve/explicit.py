"""Explicit equations by Dormand and Prince's method of order 5(4), with dense output (compiled).

The state may carry sensitivities: its derivatives with respect to the constants and initial values,
advanced by the same formulas, so that they are the exact derivatives of the computed solution. At a
reversal under dry friction they leave out the change of its time.
"""

import math

import numpy as np

from gode.compiling import cached_njit, inner_njit
from gode.equation.point import gradient_at_point, operands, value_at_point, weights_of
from gode.solve.reading import add_squares, is_seen, read_signals
from gode.solve.sticking import is_dry, rest, sticks

DONE, DIVERGED, BUDGET, SINGULAR, NO_ROOT, WORSE = range(6)  # WORSE: the error exceeds the limit given

A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
E = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
DENSE = np.array(
    [
        [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)
FLOOR = 1e-3  # errors are relative to |y|, but at least to this share of the largest |y| so far
SMALLEST_STEP = 1e-13  # as a share of the span
FIRST_SHARE = 1e-2  # as a share of the span: first step, and scale of the error of a state that is zero


@cached_njit
def solve_explicit(
    tape, c, signals, order, t, initial, param, rtol, bound, max_steps, out, sens, observed, weights, limit
):
    """Fill out[0:3] with u, u', u'' at the times `t`, and sens (params, 3, n).

    `param` lists what the sensitivities are taken in: constants by index, initial values as -1, -2.
    A solution larger than `bound` has diverged. `observed` and `weights` (n, 3) or (0, 3) are data to compare
    with, of weight 0 where there are none; the solution ends where its squared error reaches `limit`.

    Returns (status, steps, squared error). What was not reached is NaN.
    """
    n_param, n_counted = len(param), len(weights)
    x = np.zeros(4 + len(signals.starts) - 1)
    weight = weights_of(tape, c)
    left, active = operands(tape, order)
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    multiplier, linear = tape.multiplier, tape.linear
    values, adjoint = np.empty(len(code)), np.empty(len(code))
    gradient = np.zeros(len(c) + len(x))
    base = len(c) + 1  # of the gradient: du, then du'
    y, stage = np.zeros((order, n_param + 1)), np.zeros((order, n_param + 1))
    k = np.zeros((7, order, n_param + 1))
    largest, share = np.zeros(order), np.empty(7)
    for d in range(order):
        y[d, 0] = initial[d]
        out[d, 0] = initial[d]
    for p in range(n_param):
        if param[p] < 0:
            y[-param[p] - 1, p + 1] = 1.0
        for d in range(order):
            sens[p, d, 0] = y[d, p + 1]
    now = t[0]
    span = t[-1] - t[0]
    h = 0.0
    first = 0  # k[0] is the last stage of the step before, but for the very first step
    done = order // order  # not a literal, for which numba would compile everything again
    counted, sse = 0, 0.0
    steps = 0
    status = DONE
    resting = np.zeros(len(t), np.bool_)
    dry = order == 2 and is_dry(tape)
    turning = dry and y[1, 0] == 0.0
    jump = 0  # the next time at which an input jumps or bends: steps end there
    while done < len(t):
        if turning and sticks(tape, left, weight, c, signals, now, y[0, 0], largest[1], x, values):
            now, done = rest(
                tape, left, weight, c, signals, t, now, done, y, largest[1], x, values, out, sens, resting
            )
            first, h = 0, 0.0
            continue
        steps += 1
        if steps > max_steps:
            status = BUDGET
            break
        if h < SMALLEST_STEP * span and first == 1:
            fast = abs(k[0, order - 1, 0]) * span > 1e6 * largest[order - 1]
            status = DIVERGED if fast else SINGULAR
            break
        while jump < len(signals.jumps) and signals.jumps[jump] <= now:
            jump += 1
        end = min(signals.jumps[jump], t[-1]) if jump < len(signals.jumps) else t[-1]
        wanted = h
        h = min(h, (end - now) * (1 + 1e-12))
        finite, crossing = True, False
        for s in range(first, 7):
            if s == 1 and first == 0 and h == 0.0:
                h = min(first_step(order, y, k, span), (end - now) * (1 + 1e-12))
                for d in range(order):
                    largest[d] = max(largest[d], abs(y[d, 0]) + h * abs(k[0, d, 0]))
            for d in range(order):
                for p in range(n_param + 1):
                    total = 0.0
                    for q in range(s):
                        total += A[s, q] * k[q, d, p]
                    stage[d, p] = y[d, p] + h * total
            x[0] = now + C[s] * h
            for d in range(order):
                x[1 + d] = stage[d, 0]
            if len(x) > 4:
                within = end - 1e-9 * h if end < t[-1] else end  # before the jump, not at it
                read_signals(signals, min(x[0], within), x)
            slope = value_at_point(code, arg, literal, starts, left, c, weight, x, values)
            k[s, order - 1, 0] = slope
            if order == 2:
                k[s, 0, 0] = stage[1, 0]
                crossing = crossing or stage[1, 0] * y[1, 0] <= 0.0
            finite = math.isfinite(slope) and abs(stage[0, 0]) < bound
            if not finite:
                break
            if n_param > 0:
                gradient_at_point(
                    code,
                    arg,
                    starts,
                    multiplier,
                    linear,
                    left,
                    active,
                    weight,
                    values,
                    len(c),
                    adjoint,
                    gradient,
                )
                for p in range(n_param):
                    change = gradient[base] * stage[0, p + 1]
                    if order == 2:
                        change += gradient[base + 1] * stage[1, p + 1]
                        k[s, 0, p + 1] = stage[1, p + 1]
                    if param[p] >= 0:
                        change += gradient[param[p]]
                    k[s, order - 1, p + 1] = change
        if not finite:
            if first == 0 and s == 0:
                status, steps, done = SINGULAR, steps - 1, done if now > t[0] else 0
                break
            first = 1
            if abs(stage[0, 0]) >= bound and h < 1e-6 * span:
                status = DIVERGED
                break
            h *= 0.2
            continue
        first = 1
        error = 0.0
        for d in range(order):
            e = 0.0
            for s in range(7):
                e += E[s] * k[s, d, 0]
            size = max(abs(y[d, 0]), abs(stage[d, 0]), FLOOR * largest[d])
            if largest[d] == 0.0:  # a jump that ends a rest would look as bad however small the step
                for s in range(7):
                    size = max(size, FIRST_SHARE * span * abs(k[s, d, 0]))
            error = max(error, abs(h * e) / (rtol * size + 1e-300))
        factor = 5.0 if error < 1e-9 else min(5.0, max(0.2, 0.9 * error**-0.2))
        if error > 1.0:
            h *= min(factor, 0.9)
            continue
        while done < len(t) and t[done] <= now + h * (1 + 1e-12):
            interpolate(y, k, h, min((t[done] - now) / h, 1.0), done, share, out, sens)
            done += 1
        if n_counted > 0:
            sse = add_squares(observed, weights, out, counted, done, 0, order, sse)
            counted = done
            if sse >= limit:
                status = WORSE
                break
        now += h
        if end < t[-1] and now >= end - 1e-9 * h:  # a jump: the slope is another one from here on
            now, first = end, 0
        turning = dry and crossing
        for d in range(order):
            largest[d] = max(largest[d], abs(stage[d, 0]))
            for p in range(n_param + 1):
                y[d, p] = stage[d, p]
                k[0, d, p] = k[6, d, p]
        h = max(h * factor, wanted) if first == 0 else h * factor
    if status != WORSE:
        slopes = n_param > 0 and (n_counted == 0 or is_seen(weights, order))
        if not highest_along(
            tape,
            left,
            active,
            weight,
            c,
            signals,
            order,
            t,
            done,
            param if slopes else param[:0],
            x,
            out,
            sens,
        ):
            status = SINGULAR
    for i in range(done):
        if resting[i]:
            out[order, i] = 0.0
            for p in range(n_param):
                sens[p, order, i] = 0.0
    for d in range(3):
        for i in range(done if d <= order else 0, len(t)):
            out[d, i] = np.nan
            for p in range(n_param):
                sens[p, d, i] = np.nan
    if n_counted > 0 and status != WORSE:
        sse = add_squares(observed, weights, out, counted, done, 0, order, sse)
        sse = add_squares(observed, weights, out, 0, done, order, 3, sse)
    return status, steps, sse


@inner_njit
def highest_along(tape, left, active, weight, c, signals, order, t, n, param, x, out, sens):
    """Write the right-hand side and its sensitivities at the first `n` times; return whether it is finite."""
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    multiplier, linear = tape.multiplier, tape.linear
    values, adjoint = np.empty(len(code)), np.empty(len(code))
    gradient = np.zeros(len(c) + len(x))
    finite = True
    for i in range(n):
        x[0] = t[i]
        for d in range(order):
            x[1 + d] = out[d, i]
        if len(x) > 4:
            read_signals(signals, t[i], x)
        out[order, i] = value_at_point(code, arg, literal, starts, left, c, weight, x, values)
        finite = finite and math.isfinite(out[order, i])
        if len(param) == 0:
            continue
        gradient_at_point(
            code, arg, starts, multiplier, linear, left, active, weight, values, len(c), adjoint, gradient
        )
        for p in range(len(param)):
            change = 0.0 if param[p] < 0 else gradient[param[p]]
            for d in range(order):
                change += gradient[len(c) + 1 + d] * sens[p, d, i]
            sens[p, order, i] = change
    return finite


@inner_njit
def interpolate(y, k, h, theta, i, share, out, sens):
    """Write the state and its sensitivities at the share `theta` of a step as time number `i`."""
    for s in range(7):
        power = DENSE[s, 2] + theta * DENSE[s, 3]
        share[s] = h * theta * (DENSE[s, 0] + theta * (DENSE[s, 1] + theta * power))
    for d in range(y.shape[0]):
        for p in range(y.shape[1]):
            total = y[d, p]
            for s in range(7):
                total += share[s] * k[s, d, p]
            if p == 0:
                out[d, i] = total
            else:
                sens[p - 1, d, i] = total


@inner_njit
def first_step(order, y, k, span):
    """Return a step over which the state changes by about one percent."""
    h = FIRST_SHARE * span
    for d in range(order):
        if abs(k[0, d, 0]) > 0.0 and abs(y[d, 0]) > 0.0:
            h = min(h, 0.01 * abs(y[d, 0]) / abs(k[0, d, 0]))
    return max(h, 1e-8 * span)
