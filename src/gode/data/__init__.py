"""Measured runs, their smoothing, and the columns on which equations are evaluated."""

from gode.data.columns import Columns, columns_of_run, columns_of_states, join_runs
from gode.data.dataset import Dataset, Interpolation, Run, Samples, Smooth
from gode.data.from_arrays import make_run
from gode.data.gp import smooth_gp
from gode.data.smoothing import smooth

__all__ = [
    "Columns",
    "Dataset",
    "Interpolation",
    "Run",
    "Samples",
    "Smooth",
    "columns_of_run",
    "columns_of_states",
    "join_runs",
    "make_run",
    "smooth",
    "smooth_gp",
]
