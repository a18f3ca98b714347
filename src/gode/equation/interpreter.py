"""The one compiled interpreter of tapes.

It works on whole data columns, carries derivatives in any chosen constants and columns along (forward
mode), and never raises or warns: a point at which a term is not finite makes the run a failure.

This module may trade clarity for speed; `tests/equation/test_tape.py` holds its plain twin.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.compiling import cached_njit, inner_njit
from gode.equation.operators import ADD, CODES, CONST, FUNCTIONS, LIT, MUL, POW, POWI, SQRT, VAR


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


@cached_njit
def workspace(n_terms, depth, n_dir, n):
    """Return scratch for `n` points and `n_dir` directions."""
    span = np.zeros(2, np.int64)
    span[1] = n_terms
    return Work(
        np.empty((n_terms, n)),
        np.empty((n_dir, n)),
        np.empty((depth + 1, n)),
        np.empty((depth + 1, n_dir, n)),
        np.zeros(depth + 1, np.int64),
        span,
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
