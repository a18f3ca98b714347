"""Runs: folders with the data, the choices and the result of one search each; and the queue they wait in.

The folder of a run is what `gode discover --out` writes, with the file of the data and `job.json` beside it,
so that the command line reads it and a studio that was closed or killed finds everything again.

A search is the command `gode discover` with the folder of the run as --out. The lock of the folder belongs to
that process, so that a new server knows whether a search still runs; one that was killed goes on from its
checkpoint.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
import sys
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from gode.errors import FileError, GodeError
from gode.files import is_locked, lock_of, make_folder, read_bytes, read_json, replacing, write_text
from gode.studio.form import in_words

JOB, RECORD, PROGRESS, LOG, DATA, CHECKPOINT = (
    "job.json", "record.json", "progress.json", "log.txt", "data", "checkpoint.jsonl",
)  # fmt: skip
GONE = "there is no such run; go back to the list of runs"
STOPPING = "stopping"  # message of a search that was asked to end
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
MAX_JOB = MAX_PROGRESS = 5_000_000  # bytes
MAX_DATA = 200_000_000  # bytes of a file, as `gode discover` reads
MAX_NAME, MAX_END = 80, 12  # characters of a file's name and of its ending
MAX_BYTES = 200  # of a name on the disk
SAFE = re.compile(r"(?![-. ])[\w.+ -]+(?<![. ])")  # a name that neither a shell nor a folder minds
HIDDEN = ".deleted-"  # begins the name of a folder that is being deleted


class State(StrEnum):
    """Where a run stands."""

    DRAFT = "draft"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether there is a result to look at."""
        return self in (State.DONE, State.STOPPED)


@dataclass(frozen=True)
class Job:
    """One run: its file, what was chosen, and what became of it."""

    id: str
    title: str
    files: tuple[str, ...]
    made: str
    state: State = State.DRAFT
    form: Mapping[str, list[str]] = field(default_factory=dict, hash=False)  # as the page sent it
    edits: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # of the command, without file and folder
    note: str = ""
    since: str = ""  # when the state began
    pid: int = 0
    message: str = ""
    base: str = ""  # the run that it was made from, with other choices

    @property
    def sources(self) -> list[str]:
        """The files as the command names them: FILE, or FILE:PART where a sheet or a variable was chosen."""
        part = "".join(self.form.get("part") or []).strip()
        return [f"{name}:{part}" if part else name for name in self.files]


