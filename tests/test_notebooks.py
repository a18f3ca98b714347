"""The notebooks of the gallery run in a real kernel, and print what is kept in them."""

import re
import runpy
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbclient")
pytest.importorskip("nbclient", reason="needs nbclient")
pytest.importorskip("ipykernel", reason="needs ipykernel")

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "run_notebooks.py"))
NOTEBOOKS = sorted(SCRIPT["FOLDER"].glob("*.ipynb"))
LARGEST = 100_000  # bytes
FEWER = {"RECORDS = 60": "RECORDS = 6"}  # of the thousand, which would take minutes
by_name = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def words(notebook):
    """What the cells print, without the digits, which other machines may round otherwise."""
    texts = ["".join(out.get("text", "")) for cell in notebook.cells for out in cell.get("outputs", ())]
    return re.sub(r"[\d.\s]+", " ", " ".join(texts))


def pictures(notebook):
    return sum("image/png" in out.get("data", {}) for c in notebook.cells for out in c.get("outputs", ()))


@by_name
def test_a_notebook_was_executed_and_is_light_and_the_gallery_leads_to_it(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), (
        f"python scripts/run_notebooks.py {path.stem}"
    )
    assert path.stat().st_size < LARGEST
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert f"../examples/notebooks/{path.name}" in gallery


def test_there_are_seven_notebooks():
    assert len(NOTEBOOKS) == 7


@pytest.mark.slow
@by_name
def test_a_notebook_runs_and_prints_what_is_kept_in_it(path):
    kept, again = nbformat.read(path, as_version=4), SCRIPT["executed"](path, FEWER)
    assert pictures(again) == pictures(kept)
    if path.stem != "a-thousand-records":
        assert words(again) == words(kept)
