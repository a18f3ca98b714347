"""While a discovery runs: its progress on the terminal, and a second process that compiles ahead."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite, nan
from pathlib import Path

from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gode.cli.app import console
from gode.compiling import must_compile
from gode.data import Dataset
from gode.discovery import Step
from gode.search.archive import Stage
from gode.solve.explicit import solve_explicit

STAGES = {
    Stage.SMOOTHING: "smoothing the data",
    Stage.LIBRARY: "trying combinations of terms",
    Stage.SUMS: "comparing sums of a few terms",
    Stage.LATENT: "searching near the best",
    Stage.TRAJECTORIES: "fitting the best to the data",
    Stage.NEIGHBOURS: "trying small changes of the best",
    Stage.COUPLING: "fitting all equations together",
    Stage.SHARING: "trying constants that equations share",
    Stage.WHOLE: "fitting the best to whole records",
    Stage.DIGITS: "fitting the best once more",
    Stage.BEST: "fitting the best so far",
}
COMPILING = "compiling the engine, which is done once for each installation and takes a minute"
COMPILE = "from gode.solve.solution import compile_solvers; compile_solvers()"


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Compile the solvers in a second process, if they are not in the cache and there is a second core.

    This process meanwhile compiles the fits. It finds what is finished in the cache of compiled code, and
    compiles the rest itself.
    """
    if not must_compile(solve_explicit) or not solve_explicit.stats.cache_path or _cores() < 2:
        yield
        return
    command = [sys.executable, "-P", "-c", COMPILE]  # -P: nothing is imported from the current folder
    null = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=null, stdout=null, stderr=null) as helper:
        try:
            yield
        finally:
            helper.terminate()


def told_by(
    show: Callable[[Step], None] | None, path: Path | None, dataset: Dataset, known: int = 0
) -> Callable[[Step], None] | None:
    """Return a callback that shows the progress and keeps it in a file, each where it is wanted.

    Args:
        known: the number of fits that an earlier start of the same search has done.
    """
    if path is None:
        return show
    from gode.cli.progress import ProgressFile

    first = COMPILING if must_compile(solve_explicit) else STAGES[Stage.SMOOTHING]
    kept = ProgressFile(path, dataset, lambda step: STAGES[step.stage], known=known, first=first)

    def tell(step: Step) -> None:
        kept.update(step)
        if show is not None:
            show(step)

    return tell


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def live_progress(*, quiet: bool) -> Iterator[Callable[[Step], None] | None]:
    """Yield a callback that redraws two progress lines on a terminal; None where there is no terminal.

    They go to standard error, so that the output can be redirected to a file.
    """
    terminal = console(stderr=True)
    if quiet or not terminal.is_terminal:
        yield None
        return
    lines = _ProgressLines()
    with Live(lines, console=terminal, transient=True, refresh_per_second=8):
        yield lines.update


class _ProgressLines:
    """The latest step and the time elapsed."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.spinner = Spinner("dots")
        self.stage, self.counts, self.best = Stage.SMOOTHING, "", ""
        self.end = nan  # estimated, where that is possible

    def update(self, step: Step) -> None:
        self.stage = step.stage
        self.counts = f"{step.n_fitted} tried, {step.n_solved} solved"
        self.best = step.best.replace("\n", "; ")
        self.end = time.perf_counter() + step.left

    def __rich__(self) -> Table:
        spent = time.perf_counter() - self.start
        parts = (STAGES[self.stage], self.counts, f"{spent:.0f} s", self._left())
        grid = Table.grid(padding=(0, 1))
        grid.add_row(self.spinner, Text(", ".join(p for p in parts if p), no_wrap=True, overflow="ellipsis"))
        best = f"best so far: {self.best}" if self.best else "Ctrl-C ends with the best found so far"
        grid.add_row("", Text(best, no_wrap=True, overflow="ellipsis", style="bold" if self.best else "dim"))
        return grid

    def _left(self) -> str:
        """Return the estimated time left, in words."""
        if not isfinite(self.end):
            return ""
        left = self.end - time.perf_counter()
        return f"about {left:.0f} s left" if left >= 0.5 else "longer than planned"
