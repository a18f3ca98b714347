"""Variable projection: linear constants by least squares, the others by Levenberg-Marquardt (compiled).

For given nonlinear constants the best linear ones follow from an orthogonalisation of the terms; only
the nonlinear ones iterate, on the projected residual with Kaufman's Jacobian.
"""

import math

import numpy as np

from gode.compiling import cached_njit, inner_njit
from gode.equation.interpreter import operands, run_tape, value_at_point, workspace
from gode.equation.tape import ADDEND, EXPONENT, FREQUENCY, KINK

# Starting values of constants inside terms by their role, from which fits begin in this order; set by hand.
FACTOR_STARTS = np.array([1.0, -1.0, 3.0, -3.0, 0.3, -0.3, 8.0, 2.0, 20.0, -8.0, 5.0, 12.0])
ADDEND_STARTS = np.array([1.0, -0.5, 0.3, 3.0, -2.0, 0.1, 10.0, 0.6, -0.1, 1.5, -5.0, 30.0])
EXPONENT_STARTS = np.array([1.5, 0.5, -1.0, 2.5, 0.8, 3.5, -0.5, 1.2, -2.0, 0.2, 4.5, -0.2])
STRIDES = np.array([1, 5, 7, 11, 3, 4, 8, 9])  # a different walk through the starts for each constant


@inner_njit(fastmath={"reassoc", "contract"})
def dot(a, i, b, j):
    """Return the inner product of rows a[i] and b[j]."""
    s = 0.0
    for m in range(a.shape[1]):
        s += a[i, m] * b[j, m]
    return s


