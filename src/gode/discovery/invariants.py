"""What a law conserves: sums of states, and the energy of one state whose force depends on place alone."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from gode.arrays import Float
from gode.equation import Law, Node, Term
from gode.equation.printer import rounded, to_text
from gode.equation.sums import to_sum
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import term_node
from gode.equation.tree import (
    STATE,
    TIME,
    add,
    mul,
    num,
    renamed,
    replace_constants,
    shorten_numbers,
    variables,
)
from gode.fitting.invariant_zero import SMALL

MOST_STATES = 8  # Larger systems are not searched, since the number of sums grows as 3 to the states.


def conserved(law: Law) -> list[dict[str, int]]:
    """Return the sums of states, each with the factor 1 or -1, that stay constant along every solution.

    They are those whose right-hand sides add up to zero term by term; of a law of second order, the same sum
    of the derivatives stays constant. No sum follows from the others.
    """
    skeleton = law.skeleton
    states, d = skeleton.states, len(skeleton.states)
    if d < 2 or d > MOST_STATES or not skeleton.explicit or len({*skeleton.orders}) > 1:
        return []
    sides = [right_side(law, i) for i in range(d)]
    bodies = sorted({body for side in sides for body in side})
    table = np.array([[side.get(body, 0.0) for side in sides] for body in bodies]).reshape(len(bodies), d)
    found: list[Float] = []
    for weights in _sums(d):
        size = np.abs(table) @ np.abs(weights)
        is_conserved = np.all(np.abs(table @ weights) <= SMALL * size)
        if is_conserved and np.linalg.matrix_rank(np.array([*found, weights])) > len(found):
            found.append(weights)
    return [{states[i]: int(w[i]) for i in np.flatnonzero(w)} for w in found]


def conserved_words(law: Law) -> list[str]:
    """Return a sentence for each sum of states that stays constant, and one for the energy if it does."""
    prime = "'" * (law.order - 1)
    out = []
    for weights in conserved(law):
        terms = [f"{'-' if w < 0 else '+'} {name}{prime}" for name, w in weights.items()]
        out.append(f"{' '.join(terms).removeprefix('+ ')} is conserved")
    return [*out, *energy_words(law)]


def right_side(law: Law, state_index: int) -> dict[Node, float]:
    """Return what the highest derivative of a state equals: coefficients by trees in the names shown."""
    part, c = law.skeleton.parts[state_index], law.equations[state_index].constants
    terms = part.rhs_terms
    assert terms is not None, "the caller sees to it that the law can be solved for its highest derivatives"
    nodes = [mul(num(t.multiplier * (1.0 if t.constant is None else c[t.constant])), t.body) for t in terms]
    tree = replace_constants(add(*nodes), lambda i: num(c[i]))
    total = to_sum(renamed(tree, law.skeleton.names(state_index)))
    return {shorten_numbers(body): value for body, value in total.items() if value is not None}


def _sums(d: int) -> Iterator[Float]:
    """Yield weights of the states, the first of which is one; few states first, and plain sums first."""
    for n in range(1, d + 1):
        for signs in product((1.0, -1.0), repeat=n - 1):
            for chosen in combinations(range(d), n):
                weights = np.zeros(d)
                weights[list(chosen)] = (1.0, *signs)
                yield weights


def force_of(law: Law) -> Node | None:
    """Return what u'' is without inputs; None if it depends on more than u, so that no energy is kept."""
    first, *others = law.skeleton.parts
    terms = first.rhs_terms
    if terms is None or others or law.order != 2:
        return None
    inner = [t for t in terms if not variables(t.body) or STATE in variables(t.body)]
    inner_names = {name for t in inner for name in variables(t.body)}
    other_names = {name for t in terms if t not in inner for name in variables(t.body)}
    if not inner or inner_names - {STATE} or not other_names <= {*law.skeleton.inputs}:
        return None
    return add(*(replace_constants(term_node(t), lambda i: num(law.constants[i])) for t in inner))


def potential_text(law: Law) -> str | None:
    """Return V(u) of a law u'' = -V'(u), up to a constant, where that has a simple formula."""
    force = force_of(law)
    if force is None:
        return None
    from gode.equation.symbolic import potential  # SymPy takes 0.3 s to import

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
