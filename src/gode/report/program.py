"""The contents of an exported program, and text pieces that all languages share."""

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from string import Template
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.data import Run
from gode.discovery import Discovery
from gode.discovery.constants import links_of
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Law, Node, Term
from gode.equation.printer import display_order
from gode.equation.system import moving_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import term_node
from gode.equation.tree import (
    add,
    delays,
    mul,
    num,
    number,
    renamed,
    replace_constants,
    replaced,
    var,
    variables,
)
from gode.errors import EquationError
from gode.solve import Interpolation, Signal
from gode.solve.doses import jumps_of
from gode.solve.program import late_states, used_inputs
from gode.solve.signals import earlier, make_signals, split_formulas

SCALAR = {"u": "u", "u'": "v"}  # what a single state and its derivative are called
RATE = "_rate"  # behind the name of a state, for its derivative
CLASHING = re.compile(
    r"_|input_|c\d+$|M_|FP_|SEEK_|EXIT_|HUGE_VAL|FD_|MATH_|W(?:EXIT|NO|STOP|TERM|CONT)|L_"
)  # inputs and constants of a program, and what C reserves
KEYWORDS = (  # of C, Julia, MATLAB, Modelica and R
    "FALSE Inf NA NA_character_ NA_integer_ NA_real_ NaN TRUE next repeat "
    "abs algorithm and annotation array auto baremodule begin block break case catch char class connect "
    "connector const constant constrainedby continue default der discrete do double each else elseif "
    "elsewhen encapsulated end enum enumeration equation expandable export extends extern external false "
    "final finally float flow for function global goto if import impure in initial inner inline input int "
    "let local long loop macro model module mutable not operator or otherwise outer output package "
    "parameter parfor partial persistent primitive protected public pure quote record redeclare register "
    "replaceable restrict return short signed sizeof spmd static stream struct switch then time true try "
    "type typedef union unsigned using void volatile when while within"
)
MACROS = (  # which a compiler of C replaces, or whose functions the programs call
    "BUFSIZ EOF FILENAME_MAX INFINITY NAN NULL RAND_MAX alloca arm errno fabs fprintf hpux i386 isfinite "
    "linux mips pow printf signgam sparc stderr stdin stdout sun unix vax"
)
OWN_WORDS = (
    "INITIAL JUMPS advance dy force given initial joined jumps main np p pi plant r rhs simulate solve_ivp "
    "start stop t time y"
)
TAKEN = {*keyword.kwlist, *KEYWORDS.split(), *MACROS.split(), *OWN_WORDS.split()}


def element_names(columns: Sequence[str]) -> dict[str, str]:
    """Return what the columns of the state vector are called in a program."""
    if {*columns} <= {*SCALAR}:
        return {column: SCALAR[column] for column in columns}
    out: dict[str, str] = {}
    for column in columns:
        name = "".join(c if c.isascii() else "_" for c in column.rstrip("'")) + RATE * column.count("'")
        if name in TAKEN or CLASHING.match(name):
            name = f"state_{name}"
        while name in out.values():
            name += "_"
        out[column] = name
    return out


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
    since: float = -np.inf  # before this time, that of the second knot, a late input is as at its start

    @property
    def samples(self) -> tuple[Float, Float]:
        """The times and values of its samples."""
        first = int(np.isfinite(self.since))
        return self.knots[first:], self.pieces[first:, 3]

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
class Part:
    """The equation of one state: its trees are in display names."""

    state: str
    order: int
    rhs: Node | None  # right-hand side; None if the highest derivatives cannot be isolated
    residual: Node

    @property
    def columns(self) -> list[str]:
        """The columns of its part of the state vector: u, and u' for second order."""
        return [self.state + "'" * k for k in range(self.order)]

    @property
    def highest(self) -> str:
        """The column of the highest derivative."""
        return self.state + "'" * self.order


