"""How fluent the studio is, in Chromium: python -m gode_bench.studio [ROWS].

It prints the time from sending a long accelerometer record to its first plot, and how long the page takes to
zoom and to read a value under the pointer; then of two searches for the law of predator and prey, the first
to warm up, the time to the first candidate over the data and to the answer, and how long a constant
that is moved takes until curve and misfit are drawn anew. It needs the extra `studio` and Playwright.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from playwright.sync_api import FilePayload, Page, sync_playwright

ZOOM = """() => { const p = window.gode.plots[0], n = 20, t = performance.now();
    for (let i = 0; i < n; i++) { p.range.x1 *= 0.98; p.paint(); } return (performance.now() - t) / n; }"""
HOVER = """() => { const p = window.gode.plots[0], n = 20, t = performance.now();
    for (let i = 0; i < n; i++) p.hover(100 + 30 * i, 100); return (performance.now() - t) / n; }"""
CANDIDATE = """() => document.querySelector(".headline") || (window.gode && window.gode.plots.some(
    (p) => p.series.some((s) => s.name === "best so far")))"""
# Each move waits until the misfit has changed and the browser has painted.
MOVE = """async () => {
    const slider = document.querySelector("#slider-0"), told = document.querySelector("#misfit"), all = [];
    const changed = () => new Promise((done) => new MutationObserver((_, o) => { o.disconnect(); done(); })
        .observe(told, { childList: true, characterData: true, subtree: true }));
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    for (let i = 1; i <= 30; i++) {
        const t = performance.now(), seen = changed();
        slider.value = +slider.dataset.best + (i % 2 ? 1 : -1) * i * slider.step;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await seen; await painted(); all.push(performance.now() - t); }
    return all.sort((a, b) => a - b); }"""


def record(rows: int) -> bytes:
    """Return an accelerometer record with its force, of 500 rows a second, as CSV."""
    t = np.arange(rows) / 500
    rng = np.random.default_rng(0)
    force = np.convolve(rng.standard_normal(rows), np.ones(20) / 20, "same")
    acceleration = np.sin(30 * t) * np.exp(-t / 60) + 0.1 * rng.standard_normal(rows)
    cells = zip(t.tolist(), acceleration.tolist(), force.tolist(), strict=True)
    return ("t,acceleration,force\n" + "\n".join(f"{a:.3f},{b:.6f},{c:.6f}" for a, b, c in cells)).encode()


def measured(page: Page, content: bytes) -> dict[str, float]:
    """Return milliseconds: from sending a file to its first plot, of a zoom, and of a value read."""
    file: FilePayload = {"name": "long.csv", "mimeType": "text/csv", "buffer": content}
    began = time.perf_counter()
    page.set_input_files("#file", files=[file])
    page.wait_for_function("() => window.gode && window.gode.plots.length")
    first = 1000 * (time.perf_counter() - began)
    return {"first plot": first, "zoom": page.evaluate(ZOOM), "hover": page.evaluate(HOVER)}


def predator_prey() -> bytes:
    """Return yearly counts of predators and prey, as CSV."""
    x, y, rows = 30.0, 4.0, []
    rng = np.random.default_rng(0)
    for year in range(1900, 1926):
        noise = 1 + 0.04 * rng.standard_normal(2)
        rows.append(f"{year},{x * noise[0]:.1f},{y * noise[1]:.1f}")
        for _ in range(1000):
            x, y = x + 1e-3 * x * (0.55 - 0.028 * y), y + 1e-3 * y * (0.024 * x - 0.8)
    return ("year,hare,lynx\n" + "\n".join(rows)).encode()


def searched(page: Page) -> dict[str, float]:
    """Return milliseconds: to the first candidate and the answer of a search, and of a constant moved."""
    file: FilePayload = {"name": "pelts.csv", "mimeType": "text/csv", "buffer": predator_prey()}
    page.set_input_files("#file", files=[file])
    page.wait_for_selector("#plots canvas")
    began = time.perf_counter()
    page.click("#go")
    page.wait_for_selector("#live")
    page.wait_for_function(CANDIDATE)
    first = 1000 * (time.perf_counter() - began)
    page.wait_for_selector(".headline", timeout=600_000)
    answer = 1000 * (time.perf_counter() - began)
    page.get_by_role("tab", name="Constants").click()
    moves = page.evaluate(MOVE)
    return {"candidate": first, "answer": answer, "slider": moves[len(moves) // 2], "slowest": moves[-1]}


def told(times: dict[str, float]) -> None:
    """Print some times."""
    print(", ".join(f"{name} {value:.0f} ms" for name, value in times.items()), flush=True)


def main(rows: int) -> None:
    """Print the times of three uploads and two searches, of which the first also warms up."""
    content = record(rows)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        words = ["-c", "from gode.cli import main; main()", "studio", "--no-browser", "--folder", folder]
        studio = subprocess.Popen([sys.executable, "-u", *words], stdout=subprocess.PIPE, text=True)
        assert studio.stdout is not None, "it is a pipe"
        try:
            link = next(found[0] for line in studio.stdout if (found := re.search(r"http://\S+", line)))
            time.sleep(5)  # as long as it takes to look for the file
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            for _ in range(3):
                page.goto(link)
                told(measured(page, content))
            for _ in range(2):
                page.goto(link)
                told(searched(page))
            browser.close()
        finally:
            studio.terminate()
            studio.wait(30)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
