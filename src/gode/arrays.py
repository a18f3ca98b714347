"""The array types of every signature."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Series = ArrayLike | Sequence[ArrayLike]  # what was measured: an array, or a list of them for several runs
