"""The progress of a discovery as a file of JSON, for programs that show it."""

import json
import time
from collections.abc import Callable
from math import isfinite
from pathlib import Path

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.data.columns import channel_names
from gode.discovery import Step
from gode.errors import FileError, GodeError
from gode.selection import Candidate, front
from gode.solve import solve

OFTEN = 0.5  # seconds between two writings
POINTS = 400  # of a curve
MAX_RUNS = 12  # whose curves are written


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