@cached_njit
def starting_values(tape, scale_tape, role, x, n_starts):
    """Return (n_starts, q) values of the nonlinear constants, each in the size its neighbours suggest."""
    n = x.shape[1]
    q = len(role)
    thetas = np.ones((n_starts, q))
    left, _ = operands(scale_tape, np.zeros(x.shape[0], np.bool_))
    values = np.empty(len(scale_tape.code))
    c, one = np.ones(tape.n_constants), np.ones(1)
    only, sums = np.zeros(1, np.int64), np.empty(1)
    place = np.empty(x.shape[0])
    for i in range(q):
        total, low, high = 0.0, np.inf, -np.inf
        for m in range(n):
            for r in range(x.shape[0]):
                place[r] = x[r, m]
            value_at_point(
                scale_tape.code,
                scale_tape.arg,
                scale_tape.literal,
                scale_tape.starts[i : i + 2],
                left,
                c,
                one,
                only,
                place,
                values,
                sums,
            )
            value = sums[0]
            total += value * value
            low, high = min(low, value), max(high, value)
        size = math.sqrt(total / n)
        if not (math.isfinite(size) and size > 0.0):
            size = 1.0
        for s in range(n_starts):
            pick = (s * STRIDES[i % 8] + s // 12 * i) % 12  # after a dozen, other combinations
            if role[i] == FREQUENCY:  # a quarter of a cycle more over the record from start to start
                quarter = 0.5 * math.pi / (high - low) if high > low else 1.0
                thetas[s, i] = quarter * (1.0 + (s * STRIDES[i % 8]) % n_starts)
            elif role[i] == EXPONENT:
                thetas[s, i] = EXPONENT_STARTS[pick]
            elif role[i] == KINK and high > low:
                share = (7 * pick % 12 + 0.5) / 12  # in the range of what bends there
                thetas[s, i] = -low - share * (high - low)
            elif role[i] == ADDEND or role[i] == KINK:
                thetas[s, i] = ADDEND_STARTS[pick] * size
            else:
                thetas[s, i] = FACTOR_STARTS[pick] / size
    return thetas


@cached_njit
def term_at_starts(tape, scale_tape, role, x, n_starts):
    """Return the one term of `tape` (n_starts, n) at all starting values; NaN where it is not finite."""
    thetas = starting_values(tape, scale_tape, role, x, n_starts)
    zero = n_starts - n_starts  # not a literal, for which numba would compile everything again
    work = workspace(len(tape.multiplier), tape.depth, zero, x.shape[1])
    no_constants, no_columns = np.full(tape.n_constants, -1), np.full(x.shape[0], -1)
    out = np.full((n_starts, x.shape[1]), np.nan)
    for s in range(n_starts):
        if run_tape(tape, thetas[s], x, no_constants, no_columns, tape.multiplier, work):
            for m in range(x.shape[1]):
                out[s, m] = work.values[0, m]
    return out


DEPENDENT = 1e-7  # a term whose residual on the others is a smaller share of it is dropped as dependent
NO_PROGRESS = 1e12  # damping at which Levenberg-Marquardt gives up
FARTHEST = 100.0  # bound of a constant, times its largest start: beyond it, 1/(u + C) is a straight line


@cached_njit
def transform(rows, problem, scratch):
    """Integrate the rows within each run as often as the problem says, remove its basis, in place."""
    starts, stencil, weights, basis = problem.starts, problem.stencil, problem.weights, problem.basis
    n_runs = len(starts) - 1
    width = weights.shape[1]
    for k in range(rows.shape[0]):
        for _ in range(problem.order):
            for r in range(n_runs):
                total = 0.0
                scratch[starts[r]] = 0.0
                for i in range(starts[r] + 1, starts[r + 1]):
                    base = stencil[i]
                    last = min(width, starts[r + 1] - base)
                    for q in range(last):
                        total += weights[i, q] * rows[k, base + q]
                    scratch[i] = total
            for i in range(rows.shape[1]):
                rows[k, i] = scratch[i]
        for b in range(basis.shape[0]):
            for r in range(n_runs):
                s = 0.0
                for i in range(starts[r], starts[r + 1]):
                    s += basis[b, i] * rows[k, i]
                for i in range(starts[r], starts[r + 1]):
                    rows[k, i] -= s * basis[b, i]


@inner_njit
def project(a, residual, triangle, kept, c):
    """Orthonormalise the rows of `a` in place, take their part out of `residual`, solve for c."""
    n_rows, n = a.shape
    zero = n_rows - n_rows  # not a literal, for which numba would compile everything again
    z = np.zeros(n_rows)
    for j in range(n_rows):
        size = math.sqrt(dot(a, j, a, j))
        for k in range(j):
            triangle[k, j] = 0.0
            if kept[k]:
                s = dot(a, k, a, j)
                triangle[k, j] = s
                for m in range(n):
                    a[j, m] -= s * a[k, m]
        left = math.sqrt(dot(a, j, a, j))
        kept[j] = left > DEPENDENT * size and left > 0.0 and math.isfinite(left)
        if kept[j]:
            triangle[j, j] = left
            for m in range(n):
                a[j, m] /= left
            s = dot(a, j, residual, zero)
            z[j] = s
            for m in range(n):
                residual[0, m] -= s * a[j, m]
        else:
            for m in range(n):
                a[j, m] = 0.0
    for j in range(n_rows - 1, -1, -1):
        s = z[j]
        for k in range(j + 1, n_rows):
            s -= triangle[j, k] * c[k]
        c[j] = s / triangle[j, j] if kept[j] else 0.0
    sse = dot(residual, zero, residual, zero)
    return sse if math.isfinite(sse) else np.inf


@inner_njit
def project_terms(tape, problem, values, rows, fixed, residual, triangle, kept, own, scratch):
    """Fit the linear constants to given program values; return the sum of squares that is left."""
    k = 0
    n = values.shape[1]
    for m in range(n):
        fixed[0, m] = 0.0
    for j in range(len(tape.multiplier)):
        if tape.linear[j] >= 0:
            for m in range(n):
                rows[k, m] = tape.multiplier[j] * values[j, m]
            k += 1
        else:
            for m in range(n):
                fixed[0, m] += tape.multiplier[j] * values[j, m]
    if problem.order > 0:
        transform(rows, problem, scratch)
        transform(fixed, problem, scratch)
    for m in range(n):
        residual[0, m] = problem.target[m] - fixed[0, m]
    return project(rows, residual, triangle, kept, own)


@inner_njit
def project_gradients(tape, problem, grads, rows, kept, own, jacobian, scratch):
    """Turn derivatives of the programs into Kaufman's Jacobian of the projected residual."""
    q = len(tape.nonlinear)
    if problem.order > 0:
        transform(grads, problem, scratch)
    for i in range(q):
        w = 1.0
        k = 0
        for j in range(tape.owner[i] + 1):
            if tape.linear[j] >= 0:
                if j == tape.owner[i]:
                    w = own[k]
                k += 1
        for m in range(grads.shape[1]):
            jacobian[i, m] = w * grads[i, m]
        for k in range(len(own)):
            if kept[k]:
                d = dot(rows, k, jacobian, i)
                for m in range(grads.shape[1]):
                    jacobian[i, m] -= d * rows[k, m]


@cached_njit
def fit_kernel(
    tape, scale_tape, role, poles, problem, n_starts, n_skipped, n_refined, max_iterations, tolerance
):
    """Return (sum of squares, all constants, evaluations); the sum is inf where nothing finite was found.

    Every start is scored once; from the best few, Levenberg-Marquardt iterates. Constants for which a
    denominator changes its sign along a run, so that the solution would meet a pole, are not admitted.
    """
    x = problem.x
    n = x.shape[1]
    q = len(tape.nonlinear)
    n_terms = len(tape.multiplier)
    const_dir = np.full(tape.n_constants, -1, np.int64)
    for i in range(q):
        const_dir[tape.nonlinear[i]] = i
    col_dir = np.full(x.shape[0], -1, np.int64)
    n_linear = 0
    for j in range(n_terms):
        if tape.linear[j] >= 0:
            n_linear += 1
    zero = n - n  # not a literal, for which numba would compile everything again
    value_work = workspace(n_terms, tape.depth, zero, n)
    work = workspace(n_terms, tape.depth, q, n)
    pole_work = workspace(len(poles.multiplier), poles.depth, zero, n)
    rows, fixed, residual = np.empty((n_linear, n)), np.empty((1, n)), np.empty((1, n))
    triangle, kept, own = np.zeros((n_linear, n_linear)), np.zeros(n_linear, np.bool_), np.zeros(n_linear)
    scratch, jacobian = np.empty(n), np.empty((q, n))
    normal, gradient = np.empty((q, q)), np.empty(q)
    c, best_c, best = np.ones(tape.n_constants), np.zeros(tape.n_constants), np.inf

    if q == 0:
        n_starts = 1
        thetas = np.ones((1, 0))
    else:
        thetas = starting_values(tape, scale_tape, role, x, n_starts)
    limits = np.zeros(q)
    for i in range(q):
        for s in range(n_starts):
            limits[i] = max(limits[i], FARTHEST * abs(thetas[s, i]))
    scores = np.full(n_starts, np.inf)
    evaluations = n_starts
    for s in range(n_starts):
        for i in range(q):
            c[tape.nonlinear[i]] = thetas[s, i]
        met = meets_pole(poles, c, problem, const_dir, col_dir, pole_work)
        if not met and run_tape(tape, c, x, const_dir, col_dir, tape.multiplier, value_work):
            scores[s] = project_terms(
                tape, problem, value_work.values, rows, fixed, residual, triangle, kept, own, scratch
            )
        if scores[s] < best:
            best = scores[s]
            keep_constants(tape, c, own, best_c)

    for _ in range(n_skipped if q > 0 else 0):
        best = np.inf
        scores[int(np.argmin(scores))] = np.inf
    for _ in range(n_refined if q > 0 else 0):
        s = int(np.argmin(scores))
        if not math.isfinite(scores[s]):
            break
        scores[s] = np.inf
        theta, centre = thetas[s].copy(), thetas[s].copy()
        current, damping, slow = np.inf, 1e-2, 0
        for _iteration in range(max_iterations):
            for i in range(q):
                c[tape.nonlinear[i]] = theta[i]
            evaluations += 1
            sse = np.inf
            met = meets_pole(poles, c, problem, const_dir, col_dir, pole_work)
            if not met and run_tape(tape, c, x, const_dir, col_dir, tape.multiplier, work):
                sse = project_terms(
                    tape, problem, work.values, rows, fixed, residual, triangle, kept, own, scratch
                )
            if sse < current:
                slow = slow + 1 if current - sse <= tolerance * current else 0
                current = sse
                for i in range(q):
                    centre[i] = theta[i]
                if sse < best:
                    best = sse
                    keep_constants(tape, c, own, best_c)
                if slow >= 2 or sse == 0.0:
                    break
                damping = max(damping * 0.2, 1e-12)
                project_gradients(tape, problem, work.grads, rows, kept, own, jacobian, scratch)
                for i in range(q):
                    gradient[i] = dot(jacobian, i, residual, zero)
                    for k in range(i + 1):
                        normal[i, k] = dot(jacobian, i, jacobian, k)
                        normal[k, i] = normal[i, k]
            else:
                damping *= 5.0
                if damping > NO_PROGRESS or current == np.inf:
                    break
            if not solve_damped(normal, gradient, damping, theta):
                break
            for i in range(q):
                theta[i] = min(max(theta[i] + centre[i], -limits[i]), limits[i])
    return best, best_c, evaluations


@inner_njit(inline="always")
def meets_pole(poles, c, problem, const_dir, col_dir, work):
    """Tell whether a denominator changes its sign within a run, or would a little beyond the data."""
    if len(poles.multiplier) == 0:
        return False
    if not run_tape(poles, c, problem.wide, const_dir, col_dir, poles.multiplier, work):
        return True
    for j in range(work.values.shape[0]):
        for r in range(len(problem.starts) - 1):
            for i in range(problem.starts[r] + 1, problem.starts[r + 1]):
                if work.values[j, i] * work.values[j, i - 1] <= 0.0:
                    return True
    return False


@inner_njit
def keep_constants(tape, c, own, out):
    """Write the nonlinear constants `c` and the linear ones `own` into `out`."""
    k = 0
    for i in range(len(tape.nonlinear)):
        out[tape.nonlinear[i]] = c[tape.nonlinear[i]]
    for j in range(len(tape.linear)):
        if tape.linear[j] >= 0:
            out[tape.linear[j]] = own[k]
            k += 1


@inner_njit
def solve_damped(normal, gradient, damping, step):
    """Solve (N + damping diag N) step = gradient by Cholesky; return whether the step is finite."""
    q = len(gradient)
    low = np.empty((q, q))
    largest = 0.0
    for i in range(q):
        largest = max(largest, normal[i, i])
    if not (largest > 0.0 and math.isfinite(largest)):
        return False
    for i in range(q):
        for k in range(i + 1):
            s = normal[i, k]
            if i == k:
                s += damping * normal[i, i] + 1e-13 * largest
            for m in range(k):
                s -= low[i, m] * low[k, m]
            if i == k:
                if not s > 0.0:
                    return False
                low[i, i] = math.sqrt(s)
            else:
                low[i, k] = s / low[k, k]
    for i in range(q):
        s = gradient[i]
        for m in range(i):
            s -= low[i, m] * step[m]
        step[i] = s / low[i, i]
    for i in range(q - 1, -1, -1):
        s = step[i]
        for m in range(i + 1, q):
            s -= low[m, i] * step[m]
        step[i] = s / low[i, i]
    total = 0.0
    for i in range(q):
        total += step[i] - step[i]  # not zero where a step is not finite
    return total == 0.0
