"""What `import gode` offers, and what it costs."""

import pkgutil
import pydoc
import subprocess
import sys

import pytest

import gode
from examples_found import fitted_oscillator

PUBLIC = {
    "Discovery",
    "LatentSpace",
    "discover",
    "discover_many",
    "fit",
    "fit_petab",
    "load",
    "load_model",
    "Equation",
    "Fleet",
    "GodeError",
    "Grammar",
    "Library",
    "ODERegressor",
    "Skeleton",
    "draw_library",
    "load_grammar",
    "parse_equation",
    "parse_skeleton",
}
HEAVY = ("numpy", "scipy", "numba", "sympy", "pandas", "matplotlib", "torch", "sklearn")
NOT_TO_DISCOVER = {"cma", "matplotlib", "pandas", "scipy.signal", "scipy.stats", "sympy"}
STUDIO = ("gode.studio", "starlette", "uvicorn", "openpyxl", "multipart")


def test_public_names_are_these():
    assert set(gode.__all__) == PUBLIC
    assert set(gode._HOMES) == PUBLIC
    assert len(PUBLIC) <= 19


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_name_is_found_and_documented(name: str):
    assert getattr(gode, name).__doc__


def test_no_public_name_is_also_a_module():
    # Importing gode.solve binds gode.solve to the module, so a function of that name would come and go.
    assert not PUBLIC & {module.name for module in pkgutil.iter_modules(gode.__path__)}


def test_dir_shows_the_public_names():
    assert set(dir(gode)) >= PUBLIC | {"__version__"}


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        _ = gode.sovle


def test_import_loads_no_heavy_library():
    program = f"import sys, gode; sys.exit(', '.join(set(sys.modules) & set({HEAVY + STUDIO!r})))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""


def test_the_engine_and_its_command_import_neither_the_studio_nor_what_writes_pages():
    program = (
        "import sys, gode, gode.cli, gode.discovery, gode.report; "
        f"sys.exit(', '.join(set(sys.modules) & {{'jinja2', *{STUDIO!r}}}))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""


@pytest.mark.slow
def test_discovery_of_arrays_loads_only_what_it_uses():
    program = (
        "import sys, numpy as np, gode; t = np.linspace(0, 5, 40); "
        "gode.discover(t, np.exp(-t), effort='quick', max_seconds=1); "
        f"sys.exit(', '.join(set(sys.modules) & {NOT_TO_DISCOVER!r}))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""


@pytest.mark.parametrize("name", ["discover", "fit"])
def test_help_names_types_instead_of_spelling_them_out(name: str):
    head = pydoc.plain(pydoc.render_doc(getattr(gode, name))).split(" -> ")[0]
    assert "Series" in head
    assert "_SupportsArray" not in head
    assert "memo" not in head
    assert max(map(len, head.splitlines())) < 1500


def test_the_old_name_of_the_candidates_still_works():
    found = fitted_oscillator()
    with pytest.warns(DeprecationWarning, match=r"Discovery\.candidates"):
        assert found.order is found.candidates
