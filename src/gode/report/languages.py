"""The pieces of a program in each language: parameters, inputs, derivatives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from gode.data import Interpolation
from gode.equation.operators import Function
from gode.equation.printer import Dialect, write
from gode.equation.tree import variables, walk
from gode.report.program import (
    ROWS,
    Known,
    Program,
    formulas,
    function_name,
    number_list,
    parameter_lines,
    piece,
    table_fields,
)

STATES = {"u": "u", "u'": "v"}  # the names of the state's parts in every language
JOINED = {
    Interpolation.HOLD: "held until the next",
    Interpolation.LINEAR: "joined by lines",
    Interpolation.CUBIC: "joined by a cubic spline",
}
Fields = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language: how it writes expressions, and the pieces that its template asks for."""

    suffix: str
    dialect: Dialect
    fields: Callable[[Program, Mapping[str, str]], Fields]  # from those that all languages share
    implicit: bool  # whether it can solve residuals


def _python(program: Program, shared: Mapping[str, str]) -> Fields:
    assert program.rhs is not None
    dialect = _with_inputs(_PYTHON, program, "{}(t)")
    names = [function_name(known) for known in program.inputs]
    kind = program.inputs[0].kind if names else Interpolation.CUBIC
    lines = _PYTHON_JOINED[kind].splitlines() if names else []
    for known, name in zip(program.inputs, names, strict=True):
        if known.formula is None:
            rows = [number_list(values, "[]") for values in (known.knots, known.pieces[:, 3])]
            lines += ["", "", f"_{name} = joined(", *(f"    {row}," for row in rows), ")"]
        value = f"_{name}(t)" if known.formula is None else write(known.formula, dialect)
        about = f'    """The known input {known.name}."""'
        lines += ["", "", f"def {name}(t):", about, f"    return {value}"]
    ports = "".join(f", {name}={name}" for name in names)
    read = "    if not callable({0}):\n        {0}, jumps = joined(t, np.asarray({0}, float)), t"
    driven = {
        "ports": ports,
        "names": " and ".join(f"`{name}`" for name in names),
        "joined": JOINED[kind],
        "read": "\n".join(read.format(name) for name in names),
        "passed": "".join(f", {name}" for name in names),
    }
    makes = {Interpolation.HOLD: "PPoly", Interpolation.CUBIC: "CubicSpline"}
    needed = f"from scipy.interpolate import {makes[kind]}" if names and kind in makes else ""
    rhs = write(program.rhs, dialect)
    return {
        "imports": needed,
        "parameters": parameter_lines(program.parameters, "{} = {}  # ± {}", repr),
        "jumps": f"JUMPS = {number_list(program.jumps, '[]')}  # of an input, in time" if names else "",
        "inputs": "\n".join(["", *lines, "", ""]),
        "ports": ports,
        "unpack": "u, v" if program.order == 2 else "(u,)",
        "derivatives": f"v, {rhs}" if program.order == 2 else rhs,
        "solving": piece("python-driven" if names else "python-free", {**shared, **driven}),
    }


def _c(program: Program, shared: Mapping[str, str]) -> Fields:
    assert program.rhs is not None
    dialect, names = _with_inputs(_C, program, "{}"), [function_name(known) for known in program.inputs]
    lines = [piece("c-ports", {})] if names else []
    if "sign" in {node.op for tree in (program.rhs, *formulas(program)) for node in walk(tree)}:
        lines += ["static double sign(double x)\n{\n    return (x > 0) - (x < 0);\n}\n"]
    for known in program.inputs:
        if known.formula is None:
            lines += [piece("c-table", table_fields(known, "{}", "{}"))]
        else:
            given = {"name": function_name(known), "known": known.name}
            lines += [piece("c-formula", {**given, "formula": write(known.formula, dialect)})]
    jumps = {"n_jumps": str(len(program.jumps)), "jumps": number_list(program.jumps, "{}")}
    lines += [piece("c-jumps", jumps)] if len(program.jumps) else []
    rhs, used = write(program.rhs, dialect), [name for name in STATES if name in variables(program.rhs)]
    rows = [f"    dy[0] = {rhs};"] if program.order == 1 else ["    dy[0] = y[1];", f"    dy[1] = {rhs};"]
    unused = [f"    (void){name};" for name in names]
    return {
        "parameters": parameter_lines(program.parameters, "static const double {} = {}; /* +- {} */", _float),
        "about": "\n   Inputs are arguments of `advance`: those of the data, or others." if names else "",
        "inputs": "\n".join(lines),
        "given": ", with the values of the inputs" if names else "",
        "values": "".join(f", double {name}" for name in names),
        "own": "".join(f", {name}, NULL" for name in names),
        "unpack": "\n".join([*(f"    const double {STATES[n]} = y[{len(n) - 1}];" for n in used), *unused]),
        "derivatives": "\n".join(rows),
        "solving": piece("c-steps", {**shared, **_c_steps(names, jumping=bool(len(program.jumps)))}),
    }


