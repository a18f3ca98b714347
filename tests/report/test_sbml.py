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


def solved(text, t):
    """The states (time, state) of a model at `t`, integrated from event to event."""
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
        changes.append((at, change.getVariable(), change.getMath()))

    def slope(time, y):
        names.update(zip(rates, y, strict=True), time=time)
        names.update({name: value(math, names) for name, math in assigned.items()})
        return [value(math, names) for math in rates.values()]

    y, rows = [names[name] for name in rates], []
    edges = sorted({t[0], t[-1], *(at for at, *_ in changes if t[0] < at < t[-1])})
    for low, high in itertools.pairwise(edges):
        names.update({name: value(math, names) for at, name, math in changes if at == low})
        inside = t[(t >= low) & (t < high)]
        run = solve_ivp(slope, (low, high), y, "LSODA", t_eval=[*inside, high], rtol=1e-10, atol=1e-10)
        rows += run.y.T[:-1].tolist()
        y = run.y[:, -1]
    return np.array([*rows, y])


@pytest.mark.parametrize("name", ["growth", "pendulum", "duffing", "driven", "predation", "masses"])
def test_what_libsbml_reads_has_our_solution(name, request):
    found = request.getfixturevalue(name)
    wanted = reference(found)
    assert np.allclose(solved(found.export("sbml"), wanted[:, 0]), wanted[:, 1:], rtol=0, atol=1e-6)


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
