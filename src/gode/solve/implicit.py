"""Implicit and stiff equations by the three-stage Radau IIA method of order 5 (compiled).

The unknowns of a step are the highest derivative w at its three stages; Newton's method finds them from
the residual G(t, u, u', u'') itself, so an equation need not be solved for w, G may degenerate at the
start, and stiffness is no obstacle. Newton starts on the branch that the guide (the data) shows, and
then follows the collocation polynomial of the step before. Steps end on the sample times.
"""

import math

import numpy as np
from numba import njit

from gode.equation.tape import run_tape, workspace
from gode.solve.explicit import BUDGET, DIVERGED, DONE, FLOOR, NO_ROOT, SINGULAR, SMALLEST_STEP
from gode.solve.signals import read_signals

S6 = math.sqrt(6.0)
C = np.array([(4 - S6) / 10, (4 + S6) / 10, 1.0])
A = np.array(
    [
        [(88 - 7 * S6) / 360, (296 - 169 * S6) / 1800, (-2 + 3 * S6) / 225],
        [(296 + 169 * S6) / 1800, (88 + 7 * S6) / 360, (-2 - 3 * S6) / 225],
        [(16 - S6) / 36, (16 + S6) / 36, 1 / 9],
    ]
)
AA = A @ A
GAMMA = 1 / (3 + 3 ** (2 / 3) - 3 ** (1 / 3))  # real eigenvalue of A, used to filter the error estimate
E = np.linalg.solve(np.vander(C, 3, increasing=True).T, np.array([-GAMMA, 0.0, 0.0]))
MAX_NEWTON = 12


@njit(cache=True, error_model="numpy")
def solve3(m, b):
    """Solve a 3 by 3 system in place by elimination with pivoting; return whether that worked."""
    for i in range(3):
        pivot = i
        for r in range(i + 1, 3):
            if abs(m[r, i]) > abs(m[pivot, i]):
                pivot = r
        if not abs(m[pivot, i]) > 0.0 or not math.isfinite(m[pivot, i]):
            return False
        if pivot != i:
            for q in range(3):
                m[i, q], m[pivot, q] = m[pivot, q], m[i, q]
            b[i], b[pivot] = b[pivot], b[i]
        for r in range(i + 1, 3):
            f = m[r, i] / m[i, i]
            for q in range(i, 3):
                m[r, q] -= f * m[i, q]
            b[r] -= f * b[i]
    for i in range(2, -1, -1):
        for q in range(i + 1, 3):
            b[i] -= m[i, q] * b[q]
        b[i] /= m[i, i]
    return math.isfinite(b[0] + b[1] + b[2])


