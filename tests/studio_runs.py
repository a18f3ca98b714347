"""Studios in processes of their own, for tests that drive them."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx

COMMAND = "from gode.cli import main; main()"


def open_studio(folder: Path, *more: str) -> SimpleNamespace:
    """Start a studio; return its process, its link and its address."""
    words = [sys.executable, "-c", COMMAND, "studio", "--no-browser", "--folder", str(folder), *more]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    said = ""
    for _ in range(20):
        said += process.stdout.readline()
        found = re.search(r"http://\S+", said)
        if found:
            break
    assert found, said
    link = found[0]
    wait_until(lambda: _answers(int(link.split(":")[2].split("/")[0])), 60)
    return SimpleNamespace(process=process, link=link, address=link.split("?")[0].rstrip("/"), folder=folder)


def _answers(port: int) -> bool:
    """Tell whether something listens: the link is told a moment before."""
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def close_studio(studio: SimpleNamespace) -> None:
    studio.process.terminate()
    studio.process.wait(30)
    studio.process.stdout.close()


def is_foreign(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def wait_until(told: Callable[[], object], seconds: float = 120.0):
    """Return the first true value that `told` gives."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = told()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("it did not happen in time")


@contextmanager
def join(studio) -> Iterator[object]:
    """Yield a client that has the token of a studio."""
    with httpx.Client(base_url=studio.address, trust_env=False, timeout=120, follow_redirects=True) as client:
        client.get(studio.link)
        yield client


def run_to_the_end(client, studio, name: str, content: bytes, **form: str) -> str:
    """Upload a file, search with these choices, and return the name of the run."""
    run = client.post("/runs", files={"file": (name, content)}).url.path.rsplit("/", 1)[1]
    kept = json.loads((studio.folder / run / "job.json").read_text())["form"]
    sent = {key: values[0] for key, values in kept.items() if values}
    client.post(f"/runs/{run}/start", data={**sent, **form})
    told = wait_until(lambda: over(studio, run), 300)
    assert told["state"] in ("done", "stopped"), told["message"]
    return run


def over(studio, run: str) -> dict[str, str]:
    """Return the state of a run once it is over."""
    job = json.loads((studio.folder / run / "job.json").read_text())
    return job if job["state"] in ("done", "stopped", "failed") else {}