@dataclass(frozen=True)
class Program:
    """A law with named parameters, its initial values, inputs and times."""

    title: str
    parts: tuple[Part, ...]
    names: Mapping[str, str]  # of the columns of the state vector in a program, in their order
    parameters: tuple[Parameter, ...]
    inputs: tuple[Known, ...]
    doses: tuple[
        tuple[float, int, float, float], ...
    ]  # time, entry of the state, added to it and to its rate
    initial: tuple[float, ...]
    slopes: tuple[float, ...]  # the derivative of the state vector at the start
    start: float
    stop: float
    scale: float  # size of the states
    longest: float  # step of a Runge-Kutta method

    @property
    def explicit(self) -> bool:
        """Whether all highest derivatives are isolated."""
        return all(part.rhs is not None for part in self.parts)

    @property
    def trees(self) -> list[Node]:
        """What the program computes: right-hand sides, or residuals."""
        return [part.residual if part.rhs is None else part.rhs for part in self.parts]

    @property
    def order(self) -> int:
        """The dimension of the state vector."""
        return len(self.names)

    @property
    def undosed(self) -> str:
        """What the title of a program says that does not give the doses of the data."""
        return "; doses of the data are not in this program" if self.doses else ""

    @property
    def jumps(self) -> Float:
        """The times at which an input jumps."""
        return np.unique(np.concatenate([np.empty(0), *(known.jumps for known in self.inputs)]))


def make_program(discovery: Discovery, chosen: int | str | None) -> Program:
    """Return the contents of a program that simulates one run, or the mean of runs with their own constants.

    Raises:
        DataError: if there is no such run.
    """
    best, dataset = discovery.candidates[0], discovery.prepared.dataset
    run = 0 if chosen is None else dataset.number_of(chosen)
    if chosen is None:
        best = replace(best, own=None)
    data, whole, errors = dataset.runs[run], best.law_of(run), best.errors_of(run)
    law = moving_law(whole)
    if late_states(law.skeleton):
        raise EquationError(f"{'; '.join(law.lines(6))} has a delayed state, which no program has yet")
    orders = law.skeleton.orders
    explicit = _is_explicit(law)
    residuals, parameters = _named(law, errors, explicit=False)
    sides: Sequence[Node | None] = [None] * len(orders)
    if explicit:
        sides, parameters = _named(law, errors, explicit=True)
    late = _late_inputs([*residuals, *(side for side in sides if side is not None)], parameters)
    columns = {each.node: var(each.name) for each in late}
    residuals = [replaced(tree, columns) for tree in residuals]
    sides = [None if side is None else replaced(side, columns) for side in sides]
    used = {name for tree in (*residuals, *(side for side in sides if side)) for name in variables(tree)}
    parameters = tuple(p for p in parameters if p.name in used)
    names = [name for name in used_inputs(law.skeleton) if name in used]
    known = _inputs(tuple(names), dict(data.signals), data.t)
    known += tuple(_later(each, dict(data.signals), data.t) for each in late)
    states = zip(law.states, orders, sides, residuals, strict=True)
    parts = tuple(Part(*each) for each in states)
    solved = simulate(best, discovery.prepared, Scenario(data.t, run=run))
    values = solved.values[: 3 * len(orders)]
    rows = [3 * s + k + 1 for s, order in enumerate(orders) for k in range(order)]
    return Program(
        title="; ".join([*whole.lines(6), *_renamed(law), *map(str, late), *_left_out(law, whole)]),
        parts=parts,
        names=element_names([column for part in parts for column in part.columns]),
        parameters=parameters,
        inputs=known,
        doses=_doses(data, law),
        initial=tuple(float(x) for x in best.initial[run]),
        slopes=tuple(values[rows, 0].tolist()),
        start=float(data.t[0]),
        stop=float(data.t[-1]),
        scale=float(np.nanmax(np.abs(values[::3]))) or 1.0,
        longest=float(data.t[-1] - data.t[0]) / _steps(law, np.vstack([data.t, values]), explicit=explicit),
    )


