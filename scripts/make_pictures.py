"""Draw the pictures of the gallery, the README and the pages into docs/pictures.

Each block of Python in docs/gallery.md that is followed by an image is run by itself; what it leaves in
`picture` becomes that image. The file keeps a hash of the code, by which a test sees whether it is stale.

python scripts/make_pictures.py [NAME ...]
"""

import hashlib
import re
import runpy
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n+```\{image\} pictures/(\S+)\.png", re.DOTALL | re.MULTILINE)
KEY = "code"  # of the hash among the texts of a PNG
DPI = 100


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


if __name__ == "__main__":
    for name, code in blocks().items():
        if name in sys.argv[1:] or len(sys.argv) == 1:
            draw(name, code)
