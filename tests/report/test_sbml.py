"""SBML is read by libsbml without a complaint, and what it read is solved by SciPy to our solution."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from exported import reference
from gode.data import Samples
from gode.discovery import fit
from gode.equation import parse_equation, parse_tree
from gode.equation.operators import FUNCTIONS as OPERATORS
from gode.errors import EquationError
from gode.report.program import make_program
from gode.report.sbml import MATHML, mathml
from gode.solve import solve

libsbml = pytest.importorskip("libsbml", reason="python-libsbml is not installed")

FUNCTIONS: dict[int, Callable[..., float]] = {
    libsbml.AST_PLUS: lambda *x: math.fsum(x),
    libsbml.AST_TIMES: lambda *x: math.prod(x),
    libsbml.AST_POWER: pow,
    libsbml.AST_FUNCTION_POWER: pow,
    libsbml.AST_FUNCTION_SIN: math.sin,
    libsbml.AST_FUNCTION_COS: math.cos,
    libsbml.AST_FUNCTION_TAN: math.tan,
    libsbml.AST_FUNCTION_EXP: math.exp,
    libsbml.AST_FUNCTION_LN: math.log,
    libsbml.AST_FUNCTION_TANH: math.tanh,
    libsbml.AST_FUNCTION_ABS: abs,
    libsbml.AST_RELATIONAL_LT: lambda a, b: a < b,
    libsbml.AST_RELATIONAL_GT: lambda a, b: a > b,
    libsbml.AST_RELATIONAL_GEQ: lambda a, b: a >= b,
}


def value(node, names):
    """The value of a formula that libsbml has read."""
    kind, children = node.getType(), [node.getChild(i) for i in range(node.getNumChildren())]
    if node.isNumber():
        return node.getValue()
    if kind == libsbml.AST_NAME_TIME:
        return names["time"]
    if kind == libsbml.AST_NAME:
        return names[node.getName()]
    if kind == libsbml.AST_FUNCTION_DELAY:
        return names["past"](children[0].getName(), names["time"] - value(children[1], names))
    if kind == libsbml.AST_FUNCTION_PIECEWISE:
        for piece, condition in zip(children[::2], children[1::2], strict=False):
            if value(condition, names):
                return value(piece, names)
        return value(children[-1], names)
    return FUNCTIONS[kind](*(value(child, names) for child in children))


def model_of(text):
    document = libsbml.readSBMLFromString(text)
    document.checkConsistency()
    errors = [document.getError(i) for i in range(document.getNumErrors())]
    serious = [e.getMessage() for e in errors if e.getSeverity() >= libsbml.LIBSBML_SEV_ERROR]
    assert not serious, serious
    assert document.getModel() is not None
    return document  # owns the model


def solved(text, t, seen=()):
    """The states (time, state) of a model at `t`, and formulas that are seen, from event to event.

    No piece is longer than the shortest delay, so that what is late is known from earlier ones.
    """
    document = model_of(text)
    model = document.getModel()
    names = {p.getId(): p.getValue() for p in model.getListOfParameters()}
    rules = [model.getRule(i) for i in range(model.getNumRules())]
    rates = {r.getVariable(): r.getMath() for r in rules if r.isRate()}
    assigned = {r.getVariable(): r.getMath() for r in rules if r.isAssignment()}
    changes = []
    for event in model.getListOfEvents():
        (change,) = event.getListOfEventAssignments()
        at = event.getTrigger().getMath().getChild(1).getValue()
        changes.append((at, event.getTrigger().getInitialValue(), change.getVariable(), change.getMath()))

    first, pieces = [names[name] for name in rates], []

    def past(name, time):
        begun = [solution for start, solution in pieces if start <= time + 1e-12]
        return (begun[-1](time) if begun else first)[[*rates].index(name)]

    def update(time, y):
        names.update(zip(rates, y, strict=True), time=time, past=past)
        names.update({name: value(math, names) for name, math in assigned.items()})

    def slope(time, y):
        update(time, y)
        return [value(math, names) for math in rates.values()]

    def row(time, y):
        update(time, y)
        return [*y, *(names[name] for name in seen)]

    y, rows, delays = first, [], delays_in(rates.values(), names)
    edges = sorted({t[0], t[-1], *(at for at, *_ in changes if t[0] < at < t[-1])})
    bends = [at + m * d for at in edges for d in delays for m in (1, 2, 3)]
    for at in [*(np.arange(t[0], t[-1], min(delays)) if delays else ()), *bends]:
        if at < t[-1] and min(abs(at - edge) for edge in edges) > 1e-9:  # others are the same up to rounding
            edges.append(at)
    edges.sort()
    for low, high in itertools.pairwise(edges):
        before = y
        update(low, y)
        due = [c for c in changes if c[0] == low or (low == t[0] and c[0] < low and not c[1])]
        names.update({name: value(math, names) for _, _, name, math in due})
        y = [names[name] for name in rates]
        rows += [
            row(time, before) for time in t[t == low]
        ]  # states as they were before, inputs as they are now
        inside = t[(t > low) & (t < high)]
        last = high - 1e-12
        run = solve_ivp(
            lambda time, y, last=last: slope(min(time, last), y),
            (low, high),
            y,
            "LSODA",
            t_eval=[*inside, high],
            rtol=1e-10,
            atol=1e-10,
            dense_output=True,
        )
        rows += [row(time, state) for time, state in zip(inside, run.y.T[:-1], strict=True)]
        pieces.append((low, run.sol))
        y = run.y[:, -1].tolist()
    return np.array([*rows, row(t[-1], y)])


def delays_in(formulas, names):
    """The delays that stand in some formulas."""
    found = []
    for node in formulas:
        if node.getType() == libsbml.AST_FUNCTION_DELAY:
            found.append(value(node.getChild(1), names))
        found += delays_in([node.getChild(i) for i in range(node.getNumChildren())], names)
    return found


PLAIN = ("growth", "pendulum", "duffing", "driven", "predation", "masses")
DRIVEN = ("late_growth", "dosed", "pushed")  # delayed states, doses, formulas of what is measured


@pytest.mark.parametrize("name", [*PLAIN, *DRIVEN])
def test_what_libsbml_reads_has_our_solution(name, request):
    found = request.getfixturevalue(name)
    wanted, seen = reference(found), make_program(found, None).observed
    assert np.allclose(solved(found.export("sbml"), wanted[:, 0], seen), wanted[:, 1:], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", [*PLAIN, "dosed"])
def test_roadrunner_has_our_solution(name, request):
    roadrunner = pytest.importorskip("roadrunner", reason="libroadrunner is not installed")
    found = request.getfixturevalue(name)
    wanted, program = reference(found), make_program(found, None)
    model = roadrunner.RoadRunner(found.export("sbml"))
    model.integrator.absolute_tolerance = model.integrator.relative_tolerance = 1e-11
    names = [*program.names.values(), *program.observed]
    model.timeCourseSelections = ["time", *names]
    got = np.array(model.simulate(wanted[0, 0], wanted[-1, 0], len(wanted)))
    times = np.array([dose.time for dose in program.given])
    clear = ~np.isclose(wanted[:, :1], times).any(axis=1)  # at the time of a dose it tells the value after it
    assert np.allclose(got[clear], wanted[clear], rtol=0, atol=1e-6)


@pytest.mark.parametrize("function", OPERATORS.values(), ids=lambda function: function.name)
def test_every_function_of_an_equation_is_read_with_its_value(function):
    text = mathml(parse_tree(function.call("u")), {})
    node = libsbml.readMathMLFromString(f"<math {MATHML}>{text}</math>")
    assert node is not None, f"MathML has another name for {function.name}"
    for u in (0.7, -0.7) if function.name != "log" else (0.7, 1.7):
        assert value(node, {"u": u}) == pytest.approx(function.value(u))


@pytest.mark.parametrize("kind", ["hold", "linear", "cubic"])
def test_inputs_are_joined_as_in_the_fit(kind):
    t = np.linspace(0.0, 6.0, 31)
    signal = Samples(t, np.random.default_rng(5).uniform(-1.0, 1.0, len(t)), kind)
    u = solve(parse_equation("u' = -0.8*u + F + sign(u)"), t, [0.3], inputs={"F": signal}).u
    found = fit("u' = C*u + C*F + C*sign(u)", t, u, force=signal.values, interpolation=kind)
    text, wanted = found.export("sbml"), reference(found)
    assert ("<event " in text) is (kind == "hold")
    assert np.allclose(solved(text, wanted[:, 0]), wanted[:, 1:], rtol=0, atol=2e-6)


def test_an_equation_that_cannot_be_isolated_gets_a_sentence(implicit):
    with pytest.raises(EquationError, match="highest derivative, which sbml code needs"):
        implicit.export("sbml")
