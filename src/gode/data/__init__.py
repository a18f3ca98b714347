"""Measured runs, their smoothing, and the columns on which equations are evaluated."""

from gode.data.checked import make_run
from gode.data.columns import Columns, columns_of_run, columns_of_states, join_runs
from gode.data.gp import smooth_gp
from gode.data.joining import Interpolation, Samples
from gode.data.runs import Dataset, Run
from gode.data.smoothed import Smooth
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
