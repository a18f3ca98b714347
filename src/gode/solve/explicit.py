"""Explicit equations by Dormand and Prince's method of order 5(4), with dense output (compiled).

The state may carry sensitivities: its derivatives with respect to the constants and initial values,
advanced by the same formulas, so that they are the exact derivatives of the computed solution; where dry
friction turns a body round they leave out that it turns at another time.
"""

import math

import numpy as np

from gode.compiling import cached_njit, inner_njit
from gode.equation.interpreter import run_tape, workspace
from gode.equation.point import value_at_point
from gode.solve.reading import read_signals
from gode.solve.sticking import is_dry, rest, sticks

DONE, DIVERGED, BUDGET, SINGULAR, NO_ROOT = range(5)

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
FLOOR = 1e-3  # a component is resolved to the tolerance times this share of its largest value so far
SMALLEST_STEP = 1e-13  # of the span
FIRST_SHARE = 1e-2  # of the span: a state at rest is resolved against its rate times this


@inner_njit
def sensitivity_slopes(tape, weight, order, y, k, s, const_dir, work, param):
    """Write d/dt of the sensitivities y[:, 1:] into k[s]; return the right-hand side."""
    f = 0.0
    for j in range(len(weight)):
        f += weight[j] * work.values[j, 0]
    base = len(tape.nonlinear)
    for p in range(len(param)):
        change = work.grads[base, 0] * y[0, p + 1]
        if order == 2:
            change += work.grads[base + 1, 0] * y[1, p + 1]
            k[s, 0, p + 1] = y[1, p + 1]
        if param[p] >= 0 and const_dir[param[p]] >= 0:
            change += work.grads[const_dir[param[p]], 0]
        k[s, order - 1, p + 1] = change
    for j in range(len(weight)):
        if tape.linear[j] >= 0:
            for p in range(len(param)):
                if param[p] == tape.linear[j]:
                    k[s, order - 1, p + 1] += tape.multiplier[j] * work.values[j, 0]
    return f


@inner_njit
def directions(tape, order, n_columns, n_param):
    """Return which constants and columns are directions of differentiation, and how many there are."""
    const_dir = np.full(tape.n_constants, -1, np.int64)
    col_dir = np.full(n_columns, -1, np.int64)
    n_dir = 0
    if n_param > 0:
        n_dir = len(tape.nonlinear) + order
        for i in range(len(tape.nonlinear)):
            const_dir[tape.nonlinear[i]] = i
        for d in range(order):
            col_dir[1 + d] = len(tape.nonlinear) + d
    return const_dir, col_dir, n_dir


