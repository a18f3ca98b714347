"""One step of the three-stage Radau IIA method of order 5 (compiled).

The unknowns are the highest derivative w at the three stages; Newton's method finds them from the
residual G(t, u, u', u'') itself, so the equation need not be solved for w.
"""

import math

import numpy as np

from gode.compiling import inner_njit
from gode.equation.interpreter import run_tape
from gode.solve.explicit import DONE, FLOOR, NO_ROOT, SINGULAR
from gode.solve.reading import read_signals

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


@inner_njit
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


@inner_njit
def extrapolate(w, theta):
    """Return the polynomial through the stage values `w` at `theta` steps from the step's start."""
    a = w[0] * (theta - C[1]) * (theta - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
    b = w[1] * (theta - C[0]) * (theta - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
    return a + b + w[2] * (theta - C[0]) * (theta - C[1]) / ((C[2] - C[0]) * (C[2] - C[1]))


@inner_njit
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
        read_signals(signals, x[0, i], point)
        for r in range(4, x.shape[0]):
            x[r, i] = point[r]


@inner_njit
def stage_matrix(order, h, base, grads, m):
    """Write the derivatives of the three stage equations in the three unknowns into `m`."""
    for i in range(3):
        for j in range(3):
            m[i, j] = grads[base + order - 1, i] * h * A[i, j]
            if order == 2:
                m[i, j] += grads[base, i] * h * h * AA[i, j]
        m[i, i] += grads[base + order, i]


@inner_njit
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


@inner_njit
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


@inner_njit
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
