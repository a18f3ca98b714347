"""The array types of every signature."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Rows = tuple[tuple[float, ...], ...]  # the values of each run, where they must be hashable
Series = ArrayLike | Sequence[ArrayLike]  # what was measured: an array, or a list of them for several runs
Signals = Series | Mapping[str, Series] | Sequence[Mapping[str, Series]]  # of the states
KnownInput = str | Callable[[float], float] | Series  # a formula in t, a function of it, or samples
Force = KnownInput | Mapping[str, KnownInput]  # one known input, or several by their names


def rows_of(table: Float) -> Rows:
    """Return an array (runs, values) as tuples."""
    return tuple(map(tuple, table.tolist()))
