"""The past of states, for laws in which they act some time later (compiled).

The solver goes by the method of steps: none is longer than the shortest delay, so that what acts is known
from the dense output of earlier ones. Before its first time a state was what it is there.
"""

import math
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.numba_cache import inner_njit

# The solution bends at the start plus each multiple of a delay, ever less; steps end at the first few.
BENDS = 5
AFTER = 1e-10  # what is past is read so far within a step, as a share of the span


class LateStates(NamedTuple):
    """States as they were some time ago, each a column of the law; a tuple, as compiled code takes those."""

    entry: Int  # (n,) of the state vector
    number: Int  # (n,) the number that each is late by; -1 where that is known
    value: Float  # (n,) by how much, where it is known


class Past(NamedTuple):
    """What a solver keeps: its times, and of each step the powers of the share of it that is past."""

    t: Float  # (steps + 1,)
    powers: Float  # (steps, entries, 1 + params, 5)
    start: Float  # (entries, 1 + params) before the first time
    step: Int  # (late states,) the step in which each is looked up; -1 for before the first
    share: Float  # (late states,) the share of that step


@inner_njit
def write_delays(late, c, delays):
    """Write by how much each state is late."""
    for i in range(len(delays)):
        delays[i] = c[late.number[i]] if late.number[i] >= 0 else late.value[i]


@inner_njit
def shortest(delays):
    """Return the shortest delay, infinite if there is none, NaN if one is."""
    least = np.inf
    for i in range(len(delays)):
        if not delays[i] >= least:
            least = delays[i]
            if math.isnan(least):
                break
    return least


@inner_njit
def next_bend(delays, begin, now, end):
    """Return the next time at which the solution bends, or `end` if that is earlier."""
    for i in range(len(delays)):
        for m in range(1, BENDS + 1):
            time = begin + m * delays[i]
            if time > now + 1e-12 * abs(time):
                end = min(end, time)
                break
    return end


@inner_njit
def remember(past, count, now, h, y, k, dense):
    """Keep step number `count`."""
    past.t[count], past.t[count + 1] = now, now + h
    for j in range(y.shape[0]):
        for p in range(y.shape[1]):
            past.powers[count, j, p, 0] = y[j, p]
            for power in range(4):
                total = 0.0
                for s in range(7):
                    total += dense[s, power] * k[s, j, p]
                past.powers[count, j, p, power + 1] = h * total


@inner_njit
def look_back(past, count, delays, t, late, x, first):
    """Find where in the past each late state is at time `t`, and write its value into `x` from `first` on."""
    for i in range(len(delays)):
        then = t - delays[i]
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            if past.t[middle] <= then:
                low = middle
            else:
                high = middle
        if count == 0 or then <= past.t[0]:
            past.step[i] = -1
        else:
            past.step[i] = low
            past.share[i] = min((then - past.t[low]) / (past.t[low + 1] - past.t[low]), 1.0)
        x[first + i] = past_value(past, i, late.entry[i], 0)


@inner_njit
def past_value(past, i, entry, p):
    """Return late state number `i`, or for p > 0 its sensitivity, where `look_back` found it."""
    if past.step[i] < 0:
        return past.start[entry, p]
    q, x = past.powers[past.step[i], entry, p], past.share[i]
    return q[0] + x * (q[1] + x * (q[2] + x * (q[3] + x * q[4])))


@inner_njit
def past_slope(past, i, entry):
    """Return the derivative of late state number `i` where `look_back` found it."""
    if past.step[i] < 0:
        return 0.0
    step = past.step[i]
    q, x = past.powers[step, entry, 0], past.share[i]
    slope = q[1] + x * (2.0 * q[2] + x * (3.0 * q[3] + x * 4.0 * q[4]))
    return slope / (past.t[step + 1] - past.t[step])


@inner_njit
def late_change(past, late, gradient, e, first, param, p):
    """Return what late states, whose columns begin at `first`, add to a sensitivity of an equation."""
    total = 0.0
    for i in range(len(late.entry)):
        total += gradient[e, first + i] * past_value(past, i, late.entry[i], p + 1)
        if late.number[i] >= 0 and late.number[i] == param[p]:
            total -= gradient[e, first + i] * past_slope(past, i, late.entry[i])
    return total
