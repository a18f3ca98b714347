"""A studio in a process of its own, and a browser to look at it with."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from types import SimpleNamespace

import pytest

pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("starlette", reason="the extra `studio` is not installed")
pytest.importorskip("uvicorn", reason="the extra `studio` is not installed")

from gode.cli.results import save_results
from gode.data.example import load_example
from gode.discovery import fit
from gode.selection import Pool, rank
from gode.studio.runs import Runs, State
from studio_runs import close_studio, is_foreign, open_studio


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    opened = open_studio(tmp_path_factory.mktemp("studio") / "runs")
    yield opened
    close_studio(opened)


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


@pytest.fixture(scope="session")
def answered(studio) -> str:
    """The name of a run with an answer: fitted, not searched, so that it costs little."""
    text = (files("gode.data.examples") / "growth.csv").read_bytes()
    example = load_example("growth")
    laws = ("u' = C*u + C*u^2", "u' = C*u + C*u^2 + C", "u' = C*u + C*u^C", "u' = C*u + C")
    found = [fit(law, example.t, example.u) for law in laws]
    settings = replace(found[0].settings, grammar="first-order")
    pool = Pool([c for each in found for c in each.candidates], found[0].prepared.floor)
    order = rank(pool, settings.selection).candidates
    runs = Runs(studio.folder)
    job = runs.add({"growth.csv": text})
    save_results(replace(found[0], candidates=order, settings=settings), studio.folder / job.id)
    form = {"role.0": ["time"], "role.1": ["state"]}
    return runs.move(job, State.DONE, words=("--time", "t", "--u", "u"), form=form).id