class Runs:
    """The runs in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        make_folder(root)

    def folder(self, name: str) -> Path:
        """Return the folder of a run.

        Raises:
            FileError: if there is none of this name.
        """
        folder = self.root / name
        if not ID.fullmatch(name) or not (folder / JOB).is_file():
            raise FileError(GONE)
        return folder

    def load(self, name: str) -> Job:
        """Return a run.

        Raises:
            FileError: if there is none, or its file is damaged.
        """
        path = self.folder(name) / JOB
        values = read_json(path, MAX_JOB)
        try:
            return _job(values, name)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{path} is damaged ({type(error).__name__}); delete its folder") from None

    def save(self, job: Job) -> Job:
        """Write a run, and return it."""
        values = {each.name: getattr(job, each.name) for each in fields(job)}
        write_text(self.root / job.id / JOB, json.dumps(values, indent=1))
        return job

    def version(self, job: Job) -> str:
        """Return a word that differs whenever a run was written anew, so that two pages of it agree."""
        try:
            return str((self.root / job.id / JOB).stat().st_mtime_ns)
        except OSError:
            return ""

    def move(self, job: Job, state: State, **changes: object) -> Job:
        """Write a run in its next state, and return it."""
        now = datetime.now().isoformat(timespec="seconds")
        return self.save(replace(job, state=state, since=now, **changes))  # type: ignore[arg-type]

    def add(self, files: Mapping[str, bytes], title: str = "") -> Job:
        """Return a new draft with these files.

        Raises:
            FileError: if there is none, or it cannot be written.
        """
        contents: dict[str, bytes] = {}
        for name, data in files.items():
            contents[_unlike(safe_name(name), contents)] = data
        if not contents:
            raise FileError("no file came; drop one on the page, choose one, or paste a table")
        job = self._made(title or Path(next(iter(contents))).stem, tuple(contents))
        for name, data in contents.items():
            with replacing(self.root / job.id / DATA / name) as draft:
                draft.write_bytes(data)
        return self.save(job)

    def data(self, job: Job) -> dict[str, bytes]:
        """Return the files of a run by their names.

        Raises:
            FileError: if one is missing, or is no file.
        """
        return {name: read_bytes(self.root / job.id / DATA / name, MAX_DATA) for name in job.files}

    def copy(self, job: Job) -> Job:
        """Return a new draft with the same files, choices and edits.

        Raises:
            FileError: if the files are not there any more.
        """
        made = self.add(self.data(job), job.title)
        return self.save(replace(made, form=job.form, edits=job.edits, note=job.note, base=job.id))

    def remove(self, job: Job) -> None:
        """Delete a run with everything in its folder; of a link only the link.

        Raises:
            FileError: if it cannot be deleted.
        """
        folder, hidden = self.folder(job.id), self.root / f"{HIDDEN}{secrets.token_hex(8)}"
        try:
            folder.rename(hidden)  # in one stroke, so that of two requests one finds nothing
            if hidden.is_symlink():
                hidden.unlink()
            else:
                shutil.rmtree(hidden)
        except FileNotFoundError:
            raise FileError(GONE) from None
        except OSError as error:
            raise FileError(
                f"the folder {folder} cannot be deleted ({error.strerror}); delete it by hand"
            ) from None

    def all(self) -> list[Job]:
        """Return all runs, the newest first; damaged ones are left out."""
        found = []
        for path in self.root.glob(f"*/{JOB}"):
            try:
                found.append(self.load(path.parent.name))
            except FileError:
                continue
        return sorted(found, key=lambda job: (job.made, job.id), reverse=True)

    def progress(self, job: Job) -> dict[str, object]:
        """Return how far the search is; nothing before it told anything."""
        try:
            values = read_json(self.root / job.id / PROGRESS, MAX_PROGRESS)
            json.dumps(values, allow_nan=False)  # so that it can be sent on
        except (FileError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    def has_record(self, job: Job) -> bool:
        """Tell whether there is a result."""
        return (self.root / job.id / RECORD).is_file()

    def _made(self, title: str, files: tuple[str, ...]) -> Job:
        now = datetime.now()
        stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:30] or "run"
        name = f"{now:%Y%m%d-%H%M%S}-{stem}-{secrets.token_hex(2)}"
        make_folder(self.root / name / DATA)
        return Job(name, title[:MAX_NAME], files, now.isoformat(timespec="seconds"))


def safe_name(name: str) -> str:
    """Return the last part of a file name, without characters that a shell or a folder would mind.

    A safe name stays as it is.
    """
    last = PureWindowsPath(PurePosixPath(name).name).name
    plain = re.sub(r"[^\w.+ -]+", "_", unicodedata.normalize("NFC", last))
    plain = re.sub(r" *\.[. ]*", ".", plain)
    stem, dot, end = plain.rpartition(".")
    if not (dot and 0 < len(end) <= MAX_END and end.isascii() and end.isalnum()):
        stem, end = plain, ""
    stem = _cut(stem.lstrip("- ."), MAX_NAME) or "data"
    return f"{stem}.{end}" if end else "data.txt" if stem == "data" else stem


def download_name(job: Job, name: str) -> str:
    """Return the name of a file that is taken away, after the run: growth-report.html."""
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", job.title).strip("-.")[:40].rstrip("-.")
    return f"{stem}-{name}" if stem else name


def _cut(stem: str, most: int) -> str:
    """Return at most so many characters, and of those no more than a folder can hold."""
    stem = stem[:most]
    while len(stem.encode()) > MAX_BYTES:
        stem = stem[:-1]
    return stem.rstrip(" .")


def _unlike(name: str, taken: Mapping[str, object]) -> str:
    """Return a name that differs from others also where case does not count."""
    known = {each.casefold() for each in taken}
    stem, dot, end = name.rpartition(".")
    stem, end = (stem, dot + end) if dot else (name, "")
    number, new = 2, name
    while new.casefold() in known:
        new, number = f"{_cut(stem, MAX_NAME - 6)}-{number}{end}", number + 1
    return new


def _job(values: Any, name: str) -> Job:
    """Return the run that a file holds; what is not of the right kind raises."""

    def text(key: str) -> str:
        return _whole(values[key])

    def texts(key: str) -> tuple[str, ...]:
        return tuple(map(_whole, values[key]))

    form = {_whole(k): [_whole(x) for x in v] for k, v in values["form"].items()}
    files = texts("files")
    if not files or not all(SAFE.fullmatch(each) for each in files):
        raise ValueError
    return Job(
        name, text("title"), files, text("made"), State(text("state")), form, texts("edits"), texts("words"),
        text("note"), text("since"), int(text("pid")), text("message"), _whole(values.get("base", "")),
    )  # fmt: skip


def _whole(value: object) -> str:
    """Return a value as text that can be written: JSON can hold halves of characters."""
    return str(value).encode(errors="replace").decode()


COMMAND = (  # a shell may have started the studio with Ctrl-C ignored
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from gode.cli import main; main()"
)
NOT_EXPLAINED, INTERRUPTED, TERMINATED, KILLED = 3, 130, 143, -9
LOCK = "lock"  # which a search has while it runs
OFTEN = 0.5  # seconds between two looks at an older search
MAX_MESSAGE, MAX_LOG = 2000, 50_000_000


class Queue:
    """Runs the searches that are queued, the oldest first."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.wake = asyncio.Event()
        self.process: asyncio.subprocess.Process | None = None
        self.task: asyncio.Task[None] | None = None
        self.reached: dict[str, int] = {}  # bytes of the checkpoint of each search when it was killed

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

    def put_first(self, job: Job) -> None:
        """Let a search that waits be the next."""
        waiting = [each.since for each in self.runs.all() if each.state is State.QUEUED]
        if job.state is State.QUEUED and waiting:
            earlier = datetime.fromisoformat(min(waiting)) - timedelta(seconds=1)
            self.runs.save(replace(job, since=earlier.isoformat(timespec="seconds")))

    def stop(self, job: Job) -> None:
        """Ask a search to end with its best equation so far; one that waits becomes what it was before."""
        if job.state is State.QUEUED:
            self.runs.move(job, State.STOPPED if self.runs.has_record(job) else State.DRAFT)
        elif job.state is State.RUNNING and job.pid and is_locked(self.runs.folder(job.id) / LOCK):
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
        while is_locked(folder / LOCK):
            await asyncio.sleep(OFTEN)
        if _is_newer(folder, job):
            self.runs.move(job, State.DONE, pid=0)
        else:
            self.runs.move(job, State.QUEUED, pid=0)

    async def _run(self, job: Job) -> None:
        folder = self.runs.folder(job.id)
        words = ["discover", *job.sources, *job.words, "--out", "..", "--progress", f"../{PROGRESS}"]
        lock = lock_of(folder / LOCK)
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
            job = self.runs.load(job.id)
            if code == KILLED and job.message != STOPPING and self._got_on(job):
                while is_locked(folder / LOCK):  # processes that it began may end a moment later
                    await asyncio.sleep(OFTEN)
                self.put_first(self.runs.move(job, State.QUEUED, pid=0))
            else:
                self._finish(job, code)

    def _got_on(self, job: Job) -> bool:
        """Tell whether a search that was killed knows more than when it was killed before."""
        with suppress(OSError):
            before, size = self.reached.get(job.id, 0), (self.runs.folder(job.id) / CHECKPOINT).stat().st_size
            self.reached[job.id] = size
            return size > before
        return False

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


def _is_newer(folder: Path, job: Job) -> bool:
    """Tell whether the record was written after the search began."""
    record = folder / RECORD
    with suppress(OSError, ValueError, OverflowError):
        return record.stat().st_mtime >= datetime.fromisoformat(job.since).timestamp() - 1
    return False
