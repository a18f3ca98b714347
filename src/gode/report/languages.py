"""The pieces of a program in each language: parameters, inputs, derivatives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.equation import Node
from gode.equation.tree import variables, walk
from gode.report.expressions import Dialect, write
from gode.report.program import ROWS, Known, Parameter, Program

STATES = {"u": "u", "u'": "v"}  # the names of the state's parts in every language
LINE = 100  # characters of a table's row


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language: how it writes expressions, and the pieces that its template asks for."""

    suffix: str
    dialect: Dialect
    fields: Callable[[Program], dict[str, str]]
    implicit: bool  # whether it can solve residuals


def _python(program: Program) -> dict[str, str]:
    assert program.rhs is not None
    dialect = _with_inputs(_PYTHON, program)
    lines = []
    for known in program.inputs:
        name = _function(known)
        if known.formula is None:
            knots, samples = _list(known.knots, "[", "]", 4), known.pieces[:, 3]
            make, rows = "CubicSpline", [knots, _list(samples, "[", "]", 4)]
            if known.held:
                make, rows = "PPoly", [f"[{_list(samples[:-1], '[', ']', 4)}]", knots]
            lines += [f"_{name} = {make}(", *(f"    {row}," for row in rows), ")"]
        value = f"_{name}(t)" if known.formula is None else write(known.formula, dialect)
        lines += [
            "",
            "",
            f"def {name}(t):",
            f'    """The known input {known.name}."""',
            f"    return {value}",
        ]
    rhs = write(program.rhs, dialect)
    kinds = {"PPoly" if known.held else "CubicSpline" for known in program.inputs if known.formula is None}
    return {
        "imports": f"from scipy.interpolate import {', '.join(sorted(kinds))}" if kinds else "",
        "parameters": _parameters(program.parameters, "{} = {}  # ± {}", repr),
        "inputs": "\n".join([*lines, "", ""]),
        "unpack": "u, v" if program.order == 2 else "(u,)",
        "derivatives": f"v, {rhs}" if program.order == 2 else rhs,
    }


def _c(program: Program) -> dict[str, str]:
    assert program.rhs is not None
    dialect = _with_inputs(_C, program)
    lines = []
    if "sign" in {node.op for tree in (program.rhs, *_formulas(program)) for node in walk(tree)}:
        lines += ["static double sign(double x)", "{", "    return (x > 0) - (x < 0);", "}", ""]
    for known in program.inputs:
        name, n = _function(known), len(known.knots)
        lines += [f"/* The known input {known.name}. */"]
        if known.formula is None:
            lines += [f"static const double {name}_knots[{n}] = {_list(known.knots, '{', '}')};"]
            lines += [f"static const double {name}_pieces[{n}][4] = {{", _rows(known.pieces, "{", "}"), "};"]
            body = _C_TABLE.format(name=name, last=n - 1)
        else:
            body = f"    (void)t;\n    return {write(known.formula, dialect)};"
        lines += [f"static double {name}(double t)", "{", body, "}", ""]
    used = [name for name in STATES if name in variables(program.rhs)]
    rhs = write(program.rhs, dialect)
    rows = [f"    dy[0] = {rhs};"] if program.order == 1 else ["    dy[0] = y[1];", f"    dy[1] = {rhs};"]
    return {
        "parameters": _parameters(program.parameters, "static const double {} = {}; /* +- {} */", _float),
        "inputs": "\n".join(lines),
        "unpack": "\n".join(f"    const double {STATES[n]} = y[{len(n) - 1}];" for n in used),
        "derivatives": "\n".join(rows),
    }


def _julia(program: Program) -> dict[str, str]:
    dialect = _with_inputs(_JULIA, program)
    lines = []
    for known in program.inputs:
        name = _function(known)
        lines += [f'"The known input {known.name}."']
        if known.formula is None:
            lines = lines[:-1]
            lines += [f"const {name}_knots = {_list(known.knots, '[', ']')}"]
            lines += [f"const {name}_pieces = [", _rows(known.pieces, "(", ")"), "]"]
            lines += [_JULIA_TABLE.format(name=name, known=known.name), ""]
        else:
            lines += [f"{name}(t) = {write(known.formula, dialect)}", ""]
    fields = _sides(program, dialect, "    dy[{}] = {}", "    r[{}] = {}", "dy[{}]")
    return {
        **fields,
        "parameters": _parameters(program.parameters, "const {} = {}  # ± {}", repr),
        "inputs": "\n".join(lines),
        "unpack": "    u = y[1]" if program.order == 1 else "    u, v = y[1], y[2]",
    }


