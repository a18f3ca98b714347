"""The few fixtures all tests share."""

import numpy as np
import pytest

from problems import BY_NAME, Trajectory


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def oscillator() -> Trajectory:
    """cos 2t, which satisfies u'' = -4u, at 200 times in [0, 10]."""
    return BY_NAME["undamped oscillator"].trajectory()


@pytest.fixture
def logistic() -> Trajectory:
    """The solution of u' = u(1 - u) from u(0) = 0.1, at 200 times in [0, 8]."""
    return BY_NAME["logistic"].trajectory()
