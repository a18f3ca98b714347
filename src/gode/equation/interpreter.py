"""The compiled interpreters of tapes: over whole columns, and at a single point.

It works on whole data columns, carries derivatives in any chosen constants and columns along (forward
mode), and never raises or warns: a point at which a term is not finite makes the run a failure.

This module may trade clarity for speed; `tests/equation/test_tape.py` holds its plain twin.

A solver evaluates its right-hand side at one point after the other, some hundred times per solution. The
interpreter of whole columns would spend most of that time on being called. Here every instruction keeps its
own value, so that the gradient in all constants and columns costs one pass back, however many they are.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.equation.operators import ADD, CODES, CONST, FUNCTIONS, LIT, MUL, POW, POWI, SQRT, VAR
from gode.numba_cache import cached_njit, inner_njit


@inner_njit
def no_function(op, x):
    """Return NaN as value and slope: there is no such function."""
    return np.nan, np.nan


def _choice(code: int, function: Any, others: Any) -> Any:
    """Return the compiled choice between the function with this code and the others."""

    @inner_njit
    def apply(op, x):
        if op == code:
            return function(x)
        return others(op, x)

    return apply


def _choices() -> Any:
    """Return the compiled choice among all functions: (operation, number) -> value and slope."""
    apply = no_function
    for name in reversed(FUNCTIONS):
        apply = _choice(CODES[name], inner_njit(FUNCTIONS[name].compiled), apply)
    return apply


apply_function = _choices()


class Work(NamedTuple):
    """Scratch of the interpreter for n points and some directions of differentiation."""

    values: Float  # (terms, n) the value of each program
    grads: Float  # (directions, n) the derivatives of their weighted sum
    stack: Float  # (depth + 1, n)
    dual: Float  # (depth + 1, directions, n)
    mask: Int  # (depth + 1,) which directions a stack entry depends on
    span: Int  # (2,) the first program to run, and the one at which to stop


def workspace(n_terms: int, depth: int, n_dir: int, n: int) -> Work:
    """Return scratch for `n` points and `n_dir` directions."""
    return Work(
        np.zeros((n_terms, n)),
        np.zeros((n_dir, n)),
        np.zeros((depth + 1, n)),
        np.zeros((depth + 1, n_dir, n)),
        np.zeros(depth + 1, np.int64),
        np.array([0, n_terms]),
    )


@cached_njit
def run_tape(tape, c, x, const_dir, col_dir, weight, work):
    """Run the programs of work.span on the columns `x` (columns, n); return whether every value is finite.

    work.values[j] becomes the value of program j. work.grads[d] becomes the sum over j of weight[j] times
    the derivative of program j in direction d; `const_dir` and `col_dir` give the direction that a
    constant or a column is, or -1.
    """
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    values, grads, stack, dual, mask = work.values, work.grads, work.stack, work.dual, work.mask
    n = x.shape[1]
    n_dir = grads.shape[0]
    for d in range(n_dir):
        for m in range(n):
            grads[d, m] = 0.0
    for j in range(work.span[0], min(work.span[1], len(starts) - 1)):
        sp = -1
        for i in range(starts[j], starts[j + 1]):
            op = code[i]
            if op == VAR:
                sp += 1
                for m in range(n):
                    stack[sp, m] = x[arg[i], m]
                mask[sp] = 0
                d = col_dir[arg[i]] if n_dir > 0 else -1
                if d >= 0:
                    mask[sp] = 1 << d
                    for m in range(n):
                        dual[sp, d, m] = 1.0
            elif op == CONST:
                sp += 1
                for m in range(n):
                    stack[sp, m] = c[arg[i]]
                mask[sp] = 0
                d = const_dir[arg[i]] if n_dir > 0 else -1
                if d >= 0:
                    mask[sp] = 1 << d
                    for m in range(n):
                        dual[sp, d, m] = 1.0
            elif op == LIT:
                sp += 1
                for m in range(n):
                    stack[sp, m] = literal[i]
                mask[sp] = 0
            elif op == ADD:
                sp -= 1
                for m in range(n):
                    stack[sp, m] += stack[sp + 1, m]
                ma = mask[sp]
                mb = mask[sp + 1]
                if mb != 0:
                    for d in range(n_dir):
                        if mb >> d & 1:
                            if ma >> d & 1:
                                for m in range(n):
                                    dual[sp, d, m] += dual[sp + 1, d, m]
                            else:
                                for m in range(n):
                                    dual[sp, d, m] = dual[sp + 1, d, m]
                    mask[sp] = ma | mb
            elif op == MUL:
                sp -= 1
                ma = mask[sp]
                mb = mask[sp + 1]
                if ma | mb:
                    for d in range(n_dir):
                        if ma >> d & 1:
                            if mb >> d & 1:
                                for m in range(n):
                                    dual[sp, d, m] = (
                                        dual[sp, d, m] * stack[sp + 1, m] + dual[sp + 1, d, m] * stack[sp, m]
                                    )
                            else:
                                for m in range(n):
                                    dual[sp, d, m] *= stack[sp + 1, m]
                        elif mb >> d & 1:
                            for m in range(n):
                                dual[sp, d, m] = dual[sp + 1, d, m] * stack[sp, m]
                    mask[sp] = ma | mb
                for m in range(n):
                    stack[sp, m] *= stack[sp + 1, m]
            elif op == POW:
                sp -= 1
                ma = mask[sp]
                mb = mask[sp + 1]
                for m in range(n):
                    a = stack[sp, m]
                    b = stack[sp + 1, m]
                    if a > 0.0:
                        y = a**b
                        da = b * y / a
                        db = y * math.log(a)
                    elif a == 0.0 and b > 0.0:
                        y = 0.0
                        da = 0.0 if b > 1.0 else (1.0 if b == 1.0 else np.inf)
                        db = 0.0
                    elif b == np.floor(b) and a != 0.0:
                        y = a**b
                        da = b * y / a
                        db = np.nan if mb else 0.0
                    else:
                        y = 1.0 if b == 0.0 else np.nan
                        da = 0.0
                        db = 0.0
                    stack[sp, m] = y
                    if ma | mb:
                        for d in range(n_dir):
                            g = 0.0
                            if ma >> d & 1:
                                g += dual[sp, d, m] * da
                            if mb >> d & 1:
                                g += dual[sp + 1, d, m] * db
                            dual[sp, d, m] = g
                mask[sp] = ma | mb
            else:
                ma = mask[sp]
                if op == POWI:
                    p = arg[i]
                    if p == 2:
                        for m in range(n):
                            stack[sp + 1, m] = 2.0 * stack[sp, m]
                            stack[sp, m] = stack[sp, m] * stack[sp, m]
                    elif p == -1:
                        for m in range(n):
                            y = 1.0 / stack[sp, m]
                            stack[sp + 1, m] = -y * y
                            stack[sp, m] = y
                    elif p == 3:
                        for m in range(n):
                            y = stack[sp, m] * stack[sp, m]
                            stack[sp + 1, m] = 3.0 * y
                            stack[sp, m] = y * stack[sp, m]
                    else:
                        for m in range(n):
                            a = stack[sp, m]
                            y = 1.0
                            q = abs(p) - 1
                            for _ in range(q):
                                y *= a
                            if p > 0:
                                stack[sp + 1, m] = p * y
                                stack[sp, m] = y * a
                            else:
                                w = 1.0 / (y * a)
                                stack[sp + 1, m] = p * w / a
                                stack[sp, m] = w
                elif op == SQRT:
                    for m in range(n):
                        a = stack[sp, m]
                        y = math.sqrt(a) if a >= 0.0 else np.nan
                        stack[sp, m] = y
                        stack[sp + 1, m] = 0.5 / y
                elif ma:
                    for m in range(n):
                        stack[sp, m], stack[sp + 1, m] = apply_function(op, stack[sp, m])
                else:
                    for m in range(n):
                        stack[sp, m] = apply_function(op, stack[sp, m])[0]  # the slope is not computed
                if ma:
                    for d in range(n_dir):
                        if ma >> d & 1:
                            for m in range(n):
                                dual[sp, d, m] *= stack[sp + 1, m]
        total = 0.0
        for m in range(n):
            values[j, m] = stack[0, m]
            total += stack[0, m] - stack[0, m]
        if total != 0.0:  # not finite
            return False
        ma = mask[0]
        if ma:
            for d in range(n_dir):
                if ma >> d & 1:
                    for m in range(n):
                        grads[d, m] += weight[j] * dual[0, d, m]
    return True


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
def write_weights(tape, c, weight):
    """Write the number in front of each program: multiplier and linear constant."""
    for j in range(len(weight)):
        weight[j] = tape.multiplier[j]
        if tape.linear[j] >= 0:
            weight[j] *= c[tape.linear[j]]


@inner_njit(forceinline=True)
def value_at_point(tape, operands, c, weight, x, values, total):
    """Write the weighted sum of the programs of each equation at the point `x` into `total`.

    A sum is not finite where a term is not. The value of each instruction is kept in `values`.
    """
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    left, equation = operands.left, operands.equation
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
def gradient_at_point(tape, operands, weight, values, n, adjoint, gradient):
    """Write the derivatives of each sum in the `n` constants, then in the columns, into a row of `gradient`.

    `values` are those that `value_at_point` left behind.
    """
    code, arg, starts = tape.code, tape.arg, tape.starts
    multiplier, linear = tape.multiplier, tape.linear
    left, active, equation = operands.left, operands.active, operands.equation
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
