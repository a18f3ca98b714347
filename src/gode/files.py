"""The door of all files of the user: bounded reading of regular files, and atomic writing.

What is read must be a regular file, after links are followed, of bounded size: a device has no end, and
nobody may ever write to a pipe. The open files of this process (/dev/stdin, /dev/fd/3) may be pipes, as a
shell makes them. Devices and pipes are written to directly. A new file is first written as a draft in the
same folder, under a lock that ends with the process, so that the next writer can tell the draft of a killed
process from one that is being written.
"""

import io
import json
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
from typing import BinaryIO, cast

from gode.errors import FileError, GodeError, shortened

if sys.platform != "win32":
    import fcntl

DESCRIPTOR = re.compile(r"/dev/(?:fd/(\d+)|std(?:in|(out)|(err)))|/proc/self/fd/(\d+)")
RECORD = "record.json"  # what a result is called in the folder that gode discover --out makes
CHUNK = 1 << 20  # A pipe is read by this many bytes at a time. Set by hand.
KINDS = {  # of what is no regular file
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
ADVICE = {
    ENAMETOOLONG: "give it a shorter name",
    ENOSPC: "free some space or name another folder",
    EACCES: "name a place that you may write to",
}


@contextmanager
def opened(
    path: str | Path, *, what: str = "a file", error: type[GodeError] = FileError
) -> Iterator[BinaryIO]:
    """Yield a regular file for reading, or an open file of this process; nothing else is opened.

    Args:
        what: to name instead, for the message.
        error: to raise.

    Raises:
        GodeError: of the kind `error`, with a sentence, if it is none or cannot be read.
    """
    name = shortened(str(path), 200)
    is_open = _descriptor(Path(path)) is not None
    try:
        if not is_open:  # It is looked at before it is opened, which may wait for ever.
            _check_kind(os.stat(path).st_mode, name, what, error)
        with open(path, "rb", opener=_without_waiting) as file:
            if not is_open:
                _check_kind(os.stat(file.fileno()).st_mode, name, what, error)
            yield file
    except GodeError:
        raise
    except (OSError, ValueError) as failure:  # ValueError: a zero byte in the name
        reason = failure.strerror if isinstance(failure, OSError) else str(failure)
        raise error(f"{name} cannot be read ({reason}); check the name and the permissions") from None


def read_bytes(
    path: str | Path,
    most: int,
    *,
    what: str = "a file",
    smaller: str = "",
    error: type[GodeError] = FileError,
) -> bytes:
    """Return the content of a file of at most `most` bytes; see `opened`.

    Args:
        smaller: what to do about a file that is too large, for the message.

    Raises:
        GodeError: of the kind `error`, also if the file changes while it is read.
    """
    name = shortened(str(path), 200)
    with opened(path, what=what, error=error) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return read_most(file, most, name, smaller=smaller, error=error)
        if status.st_size > most:
            raise error(_too_large(name, most, smaller))
        data = file.read(status.st_size + 1)
    if len(data) != status.st_size:
        raise error(
            f"{name} had {status.st_size} bytes when it was opened, but {len(data)} could be read: "
            "it is being written; wait until that is done"
        )
    return data


def read_most(
    file: BinaryIO, most: int, name: str, *, smaller: str = "", error: type[GodeError] = FileError
) -> bytes:
    """Return the content of an open file, perhaps a pipe, of at most `most` bytes.

    Raises:
        GodeError: of the kind `error`, if there are more.
    """
    parts, size = [], 0
    # A buffered read goes on until it is full, and a signal between two of its reads of a pipe waits with it.
    once = cast(io.BufferedIOBase, file).read1
    while size <= most and (chunk := once(CHUNK)):
        parts.append(chunk)
        size += len(chunk)
    if size > most:
        raise error(_too_large(name, most, smaller))
    return b"".join(parts)


def read_head(path: str | Path, n: int) -> bytes:
    """Return the first `n` bytes of a file, or all that it has; see `opened`."""
    with opened(path) as file:
        return file.read(n)


def read_text(
    path: str | Path, most: int, *, what: str = "a text file", error: type[GodeError] = FileError
) -> str:
    """Return the text of a file in UTF-8, of at most `most` bytes; see `read_bytes`."""
    data = read_bytes(path, most, what=what, error=error)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as failure:
        name = shortened(str(path), 200)
        raise error(f"{name}: not UTF-8 at byte {failure.start}; save the file as UTF-8 text") from None


def read_json(path: str | Path, most: int) -> object:
    """Return what a small file of JSON holds; see `read_bytes`."""
    text = read_text(path, most)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise FileError(
            f"{shortened(str(path), 200)} is not complete JSON: it is damaged; delete it and begin again"
        ) from None


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


def write_text(path: Path, text: str) -> None:
    """Write a file of text in UTF-8, whole or not at all; see `replacing`."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def lock_of(path: Path) -> int | None:
    """Return the lock of a file, which lasts until the last process that has it ends; None on Windows.

    Raises:
        OSError: if another one has it.
    """
    if sys.platform == "win32":
        return None
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        lock(handle)
    except OSError:
        os.close(handle)
        raise
    return handle


def is_locked(path: Path) -> bool:
    """Tell whether a process has the lock of a file."""
    try:
        handle = lock_of(path)
    except OSError:
        return True
    if handle is not None:
        os.close(handle)
    return False


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


def _without_waiting(name: str, flags: int) -> int:
    """Open a file; a pipe that took its place in the meantime does not wait for a writer."""
    is_open = _descriptor(Path(name)) is not None
    return os.open(name, flags if is_open else flags | getattr(os, "O_NONBLOCK", 0))


def _check_kind(mode: int, name: str, what: str, error: type[GodeError]) -> None:
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "no file")
        where = " in it" if stat.S_ISDIR(mode) else ""
        raise error(f"{name} is {kind}; name {what}{where}")


def _too_large(name: str, most: int, smaller: str) -> str:
    size = f"{most / 10**6:g} MB" if most >= 10**6 else f"{most} bytes"
    return f"{name} holds more than {size}, which is the most that is read; {smaller or 'name a smaller one'}"


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
        lock(handle)
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
                lock(handle)
                (folder / name).unlink()
            finally:
                os.close(handle)


def lock(handle: int) -> None:
    """Lock a file until it is closed or this process ends; an OSError if another one has it."""
    if sys.platform != "win32":  # where an open file cannot be deleted
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
