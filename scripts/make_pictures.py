"""Draw the pictures of the gallery, the README and the pages into docs/pictures.

Each block of Python in docs/gallery.md that is followed by an image is run by itself; what it leaves in
`picture` becomes that image. The file keeps a hash of the code, by which a test sees whether it is stale.

python scripts/make_pictures.py [NAME ...]

The studio's picture is taken in Chromium: python scripts/make_pictures.py studio
"""

import hashlib
import re
import runpy
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n+```\{image\} pictures/(\S+)\.png", re.DOTALL | re.MULTILINE)
KEY = "code"  # of the hash among the texts of a PNG
DPI = 100
STUDIO = "studio"  # the picture that is taken, not drawn


def blocks(page: Path = DOCS / "gallery.md") -> dict[str, str]:
    """Return the code of each picture of the gallery under its name."""
    return {name: code for code, name in BLOCK.findall(page.read_text(encoding="utf-8"))}


def fingerprint(code: str) -> str:
    """Return what tells this code from any other."""
    return hashlib.sha256(code.encode()).hexdigest()


def draw(name: str, code: str) -> None:
    """Run the code and write its picture."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / f"{name.replace('-', '_')}.py"
        program.write_text(code, encoding="utf-8")
        figure = runpy.run_path(str(program))["picture"]
    path = DOCS / "pictures" / f"{name}.png"
    figure.savefig(path, dpi=DPI, metadata={KEY: fingerprint(code)}, pil_kwargs={"optimize": True})
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def photograph() -> None:
    """Find the law of the example in the studio, in a browser, and take its picture."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(DOCS.parent / "tests"))
    from studio_runs import close_studio, open_studio

    data = files("gode.data.examples") / "growth.csv"
    path = DOCS / "pictures" / f"{STUDIO}.png"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        studio = open_studio(Path(folder), str(data))
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 750})
        page.set_default_timeout(300_000)
        page.goto(studio.link)
        page.get_by_role("button", name="Find the equation").click()
        page.get_by_role("tab", name="Rivals").wait_for()
        page.locator("canvas:visible").first.wait_for()
        page.screenshot(path=path)
        browser.close()
        close_studio(studio)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    for name, code in blocks().items():
        if name in sys.argv[1:] or len(sys.argv) == 1:
            draw(name, code)
    if STUDIO in sys.argv[1:]:
        photograph()
