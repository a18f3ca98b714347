"""Polynomials in time fitted to the data: what an equation must explain better."""

import numpy as np

from gode.data.dataset import lowest_channel
from gode.fitting.target import Target


def fitted_polynomials(target: Target) -> list[tuple[tuple[float, ...], int]]:
    """Return the mean squares and the free numbers of polynomials in t, one for each state of each run.

    They have just the degree that makes the lowest observed channel a constant, and one more.
    """
    found = []
    for extra in (0, 1):
        squares = [_polynomial(target, s, extra) for s in range(len(target.scales))]
        measured = len(squares) - len(target.dataset.hidden)
        found.append((tuple(squares), measured * len(target.dataset.runs) * (extra + 1)))
    return found


def _polynomial(target: Target, state: int, extra: int) -> float:
    """Return the mean square that polynomials of one state leave; 0 for a state that was never measured."""
    if state in target.dataset.hidden:
        return 0.0
    sse, n = 0.0, 0
    own = slice(3 * state, 3 * state + 3)
    for i, run in enumerate(target.dataset.runs):
        weights = target.samples[i][1].T[own]
        lowest = lowest_channel(run.state(state))
        x = (run.t - run.t[0]) / (run.t[-1] - run.t[0])
        rows, values = [], []
        for k in range(3):
            here = weights[k] > 0
            degrees = range(lowest, lowest + extra + 1)
            slopes = [np.polynomial.Polynomial.basis(j).deriv(k)(x[here]) for j in degrees]
            unit = (run.t[-1] - run.t[0]) ** (lowest - k)
            rows.append((np.array(slopes) * unit * weights[k, here]).T)
            values.append(run.observed[own][k, here] * weights[k, here])
        design, wanted = np.vstack(rows), np.concatenate(values)
        fitted = design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
        sse += float(np.sum((wanted - fitted) ** 2))
        n += len(wanted)
    return sse / n
