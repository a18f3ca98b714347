"""The contents of an exported program, and text pieces that all languages share."""

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from string import Template

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery
from gode.discovery.reported_constants import links_of
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Law, Node, Term
from gode.equation.printer import display_order
from gode.equation.system import moving_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import term_node
from gode.equation.tree import add, mul, num, renamed, replace_constants, replaced, var, variables
from gode.report.drives import (
    MAX_STEPS,
    Given,
    Known,
    Late,
    Parameter,
    check_delays,
    dose_column,
    dosing_of,
    known_inputs,
    late_columns,
    late_input,
    same_time,
    stops_of,
)
from gode.solve.program import used_inputs

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
    "DOSES INITIAL JUMPS advance delay delays doses dy edges force give given initial joined_by_lines "
    "joined_by_spline joined_held jumps late look_back main np observe p past pi plant r remember rhs rows "
    "seen simulate slope solve_ivp start step steps stop stops t time y"
)
TAKEN = {*keyword.kwlist, *KEYWORDS.split(), *MACROS.split(), *OWN_WORDS.split()}


def element_names(columns: Sequence[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return what columns are called in a program, such as those of the state vector: none as the `taken`."""
    if {*columns} <= {*SCALAR}:
        return {column: SCALAR[column] for column in columns}
    out: dict[str, str] = {}
    others = {*taken}
    for column in columns:
        name = "".join(c if c.isascii() else "_" for c in column.rstrip("'")) + RATE * column.count("'")
        if name in TAKEN or CLASHING.match(name):
            name = f"state_{name}"
        while name in others:
            name += "_"
        out[column] = name
        others.add(name)
    return out


LINE = 100  # characters of a row of numbers
ROWS = 200  # of the table a program prints
MIN_STEPS = 2_000
STEPS_PER_TIME_CONSTANT = 50  # of a classical Runge-Kutta method: errors about 1e-7


@dataclass(frozen=True)
class Part:
    """The equation of one state: its trees are in display names."""

    state: str
    order: int
    tree: Node  # the right-hand side; where the highest derivatives cannot be isolated, what must vanish
    explicit: bool

    @property
    def rhs(self) -> Node | None:
        """The right-hand side, if the highest derivatives can be isolated."""
        return self.tree if self.explicit else None

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
    inputs: tuple[Known, ...]  # those of the data, and infusions
    late: Mapping[str, Late]  # states as they were some time ago, by their names in a program
    given: tuple[Given, ...]  # the doses that are given at once
    formulas: Mapping[str, Node]  # of what was measured, by the names of their columns
    initial: tuple[float, ...]
    slopes: tuple[float, ...]  # the derivative of the state vector at the start
    start: float
    stop: float
    scale: float  # size of the states
    longest: float  # step of a Runge-Kutta method

    @property
    def explicit(self) -> bool:
        """Whether all highest derivatives are isolated."""
        return all(part.explicit for part in self.parts)

    @property
    def trees(self) -> list[Node]:
        """What the program computes: right-hand sides, or residuals."""
        return [part.tree for part in self.parts]

    @property
    def order(self) -> int:
        """The dimension of the state vector."""
        return len(self.names)

    @property
    def states(self) -> str:
        """The names of the entries of the state vector in a program, as a list."""
        return ", ".join(self.names.values())

    @property
    def observed(self) -> dict[str, Node]:
        """The formulas of what was measured, by their names in a program."""
        names = element_names(list(self.formulas), [*self.names.values(), *self.late])
        return {names[column]: tree for column, tree in self.formulas.items()}

    @property
    def is_driven(self) -> bool:
        """Whether anything acts besides the states as they are."""
        return bool(self.inputs or self.late or self.given)

    @property
    def jumps(self) -> Float:
        """The times at which an input jumps."""
        return np.unique(np.concatenate([np.empty(0), *(known.jumps for known in self.inputs)]))

    @property
    def delays(self) -> list[float]:
        """By how much states are late."""
        return [late.delay for late in self.late.values()]

    @property
    def stops(self) -> Float:
        """The times at which a step has to end."""
        return stops_of(self.jumps, self.given, self.delays, self.start, self.stop)

    @property
    def at_start(self) -> tuple[float, float]:
        """The first and the last time of doses that come just before the start; earlier ones are over."""
        first = self.start - 1e-9 * (self.stop - self.start)
        return first, float(np.nextafter(self.start - self.same_time, -np.inf))

    @property
    def begun(self) -> tuple[float, ...]:
        """The state vector at the start, after the doses that come just before it."""
        first, last = self.at_start
        given = [dose for dose in self.given if first <= dose.time <= last]
        added = (sum(dose.amount for dose in given if dose.entry == i) for i in range(self.order))
        return tuple(x + more for x, more in zip(self.initial, added, strict=True))

    @property
    def same_time(self) -> float:
        """The distance below which two times are one."""
        return same_time(self.start, self.stop)


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
    law, span = moving_law(whole), float(data.t[-1] - data.t[0])
    explicit = _is_explicit(law)
    trees, parameters = _named(whole, errors, explicit=explicit)
    late = late_columns(trees, parameters, [*dataset.states, *dataset.inputs])
    trees = [replaced(tree, {each.node: var(each.name) for each in late}) for tree in trees]
    past = [each for each in late if each.column in law.states]
    check_delays(past, span)
    dosing = dosing_of(data, whole, errors)
    sides = _with_infusions(_parts(whole, trees, explicit=explicit), dosing.infusions)
    names = element_names([column for part in sides for column in part.columns])
    lates = element_names([each.name for each in past], names.values())
    formulas, left_out = _formulas(whole, trees, sides, [each.name for each in past])
    used = {n for tree in (*(part.tree for part in sides), *formulas.values()) for n in variables(tree)}
    used |= {name for each in past for name in variables(each.by)}
    inputs = known_inputs(
        tuple(name for name in used_inputs(whole.skeleton) if name in used), dict(data.signals), data.t
    )
    late = [each for each in late if each not in past and each.name in used]
    inputs += tuple(late_input(each, dict(data.signals), data.t) for each in late)
    words = [each.words(f"input_{each.name}") for each in late]
    words += [each.words(lates[each.name]) for each in past]
    solved = simulate(best, discovery.prepared, Scenario(data.t, run=run))
    orders = law.skeleton.orders
    values = solved.values[: 3 * len(orders)]
    rows = [3 * s + k + 1 for s, order in enumerate(orders) for k in range(order)]
    steps = _steps(law, np.vstack([data.t, values]), explicit=explicit)
    return Program(
        title="; ".join([*whole.lines(6), *_renamed(law), *words, *dosing.words, *left_out]),
        parts=tuple(sides),
        names=names,
        parameters=tuple(p for p in parameters if p.name in used),
        inputs=(*inputs, *dosing.infusions.values()),
        late={lates[each.name]: each for each in past},
        given=dosing.given,
        formulas=formulas,
        initial=tuple(float(x) for x in best.initial[run]),
        slopes=tuple(values[rows, 0].tolist()),
        start=float(data.t[0]),
        stop=float(data.t[-1]),
        scale=float(np.nanmax(np.abs(values[::3]))) or 1.0,
        longest=min([span / steps, *(each.delay for each in past)]),
    )


def _parts(law: Law, trees: Sequence[Node], *, explicit: bool) -> list[Part]:
    """Return the equations of the states that move."""
    every = zip(law.states, law.skeleton.orders, trees, strict=True)
    return [Part(*each, explicit) for each in every if each[1]]


def _with_infusions(parts: Sequence[Part], infusions: Mapping[int, Known]) -> list[Part]:
    """Return equations with infusions, which add to the highest derivative of that of their number."""
    out = [*parts]
    for i, known in infusions.items():
        part, added = parts[i], var(known.name)
        less = add(var(part.highest), mul(num(-1.0), added))
        tree = add(part.tree, added) if part.explicit else replaced(part.tree, {var(part.highest): less})
        out[i] = replace(part, tree=tree)
    return out


def _formulas(
    law: Law, trees: Sequence[Node], parts: Sequence[Part], past: Sequence[str]
) -> tuple[dict[str, Node], list[str]]:
    """Return the formulas of what is measured, and the sentences on those that no program has."""
    slopes = {var(part.highest): part.tree for part in parts if part.explicit}
    highest = {part.highest for part in parts if not part.explicit}
    found, left_out = {}, []
    for name, order, tree in zip(law.states, law.skeleton.orders, trees, strict=True):
        formula = replaced(tree, slopes)
        if order:
            continue
        if variables(formula) & {*past, *highest}:
            left_out.append(f"{name}, which is measured, is not in this program")
        else:
            found[name] = formula
    return found, left_out


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
    for index, part in enumerate(skeleton.parts):
        others = {skeleton.seen(index)[column] for s, column in enumerate(tops) if s != index}
        if others & variables(part.normal):
            return False
    return True


def _named(law: Law, errors: Float, *, explicit: bool) -> tuple[list[Node], tuple[Parameter, ...]]:
    """Return the right-hand side or the residual of each state, with named parameters c1, c2, ...

    Formulas of what is measured are right-hand sides. A constant that equations share is one parameter. Terms
    of what is given in doses are left out.
    """
    parameters: list[Parameter] = []
    known: dict[int, tuple[str, float]] = {}  # free constant -> name, factor in the value of the parameter
    trees = []

    def named(index: int, i: int, factor: float) -> Node:
        place, link = links[index][i]
        factor *= link
        if place < 0:
            return num(factor)
        if place not in known:
            known[place] = f"c{len(known) + 1}", factor
            value, error = factor * law.constants[place], abs(factor) * float(errors[place])
            parameters.append(Parameter(known[place][0], value, error))
        name, first = known[place]
        return mul(num(factor / first), var(name))

    links, given = links_of(law), dose_column(law)
    for index, part in enumerate(law.skeleton.parts):
        nodes = []
        terms = part.rhs_terms if explicit or not part.order else part.terms
        for term in sorted(terms or (), key=lambda term: display_order(term.body)):  # as printed
            body = renamed(term.body, law.skeleton.columns(index))
            if given in variables(body):
                continue
            front = None if term.constant is None else named(index, term.constant, term.multiplier)
            body = replace_constants(body, lambda i, index=index: named(index, i, 1.0))  # type: ignore[misc]
            nodes.append(mul(front, body) if front else term_node(Term(term.multiplier, None, body)))
        trees.append(add(*nodes))
    return trees, tuple(parameters)


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
    for index, (part, equation) in enumerate(zip(skeleton.parts, law.equations, strict=True)):
        tape = compile_tape(part.rhs_terms or (), skeleton.seen(index), part.n_constants)
        slopes.append(evaluate(tape, equation.constants, x).in_columns)
    if orders == (1,):
        return np.asarray(np.abs(slopes[0][1]))
    if orders == (2,):
        return np.asarray(np.abs(slopes[0][2]) + np.sqrt(np.abs(slopes[0][1])))
    lower = [1 + 3 * s + k for s, order in enumerate(orders) for k in range(order)]
    motion = np.zeros((x.shape[1], len(lower), len(lower)))
    row = 0
    for index, order in enumerate(orders):
        motion[:, row : row + order - 1, row + 1 : row + order] = np.eye(order - 1)
        row += order
        motion[:, row - 1] = slopes[index][lower].T
    sound = np.isfinite(motion).all(axis=(1, 2))
    return np.asarray(np.abs(np.linalg.eigvals(motion[sound])).max(axis=1, initial=0.0))


def piece(name: str, fields: Mapping[str, str]) -> str:
    """Return the template `name` of a program, or of a part of one, with its fields filled in."""
    template = files("gode.report") / "templates" / f"{name}.txt"
    return Template(template.read_text(encoding="utf-8")).substitute(fields)


def function_name(known: Known) -> str:
    """Return the name of an input in a program."""
    return "force" if known.name == "F" else "input_" + "".join(c if c.isascii() else "_" for c in known.name)


def input_formulas(program: Program) -> list[Node]:
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
