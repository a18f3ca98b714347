"""A second process that reads tables and solves equations, so that the page itself never waits.

Requests and the heads of answers are lines of JSON. A request that takes too long, as a file made to do harm
does, ends the process; the next request starts another.
"""

import asyncio
import json
import sys
from pathlib import Path

from gode.errors import GodeError

COMMAND = "from gode.studio.working import main; main()"
STARTING = 600.0  # seconds that a busy machine may take to import the engine


class CalculationError(GodeError):
    """What the other process could not do, in a sentence."""


class Calculator:
    """Asks one other process, one request after the other."""

    def __init__(self, root: Path, *, seconds: float, answers: bool = False) -> None:
        """Take the folder of runs.

        Args:
            seconds: that a request may take.
            answers: whether it is about results, for which more is imported at its start.
        """
        self.root, self.seconds, self.answers = root, seconds, answers
        self.lock = asyncio.Lock()
        self.process: asyncio.subprocess.Process | None = None

    async def ask(self, what: str, **values: object) -> bytes:
        """Return the answer to a request, as JSON or as the content of a file.

        Raises:
            CalculationError: with a sentence.
        """
        async with self.lock:
            try:
                process = await asyncio.wait_for(self._started(), STARTING)
                return await asyncio.wait_for(_asked(process, {"what": what, **values}), self.seconds)
            except TimeoutError:
                await self.end()
                raise CalculationError(
                    f"this took longer than {self.seconds:.0f} s and was given up; send a smaller file"
                ) from None
            except (asyncio.IncompleteReadError, ConnectionError):
                await self.end()
                raise CalculationError(
                    "the reading process ended unexpectedly, perhaps for lack of memory; try a smaller file"
                ) from None
            except asyncio.CancelledError:  # the page is gone, and half an answer may be in the pipe
                await self.end()
                raise

    async def begin(self) -> None:
        """Start the process, so that the first request finds it ready."""
        async with self.lock:
            await self._started()

    async def end(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _started(self) -> asyncio.subprocess.Process:
        """Return the process once it is ready, so that its start does not count as part of a request."""
        if self.process is None or self.process.returncode is not None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", COMMAND, str(self.root), *(["answers"] if self.answers else []),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            await _answer(self.process)
        return self.process


async def _asked(process: asyncio.subprocess.Process, request: dict[str, object]) -> bytes:
    assert process.stdin is not None, "it was started with a pipe"
    process.stdin.write(json.dumps(request).encode() + b"\n")
    await process.stdin.drain()
    return await _answer(process)


async def _answer(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None, "it was started with a pipe"
    line = await process.stdout.readline()
    if not line:
        raise asyncio.IncompleteReadError(b"", None)
    head = json.loads(line)
    body = await process.stdout.readexactly(int(head["size"]))
    if not head["ok"]:
        raise CalculationError(body.decode())
    return body
