"""Searches in their own processes: what a server that was killed finds again."""

import json
import os
import signal
import subprocess
import sys
from importlib.resources import files

import pytest

from gode.studio.runs import Queue, Runs
from studio_runs import COMMAND, close_studio, join, open_studio, over, wait_until

GROWTH = (files("gode.data.examples") / "growth.csv").read_bytes()


def started(client, studio, **form: str) -> str:
    run = client.post("/runs", files={"file": ("growth.csv", GROWTH)}).url.path.rsplit("/", 1)[1]
    client.post(f"/runs/{run}/start", data={"role.0": "time", "role.1": "state", "effort": "quick", **form})
    return run


def job_of(studio, run: str) -> dict:
    return json.loads((studio.folder / run / "job.json").read_text())


@pytest.mark.slow
def test_a_killed_search_goes_on_from_its_checkpoint_in_the_next_studio(tmp_path):
    first = open_studio(tmp_path / "runs")
    with join(first) as client:
        run = started(client, first)
    checkpoint = first.folder / run / "checkpoint.jsonl"
    wait_until(lambda: checkpoint.exists() and checkpoint.read_text().count("\n") > 3, 300)
    first.process.kill()
    first.process.wait(30)
    first.process.stdout.close()
    assert job_of(first, run)["state"] == "running"
    os.kill(job_of(first, run)["pid"], signal.SIGKILL)
    known = checkpoint.read_text().splitlines()
    second = open_studio(tmp_path / "runs")
    assert wait_until(lambda: over(second, run), 500)["state"] == "done"
    assert "going on from" in (second.folder / run / "log.txt").read_text()
    assert len(known) > 3
    close_studio(second)


@pytest.mark.slow
def test_a_search_that_is_killed_goes_on_in_the_same_studio(tmp_path):
    studio = open_studio(tmp_path / "runs")
    with join(studio) as client:
        run = started(client, studio)
    checkpoint = studio.folder / run / "checkpoint.jsonl"
    wait_until(lambda: checkpoint.exists() and checkpoint.read_text().count("\n") > 3, 300)
    first = job_of(studio, run)["pid"]
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: job_of(studio, run)["pid"] not in (0, first), 60)
    assert wait_until(lambda: over(studio, run), 500)["state"] == "done"
    assert "going on from" in (studio.folder / run / "log.txt").read_text()
    close_studio(studio)


def test_a_search_that_is_killed_without_getting_on_is_told(tmp_path):
    queue = Queue(Runs(tmp_path))
    job = queue.runs.add({"growth.csv": GROWTH})
    assert not queue._got_on(job)
    (tmp_path / job.id / "checkpoint.jsonl").write_text("{}\n")
    assert queue._got_on(job)
    assert not queue._got_on(job)  # it was killed at the same place again


@pytest.mark.slow
def test_a_search_outlives_a_killed_server_and_is_found_again(tmp_path):
    first = open_studio(tmp_path / "runs")
    with join(first) as client:
        run = started(client, first, max_seconds="5")
    wait_until(lambda: job_of(first, run)["state"] == "running", 60)
    first.process.kill()
    first.process.wait(30)
    first.process.stdout.close()
    second = open_studio(tmp_path / "runs")
    assert wait_until(lambda: over(second, run), 500)["state"] == "done"
    assert "going on from" not in (second.folder / run / "log.txt").read_text()
    close_studio(second)


def test_searches_wait_in_a_queue_and_one_that_waits_can_be_taken_back(tmp_path):
    studio = open_studio(tmp_path / "runs")
    with join(studio) as client:
        one, two = started(client, studio), started(client, studio)
        wait_until(lambda: job_of(studio, one)["state"] == "running", 60)
        assert job_of(studio, two)["state"] == "queued"
        assert client.get(f"/runs/{two}/state.json").json()["ahead"] == 1
        assert "still runs" in client.post(f"/runs/{one}/delete").text
        client.post(f"/runs/{two}/stop")
        assert job_of(studio, two)["state"] == "draft"
        client.post(f"/runs/{two}/delete")
        assert not (studio.folder / two).exists()
        second = client.post(f"/runs/{one}/again").url.path.rsplit("/", 1)[1]
        assert job_of(studio, second)["form"]["effort"] == ["quick"]
    close_studio(studio)
    assert job_of(studio, one)["state"] == "running"  # paused: the next studio goes on with it


def test_only_one_studio_uses_a_folder(tmp_path, studio):
    words = [sys.executable, "-c", COMMAND, "studio", "--no-browser", "--folder", str(studio.folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "another studio uses the folder" in done.stderr


def test_a_browser_that_is_still_open_gets_in_at_the_next_start(tmp_path):
    first = open_studio(tmp_path / "runs")
    with join(first) as client:
        kept = {**client.cookies}
        close_studio(first)
        second = open_studio(tmp_path / "runs")
        assert second.link != first.link
        assert second.address == first.address
        assert client.get("/").status_code == 200
        assert second.link.partition("token=")[2] not in kept.values()
        assert (tmp_path / "runs" / ".studio.secret").stat().st_mode & 0o077 == 0
        client.cookies.clear()
        assert client.get("/").status_code == 403
    close_studio(second)
