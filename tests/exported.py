"""What exported programs and models are compared with."""

import numpy as np

from gode.solve import SolveConfig, solve


def reference(found, run=0):
    """Our own solution at the times that the programs print."""
    best, data = found.candidates[0], found.prepared.dataset.runs[run]
    t = np.linspace(data.t[0], data.t[-1], 201)
    inputs = dict(data.signals)
    config = SolveConfig(rtol=1e-11, max_steps=200_000)
    orders, smooth = best.equation.skeleton.orders, found.prepared.smooths[run]
    guide = [np.interp(t, data.t, smooth.values[3 * s + order]) for s, order in enumerate(orders)]
    drives = {"inputs": inputs, "doses": data.doses}
    solved = solve(best.law_of(run), t, best.initial[run], **drives, guide=guide, config=config)
    rows = [3 * s + k for s, order in enumerate(orders) for k in range(max(order, 1))]  # formulas come last
    return np.column_stack([t, *solved.values[rows]])
