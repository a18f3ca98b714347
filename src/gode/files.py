"""Atomic writing of files; devices and pipes are written to directly.

A new file is first written as a draft in the same folder, under a lock that ends with the process, so that
the next writer can tell the draft of a killed process from one that is being written.
"""

import os
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, ENAMETOOLONG, ENOSPC
from pathlib import Path
from typing import BinaryIO

from gode.errors import FileError, shortened

if sys.platform != "win32":
    import fcntl

DESCRIPTOR = re.compile(r"/dev/(?:fd/(\d+)|std(?:in|(out)|(err)))|/proc/self/fd/(\d+)")
ADVICE = {
    ENAMETOOLONG: "give it a shorter name",
    ENOSPC: "free some space or name another folder",
    EACCES: "name a place that you may write to",
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a draft to write; it replaces `path` on success, else `path` is unchanged.

    A link stays a link, and what it points to is replaced. Devices, pipes and standard output are written to.
    An existing file keeps its permissions; a new one gets those of the umask.

    Raises:
        FileError: if the draft cannot be written.
    """
    try:
        into = _descriptor(path)
        if into is not None or _is_special(path):
            with _written_to(path, into) as draft:
                yield draft
        else:
            with _replaced(Path(os.path.realpath(path))) as draft:
                yield draft
    except OSError as error:
        reason = error.strerror or type(error).__name__
        advice = ADVICE.get(error.errno or 0, "name another file or folder")
        raise FileError(
            f"{shortened(str(path), 200)} cannot be written ({reason}); {advice}; "
            "what was there before is unchanged"
        ) from None


def make_folder(folder: Path) -> None:
    """Make a folder and those above it.

    Raises:
        FileError: if that is not possible.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        name = shortened(str(folder), 200)
        raise FileError(f"the folder {name} cannot be made ({error.strerror}); name another") from None


def _descriptor(path: Path) -> int | None:
    """Return the open file that a name such as /dev/stdout stands for."""
    found = DESCRIPTOR.fullmatch(str(path))
    if found is None:
        return None
    number, out, err, own = found.groups()
    return 1 if out else 2 if err else int(number or own or 0)


def _is_special(path: Path) -> bool:
    """Tell whether `path` is a device, a pipe or the like; for a folder the system raises its own error."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def _written_to(path: Path, descriptor: int | None) -> Iterator[Path]:
    """Yield a draft whose content is then written to a device, a pipe or an open file."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / f"draft{_suffix(path)}"
        draft.touch()
        yield draft
        with _opened(path, descriptor) as sink:
            sink.write(draft.read_bytes())


def _opened(path: Path, descriptor: int | None) -> BinaryIO:
    if descriptor is None:
        return path.open("wb")
    sys.stdout.flush()  # keeps the order of output
    return os.fdopen(os.dup(descriptor), "wb")


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Yield a draft in the folder of `path` that replaces it."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    start = f".{path.name[:40]}.draft-"
    _remove_leftovers(path.parent, start)
    draft = path.with_name(f"{start}{secrets.token_hex(4)}{_suffix(path)}")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)  # less the umask
    try:
        _lock(handle)
        if mode is not None:
            draft.chmod(mode)
        yield draft
        os.fsync(handle)
        draft.replace(path)
    finally:
        os.close(handle)
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _suffix(path: Path) -> str:
    """Return the end of the name, by which pictures choose their format."""
    return path.suffix if len(path.suffix) <= 16 else ""


def _remove_leftovers(folder: Path, start: str) -> None:
    """Delete drafts of killed processes."""
    names: list[str] = []
    with suppress(OSError):  # a folder that cannot be listed
        names = [name for name in os.listdir(folder) if name.startswith(start)]
    for name in names:
        with suppress(OSError):  # it is being written, or was just finished
            handle = os.open(folder / name, os.O_RDWR)
            try:
                _lock(handle)
                (folder / name).unlink()
            finally:
                os.close(handle)


def _lock(handle: int) -> None:
    """Lock a file until it is closed or this process ends; an OSError if another one has it."""
    if sys.platform != "win32":  # where an open file cannot be deleted
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
