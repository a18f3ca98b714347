"""A studio in a process of its own, and a browser to look at it with."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")
pytest.importorskip("uvicorn", reason="the extra `studio` is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
    return SimpleNamespace(process=process, link=link, address=link.split("?")[0].rstrip("/"), folder=folder)


def close_studio(studio: SimpleNamespace) -> None:
    studio.process.terminate()
    studio.process.wait(30)
    studio.process.stdout.close()


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    opened = open_studio(tmp_path_factory.mktemp("studio") / "runs")
    yield opened
    close_studio(opened)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser, studio):
    """A page of the studio that fails the test if its scripts fail or a request leaves the machine."""
    context = browser.new_context(viewport={"width": 1100, "height": 900}, accept_downloads=True)
    made = context.new_page()
    made.set_default_timeout(60_000)
    errors: list[str] = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("request", lambda request: errors.append(request.url) if is_foreign(request.url) else None)
    made.goto(studio.link)
    yield made
    context.close()
    assert errors == []


def is_foreign(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def wait_until(told, seconds: float = 120.0):
    """Return the first true value that `told` gives."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = told()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError("it did not happen in time")
