"""What a command leaves in its folder: the record first, then what can be made from it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gode.files import make_folder, replacing

if TYPE_CHECKING:
    from gode.discovery import Discovery

RECORD, REPORT, PICTURE, CHECKPOINT = "record.json", "report.html", "overview.png", "checkpoint.jsonl"


def keep(found: "Discovery", out: Path) -> list[Path]:
    """Write the record, the picture and the report; each file is complete or unchanged."""
    from gode.report import overview, save

    make_folder(out)
    when = f"after {out / RECORD} was written, before picture and report were"
    with _uninterrupted(when):
        save(found, out / RECORD)
    try:
        with replacing(out / PICTURE) as draft:
            overview(found).savefig(draft, dpi=120)
        write_report(found, out / REPORT)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(when) from None
    return [out / RECORD, out / PICTURE, out / REPORT]


def write_report(found: "Discovery", path: Path) -> None:
    """Write the page about a discovery."""
    from gode.report.page import write_page

    write_page(found, path)


@contextmanager
def _uninterrupted(when: str) -> Iterator[None]:
    """Put off Ctrl-C until the block is done: it is short, and what was found must not be lost in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt(when)