def _c_steps(names: list[str], *, jumping: bool) -> Fields:
    """Return the fields of the steps: how each input is passed on, and read within a step."""
    read = {
        "at_start": "t",
        "at_middle": "t + 0.5 * h",
        "at_end": "(t + h < last ? t + h : last - 1e-9 * h)",
    }
    last = ", double last" if names else ""
    ports = "".join(f", signal *{name}, const void *{name}_data" for name in names)
    return {
        **{k: "".join(f", {name}({when}, {name}_data)" for name in names) for k, when in read.items()},
        "reading": "Inputs are read before `last`, where one may jump." if names else "",
        "ports": ports,
        "until": last,
        "passed": ("".join([", end", *(f", {name}, {name}_data" for name in names)])) if names else "",
        "by_jumps": "; no step goes over a jump" if jumping else "",
        "end_of_piece": "next_jump(from, to)" if jumping else "to",
    }


def _julia(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect = _with_inputs(_JULIA, program, "{}(t)")
    names = [function_name(known) for known in program.inputs]
    lines = []
    for known in program.inputs:
        if known.formula is None:
            lines += [piece("julia-table", table_fields(known, "[]", "()"))]
        else:
            value = write(known.formula, dialect)
            lines += [f'"The known input {known.name}."', f"{function_name(known)}(t) = {value}", ""]
    fields = _sides(program, dialect, "    dy[{}] = {}", "    r[{}] = {}", "dy[{}]")
    unpack = ["    u = y[1]" if program.order == 1 else "    u, v = y[1], y[2]"]
    unpack += [f"    {names[0]} = p"] if names else []
    kind = "hold" if names and program.inputs[0].kind is Interpolation.HOLD else "linear"
    driven = {"name": "".join(names), "joined": JOINED[Interpolation(kind)], "join": _JULIA_JOINED[kind]}
    return {
        **fields,
        "parameters": parameter_lines(program.parameters, "const {} = {}  # ± {}", repr),
        "parameter": f", {names[0]}" if names else "",
        "stops": "; tstops = jumps" if names else "",
        "given": f"; p is the input {names[0]}" if names else "",
        "jumps": number_list(program.jumps, "[]") if len(program.jumps) else "Float64[]",
        "inputs": "\n".join(lines),
        "unpack": "\n".join(unpack),
        "solving": piece("julia-driven" if names else "julia-free", driven),
    }


def _matlab(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect = _with_inputs(_MATLAB, program, "{}")
    names = [function_name(known) for known in program.inputs]
    place = 3 if program.rhs is not None else 4
    jumps = number_list(program.jumps, "[]", 6, " ...")
    lines = [f"  jumps = {jumps}';  % times at which an input of the data jumps"] if names else []
    about = ""
    for i, (known, name) in enumerate(zip(program.inputs, names, strict=True)):
        rows = [number_list(values, "[]", 6, " ...") for values in (known.knots, known.pieces[:, 3])]
        own = f"joined({rows[0]}, ...\n      {rows[1]})"
        own = own if known.formula is None else f"@(t) {write(known.formula, dialect)}"
        lines += [f"  if nargin < {place + i}", f"    {name} = {own};  % the known input {known.name}"]
        lines += [
            f"  elseif isnumeric({name})",
            f"    {name} = joined(t, {name});",
            "    jumps = t(:);",
            "  end",
        ]
        about += f"% {name}, the last argument: a function of time, or samples at t, {JOINED[known.kind]}"
    fields = _sides(program, dialect, "  dy({}, 1) = {};", "  r({}, 1) = {};", "dy({})")
    driven = {**shared, "passed": "".join(f", {name}" for name in names)}
    kind = program.inputs[0].kind if names else Interpolation.CUBIC
    joined = {"joined": JOINED[kind], "pieces": _MATLAB_PIECES[kind]}
    return {
        **fields,
        "parameters": parameter_lines(program.parameters, "  {} = {};  % +- {}", repr),
        "joined": piece("matlab-joined", joined) if names else "",
        "about": about,
        "ports": "".join(f", {name}" for name in names),
        "inputs": "\n".join(lines),
        "values": "\n".join(f"  {name} = {name}(t);" for name in names),
        "unpack": "  u = y(1);" if program.order == 1 else "  u = y(1);\n  v = y(2);",
        "solving": piece("matlab-driven" if names else "matlab-free", driven),
    }


def _modelica(program: Program, shared: Mapping[str, str]) -> Fields:
    highest = "der(u)" if program.order == 1 else "der(v)"
    dialect = _named(_with_inputs(_MODELICA, program, "{}"), {("u'", "u''")[program.order - 1]: highest})
    names = [function_name(known) for known in program.inputs]
    equations = ["  der(u) = v;"] if program.order == 2 else []
    if program.rhs is not None:
        equations += [f"  {highest} = {write(program.rhs, dialect)};"]
    else:
        equations += [f"  {write(program.residual, dialect)} = 0;"]
    start = "  Real {}(start = {!r}, fixed = true);"
    states = list(zip(STATES.values(), program.initial, strict=False))
    driving = [_modelica_input(known, dialect) for known in program.inputs]
    return {
        "parameters": parameter_lines(program.parameters, '  parameter Real {} = {} "+- {}";', repr),
        "states_declared": "\n".join(start.format(*state) for state in states),
        "ports": "\n".join(f'  input Real {name} "any signal";' for name in names),
        "equations": "\n".join(equations),
        "driven": "the plant with the input of the data" if names else "the plant by itself",
        "outputs": "\n".join(f"  Real {name} = plant.{name};" for name, _ in states),
        "inputs": "\n".join(declared for declared, _ in driving),
        "bindings": "\n".join(binding for _, binding in driving),
        "interval": repr((program.stop - program.start) / ROWS),
    }


def _modelica_input(known: Known, dialect: Dialect) -> tuple[str, str]:
    """Return what declares an input of the data, and the equation that feeds it to the plant."""
    name = function_name(known)
    if known.formula is not None:
        return "", f"  plant.{name} = {write(known.formula, dialect)};"
    if known.kind is Interpolation.HOLD:
        fields = {"name": name, "n": str(len(known.knots))}
        fields |= {"knots": number_list(known.knots, "{}"), "values": number_list(known.pieces[:, 3], "{}")}
        return piece("modelica-held", fields), piece("modelica-jumps", fields).rstrip()
    return piece(
        "modelica-table", table_fields(known, "{}", "{}", 6)
    ), f"  plant.{name} = {name}_table(time);"


def _sides(program: Program, dialect: Dialect, row: str, vanishing: str, slope: str) -> Fields:
    """Return the derivatives, or the residual that vanishes, one row for each part of the state."""
    if program.rhs is not None:
        rhs = write(program.rhs, dialect)
        rows = [row.format(1, rhs)] if program.order == 1 else [row.format(1, "v"), row.format(2, rhs)]
        return {"derivatives": "\n".join(rows)}
    highest = ("u'", "u''")[program.order - 1]
    residual = write(program.residual, _named(dialect, {highest: slope.format(program.order)}))
    rows = [vanishing.format(program.order, residual)]
    if program.order == 2:
        rows.insert(0, vanishing.format(1, f"{slope.format(1)} - v"))
    return {"residual": "\n".join(rows)}


def _with_inputs(dialect: Dialect, program: Program, use: str) -> Dialect:
    """Return `dialect` with the program's inputs as it uses them: called, or named as variables."""
    return _named(dialect, {known.name: use.format(function_name(known)) for known in program.inputs})


def _named(dialect: Dialect, names: Mapping[str, str]) -> Dialect:
    return replace(dialect, names={**dialect.names, **names})


def _float(value: float) -> str:
    return repr(float(value))  # 2 is an integer in C, 2.0 is not


def _call(function: Function, argument: str) -> str:
    return f"{function.names.get('c', function.name)}({argument})"


def _pow(base: str, exponent: str) -> str:
    return f"({base}*{base})" if exponent == "2" and base.isidentifier() else f"pow({base}, {exponent})"


_PYTHON_MAKE = {
    Interpolation.HOLD: "PPoly([samples[:-1]], t)",
    Interpolation.LINEAR: "lambda s: np.interp(s, t, samples)",
    Interpolation.CUBIC: "CubicSpline(t, samples)",
}
_PYTHON_JOINED = {
    kind: f'\ndef joined(t, samples):\n    """Return samples as a function of time, {JOINED[kind]}."""\n'
    f"    return {make}"
    for kind, make in _PYTHON_MAKE.items()
}
_JULIA_JOINED = {
    "hold": "s -> samples[clamp(searchsortedlast(t, s), 1, length(t) - 1)]",
    "linear": """function (s)
    i = clamp(searchsortedlast(t, s), 1, length(t) - 1)
    return samples[i] + (samples[i + 1] - samples[i]) * (s - t[i]) / (t[i + 1] - t[i])
end""",
}
_MATLAB_PIECES = {
    Interpolation.HOLD: "mkpp(t, samples(1:end - 1))",
    Interpolation.LINEAR: "mkpp(t, [diff(samples) ./ diff(t), samples(1:end - 1)])",
    Interpolation.CUBIC: "spline(t, samples)",
}

_JULIA = _MATLAB = Dialect(names=STATES, style=repr, inverse=False, code=True)
_PYTHON = replace(_JULIA, call="np.{0.name}({1})".format, power="{}**{}".format)
_C = replace(_JULIA, call=_call, power=_pow, style=_float)
_MODELICA = _named(_JULIA, {"t": "time"})

PYTHON = Language(suffix=".py", dialect=_PYTHON, fields=_python, implicit=False)
C = Language(suffix=".c", dialect=_C, fields=_c, implicit=False)
JULIA = Language(suffix=".jl", dialect=_JULIA, fields=_julia, implicit=True)
MATLAB = Language(suffix=".m", dialect=_MATLAB, fields=_matlab, implicit=True)
MODELICA = Language(suffix=".mo", dialect=_MODELICA, fields=_modelica, implicit=True)
