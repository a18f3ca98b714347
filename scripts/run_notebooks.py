"""Execute the notebooks of examples/notebooks, and keep in them what they print and draw.

python scripts/run_notebooks.py [NAME ...]

Pictures are kept with few colours, and live views not at all, so that the files stay small. After a change of
results, or of a notebook, its new outputs are committed with it.
"""

import base64
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
COLOURS = 64  # of a picture


def executed(path: Path, changes: Mapping[str, str] | None = None) -> Any:
    """Return a notebook after its execution in a fresh kernel, with texts of its code replaced before."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for old, new in (changes or {}).items():
            cell.source = cell.source.replace(old, new)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # of the kernel's debugger, which would warn
    nbclient.NotebookClient(notebook, timeout=1200, kernel_name="python3").execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)  # when it was run
            cell.outputs = [out for out in cell.outputs if kept(out)]
    for key in set(notebook.metadata) - {"kernelspec"}:
        del notebook.metadata[key]
    return notebook


def kept(out: Any) -> bool:
    """Tell whether an output stays; what it shows is reduced to text and a small picture."""
    if "data" not in out:
        return out.get("name") == "stdout"
    if "image/png" in out.data:
        out.data = {"image/png": smaller(out.data["image/png"]), "text/plain": "a picture"}
        return True
    out.data = {"text/plain": out.data.get("text/plain", "")}
    return out.output_type == "execute_result"  # what else is displayed is progress


def smaller(picture: str) -> str:
    """Return a picture, a PNG in base 64, with few colours."""
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        few = image.convert("RGB").quantize(COLOURS)
    file = io.BytesIO()
    few.save(file, "png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def main() -> None:
    """Execute the notebooks that are named, or all."""
    import nbformat

    for path in sorted(FOLDER.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            nbformat.write(executed(path), path)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
