"""One step of Dormand and Prince's method of order 5(4): tableau, dense output, first step (compiled)."""

import numpy as np

from gode.compiling import inner_njit

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
