"""Implicit and stiff equations and systems, step by step with the Radau IIA method (compiled).

Because a step solves the residuals themselves, an equation need not be solved for its highest derivative, it
may degenerate at the start, and stiffness is no obstacle. Newton starts on the branch that the guide (the
data) shows, and then follows the collocation polynomial of the step before. Steps end on the sample times.
"""

import math

import numpy as np

from gode.equation.interpreter import write_weights
from gode.numba_cache import cached_njit, inner_njit
from gode.solve.doses import give, next_jump
from gode.solve.explicit import (
    BUDGET,
    DIVERGED,
    DONE,
    NO_ROOT,
    SINGULAR,
    SMALLEST_STEP,
    WORSE,
    add_squares,
    read_signals,
)
from gode.solve.radau import (
    C,
    advance_sensitivities,
    eliminate,
    error_of_step,
    extrapolate,
    in_parameter,
    residuals,
    solve_stages,
    substitute,
)


@inner_njit
def highest_matrix(layout, void, scratch):
    """Factor the derivatives of the equations in the highest derivatives; return whether that worked.

    An equation that is `void`, as t*u'' + u' = 0 at the start, leaves the derivative of its state as it is.
    """
    orders = layout.orders
    matrix = scratch.matrix
    d = len(orders)
    for e in range(d):
        for f in range(d):
            matrix[e, f] = scratch.grads[e, layout.places[f] + f + orders[f], 0]
        if void[e]:
            matrix[e, e] = 1.0
    return eliminate(matrix, d, scratch.pivot)


@inner_njit
def first_derivatives(tape, layout, weight, c, t, y, guess, signals, w, void, scratch):
    """Write the highest derivatives at the start into `w`, by Newton from some guesses; return a status.

    The status is DONE for a simple root, SINGULAR where the equations do not determine w or have a double
    root, NO_ROOT if none is found. Far from the guess, a value that vanishes together with its slope is an
    underflow, as exp(w) at -10000, and no root.
    """
    orders = layout.orders
    d, x, point, b = len(orders), scratch.x, scratch.point, scratch.right
    singular = False
    for trial in range(8):
        for e in range(d):
            far = (-1.0) ** trial * 10.0 ** (trial - 3) * (1.0 + abs(guess[e]))
            w[e] = guess[e] if trial == 0 else far
        for iteration in range(50):
            read_signals(signals, t, point)
            for i in range(3):
                x[0, i] = t
                for k in range(len(y)):
                    x[1 + layout.channel[k], i] = y[k]
                for e in range(d):
                    x[1 + 3 * e + orders[e], i] = w[e] - scratch.rate[e]
                for r in range(1 + 3 * d, x.shape[0]):
                    x[r, i] = point[r]
            if not residuals(tape, layout, weight, c, scratch):
                break
            zero, near = True, True
            for e in range(d):
                b[e] = -scratch.total[e, 0]
                zero = zero and b[e] == 0.0
                if trial + iteration == 0 and b[e] == 0.0:
                    void[e] = is_void(layout, e, scratch)
                    singular = singular or void[e]
            regular = highest_matrix(layout, void, scratch)
            if zero and (regular or trial + iteration == 0):
                return SINGULAR if singular or not regular else DONE
            if not (regular and substitute(scratch.matrix, d, scratch.pivot, b)):
                break
            for e in range(d):
                w[e] += b[e]
                near = near and abs(b[e]) <= 1e-12 * (abs(w[e]) + 1e-300)
            if near:
                return SINGULAR if singular else DONE
    for e in range(d):
        w[e] = guess[e]
    return NO_ROOT


@inner_njit
def is_void(layout, e, scratch):
    """Tell whether equation `e` holds no highest derivative at a point."""
    orders = layout.orders
    void = True
    for f in range(len(orders)):
        void = void and scratch.grads[e, layout.places[f] + f + orders[f], 0] == 0.0
    return void


@inner_njit
def slope_at_start(tape, layout, y_sens, param, w_sens, scratch):
    """Write the derivatives of the highest derivatives at the start into `w_sens`."""
    multiplier, linear, values = tape.multiplier, tape.linear, scratch.work.values
    const_dir, constants, terms = scratch.const_dir, layout.constants, layout.terms
    grads = scratch.grads
    orders, places = layout.orders, layout.places
    d, b = len(orders), scratch.right
    for p in range(len(param)):
        for e in range(d):
            s = 0.0
            for f in range(d):
                for k in range(orders[f]):
                    s += grads[e, places[f] + f + k, 0] * y_sens[p, places[f] + k]
            b[e] = -(
                s
                + in_parameter(
                    multiplier, linear, values, grads, const_dir, constants, terms, param[p], e, d - d
                )
            )
        substitute(scratch.matrix, d, scratch.pivot, b)
        for e in range(d):
            w_sens[p, e] = b[e]


