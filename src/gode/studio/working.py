"""The process that reads tables and solves equations for the page: requests in, answers out."""

import json
import math
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gode.errors import FileError, GodeError
from gode.studio.runs import Job, Runs

Request = dict[str, object]


def main() -> None:
    """Answer requests until the input ends."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # nothing else may write between the answers
        runs = Runs(Path(sys.argv[1]))
        warm(answers="answers" in sys.argv[2:])
        _send(out, True, b"")  # it is ready
        threading.Thread(target=_prepare, daemon=True).start()
        for line in sys.stdin.buffer:
            _send(out, *answered(runs, json.loads(line)))


def warm(*, answers: bool) -> None:
    """Import what the first request needs."""
    from gode.studio import reading  # noqa: F401

    if answers:
        from gode.studio import answering  # noqa: F401


def _prepare() -> None:
    """Import what reads workbooks, which takes longer than to read one."""
    from gode.tables.binary import prepare

    with suppress(ImportError):
        prepare()


def answered(runs: Runs, request: Request) -> tuple[bool, bytes]:
    """Return whether a request succeeded, and the answer or a sentence on what is wrong."""
    try:
        job = runs.load(str(request["run"]))
        return True, TASKS[str(request["what"])](runs.folder(job.id), job, request)
    except GodeError as error:
        return False, str(error).encode()
    except MemoryError:
        return False, b"this needs more memory than there is; send fewer rows or columns"
    except Exception as error:  # noqa: BLE001  # the page must hear of it, whatever it is
        return (
            False,
            f"this failed in an unexpected way ({type(error).__name__}: {str(error)[:200]})".encode(),
        )


def _send(out: BinaryIO, ok: bool, body: bytes) -> None:
    out.write(json.dumps({"ok": ok, "size": len(body)}).encode() + b"\n" + body)
    out.flush()


def _look(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.reading import look

    return _json(look(folder, job))


def _check(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.reading import check

    return _json(check(folder, job))


def _drawing(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.reading import drawing

    return _json(drawing(folder, job))


def _answer(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.answering import answer

    return answer(folder, job).encode()


def _side(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.answering import side

    return side(folder, job).encode()


def _curves(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.answering import curves

    constants = [_number(word) for word in str(request.get("with_constants", "")).split()]
    return _json(curves(folder, job, int(_number(request.get("with_number", "0"))), constants))


def _compare(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.answering import compare

    one, other = (int(_number(request.get(f"with_{key}", "0"))) for key in ("one", "other"))
    return _json(compare(folder, job, one, other))


def _file(folder: Path, job: Job, request: Request) -> bytes:
    from gode.studio.answering import file

    return file(folder, job, str(request["name"]))


def _number(word: object) -> float:
    try:
        value = float(str(word))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FileError(f"a number was expected, got {str(word)[:40]!r}")
    return value


def _json(value: object) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


TASKS: dict[str, Callable[[Path, Job, Request], bytes]] = {
    "look": _look,
    "check": _check,
    "drawing": _drawing,
    "answer": _answer,
    "side": _side,
    "curves": _curves,
    "compare": _compare,
    "file": _file,
}
