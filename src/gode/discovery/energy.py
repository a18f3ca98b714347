"""The energy of one state of second order whose force depends on place alone."""

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Law, Term
from gode.equation.printer import rounded, to_text
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import term_node
from gode.equation.tree import STATE, TIME, Node, add, num, replace_constants, variables


def force_of(law: Law) -> Node | None:
    """Return what u'' is without inputs; None if it depends on more than u, so that no energy is kept."""
    terms = law.skeleton.rhs_terms if isinstance(law, Equation) and law.order == 2 else None
    if terms is None:
        return None
    own = [t for t in terms if not variables(t.body) or STATE in variables(t.body)]
    signals = {name for t in own for name in variables(t.body)}
    others = {name for t in terms if t not in own for name in variables(t.body)}
    if not own or signals - {STATE} or not others <= {*law.skeleton.inputs}:
        return None
    return add(*(replace_constants(term_node(t), lambda i: num(law.constants[i])) for t in own))


def potential_text(law: Law) -> str | None:
    """Return V(u) of a law u'' = -V'(u), up to a constant, where that has a simple formula."""
    force = force_of(law)
    if force is None:
        return None
    from gode.equation.potential import potential  # SymPy takes 0.3 s to import

    found = potential(force)
    return None if found is None else to_text(found, rounded(4), law.skeleton.names(0))


def potential_values(law: Law, u: Float) -> Float | None:
    """Return V at increasing places, zero at the least; None if no energy is kept, or V is not finite."""
    force = force_of(law)
    if force is None:
        return None
    tape = compile_tape([Term(1.0, None, force)], (TIME, STATE), 0)
    values = evaluate(tape, [], np.vstack([np.zeros_like(u), u])).value
    steps = -0.5 * (values[1:] + values[:-1]) * np.diff(u)
    found = np.append(0.0, np.cumsum(steps))
    return found - found.min() if np.isfinite(found).all() else None


def energy_words(law: Law) -> list[str]:
    """Return a sentence on the energy, if it is conserved: an input adds to it and takes from it."""
    if force_of(law) is None or law.skeleton.inputs:
        return []
    text, (name,) = potential_text(law), law.skeleton.shown_states
    shape = (
        f"with V({name}) = {text}"
        if text
        else f"where V({name}) has no simple formula; the report tabulates it"
    )
    return [f"{name}'^2/2 + V({name}) is conserved, {shape}"]
