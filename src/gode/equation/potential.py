"""The potential V of a force that depends on place alone: u'' = -V'(u)."""

import sympy
from sympy.integrals.manualintegrate import manualintegrate

from gode.equation.operators import KINKED
from gode.equation.symbolic import STATE_FUNCTION, expression, sympy_to_tree
from gode.equation.tree import Node, operations, walk
from gode.errors import EquationError

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
