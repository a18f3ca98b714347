"""The shape of the package and of the benchmarks beside it: layers, doors of outside libraries, sizes."""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gode

PACKAGE = Path(gode.__file__).parent
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"  # a package of its own, gode_bench, above all of gode
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
MODULES += sorted(path.relative_to(BENCHMARKS).as_posix() for path in BENCHMARKS.rglob("*.py"))
ROOT = "__init__.py"  # names every public home, lazily, and so stands above the layers

# Each part, in the order of its layer, with the parts it may import; the first two are open to all.
LAYERS = (
    {
        "errors": set(),
        "arrays": set(),
        "choices": set(),
        "identifiers": set(),
        "numba_cache": set(),
        "templates": set(),
        "__version__": set(),
    },
    {"files": {"errors"}, "units": {"errors"}, "options": {"errors"}},
    {"grammar": set(), "equation": set()},
    {"data": {"equation"}},  # the words of an equation name no state
    {"library": {"grammar", "equation"}, "solve": {"equation", "data"}, "tables": {"equation", "data"}},
    {
        "fitting": {"equation", "data", "solve"},
        "json_codec": {"equation"},
        "measured": {"tables"},  # the public name of reading files
        "prior": {"grammar", "equation", "library"},  # laws that people use, as sentences of a grammar too
    },
    {
        "model": {"grammar", "equation", "library"},
        "selection": {"equation", "data", "solve", "fitting", "prior"},
    },
    {
        "search": {
            *("grammar", "equation", "data", "library", "solve", "fitting", "model", "selection"),
            *("json_codec", "prior"),
        },
    },
    {"paper": {"*"}},  # the published method, as one part
    {"discovery": {"*"}},
    {"report": {"*"}, "estimator": {"*"}},
    {"fleet": {"*"}},  # many records, on many machines
    {"cli": {"*"}},  # "*": everything below
    {"studio": {"*"}},  # the page drives the command line
    {"gode_bench": {"*"}},  # gode finds its command by an entry point and never imports it
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
        "model/training.py",
        "paper/autoencoder_eq3.py",
    ),
    "safetensors": ("model/",),
    "sympy": ("equation/", "gode_bench/baselines.py", "gode_bench/odebench/systems.py"),
    "numba": ("numba_cache.py",),  # how kernels are compiled, and where the result is kept
    # the benchmarks make data and score by a solver that is not ours
    "scipy.integrate": ("solve/", "gode_bench/"),
    "scipy.optimize": ("fitting/", "data/gp.py", "gode_bench/baselines.py", "gode_bench/score.py"),
    "multiprocessing": ("search/workers.py", "fleet/processes.py", "gode_bench/fleet.py"),
    "concurrent": ("search/workers.py", "fleet/"),  # any executor runs a fleet
    "distributed": ("fleet/cluster.py",),  # the extra `dask`
    "threadpoolctl": ("search/",),
    "pandas": (
        "tables/",
        "discovery/result.py",
        "discovery/notebook.py",
        "estimator.py",
        "fleet/",
        "gode_bench/measured.py",
    ),
    "scipy.io": ("tables/binary.py",),
    "openpyxl": ("tables/binary.py",),  # the extra `files`
    "libsbml": ("tables/petab.py",),  # the extra `petab`
    "yaml": ("tables/petab.py",),
    "anywidget": ("report/widget.py",),  # the extra `notebook`
    "traitlets": ("report/widget.py",),
    "h5py": ("tables/binary.py",),
    "pyarrow": ("tables/binary.py",),
    "control": ("report/linear.py",),  # python-control, where it is installed
    "sklearn": ("estimator.py",),  # its tags, when it asks for them
    "matplotlib": ("report/figures.py", "gode_bench/figures.py"),
    "contourpy": ("report/plots.py",),
    "jinja2": ("templates.py",),  # where pages are written
    "markupsafe": ("templates.py",),
    "symengine": ("gode_bench/baselines.py",),
    "pysindy": ("gode_bench/peers/sindy.py", "gode_bench/peers/sindy_systems.py"),
    "pyoperon": ("gode_bench/peers/operon.py",),
    "gplearn": ("gode_bench/peers/gp_learn.py",),
    "pysr": ("gode_bench/peers/py_sr.py",),
    "odeformer": ("gode_bench/peers/ode_former.py",),
    "starlette": ("studio/",),  # the extra `studio`
    "uvicorn": ("studio/server.py",),
    "click": ("cli/", "gode_bench/commands.py"),
    "rich": ("cli/", "gode_bench/commands.py"),
    "playwright": ("gode_bench/studio.py",),  # drives a browser
}
INSTALLED = {"numpy", "scipy", *(name.split(".")[0] for name in DOORS)}  # dependencies and extras