@cached_njit
def solve_explicit(tape, weight, c, signals, order, t, initial, param, rtol, bound, max_steps, out, sens):
    """Fill out[0:3] with u, u', u'' at the times `t`, and sens (params, 3, n); return (status, steps).

    `param` lists what the sensitivities are taken in: constants by index, initial values as -1, -2.
    A solution larger than `bound` has diverged.
    """
    n_param = len(param)
    x = np.zeros((4 + len(signals.starts) - 1, 1))
    const_dir, col_dir, n_dir = directions(tape, order, x.shape[0], n_param)
    one = order // order  # not a literal, for which numba would compile everything again
    work = workspace(len(weight), tape.depth, n_dir, one)
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    stack = np.empty(tape.depth + 1)
    y, stage = np.zeros((order, n_param + 1)), np.zeros((order, n_param + 1))
    k = np.zeros((7, order, n_param + 1))
    largest = np.zeros(order)
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
    done = one
    steps = 0
    status = DONE
    resting = np.zeros(len(t), np.bool_)
    dry = order == 2 and is_dry(tape)
    turning = dry and y[1, 0] == 0.0
    jump = 0  # the next time at which an input jumps or bends: steps end there
    while done < len(t):
        if turning and sticks(tape, weight, c, signals, now, y[0, 0], largest[1], x, stack):
            now, done = rest(
                tape, weight, c, signals, t, now, done, y, largest[1], x, stack, out, sens, resting
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
            x[0, 0] = now + C[s] * h
            for d in range(order):
                x[1 + d, 0] = stage[d, 0]
            if x.shape[0] > 4:
                within = end - 1e-9 * h if end < t[-1] else end  # before the jump, not at it
                read_signals(signals, min(x[0, 0], within), x, 4)
            if n_param == 0:
                slope = value_at_point(code, arg, literal, starts, c, weight, x, stack)
            elif run_tape(tape, c, x, const_dir, col_dir, weight, work):
                slope = sensitivity_slopes(tape, weight, order, stage, k, s, const_dir, work, param)
            else:
                slope = np.nan
            k[s, order - 1, 0] = slope
            if order == 2:
                k[s, 0, 0] = stage[1, 0]
                crossing = crossing or stage[1, 0] * y[1, 0] <= 0.0
            finite = math.isfinite(slope) and abs(stage[0, 0]) < bound
            if not finite:
                break
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
            interpolate(y, k, h, min((t[done] - now) / h, 1.0), done, out, sens)
            done += 1
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
    along = columns_along(order, signals, t, done, out, x)
    whole = workspace(len(weight), tape.depth, n_dir, done)
    finite = run_tape(tape, c, along, const_dir, col_dir, weight, whole)
    if finite:
        highest_derivatives(tape, weight, order, param, const_dir, whole, out, sens)
    for i in range(len(t)):
        if resting[i]:
            out[2, i] = 0.0
            for p in range(n_param):
                sens[p, 2, i] = 0.0
    return status if finite else SINGULAR, steps


@inner_njit
def interpolate(y, k, h, theta, i, out, sens):
    """Write the state and its sensitivities at the share `theta` of a step as time number `i`."""
    for d in range(y.shape[0]):
        for p in range(y.shape[1]):
            total = 0.0
            for s in range(7):
                power = DENSE[s, 2] + theta * DENSE[s, 3]
                total += k[s, d, p] * (DENSE[s, 0] + theta * (DENSE[s, 1] + theta * power))
            if p == 0:
                out[d, i] = y[d, 0] + h * theta * total
            else:
                sens[p - 1, d, i] = y[d, p] + h * theta * total


@inner_njit
def columns_along(order, signals, t, n, out, point):
    """Return what the programs read at the first `n` times of a solution."""
    x = np.zeros((point.shape[0], n))
    for i in range(n):
        x[0, i] = t[i]
        for d in range(order):
            x[1 + d, i] = out[d, i]
        if x.shape[0] > 4:
            read_signals(signals, t[i], point, 4)
            for r in range(4, x.shape[0]):
                x[r, i] = point[r, 0]
    return x


@inner_njit
def highest_derivatives(tape, weight, order, param, const_dir, work, out, sens):
    """Write the right-hand side and its sensitivities at all times."""
    n = work.values.shape[1]
    for i in range(n):
        out[order, i] = 0.0
        for j in range(len(weight)):
            out[order, i] += weight[j] * work.values[j, i]
    base = len(tape.nonlinear)
    for p in range(len(param)):
        for i in range(n):
            total = 0.0
            for d in range(order):
                total += work.grads[base + d, i] * sens[p, d, i]
            if param[p] >= 0 and const_dir[param[p]] >= 0:
                total += work.grads[const_dir[param[p]], i]
            sens[p, order, i] = total
        for j in range(len(weight)):
            if tape.linear[j] >= 0 and tape.linear[j] == param[p]:
                for i in range(n):
                    sens[p, order, i] += tape.multiplier[j] * work.values[j, i]


@inner_njit
def first_step(order, y, k, span):
    """Return a step over which the state changes by about one percent."""
    h = FIRST_SHARE * span
    for d in range(order):
        if abs(k[0, d, 0]) > 0.0 and abs(y[d, 0]) > 0.0:
            h = min(h, 0.01 * abs(y[d, 0]) / abs(k[0, d, 0]))
    return max(h, 1e-8 * span)
