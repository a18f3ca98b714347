import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from gode.studio import app
from gode.studio.runs import Runs

PROGRAM = """
import sys
for name in {missing!r}: sys.modules[name] = None
from gode.cli import main
main({words!r})
"""


def run(*words: str, missing: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    program = PROGRAM.format(missing=missing, words=list(words))
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "python_multipart"])
def test_without_the_extra_the_command_says_what_to_install(missing, tmp_path):
    done = run("studio", "--no-browser", "--folder", str(tmp_path / "runs"), missing=(missing,))
    assert done.returncode == 2
    assert f"the studio needs {missing}" in done.stderr
    assert "pip install 'gode-engine[studio]'" in done.stderr


def test_a_file_that_is_not_there_is_told(tmp_path):
    done = run("studio", str(tmp_path / "no.csv"), "--no-browser", "--folder", str(tmp_path / "runs"))
    assert done.returncode == 2
    assert "no.csv cannot be read" in done.stderr


def test_the_server_does_not_wait_for_the_engine():
    program = (
        "import sys, gode.studio.server; from gode.studio.pages import static; static('plot.js'); "
        "print({*sys.modules} & {'numpy', 'pandas', 'numba', 'matplotlib', 'gode.discovery'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_a_slow_start_of_the_reading_process_is_no_slow_request(tmp_path, monkeypatch):
    job = Runs(tmp_path).add({"a.csv": b"t,u\n0,1\n1,2\n2,3\n"})
    monkeypatch.setattr(app, "COMMAND", f"import time; time.sleep(12); {app.COMMAND}")

    async def read() -> bytes:
        reader = app.Calculator(tmp_path, seconds=10.0)
        try:
            return await reader.ask("look", run=job.id)
        finally:
            await reader.end()

    with ThreadPoolExecutor(1) as own:  # tests in a browser leave a loop of events in this thread
        assert json.loads(own.submit(asyncio.run, read()).result())["roles"] == ["time", "state"]
