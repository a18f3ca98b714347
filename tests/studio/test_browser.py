"""The studio in a real browser: from a file to a report, and what people do on the way."""

from importlib.resources import files

import pytest

from gode import load

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

GROWTH = (files("gode.data.examples") / "growth.csv").read_bytes()


def choose(page, name: str, content: bytes, kind: str = "text/csv") -> None:
    """Choose a file and read it."""
    page.set_input_files("#file", files=[{"name": name, "mimeType": kind, "buffer": content}])
    page.get_by_role("button", name="Read it").click()


def search(page, *, seconds: int = 4) -> None:
    """Start a quick search and wait for its answer."""
    page.select_option("#effort", "quick")
    page.fill("#max_seconds", str(seconds))
    page.get_by_role("button", name="Find the equation").click()
    page.wait_for_selector(".headline", timeout=180_000)


def test_from_a_growth_curve_to_a_downloaded_report(page, studio, tmp_path):
    choose(page, "growth.csv", GROWTH)
    page.wait_for_selector("#plots canvas")
    assert page.input_value("select[name='role.0']") == "time"
    assert page.input_value("select[name='role.1']") == "state"
    page.check("#autonomous")
    expect(page.locator("#command")).to_contain_text("--without t")
    assert "without=['t']" in page.text_content("#python")
    search(page)
    assert "law" in page.text_content(".headline") or "One of" in page.text_content(".headline")
    assert page.locator("canvas").count() >= 3
    with page.expect_download() as waiting:
        page.locator(".takeaway a", has_text="report.html").click()
    report = tmp_path / "report.html"
    waiting.value.save_as(report)
    assert "u'" in report.read_text()
    assert report.stat().st_size < 2_000_000
    run = page.url.rsplit("/", 1)[1]
    assert load(studio.folder / run / "record.json").equation.states == ("u",)
