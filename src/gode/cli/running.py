"""While a discovery runs: its progress on the terminal and in a file, and a process that compiles ahead."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite, nan
from pathlib import Path

import numpy as np
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gode.arrays import Float
from gode.cli.app import console
from gode.data import Dataset
from gode.data.columns import channel_names
from gode.discovery import Step
from gode.errors import FileError, GodeError
from gode.numba_cache import must_compile
from gode.search.archive import Stage
from gode.search.workers import cores
from gode.selection import Candidate, front
from gode.solve import solve
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
OFTEN = 0.5  # seconds between two writings
POINTS = 400  # of a curve
MAX_RUNS = 12  # whose curves are written


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Compile the solvers in a second process, if they are not in the cache and there is a second core.

    This process meanwhile compiles the fits. It finds what is finished in the cache of compiled code, and
    compiles the rest itself.
    """
    if not must_compile(solve_explicit) or not solve_explicit.stats.cache_path or cores() < 2:
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
    first = COMPILING if must_compile(solve_explicit) else STAGES[Stage.SMOOTHING]
    kept = ProgressFile(path, dataset, lambda step: STAGES[step.stage], known=known, first=first)

    def tell(step: Step) -> None:
        kept.update(step)
        if show is not None:
            show(step)

    return tell


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


class ProgressFile:
    """Writes the latest step to a file: its stage, the front so far, and the curve of the best equation."""

    def __init__(
        self, path: Path, dataset: Dataset, words: Callable[[Step], str], *, known: int = 0, first: str = ""
    ) -> None:
        """Write what is done before the first step.

        Args:
            known: the number of fits to the trajectory that are known from before.
            first: words on what is done until then.
        """
        self.path, self.dataset, self.words, self.known = path, dataset, words, known
        if first:
            self._write(json.dumps({"words": first, "known": known}))
        self.begin = time.monotonic()
        self.last = -OFTEN
        self.best: Candidate | None = None
        self.curves: list[dict[str, object]] = []

    def update(self, step: Step) -> None:
        """Write a step, unless one was written a moment ago.

        Raises:
            FileError: if the file cannot be written.
        """
        now = time.monotonic() - self.begin
        if now - self.last < OFTEN:
            return
        whole = [c for c in step.leaders if c.equation.states == self.dataset.states]
        if whole and whole[0] is not self.best:
            self.best, self.curves = whole[0], self._curves(whole[0])
        values = {
            "stage": step.stage.value,
            "words": self.words(step),
            "n_fitted": step.n_fitted,
            "n_solved": step.n_solved,
            "known": max(self.known - step.n_solved, 0),
            "best": "" if self.best is None else str(self.best.equation),  # of all states, in their own names
            "seconds": round(now, 1),
            "left": step.left if isfinite(step.left) else None,
            "front": [_point(c) for c in front(whole)] if whole else [],
            "curves": self.curves,
        }
        self._write(json.dumps(values))
        self.last = time.monotonic() - self.begin

    def _write(self, text: str) -> None:
        draft = self.path.with_name(f".{self.path.name}.draft")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.path)  # a reader never sees half of it
        except OSError as error:
            raise FileError(f"{self.path} cannot be written ({error.strerror}); name another file") from None

    def _curves(self, candidate: Candidate) -> list[dict[str, object]]:
        out = []
        names = channel_names(self.dataset.states)
        for i, run in enumerate(self.dataset.runs[:MAX_RUNS]):
            t = np.linspace(run.t[0], run.t[-1], min(max(run.n_points, 100), POINTS))
            try:
                solved = solve(
                    candidate.equation, t, candidate.initial[i], inputs=run.signals, doses=run.doses
                )
            except GodeError:  # the next best may do
                continue
            seen = [k for k in range(len(names)) if np.isfinite(run.observed[k]).any()]
            rows = {names[k]: _plain(solved.values[k]) for k in seen}
            out.append({"run": i, "t": _plain(t), "values": rows})
        return out


def _point(candidate: Candidate) -> list[object]:
    text = "; ".join(candidate.equation.lines(4))
    return [candidate.complexity, float(f"{candidate.rms:.4g}"), text]


def _plain(values: Float) -> list[float | None]:
    return [float(f"{x:.6g}") if isfinite(x) else None for x in values.tolist()]