PILOT = 0.5  # largest relative distance of a trial step from the guide that counts as the same branch


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
    doses,
    guide,
    param,
    rtol,
    bound,
    max_steps,
    out,
    sens,
    observed,
    weights,
    limit,
    scratch,
):
    """Do the same as `solve_explicit`, for equations that need not be solved for their highest derivatives.

    `guide` (d, n) holds the highest derivatives that the data show at the times `t`, or is empty.
    """
    for r in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[r, i] = np.nan
            for p in range(sens.shape[0]):
                sens[p, r, i] = np.nan
    sse = 0.0
    orders, places, channel = layout.orders, layout.places, layout.channel
    d, n_param = len(orders), len(param)
    x, weight, rate_slope = scratch.x, scratch.weight, scratch.rate_slope
    y, largest = scratch.entries[0], scratch.entries[1]
    y_sens, w_sens = scratch.y_sens, scratch.w_sens
    hint, w0, void = scratch.highest[0], scratch.highest[1], scratch.void
    w, previous, before = scratch.stages[0], scratch.stages[1], scratch.stages[2]
    start_scratch(scratch)
    write_weights(tape, c, weight)
    for k in range(len(y)):
        y[k] = initial[k]
    for p in range(n_param):
        if param[p] < 0:
            y_sens[p, -param[p] - 1] = 1.0
    guided = guide.shape[1] == len(t)
    for e in range(d if guided else 0):
        hint[e] = guide[e, 0]
    given, restarted = d - d, False  # not literals, for which numba would compile everything again
    if doses is not None:
        while next_jump(doses, given, t[0]) < t[0]:  # a dose that was given before the first reading
            give_to(doses, given, c, param, scratch)
            given += 1
    root = first_derivatives(tape, layout, weight, c, t[0], y, hint, signals, w0, void, scratch)
    rooted = root == DONE
    if root == NO_ROOT and not guided:
        return NO_ROOT, 0, sse
    if n_param > 0 and rooted and highest_matrix(layout, void, scratch):
        slope_at_start(tape, layout, y_sens, param, w_sens, scratch)
    done = d - d  # not a literal, for which numba would compile everything again
    write(layout, y, w0, y_sens, w_sens, done, out, sens)
    span = t[-1] - t[0]
    now = t[0]
    h = 0.1 * (t[1] - t[0])
    for e in range(d):
        for i in range(3):
            w[e, i], previous[e, i] = w0[e], w0[e]
    h_previous = h
    fresh = True
    for e in range(d):
        low, top = places[e], places[e + 1] - 1
        largest[low] = abs(y[low]) + h * abs(y[top]) if top > low else abs(y[low]) + h * abs(w0[e])
        if top > low:
            largest[top] = abs(y[top]) + h * abs(w0[e])
    steps = 0
    failure = NO_ROOT
    done += 1
    # Where the equation degenerates at the start, branches meet, and the noise of the guide would choose
    # among them. Trial steps begin long, where the branches are apart, and are halved down to the first step.
    piloted = False
    length = 0.25 * span
    while guided and not rooted and length > h:
        for e in range(d):
            for i in range(3):
                if piloted:
                    w[e, i] = extrapolate(previous, e, C[i] * length / h_previous)
                else:
                    w[e, i] = interpolated(now + C[i] * length, t, guide[e])
                before[e, i] = w[e, i]
        solved = solve_stages(tape, layout, weight, c, now, length, y, w, signals, largest, scratch)
        if solved in (DONE, WORSE) and (piloted or is_near(w, before)):
            piloted = True
            for e in range(d):
                for i in range(3):
                    previous[e, i] = w[e, i]
            h_previous = length
        length *= 0.5
    while done < len(t):
        steps += 1
        if steps > max_steps + done:  # the steps that end on sample times are free
            return BUDGET, steps, sse
        if h < SMALLEST_STEP * span:
            return failure, steps, sse
        if doses is not None:
            while given < len(doses.t) and doses.t[given] <= now:
                give_to(doses, given, c, param, scratch)
                given += 1
                restarted = True
        if restarted:
            for e in range(d):
                hint[e] = w0[e]
            root = first_derivatives(tape, layout, weight, c, now, y, hint, signals, w0, void, scratch)
            rooted, fresh = root == DONE, True
            for k in range(len(y)):
                largest[k] = max(largest[k], abs(y[k]))
        target = t[done]
        if doses is not None:
            target = next_jump(doses, given, target)
        last = now + h >= target - 1e-9 * h
        step = target - now if last else h
        solved = NO_ROOT
        for attempt in range(2):
            for e in range(d):
                for i in range(3):
                    if attempt == 0 and not fresh:
                        w[e, i] = extrapolate(previous, e, 1.0 + C[i] * step / h_previous)
                    elif attempt == 0 and restarted:
                        w[e, i] = w0[e]
                    elif attempt == 0 and piloted:
                        w[e, i] = extrapolate(previous, e, C[i] * step / h_previous)
                    elif guided:
                        share = (now + C[i] * step - t[done - 1]) / (t[done] - t[done - 1])
                        w[e, i] = guide[e, done - 1] + share * (guide[e, done] - guide[e, done - 1])
                    else:
                        w[e, i] = w0[e]
            solved = solve_stages(tape, layout, weight, c, now, step, y, w, signals, largest, scratch)
            if solved in (DONE, WORSE):
                break
        if solved != DONE:
            failure = failure if solved == WORSE else solved
            h = 0.25 * step
            continue
        for e in range(d):
            if not abs(x[1 + 3 * e, 2]) < bound[e]:
                return DIVERGED, steps, sse
        error = error_of_step(layout, step, y, w0, w, largest, rtol, scratch)
        if fresh and not rooted:
            error = min(error, 1.0)  # the equation degenerates at the start: there is no w0 to compare with
        factor = 4.0 if error < 1e-8 else min(4.0, max(0.2, 0.9 * error**-0.25))
        if not error <= 1.0:
            failure = DIVERGED
            h = step * min(factor, 0.9) if math.isfinite(error) else 0.2 * step
            continue
        if n_param > 0 and not advance_sensitivities(
            tape, layout, step, y_sens, param, w_sens, scratch, rate_slope
        ):
            return SINGULAR, steps, sse
        for k in range(len(y)):
            y[k] = x[1 + channel[k], 2]
            largest[k] = max(largest[k], abs(y[k]))
        for e in range(d):
            w0[e] = w[e, 2]
            if fresh and not rooted:
                out[3 * e + orders[e], 0] = extrapolate(w, e, 0.0)
            for i in range(3):
                previous[e, i] = w[e, i]
        h_previous = step
        fresh, restarted = False, False
        now = target if last else now + step
        if not last:
            h = step * factor
            continue
        h = max(h, step * factor) if factor > 1.0 else step * factor
        if target == t[done]:
            write(layout, y, w0, y_sens, w_sens, done, out, sens)
            done += 1
            if len(weights) > 0:
                low = 0 if done == 2 else done - 1  # the first sample is known after the first step
                sse = add_squares(observed, weights, out, low, done, scratch.channels, sse)
                if sse >= limit:
                    return WORSE, steps, sse
    return DONE, steps, sse


