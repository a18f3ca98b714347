"""Runs: folders with the data, the choices, the state and the result of one search each.

The folder of a run is what `gode discover --out` writes, with the file of the data and `job.json` beside it,
so that the command line reads it and a studio that was closed or killed finds everything again.
"""

import json
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath, PureWindowsPath

from gode.errors import FileError
from gode.files import make_folder, replacing

JOB, RECORD, PROGRESS, LOG, DATA, CHECKPOINT = (
    "job.json", "record.json", "progress.json", "log.txt", "data", "checkpoint.jsonl",
)  # fmt: skip
STOPPING = "stopping"  # message of a search that was asked to end
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
MAX_JOB = 5_000_000  # bytes
MAX_NAME = 80  # characters


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
            raise FileError("there is no such run; go back to the list of runs")
        return folder

    def load(self, name: str) -> Job:
        """Return a run.

        Raises:
            FileError: if there is none, or its file is damaged.
        """
        path = self.folder(name) / JOB
        try:
            with path.open("rb") as file:
                values = json.loads(file.read(MAX_JOB))
            return _job(values, name)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileError(f"{path} is damaged ({type(error).__name__}); delete its folder") from None

    def save(self, job: Job) -> Job:
        """Write a run, and return it."""
        values = {each.name: getattr(job, each.name) for each in fields(job)}
        with replacing(self.root / job.id / JOB) as draft:
            draft.write_text(json.dumps(values, indent=1), encoding="utf-8")
        return job

    def move(self, job: Job, state: State, **changes: object) -> Job:
        """Write a run in its next state, and return it."""
        return self.save(replace(job, state=state, since=_now(), **changes))  # type: ignore[arg-type]

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

    def copy(self, job: Job) -> Job:
        """Return a new draft with the same files, choices and edits."""
        made = self._made(job.title, job.files)
        for name in job.files:
            shutil.copyfile(self.root / job.id / DATA / name, self.root / made.id / DATA / name)
        return self.save(replace(made, form=job.form, edits=job.edits, note=job.note))

    def remove(self, job: Job) -> None:
        """Delete a run with everything in its folder."""
        shutil.rmtree(self.folder(job.id))

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
            values = json.loads((self.root / job.id / PROGRESS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
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
    """Return the last part of a file name, without characters that a shell or a folder would mind."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    plain = re.sub(r"[^\w.+ -]+", "_", last).strip(" .")
    stem, dot, end = plain.rpartition(".")
    return (f"{stem[:MAX_NAME]}.{end[:12]}" if dot and stem else plain[:MAX_NAME]).lstrip("-") or "data.txt"


def _unlike(name: str, taken: Mapping[str, object]) -> str:
    stem, dot, end = name.rpartition(".")
    stem, end = (stem, dot + end) if dot else (name, "")
    number = 2
    while name in taken:
        name, number = f"{stem}-{number}{end}", number + 1
    return name


def _job(values: Mapping[str, object], name: str) -> Job:
    """Return the run that a file holds; what is not of the right kind raises."""

    def text(key: str) -> str:
        return str(values[key])

    def texts(key: str) -> tuple[str, ...]:
        return tuple(map(str, values[key]))  # type: ignore[call-overload]

    form = {str(k): [str(x) for x in v] for k, v in values["form"].items()}  # type: ignore[attr-defined]
    files = texts("files")
    if not files or any(safe_name(each) != each for each in files):
        raise ValueError
    return Job(
        name, text("title"), files, text("made"), State(text("state")), form, texts("edits"), texts("words"),
        text("note"), text("since"), int(text("pid")), text("message"),
    )  # fmt: skip


def _now() -> str:
    return datetime.now().isoformat(timespec="seconds")
