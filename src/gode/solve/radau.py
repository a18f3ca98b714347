"""The three-stage Radau IIA method of order 5: residuals at its stages, elimination, one step (compiled).

The unknowns are the highest derivatives w (d, 3) of the d states at the three stages; Newton's method finds
them from the residuals G(t, u, u', u'', ...) themselves, so the equations need not be solved for w.
"""

import math

import numpy as np

from gode.equation.interpreter import run_tape
from gode.numba_cache import inner_njit
from gode.solve.explicit import DONE, FLOOR, NO_ROOT, SINGULAR, WORSE, read_signals


@inner_njit
def eliminate(m, n, pivot):
    """Factor the first `n` rows and columns of `m` in place; return whether that worked.

    `pivot` becomes the row that was swapped with each.
    """
    for i in range(n):
        best = i
        for r in range(i + 1, n):
            if abs(m[r, i]) > abs(m[best, i]):
                best = r
        if not abs(m[best, i]) > 0.0 or not math.isfinite(m[best, i]):
            return False
        pivot[i] = best
        if best != i:
            for q in range(n):
                m[i, q], m[best, q] = m[best, q], m[i, q]
        for r in range(i + 1, n):
            m[r, i] /= m[i, i]
            for q in range(i + 1, n):
                m[r, q] -= m[r, i] * m[i, q]
    return True


@inner_njit
def substitute(m, n, pivot, b):
    """Solve for the right-hand side `b` in place, with what `eliminate` made; return whether it is finite."""
    for i in range(n):
        b[i], b[pivot[i]] = b[pivot[i]], b[i]
    for i in range(n):
        for r in range(i + 1, n):
            b[r] -= m[r, i] * b[i]
    total = 0.0
    for i in range(n - 1, -1, -1):
        for q in range(i + 1, n):
            b[i] -= m[i, q] * b[q]
        b[i] /= m[i, i]
        total += b[i]
    return math.isfinite(total)


@inner_njit
def residuals(tape, layout, weight, c, scratch):
    """Evaluate all equations at scratch.x; return whether every term is finite."""
    terms, work, grads = layout.terms, scratch.work, scratch.grads
    for e in range(len(terms) - 1):
        work.span[0], work.span[1] = terms[e], terms[e + 1]
        if not run_tape(tape, c, scratch.x, scratch.const_dir, scratch.col_dir, weight, work):
            return False
        for k in range(grads.shape[1]):
            for i in range(3):
                grads[e, k, i] = work.grads[k, i]
        for i in range(3):
            total = 0.0
            for j in range(terms[e], terms[e + 1]):
                total += weight[j] * work.values[j, i]
            scratch.total[e, i] = total
    return True


