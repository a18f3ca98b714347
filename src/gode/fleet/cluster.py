"""A Dask cluster by the address of its scheduler; the extra `dask` installs what is needed."""

import re
import sys
import time
from concurrent.futures import Executor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gode.errors import ConfigError, FileError, GodeError, shortened
from gode.files import read_json

if TYPE_CHECKING:
    from distributed import Client

INSTALL = "pip install 'gode-engine[dask]'"
CONNECT = "20s"  # for one attempt
ADDRESS = re.compile(r"(\w+://)?[^/\s]+:\d+")
LOST_CLIENT = (OSError, ValueError, RuntimeError, AttributeError)  # of a client that is closed, or being so
MAX_ADDRESS = 1_000_000  # bytes of the file of a scheduler
PATIENCE = 600.0  # seconds that a scheduler may be away


class DaskCluster:
    """The workers of a scheduler, such as tcp://10.0.0.1:8786, or of a file that it wrote with its address.

    Raises:
        ConfigError: if Dask is not installed, this is no address, or no scheduler answers.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        if find_spec("distributed") is None:
            raise ConfigError(f"a Dask cluster needs the package distributed; install it by {INSTALL}")
        written_address(address)
        self.address, self.patience = address, patience
        try:
            self._client = self._connected()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"no Dask scheduler answers at {address} ({error}); start one by `dask scheduler`, "
                "and give the address that it prints"
            ) from None
        self._executor = self._client.get_executor(pure=False)
        self._known, self._waiting = self._workers(), False

    @property
    def width(self) -> int:
        """The number of threads of all workers."""
        return max(1, sum(self._known.values()))

    def executor(self) -> Executor:
        """Return the executor of the cluster."""
        found: Executor = self._executor
        return found

    def check(self) -> list[str]:
        """Return which workers came and went.

        Raises:
            ConnectionError: if the scheduler is lost.
        """
        if self._client.status == "connecting":
            return []  # its futures are cancelled, and tell of it
        try:
            now = self._workers()
        except LOST_CLIENT as error:
            raise ConnectionError(f"the connection to {self.address} is lost ({error})") from None
        gone, new = [w for w in self._known if w not in now], [w for w in now if w not in self._known]
        self._known = now
        notes = [f"worker {w} is gone; its records are given to others" for w in gone]
        notes += [f"worker {w} joined" for w in new]
        if not now and not self._waiting:
            notes.append(f"{self.address} has no worker; waiting for one")
        self._waiting = not now
        return notes

    def renew(self) -> str:
        """Connect again, as soon as a scheduler answers at the address.

        Raises:
            GodeError: if none does for a long time.
        """
        self.close()
        end = time.monotonic() + self.patience
        while True:
            try:
                self._client = self._connected()
                break
            except (OSError, ValueError) as error:
                if time.monotonic() > end:
                    raise GodeError(
                        f"no scheduler answers at {self.address} since {self.patience:.0f} s ({error}); "
                        "what is finished is kept: give the same command again when there is one"
                    ) from None
                time.sleep(1.0)
        self._executor = self._client.get_executor(pure=False)
        self._known = self._workers()
        return f"connected to {self.address} again, {len(self._known)} workers"

    def close(self) -> None:
        """Close the connection; the cluster goes on."""
        self._client.close(timeout=2)

    def _connected(self) -> "Client":
        from distributed import Client

        return Client(written_address(self.address), timeout=CONNECT, set_as_default=False)

    def _workers(self) -> dict[str, int]:
        return worker_threads(self._client)


def worker_threads(client: "Client") -> dict[str, int]:
    """Return the threads of each worker of a cluster."""
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    return {address: int(each["nthreads"]) for address, each in workers.items()}


def threads_behind(executor: Executor) -> int | None:
    """Return the number of threads behind the executor of a Dask client; None if it is another, or lost."""
    if "distributed" not in sys.modules:
        return None
    from distributed.cfexecutor import ClientExecutor

    if not isinstance(executor, ClientExecutor):
        return None
    try:
        return max(1, sum(worker_threads(executor._client).values()))
    except LOST_CLIENT:
        return None


def written_address(text: str) -> str:
    """Return an address, or that in the file which a scheduler wrote.

    Raises:
        ConfigError: if there is none.
    """
    found, path = text, Path(text)
    if path.is_file():
        try:
            written = read_json(path, MAX_ADDRESS)
            found = str(written["address"]) if isinstance(written, dict) else found
        except (FileError, KeyError):
            found = "a file without one"
    if not ADDRESS.fullmatch(found):
        raise ConfigError(
            "the address of a Dask scheduler is such as tcp://10.0.0.1:8786, or the file in which it wrote "
            f"that, got {shortened(found, 100)!r}; give what `dask scheduler` prints"
        )
    return found
