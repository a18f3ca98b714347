"""How exported programs write expressions, and pieces that several languages share."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gode.data import Interpolation
from gode.equation.operators import Function
from gode.equation.printer import Dialect, write
from gode.equation.tree import var
from gode.report.program import SCALAR, Program, function_name

JOINED = {
    Interpolation.HOLD: "held until the next",
    Interpolation.LINEAR: "joined by lines",
    Interpolation.CUBIC: "joined by a cubic spline",
}

# The name of the function that joins samples, and in Python what it makes of them.
JOIN = {
    Interpolation.HOLD: ("joined_held", "PPoly([samples[:-1]], t)"),
    Interpolation.LINEAR: ("joined_by_lines", "lambda s: np.interp(s, t, samples)"),
    Interpolation.CUBIC: ("joined_by_spline", "CubicSpline(t, samples)"),
}

Fields = dict[str, str]


def sides(program: Program, dialect: Dialect, row: str, vanishing: str, slope: str) -> Fields:
    """Return the derivatives, or the residuals that vanish, one row for each element of the state vector."""
    if program.explicit:
        rows = derivatives(program, dialect)
        return {"derivatives": "\n".join(row.format(i + 1, each) for i, each in enumerate(rows))}
    places = {column: i + 1 for i, column in enumerate(program.names)}
    slopes = {part.highest: slope.format(places[part.columns[-1]]) for part in program.parts}
    out = []
    for part in program.parts:
        first, last = places[part.columns[0]], places[part.columns[-1]]
        if part.order == 2:
            out.append(vanishing.format(first, f"{slope.format(first)} - {program.names[part.columns[1]]}"))
        out.append(vanishing.format(last, write(part.tree, with_more_names(dialect, slopes))))
    return {"residual": "\n".join(out)}


def derivatives(program: Program, dialect: Dialect, vector: Dialect | None = None) -> list[str]:
    """Return the derivative of each element of the state vector; `vector` writes those that are elements."""
    rows = []
    for part in program.parts:
        assert part.rhs is not None
        rows += [write(var(column), vector or dialect) for column in part.columns[1:]]
        rows.append(write(part.rhs, dialect))
    return rows


def with_inputs(dialect: Dialect, program: Program, use: str) -> Dialect:
    """Return `dialect` with the states and what acts as the program uses them: called, or as variables."""
    inputs = {known.name: use.format(function_name(known)) for known in program.inputs}
    late = {each.name: use.format(name) for name, each in program.late.items()}
    return with_more_names(dialect, {**program.names, **inputs, **late})


def with_more_names(dialect: Dialect, names: Mapping[str, str]) -> Dialect:
    """Return `dialect` with other names for some columns."""
    return replace(dialect, names={**dialect.names, **names})


def with_point(value: float) -> str:
    """Return a number as C takes it: 2 is an integer there, 2.0 is not."""
    return repr(float(value))


def _call_in(language: str) -> Callable[[Function, str], str]:
    """Return how a language writes the call of a function."""
    return lambda function, argument: function.call(argument, language)


def _python_call(function: Function, argument: str) -> str:
    own = "python" in function.writing
    return function.call(argument, "python") if own else f"np.{function.name}({argument})"


def _pow(base: str, exponent: str) -> str:
    return f"({base}*{base})" if exponent == "2" and base.isidentifier() else f"pow({base}, {exponent})"


PLAIN = Dialect(names=SCALAR, style=repr, inverse=False, code=True, call=_call_in("julia"))
MATLAB_WRITES = replace(PLAIN, call=_call_in("matlab"))
PYTHON_WRITES = replace(PLAIN, call=_python_call, power="{}**{}".format)
C_WRITES = replace(PLAIN, call=_call_in("c"), power=_pow, style=with_point)
MODELICA_WRITES = with_more_names(replace(PLAIN, call=_call_in("modelica")), {"t": "time"})