def _matlab(program: Program) -> dict[str, str]:
    dialect = _with_inputs(_MATLAB, program)
    lines = []
    for known in program.inputs:
        name = _function(known)
        if known.formula is None:
            lines += [f"  persistent {name}_spline", f"  if isempty({name}_spline)"]
            make, samples = ("mkpp", known.pieces[:-1, 3]) if known.held else ("spline", known.pieces[:, 3])
            lines += [f"    {name}_spline = {make}({_list(known.knots, '[', ']', 6, ' ...')}, ..."]
            lines += [f"      {_list(samples, '[', ']', 6, ' ...')});"]
            lines += ["  end", f"  {name} = ppval({name}_spline, t);  % the known input {known.name}"]
        else:
            lines += [f"  {name} = {write(known.formula, dialect)};  % the known input {known.name}"]
    fields = _sides(program, dialect, "  dy({}, 1) = {};", "  r({}, 1) = {};", "dy({})")
    return {
        **fields,
        "parameters": _parameters(program.parameters, "  {} = {};  % +- {}", repr),
        "inputs": "\n".join(lines),
        "unpack": "  u = y(1);" if program.order == 1 else "  u = y(1);\n  v = y(2);",
    }


def _modelica(program: Program) -> dict[str, str]:
    highest = "der(u)" if program.order == 1 else "der(v)"
    dialect = _with_inputs(_MODELICA, program, {("u'", "u''")[program.order - 1]: highest})
    lines, equations = [], []
    for known in program.inputs:
        name = _function(known)
        lines += [f'  Real {name} "known input {known.name}";']
        if known.formula is None:
            knots, pieces = _list(known.knots, "{", "}", 6), _rows(known.pieces, "{", "}", 6)
            lines += [_MODELICA_TABLE.format(name=name, n=len(known.knots), knots=knots, pieces=pieces)]
            equations += [f"  {name} = {name}_table(time);"]
        else:
            equations += [f"  {name} = {write(known.formula, dialect)};"]
    if program.order == 2:
        equations += ["  der(u) = v;"]
    if program.rhs is not None:
        equations += [f"  {highest} = {write(program.rhs, dialect)};"]
    else:
        equations += [f"  {write(program.residual, dialect)} = 0;"]
    start = "  Real {}(start = {!r}, fixed = true);"
    states = [start.format(n, x) for n, x in zip(STATES.values(), program.initial, strict=False)]
    return {
        "parameters": _parameters(program.parameters, '  parameter Real {} = {} "+- {}";', repr),
        "states_declared": "\n".join(states),
        "inputs": "\n".join(lines),
        "equations": "\n".join(equations),
        "interval": repr((program.stop - program.start) / ROWS),
    }


def _sides(program: Program, dialect: Dialect, row: str, vanishing: str, slope: str) -> dict[str, str]:
    """Return the derivatives, or the residual that vanishes, one row for each part of the state."""
    if program.rhs is not None:
        rhs = write(program.rhs, dialect)
        rows = [row.format(1, rhs)] if program.order == 1 else [row.format(1, "v"), row.format(2, rhs)]
        return {"derivatives": "\n".join(rows)}
    highest = ("u'", "u''")[program.order - 1]
    names = {**dialect.names, highest: slope.format(program.order)}
    residual = write(program.residual, _renamed(dialect, names))
    rows = [vanishing.format(program.order, residual)]
    if program.order == 2:
        rows.insert(0, vanishing.format(1, f"{slope.format(1)} - v"))
    return {"residual": "\n".join(rows)}


def _with_inputs(dialect: Dialect, program: Program, more: dict[str, str] | None = None) -> Dialect:
    """Return `dialect` with the names of the program's inputs: calls, or variables where those are usual."""
    inputs = {known.name: dialect.input.format(_function(known)) for known in program.inputs}
    return _renamed(dialect, {**dialect.names, **inputs, **(more or {})})


