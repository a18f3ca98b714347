"""Explicit equations and systems by Dormand and Prince's method of order 5(4), dense output (compiled).

The state may carry sensitivities: its derivatives with respect to the constants and initial values,
advanced by the same formulas, so that they are the exact derivatives of the computed solution. At a
reversal under dry friction the acceleration jumps at a time that depends on the numbers, so that the
sensitivity of the velocity is multiplied by the acceleration after it over that before.

Only a single equation of second order sticks: in a system, which velocities rest together is a question of
its own, and the solver steps over the reversals.
"""

import math

import numpy as np

from gode.equation.interpreter import gradient_at_point, value_at_point, write_weights
from gode.numba_cache import cached_njit, inner_njit
from gode.solve.doses import give, next_jump
from gode.solve.past import AFTER, late_change, look_back, next_bend, remember, shortest, write_delays


@inner_njit
def read_signals(signals, t, x):
    """Write the value of each input at time `t` into the last entries of the point `x`."""
    n = len(signals.starts) - 1
    for i in range(n):
        low, high = signals.starts[i], signals.starts[i + 1] - 1
        first = low
        then = t
        if signals.shift[i] != 0.0:  # not before the jump that a step ends at, for all rounding
            then = t - signals.shift[i] + 4e-16 * (abs(t) + abs(signals.shift[i]))
            then = max(then, signals.knots[first])
        while high - low > 1:
            middle = (low + high) // 2
            if signals.knots[middle] <= then:
                low = middle
            else:
                high = middle
        d = then - signals.knots[max(low, first)]
        c = signals.coefficients[low]
        x[len(x) - n + i] = ((c[0] * d + c[1]) * d + c[2]) * d + c[3]


@inner_njit
def add_delay_slopes(signals, t, gradient):
    """Add to the derivatives in each number what delayed inputs, the last columns, change with it."""
    n = len(signals.starts) - 1
    for i in range(n):
        number = signals.delay[i]
        if number < 0:
            continue
        low, high = signals.starts[i], signals.starts[i + 1] - 1
        then = t - signals.shift[i]
        if then <= signals.knots[low]:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if signals.knots[middle] <= then:
                low = middle
            else:
                high = middle
        d, c = then - signals.knots[low], signals.coefficients[low]
        slope = (3.0 * c[0] * d + 2.0 * c[1]) * d + c[2]
        for e in range(gradient.shape[0]):
            gradient[e, number] -= slope * gradient[e, gradient.shape[1] - n + i]


@inner_njit
def add_squares(observed, weights, out, first, last, channels, sse):
    """Return `sse` plus the squared errors of samples first..last-1 in some channels."""
    for i in range(first, last):
        for d in channels:
            if weights[i, d] > 0.0:
                sse += ((observed[i, d] - out[d, i]) * weights[i, d]) ** 2
    return sse


