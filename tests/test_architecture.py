"""The shape of the package: its layers, the one door of each outside library, and the size of its pieces."""

import ast
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gode

PACKAGE = Path(gode.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
ROOT = "__init__.py"  # names every public home, lazily, and so stands above the layers

# Each part, in the order of its layer, with the parts it may import; the first two are open to all.
LAYERS = (
    {
        "errors": set(),
        "arrays": set(),
        "choices": set(),
        "compiling": set(),
        "markup": set(),
        "__version__": set(),
    },
    {"files": {"errors"}, "ranges": {"errors"}, "units": {"errors"}},
    {"grammar": set(), "equation": set(), "data": set()},
    {"library": {"grammar", "equation"}, "solve": {"equation", "data"}, "tables": {"data"}},
    {
        "fitting": {"equation", "data", "solve"},
        "codec": {"equation"},
        "prior": {"grammar", "equation", "library"},  # laws that people use, as sentences of a grammar too
    },
    {
        "model": {"grammar", "equation", "library"},
        "selection": {"equation", "data", "solve", "fitting", "prior"},
    },
    {
        "search": {
            *("grammar", "equation", "data", "library", "solve", "fitting", "model", "selection", "codec"),
            "prior",
        },
    },
    {"paper": {"*"}},  # the published method, as one part
    {"discovery": {"*"}},
    {"measured": {"*"}},  # from files to checked data, for the command line and for fleets of files
    {"report": {"*"}, "estimator": {"*"}},
    {"fleet": {"*"}},  # many records, on many machines
    {"benchmarks": {"*"}},  # its page is written by the report
    {"cli": {"*"}},  # "*": everything below
    {"studio": {"*"}},  # the page drives the command line
)
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
MAY_IMPORT = {part: allowed for parts in LAYERS for part, allowed in parts.items()}

# The edges that lead up: methods of a result (plot, report, answers, export) open the report when they
# are called, and `gode studio` opens the page, which drives the other commands. Only
# inside a function or for the type checker, so nothing is imported in a circle.
LAZY_EDGES = {("discovery/result.py", "report"), ("cli/studio.py", "studio")}

# Each outside library, with the files or folders that may import it.
DOORS = {
    "torch": (
        "model/gvae.py",
        "model/training.py",
        "model/checkpoint.py",
        "paper/autoencoder_eq3.py",
    ),
    "safetensors": ("model/",),
    "sympy": ("equation/", "benchmarks/baselines.py", "benchmarks/odebench/systems.py"),
    "numba": ("compiling.py",),  # how kernels are compiled, and where the result is kept
    # odebench is scored by a solver that is not ours
    "scipy.integrate": ("solve/", "benchmarks/baselines.py", "benchmarks/odebench/systems.py"),
    "scipy.optimize": ("fitting/", "data/gp.py", "benchmarks/baselines.py", "benchmarks/score.py"),
    "multiprocessing": ("search/workers.py", "fleet/processes.py"),
    "concurrent": ("search/workers.py", "fleet/"),  # any executor runs a fleet
    "distributed": ("fleet/cluster.py",),  # the extra `dask`
    "threadpoolctl": ("search/",),
    "pandas": ("tables/", "discovery/result.py", "discovery/table.py", "estimator.py", "fleet/"),
    "scipy.io": ("tables/matlab.py",),
    "openpyxl": ("tables/excel.py",),  # the extra `files`
    "h5py": ("tables/matlab.py",),
    "pyarrow": ("tables/parquet.py",),
    "control": ("report/linear.py",),  # python-control, where it is installed
    "sklearn": ("estimator.py",),  # its tags, when it asks for them
    "matplotlib": ("report/figures.py", "report/panels.py", "report/planes.py", "benchmarks/figures.py"),
    "symengine": ("benchmarks/baselines.py",),
    "pysindy": ("benchmarks/peers/sindy.py", "benchmarks/peers/sindy_systems.py"),
    "pyoperon": ("benchmarks/peers/operon.py",),
    "gplearn": ("benchmarks/peers/gp_learn.py",),
    "pysr": ("benchmarks/peers/py_sr.py",),
    "odeformer": ("benchmarks/peers/ode_former.py",),
    "starlette": ("studio/",),  # the extra `studio`
    "uvicorn": ("studio/server.py",),
    "click": ("cli/",),
    "rich": ("cli/",),
}
INSTALLED = {"numpy", "scipy", *(name.split(".")[0] for name in DOORS)}  # dependencies and extras

UNSAFE_CALLS = {"eval", "exec", "__import__"}  # as builtins: the eval() method of a network is harmless
UNSAFE_NAMES = {"sympify", "parse_expr"}  # both evaluate text
UNSAFE_MODULES = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}

MAX_MODULE_LINES = 300
MAX_BODY_LINES = 40
KERNELS = ("equation/interpreter.py", "equation/point.py", "solve/", "fitting/", "paper/simplex_sec23.py")

each_module = pytest.mark.parametrize("module", MODULES)
each_layered_module = pytest.mark.parametrize("module", [m for m in MODULES if m != ROOT])


def tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def imported_names(module: str) -> Iterator[str]:
    """Every imported name in full: `from scipy import integrate` yields scipy.integrate."""
    return names_below(tree(module))


def names_below(root: ast.AST) -> Iterator[str]:
    for node in ast.walk(root):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def lazily_imported_names(module: str) -> Iterator[str]:
    """The names imported inside functions, or for the type checker only."""
    for node in ast.walk(tree(module)):
        typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if typing or isinstance(node, ast.FunctionDef):
            yield from names_below(node)


