"""A result in a real kernel: a live widget with anywidget, formula and tables beside it."""

import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbclient")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
pytest.importorskip("ipykernel", reason="needs ipykernel")

CODE = """import numpy as np
import gode
t = np.linspace(0.0, 5.0, 40)
gode.fit("u' = C*u", t, np.exp(-t))"""


def shown(code):
    """What a cell of a notebook shows, by kind."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=300).execute()
    (output,) = [out for out in notebook.cells[0].outputs if "data" in out]
    return output["data"], notebook


@pytest.mark.slow
def test_a_result_is_a_live_page_where_widgets_are_installed():
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    data, notebook = shown(CODE)
    view = data["application/vnd.jupyter.widget-view+json"]
    assert "near ties" in data["text/html"] or "<table" in data["text/html"]
    assert "u'" in data["text/plain"]
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    page = states[view["model_id"]]["state"]["page"]
    assert "<script" in page
    assert not re.search(r'src="https?:', page)


@pytest.mark.slow
def test_without_widgets_formula_and_tables_stay():
    data, _ = shown("import sys\nsys.modules['anywidget'] = None\n" + CODE)
    assert "application/vnd.jupyter.widget-view+json" not in data
    assert "<table" in data["text/html"]
