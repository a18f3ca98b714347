"""The contents of an exported program, and text pieces that all languages share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import count
from string import Template
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery
from gode.equation import Equation, Node, Term
from gode.equation.printer import display_order
from gode.equation.skeleton import term_node
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.equation.tree import add, mul, replace_constants, var
from gode.errors import DataError
from gode.solve import Interpolation, Signal
from gode.solve.signals import make_signals, split_formulas

LINE = 100  # characters of a row of numbers
ROWS = 200  # of the table a program prints
MIN_STEPS, MAX_STEPS = 2_000, 1_000_000
STEPS_PER_TIME_CONSTANT = 50  # of a classical Runge-Kutta method: errors about 1e-7


class Parameter(NamedTuple):
    """A constant of the program, with its standard error."""

    name: str
    value: float
    error: float


@dataclass(frozen=True)
class Known:
    """A known input: a formula in t, or a cubic on each piece between knots, highest power first."""

    name: str
    formula: Node | None
    knots: Float
    pieces: Float  # (knots, 4)

    @property
    def kind(self) -> Interpolation:
        """The interpolation between samples; cubic for a formula."""
        if self.formula is not None or self.pieces[:, :2].any():
            return Interpolation.CUBIC
        return Interpolation.LINEAR if self.pieces[:, 2].any() else Interpolation.HOLD

    @property
    def jumps(self) -> Float:
        """The times at which it jumps."""
        held = self.formula is None and self.kind is Interpolation.HOLD
        return self.knots[1:][np.diff(self.pieces[:, 3]) != 0] if held else np.empty(0)


@dataclass(frozen=True)
class Program:
    """An equation with named parameters, its initial values, inputs and times."""

    title: str
    order: int
    parameters: tuple[Parameter, ...]
    rhs: Node | None  # right-hand side; None if the highest derivative cannot be isolated
    residual: Node
    inputs: tuple[Known, ...]
    initial: tuple[float, ...]
    slope: float  # the highest derivative at the start
    start: float
    stop: float
    scale: float  # size of u
    longest: float  # step of a Runge-Kutta method

    @property
    def jumps(self) -> Float:
        """The times at which an input jumps."""
        return np.unique(np.concatenate([np.empty(0), *(known.jumps for known in self.inputs)]))


def make_program(discovery: Discovery, run: int) -> Program:
    """Return the contents of a program that simulates one run.

    Raises:
        DataError: if there is no such run.
    """
    runs = discovery.prepared.dataset.runs
    if not 0 <= run < len(runs):
        raise DataError(f"run must be a number from 0 to {len(runs) - 1}, got {run}")
    best, data = discovery.candidates[0], runs[run]
    equation, skeleton = best.single, best.single.skeleton
    terms = skeleton.rhs_terms
    rhs, parameters = (None, ()) if terms is None else _named(terms, equation, best.errors)
    residual, others = _named(skeleton.terms, equation, best.errors)
    solved = discovery.simulate(run=run)
    return Program(
        title=equation.text(6),
        order=skeleton.order,
        parameters=others if rhs is None else parameters,
        rhs=rhs,
        residual=residual,
        inputs=_inputs(skeleton.inputs, dict(data.signals), data.t),
        initial=tuple(float(x) for x in best.initial[run]),
        slope=float((solved.du, solved.d2u)[skeleton.order - 1][0]),
        start=float(data.t[0]),
        stop=float(data.t[-1]),
        scale=float(np.nanmax(np.abs(solved.u))) or 1.0,
        longest=float(data.t[-1] - data.t[0])
        / _steps(equation, np.vstack([data.t, solved.u, solved.du, solved.d2u])),
    )


def _named(terms: Sequence[Term], equation: Equation, errors: Float) -> tuple[Node, tuple[Parameter, ...]]:
    """Return the sum of terms with named parameters c1, c2, ... for its constants."""
    parameters: list[Parameter] = []
    numbers = count(1)

    def named(i: int, factor: float) -> Node:
        name = f"c{next(numbers)}"
        parameters.append(Parameter(name, factor * equation.constants[i], abs(factor) * float(errors[i])))
        return var(name)

    nodes = []
    for term in sorted(terms, key=lambda term: display_order(term.body)):  # as printed
        own = None if term.constant is None else named(term.constant, term.multiplier)
        body = replace_constants(term.body, lambda i: named(i, 1.0))
        nodes.append(mul(own, body) if own else term_node(Term(term.multiplier, None, body)))
    return add(*nodes), tuple(parameters)


def _inputs(names: tuple[str, ...], given: Mapping[str, Signal], t: Float) -> tuple[Known, ...]:
    sampled, formulas = split_formulas(names, given)
    nothing = np.empty(0), np.empty((0, 4))
    out = [Known(name, formula, *nothing) for name, formula in formulas.items()]
    for name in sampled:
        signal = make_signals([name], given, t, Interpolation.AUTO)
        out.append(Known(name, None, signal.knots, signal.coefficients))
    return tuple(out)


def _steps(equation: Equation, x: Float) -> int:
    """Return the number of fixed steps that resolves the fastest motion."""
    skeleton = equation.skeleton
    x = x[:, np.all(np.isfinite(x[: skeleton.order + 2]), axis=0)]
    x = np.vstack([np.nan_to_num(x), np.zeros((len(skeleton.inputs), x.shape[1]))])
    if skeleton.rhs_terms is None or not x.shape[1]:
        return MIN_STEPS
    tape = compile_tape(skeleton.rhs_terms, (*COLUMNS, *skeleton.inputs), skeleton.n_constants)
    slopes = evaluate(tape, equation.constants, x).in_columns
    fast = np.abs(slopes[1]) if skeleton.order == 1 else np.abs(slopes[2]) + np.sqrt(np.abs(slopes[1]))
    fast = fast[np.isfinite(fast)]
    wanted = (x[0, -1] - x[0, 0]) * float(fast.max(initial=0.0)) * STEPS_PER_TIME_CONSTANT
    return int(min(max(wanted, MIN_STEPS), MAX_STEPS))


def piece(name: str, fields: Mapping[str, str]) -> str:
    """Return the template `name` of a program, or of a part of one, with its fields filled in."""
    template = files("gode.report") / "templates" / f"{name}.txt"
    return Template(template.read_text(encoding="utf-8")).substitute(fields)


def function_name(known: Known) -> str:
    """Return the name of an input in a program."""
    return "force" if known.name == "F" else "input_" + "".join(c if c.isascii() else "_" for c in known.name)


def formulas(program: Program) -> list[Node]:
    """Return the inputs that are formulas."""
    return [known.formula for known in program.inputs if known.formula is not None]


def parameter_lines(parameters: Sequence[Parameter], form: str, number: Callable[[float], str]) -> str:
    """Return the constants with their errors, one per line."""
    errors = [f"{p.error:.2g}" if np.isfinite(p.error) else "unknown" for p in parameters]
    return "\n".join(form.format(p.name, number(p.value), e) for p, e in zip(parameters, errors, strict=True))


def number_list(values: Float, brackets: str, indent: int = 4, end: str = "") -> str:
    """Return a list of numbers between brackets, wrapped to lines."""
    lines, line = [], ""
    for text in (repr(float(x)) for x in values):
        if line and len(line) + len(text) > LINE:
            lines.append(line.rstrip() + end)
            line = ""
        line += f"{text}, "
    lines.append(line.removesuffix(", "))
    return brackets[0] + ("\n" + " " * indent).join(lines) + brackets[1]


def number_rows(table: Float, brackets: str, indent: int = 4) -> str:
    """Return the rows of a table, each between brackets."""
    rows = [brackets[0] + ", ".join(repr(float(x)) for x in row) + brackets[1] for row in np.asarray(table)]
    return ",\n".join(" " * indent + row for row in rows)


def table_fields(known: Known, brackets: str, rows: str, indent: int = 4) -> dict[str, str]:
    """Return the fields of the template for an input given as a table."""
    return {
        "name": function_name(known),
        "known": known.name,
        "n": str(len(known.knots)),
        "last": str(len(known.knots) - 1),
        "knots": number_list(known.knots, brackets, indent),
        "pieces": number_rows(known.pieces, rows, indent),
    }
