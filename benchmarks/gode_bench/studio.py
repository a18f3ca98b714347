"""How fluent the studio is with a long record, in Chromium: python -m gode_bench.studio [ROWS].

It prints the time from sending an accelerometer record to its first plot, and how long the page takes to zoom
and to read a value under the pointer. It needs the extra `studio` and Playwright.
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


def main(rows: int) -> None:
    """Print the times of three uploads, of which the first also warms up."""
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
                times = measured(page, content)
                print(", ".join(f"{name} {value:.0f} ms" for name, value in times.items()))
            browser.close()
        finally:
            studio.terminate()
            studio.wait(30)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