@inner_njit
def in_parameter(multiplier, linear, values, grads, const_dir, constants, terms, param, e, i):
    """Return the derivative of equation `e` at stage `i` in one of its constants; zero in other numbers."""
    s = 0.0
    if constants[e] <= param < constants[e + 1]:
        if const_dir[param] >= 0:
            s += grads[e, const_dir[param], i]
        for j in range(terms[e], terms[e + 1]):
            if linear[j] == param:
                s += multiplier[j] * values[j, i]
    return s


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
def extrapolate(w, e, theta):
    """Return the polynomial through the stage values w[e] at `theta` steps from the step's start."""
    a = w[e, 0] * (theta - C[1]) * (theta - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
    b = w[e, 1] * (theta - C[0]) * (theta - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
    return a + b + w[e, 2] * (theta - C[0]) * (theta - C[1]) / ((C[2] - C[0]) * (C[2] - C[1]))


@inner_njit
def stage_points(layout, now, h, y, w, signals, x, point, rate):
    """Write the columns at the three stages into `x`; the equations do not see what infusions add."""
    orders = layout.orders
    for i in range(3):
        x[0, i] = now + C[i] * h
        for e in range(len(orders)):
            low, column = layout.places[e], 1 + 3 * e
            once = h * (A[i, 0] * w[e, 0] + A[i, 1] * w[e, 1] + A[i, 2] * w[e, 2])
            if orders[e] == 1:
                x[column, i], x[column + 1, i] = y[low] + once, w[e, i] - rate[e]
            else:
                twice = h * h * (AA[i, 0] * w[e, 0] + AA[i, 1] * w[e, 1] + AA[i, 2] * w[e, 2])
                x[column, i] = y[low] + h * C[i] * y[low + 1] + twice
                x[column + 1, i], x[column + 2, i] = y[low + 1] + once, w[e, i] - rate[e]
        read_signals(signals, x[0, i], point)
        for r in range(1 + 3 * len(orders), x.shape[0]):
            x[r, i] = point[r]


@inner_njit
def stage_matrix(layout, h, grads, m):
    """Write the derivatives of the stage equations in the unknowns into `m`, equation after equation.

    `grads` (d, directions, 3) begin with each state and its derivatives up to the highest.
    """
    orders = layout.orders
    for e in range(len(orders)):
        for f in range(len(orders)):
            order, own = orders[f], layout.places[f] + f
            for i in range(3):
                for j in range(3):
                    slope = grads[e, own + order - 1, i] * h * A[i, j]
                    if order == 2:
                        slope += grads[e, own, i] * h * h * AA[i, j]
                    m[3 * e + i, 3 * f + j] = slope
                m[3 * e + i, 3 * f + i] += grads[e, own + order, i]


@inner_njit
def solve_stages(tape, layout, weight, c, now, h, y, w, signals, largest, scratch):
    """Find the stage values by Newton from the guess in `w`; return DONE, SINGULAR or NO_ROOT.

    Residuals and derivatives in `scratch` are then those at the solution, not at the last iterate; where they
    are not finite, it returns WORSE.
    """
    orders = layout.orders
    pivot = scratch.pivot
    d, n, m = len(orders), 3 * len(orders), scratch.matrix
    b, before = scratch.right, scratch.highest[2]
    change, size = scratch.highest[3], scratch.highest[4]
    for e in range(d):
        before[e] = np.inf
    found = False
    for iteration in range(MAX_NEWTON + 1):
        stage_points(layout, now, h, y, w, signals, scratch.x, scratch.point, scratch.rate)
        if not residuals(tape, layout, weight, c, scratch):
            return WORSE if found else NO_ROOT
        if found:
            break
        stage_matrix(layout, h, scratch.grads, m)
        zero = True
        for e in range(d):
            for i in range(3):
                b[3 * e + i] = 0.0 - scratch.total[e, i]
                zero = zero and b[3 * e + i] == 0.0
        if zero:
            break
        if not (eliminate(m, n, pivot) and substitute(m, n, pivot, b)):
            return SINGULAR
        found, lost, enough = True, False, True
        for e in range(d):
            change[e] = max(abs(b[3 * e]), abs(b[3 * e + 1]), abs(b[3 * e + 2]))
            # a state of a system may rest while others move
            size[e] = 1e-300 if d == 1 else FLOOR * largest[layout.places[e + 1] - 1] / h
            for i in range(3):
                w[e, i] += b[3 * e + i]
                size[e] = max(size[e], abs(w[e, i]))
            small = change[e] <= 1e-12 * size[e]
            found = found and (small or (change[e] <= 1e-9 * size[e] and change[e] > 0.5 * before[e]))
            lost = lost or (change[e] > 2.0 * before[e] and change[e] > 1e-3 * size[e])
            enough = enough and change[e] <= 1e-7 * size[e]
            before[e] = change[e]
        found = found or (not lost and iteration == MAX_NEWTON - 1 and enough)
        if not found and (lost or iteration == MAX_NEWTON - 1):
            return NO_ROOT
    return DONE


@inner_njit
def error_of_step(layout, h, y, w0, w, largest, rtol, scratch):
    """Return the filtered error estimate of a step relative to the tolerance."""
    x, orders, places = scratch.x, layout.orders, layout.places
    e = scratch.entries[2]
    for f in range(len(orders)):
        low, top = places[f], places[f + 1] - 1
        total = w0[f] * GAMMA
        for i in range(3):
            total += E[i] * w[f, i]
        e[top] = h * total
        if top > low:
            total = y[top] * GAMMA
            for i in range(3):
                total += E[i] * x[2 + 3 * f, i]
            e[low] = h * total
    if len(orders) == 1:
        filter_one(orders[0], h, scratch.grads, e)
    else:
        filter_all(layout, h, scratch)
    error = 0.0
    for k in range(len(e)):
        size = max(abs(y[k]), abs(x[1 + layout.channel[k], 2]), FLOOR * largest[k])
        share = abs(e[k]) / (rtol * size + 1e-300)
        error = share if k == 0 else max(error, share)
    return error


@inner_njit
def filter_one(order, h, grads, e):
    """Filter the error `e` of a single equation, whose matrix has at most two rows."""
    g = grads[0, order, 2]
    pull = -grads[0, order - 1, 2] / g if g != 0.0 else 0.0
    a = h * GAMMA
    if order == 1:
        if math.isfinite(pull):
            e[0] /= 1.0 - a * pull
        return
    spring = -grads[0, 0, 2] / g if g != 0.0 else 0.0
    det = (1.0 - a * pull) - a * a * spring
    if math.isfinite(det) and abs(det) > 1e-3:
        e[0], e[1] = ((1.0 - a * pull) * e[0] + a * e[1]) / det, (a * spring * e[0] + e[1]) / det


@inner_njit
def filter_all(layout, h, scratch):
    """Filter the error of a system: solve (1 - h GAMMA J) e = error, where dG/dw J = -dG/dy."""
    places = layout.places
    pivot = scratch.pivot
    e, m, grads, orders = scratch.entries[2], scratch.matrix, scratch.grads, layout.orders
    n, a = len(e), h * GAMMA
    b = scratch.right
    for k in range(n):
        b[k] = 0.0
    for f in range(len(orders)):
        low, top = places[f], places[f + 1] - 1
        for k in range(n):
            m[low, k] = 0.0  # overwritten below where the state has only this row
        if top > low:
            m[low, low], m[low, top], b[low] = 1.0, -a, e[low]
        for g in range(len(orders)):
            own, first = places[g] + g, places[g]
            for k in range(orders[g]):
                m[top, first + k] = a * grads[f, own + k, 2]
            m[top, first + orders[g] - 1] += grads[f, own + orders[g], 2]
            b[top] += grads[f, own + orders[g], 2] * e[first + orders[g] - 1]
    if eliminate(m, n, pivot) and substitute(m, n, pivot, b):
        for k in range(n):
            e[k] = b[k]


@inner_njit
def advance_sensitivities(tape, layout, h, y_sens, param, w_sens, scratch, rate_slope):
    """Advance the derivatives of the state by one step, by differentiating the stage equations."""
    multiplier, linear, values = tape.multiplier, tape.linear, scratch.work.values
    const_dir, constants, terms = scratch.const_dir, layout.constants, layout.terms
    orders, places = layout.orders, layout.places
    pivot = scratch.pivot
    d, grads, m, n = len(orders), scratch.grads, scratch.matrix, 3 * len(orders)
    b = scratch.right
    stage_matrix(layout, h, grads, m)
    if not eliminate(m, n, pivot):
        return False
    for p in range(len(param)):
        for e in range(d):
            for i in range(3):
                s = in_parameter(
                    multiplier, linear, values, grads, const_dir, constants, terms, param[p], e, i
                )
                for f in range(d):
                    own, low = places[f] + f, places[f]
                    s -= grads[e, own + orders[f], i] * rate_slope[f, p]
                    if orders[f] == 1:
                        s += grads[e, own, i] * y_sens[p, low]
                    else:
                        s += grads[e, own, i] * (y_sens[p, low] + h * C[i] * y_sens[p, low + 1])
                        s += grads[e, own + 1, i] * y_sens[p, low + 1]
                b[3 * e + i] = -s
        if not substitute(m, n, pivot, b):
            return False
        for e in range(d):
            low, q = places[e], 3 * e
            once = h * (A[2, 0] * b[q] + A[2, 1] * b[q + 1] + A[2, 2] * b[q + 2])
            if orders[e] == 1:
                y_sens[p, low] += once
            else:
                twice = h * h * (AA[2, 0] * b[q] + AA[2, 1] * b[q + 1] + AA[2, 2] * b[q + 2])
                y_sens[p, low] += h * y_sens[p, low + 1] + twice
                y_sens[p, low + 1] += once
            w_sens[p, e] = b[q + 2]
    return True
