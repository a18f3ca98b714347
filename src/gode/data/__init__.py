"""What was measured."""

from gode.data.columns import Columns, columns_of_run, join_runs

__all__ = ["Columns", "columns_of_run", "join_runs"]
