"""The server of the studio: on the loopback address only, with a random token in its link."""

import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from gode.errors import ConfigError, DataError, FileError
from gode.files import lock_of, make_folder, read_bytes, read_text, write_text
from gode.studio.app import make_app
from gode.studio.runs import MAX_DATA, Runs

if sys.platform != "win32":
    pass

HOST = "127.0.0.1"
LOCK = ".studio.lock"
SECRET = ".studio.secret"  # what a browser keeps, so that a tab that is still open gets in at the next start
PORT = ".studio.port"  # which was used last: a tab that is still open finds the next studio there

LONG_ENOUGH = 40  # characters of a secret; a shorter one was not made here


def serve(
    root: Path, files: tuple[str, ...], *, port: int, browser: bool, say: Callable[[str], None]
) -> None:
    """Serve the studio until Ctrl-C.

    Args:
        files: to begin with; none for the list of runs.
        port: 0 for any that is free.

    Raises:
        ConfigError: if the port or the folder is in use.
        DataError: if a file cannot be read.
    """
    make_folder(root)
    lock = _only_one(root)
    begin = _begin(root, files)
    with _bound(port, root) as bound:
        port = bound.getsockname()[1]
        write_text(root / PORT, f"{port}\n")
        token = secrets.token_urlsafe(32)
        link = f"http://{HOST}:{port}{begin}?token={token}"
        say(f"The studio is open at\n  {link}\nIts runs are in {root}. Ctrl-C closes it.")
        app = make_app(root, token=token, port=port, kept=_kept_secret(root))
        config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, lifespan="on")
        if browser:
            webbrowser.open(link)
        uvicorn.Server(config).run(sockets=[bound])
    if lock is not None:
        os.close(lock)


def _kept_secret(root: Path) -> str:
    """Return what browsers of this folder's user keep; it is made once, and only that user can read it.

    Raises:
        OSError: if it cannot be written.
    """
    path = root / SECRET
    with suppress(FileError):
        kept = read_text(path, 100).strip()
        if len(kept) >= LONG_ENOUGH and not (os.name == "posix" and path.stat().st_mode & 0o077):
            return kept
    kept = secrets.token_urlsafe(32)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(kept)
    return kept


def _begin(root: Path, files: tuple[str, ...]) -> str:
    """Return the address to open: a draft with the files, or the list of runs."""
    if not files:
        return "/"
    contents = {}
    for name in files:
        contents[name] = read_bytes(name, MAX_DATA, error=DataError)
    return f"/runs/{Runs(root).add(contents).id}"


def _bound(port: int, root: Path) -> socket.socket:
    """Return a socket on the loopback address; without a port that of the last time, if it is free.

    Raises:
        ConfigError: if the port is in use.
    """
    if not port:
        with suppress(ConfigError, FileError, ValueError):
            return _bound_to(int(read_text(root / PORT, 100)))
    return _bound_to(port)


def _bound_to(port: int) -> socket.socket:
    # With its protocol named, asyncio sends small answers at once; else each waits 40 ms for more to send.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise ConfigError(f"port {port} cannot be used ({error}); name another with --port") from None
    return bound


def _only_one(root: Path) -> int | None:
    """Return the lock of the folder of runs.

    Raises:
        ConfigError: if another studio has it.
    """
    try:
        return lock_of(root / LOCK)
    except OSError:
        raise ConfigError(
            f"another studio uses the folder {root}; use that one, or name another folder with --folder"
        ) from None
