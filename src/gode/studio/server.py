"""The server of the studio: on the loopback address only, with a random token in its link."""

import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from gode.errors import ConfigError, DataError
from gode.files import make_folder
from gode.studio.app import make_app
from gode.studio.runs import Runs

if sys.platform != "win32":
    import fcntl

HOST = "127.0.0.1"
LOCK = ".studio.lock"


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
    with _bound(port) as bound:
        port = bound.getsockname()[1]
        token = secrets.token_urlsafe(32)
        link = f"http://{HOST}:{port}{begin}?token={token}"
        say(f"The studio is open at\n  {link}\nIts runs are in {root}. Ctrl-C closes it.")
        app = make_app(root, token=token, port=port)
        config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, lifespan="on")
        if browser:
            webbrowser.open(link)
        uvicorn.Server(config).run(sockets=[bound])
    if lock is not None:
        os.close(lock)


def _begin(root: Path, files: tuple[str, ...]) -> str:
    """Return the address to open: a draft with the files, or the list of runs."""
    if not files:
        return "/"
    contents = {}
    for name in files:
        try:
            contents[name] = Path(name).read_bytes()
        except OSError as error:
            raise DataError(f"{name} cannot be read ({error.strerror}); check the name") from None
    return f"/runs/{Runs(root).add(contents).id}"


def _bound(port: int) -> socket.socket:
    """Return a socket on the loopback address.

    Raises:
        ConfigError: if the port is in use.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"port {port} cannot be used ({error.strerror}); name another with --port"
        ) from None
    return bound


def _only_one(root: Path) -> int | None:
    """Return the lock of the folder of runs.

    Raises:
        ConfigError: if another studio has it.
    """
    if sys.platform == "win32":
        return None
    handle = os.open(root / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise ConfigError(
            f"another studio uses the folder {root}; use that one, or name another folder with --folder"
        ) from None
    return handle
