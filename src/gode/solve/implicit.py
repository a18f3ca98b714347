"""Implicit and stiff equations, step by step with the Radau IIA method (compiled).

Because a step solves the residual itself, an equation need not be solved for its highest derivative, it
may degenerate at the start, and stiffness is no obstacle. Newton starts on the branch that the guide (the
data) shows, and then follows the collocation polynomial of the step before. Steps end on the sample times.
"""

import math

import numpy as np

from gode.compiling import cached_njit, inner_njit
from gode.equation.interpreter import run_tape, workspace
from gode.equation.point import weights_of
from gode.solve.explicit import BUDGET, DIVERGED, DONE, NO_ROOT, SINGULAR, SMALLEST_STEP, WORSE
from gode.solve.radau import (
    C,
    advance_sensitivities,
    error_of_step,
    extrapolate,
    solve_stages,
    stage_matrix,
    stage_points,
)
from gode.solve.reading import add_squares, read_signals

PILOT = 0.5  # largest relative distance of a trial step from the guide that counts as the same branch


@inner_njit(inline="always")  # called once
def first_derivative(tape, weight, c, order, t, y, guess, signals, x, point, const_dir, col_dir, work, base):
    """Return (w, status): the highest derivative at the start, by Newton from some guesses.

    The status is DONE for a simple root, SINGULAR where the equation does not determine w or has a double
    root, NO_ROOT if none is found. Far from the guess, a value that vanishes together with its slope is an
    underflow, as exp(w) at -10000, and no root.
    """
    for trial in range(8):
        w = guess if trial == 0 else (-1.0) ** trial * 10.0 ** (trial - 3) * (1.0 + abs(guess))
        for iteration in range(50):
            for i in range(3):
                x[0, i] = t
                x[1, i] = y[0]
                x[order + 1, i] = w
                if order == 2:
                    x[2, i] = y[1]
                read_signals(signals, t, point)
                for r in range(4, x.shape[0]):
                    x[r, i] = point[r]
            if not run_tape(tape, c, x, const_dir, col_dir, weight, work):
                break
            g = 0.0
            for j in range(len(weight)):
                g += weight[j] * work.values[j, 0]
            slope = work.grads[base + order, 0]
            if g == 0.0 and slope != 0.0:
                return w, DONE
            if g == 0.0 and trial + iteration == 0:
                return w, SINGULAR
            if slope == 0.0:
                break
            step = -g / slope
            w += step
            if abs(step) <= 1e-12 * (abs(w) + 1e-300):
                return w, DONE
    return guess, NO_ROOT


@inner_njit
def interpolated(at, x, y):
    """Return the samples `y` at the increasing `x` between them, constant beyond the last."""
    low, high = 0, len(x) - 1
    if at >= x[high]:
        return y[high]
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= at:
            low = middle
        else:
            high = middle
    return (y[high] - y[low]) / (x[high] - x[low]) * (at - x[low]) + y[low]