class LateInput(NamedTuple):
    """An input as it was some time ago, which a program reads as an input of its own."""

    node: Node
    input: str
    name: str
    delay: float
    error: float

    def __str__(self) -> str:
        bar = f" +- {self.error:.2g}" if np.isfinite(self.error) and self.error > 0 else ""
        return f"here input_{self.name} is {self.input}(t - {self.delay:.6g}{bar})"


def _late_inputs(trees: Sequence[Node], parameters: Sequence[Parameter]) -> list[LateInput]:
    """Return the delayed inputs in some trees with named parameters."""
    values = {p.name: (p.value, p.error) for p in parameters}
    out: list[LateInput] = []
    for node in dict.fromkeys(each for tree in trees for each in delays(tree)):
        column, by = node.args
        (name,) = variables(by) or ("",)
        value, error = values.get(name, (0.0, 0.0))
        factor = number(by) if by.op == "num" else _factor(by)
        delay = factor if by.op == "num" else factor * value
        n = sum(each.input == column.value for each in out)
        called = f"{column.value}_late{n + 1 if n else ''}"
        out.append(LateInput(node, str(column.value), called, delay, abs(factor) * error if name else 0.0))
    return out


def _factor(node: Node) -> float:
    """Return the number before a parameter."""
    return float(np.prod([number(arg) for arg in node.args if arg.op == "num"])) if node.op == "*" else 1.0


def _later(late: LateInput, given: Mapping[str, Signal], t: Float) -> Known:
    """Return a late input of the data; before it was known, an input was as at its start."""
    (known,) = _inputs((late.input,), given, t)
    if known.formula is not None:
        return Known(late.name, earlier(known.formula, num(late.delay)), known.knots, known.pieces)
    first = np.array([0.0, 0.0, 0.0, known.pieces[0, 3]])
    knots = np.append(known.knots[0], known.knots + late.delay)
    return Known(late.name, None, knots, np.vstack([first, known.pieces]), float(knots[1]))


def _left_out(law: Law, whole: Law) -> list[str]:
    """Return what of a law the program does not have."""
    return ["formulas of what is measured are not in this program"] if law is not whole else []


def _doses(data: Run, law: Law) -> tuple[tuple[float, int, float, float], ...]:
    """Return what doses add to entries of the state vector, and to their derivatives from then on."""
    orders = law.skeleton.orders
    jumps = jumps_of(data.doses, law.states, orders, data.t)
    tops = np.cumsum(orders) - 1
    entries = np.where(jumps.rate != 0, tops[jumps.equation], jumps.entry)
    columns = (jumps.t, entries, jumps.amount, jumps.rate)
    return tuple(zip(*(column.tolist() for column in columns), strict=True))


def _renamed(law: Law) -> list[str]:
    """Return what columns are called in the program, where the equation calls them otherwise."""
    called = law.skeleton.called.items() if law.states == ("u",) else ()
    names = {name: "force" if name == "F" else f"input_{name}" for name in law.skeleton.inputs}
    return [f"here {names.get(name, name)} is {other}" for name, other in called]


def _is_explicit(law: Law) -> bool:
    """Tell whether each highest derivative is isolated, and stands in no other equation."""
    skeleton = law.skeleton
    tops = [1 + 3 * s + order for s, order in enumerate(skeleton.orders)]
    if not skeleton.explicit:
        return False
    for own, part in enumerate(skeleton.parts):
        others = {skeleton.seen(own)[column] for s, column in enumerate(tops) if s != own}
        if others & variables(part.normal):
            return False
    return True


