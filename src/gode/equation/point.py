"""A tape at a single point, values only: what a solver needs hundreds of times per solution (compiled).

The interpreter of columns does the same and more; called for one point it spends most of its time on
being called. This one is written into its caller, which makes it about four times as fast.
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


@inner_njit(forceinline=True)
def value_at_point(code, arg, literal, starts, c, weight, x, stack):
    """Return the weighted sum of all programs at the point x[:, 0]; not finite where a term is not."""
    total = 0.0
    for j in range(len(weight)):
        sp = -1
        for i in range(starts[j], starts[j + 1]):
            op = code[i]
            if op == VAR:
                sp += 1
                stack[sp] = x[arg[i], 0]
            elif op == CONST:
                sp += 1
                stack[sp] = c[arg[i]]
            elif op == LIT:
                sp += 1
                stack[sp] = literal[i]
            elif op == ADD:
                sp -= 1
                stack[sp] += stack[sp + 1]
            elif op == MUL:
                sp -= 1
                stack[sp] *= stack[sp + 1]
            elif op == POWI:
                stack[sp] = integer_power(stack[sp], arg[i])
            elif op == POW:
                sp -= 1
                stack[sp] = real_power(stack[sp], stack[sp + 1])
            elif op == SQRT:
                stack[sp] = math.sqrt(stack[sp]) if stack[sp] >= 0.0 else np.nan
            else:
                stack[sp] = apply_function(op, stack[sp])[0]
        total += weight[j] * stack[0]
    return total
