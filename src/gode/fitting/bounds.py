"""Bounds of constants in a trajectory fit."""

import numpy as np

from gode.arrays import Float
from gode.equation import LawSkeleton


def bounds_of(skeleton: LawSkeleton, n: int) -> tuple[Float, Float]:
    """Return the least and the largest value of each of `n` fitted numbers, constants first."""
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for i, parameter in enumerate(skeleton.parameters):
        low[i], high[i] = parameter.low, parameter.high
    return low, high


def within_bounds(p: Float, low: Float, high: Float, normal: Float, gradient: Float) -> tuple[Float, Float]:
    """Return the normal equations of a step from `p`; numbers that would leave their bounds stay there."""
    held = ((p <= low) & (gradient < 0)) | ((p >= high) & (gradient > 0))
    if not held.any():
        return normal, gradient
    left = np.where(held | held[:, None], 0.0, normal) + np.diag(held.astype(float))
    return left, np.where(held, 0.0, gradient)