@inner_njit
def is_seen(weights, channel):
    """Tell whether a channel was observed."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i, channel]
    return total > 0.0


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
FIRST_SHARE = 1e-2  # as a share of the span: first step, and scale of the error of a state that is zero


@inner_njit
def start_room(room):
    """Set to zero what a solution begins with."""
    for j in range(len(room.x)):
        room.x[j] = 0.0
    for j in range(len(room.largest)):
        room.largest[j], room.before[j] = 0.0, 0.0
    for e in range(len(room.rate)):
        room.rate[e] = 0.0
        for p in range(room.rate_slope.shape[1]):
            room.rate_slope[e, p] = 0.0
    for i in range(room.flat.shape[0]):
        for m in range(room.flat.shape[1]):
            room.flat[i, m] = 0.0
    for i in range(len(room.resting)):
        room.resting[i] = False


@inner_njit
def interpolate(y, k, h, theta, i, share, channel, out, sens):
    """Write the state and its sensitivities at the share `theta` of a step as time number `i`."""
    for s in range(7):
        power = DENSE[s, 2] + theta * DENSE[s, 3]
        share[s] = h * theta * (DENSE[s, 0] + theta * (DENSE[s, 1] + theta * power))
    for j in range(y.shape[0]):
        for p in range(y.shape[1]):
            total = y[j, p]
            for s in range(7):
                total += share[s] * k[s, j, p]
            if p == 0:
                out[channel[j], i] = total
            else:
                sens[p - 1, channel[j], i] = total


@inner_njit
def first_step(y, k, span):
    """Return a step over which the state changes by about one percent."""
    h = FIRST_SHARE * span
    for j in range(y.shape[0]):
        if abs(k[0, j, 0]) > 0.0 and abs(y[j, 0]) > 0.0:
            h = min(h, 0.01 * abs(y[j, 0]) / abs(k[0, j, 0]))
    return max(h, 1e-8 * span)


@inner_njit
def is_fast(places, k, largest, span):
    """Tell whether the highest derivative of a state is too large for its size."""
    found = False
    for e in range(len(places) - 1):
        top = places[e + 1] - 1
        found = found or abs(k[0, top, 0]) * span > 1e6 * largest[top]
    return found


@inner_njit
def is_beyond(places, y, stage, bound):
    """Tell whether a state is beyond its bound.

    A stiff system throws small states far off, however small the step: there it has to have come near.
    """
    found = False
    for e in range(len(bound)):
        near = len(bound) == 1 or abs(y[places[e], 0]) >= 0.5 * bound[e]
        found = found or (near and abs(stage[places[e], 0]) >= bound[e])
    return found


@inner_njit
def highest_along(tape, layout, operands, c, signals, events, count, t, n, param, room, out, sens):
    """Write right-hand sides and sensitivities at the first `n` times; return whether all are finite.

    `count` are the steps that the past of late states has.
    """
    orders, channel = layout.orders, layout.channel
    x, gradient, slope, rate, rate_slope = room.x, room.gradient, room.slope, room.rate, room.rate_slope
    finite, given = True, n - n  # not a literal, for which numba would compile everything again
    for e in range(len(orders)):
        rate[e] = 0.0
        for p in range(len(param)):
            rate_slope[e, p] = 0.0
    for i in range(n):
        if events is not None:
            while next_jump(events.doses, given, t[i]) < t[i]:  # a reading is before a dose at the same time
                give(events.doses, given, c, param, room.unused, rate, rate_slope)
                given += 1
        x[0] = t[i]
        for j in range(len(channel)):
            x[1 + channel[j]] = out[channel[j], i]
        if len(signals.starts) > 1:
            read_signals(signals, t[i], x)
        if events is not None:
            look_back(events.past, count, events.delays, t[i], events.late, x, 1 + 3 * len(orders))
        value_at_point(tape, operands, c, room.weight, x, room.values, slope)
        for e in range(len(orders)):
            top = 3 * e + orders[e]
            out[top, i] = slope[e] + rate[e]
            finite = finite and math.isfinite(out[top, i])
        if len(param) == 0:
            continue
        gradient_at_point(tape, operands, room.weight, room.values, len(c), room.adjoint, gradient)
        add_delay_slopes(signals, t[i], gradient)
        for e in range(len(orders)):
            top = 3 * e + orders[e]
            for p in range(len(param)):
                change = 0.0 if param[p] < 0 else gradient[e, param[p]]
                for j in range(len(channel)):
                    change += gradient[e, len(c) + 1 + channel[j]] * sens[p, channel[j], i]
                if events is not None:
                    first = len(c) + 1 + 3 * len(orders)
                    change += late_change(events.past, events.late, gradient, e, first, param, p)
                sens[p, top, i] = change + rate_slope[e, p]
    return finite


TINY = 1e-14  # velocity that counts as zero, as a share of the largest
LOOKS = 1000  # times in the span at which the end of sticking is looked for
HALVINGS = 40  # bisections to find that time


@inner_njit
def rhs_at(tape, operands, c, signals, t, u, du, room):
    """Return the right-hand side at a time, a place and a velocity."""
    x = room.x
    x[0], x[1], x[2] = t, u, du
    if len(signals.starts) > 1:
        read_signals(signals, t, x)
    value_at_point(tape, operands, c, room.weight, x, room.values, room.slope)
    return room.slope[0]


@inner_njit
def about_rest(tape, operands, c, signals, t, u, slow, room):
    """Return the accelerations at small velocities ahead and behind."""
    ahead = rhs_at(tape, operands, c, signals, t, u, slow, room)
    return ahead, rhs_at(tape, operands, c, signals, t, u, -slow, room)


@inner_njit
def rest(tape, operands, c, signals, t, now, done, y, slow, room, out, sens):
    """Keep the velocity at zero while the body sticks; return its end and how many of `t` are past.

    A body that does not stick at the time `now` is left as it is.
    """
    ahead, behind = about_rest(tape, operands, c, signals, now, y[0, 0], slow, room)
    if not (ahead < 0.0 and behind > 0.0):
        return now, -1
    for p in range(y.shape[1]):
        y[1, p] = 0.0
    while done < len(t):
        until = min(t[done], now + (t[-1] - t[0]) / LOOKS)
        if until <= now:  # below the spacing of floating-point numbers at large times
            until = t[done]
        ahead, behind = about_rest(tape, operands, c, signals, until, y[0, 0], slow, room)
        if not (ahead < 0.0 and behind > 0.0):
            for _ in range(HALVINGS):
                middle = 0.5 * (now + until)
                ahead, behind = about_rest(tape, operands, c, signals, middle, y[0, 0], slow, room)
                if ahead < 0.0 and behind > 0.0:
                    now = middle
                else:
                    until = middle
            push = rhs_at(tape, operands, c, signals, until, y[0, 0], 0.0, room)
            y[1, 0] = math.copysign(slow, push)
            return until, done
        now = until
        if now == t[done]:
            out[0, done], out[1, done], room.resting[done] = y[0, 0], 0.0, True
            for p in range(sens.shape[0]):
                sens[p, 0, done], sens[p, 1, done] = y[0, p + 1], 0.0
            done += 1
    return now, done


DONE, DIVERGED, BUDGET, SINGULAR, NO_ROOT, WORSE = range(6)  # WORSE: the error exceeds the limit given

FLOOR = 1e-3  # errors are relative to |y|, but at least to this share of the largest |y| so far
SMALLEST_STEP = 1e-13  # as a share of the span


@cached_njit
def solve_explicit(
    tape,
    layout,
    operands,
    c,
    signals,
    t,
    initial,
    param,
    rtol,
    bound,
    max_steps,
    out,
    sens,
    observed,
    weights,
    limit,
    events,
    room,
):
    """Fill `out` (3 d, n) with each state and two derivatives at the times `t`, and `sens` (params, 3 d, n).

    `param` lists what the sensitivities are taken in: constants by index, initial values as -1, -2, ...
    A state larger than its `bound` (d,) has diverged. `observed` and `weights` (n, 3 d) or none are data to
    compare with, of weight 0 where there are none; the solution ends where its squared error reaches `limit`.
    `events` are None for a law without doses and delays, for which less has to be compiled.

    Returns (status, steps, squared error). What was not reached is NaN.
    """
    orders, places, channel = layout.orders, layout.places, layout.channel
    n_states, size_y, n_param, n_counted = len(orders), len(channel), len(param), len(weights)
    n_inputs = len(signals.starts) - 1
    x, weight, values, adjoint = room.x, room.weight, room.values, room.adjoint
    gradient, slope, largest, before = room.gradient, room.slope, room.largest, room.before
    rate, rate_slope, k = room.rate, room.rate_slope, room.k
    y, stage, flat = k[7], k[8], room.flat
    base = len(c) + 1  # of the gradient: in the channels
    n_numbers = size_y * (n_param + 1)
    start_room(room)
    write_weights(tape, c, weight)
    given = n_states - n_states  # not a literal, for which numba would compile everything again
    pending = -1  # the first event whose time is fitted, until slopes know it
    for j in range(size_y):
        y[j, 0] = initial[j]
    for p in range(n_param):
        if param[p] < 0:
            y[-param[p] - 1, p + 1] = 1.0
    if events is not None:
        doses, past, late, delays = events.doses, events.past, events.late, events.delays
        while next_jump(doses, given, t[0]) < t[0]:  # a dose that was given before the first reading
            give(doses, given, c, param, y, rate, rate_slope)
            given += 1
        write_delays(late, c, delays)
        for j in range(size_y):
            for p in range(n_param + 1):
                past.start[j, p] = y[j, p]
    for j in range(size_y):
        out[channel[j], 0] = y[j, 0]
        for p in range(n_param):
            sens[p, channel[j], 0] = y[j, p + 1]
    n_past = n_states - n_states
    now = t[0]
    span = t[-1] - t[0]
    h = 0.0
    first = 0  # k[0] is the last stage of the step before, but for the very first step
    done = n_states // n_states  # not a literal, for which numba would compile everything again
    counted, sse = 0, 0.0
    steps = 0
    status = DONE
    dry = room.dry
    turning = dry and y[1, 0] == 0.0
    reversed_now = False
    jump = 0  # the next time at which an input jumps or bends: steps end there
    while done < len(t):
        if turning:
            slow = TINY * largest[1] + 1e-300
            until, rested = rest(tape, operands, c, signals, t, now, done, y, slow, room, out, sens)
            if rested >= 0:
                now, done, first, h = until, rested, 0, 0.0
                continue
        if reversed_now and n_param > 0:
            slow = TINY * largest[1] + 1e-300
            ahead, behind = about_rest(tape, operands, c, signals, now, y[0, 0], slow, room)
            if ahead * behind > 0.0:
                for p in range(1, n_param + 1):
                    y[1, p] *= ahead / behind if y[1, 0] > 0.0 else behind / ahead
                first = 0
        reversed_now = False
        steps += 1
        if steps > max_steps:
            status = BUDGET
            break
        if h < SMALLEST_STEP * span and first == 1:
            status = DIVERGED if is_fast(places, k, largest, span) else SINGULAR
            break
        while jump < len(signals.jumps) and signals.jumps[jump] <= now:
            jump += 1
        end = min(signals.jumps[jump], t[-1]) if jump < len(signals.jumps) else t[-1]
        wanted = h
        if events is not None:
            while given < len(doses.t) and doses.t[given] <= now:
                give(doses, given, c, param, y, rate, rate_slope)
                if now > t[0] and doses.lag[given] >= 0 and pending < 0:
                    pending = given
                entry = doses.entry[given]
                largest[entry] = max(largest[entry], abs(y[entry, 0]))
                given += 1
            if not shortest(delays) > 0.0:
                status = SINGULAR
                break
            end = next_bend(delays, t[0], now, next_jump(doses, given, end))
            h = min(h, shortest(delays))
        h = min(h, (end - now) * (1 + 1e-12))
        finite, crossing = True, False
        for s in range(first, 7):
            if s == 1 and first == 0 and h == 0.0:
                h = min(first_step(y, k, span), (end - now) * (1 + 1e-12))
                for j in range(size_y):
                    largest[j] = max(largest[j], abs(y[j, 0]) + h * abs(k[0, j, 0]))
            for m in range(n_numbers):
                total = 0.0
                for q in range(s):
                    total += A[s, q] * flat[q, m]
                flat[8, m] = flat[7, m] + h * total
            x[0] = now + C[s] * h
            for j in range(size_y):
                x[1 + channel[j]] = stage[j, 0]
            if n_inputs > 0:
                within = end - 1e-9 * h if end < t[-1] else end  # before the jump, not at it
                read_signals(signals, min(x[0], within), x)
            if events is not None:
                inside = max(now + AFTER * span, min(x[0], now + h - AFTER * span))  # not at a bend
                look_back(past, n_past, delays, inside, late, x, 1 + 3 * n_states)
            value_at_point(tape, operands, c, weight, x, values, slope)
            for e in range(n_states):
                low, top = places[e], places[e + 1] - 1
                k[s, top, 0] = slope[e] + rate[e]
                if top > low:
                    k[s, low, 0] = stage[top, 0]
                finite = finite and math.isfinite(slope[e]) and abs(stage[low, 0]) < bound[e]
            if dry:
                crossing = crossing or stage[1, 0] * y[1, 0] <= 0.0
            if not finite:
                break
            if n_param == 0:
                continue
            if events is not None and s == 0:
                while 0 <= pending < given:
                    whole = doses.amount[pending] != 0.0 or doses.rate[pending] != 0.0
                    top = (
                        places[doses.equation[pending] + 1] - 1
                    )  # a delayed input acts on one equation alone
                    for p in range(n_param):
                        for j in range(size_y if param[p] == doses.lag[pending] else 0):
                            if whole or j == top:
                                y[j, p + 1] += before[j] - k[0, j, 0]
                                stage[j, p + 1] = y[j, p + 1]
                    pending += 1
                pending = -1
            gradient_at_point(tape, operands, weight, values, len(c), adjoint, gradient)
            add_delay_slopes(signals, x[0], gradient)
            for e in range(n_states):
                low, top = places[e], places[e + 1] - 1
                for p in range(n_param):
                    change = gradient[e, base + channel[0]] * stage[0, p + 1]
                    for j in range(1, size_y):
                        change += gradient[e, base + channel[j]] * stage[j, p + 1]
                    if top > low:
                        k[s, low, p + 1] = stage[top, p + 1]
                    if events is not None:
                        change += late_change(past, late, gradient, e, base + 3 * n_states, param, p)
                    if param[p] >= 0:
                        change += gradient[e, param[p]]
                    k[s, top, p + 1] = change + rate_slope[e, p]
        if not finite:
            if first == 0 and s == 0:
                status, steps, done = SINGULAR, steps - 1, done if now > t[0] else 0
                break
            first = 1
            if h < 1e-6 * span and is_beyond(places, y, stage, bound):
                status = DIVERGED
                break
            h *= 0.2
            continue
        first = 1
        error = 0.0
        for j in range(size_y):
            off = 0.0
            for s in range(7):
                off += E[s] * k[s, j, 0]
            size = max(abs(y[j, 0]), abs(stage[j, 0]), FLOOR * largest[j])
            if largest[j] == 0.0:  # a jump that ends a rest would look as bad however small the step
                for s in range(7):
                    size = max(size, FIRST_SHARE * span * abs(k[s, j, 0]))
            error = max(error, abs(h * off) / (rtol * size + 1e-300))
        factor = 5.0 if error < 1e-9 else min(5.0, max(0.2, 0.9 * error**-0.2))
        if error > 1.0:
            h *= min(factor, 0.9)
            continue
        while done < len(t) and t[done] <= now + h * (1 + 1e-12):
            interpolate(y, k, h, min((t[done] - now) / h, 1.0), done, room.share, channel, out, sens)
            done += 1
        if n_counted > 0:
            sse = add_squares(observed, weights, out, counted, done, channel, sse)
            counted = done
            if sse >= limit:
                status = WORSE
                break
        if events is not None and len(late.entry) > 0:
            remember(past, n_past, now, h, y, k, DENSE)
            n_past += 1
        now += h
        if end < t[-1] and now >= end - 1e-9 * h:  # a jump: the slope is another one from here on
            now, first = end, 0
            for j in range(size_y):
                before[j] = k[6, j, 0]
        turning = dry and crossing
        reversed_now = dry and stage[1, 0] * y[1, 0] < 0.0
        for j in range(size_y):
            largest[j] = max(largest[j], abs(stage[j, 0]))
            for p in range(n_param + 1):
                y[j, p] = stage[j, p]
                k[0, j, p] = k[6, j, p]
        h = max(h * factor, wanted) if first == 0 else h * factor
    if status != WORSE:
        slopes = n_param > 0 and n_counted == 0
        for e in range(n_states):
            slopes = slopes or (n_param > 0 and is_seen(weights, 3 * e + orders[e]))
        wrt = param if slopes else param[:0]
        if not highest_along(
            tape, layout, operands, c, signals, events, n_past, t, done, wrt, room, out, sens
        ):
            status = SINGULAR
    for i in range(done):
        if room.resting[i]:
            out[2, i] = 0.0
            for p in range(n_param):
                sens[p, 2, i] = 0.0
    for e in range(n_states):
        for r in range(3):
            for i in range(done if r <= orders[e] else 0, len(t)):
                out[3 * e + r, i] = np.nan
                for p in range(n_param):
                    sens[p, 3 * e + r, i] = np.nan
    if n_counted > 0 and status != WORSE:
        sse = add_squares(observed, weights, out, counted, done, channel, sse)
        sse = add_squares(observed, weights, out, done - done, done, layout.others, sse)
    return status, steps, sse
