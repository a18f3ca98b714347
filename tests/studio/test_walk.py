"""The way through the studio in a real browser: from a dropped file to a report."""

import re

import pytest

from browsing import GROWTH, downloaded, search, unfold
from gode import load

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright.expect
expect.set_options(timeout=60_000)
DROP = """text => { const d = new DataTransfer(); d.items.add(new File([text], "growth.csv")); return d; }"""


def test_from_a_dropped_growth_curve_to_a_downloaded_report(page, studio, tmp_path):
    page.dispatch_event("#drop", "drop", {"dataTransfer": page.evaluate_handle(DROP, GROWTH.decode())})
    page.wait_for_selector("#plots canvas")
    assert page.input_value("select[name='role.0']") == "time"
    assert page.input_value("select[name='role.1']") == "state"
    unfold(page, "What you know")
    page.check("input[value='autonomous']")
    expect(page.locator("#command")).to_contain_text("--assume autonomous")
    expect(page.locator("#python")).to_contain_text("assume=['autonomous']")
    search(page)
    assert re.search("law|One of", page.text_content(".headline"))
    report = downloaded(page, "report.html", tmp_path)
    assert report.stat().st_size < 2_000_000
    run = page.url.partition("#")[0].rsplit("/", 1)[1]
    assert load(studio.folder / run / "record.json").equation.states == ("u",)  # as the command line reads it
    page.goto(studio.address)
    expect(page.locator("table")).to_contain_text("u' =")
