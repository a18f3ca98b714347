"""The forms that people use of two equations together: epidemics, compartments, stores of heat, tanks.

Laws with a hidden state are found in coordinates in which it enters with the factor one. Here w is such a
state, which may stand in any of the other two equations, and x the one in which it enters. Where the terms
of both are those of a known form, its constants follow, and with them the hidden quantity in its usual size.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gode.equation.printer import to_text
from gode.equation.tree import ONE, Node
from gode.units import Unit

Key = tuple[str, ...]  # the factors of a term, in alphabetical order
Terms = Mapping[Key, float]  # the coefficients of a sum


class Told(NamedTuple):
    """A constant of a form, without its error."""

    name: str
    value: float
    meaning: str
    form: str
    unit: str


class Pair(NamedTuple):
    """Two equations: that of x, in which w enters with the factor one, and that of w."""

    x: str
    w: str
    of_x: Terms
    of_w: Terms
    inputs: tuple[str, ...]
    rate: str  # the unit of one over time
    time: str  # and of time


def joint_constants(
    states: tuple[str, ...],
    sums: Sequence[Mapping[Node, float]],
    inputs: tuple[str, ...],
    units: Mapping[str, Unit],
) -> Iterator[Told]:
    """Yield the constants of the first form that each pair of first-order equations has.

    Args:
        sums: the right-hand sides, coefficients by the trees that they multiply.
        inputs: the names of the known inputs.
    """
    terms = [{_key(body): value for body, value in one.items()} for one in sums]
    per_time = str(Unit() / units["t"]) if "t" in units else ""
    time = str(units["t"]) if "t" in units else ""
    for i, x in enumerate(states):
        for j, w in enumerate(states):
            if i != j:
                pair = Pair(x, w, terms[i], terms[j], inputs, per_time, time)
                yield from next((found for form in FORMS if (found := form(pair))), [])


def _key(body: Node) -> Key:
    factors = body.args if body.op == "*" else (body,)
    return tuple(sorted(to_text(factor) for factor in factors)) if body != ONE else ()


def _epidemic(p: Pair) -> list[Told]:
    """Recognise x' = w*x - g*x and w' = -b*x*w, where w is b times the susceptibles; w may have an offset."""
    product = tuple(sorted((p.w, p.x)))
    if not _is_one(p.of_x.get(product)) or not _holds_only(p.of_x, product, (p.x,)):
        return []
    b = -p.of_w.get(product, 0.0)
    offset = -p.of_w.get((p.x,), 0.0) / b if b > 0 else 0.0
    g = offset - p.of_x.get((p.x,), 0.0)
    if b <= 0 or g <= 0 or not _holds_only(p.of_w, product, (p.x,)):
        return []
    form = f"{p.x}' = b*S*{p.x} - g*{p.x}, S' = -b*S*{p.x}, {p.w} = b*S" + (
        f" - {offset:.4g}" if offset else ""
    )
    return [
        Told("b", b, "infection rate per susceptible", form, ""),
        Told("g", g, "recovery rate", form, p.rate),
        Told("1/g", 1 / g, "mean time infected", form, p.time),
    ]


def _prey(p: Pair) -> list[Told]:
    """Recognise x' = a*x + w*x and w' = d*x*w - c*w, where w is a multiple of the predators below zero."""
    product = tuple(sorted((p.w, p.x)))
    a, c, d = p.of_x.get((p.x,), 0.0), -p.of_w.get((p.w,), 0.0), p.of_w.get(product, 0.0)
    alike = _holds_only(p.of_x, product, (p.x,)) and _holds_only(p.of_w, product, (p.w,))
    if not alike or not _is_one(p.of_x.get(product)) or min(a, c, d) <= 0:
        return []
    form = f"{p.x}' = a*{p.x} - b*{p.x}*P, P' = d*{p.x}*P - c*P, {p.w} = -b*P"
    return [
        Told("a", a, "growth rate of the prey", form, p.rate),
        Told("c", c, "death rate of the predators", form, p.rate),
        Told("d", d, "gain of the predators from the prey", form, ""),
        Told(f"{p.x}_rest", c / d, "prey at rest", form, ""),
    ]


def _minimal_model(p: Pair) -> list[Told]:
    """Recognise x' = p1*(level - x) + w*x and w' = -p2*w - p3*F: removal that an input switches on slowly."""
    product, driving = tuple(sorted((p.w, p.x))), [name for name in p.inputs if (name,) in p.of_w]
    p1, p2 = -p.of_x.get((p.x,), 0.0), -p.of_w.get((p.w,), 0.0)
    if not _is_one(p.of_x.get(product)) or len(driving) != 1 or min(p1, p2) <= 0:
        return []
    if not _holds_only(p.of_x, product, (p.x,), ()) or not _holds_only(p.of_w, (p.w,), (driving[0],)):
        return []
    p3 = -p.of_w[(driving[0],)]
    form = f"{p.x}' = p1*(level - {p.x}) - X*{p.x}, X' = p3*{driving[0]} - p2*X, {p.w} = -X"
    return [
        Told("p1", p1, "effectiveness by itself", form, p.rate),
        Told("level", p.of_x.get((), 0.0) / p1, "level without input", form, ""),
        Told("p2", p2, "rate at which the action fades", form, p.rate),
        Told("p3", p3, "rate at which the input acts", form, ""),
        Told("p3/p2", p3 / p2, "sensitivity to the input", form, ""),
    ]


def _tanks(p: Pair) -> list[Told]:
    """Recognise outflows that go with roots of levels: x' = sqrt(w) - k3*sqrt(x), w' = a*F - b*sqrt(w)."""
    root = f"{p.w}^0.5"
    upper, lower, driving = (root,), (f"{p.x}^0.5",), [name for name in p.inputs if (name,) in p.of_w]
    b, k3 = -p.of_w.get(upper, 0.0), -p.of_x.get(lower, 0.0)
    if not _is_one(p.of_x.get(upper)) or len(driving) != 1 or min(b, k3) <= 0:
        return []
    if not _holds_only(p.of_x, upper, lower) or not _holds_only(p.of_w, upper, (driving[0],)):
        return []
    a = p.of_w[(driving[0],)]
    form = (
        f"{p.x}' = k*sqrt(H) - k3*sqrt({p.x}), H' = k4*{driving[0]} - k*sqrt(H), "
        f"{p.w} = k^2*H, the upper tank as wide as the lower one"
    )
    return [
        Told("k", math.sqrt(b), "outflow of the upper tank", form, ""),
        Told("k3", k3, "outflow of the lower tank", form, ""),
        Told("k4", a / b, "flow of the input", form, ""),
    ]


def _stores(p: Pair) -> list[Told]:
    """Recognise two linear stores that exchange: compartments, a depot, a wall behind a room, RC networks."""
    linear = {(name,) for name in (p.x, p.w, *p.inputs)} | {()}
    a, d, b = -p.of_x.get((p.x,), 0.0), -p.of_w.get((p.w,), 0.0), p.of_w.get((p.x,), 0.0)
    if not _is_one(p.of_x.get((p.w,))) or not {*p.of_x, *p.of_w} <= linear or min(a, d) <= 0 or b < 0:
        return []
    if not b:
        return _depot(p, a, d) if not {*p.of_w} - {(p.w,)} else []
    if {*p.of_x, *p.of_w} - {(p.x,), (p.w,)}:
        return _driven_stores(p, a, d, b)
    elimination, there = a - b / d, b / d
    if elimination <= 0:
        return []
    form = f"{p.x}' = k21*P - (k12 + ke)*{p.x}, P' = k12*{p.x} - k21*P, {p.w} = k21*P"
    fast, slow = _rates(a, d, b)
    return [
        Told("ke", elimination, "elimination rate", form, p.rate),
        Told("k12", there, "rate into the unseen compartment", form, p.rate),
        Told("k21", d, "rate back from it", form, p.rate),
        Told("half-life 1", math.log(2) / fast, "half-life of the distribution", form, p.time),
        Told("half-life 2", math.log(2) / slow, "half-life of the elimination", form, p.time),
    ]


def _depot(p: Pair, out: float, into: float) -> list[Told]:
    form = f"{p.x}' = ka*D - ke*{p.x}, D' = -ka*D, {p.w} = ka*D; ka and ke may change places"
    return [
        Told("ka", into, "absorption rate", form, p.rate),
        Told("ke", out, "elimination rate", form, p.rate),
        Told("half-life", math.log(2) / out, "half-life of the elimination", form, p.time),
    ]


def _driven_stores(p: Pair, a: float, d: float, b: float) -> list[Told]:
    """Tell two stores under inputs by their exchange and time constants, and what each input does at rest."""
    fast, slow = _rates(a, d, b)
    form = f"{p.x} beside an unseen store W = {p.w}/a: {p.x}' = a*(W - {p.x}) + ..., W' = c*{p.x} - d*W + ..."
    told = [
        Told("a", a, "rate of exchange with the unseen store", form, p.rate),
        Told("c", b / a, "rate of the exchange seen from that store", form, p.rate),
        Told("tau_1", 1 / fast, "shorter time constant", form, p.time),
        Told("tau_2", 1 / slow, "longer time constant", form, p.time) if slow > 0 else None,
    ]
    at_rest = a * d - b
    for name in p.inputs if at_rest > 0 else ():
        gain = (d * p.of_x.get((name,), 0.0) + p.of_w.get((name,), 0.0)) / at_rest
        if gain:
            told.append(Told(f"gain_{name}", gain, "gain at rest", form, ""))
    return [each for each in told if each is not None]


def _rates(a: float, d: float, b: float) -> tuple[float, float]:
    """Return the rates at which x' = w - a*x, w' = b*x - d*w with b >= 0 decay, the faster one first."""
    middle, half_gap = (a + d) / 2, math.sqrt((a - d) ** 2 / 4 + b)
    return middle + half_gap, middle - half_gap


def _hysteresis(p: Pair) -> list[Told]:
    """Recognise w' = -A*x' - beta*abs(x')*w + gamma*x'*abs(w): a spring with a memory, of Bouc and Wen."""
    speed = f"{p.x}'"
    push, fade = (speed,), tuple(sorted((f"abs({speed})", p.w)))
    turn = tuple(sorted((speed, f"abs({p.w})")))
    if not _is_one(p.of_x.get((p.w,))) or not {push, fade} <= {*p.of_w} <= {push, fade, turn}:
        return []
    form = f"{p.x}'' = ... - z, z' = A*{speed} - beta*abs({speed})*z - gamma*{speed}*abs(z), {p.w} = -z"
    told = [
        Told("A", -p.of_w[push], "stiffness of the hysteresis", form, ""),
        Told("beta", -p.of_w[fade], "loss of the hysteresis", form, ""),
    ]
    return (
        [*told, Told("gamma", p.of_w[turn], "shape of the hysteresis", form, "")] if turn in p.of_w else told
    )


def _is_one(value: float | None) -> bool:
    return value == 1.0  # a factor that was fitted is never just one


def _holds_only(terms: Terms, *keys: Key) -> bool:
    return {*terms} <= {*keys}


FORMS: tuple[Callable[[Pair], list[Told]], ...] = (
    _epidemic,
    _prey,
    _minimal_model,
    _tanks,
    _stores,
    _hysteresis,
)
