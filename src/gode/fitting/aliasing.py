"""Whether the samples resolve an equation, or it oscillates or has a pole between two of them (aliasing)."""

from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Columns
from gode.equation import Equation, Law, Node, Term
from gode.equation.system import columns_seen
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import index, number, walk
from gode.fitting.problem import widened

MOST = {
    "sin": 1.2,
    "cos": 1.2,
    "tan": 1.2,
    "exp": 5.0,
    "tanh": 5.0,
}  # largest median change of the argument between neighbouring samples, in radians for waves


def is_resolved(law: Law, columns: Columns) -> bool:
    """Tell whether every function with constants inside changes slowly enough along these samples."""
    if len(law.equations) == 1:
        return _is_resolved(law.equations[0], columns.names, columns)
    d, n = len(columns.states), len(columns.inputs)
    return all(_is_resolved(e, columns_seen(i, d, n), columns) for i, e in enumerate(law.equations))


def _is_resolved(equation: Equation, names: tuple[str, ...], columns: Columns) -> bool:
    """Tell it of one equation, which calls the columns by `names`."""
    nodes = list(walk(equation.skeleton.normal))
    bent = [n for n in nodes if n.op in MOST and _has_constant(n)]
    poles = [n.args[0] for n in nodes if n.op == "log" or (n.op == "^" and _exponent(n, equation) < 0)]
    return all(_change(n.args[0], equation, names, columns) <= MOST[n.op] for n in bent) and all(
        _keeps_off_zero(base, equation, names, columns) for base in poles
    )


def _exponent(node: Node, equation: Equation) -> float:
    """Return the exponent of a power if it is a number or a fitted constant, else 0."""
    exponent = node.args[1]
    if exponent.op == "const":
        return equation.constants[index(exponent)]
    return number(exponent) if exponent.op == "num" else 0.0


def _has_constant(node: Node) -> bool:
    return any(inner.op == "const" for inner in walk(node.args[0]))


def _keeps_off_zero(base: Node, equation: Equation, names: tuple[str, ...], columns: Columns) -> bool:
    """Tell whether `base` changes by less than ten times between samples, and has no zero on or near them."""
    before, after = _neighbours(base, equation, names, columns)
    one, other = _neighbours(base, equation, names, replace(columns, matrix=widened(columns)))
    with np.errstate(all="ignore"):  # an overflow counts as unresolved
        share = after / before
        return bool(np.all((share > 0.1) & (share < 10)) and np.all(one * other > 0))


def _change(argument: Node, equation: Equation, names: tuple[str, ...], columns: Columns) -> float:
    """Return the median change of `argument` between neighbouring samples."""
    before, after = _neighbours(argument, equation, names, columns)
    with np.errstate(all="ignore"):
        change = float(np.median(np.abs(after - before)))
    return change if np.isfinite(change) else np.inf


def _neighbours(
    node: Node, equation: Equation, names: tuple[str, ...], columns: Columns
) -> tuple[Float, Float]:
    """Return the values of `node` at all samples but the last and but the first of each run."""
    tape = compile_tape([Term(1.0, None, node)], names, equation.skeleton.n_constants)
    values = evaluate(tape, equation.constants, columns.matrix).value
    inside = np.ones(len(values) - 1, bool)
    inside[columns.starts[1:-1] - 1] = False
    return values[:-1][inside], values[1:][inside]