def _named(law: Law, errors: Float, *, explicit: bool) -> tuple[list[Node], tuple[Parameter, ...]]:
    """Return the right-hand side or the residual of each state, with named parameters c1, c2, ...

    A constant that equations share is one parameter.
    """
    parameters: list[Parameter] = []
    known: dict[int, tuple[str, float]] = {}  # free constant -> name, factor in the value of the parameter
    trees = []

    def named(own: int, i: int, factor: float) -> Node:
        place, link = links[own][i]
        factor *= link
        if place < 0:
            return num(factor)
        if place not in known:
            known[place] = f"c{len(known) + 1}", factor
            value, error = factor * law.constants[place], abs(factor) * float(errors[place])
            parameters.append(Parameter(known[place][0], value, error))
        name, first = known[place]
        return mul(num(factor / first), var(name))

    links = links_of(law)
    for own, part in enumerate(law.skeleton.parts):
        nodes = []
        terms = part.rhs_terms if explicit else part.terms
        for term in sorted(terms or (), key=lambda term: display_order(term.body)):  # as printed
            front = None if term.constant is None else named(own, term.constant, term.multiplier)
            body = replace_constants(term.body, lambda i, own=own: named(own, i, 1.0))  # type: ignore[misc]
            nodes.append(mul(front, body) if front else term_node(Term(term.multiplier, None, body)))
        trees.append(renamed(add(*nodes), law.skeleton.columns(own)))
    return trees, tuple(parameters)


def _inputs(names: tuple[str, ...], given: Mapping[str, Signal], t: Float) -> tuple[Known, ...]:
    sampled, formulas = split_formulas(names, given)
    nothing = np.empty(0), np.empty((0, 4))
    out = [Known(name, formula, *nothing) for name, formula in formulas.items()]
    for name in sampled:
        signal = make_signals([name], given, t, Interpolation.AUTO)
        out.append(Known(name, None, signal.knots, signal.coefficients))
    return tuple(out)


def _steps(law: Law, x: Float, *, explicit: bool) -> int:
    """Return the number of fixed steps that resolves the fastest motion along `x`: t, then all channels."""
    skeleton = law.skeleton
    needed = [0, *(1 + 3 * s + k for s, order in enumerate(skeleton.orders) for k in range(order + 1))]
    x = x[:, np.all(np.isfinite(x[needed]), axis=0)]
    x = np.vstack([np.nan_to_num(x), np.zeros((len(skeleton.inputs), x.shape[1]))])
    if not explicit or not x.shape[1]:
        return MIN_STEPS
    fast = _rates(law, x)
    fast = fast[np.isfinite(fast)]
    wanted = (x[0, -1] - x[0, 0]) * float(fast.max(initial=0.0)) * STEPS_PER_TIME_CONSTANT
    return int(min(max(wanted, MIN_STEPS), MAX_STEPS))


def _rates(law: Law, x: Float) -> Float:
    """Return the rate (n,) of the fastest motion at each of the columns `x`."""
    skeleton, orders = law.skeleton, law.skeleton.orders
    slopes = []
    for own, (part, equation) in enumerate(zip(skeleton.parts, law.equations, strict=True)):
        tape = compile_tape(part.rhs_terms or (), skeleton.seen(own), part.n_constants)
        slopes.append(evaluate(tape, equation.constants, x).in_columns)
    if orders == (1,):
        return np.asarray(np.abs(slopes[0][1]))
    if orders == (2,):
        return np.asarray(np.abs(slopes[0][2]) + np.sqrt(np.abs(slopes[0][1])))
    lower = [1 + 3 * s + k for s, order in enumerate(orders) for k in range(order)]
    motion = np.zeros((x.shape[1], len(lower), len(lower)))
    row = 0
    for own, order in enumerate(orders):
        motion[:, row : row + order - 1, row + 1 : row + order] = np.eye(order - 1)
        row += order
        motion[:, row - 1] = slopes[own][lower].T
    sound = np.isfinite(motion).all(axis=(1, 2))
    return np.asarray(np.abs(np.linalg.eigvals(motion[sound])).max(axis=1, initial=0.0))


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
