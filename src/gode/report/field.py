"""The residuals of a law at rest: where they vanish, and their slopes there.

At an equilibrium the residuals R_i of all equations vanish with all derivatives zero. Small deviations z of
the states, and of the derivatives below the order of each equation, follow z' = A z + B w, where A and B come
from the partial derivatives of R, also where R cannot be solved for the highest derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gode.arrays import Float, Int
from gode.equation import Law
from gode.equation.tape import Tape, compile_tape, evaluate
from gode.report.equilibria import MARGIN, MAX_EQUILIBRIA
from gode.report.naming import TINY

STARTS = 128  # points of the box from which Newton's method goes
STEPS = 60
CONVERGED = 1e-10  # of the box: the last step
APART = 1e-5  # of the box: nearer ones are one equilibrium
FLAT = 1e-7  # smallest over largest singular value below which an equilibrium is not isolated


@dataclass(frozen=True)
class Field:
    """The residuals of all equations of a law as functions of all columns."""

    law: Law

    @cached_property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.law.states)

    @cached_property
    def tapes(self) -> tuple[Tape, ...]:
        """The program of each residual."""
        skeleton = self.law.skeleton
        parts = enumerate(skeleton.parts)
        return tuple(compile_tape(part.terms, skeleton.seen(i), part.n_constants) for i, part in parts)

    @cached_property
    def ends(self) -> Int:
        """Where the constants of each equation end among those of all."""
        return np.cumsum([part.n_constants for part in self.law.skeleton.parts])[:-1]

    def at_rest(self, c: Float, x: Float, inputs: Sequence[float] = ()) -> tuple[Float, Float]:
        """Return the residuals (d, n) at constant states `x` (d, n), and their slopes (d, columns, n).

        They are NaN where they are not defined. The inputs are constant, zero if none are given.
        """
        d, n = x.shape
        n_columns = len(self.law.skeleton.seen(0))
        columns = np.zeros((n_columns, n))
        columns[1 : 1 + 3 * d : 3] = x
        columns[1 + 3 * d : 1 + 3 * d + len(inputs)] = np.reshape(inputs, (-1, 1))
        own = np.split(self.law.skeleton.numbers(c), self.ends)
        found = [evaluated(tape, each, columns) for tape, each in zip(self.tapes, own, strict=True)]
        return np.array([value for value, _ in found]), np.array([slopes for _, slopes in found])

    def linear(self, c: Float, x: Float, inputs: Sequence[float] = ()) -> tuple[Float, Float] | None:
        """Return A (D, D) and B (D, inputs) at an equilibrium; None where they are not defined."""
        orders, d = self.law.skeleton.orders, self.n_states
        slopes = self.at_rest(c, x[:, None], inputs)[1][:, :, 0]
        lead = slopes[:, [1 + 3 * s + order for s, order in enumerate(orders)]]
        size = np.abs(slopes[np.isfinite(slopes)]).max(initial=0.0)
        if not np.all(np.isfinite(slopes)) or not np.abs(lead).max() > TINY * size:
            return None
        if TINY * np.linalg.cond(lead) > 1:
            return None
        lower = [1 + 3 * s + k for s, order in enumerate(orders) for k in range(order)]
        solved = -np.linalg.solve(lead, np.hstack([slopes[:, lower], slopes[:, 1 + 3 * d :]]))
        a, b = np.zeros((len(lower), len(lower))), np.zeros((len(lower), slopes.shape[1] - 1 - 3 * d))
        row = 0
        for s, order in enumerate(orders):
            a[row : row + order - 1, row + 1 : row + order] = np.eye(order - 1)
            row += order
            a[row - 1], b[row - 1] = solved[s, : len(lower)], solved[s, len(lower) :]
        return a, b

    def newton(self, c: Float, x: Float, size: Float, inputs: Sequence[float] = ()) -> Float:
        """Return the equilibria (d, n) to which Newton's method leads from `x` (d, n); NaN where to none."""
        states = [1 + 3 * s for s in range(self.n_states)]
        x, step = x.copy(), np.full(x.shape, np.inf)
        for _ in range(STEPS):
            value, slopes = self.at_rest(c, x, inputs)
            jacobian = np.moveaxis(slopes[:, states], -1, 0)
            sound = np.isfinite(value).all(axis=0) & np.isfinite(jacobian).all(axis=(1, 2))
            step = np.full(x.shape, np.nan)
            inverse = np.linalg.pinv(jacobian[sound] * size, rcond=1e-12)
            step[:, sound] = size[:, None] * np.einsum("nij,jn->in", inverse, value[:, sound])
            most = np.max(np.abs(step) / size[:, None], axis=0)
            step *= np.minimum(1.0, 1.0 / np.maximum(most, 1e-300))
            x = x - step
            if np.all(most[np.isfinite(most)] <= CONVERGED):
                break
        near = np.max(np.abs(step) / size[:, None], axis=0) <= CONVERGED
        return np.where(near, x, np.nan)

    def isolated(self, c: Float, x: Float, size: Float, inputs: Sequence[float] = ()) -> bool:
        """Tell whether no other equilibria lie arbitrarily near."""
        states = [1 + 3 * s for s in range(self.n_states)]
        jacobian = self.at_rest(c, x[:, None], inputs)[1][:, states, 0] * size
        scale = np.abs(jacobian).max(axis=1, keepdims=True)
        values = np.linalg.svd(jacobian / np.where(scale > 0, scale, 1.0), compute_uv=False)
        return bool(values[-1] > FLAT * values[0])