UNSAFE_CALLS = {"eval", "exec", "__import__"}  # as builtins: the eval() method of a network is harmless
UNSAFE_NAMES = {"sympify", "parse_expr"}  # both evaluate text
UNSAFE_MODULES = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}

MAX_MODULE_LINES = 600
MAX_BODY_LINES = 60
MAX_PARAMETERS = 8  # of functions below the public calls
# These take what a public call or a compiled kernel takes, argument by argument.
MANY_PARAMETERS = {
    "data/from_arrays.py: make_dataset", "data/from_arrays.py: make_run",
    "solve/solution.py: integrate", "solve/solution.py: _moved",
}  # fmt: skip
# Libraries that take long to load, or need not be installed: functions may import them when they are called.
SLOW = {
    "anywidget", "control", "distributed", "h5py", "libsbml", "openpyxl", "pandas", "pyarrow",
    "scipy.interpolate", "scipy.io", "scipy.signal", "scipy.stats", "sklearn", "traitlets", "yaml",
}  # fmt: skip
# Files that must load without NumPy, as help and completion of the command line do, and the process that
# the studio starts: their functions import what they need when they are called.
LIGHT = ("cli/", "tables/column_options.py", "tables/dataset.py", "studio/working.py")
# What else is imported inside functions, with what it delays: SymPy, torch, the published method, and files.
DELAYED = {
    ("discovery/invariants.py", "gode.equation.symbolic"),
    ("equation/equation.py", "gode.equation.symbolic"),
    ("equation/system.py", "gode.equation.symbolic"),
    ("model/making.py", "gode.model.training"),
    ("discovery/api.py", "gode.paper"),
    ("discovery/options.py", "gode.paper"),
    ("fleet/result.py", "gode.tables.read"),
}
# The rooms whose numbers steer what is found: each has a line on what it is and how it was set.
STEERING = ("data/", "fitting/", "prior/", "search/", "discovery/")
MAX_FORKS = 12  # tests of the number of states outside gode.equation; fewer is better
MAX_NUMBERS = 267  # of these; the aim is 150, and fewer is better
KERNELS = ("equation/interpreter.py", "solve/", "fitting/", "paper/simplex_sec23.py")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def text(module: str) -> str:
    folder = BENCHMARKS if part_of(module) == "gode_bench" else PACKAGE
    return (folder / module).read_text(encoding="utf-8")


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    """Every node of a module, which is parsed once for all rules; the first is the module itself."""
    return tuple(ast.walk(ast.parse(text(module))))


def statements(module: str) -> list[ast.stmt]:
    return nodes(module)[0].body


def functions(module: str) -> list[Function]:
    return [node for node in nodes(module) if isinstance(node, Function)]


@cache
def imported_names(module: str) -> tuple[str, ...]:
    """Every imported name in full: `from scipy import integrate` yields scipy.integrate."""
    return tuple(names_in(nodes(module)))


def names_in(some: Iterable[ast.AST]) -> Iterator[str]:
    for node in some:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def lazily_imported_names(module: str) -> Iterator[str]:
    """The names imported inside functions, or for the type checker only."""
    for node in nodes(module):
        typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if typing or isinstance(node, ast.FunctionDef):
            yield from names_in(ast.walk(node))


def binding_names(module: str) -> list[str]:
    """The imported names that bind a module to another; those over a lazy edge do not."""
    excepted = {f"gode.{part}" for source, part in LAZY_EDGES if source == module}
    lazy = set(lazily_imported_names(module)) if excepted else set()
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


