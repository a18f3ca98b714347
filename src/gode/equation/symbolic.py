"""Trees to SymPy and back, and the potential V of u'' = -V'(u). No inner loop comes here."""

from functools import reduce
from typing import Any

import sympy
from sympy.integrals.manualintegrate import manualintegrate

from gode.equation.operators import FUNCTIONS, KINKED
from gode.equation.tree import (
    STATE,
    TIME,
    Node,
    add,
    call,
    derivative_order,
    index,
    maximum,
    minimum,
    mul,
    num,
    number,
    operations,
    power,
    var,
    walk,
)
from gode.errors import EquationError

TIME_SYMBOL = sympy.Symbol(TIME, real=True)
STATE_FUNCTION = sympy.Function(STATE, real=True)(TIME_SYMBOL)
FROM_SYMPY = {function.sympy: name for name, function in FUNCTIONS.items()}


def tree_to_sympy(left: Node, right: Node) -> sympy.Eq:
    """Return `left = right` as a SymPy equation that is not evaluated."""
    return sympy.Eq(expression(left), expression(right), evaluate=False)


def expression(node: Node) -> sympy.Expr:
    """Return `node` as a SymPy expression in u(t); free constants are c0, c1, ..."""
    match node.op:
        case "num":
            value = number(node)
            return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value, 17)
        case "const":
            return sympy.Symbol(f"c{index(node)}", real=True)
        case "var":
            return _variable(str(node.value))
    args = [expression(arg) for arg in node.args]
    match node.op:
        case "delay":
            return args[0].subs(TIME_SYMBOL, TIME_SYMBOL - args[1])
        case "+":
            return sympy.Add(*args)
        case "*":
            return sympy.Mul(*args)
        case "^":
            return sympy.Pow(*args)
        case name:
            function = FUNCTIONS[name]
            return getattr(sympy, function.sympy)(*function.first, *args)


def sympy_to_tree(equation: sympy.Eq | sympy.Expr) -> Node:
    """Return the residual of a SymPy equation, or of an expression meant to vanish.

    Raises:
        EquationError: for anything that is not a real expression in t, u(t), its derivatives and inputs.
    """
    if not isinstance(equation, sympy.Basic):
        raise EquationError(
            f"expected a SymPy equation, got {type(equation).__name__}; text goes to parse_equation"
        )
    residual = equation.lhs - equation.rhs if isinstance(equation, sympy.Equality) else equation
    return _tree(residual)


def _variable(name: str) -> sympy.Expr:
    if name == TIME:
        return TIME_SYMBOL
    function, order = sympy.Function(name.rstrip("'"), real=True)(TIME_SYMBOL), derivative_order(name)
    return sympy.Derivative(function, (TIME_SYMBOL, order)) if order else function


def _tree(expr: Any) -> Node:  # SymPy's classes carry no types
    if (expr.is_Number or expr.is_NumberSymbol) and expr.is_finite:
        return num(float(expr))
    if expr.is_Symbol:
        if expr.name == TIME:
            return var(TIME)
        raise EquationError(f"the symbol {expr.name} has no value; substitute a number")
    if isinstance(expr, sympy.Derivative):
        return _derivative(expr)
    if isinstance(expr, sympy.core.function.AppliedUndef):
        return _input(expr)
    args = [_tree(arg) for arg in expr.args]
    if expr.is_Add:
        return add(*args)
    if expr.is_Mul:
        return mul(*args)
    if expr.is_Pow:
        return power(*args)
    return _called(expr, args)


def _called(expr: Any, args: list[Node]) -> Node:
    """Return the call of a function."""
    if expr.func in (sympy.Max, sympy.Min):
        args.sort(key=lambda node: node.op != "num")  # a number first
        return reduce(maximum if expr.func is sympy.Max else minimum, args)
    name = FROM_SYMPY.get(expr.func.__name__)
    if name is not None and len(args) == 1:
        return call(name, args[0])
    raise EquationError(f"{expr.func.__name__} is no function gode knows; known are {', '.join(FUNCTIONS)}")


def _input(expr: Any) -> Node:
    name = expr.func.__name__
    if str(expr) != f"{name}({TIME})":
        raise EquationError(f"{expr} is no function of t alone; write {name}(t)")
    return var(name)


def _derivative(expr: Any) -> Node:
    inner, *steps = expr.args
    order = sum(int(count) for _, count in steps)
    if str(inner) != f"{STATE}({TIME})" or order > 2 or any(str(by) != TIME for by, _ in steps):
        raise EquationError(f"{expr} is no first or second derivative of {STATE}(t)")
    return var(STATE + "'" * order)


MOST_OPERATIONS = 8  # of a term whose integral is sought: more take long, and their integrals say little
PLACE = sympy.Symbol("x", real=True)


def potential(force: Node) -> Node | None:
    """Return V with V' = -force, up to a constant; None if a term has no integral in closed form."""
    total = sympy.Integer(0)
    for term in force.args if force.op == "+" else (force,):
        if operations(term) > MOST_OPERATIONS or any(node.op in KINKED for node in walk(term)):
            return None
        total -= manualintegrate(expression(term).subs(STATE_FUNCTION, PLACE), PLACE)
    if total.has(sympy.Integral):
        return None
    try:
        return sympy_to_tree(total.subs(PLACE, STATE_FUNCTION))
    except EquationError:  # a function that gode does not have
        return None