def binding_names(module: str) -> list[str]:
    """The imported names that bind a module to another; those over a lazy edge do not."""
    lazy = set(lazily_imported_names(module))
    excepted = {f"gode.{part}" for source, part in LAZY_EDGES if source == module}
    return [
        name
        for name in imported_names(module)
        if not (name in lazy and any(is_within(name, part) for part in excepted))
    ]


def part_of(module: str) -> str:
    return module.split("/")[0].removesuffix(".py")


def is_within(name: str, library: str) -> bool:
    return f"{name}.".startswith(f"{library}.")


def is_behind(module: str, doors: tuple[str, ...]) -> bool:
    return any(module.startswith(door) if door.endswith("/") else module == door for door in doors)


def may_import(part: str, other: str) -> bool:
    if part == other:
        return True
    if other not in RANK or RANK[other] >= RANK[part]:
        return False
    return RANK[other] <= RANK["files"] or bool(MAY_IMPORT[part] & {other, "*"})


def test_table_of_layers_never_looks_up():
    for part, allowed in MAY_IMPORT.items():
        assert all(RANK[other] < RANK[part] for other in allowed - {"*"}), part


@each_layered_module
def test_part_imports_only_the_parts_it_may(module: str):
    part = part_of(module)
    others = {name.split(".")[1] for name in binding_names(module) if name.startswith("gode.")}
    assert part in RANK, f"{module} belongs to no layer: add its part to LAYERS"
    assert [other for other in others if not may_import(part, other)] == []
    assert "gode" not in imported_names(module), "import from the part that is meant"


def test_lazy_edges_are_needed_and_stay_lazy():
    for module, part in LAZY_EDGES:
        names = [name for name in imported_names(module) if is_within(name, f"gode.{part}")]
        assert names, f"{module} no longer opens {part}: drop the exception"
        at_import = [n for statement in tree(module).body for n in top_level_names(statement)]
        assert not [name for name in at_import if is_within(name, f"gode.{part}")]


def top_level_names(statement: ast.stmt) -> Iterator[str]:
    return names_below(statement) if isinstance(statement, ast.Import | ast.ImportFrom) else iter(())


@each_module
def test_imports_are_absolute(module: str):
    names = list(imported_names(module))
    assert not [name for name in names if name.startswith(".") or name.endswith(".*")]


@each_module
def test_outside_library_enters_by_its_door(module: str):
    for name in imported_names(module):
        for library, doors in DOORS.items():
            assert not is_within(name, library) or is_behind(module, doors), (
                f"{library} may be imported in {' '.join(doors)} only"
            )


@each_module
def test_imports_are_installed_with_the_package(module: str):
    roots = {name.split(".")[0] for name in imported_names(module)}
    assert roots - {"gode"} - INSTALLED - sys.stdlib_module_names == set()
    assert "scipy" not in imported_names(module), "import the part of scipy that is meant"


def test_no_circular_import():
    names = {dotted(module): module for module in MODULES if module != ROOT}
    graph = {name: set(imported_modules(module, set(names))) for name, module in names.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def dotted(module: str) -> str:
    return ".".join(["gode", *module.removesuffix(".py").removesuffix("/__init__").split("/")])


def imported_modules(module: str, known: set[str]) -> Iterator[str]:
    for name in binding_names(module):
        target = name if name in known else name.rpartition(".")[0]
        if target in known:
            yield target


@each_module
def test_module_is_short(module: str):
    assert len((PACKAGE / module).read_text(encoding="utf-8").splitlines()) <= MAX_MODULE_LINES


@each_module
def test_functions_are_short(module: str):
    # Compiled kernels are excepted: numba handles one long loop better than many small calls.
    functions = [n for n in ast.walk(tree(module)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {f.name: body_lines(f) for f in functions if body_lines(f) > MAX_BODY_LINES}
    kernels = {f.name for f in functions if is_compiled(f)} if is_behind(module, KERNELS) else set()
    assert {name: lines for name, lines in long.items() if name not in kernels} == {}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = [ast.unparse(decorator).split("(")[0] for decorator in function.decorator_list]
    return any(name.endswith(("jit", "vectorize")) for name in decorators)


@each_module
def test_nothing_evaluates_text_or_unpickles(module: str):
    used = {n.id for n in ast.walk(tree(module)) if isinstance(n, ast.Name)}
    attributes = {n.attr for n in ast.walk(tree(module)) if isinstance(n, ast.Attribute)}
    imported = set(imported_names(module))
    assert used & UNSAFE_CALLS == set()
    assert (used | attributes | {name.split(".")[-1] for name in imported}) & UNSAFE_NAMES == set()
    assert {name.split(".")[0] for name in imported} & UNSAFE_MODULES == set()


@each_module
def test_only_the_command_line_prints(module: str):
    printing = [n for n in ast.walk(tree(module)) if isinstance(n, ast.Name) and n.id == "print"]
    assert module.startswith("cli/") or not printing


@pytest.mark.parametrize("module", [m for m in MODULES if m.endswith("/__init__.py")])
def test_init_only_re_exports(module: str):
    statements = tree(module).body
    docstring = [s for s in statements[:1] if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)]
    for statement in statements[len(docstring) :]:
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        assert is_import or ast.unparse(statement).startswith("__all__ = "), ast.unparse(statement)
