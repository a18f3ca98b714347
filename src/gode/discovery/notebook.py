"""The progress of a discovery in a Jupyter notebook; elsewhere the library stays silent."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Protocol

from gode.search.archive import Step

PAUSE = 0.5  # seconds between two updates, at least

Show = Callable[[Step], None]


class _Handle(Protocol):
    """Output that can be updated: IPython's DisplayHandle."""

    def update(self, data: dict[str, str], *, raw: bool) -> None: ...


@contextmanager
def shown_in_notebook(on_step: Show | None) -> Iterator[Show | None]:
    """Yield the function to call with each step: the caller's, or one that updates a line below the cell."""
    handle = _line() if on_step is None else None
    if handle is None:
        yield on_step
        return
    line = _Line(handle)
    try:
        yield line.take
    finally:
        line.write("")


class _Line:
    """One line of text, written at most twice a second."""

    def __init__(self, handle: _Handle) -> None:
        self.handle = handle
        self.begin = time.monotonic()
        self.next = self.begin

    def take(self, step: Step) -> None:
        now = time.monotonic()
        if now >= self.next:
            self.next = now + PAUSE
            self.write(progress_text(step, now - self.begin))

    def write(self, text: str) -> None:
        self.handle.update({"text/plain": text}, raw=True)


def progress_text(step: Step, seconds: float) -> str:
    """Return the progress of a discovery in one line."""
    parts = [f"{step.stage}: {step.n_fitted} equations tried, {seconds:.0f} s"]
    parts += [f"about {step.left:.0f} s left"] if isfinite(step.left) and step.left > 0 else []
    best = "; ".join(step.best.splitlines())  # of several states in one line, too
    parts += [f"best so far: {best}"] if best else []
    return ", ".join(parts)


def _line() -> _Handle | None:
    """Return a new output line of a notebook; None elsewhere. IPython is not imported for this."""
    display = sys.modules.get("IPython.display")
    if display is None or "ipykernel" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        return None
    handle: _Handle = display.display({"text/plain": ""}, raw=True, display_id=True)
    return handle
