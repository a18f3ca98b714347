"""The pieces of a program in each language: parameters, inputs, derivatives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gode.data import Interpolation
from gode.equation.operators import Function
from gode.equation.printer import Dialect, write
from gode.equation.tree import var, variables, walk
from gode.report import sbml
from gode.report.program import (
    ROWS,
    SCALAR,
    Known,
    Program,
    formulas,
    function_name,
    number_list,
    parameter_lines,
    piece,
    table_fields,
)

JOINED = {
    Interpolation.HOLD: "held until the next",
    Interpolation.LINEAR: "joined by lines",
    Interpolation.CUBIC: "joined by a cubic spline",
}
PYTHON_MAKE = {
    Interpolation.HOLD: "PPoly([samples[:-1]], t)",
    Interpolation.LINEAR: "lambda s: np.interp(s, t, samples)",
    Interpolation.CUBIC: "CubicSpline(t, samples)",
}
PYTHON_JOINED = {
    kind: f'\ndef joined(t, samples):\n    """Return samples as a function of time, {JOINED[kind]}."""\n'
    f"    return {make}"
    for kind, make in PYTHON_MAKE.items()
}
JULIA_JOINED = {
    "hold": "s -> samples[clamp(searchsortedlast(t, s), 1, length(t) - 1)]",
    "linear": """function (s)
    i = clamp(searchsortedlast(t, s), 1, length(t) - 1)
    return samples[i] + (samples[i + 1] - samples[i]) * (s - t[i]) / (t[i + 1] - t[i])
end""",
}
MATLAB_PIECES = {
    Interpolation.HOLD: "mkpp(t, samples(1:end - 1))",
    Interpolation.LINEAR: "mkpp(t, [diff(samples) ./ diff(t), samples(1:end - 1)])",
    Interpolation.CUBIC: "spline(t, samples)",
}
MAKERS = {Interpolation.HOLD: "PPoly", Interpolation.CUBIC: "CubicSpline"}  # of scipy


Fields = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language: how it writes expressions, and the pieces that its template asks for."""

    suffix: str
    dialect: Dialect
    fields: Callable[[Program, Mapping[str, str]], Fields]  # from those that all languages share
    implicit: bool  # whether it can solve residuals
    dosed: bool = False  # whether its programs give the doses of the data, where there are no inputs


