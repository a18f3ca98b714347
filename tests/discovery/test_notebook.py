import sys
from types import ModuleType

import pytest

import gode
from examples_found import SMALL
from gode.data.example import load_example
from gode.discovery.notebook import shown_in_notebook
from gode.search.archive import Stage, Step


@pytest.fixture
def notebook(monkeypatch):
    """An IPython shell as in a kernel; gives what is published for the output of the cell."""
    pytest.importorskip("IPython", reason="needs IPython")
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    shell = InteractiveShell.instance()
    before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    yield shell.display_pub.outputs
    shell.display_pub = before
    InteractiveShell.clear_instance()


def texts(outputs):
    return [output["data"]["text/plain"] for output in outputs]


def test_a_notebook_shows_the_progress_and_clears_it(notebook, monkeypatch):
    monkeypatch.setattr("gode.discovery.notebook.PAUSE", 0.0)  # the search may be faster than the line
    example = load_example("growth")
    gode.discover(example.t, example.u, **SMALL)
    shown = texts(notebook)
    assert any("equations tried" in text for text in shown)
    assert any("best so far: u' = " in text for text in shown)
    assert shown[-1] == ""
    assert len({output["transient"]["display_id"] for output in notebook}) == 1
    assert [output["update"] for output in notebook[1:]] == [True] * (len(notebook) - 1)


def test_steps_in_quick_succession_are_one_update(notebook):
    with shown_in_notebook(None) as show:
        for n in range(100):
            show(Step(Stage.LIBRARY, n, 0, "", 12.0))
    assert texts(notebook)[1:] == ["library: 0 equations tried, 0 s, about 12 s left", ""]


def test_who_listens_is_not_given_more(notebook):
    with shown_in_notebook(print) as show:
        assert show is print
    assert notebook == []


def test_elsewhere_nothing_is_shown():
    with shown_in_notebook(None) as show:
        assert show is None