def evaluated(tape: Tape, c: Float, x: Float) -> tuple[Float, Float]:
    """Return a tape's value (n,) and its derivatives in the columns (columns, n); NaN where undefined."""
    out = evaluate(tape, c, x)
    if out.finite or x.shape[1] == 1:
        return out.value, out.in_columns
    half = x.shape[1] // 2  # one undefined point invalidates the whole evaluation
    parts = [evaluated(tape, c, part) for part in (x[:, :half], x[:, half:])]
    return np.concatenate([p[0] for p in parts]), np.hstack([p[1] for p in parts])


def equilibria_in(
    law: Law, low: Float, high: Float, inputs: Sequence[float] = (), near: Float | None = None
) -> tuple[list[Float], bool]:
    """Return the equilibria (d,) between `low` and `high` (d,) or near there, and whether all are apart.

    Args:
        inputs: constant values of the inputs.
        near: a place to start from besides.
    """
    field, size = Field(law), np.where(high > low, high - low, np.maximum(np.abs(low), 1.0))
    bottom, top = low - MARGIN * size, high + MARGIN * size
    starts = bottom[:, None] + (top - bottom)[:, None] * _spread(len(low), STARTS)
    extra = [np.zeros(len(low)), *([] if near is None else [near])]
    c = np.array(law.constants)
    ends = field.newton(c, np.column_stack([starts, *extra]), size, inputs)
    wide = TINY * size
    inside = np.all((ends >= (bottom - wide)[:, None]) & (ends <= (top + wide)[:, None]), axis=0)
    if near is not None:
        inside[-1] = np.isfinite(ends[:, -1]).all()
    found: list[Float] = []
    apart = True
    for x in ends[:, inside].T:
        if not field.isolated(c, x, size, inputs):
            apart = False
        elif all(np.max(np.abs(x - other) / size) > APART for other in found):
            found.append(np.where(np.abs(x) < 1e-9 * size, 0.0, x))
    return sorted(found, key=lambda x: tuple(x.tolist()))[:MAX_EQUILIBRIA], apart


def _spread(d: int, n: int) -> Float:
    """Return `n` points (d, n) that fill the unit cube evenly: multiples of square roots of primes."""
    primes = [p for p in range(2, 200) if all(p % q for q in range(2, p))][:d]
    return np.outer(np.sqrt(primes), np.arange(1, n + 1)) % 1.0
