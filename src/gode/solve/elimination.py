"""Systems of linear equations by elimination with pivoting (compiled)."""

import math

from gode.compiling import inner_njit


@inner_njit
def eliminate(m, n, pivot):
    """Factor the first `n` rows and columns of `m` in place; return whether that worked.

    `pivot` becomes the row that was swapped with each.
    """
    for i in range(n):
        best = i
        for r in range(i + 1, n):
            if abs(m[r, i]) > abs(m[best, i]):
                best = r
        if not abs(m[best, i]) > 0.0 or not math.isfinite(m[best, i]):
            return False
        pivot[i] = best
        if best != i:
            for q in range(n):
                m[i, q], m[best, q] = m[best, q], m[i, q]
        for r in range(i + 1, n):
            m[r, i] /= m[i, i]
            for q in range(i + 1, n):
                m[r, q] -= m[r, i] * m[i, q]
    return True


@inner_njit
def substitute(m, n, pivot, b):
    """Solve for the right-hand side `b` in place, with what `eliminate` made; return whether it is finite."""
    for i in range(n):
        b[i], b[pivot[i]] = b[pivot[i]], b[i]
    for i in range(n):
        for r in range(i + 1, n):
            b[r] -= m[r, i] * b[i]
    total = 0.0
    for i in range(n - 1, -1, -1):
        for q in range(i + 1, n):
            b[i] -= m[i, q] * b[q]
        b[i] /= m[i, i]
        total += b[i]
    return math.isfinite(total)
