"""How far the data reach: the range of u and u' that they show."""

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery


def extent(discovery: Discovery, order: int = 0) -> tuple[float, float]:
    """Return the smallest and the largest u (order 0) or u' (1) along the data.

    Where u itself was not measured it is that of the equation found: integrated accelerations drift away.
    """
    values = np.concatenate([_path(discovery, i)[order] for i in range(len(discovery.prepared.smooths))])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _path(discovery: Discovery, run: int) -> tuple[Float, Float]:
    smooth = discovery.prepared.smooths[run]
    if np.isfinite(discovery.prepared.dataset.runs[run].observed[0]).any():
        return smooth.values[0], smooth.values[1]
    solved = discovery.simulate(run=run)
    return solved.u, solved.du
