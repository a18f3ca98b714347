"""Explicit equations by Dormand and Prince's method of order 5(4), with dense output (compiled).

The state may carry sensitivities: its derivatives with respect to the constants and initial values,
advanced by the same formulas, so that they are the exact derivatives of the computed solution.
"""

import math

import numpy as np
from numba import njit

from gode.equation.interpreter import run_tape, workspace

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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def derivative(tape, weight, c, signals, order, t, y, dy, x, const_dir, col_dir, work, param):
    """Write dy/dt for the state y[:, 0] and its sensitivities y[:, 1:]; return whether it is finite."""
    x[0, 0] = t
    x[1, 0] = y[0, 0]
    if order == 2:
        x[2, 0] = y[1, 0]
    read_signals(signals, t, x, 4)
    if not run_tape(tape, c, x, const_dir, col_dir, weight, work):
        return False
    f = 0.0
    for j in range(len(weight)):
        f += weight[j] * work.values[j, 0]
    if order == 2:
        dy[0, 0] = y[1, 0]
    dy[order - 1, 0] = f
    n_param = y.shape[1] - 1
    if n_param > 0:
        base = len(tape.nonlinear)
        slope_u = work.grads[base, 0]
        slope_v = work.grads[base + 1, 0] if order == 2 else 0.0
        for k in range(n_param):
            s = slope_u * y[0, k + 1]
            if order == 2:
                s += slope_v * y[1, k + 1]
                dy[0, k + 1] = y[1, k + 1]
            if param[k] >= 0 and const_dir[param[k]] >= 0:
                s += work.grads[const_dir[param[k]], 0]
            dy[order - 1, k + 1] = s
        for j in range(len(weight)):
            if tape.linear[j] >= 0:
                for k in range(n_param):
                    if param[k] == tape.linear[j]:
                        dy[order - 1, k + 1] += tape.multiplier[j] * work.values[j, 0]
    return math.isfinite(f)


@njit(cache=True, error_model="numpy")
def solve_explicit(tape, weight, c, signals, order, t, initial, param, rtol, bound, max_steps, out, sens):
    """Fill out[0:3] with u, u', u'' at the times `t`, and sens (params, 3, n); return (status, steps).

    `param` lists what the sensitivities are taken in: constants by index, initial values as -1, -2.
    """
    n_param = len(param)
    x = np.zeros((4 + len(signals.starts) - 1, 1))
    const_dir = np.full(tape.n_constants, -1, np.int64)
    col_dir = np.full(x.shape[0], -1, np.int64)
    n_dir = 0
    if n_param > 0:
        for i in range(len(tape.nonlinear)):
            const_dir[tape.nonlinear[i]] = i
        n_dir = len(tape.nonlinear) + order
        col_dir[1] = len(tape.nonlinear)
        if order == 2:
            col_dir[2] = len(tape.nonlinear) + 1
    work = workspace(len(weight), tape.depth, n_dir, 1)
    y, stage, late = (
        np.zeros((order, n_param + 1)),
        np.zeros((order, n_param + 1)),
        np.zeros((order, n_param + 1)),
    )
    k = np.zeros((7, order, n_param + 1))
    largest = np.zeros(order)
    for d in range(order):
        y[d, 0] = initial[d]
    for p in range(n_param):
        if param[p] < 0:
            y[-param[p] - 1, p + 1] = 1.0
    now = t[0]
    span = t[-1] - t[0]
    if not derivative(tape, weight, c, signals, order, now, y, k[0], x, const_dir, col_dir, work, param):
        return SINGULAR, 0
    write_out(order, y, k[0], 0, out, sens)
    h = first_step(order, y, k[0], span)
    for d in range(order):
        largest[d] = abs(y[d, 0]) + h * abs(k[0, d, 0])
    done = 1
    steps = 0
    while done < len(t):
        steps += 1
        if steps > max_steps:
            return BUDGET, steps
        if h < SMALLEST_STEP * span:
            return DIVERGED if abs(k[0, order - 1, 0]) * span > 1e6 * largest[order - 1] else SINGULAR, steps
        h = min(h, (t[-1] - now) * (1 + 1e-12))
        finite = True
        for s in range(1, 7):
            for d in range(order):
                for p in range(n_param + 1):
                    total = 0.0
                    for q in range(s):
                        total += A[s, q] * k[q, d, p]
                    stage[d, p] = y[d, p] + h * total
            finite = derivative(
                tape,
                weight,
                c,
                signals,
                order,
                now + C[s] * h,
                stage,
                k[s],
                x,
                const_dir,
                col_dir,
                work,
                param,
            )
            if not finite or not abs(stage[0, 0]) < bound:
                finite = False
                break
        if not finite:
            if abs(stage[0, 0]) >= bound and h < 1e-6 * span:
                return DIVERGED, steps
            h *= 0.2
            continue
        error = 0.0
        for d in range(order):
            e = 0.0
            for s in range(7):
                e += E[s] * k[s, d, 0]
            size = max(abs(y[d, 0]), abs(stage[d, 0]), FLOOR * largest[d])
            error = max(error, abs(h * e) / (rtol * size + 1e-300))
        factor = 5.0 if error < 1e-9 else min(5.0, max(0.2, 0.9 * error**-0.2))
        if error > 1.0:
            h *= min(factor, 0.9)
            continue
        while done < len(t) and t[done] <= now + h * (1 + 1e-12):
            theta = min((t[done] - now) / h, 1.0)
            for d in range(order):
                for p in range(n_param + 1):
                    total = 0.0
                    for s in range(7):
                        total += (
                            k[s, d, p]
                            * theta
                            * (
                                DENSE[s, 0]
                                + theta * (DENSE[s, 1] + theta * (DENSE[s, 2] + theta * DENSE[s, 3]))
                            )
                        )
                    late[d, p] = y[d, p] + h * total
            # k[1] is free once the step is accepted and its weight in the dense output is zero
            if not derivative(
                tape, weight, c, signals, order, t[done], late, k[1], x, const_dir, col_dir, work, param
            ):
                return SINGULAR, steps
            write_out(order, late, k[1], done, out, sens)
            done += 1
        now += h
        for d in range(order):
            largest[d] = max(largest[d], abs(stage[d, 0]))
            for p in range(n_param + 1):
                y[d, p] = stage[d, p]
                k[0, d, p] = k[6, d, p]
        h *= factor
    return DONE, steps


@njit(cache=True, error_model="numpy")
def first_step(order, y, dy, span):
    """Return a step over which the state changes by about one percent."""
    h = 1e-2 * span
    for d in range(order):
        if abs(dy[d, 0]) > 0.0 and abs(y[d, 0]) > 0.0:
            h = min(h, 0.01 * abs(y[d, 0]) / abs(dy[d, 0]))
    return max(h, 1e-8 * span)


@njit(cache=True, error_model="numpy")
def write_out(order, y, dy, i, out, sens):
    """Write the solution and its sensitivities at time number `i`."""
    for d in range(order):
        out[d, i] = y[d, 0]
    out[order, i] = dy[order - 1, 0]
    for p in range(y.shape[1] - 1):
        for d in range(order):
            sens[p, d, i] = y[d, p + 1]
        sens[p, order, i] = dy[order - 1, p + 1]