@inner_njit
def start_scratch(scratch):
    """Set to zero what a solution begins with."""
    for r in range(scratch.x.shape[0]):
        scratch.point[r] = 0.0
        for i in range(3):
            scratch.x[r, i] = 0.0
    for p in range(scratch.y_sens.shape[0]):
        for k in range(scratch.y_sens.shape[1]):
            scratch.y_sens[p, k] = 0.0
        for e in range(scratch.w_sens.shape[1]):
            scratch.w_sens[p, e] = 0.0
    for e in range(len(scratch.rate)):
        scratch.rate[e], scratch.void[e], scratch.highest[0, e] = 0.0, False, 0.0
        for p in range(scratch.rate_slope.shape[1]):
            scratch.rate_slope[e, p] = 0.0


@inner_njit
def give_to(doses, i, c, param, scratch):
    """Add dose number `i` to the state, to its sensitivities and to the rates."""
    added, y = scratch.added, scratch.entries[0]
    for k in range(len(y)):
        for p in range(added.shape[1]):
            added[k, p] = 0.0
    give(doses, i, c, param, added, scratch.rate, scratch.rate_slope)
    for k in range(len(y)):
        y[k] += added[k, 0]
        for p in range(len(param)):
            scratch.y_sens[p, k] += added[k, p + 1]


@inner_njit
def write(layout, y, w, y_sens, w_sens, i, out, sens):
    """Write the state, its highest derivatives and their sensitivities as time number `i`."""
    channel, orders = layout.channel, layout.orders
    for k in range(len(y)):
        out[channel[k], i] = y[k]
        for p in range(len(y_sens)):
            sens[p, channel[k], i] = y_sens[p, k]
    for e in range(len(w)):
        out[3 * e + orders[e], i] = w[e]
        for p in range(len(w_sens)):
            sens[p, 3 * e + orders[e], i] = w_sens[p, e]


@inner_njit
def is_near(w, before):
    """Tell whether a step found the highest derivative of each state near what the guide shows."""
    near = True
    for e in range(len(w)):
        off, size = 0.0, 0.0
        for i in range(3):
            off += (w[e, i] - before[e, i]) ** 2
            size += before[e, i] ** 2
        near = near and off < PILOT**2 * size
    return near