@cached_njit
def solve_implicit(
    tape,
    layout,
    c,
    signals,
    t,
    initial,
    guides,
    param,
    rtol,
    bound,
    max_steps,
    out,
    sens,
    observed,
    weights,
    limit,
):
    """Do the same as `solve_explicit`, for an equation that need not be solved for its highest derivative.

    `guide` (n,) holds the highest derivative the data show at the times `t`, or is empty.
    """
    out[:] = np.nan
    sens[:] = np.nan
    sse = 0.0
    order, guide = layout.orders[0], guides[0]
    if len(layout.orders) > 1:
        return NO_ROOT, 0, sse
    weight = weights_of(tape, c)
    n_param = len(param)
    x = np.zeros((4 + len(signals.starts) - 1, 3))
    point = np.zeros(x.shape[0])
    const_dir = np.full(tape.n_constants, -1, np.int64)
    col_dir = np.full(x.shape[0], -1, np.int64)
    base = 0
    if n_param > 0:
        base = len(tape.nonlinear)
        for i in range(base):
            const_dir[tape.nonlinear[i]] = i
    for d in range(order + 1):
        col_dir[1 + d] = base + d
    three = 3 * (order // order)  # not a literal, for which numba would compile everything again
    work = workspace(len(weight), tape.depth, base + order + 1, three)
    m = np.empty((3, 3))
    y = np.zeros(2)
    largest = np.zeros(2)
    y_sens, w_sens = np.zeros((n_param, 2)), np.zeros(n_param)
    for d in range(order):
        y[d] = initial[d]
    for p in range(n_param):
        if param[p] < 0:
            y_sens[p, -param[p] - 1] = 1.0
    guided = len(guide) == len(t)
    hint = guide[0] if guided else 0.0
    w0, root = first_derivative(
        tape, weight, c, order, t[0], y, hint, signals, x, point, const_dir, col_dir, work, base
    )
    rooted = root == DONE
    if root == NO_ROOT and not guided:
        return NO_ROOT, 0, sse
    out[0, 0], out[order, 0] = y[0], w0
    if order == 2:
        out[1, 0] = y[1]
    for p in range(n_param):
        for d in range(order):
            sens[p, d, 0] = y_sens[p, d]
        sens[p, order, 0] = 0.0
        if rooted and work.grads[base + order, 0] != 0.0:
            s = 0.0
            for d in range(order):
                s += work.grads[base + d, 0] * y_sens[p, d]
            if param[p] >= 0:
                if const_dir[param[p]] >= 0:
                    s += work.grads[const_dir[param[p]], 0]
                for j in range(len(weight)):
                    if tape.linear[j] == param[p]:
                        s += tape.multiplier[j] * work.values[j, 0]
            sens[p, order, 0] = -s / work.grads[base + order, 0]
    span = t[-1] - t[0]
    now = t[0]
    h = 0.1 * (t[1] - t[0])
    w, previous, before = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        w[i], previous[i] = w0, w0
    h_previous = h
    fresh = True
    largest[0], largest[1] = abs(y[0]) + h * abs(y[1]), abs(y[1])
    if order == 1:
        largest[0] += h * abs(w0)
    else:
        largest[1] += h * abs(w0)
    steps = 0
    failure = NO_ROOT
    done = 1
    # Where the equation degenerates at the start, branches meet, and the noise of the guide would choose
    # among them. Trial steps begin long, where the branches are apart, and are halved down to the first step.
    piloted = False
    length = 0.25 * span
    while guided and not rooted and length > h:
        for i in range(3):
            if piloted:
                w[i] = extrapolate(previous, C[i] * length / h_previous)
            else:
                w[i] = interpolated(now + C[i] * length, t, guide)
            before[i] = w[i]
        solved = solve_stages(
            tape, weight, c, order, now, length, y, w, signals, x, point, const_dir, col_dir, work, base, m
        )
        off, size = 0.0, 0.0
        for i in range(3):
            off += (w[i] - before[i]) ** 2
            size += before[i] ** 2
        if solved == DONE and (piloted or off < PILOT**2 * size):
            piloted = True
            for i in range(3):
                previous[i] = w[i]
            h_previous = length
        length *= 0.5
    while done < len(t):
        steps += 1
        if steps > max_steps + done:  # the steps that end on sample times are free
            return BUDGET, steps, sse
        if h < SMALLEST_STEP * span:
            return failure, steps, sse
        last = now + h >= t[done] - 1e-9 * h
        step = t[done] - now if last else h
        solved = NO_ROOT
        for attempt in range(2):
            for i in range(3):
                if attempt == 0 and not fresh:
                    w[i] = extrapolate(previous, 1.0 + C[i] * step / h_previous)
                elif attempt == 0 and piloted:
                    w[i] = extrapolate(previous, C[i] * step / h_previous)
                elif guided:
                    share = (now + C[i] * step - t[done - 1]) / (t[done] - t[done - 1])
                    w[i] = guide[done - 1] + share * (guide[done] - guide[done - 1])
                else:
                    w[i] = w0
            solved = solve_stages(
                tape, weight, c, order, now, step, y, w, signals, x, point, const_dir, col_dir, work, base, m
            )
            if solved == DONE:
                break
        if solved != DONE:
            failure = solved
            h = 0.25 * step
            continue
        # the derivatives at the solution, not at the last iterate
        stage_points(order, now, step, y, w, signals, x, point)
        if not run_tape(tape, c, x, const_dir, col_dir, weight, work):
            h = 0.25 * step
            continue
        if not abs(x[1, 2]) < bound[0]:
            return DIVERGED, steps, sse
        error = error_of_step(order, step, y, w0, w, x, work.grads, base, largest, rtol)
        if fresh and not rooted:
            error = min(error, 1.0)  # the equation degenerates at the start: there is no w0 to compare with
        factor = 4.0 if error < 1e-8 else min(4.0, max(0.2, 0.9 * error**-0.25))
        if not error <= 1.0:
            failure = DIVERGED
            h = step * min(factor, 0.9) if math.isfinite(error) else 0.2 * step
            continue
        if n_param > 0:
            stage_matrix(order, step, base, work.grads, m)
            if not advance_sensitivities(
                order, step, y_sens, base, tape, weight, work, const_dir, param, w_sens, m
            ):
                return SINGULAR, steps, sse
        for d in range(order):
            y[d] = x[1 + d, 2]
            largest[d] = max(largest[d], abs(y[d]))
        w0 = w[2]
        for i in range(3):
            previous[i] = w[i]
        h_previous = step
        if fresh and not rooted:
            out[order, 0] = extrapolate(w, 0.0)
        fresh = False
        now = t[done] if last else now + step
        if not last:
            h = step * factor
        else:
            h = max(h, step * factor) if factor > 1.0 else step * factor
            out[0, done], out[order, done] = y[0], w0
            if order == 2:
                out[1, done] = y[1]
            for p in range(n_param):
                for d in range(order):
                    sens[p, d, done] = y_sens[p, d]
                sens[p, order, done] = w_sens[p]
            done += 1
            if len(weights) > 0:
                low = 0 if done == 2 else done - 1  # the first sample is known after the first step
                sse = add_squares(observed, weights, out, low, done, np.arange(3), sse)
                if sse >= limit:
                    return WORSE, steps, sse
    return DONE, steps, sse