def _renamed(dialect: Dialect, names: dict[str, str]) -> Dialect:
    return replace(dialect, names=names)


def _function(known: Known) -> str:
    return "force" if known.name == "F" else "input_" + "".join(c if c.isascii() else "_" for c in known.name)


def _formulas(program: Program) -> list[Node]:
    return [known.formula for known in program.inputs if known.formula is not None]


def _parameters(parameters: Sequence[Parameter], form: str, number: Callable[[float], str]) -> str:
    errors = [f"{p.error:.2g}" if np.isfinite(p.error) else "unknown" for p in parameters]
    return "\n".join(form.format(p.name, number(p.value), e) for p, e in zip(parameters, errors, strict=True))


def _list(values: Float, left: str, right: str, indent: int = 4, end: str = "") -> str:
    """Return numbers as a list over as many lines as it takes."""
    lines, line = [], ""
    for text in (repr(float(x)) for x in values):
        if line and len(line) + len(text) > LINE:
            lines.append(line.rstrip() + end)
            line = ""
        line += f"{text}, "
    lines.append(line.removesuffix(", "))
    return left + ("\n" + " " * indent).join(lines) + right


def _rows(table: Float, left: str, right: str, indent: int = 4) -> str:
    rows = [left + ", ".join(repr(float(x)) for x in row) + right for row in np.asarray(table)]
    return ",\n".join(" " * indent + row for row in rows)


def _float(value: float) -> str:
    return repr(float(value))  # 2 is an integer in C, 2.0 is not


def _pow(base: str, exponent: str) -> str:
    return f"({base}*{base})" if exponent == "2" and base.isidentifier() else f"pow({base}, {exponent})"


_C_TABLE = """\
    int low = 0, high = {last};
    double x;
    while (high - low > 1) {{
        const int middle = (low + high) / 2;
        if ({name}_knots[middle] <= t) low = middle; else high = middle;
    }}
    x = t - {name}_knots[low];
    return (({name}_pieces[low][0] * x + {name}_pieces[low][1]) * x + {name}_pieces[low][2]) * x
        + {name}_pieces[low][3];"""

_JULIA_TABLE = """\
"The known input {known}: a cubic between each two knots."
function {name}(t)
    i = clamp(searchsortedlast({name}_knots, t), 1, length({name}_knots) - 1)
    return evalpoly(t - {name}_knots[i], reverse({name}_pieces[i]))
end"""

_MODELICA_TABLE = """\
  function {name}_table "a cubic between each two knots"
    input Real t;
    output Real y;
  protected
    constant Real knots[{n}] = {knots};
    constant Real pieces[{n}, 4] = {{
{pieces}
    }};
    Integer low;
    Integer high;
    Integer middle;
    Real x;
  algorithm
    low := 1;
    high := {n};
    while high - low > 1 loop
      middle := div(low + high, 2);
      if knots[middle] <= t then
        low := middle;
      else
        high := middle;
      end if;
    end while;
    x := t - knots[low];
    y := ((pieces[low, 1]*x + pieces[low, 2])*x + pieces[low, 3])*x + pieces[low, 4];
  end {name}_table;"""

_PYTHON = Dialect(names=STATES, prefix="np.", power="{}**{}".format)
_C = Dialect(names=STATES, functions={"abs": "fabs"}, power=_pow, number=_float)
_JULIA = Dialect(names=STATES)
_MATLAB = Dialect(names=STATES, input="{}")
_MODELICA = Dialect(names={**STATES, "t": "time"}, input="{}")

PYTHON = Language(suffix=".py", dialect=_PYTHON, fields=_python, implicit=False)
C = Language(suffix=".c", dialect=_C, fields=_c, implicit=False)
JULIA = Language(suffix=".jl", dialect=_JULIA, fields=_julia, implicit=True)
MATLAB = Language(suffix=".m", dialect=_MATLAB, fields=_matlab, implicit=True)
MODELICA = Language(suffix=".mo", dialect=_MODELICA, fields=_modelica, implicit=True)
