"""What a notebook shows: the progress of a discovery in a line, and the laws that were fitted as a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from gode.search.archive import Step
from gode.selection import Candidate

if TYPE_CHECKING:
    import pandas as pd

PAUSE = 0.5  # At least so many seconds lie between two updates.

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


LAW_WIDTH = 70  # The characters of a law in a table of them: with the other columns they fill a line.


class Candidates(list[Candidate]):
    """The laws that were fitted, the best first, which are shown as a table."""

    def __init__(self, laws: Iterable[Candidate], rows: Callable[[], list[dict[str, object]]]) -> None:
        super().__init__(laws)
        self.rows = rows

    @cached_property
    def table(self) -> pd.DataFrame:
        """Law, complexity, misfit, criterion, probability and error on what was held back of each.

        Misfits are root mean square residuals in units of the noise, the criterion is told over the least.
        """
        return table_of(self.rows())

    def __repr__(self) -> str:
        return self.table.to_string(max_colwidth=LAW_WIDTH)

    def _repr_html_(self) -> str:
        return str(self.table._repr_html_())  # type: ignore[operator]


def table_of(rows: Sequence[Mapping[str, object]], columns: list[str] | None = None) -> pd.DataFrame:
    """Return rows as a table; pandas is imported for the first one, as most discoveries need none."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
