"""The highest derivatives at the start of implicit equations, and their sensitivities (compiled)."""

import numpy as np

from gode.compiling import inner_njit
from gode.solve.elimination import eliminate, substitute
from gode.solve.explicit import DONE, NO_ROOT, SINGULAR
from gode.solve.reading import read_signals
from gode.solve.residuals import in_parameter, residuals


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


@inner_njit(inline="always")  # called once
def first_derivatives(tape, layout, weight, c, t, y, guess, signals, w, void, scratch):
    """Write the highest derivatives at the start into `w`, by Newton from some guesses; return a status.

    The status is DONE for a simple root, SINGULAR where the equations do not determine w or have a double
    root, NO_ROOT if none is found. Far from the guess, a value that vanishes together with its slope is an
    underflow, as exp(w) at -10000, and no root.
    """
    orders = layout.orders
    d, x, point = len(orders), scratch.x, scratch.point
    b = np.empty(d)
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


@inner_njit(inline="always")  # called once
def is_void(layout, e, scratch):
    """Tell whether equation `e` holds no highest derivative at a point."""
    orders = layout.orders
    void = True
    for f in range(len(orders)):
        void = void and scratch.grads[e, layout.places[f] + f + orders[f], 0] == 0.0
    return void


@inner_njit(inline="always")  # called once
def slope_at_start(tape, layout, y_sens, param, w_sens, scratch):
    """Write the derivatives of the highest derivatives at the start into `w_sens`."""
    multiplier, linear, values = tape.multiplier, tape.linear, scratch.work.values
    const_dir, constants, terms = scratch.const_dir, layout.constants, layout.terms
    grads = scratch.grads
    orders, places = layout.orders, layout.places
    d = len(orders)
    b = np.empty(d)
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
