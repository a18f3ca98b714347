"""What was measured."""

from gode.data.columns import Columns, columns_of_run, join_runs
from gode.data.gp import Smooth, smooth_gp
from gode.data.runs import Dataset, Run, make_run
from gode.data.smoothing import smooth

__all__ = [
    "Columns",
    "Dataset",
    "Run",
    "Smooth",
    "columns_of_run",
    "join_runs",
    "make_run",
    "smooth",
    "smooth_gp",
]