def _python(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect = _with_inputs(_PYTHON, program, "{}(t)")
    names = [function_name(known) for known in program.inputs]
    kind = program.inputs[0].kind if names else Interpolation.CUBIC
    lines = PYTHON_JOINED[kind].splitlines() if names else []
    for known, name in zip(program.inputs, names, strict=True):
        if known.formula is None:
            rows = [number_list(values, "[]") for values in known.samples]
            lines += ["", "", f"_{name} = joined(", *(f"    {row}," for row in rows), ")"]
        when = f"np.maximum(t, {known.since!r})" if np.isfinite(known.since) else "t"
        value = f"_{name}({when})" if known.formula is None else write(known.formula, dialect)
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
    needed = f"from scipy.interpolate import {MAKERS[kind]}" if names and kind in MAKERS else ""
    rows = _derivatives(program, dialect)
    many = len(program.parts) > 1
    given = [f"\n    ({t!r}, {entry}, {amount!r}, {rate!r})," for t, entry, amount, rate in program.doses]
    driven["doses"] = "".join(given) + "\n"
    return {
        "imports": needed,
        "parameters": parameter_lines(program.parameters, "{} = {}  # ± {}", repr),
        "jumps": f"JUMPS = {number_list(program.jumps, '[]')}  # of an input, in time" if names else "",
        "inputs": "\n".join(["", *lines, "", ""]),
        "ports": ports,
        "unpack": ", ".join(program.names.values()) if program.order > 1 else "(u,)",
        "derivatives": "".join(f"\n        {row}," for row in rows) + "\n    " if many else ", ".join(rows),
        "solving": piece(
            f"python-{'driven' if names else 'dosed' if given else 'free'}", {**shared, **driven}
        ),
    }


def _c(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect, names = _with_inputs(_C, program, "{}"), [function_name(known) for known in program.inputs]
    lines = [piece("c-ports", {})] if names else []
    if "sign" in {node.op for tree in (*program.trees, *formulas(program)) for node in walk(tree)}:
        lines += ["static double sign(double x)\n{\n    return (x > 0) - (x < 0);\n}\n"]
    for known in program.inputs:
        if known.formula is None:
            lines += [piece("c-table", table_fields(known, "{}", "{}"))]
        else:
            given = {"name": function_name(known), "known": known.name}
            lines += [piece("c-formula", {**given, "formula": write(known.formula, dialect)})]
    jumps = {"n_jumps": str(len(program.jumps)), "jumps": number_list(program.jumps, "{}")}
    lines += [piece("c-jumps", jumps)] if len(program.jumps) else []
    used = {name for tree in program.trees for name in variables(tree)}
    places = {column: i for i, column in enumerate(program.names)}
    vector = replace(dialect, names={**dialect.names, **{c: f"y[{i}]" for c, i in places.items()}})
    rows = [f"    dy[{i}] = {row};" for i, row in enumerate(_derivatives(program, dialect, vector))]
    states = [f"    const double {program.names[c]} = y[{i}];" for c, i in places.items() if c in used]
    unused = [f"    (void){name};" for name in names]
    return {
        "parameters": parameter_lines(program.parameters, "static const double {} = {}; /* +- {} */", _float),
        "about": "\n   Inputs are arguments of `advance`: those of the data, or others." if names else "",
        "inputs": "\n".join(lines),
        "given": ", with the values of the inputs" if names else "",
        "values": "".join(f", double {name}" for name in names),
        "own": "".join(f", {name}, NULL" for name in names),
        "unpack": "\n".join([*states, *unused]),
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
    values = ", ".join(f"y[{i + 1}]" for i in range(program.order))
    unpack = [f"    {', '.join(program.names.values())} = {values}"]
    passed = names[0] if len(names) == 1 else f"({', '.join(names)})"
    unpack += [f"    {passed.strip('()')} = p"] if names else []
    kind = "hold" if names and program.inputs[0].kind is Interpolation.HOLD else "linear"
    read = [f"{name} isa AbstractVector ? joined(t, {name}) : {name}" for name in names]
    driven = {
        "ports": ", ".join(f"{name} = {name}" for name in names),
        "name": " and ".join(names),
        "read": read[0] if len(names) == 1 else f"({', '.join(read)})",
        "sampled": " || ".join(f"{name} isa AbstractVector" for name in names),
        "joined": JOINED[Interpolation(kind)],
        "join": JULIA_JOINED[kind],
    }
    return {
        **fields,
        "parameters": parameter_lines(program.parameters, "const {} = {}  # ± {}", repr),
        "parameter": f", {passed}" if names else "",
        "stops": "; tstops = jumps" if names else "",
        "given": f"; p is the input {passed}" if names else "",
        "jumps": number_list(program.jumps, "[]") if len(program.jumps) else "Float64[]",
        "inputs": "\n".join(lines),
        "unpack": "\n".join(unpack),
        "solving": piece("julia-driven" if names else "julia-free", driven),
    }


def _matlab(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect = _with_inputs(_MATLAB, program, "{}")
    names = [function_name(known) for known in program.inputs]
    place = 3 if program.explicit else 4
    jumps = number_list(program.jumps, "[]", 6, " ...")
    lines = [f"  jumps = {jumps}';  % times at which an input of the data jumps"] if names else []
    about = []
    for i, (known, name) in enumerate(zip(program.inputs, names, strict=True)):
        rows = [number_list(values, "[]", 6, " ...") for values in known.samples]
        own = f"joined({rows[0]}, ...\n      {rows[1]})"
        own = own if known.formula is None else f"@(t) {write(known.formula, dialect)}"
        lines += [f"  if nargin < {place + i}", f"    {name} = {own};  % the known input {known.name}"]
        if np.isfinite(known.since):
            lines.append(f"    {name} = @(s) {name}(max(s, {known.since!r}));")
        lines += [
            f"  elseif isnumeric({name})",
            f"    {name} = joined(t, {name});",
            "    jumps = t(:);",
            "  end",
        ]
        about.append(
            f"% {name}, the last argument: a function of time, or samples at t, {JOINED[known.kind]}"
        )
    fields = _sides(program, dialect, "  dy({}, 1) = {};", "  r({}, 1) = {};", "dy({})")
    driven = {**shared, "passed": "".join(f", {name}" for name in names)}
    kind = program.inputs[0].kind if names else Interpolation.CUBIC
    joined = {"joined": JOINED[kind], "pieces": MATLAB_PIECES[kind]}
    return {
        **fields,
        "parameters": parameter_lines(program.parameters, "  {} = {};  % +- {}", repr),
        "joined": piece("matlab-joined", joined) if names else "",
        "about": "\n".join(about),
        "ports": "".join(f", {name}" for name in names),
        "inputs": "\n".join(lines),
        "values": "\n".join(f"  {name} = {name}(t);" for name in names),
        "unpack": "\n".join(f"  {name} = y({i + 1});" for i, name in enumerate(program.names.values())),
        "solving": piece("matlab-driven" if names else "matlab-free", driven),
    }


def _modelica(program: Program, shared: Mapping[str, str]) -> Fields:
    slopes = {part.highest: f"der({program.names[part.columns[-1]]})" for part in program.parts}
    dialect = _named(_with_inputs(_MODELICA, program, "{}"), slopes)
    names = [function_name(known) for known in program.inputs]
    equations = []
    for part in program.parts:
        own = [program.names[column] for column in part.columns]
        equations += [f"  der({own[0]}) = {own[1]};"] if part.order == 2 else []
        left, right = (
            (part.residual, "0") if part.rhs is None else (var(part.highest), write(part.rhs, dialect))
        )
        equations.append(f"  {write(left, dialect)} = {right};")
    start = "  Real {}(start = {!r}, fixed = true);"
    states = list(zip(program.names.values(), program.initial, strict=True))
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


def _r(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect = _with_inputs(_JULIA, program, "{}")
    names = [function_name(known) for known in program.inputs]
    starts = zip(program.names.values(), program.initial, strict=True)
    unpack = [f"  {name} <- y[[{i + 1}]]" for i, name in enumerate(program.names.values())]
    unpack += [f"  {name} <- given$inputs${name}(min(t, given$until))" for name in names]
    return {
        "parameters": parameter_lines(program.parameters, "{} <- {}  # +- {}", repr),
        "given": ", with the inputs among its parameters" if names else "",
        "named_initial": ", ".join(f"{name} = {value!r}" for name, value in starts),
        "jumps": f"c{number_list(program.jumps, '()')}",
        "inputs": "\n".join(_r_input(known, dialect) for known in program.inputs),
        "known": ", ".join(f"{name} = {name}" for name in names),
        "unpack": "\n".join(unpack),
        "derivatives": ",\n".join(f"    {row}" for row in _derivatives(program, dialect)),
    }


def _r_input(known: Known, dialect: Dialect) -> str:
    """Return an input of the data as a function of time in R."""
    name = function_name(known)
    if known.formula is not None:
        return f"# The known input {known.name}.\n{name} <- function(t) {write(known.formula, dialect)}\n"
    rows = ",\n".join(f"    {', '.join(map(repr, row))}" for row in known.pieces.tolist())
    last = str(max(len(known.knots) - 1, 1))
    return piece("r-table", {**table_fields(known, "()", "()"), "pieces": rows, "last": last})


def _rxode2(program: Program, shared: Mapping[str, str]) -> Fields:
    dialect = replace(_with_inputs(_JULIA, program, "{}"), call=_rxode2_call)
    slopes = zip(program.names.values(), _derivatives(program, dialect), strict=True)
    starts = zip(program.names.values(), program.initial, strict=True)
    sampled = [known for known in program.inputs if known.formula is None]
    given = [(function_name(known), known.formula) for known in program.inputs if known.formula is not None]
    names = [function_name(known) for known in sampled]
    held = all(known.kind is Interpolation.HOLD for known in sampled)
    return {
        "parameters": parameter_lines(program.parameters, "  {} <- {}  # +- {}", repr),
        "formulas": "\n".join(f"  {name} <- {write(formula, dialect)}" for name, formula in given),
        "derivatives": "\n".join(f"  d/dt({name}) <- {slope}" for name, slope in slopes),
        "starts": "\n".join(f"  {name}(0) <- {value!r}" for name, value in starts),
        "inputs": "\n".join(_r_input(known, dialect) for known in sampled),
        "knots": "".join(f", environment({name})$knots" for name in names),
        "covariates": "\n".join(f"events${name} <- sapply(events$time, {name})" for name in names),
        "joined": "locf" if sampled and held else "linear",
    }


def _rxode2_call(function: Function, argument: str) -> str:
    if function.name == "sign":
        return f"(({argument} > 0) - ({argument} < 0))"
    return function.call(argument, "julia")


def _sides(program: Program, dialect: Dialect, row: str, vanishing: str, slope: str) -> Fields:
    """Return the derivatives, or the residuals that vanish, one row for each element of the state vector."""
    if program.explicit:
        rows = _derivatives(program, dialect)
        return {"derivatives": "\n".join(row.format(i + 1, each) for i, each in enumerate(rows))}
    places = {column: i + 1 for i, column in enumerate(program.names)}
    slopes = {part.highest: slope.format(places[part.columns[-1]]) for part in program.parts}
    out = []
    for part in program.parts:
        first, last = places[part.columns[0]], places[part.columns[-1]]
        if part.order == 2:
            out.append(vanishing.format(first, f"{slope.format(first)} - {program.names[part.columns[1]]}"))
        out.append(vanishing.format(last, write(part.residual, _named(dialect, slopes))))
    return {"residual": "\n".join(out)}


def _derivatives(program: Program, dialect: Dialect, vector: Dialect | None = None) -> list[str]:
    """Return the derivative of each element of the state vector; `vector` writes those that are elements."""
    rows = []
    for part in program.parts:
        assert part.rhs is not None
        rows += [write(var(column), vector or dialect) for column in part.columns[1:]]
        rows.append(write(part.rhs, dialect))
    return rows


def _with_inputs(dialect: Dialect, program: Program, use: str) -> Dialect:
    """Return `dialect` with the states and inputs as the program uses them: called, or as variables."""
    inputs = {known.name: use.format(function_name(known)) for known in program.inputs}
    return _named(dialect, {**program.names, **inputs})


def _named(dialect: Dialect, names: Mapping[str, str]) -> Dialect:
    return replace(dialect, names={**dialect.names, **names})


def _float(value: float) -> str:
    return repr(float(value))  # 2 is an integer in C, 2.0 is not


def _call_in(language: str) -> Callable[[Function, str], str]:
    """Return how a language writes the call of a function."""
    return lambda function, argument: function.call(argument, language)


def _python_call(function: Function, argument: str) -> str:
    own = "python" in function.writing
    return function.call(argument, "python") if own else f"np.{function.name}({argument})"


def _pow(base: str, exponent: str) -> str:
    return f"({base}*{base})" if exponent == "2" and base.isidentifier() else f"pow({base}, {exponent})"


_JULIA = Dialect(names=SCALAR, style=repr, inverse=False, code=True, call=_call_in("julia"))
_MATLAB = replace(_JULIA, call=_call_in("matlab"))
_PYTHON = replace(_JULIA, call=_python_call, power="{}**{}".format)
_C = replace(_JULIA, call=_call_in("c"), power=_pow, style=_float)
_MODELICA = _named(replace(_JULIA, call=_call_in("modelica")), {"t": "time"})

PYTHON = Language(suffix=".py", dialect=_PYTHON, fields=_python, implicit=False, dosed=True)
C = Language(suffix=".c", dialect=_C, fields=_c, implicit=False)
JULIA = Language(suffix=".jl", dialect=_JULIA, fields=_julia, implicit=True)
MATLAB = Language(suffix=".m", dialect=_MATLAB, fields=_matlab, implicit=True)
MODELICA = Language(suffix=".mo", dialect=_MODELICA, fields=_modelica, implicit=True)
R = Language(suffix=".R", dialect=_JULIA, fields=_r, implicit=False)
RXODE2 = Language(suffix=".R", dialect=_JULIA, fields=_rxode2, implicit=False)
SBML = Language(suffix=".xml", dialect=_JULIA, fields=sbml.fields, implicit=False)
SBML_WITH_STARTS = replace(SBML, fields=sbml.fields_with_starts)
