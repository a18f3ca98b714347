"""What the user assumes of a law, by plain names: kept in the grammar where terms tell, checked elsewhere."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gode.data import Columns
from gode.equation import Law, Node
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import STATE, TIME, derivative_order, variables
from gode.errors import ConfigError, pointed
from gode.fitting.invariant_zero import POINTS, SMALL, keeps_zero, law_keeps_zero, values_at

MEANINGS = {
    "odd": "nothing changes if all signals change their sign",
    "energy": "energy is conserved: no friction, and no explicit time",
    "autonomous": "no explicit time",
    "rest-at-zero": "zero is an equilibrium",
    "nonnegative": "no state becomes negative",
    "no-spontaneous": "a state that is zero stays zero, whatever the others do",
}
KEEPS_ZERO = "no-spontaneous"
REST = "rest-at="  # and a place: a value, or x:1,y:2 of several states


def checked_assumptions(given: object, order: int | None = None, n_states: int = 1) -> tuple[str, ...]:
    """Return the names of assumptions.

    Raises:
        ConfigError: if one is unknown, or does not go with the order of the law.
    """
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    for name in names:
        if isinstance(name, str) and name.startswith(REST):
            rest_place(name)
        elif name not in [*MEANINGS]:
            raise ConfigError(f"assume has {name!r}; it takes {', '.join(MEANINGS)}, {REST}2.5")
    if "energy" in names and order is not None and (order != 2 or n_states > 1):
        raise ConfigError("assume='energy' is for one state of second order; pass order=2")
    return tuple(dict.fromkeys(names))


def rest_place(name: str) -> dict[str, float]:
    """Return the known equilibrium in an assumption, by states; a value alone has no name.

    Raises:
        ConfigError: with a caret under what is no number.
    """
    found, start = {}, len(REST)
    for part in name[start:].split(","):
        state, colon, value = part.rpartition(":")
        try:
            found[state.strip()] = float(value)
        except ValueError:
            found[state.strip()] = math.nan
        if not math.isfinite(found[state.strip()]):
            reason = f"expected a value such as {REST}2.5, or {REST}x:1,y:2 of several states"
            raise ConfigError(pointed(reason, name, start + len(state) + len(colon)))
        start += len(part) + 1
    return found


def keeps(body: Node, assumed: Sequence[str], order: int) -> bool:
    """Tell whether a term of an equation of this order can stand in a law under these assumptions."""
    used = variables(body)
    if TIME in used and {"autonomous", "energy"} & {*assumed}:
        return False
    if "energy" in assumed and any(derivative_order(name) for name in used):
        return False
    if "rest-at-zero" in assumed and not np.abs(values_at(body, np.zeros(POINTS))).max() <= SMALL:
        return False
    if KEEPS_ZERO in assumed and not keeps_zero(body, order):
        return False
    if "odd" not in assumed:
        return True
    points = np.linspace(0.3, 1.7, POINTS)
    here, there = values_at(body, points), values_at(body, -points)
    return bool(np.abs(here + there).max() <= SMALL * max(np.abs(here).max(), 1.0))


def satisfies(law: Law, columns: Columns, assumed: Sequence[str]) -> bool:
    """Tell whether a law keeps what terms alone cannot tell, such as states that stay nonnegative."""
    if KEEPS_ZERO in assumed and not law_keeps_zero(law):
        return False
    if "nonnegative" not in assumed:
        return True
    for own, (part, equation) in enumerate(zip(law.skeleton.parts, law.equations, strict=True)):
        names = columns.seen(own)
        if part.order != 1 or part.rhs_terms is None:
            continue
        x = np.maximum(columns.matrix, 0.0)
        x[names.index(STATE)] = 0.0
        tape = compile_tape(part.rhs_terms, names, part.n_constants)
        slope = evaluate(tape, equation.constants, x).value
        if not np.all(slope >= -SMALL * max(np.abs(columns.matrix[1 + 3 * own + 1]).max(), 1.0)):
            return False
    return True


def told(name: str, cost: float | None) -> str:
    """Return a remark on an assumption: what it means, and what it costs in the criterion."""
    if cost is None:
        price = "what it costs was not tried"
    elif cost <= 0:
        price = "it costs nothing: no law that was tried explains the data better without it"
    else:
        against = "the data speak against it" if cost > 10 else "the data do not decide"
        price = f"it costs {cost:.3g} in the criterion: {against}"
    meaning = MEANINGS.get(name) or f"{name.removeprefix(REST).replace(':', ' = ')} is an equilibrium"
    return f"assumed is {name}, {meaning}; {price}"
