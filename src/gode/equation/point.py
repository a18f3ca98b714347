"""A tape at a single point, and its gradient there by reverse accumulation (compiled).

A solver evaluates its right-hand side at one point after the other, some hundred times per solution. The
interpreter of whole columns would spend most of that time on being called. Here every instruction keeps its
own value, so that the gradient in all constants and columns costs one pass back, however many they are.
"""

import math

import numpy as np

from gode.compiling import inner_njit
from gode.equation.interpreter import apply_function
from gode.equation.operators import ADD, CONST, LIT, MUL, POW, POWI, SQRT, VAR


@inner_njit
def real_power(a, b):
    """Return a^b, NaN where that is not real."""
    if a > 0.0 or (b == np.floor(b) and a != 0.0):
        return a**b
    if a == 0.0 and b >= 0.0:
        return 1.0 if b == 0.0 else 0.0
    return np.nan


@inner_njit
def integer_power(a, p):
    """Return a^p by repeated multiplication."""
    y = 1.0
    for _ in range(abs(p)):
        y *= a
    return y if p >= 0 else 1.0 / y


@inner_njit
def operands(tape, varied):
    """Return, for each instruction, its left operand and whether it depends on a constant or a state.

    `varied` (columns,) tells which columns are states.
    """
    code, arg = tape.code, tape.arg
    left, active = np.zeros(len(code), np.int64), np.zeros(len(code), np.bool_)
    stack = np.zeros(tape.depth + 1, np.int64)
    for j in range(len(tape.starts) - 1):
        sp = -1
        for i in range(tape.starts[j], tape.starts[j + 1]):
            op = code[i]
            if op < ADD:  # a variable, a constant or a number
                sp += 1
                active[i] = op == CONST or (op == VAR and varied[arg[i]])
            elif op == POW or op <= MUL:
                sp -= 1
                left[i] = stack[sp]
                active[i] = active[i - 1] or active[left[i]]
            else:
                active[i] = active[i - 1]
            stack[sp] = i
    return left, active


@inner_njit
def weights_of(tape, c):
    """Return the number in front of each program: multiplier and linear constant."""
    weight = tape.multiplier.copy()
    for j in range(len(weight)):
        if tape.linear[j] >= 0:
            weight[j] *= c[tape.linear[j]]
    return weight


@inner_njit(forceinline=True)
def value_at_point(code, arg, literal, starts, left, c, weight, equation, x, values, total):
    """Write the weighted sum of the programs of each equation at the point `x` into `total`.

    `equation` tells to which one each program belongs. A sum is not finite where a term is not.

    The value of each instruction is kept in `values`.
    """
    for e in range(len(total)):
        total[e] = 0.0
    for j in range(len(weight)):
        y = 0.0
        for i in range(starts[j], starts[j + 1]):
            op = code[i]
            if op == VAR:
                y = x[arg[i]]
            elif op == CONST:
                y = c[arg[i]]
            elif op == LIT:
                y = literal[i]
            elif op == ADD:
                y += values[left[i]]
            elif op == MUL:
                y *= values[left[i]]
            elif op == POWI:
                y = integer_power(y, arg[i])
            elif op == POW:
                y = real_power(values[left[i]], y)
            elif op == SQRT:
                y = math.sqrt(y) if y >= 0.0 else np.nan
            else:
                y = apply_function(op, y)[0]
            values[i] = y
        total[equation[j]] += weight[j] * y


@inner_njit(forceinline=True)
def gradient_at_point(
    code, arg, starts, multiplier, linear, left, active, weight, equation, values, n, adjoint, gradient
):
    """Write the derivatives of each sum in the `n` constants, then in the columns, into a row of `gradient`.

    `values` are those that `value_at_point` left behind.
    """
    for e in range(gradient.shape[0]):
        for i in range(gradient.shape[1]):
            gradient[e, i] = 0.0
    for j in range(len(weight)):
        e = equation[j]
        last = starts[j + 1] - 1
        if linear[j] >= 0:
            gradient[e, linear[j]] += multiplier[j] * values[last]
        adjoint[last] = weight[j]
        for i in range(last, starts[j] - 1, -1):
            if not active[i]:
                continue
            op, g = code[i], adjoint[i]
            if op == VAR:
                gradient[e, n + arg[i]] += g
            elif op == CONST:
                gradient[e, arg[i]] += g
            elif op == ADD:
                adjoint[i - 1], adjoint[left[i]] = g, g
            elif op == MUL:
                adjoint[i - 1], adjoint[left[i]] = g * values[left[i]], g * values[i - 1]
            elif op == POW:
                a, b, y = values[left[i]], values[i - 1], values[i]
                if a == 0.0:
                    adjoint[left[i]] = g * (0.0 if b > 1.0 or b == 0.0 else (1.0 if b == 1.0 else np.inf))
                    adjoint[i - 1] = 0.0
                else:
                    adjoint[left[i]] = g * b * y / a
                    adjoint[i - 1] = g * y * math.log(a) if a > 0.0 else np.nan
            elif op == POWI:
                adjoint[i - 1] = g * arg[i] * integer_power(values[i - 1], arg[i] - 1)
            elif op == SQRT:
                adjoint[i - 1] = g * 0.5 / values[i]
            else:
                adjoint[i - 1] = g * apply_function(op, values[i - 1])[1]
