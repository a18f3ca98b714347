"""The queue of searches: one at a time, each in a process of its own, which outlives the page.

A search is the command `gode discover` with the folder of the run as --out. The lock of the folder belongs to
that process, so that a new server knows whether a search still runs; one that was killed goes on from its
checkpoint.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gode.errors import GodeError
from gode.files import read_bytes
from gode.studio.form import in_words
from gode.studio.runs import DATA, LOG, PROGRESS, RECORD, STOPPING, Job, Runs, State

if sys.platform != "win32":
    import fcntl

COMMAND = (  # a shell may have started the studio with Ctrl-C ignored
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from gode.cli import main; main()"
)
NOT_EXPLAINED, INTERRUPTED, TERMINATED = 3, 130, 143
LOCK = "lock"
OFTEN = 0.5  # seconds between two looks at an older search
MAX_MESSAGE, MAX_LOG = 2000, 50_000_000


class Queue:
    """Runs the searches that are queued, the oldest first."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.wake = asyncio.Event()
        self.process: asyncio.subprocess.Process | None = None
        self.task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start working."""
        self.task = asyncio.get_running_loop().create_task(self._work())

    async def end(self) -> None:
        """Stop working; a search that runs is paused: the next studio goes on from its checkpoint."""
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await self.task
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def add(self, job: Job, words: tuple[str, ...] | None = None) -> Job:
        """Queue a run."""
        self.runs.folder(job.id).joinpath(PROGRESS).unlink(missing_ok=True)
        kept = job.words if words is None else words
        moved = self.runs.move(job, State.QUEUED, words=kept, message="")
        self.wake.set()
        return moved

    def stop(self, job: Job) -> None:
        """Ask a search to end with its best equation so far; one that waits becomes what it was before."""
        if job.state is State.QUEUED:
            self.runs.move(job, State.STOPPED if self.runs.has_record(job) else State.DRAFT)
        elif job.state is State.RUNNING and job.pid and _is_held(self.runs.folder(job.id)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(job.pid, signal.SIGINT)
                self.runs.save(replace(job, message=STOPPING))

    async def _work(self) -> None:
        for job in self.runs.all():
            if job.state is State.RUNNING:
                with suppress(OSError, GodeError):  # it was deleted meanwhile
                    await self._adopt(job)
        while True:
            waiting = sorted(
                (j for j in self.runs.all() if j.state is State.QUEUED), key=lambda j: (j.since, j.id)
            )
            if waiting:
                try:
                    await self._run(waiting[0])
                except (OSError, GodeError) as error:  # the next one may do
                    self._give_up(waiting[0], str(error))
            else:
                self.wake.clear()
                await self.wake.wait()

    async def _adopt(self, job: Job) -> None:
        """Wait for a search that an earlier server began, or queue it again if it was killed."""
        folder = self.runs.folder(job.id)
        while _is_held(folder):
            await asyncio.sleep(OFTEN)
        if _is_newer(folder, job):
            self.runs.move(job, State.DONE, pid=0)
        else:
            self.runs.move(job, State.QUEUED, pid=0)

    async def _run(self, job: Job) -> None:
        folder = self.runs.folder(job.id)
        words = ["discover", *job.sources, *job.words, "--out", "..", "--progress", f"../{PROGRESS}"]
        lock = _take(folder)
        with (folder / LOG).open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", COMMAND, *words,
                cwd=folder / DATA, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, pass_fds=() if lock is None else (lock,),
                env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
            )  # fmt: skip
        if lock is not None:
            os.close(lock)  # from now on it is the lock of the search
        job = self.runs.move(job, State.RUNNING, pid=self.process.pid)
        code = await self.process.wait()
        with suppress(OSError, GodeError):  # it was deleted meanwhile
            self._finish(self.runs.load(job.id), code)

    def _give_up(self, job: Job, reason: str) -> None:
        """Note that a search could not begin; of one that was deleted nothing."""
        with suppress(OSError, GodeError):
            self.runs.move(
                self.runs.load(job.id), State.FAILED, pid=0, message=f"it could not begin: {reason}"
            )

    def _finish(self, job: Job, code: int) -> None:
        """Note how a search ended."""
        if code in (0, NOT_EXPLAINED) and self.runs.has_record(job):
            self.runs.move(job, State.DONE, pid=0, message="")
        elif code in (INTERRUPTED, TERMINATED) and self.runs.has_record(job):
            self.runs.move(job, State.STOPPED, pid=0, message="")
        else:
            self.runs.move(job, State.FAILED, pid=0, message=_message(self.runs.folder(job.id), code))


def _message(folder: Path, code: int) -> str:
    """Return why a search failed: the sentence with which it ended."""
    if code in (INTERRUPTED, TERMINATED, -signal.SIGINT):
        return "it was stopped before there was a result"
    lines = read_bytes(folder / LOG, MAX_LOG).decode("utf-8", errors="replace").strip().splitlines()
    said = [line.removeprefix("gode: ") for line in lines if line.startswith("gode: ")]
    if said:
        return in_words(said[-1])[:MAX_MESSAGE]
    if code < 0:
        return f"the search was killed (signal {-code}), perhaps for lack of memory; start it again to go on"
    return (lines[-1] if lines else f"the search ended with code {code}")[:MAX_MESSAGE]


def _take(folder: Path) -> int | None:
    """Return the lock of a folder, which lasts until the last process that has it ends; None on Windows."""
    if sys.platform == "win32":
        return None
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def _is_held(folder: Path) -> bool:
    """Tell whether a search of this folder runs."""
    if sys.platform == "win32":
        return False
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _is_newer(folder: Path, job: Job) -> bool:
    """Tell whether the record was written after the search began."""
    record = folder / RECORD
    with suppress(OSError, ValueError, OverflowError):
        return record.stat().st_mtime >= datetime.fromisoformat(job.since).timestamp() - 1
    return False
