"""What tests of the studio do in a browser."""

import re
from importlib.resources import files

GROWTH = (files("gode.data.examples") / "growth.csv").read_bytes()


def choose(page, name: str, content: bytes) -> None:
    """Choose a file, which is read at once."""
    page.set_input_files("#file", files=[{"name": name, "mimeType": "text/csv", "buffer": content}])
    page.wait_for_selector("#setup")


def unfold(page, title: str) -> None:
    """Open what is folded below a title."""
    folded = page.locator("details:not([open]) > summary", has_text=re.compile(f"^{title}"))
    if folded.count():
        folded.click()


def search(page, *, seconds: int = 3) -> None:
    """Start a quick search and wait for its answer."""
    page.select_option("#effort", "quick")
    unfold(page, "What you know")
    page.fill("#max_seconds", str(seconds))
    page.get_by_role("button", name="Find the equation").click()
    page.wait_for_selector(".headline", timeout=600_000)


def downloaded(page, name: str, folder):
    """Take a file away, and return it."""
    page.get_by_role("tab", name="Take away").click()
    with page.expect_download() as waiting:
        page.locator(".takeaway a", has_text=re.compile(f"^{re.escape(name)}$")).click()
    waiting.value.save_as(folder / name)
    return folder / name