@njit(cache=True, error_model="numpy")
def extrapolate(w, theta):
    """Return the polynomial through the stage values `w` at `theta` steps from the step's start."""
    a = w[0] * (theta - C[1]) * (theta - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
    b = w[1] * (theta - C[0]) * (theta - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
    return a + b + w[2] * (theta - C[0]) * (theta - C[1]) / ((C[2] - C[0]) * (C[2] - C[1]))


@njit(cache=True, error_model="numpy")
def stage_points(order, now, h, y, w, signals, x, point):
    """Write the columns at the three stages into `x`."""
    for i in range(3):
        once = h * (A[i, 0] * w[0] + A[i, 1] * w[1] + A[i, 2] * w[2])
        x[0, i] = now + C[i] * h
        if order == 1:
            x[1, i], x[2, i] = y[0] + once, w[i]
        else:
            twice = h * h * (AA[i, 0] * w[0] + AA[i, 1] * w[1] + AA[i, 2] * w[2])
            x[1, i] = y[0] + h * C[i] * y[1] + twice
            x[2, i], x[3, i] = y[1] + once, w[i]
        read_signals(signals, x[0, i], point, 4)
        for r in range(4, x.shape[0]):
            x[r, i] = point[r, 0]


@njit(cache=True, error_model="numpy")
def stage_matrix(order, h, base, grads, m):
    """Write the derivatives of the three stage equations in the three unknowns into `m`."""
    for i in range(3):
        for j in range(3):
            m[i, j] = grads[base + order - 1, i] * h * A[i, j]
            if order == 2:
                m[i, j] += grads[base, i] * h * h * AA[i, j]
        m[i, i] += grads[base + order, i]


@njit(cache=True, error_model="numpy")
def solve_stages(tape, weight, c, order, now, h, y, w, signals, x, point, const_dir, col_dir, work, base, m):
    """Find the stage values by Newton from the guess in `w`; return DONE, SINGULAR or NO_ROOT."""
    b = np.empty(3)
    before = np.inf
    for _ in range(MAX_NEWTON):
        stage_points(order, now, h, y, w, signals, x, point)
        if not run_tape(tape, c, x, const_dir, col_dir, weight, work):
            return NO_ROOT
        stage_matrix(order, h, base, work.grads, m)
        for i in range(3):
            b[i] = 0.0
            for j in range(len(weight)):
                b[i] -= weight[j] * work.values[j, i]
        if b[0] == 0.0 and b[1] == 0.0 and b[2] == 0.0:
            return DONE
        if not solve3(m, b):
            return SINGULAR
        change = max(abs(b[0]), abs(b[1]), abs(b[2]))
        size = 1e-300
        for i in range(3):
            w[i] += b[i]
            size = max(size, abs(w[i]))
        if change <= 1e-12 * size or (change <= 1e-9 * size and change > 0.5 * before):
            return DONE
        if change > 2.0 * before and change > 1e-3 * size:
            return NO_ROOT
        before = change
    return DONE if before <= 1e-7 * size else NO_ROOT


@njit(cache=True, error_model="numpy")
def error_of_step(order, h, y, w0, w, x, grads, base, largest, rtol):
    """Return the filtered error estimate of a step relative to the tolerance."""
    top = w0 * GAMMA
    for i in range(3):
        top += E[i] * w[i]
    g = grads[base + order, 2]
    pull = -grads[base + order - 1, 2] / g if g != 0.0 else 0.0
    if order == 1:
        e = h * top / (1.0 - h * GAMMA * pull) if math.isfinite(pull) else h * top
        size = max(abs(y[0]), abs(x[1, 2]), FLOOR * largest[0])
        return abs(e) / (rtol * size + 1e-300)
    low = y[1] * GAMMA
    for i in range(3):
        low += E[i] * x[2, i]
    e0, e1 = h * low, h * top
    spring = -grads[base, 2] / g if g != 0.0 else 0.0
    a = h * GAMMA
    det = (1.0 - a * pull) - a * a * spring
    if math.isfinite(det) and abs(det) > 1e-3:
        e0, e1 = ((1.0 - a * pull) * e0 + a * e1) / det, (a * spring * e0 + e1) / det
    size0 = max(abs(y[0]), abs(x[1, 2]), FLOOR * largest[0])
    size1 = max(abs(y[1]), abs(x[2, 2]), FLOOR * largest[1])
    return max(abs(e0) / (rtol * size0 + 1e-300), abs(e1) / (rtol * size1 + 1e-300))


@njit(cache=True, error_model="numpy")
def advance_sensitivities(order, h, y_sens, base, tape, weight, work, const_dir, param, w_sens, m):
    """Advance the derivatives of the state by one step, by differentiating the stage equations."""
    b = np.empty(3)
    copy = np.empty((3, 3))
    for p in range(len(param)):
        for i in range(3):
            s = 0.0
            if param[p] >= 0:
                if const_dir[param[p]] >= 0:
                    s += work.grads[const_dir[param[p]], i]
                for j in range(len(weight)):
                    if tape.linear[j] == param[p]:
                        s += tape.multiplier[j] * work.values[j, i]
            if order == 1:
                s += work.grads[base, i] * y_sens[p, 0]
            else:
                s += work.grads[base, i] * (y_sens[p, 0] + h * C[i] * y_sens[p, 1])
                s += work.grads[base + 1, i] * y_sens[p, 1]
            b[i] = -s
            for q in range(3):
                copy[i, q] = m[i, q]
        if not solve3(copy, b):
            return False
        once = h * (A[2, 0] * b[0] + A[2, 1] * b[1] + A[2, 2] * b[2])
        if order == 1:
            y_sens[p, 0] += once
        else:
            y_sens[p, 0] += h * y_sens[p, 1] + h * h * (AA[2, 0] * b[0] + AA[2, 1] * b[1] + AA[2, 2] * b[2])
            y_sens[p, 1] += once
        w_sens[p] = b[2]
    return True


@njit(cache=True, error_model="numpy")
def first_derivative(tape, weight, c, order, t, y, guess, signals, x, point, const_dir, col_dir, work, base):
    """Return (w, whether it is a root): the highest derivative at the start by Newton from several guesses."""
    best = guess
    for trial in range(8):
        w = guess if trial == 0 else (-1.0) ** trial * 10.0 ** (trial - 3) * (1.0 + abs(guess))
        for _ in range(50):
            for i in range(3):
                x[0, i] = t
                x[1, i] = y[0]
                x[order + 1, i] = w
                if order == 2:
                    x[2, i] = y[1]
                read_signals(signals, t, point, 4)
                for r in range(4, x.shape[0]):
                    x[r, i] = point[r, 0]
            if not run_tape(tape, c, x, const_dir, col_dir, weight, work):
                break
            g = 0.0
            for j in range(len(weight)):
                g += weight[j] * work.values[j, 0]
            if g == 0.0:
                return w, True
            slope = work.grads[base + order, 0]
            if slope == 0.0:
                break
            step = -g / slope
            w += step
            if abs(step) <= 1e-12 * (abs(w) + 1e-300):
                return w, True
    return best, False


@njit(cache=True, error_model="numpy")
def solve_implicit(tape, weight, c, signals, order, t, initial, guide, param, rtol, bound, max_steps, out, sens):
    """Fill out[0:3] with u, u', u'' at the times `t`, and sens (params, 3, n); return (status, steps).

    `guide` (n,) holds the highest derivative the data show at the times `t`, or is empty.
    """
    n_param = len(param)
    x = np.zeros((4 + len(signals.starts) - 1, 3))
    point = np.zeros((x.shape[0], 1))
    const_dir = np.full(tape.n_constants, -1, np.int64)
    col_dir = np.full(x.shape[0], -1, np.int64)
    base = 0
    if n_param > 0:
        base = len(tape.nonlinear)
        for i in range(base):
            const_dir[tape.nonlinear[i]] = i
    for d in range(order + 1):
        col_dir[1 + d] = base + d
    work = workspace(len(weight), tape.depth, base + order + 1, 3)
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
    w0, rooted = first_derivative(
        tape, weight, c, order, t[0], y, guide[0] if guided else 0.0, signals, x, point, const_dir, col_dir, work, base
    )  # fmt: skip
    if not rooted and not guided:
        return NO_ROOT, 0
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
    w, previous = np.full(3, w0), np.full(3, w0)
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
    while done < len(t):
        steps += 1
        if steps > max_steps:
            return BUDGET, steps
        if h < SMALLEST_STEP * span:
            return failure, steps
        last = now + h >= t[done] - 1e-9 * h
        step = t[done] - now if last else h
        solved = NO_ROOT
        for attempt in range(2):
            for i in range(3):
                if attempt == 0 and not fresh:
                    w[i] = extrapolate(previous, 1.0 + C[i] * step / h_previous)
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
        if not abs(x[1, 2]) < bound:
            return DIVERGED, steps
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
                return SINGULAR, steps
        for d in range(order):
            y[d] = x[1 + d, 2]
            largest[d] = max(largest[d], abs(y[d]))
        w0 = w[2]
        for i in range(3):
            previous[i] = w[i]
        h_previous = step
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
    return DONE, steps
