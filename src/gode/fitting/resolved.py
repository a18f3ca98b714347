"""Whether the samples resolve an equation: what oscillates or jumps between two of them was not measured."""

import numpy as np

from gode.data import Columns
from gode.equation import Equation, Node, Term
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import walk

MOST = {
    "sin": 1.2,
    "cos": 1.2,
    "tan": 1.2,
    "exp": 5.0,
    "tanh": 5.0,
}  # change of the argument from sample to sample


def is_resolved(equation: Equation, columns: Columns) -> bool:
    """Tell whether every function with constants inside changes slowly enough along these samples."""
    bent = [n for n in walk(equation.skeleton.normal) if n.op in MOST and _has_constant(n)]
    return all(_change(n.args[0], equation, columns) <= MOST[n.op] for n in bent)


def _has_constant(node: Node) -> bool:
    return any(inner.op == "const" for inner in walk(node.args[0]))


def _change(argument: Node, equation: Equation, columns: Columns) -> float:
    """Return the median change of `argument` between neighbouring samples, over the runs."""
    tape = compile_tape([Term(1.0, None, argument)], columns.names, equation.skeleton.n_constants)
    values = evaluate(tape, equation.constants, columns.matrix).value
    steps = np.abs(np.diff(values))
    inside = np.ones(len(steps), bool)
    inside[columns.starts[1:-1] - 1] = False
    return float(np.median(steps[inside]))