def refuse(offenders: Iterable[str], advice: str = "") -> None:
    """Fail with the whole list."""
    found = list(offenders)
    if found:
        pytest.fail("\n".join([advice, *found]).strip(), pytrace=False)


def test_part_imports_only_the_parts_it_may():
    layered = [module for module in MODULES if module != ROOT]
    refuse({part_of(module) for module in layered} - set(RANK), "each part has a layer: add it to LAYERS")
    refuse(
        f"{module}: {name}"
        for module in layered
        for name in binding_names(module)
        if (name.startswith("gode.") and not may_import(part_of(module), name.split(".")[1]))
        or (is_within(name, "gode_bench") and part_of(module) != "gode_bench")
    )
    vague = (m for m in layered if "gode" in imported_names(m) and part_of(m) != "gode_bench")
    refuse(vague, "import from the part that is meant")


def test_lazy_edges_are_needed_and_stay_lazy():
    for module, part in LAZY_EDGES:
        names = [name for name in imported_names(module) if is_within(name, f"gode.{part}")]
        assert names, f"{module} no longer opens {part}: drop the exception"
        at_import = names_in(statements(module))
        assert not [name for name in at_import if is_within(name, f"gode.{part}")]


def test_imports_are_absolute():
    refuse(
        f"{module}: {name}"
        for module in MODULES
        for name in imported_names(module)
        if name.startswith(".") or name.endswith(".*")
    )


def test_outside_library_enters_by_its_door():
    refuse(
        f"{module}: {library} may be imported in {' '.join(doors)} only"
        for module in MODULES
        for library, doors in DOORS.items()
        if any(is_within(name, library) for name in imported_names(module)) and not is_behind(module, doors)
    )


def test_imports_are_installed_with_the_package():
    known = {"gode", "gode_bench"} | INSTALLED | sys.stdlib_module_names
    refuse(
        f"{module}: {name}"
        for module in MODULES
        for name in imported_names(module)
        if name.split(".")[0] not in known
    )
    vague = (module for module in MODULES if "scipy" in imported_names(module))
    refuse(vague, "import the part of scipy that is meant")


