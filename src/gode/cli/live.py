"""The progress of a discovery on a terminal: stage, candidates, best equation so far, time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite, nan
from typing import TYPE_CHECKING

from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gode.cli.console import progress_console

if TYPE_CHECKING:
    from gode.discovery import Step

WORDS = {
    "": "smoothing the data",
    "library": "fitting random sentences of the grammar",
    "sums": "comparing sums of few terms",
    "latent space": "searching the latent space",
    "moves": "trying neighbours of the best",
    "trajectories": "fitting the best to the trajectory",
    "neighbours": "fitting their neighbours to the trajectory",
    "whole records": "fitting the best to whole records",
    "the last digits": "fitting the best once more",
    "factors of one": "leaving out factors of one",
}


@contextmanager
def live_progress(*, quiet: bool) -> "Iterator[Callable[[Step], None] | None]":
    """Give what to call with each step: it redraws two lines of a terminal, and is None elsewhere.

    They go to standard error, so that the output can be sent to a file.
    """
    if quiet or not progress_console.is_terminal:
        yield None
        return
    view = _View()
    with Live(view, console=progress_console, transient=True, refresh_per_second=8):
        yield view.take


class _View:
    """The latest step, drawn with the time that has passed."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.spinner = Spinner("dots")
        self.stage, self.counts, self.best = "", "", ""
        self.end = nan  # when it should be done, as far as is known

    def take(self, step: "Step") -> None:
        self.stage = step.stage
        self.counts = f"{step.n_fitted} tried, {step.n_solved} solved"
        self.best = step.best
        self.end = time.perf_counter() + step.left

    def __rich__(self) -> Table:
        spent = time.perf_counter() - self.start
        parts = (WORDS.get(self.stage, self.stage), self.counts, f"{spent:.0f} s", self._left())
        grid = Table.grid(padding=(0, 1))
        grid.add_row(self.spinner, Text(", ".join(p for p in parts if p), no_wrap=True, overflow="ellipsis"))
        best = f"best so far: {self.best}" if self.best else "Ctrl-C ends with the best found so far"
        grid.add_row("", Text(best, no_wrap=True, overflow="ellipsis", style="bold" if self.best else "dim"))
        return grid

    def _left(self) -> str:
        """Return the time left in words; where more was done than planned, that is said."""
        if not isfinite(self.end):
            return ""
        left = self.end - time.perf_counter()
        return f"about {left:.0f} s left" if left >= 0.5 else "longer than planned"
