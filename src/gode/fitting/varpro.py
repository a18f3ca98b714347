"""Variable projection: linear constants by least squares, the others by Levenberg-Marquardt (compiled).

For given nonlinear constants the best linear ones follow from an orthogonalisation of the terms; only
the nonlinear ones iterate, on the projected residual with Kaufman's Jacobian.
"""

import math
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation.interpreter import Work, run_tape, workspace
from gode.equation.operators import CONST, VAR
from gode.equation.tape import ADDEND, EXPONENT, FREQUENCY, KINK, Tape
from gode.numba_cache import cached_njit, inner_njit

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


def starting_values(tape: Tape, scale_tape: Tape, role: Int, x: Float, n_starts: int) -> Float:
    """Return (n_starts, q) values of the nonlinear constants, each in the size its neighbours suggest."""
    q, n = len(role), x.shape[1]
    thetas = np.ones((n_starts, q))
    if not q:
        return thetas
    work, ones = workspace(q, scale_tape.depth, 0, n), np.ones(tape.n_constants)
    none, start = np.empty(0, np.int64), np.arange(n_starts)
    for i in range(q):
        work.span[:] = i, i + 1
        run_tape(scale_tape, ones, x, none, none, scale_tape.multiplier, work)
        values = work.values[i]
        with np.errstate(over="ignore", invalid="ignore"):
            size = math.sqrt(np.cumsum(values * values)[-1] / n)
            low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if not (math.isfinite(size) and size > 0.0):
            size = 1.0
        stride = STRIDES[i % 8]
        pick = (start * stride + start // 12 * i) % 12  # after a dozen, other combinations
        if role[i] == FREQUENCY:  # a quarter of a cycle more over the record from start to start
            quarter = 0.5 * math.pi / (high - low) if high > low else 1.0
            thetas[:, i] = quarter * (1.0 + (start * stride) % n_starts)
        elif role[i] == EXPONENT:
            thetas[:, i] = EXPONENT_STARTS[pick]
        elif role[i] == KINK and high > low:
            share = (7 * pick % 12 + 0.5) / 12  # in the range of what bends there
            thetas[:, i] = -low - share * (high - low)
        elif role[i] in (ADDEND, KINK):
            thetas[:, i] = ADDEND_STARTS[pick] * size
        else:
            thetas[:, i] = FACTOR_STARTS[pick] / size
    return thetas


def term_at_starts(tape: Tape, scale_tape: Tape, role: Int, x: Float, n_starts: int) -> Float:
    """Return the one term of `tape` (n_starts, n) at all starting values; NaN where it is not finite."""
    thetas = starting_values(tape, scale_tape, role, x, n_starts)
    inside, n = tape.code == CONST, x.shape[1]
    code, arg = np.where(inside, VAR, tape.code), np.where(inside, tape.arg + len(x), tape.arg)
    columns = np.vstack([np.tile(x, n_starts), np.repeat(thetas.T, n, axis=1)])  # constants are columns, too
    work, none = workspace(1, tape.depth, 0, n * n_starts), np.empty(0, np.int64)
    run_tape(tape._replace(code=code, arg=arg), thetas[0], columns, none, none, tape.multiplier, work)
    out: Float = work.values[0].reshape(n_starts, n)
    out[~np.isfinite(out).all(axis=1)] = np.nan
    return out


class Room(NamedTuple):
    """What a fit of q nonlinear constants and some linear ones at n points writes to."""

    values: Work  # of the interpreter, without derivatives
    slopes: Work  # with those in the nonlinear constants
    poles: Work
    rows: Float  # (linear, n)
    fixed: Float  # (1, n)
    residual: Float  # (1, n)
    triangle: Float  # (linear, linear)
    kept: Bool  # (linear,)
    own: Float  # (2, linear) the linear constants, and what they are solved from
    integral: Float  # (n,)
    jacobian: Float  # (q, n)
    normal: Float  # (2, q, q) the normal matrix and its factor
    vectors: Float  # (4, q) the gradient, the constants, the best of them, their limits
    scores: Float  # (starts,)
    c: Float  # (constants,)
    const_dir: Int  # the direction that each constant is, or -1
    col_dir: Int  # -1 for each column


def make_room(tape: Tape, poles: Tape, x: Float, n_starts: int) -> Room:
    """Return what a fit writes to."""
    n, q, n_terms = x.shape[1], len(tape.nonlinear), len(tape.linear)
    k = int((tape.linear >= 0).sum())
    const_dir = np.full(tape.n_constants, -1)
    const_dir[tape.nonlinear] = np.arange(q)
    return Room(
        workspace(n_terms, tape.depth, 0, n),
        workspace(n_terms, tape.depth, q, n),
        workspace(len(poles.linear), poles.depth, 0, n),
        np.empty((k, n)),
        np.empty((1, n)),
        np.empty((1, n)),
        np.zeros((k, k)),
        np.zeros(k, np.bool_),
        np.zeros((2, k)),
        np.empty(n),
        np.empty((q, n)),
        np.empty((2, q, q)),
        np.zeros((4, q)),
        np.full(n_starts, np.inf),
        np.ones(tape.n_constants),
        const_dir,
        np.full(len(x), -1),
    )


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
def project(a, residual, triangle, kept, c, z):
    """Orthonormalise the rows of `a` in place, take their part out of `residual`, solve for c."""
    n_rows, n = a.shape
    zero = n_rows - n_rows  # not a literal, for which numba would compile everything again
    for j in range(n_rows):
        z[j] = 0.0
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
def project_terms(tape, problem, values, room):
    """Fit the linear constants to given program values; return the sum of squares that is left."""
    rows, fixed, residual = room.rows, room.fixed, room.residual
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
        transform(rows, problem, room.integral)
        transform(fixed, problem, room.integral)
    for m in range(n):
        residual[0, m] = problem.target[m] - fixed[0, m]
    return project(rows, residual, room.triangle, room.kept, room.own[0], room.own[1])


@inner_njit
def project_gradients(tape, problem, room):
    """Turn derivatives of the programs into Kaufman's Jacobian of the projected residual."""
    q, grads, rows, kept = len(tape.nonlinear), room.slopes.grads, room.rows, room.kept
    own, jacobian = room.own[0], room.jacobian
    if problem.order > 0:
        transform(grads, problem, room.integral)
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
def fit_kernel(tape, poles, problem, thetas, n_skipped, n_refined, max_iterations, tolerance, room, best_c):
    """Return (sum of squares, evaluations) and write all constants; the sum is inf if nothing is finite.

    Every start in `thetas` (starts, q) is scored once; from the best few, Levenberg-Marquardt iterates.
    Constants for which a denominator changes its sign along a run, so that the solution would meet a pole,
    are not admitted.
    """
    x, n_starts, q = problem.x, thetas.shape[0], thetas.shape[1]
    zero = q - q  # not a literal, for which numba would compile everything again
    residual, jacobian, c, best = room.residual, room.jacobian, room.c, np.inf
    own, scores, const_dir, col_dir = room.own[0], room.scores, room.const_dir, room.col_dir
    gradient, theta, centre, limits = room.vectors[0], room.vectors[1], room.vectors[2], room.vectors[3]
    normal, low = room.normal[0], room.normal[1]
    for i in range(q):
        for s in range(n_starts):
            limits[i] = max(limits[i], FARTHEST * abs(thetas[s, i]))
    evaluations = n_starts
    for s in range(n_starts):
        for i in range(q):
            c[tape.nonlinear[i]] = thetas[s, i]
        met = meets_pole(poles, c, problem, const_dir, col_dir, room.poles)
        if not met and run_tape(tape, c, x, const_dir, col_dir, tape.multiplier, room.values):
            scores[s] = project_terms(tape, problem, room.values.values, room)
        if scores[s] < best:
            best = scores[s]
            keep_constants(tape, c, own, best_c)

    for _ in range(n_skipped if q > 0 else 0):
        best = np.inf
        scores[first_least(scores)] = np.inf
    for _ in range(n_refined if q > 0 else 0):
        s = first_least(scores)
        if not math.isfinite(scores[s]):
            break
        scores[s] = np.inf
        for i in range(q):
            theta[i], centre[i] = thetas[s, i], thetas[s, i]
        current, damping, slow = np.inf, 1e-2, 0
        for _iteration in range(max_iterations):
            for i in range(q):
                c[tape.nonlinear[i]] = theta[i]
            evaluations += 1
            sse = np.inf
            met = meets_pole(poles, c, problem, const_dir, col_dir, room.poles)
            if not met and run_tape(tape, c, x, const_dir, col_dir, tape.multiplier, room.slopes):
                sse = project_terms(tape, problem, room.slopes.values, room)
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
                project_gradients(tape, problem, room)
                for i in range(q):
                    gradient[i] = dot(jacobian, i, residual, zero)
                    for k in range(i + 1):
                        normal[i, k] = dot(jacobian, i, jacobian, k)
                        normal[k, i] = normal[i, k]
            else:
                damping *= 5.0
                if damping > NO_PROGRESS or current == np.inf:
                    break
            if not solve_damped(normal, gradient, damping, theta, low):
                break
            for i in range(q):
                theta[i] = min(max(theta[i] + centre[i], -limits[i]), limits[i])
    return best, evaluations


@inner_njit
def first_least(scores):
    """Return the place of the least score."""
    least = len(scores) - len(scores)  # not a literal, for which numba would compile everything again
    for s in range(len(scores)):
        if scores[s] < scores[least]:
            least = s
    return least


@inner_njit
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
def solve_damped(normal, gradient, damping, step, low):
    """Solve (N + damping diag N) step = gradient by Cholesky; return whether the step is finite."""
    q = len(gradient)
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