def test_no_circular_import():
    names = {dotted(module): module for module in MODULES if module != ROOT}
    graph = {name: set(imported_modules(module, set(names))) for name, module in names.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def dotted(module: str) -> str:
    home = [] if part_of(module) == "gode_bench" else ["gode"]
    return ".".join([*home, *module.removesuffix(".py").removesuffix("/__init__").split("/")])


def imported_modules(module: str, known: set[str]) -> Iterator[str]:
    for name in binding_names(module):
        target = name if name in known else name.rpartition(".")[0]
        if target in known:
            yield target


def test_modules_are_short():
    lines = {module: len(text(module).splitlines()) for module in MODULES}
    refuse(f"{module}: {n} lines" for module, n in lines.items() if n > MAX_MODULE_LINES)


def test_functions_are_short():
    # Compiled kernels are excepted: numba handles one long loop better than many small calls.
    refuse(
        f"{module}: {function.name} has {body_lines(function)} lines"
        for module in MODULES
        for function in functions(module)
        if body_lines(function) > MAX_BODY_LINES
        and not (is_behind(module, KERNELS) and is_compiled(function))
    )


def body_lines(function: Function) -> int:
    """Lines from the first statement after the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def is_compiled(function: Function) -> bool:
    decorators = [ast.unparse(decorator).split("(")[0] for decorator in function.decorator_list]
    return any(name.endswith(("jit", "vectorize")) for name in decorators)


def test_functions_below_the_public_calls_take_few_parameters():
    refuse(
        f"{module}: {function.name} takes {len(parameters(function))}"
        for module in MODULES
        if part_of(module) != "gode_bench"
        for function in functions(module)
        if len(parameters(function)) > MAX_PARAMETERS
        and f"{module}: {function.name}" not in MANY_PARAMETERS
        and not is_compiled(function)
        and not any("command(" in ast.unparse(each) for each in function.decorator_list)
    )


def parameters(function: Function) -> list[str]:
    every = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return [each.arg for each in every if each.arg not in ("self", "cls")]


def test_imports_inside_functions_delay_what_is_slow():
    refuse(
        f"{module}: {name}"
        for module in MODULES
        if part_of(module) != "gode_bench" and not is_behind(module, LIGHT)
        for function in functions(module)
        for name in names_in(ast.walk(function))
        if not any(is_within(name, library) for library in SLOW)
        and not any(file == module and is_within(name, home) for file, home in DELAYED)
        and not any(file == module and is_within(name, f"gode.{part}") for file, part in LAZY_EDGES)
    )
    assert len(DELAYED) <= 10


def test_each_number_that_steers_says_what_it_is():
    found = [(module, node) for module in MODULES if module.startswith(STEERING) for node in numbers(module)]
    bare = [f"{module}: {ast.unparse(node)[:60]}" for module, node in found if not is_told(module, node)]
    refuse(bare, "say beside or above the number what it is, and how it was set")
    assert len(found) <= MAX_NUMBERS


def numbers(module: str) -> Iterator[ast.stmt]:
    """Yield the constants of a module with numbers in them, and the defaults of its records of numbers."""
    for node in statements(module):
        if isinstance(node, ast.Assign | ast.AnnAssign) and holds_number(node):
            yield node
        elif isinstance(node, ast.ClassDef) and node.name.endswith(("Config", "Effort", "Smoothing")):
            yield from (each for each in node.body if isinstance(each, ast.AnnAssign) and holds_number(each))


def holds_number(node: ast.Assign | ast.AnnAssign) -> bool:
    values = [each.value for each in ast.walk(node.value or node) if isinstance(each, ast.Constant)]
    plain = not any(isinstance(value, str) for value in values)
    return plain and any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def is_told(module: str, node: ast.stmt) -> bool:
    """Tell whether there is a comment within the statement, or above the group of lines that it is in."""
    lines = text(module).splitlines()
    if any("#" in line for line in lines[node.lineno - 1 : node.end_lineno]):
        return True
    for line in reversed(lines[: node.lineno - 1]):
        if not line.strip() or "class " in line:
            return False
        if line.strip().startswith("#"):
            return True
    return False


def test_few_places_ask_how_many_states_a_law_has():
    # A single state is the case d = 1 of several: what differs is the task of a method of the law.
    found = [
        f"{module}, line {node.lineno}"
        for module in MODULES
        if part_of(module) not in ("equation", "gode_bench")
        for node in nodes(module)
        if isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("len(")
        if ast.unparse(node.left).endswith("states)") and ast.unparse(node.comparators[-1]) in ("1", "2")
    ]
    assert len(found) <= MAX_FORKS, found


def test_nothing_evaluates_text_or_unpickles():
    refuse(f"{module}: {name}" for module in MODULES for name in unsafe_names(module))


def unsafe_names(module: str) -> set[str]:
    used = {node.id for node in nodes(module) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in nodes(module) if isinstance(node, ast.Attribute)}
    last = {name.split(".")[-1] for name in imported_names(module)}
    first = {name.split(".")[0] for name in imported_names(module)}
    return used & UNSAFE_CALLS | (used | attributes | last) & UNSAFE_NAMES | first & UNSAFE_MODULES


def test_only_the_command_line_prints():
    refuse(
        f"{module}, line {node.lineno}"
        for module in MODULES
        for node in nodes(module)
        if isinstance(node, ast.Name)
        and node.id == "print"
        and not (module.startswith("cli/") or is_script(module))
    )


def is_script(module: str) -> bool:
    """Tell whether a module of the benchmarks is run by `python -m`."""
    return part_of(module) == "gode_bench" and 'if __name__ == "__main__":' in text(module)


def test_init_only_re_exports():
    refuse(
        f"{module}: {ast.unparse(statement)}"
        for module in MODULES
        if module.endswith("/__init__.py")
        for statement in without_docstring(statements(module))
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        and not ast.unparse(statement).startswith("__all__ = ")
    )


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_docstring else body
