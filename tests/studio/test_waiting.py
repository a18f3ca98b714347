"""The page while a search waits or runs, and after the studio was started again, looked at in a browser."""

import re

import pytest

from browsing import unfold
from gode.studio.runs import Runs, State

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright.expect
expect.set_options(timeout=60_000)

TABLE = b"t,u\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(12))


@pytest.fixture
def waiting(studio):
    """A run that waits for a process which never comes; give its state."""
    runs = Runs(studio.folder)
    job = runs.add({"a.csv": TABLE})
    yield runs, runs.move(job, State.RUNNING, form={"role.0": ["time"], "role.1": ["state"]})
    runs.remove(job)


def test_the_clock_goes_on_while_the_search_tells_nothing(page, studio, waiting):
    _, job = waiting
    page.goto(f"{studio.address}/runs/{job.id}")
    expect(page.locator("#stage")).to_have_text("Starting the engine.")
    clock = page.locator("#clock")
    expect(clock).to_have_text(re.compile(r"^\d+:\d\d$"))
    first = clock.inner_text()
    expect(clock).not_to_have_text(first)


def test_what_is_known_from_before_is_told(page, studio, waiting):
    runs, job = waiting
    progress = (
        '{"words": "searching", "n_fitted": 54, "n_solved": 0, "known": 73, "seconds": 4, "left": null}'
    )
    (runs.root / job.id / "progress.json").write_text(progress)
    page.goto(f"{studio.address}/runs/{job.id}")
    expect(page.locator("#counts")).to_contain_text(
        "54 equations tried, 0 followed along the data (73 more are known"
    )


def test_a_waiting_search_offers_what_it_can_do_as_its_state_changes(page, studio, waiting):
    runs, job = waiting
    runs.move(job, State.QUEUED)
    page.goto(f"{studio.address}/runs/{job.id}")
    expect(page.get_by_role("button", name="Take it out of the queue")).to_be_visible()
    expect(page.get_by_role("button", name="Search this next")).to_be_visible()
    runs.move(job, State.RUNNING)
    expect(page.get_by_role("button", name="Stop and keep the best")).to_be_visible()


def test_a_tab_of_an_earlier_start_gets_in_again(page, studio, waiting):
    _, job = waiting
    page.goto(f"{studio.address}/runs/{job.id}")
    page.context.clear_cookies()  # as if the studio had been started again with another token
    expect(page.locator("body")).to_contain_text("Each start of gode studio prints a new one")
    page.fill("#token", studio.link)
    page.get_by_role("button", name="Open").click()
    expect(page.locator("#stage")).to_have_text("Starting the engine.")
    assert page.url == f"{studio.address}/runs/{job.id}"


def test_choices_that_cannot_be_kept_are_told(page, studio, waiting):
    runs, job = waiting
    runs.move(job, State.DRAFT)
    page.goto(f"{studio.address}/runs/{job.id}")
    unfold(page, "What you know")
    page.fill("#seed", "7")
    page.press("#seed", "Enter")  # keeps the choice, and does not leave the page
    expect(page.locator("#command")).to_contain_text("--seed 7")
    page.context.clear_cookies()
    page.fill("#seed", "8")
    page.press("#seed", "Tab")
    expect(page.locator("#problem")).to_contain_text("The studio was started again")
