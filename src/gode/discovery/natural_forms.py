"""The form of a law that people use, such as r*u*(1 - u/K), with error bars carried over from its constants.

Growth with a limit, relaxation, oscillation and saturation are recognised in the terms of each equation. A
natural frequency is told where these terms alone decide the small motions about rest, and nowhere else.
Their constants are functions of those that were fitted; the errors follow from the slopes (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.data.dataset import NEGLIGIBLE
from gode.data.doses import DOSE
from gode.discovery.framing import display_name
from gode.discovery.invariants import right_side
from gode.discovery.reported_constants import STEP, Constant, errors_of, slopes_of, with_error
from gode.equation import Law, Term
from gode.equation.printer import to_text
from gode.equation.skeleton import shown_name
from gode.equation.system import moving_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import ONE, Node, add, mul, num, number, power, var, variables
from gode.fitting.invariant_zero import SMALL
from gode.fitting.population import NORMAL_95
from gode.selection import Candidate
from gode.units import Unit

GROWTH = "growth rate"
LIMIT = "carrying capacity"
TIME = "time constant"
REST = "value at rest"
FREQUENCY = "natural frequency"
DAMPING = "damping ratio"
GAIN = "gain at rest"
DOUBLING = "doubling time"
HALF = "half-saturation constant"
INVERSES = (
    TIME,
    LIMIT,
    DOUBLING,
    HALF,
)  # They divide by a fitted number, which may be zero within its error.
OF_ONE_EQUATION = (GROWTH, LIMIT, TIME, REST, FREQUENCY, DAMPING, GAIN)  # In a system they name the state.

Terms = Mapping[Node, float]  # The coefficients of a sum by the trees that they multiply.
Units = Mapping[str, Unit]


def natural_constants(law: Law, covariance: Float, units: Units) -> tuple[Constant, ...]:
    """Return the constants that people would speak of, with their standard errors; the place is the form.

    Those that the user has given a name or a value are left out.

    Args:
        covariance: of the free constants of the law.
        units: of the columns, by the names that are shown.
    """
    found = _recognised(law, units)

    def values(other: Law) -> Float:
        here = {key: p.value for key, p in _recognised(other, {}).items()}
        return np.array([here.get(key, p.value) for key, p in found.items()])

    slopes = slopes_of(values, law)
    errors = errors_of(slopes, covariance)
    told: dict[tuple[str, float], tuple[str, Constant]] = {}
    for ((owner, *_), p), error, slope in zip(found.items(), errors, slopes, strict=True):
        if not _is_given(law, p.value, slope):
            told.setdefault((p.name, p.value), (owner, replace(p, error=float(error))))
    return tuple(_told_apart(list(told.values())))


def _is_given(law: Law, value: float, slope: Float) -> bool:
    """Tell whether a constant is a named one, or follows from numbers that were given."""
    free = np.flatnonzero(np.abs(slope * np.array(law.constants)) > SMALL * abs(value))
    named = bool(law.skeleton.parameters) and len(free) == 1
    return not len(free) or (named and math.isclose(value, law.constants[free[0]], rel_tol=1e-9))


def _recognised(law: Law, units: Units) -> dict[tuple[str, str, str, int], Constant]:
    """Return the constants of all forms that are found in a law, without errors.

    They go by the state in whose equation they are found, name, form, and number among those that have these.
    """
    found: dict[tuple[str, str, str, int], Constant] = {}

    def keep(state: str, one: Constant) -> None:
        same = [key for key in found if key[:3] == (state, one.name, one.place)]
        found[state, one.name, one.place, len(same)] = one

    if not law.skeleton.explicit:
        return found
    inputs = tuple(shown_name(name, law.skeleton.called) for name in law.skeleton.inputs)
    states, sums = law.skeleton.shown_states, [right_side(law, i) for i in range(len(law.states))]
    for i, (state, terms) in enumerate(zip(states, sums, strict=True)):
        if not law.skeleton.orders[i]:  # a formula of what is measured
            continue
        forms = _first_order if law.skeleton.orders[i] == 1 else _second_order
        for one in [*forms(state, terms, inputs, units), *_saturation(terms, units)]:
            own = one.meaning in OF_ONE_EQUATION
            keep(state, replace(one, name=law.skeleton.name_in(one.name, i)) if own else one)
    for told in joint_constants(states, sums, inputs, units):
        keep("", Constant(told.value, math.nan, told.form, told.name, told.unit, told.meaning, vague=1.0))
    return found


def _told_apart(found: Sequence[tuple[str, Constant]]) -> Iterator[Constant]:
    """Yield constants; those of several equations that share a name have that of their state, too."""
    for state, one in found:
        several = len({owner for owner, other in found if other.name == one.name}) > 1
        name = f"{one.name}_{state}" if several and state else one.name
        yield replace(one, name=name, place=one.place.replace(one.name, name))


def _constant(name: str, value: float, meaning: str, form: str, unit: str) -> Constant:
    """Return a constant of a form without its error; the inverse of what may be zero has no size."""
    made = Constant(value, math.nan, form, name, unit, meaning)
    return replace(made, vague=1.0) if meaning in INVERSES else made


def _unit(units: Units, column: str, power_of_column: float, power_of_time: float, divisor: str = "") -> str:
    """Return the unit of a product of powers of a column and of time, over another column."""
    powers = ((column, power_of_column), ("t", power_of_time), (divisor, 1.0 if divisor else 0.0))
    if any(name not in units for name, exponent in powers if exponent):
        return ""
    found = units.get(column, Unit()) ** power_of_column * units.get("t", Unit()) ** power_of_time
    return str(found / units.get(divisor, Unit()))


def _first_order(state: str, terms: Terms, inputs: tuple[str, ...], units: Units) -> Iterator[Constant]:
    """Yield the constants of growth, of growth with a limit, and of relaxation under any inputs."""
    u = var(state)
    rate, crowding = terms.get(u, 0.0), terms.get(power(u, num(2.0)), 0.0)
    if rate > 0 and crowding < 0:
        form = f"r*{state}*(1 - {state}/K)"
        yield _constant("r", rate, GROWTH, form, _unit(units, state, 0, -1))
        yield _constant("K", -rate / crowding, LIMIT, form, _unit(units, state, 1, 0))
    elif rate < 0 and set(terms) <= {u, ONE, *map(var, inputs)}:
        yield from _relaxation(state, terms, inputs, units)
    elif rate > 0 and set(terms) == {u}:
        doubling = math.log(2.0) / rate
        yield _constant("T2", doubling, DOUBLING, f"ln(2)/T2*{state}", _unit(units, state, 0, 1))


def _relaxation(state: str, terms: Terms, inputs: tuple[str, ...], units: Units) -> Iterator[Constant]:
    """Yield time constant, value at rest and gains of (u_rest + gain*F - u)/tau."""
    rate, level = terms[var(state)], terms.get(ONE, 0.0)
    driving = [name for name in inputs if var(name) in terms]
    gains = {name: "gain" if len(driving) == 1 else f"gain_{name}" for name in driving}
    rest = [f"{state}_rest"] if level else []
    target = " + ".join([*rest, *(f"{gain}*{name}" for name, gain in gains.items())])
    form = f"({target} - {state})/tau" if target else f"-{state}/tau"
    yield _constant("tau", -1 / rate, TIME, form, _unit(units, state, 0, 1))
    if level:
        yield _constant(f"{state}_rest", -level / rate, REST, form, _unit(units, state, 1, 0))
    for name, gain in gains.items():
        yield _constant(gain, -terms[var(name)] / rate, GAIN, form, _unit(units, state, 1, 0, name))


def _second_order(state: str, terms: Terms, inputs: tuple[str, ...], units: Units) -> Iterator[Constant]:
    """Yield natural frequency and damping ratio of an oscillator or a pendulum."""
    u, speed = var(state), var(f"{state}'")
    for body, text in ((u, state), (Node("sin", 0.0, (u,)), f"sin({state})")):
        spring, damper = terms.get(body, 0.0), terms.get(speed, 0.0)
        others = {b: c for b, c in terms.items() if b not in (body, speed) and not _drives(b, inputs)}
        is_linear = body is u and not set(others) - {ONE}  # Only then a level leaves the slope as it is.
        if spring < 0 and (is_linear or not _act_on_small_motions(others, state, -spring)):
            omega = math.sqrt(-spring)
            form = f"-omega^2*{text}" + (f" - 2*zeta*omega*{state}'" if damper else "")
            yield _constant("omega", omega, FREQUENCY, form, _unit(units, state, 0, -1))
            if damper:
                yield _constant("zeta", -damper / (2 * omega), DAMPING, form, _unit(units, state, 0, 0))
            return


def _drives(body: Node, inputs: tuple[str, ...]) -> bool:
    """Tell whether a term depends on time and inputs alone."""
    return body != ONE and variables(body) <= {"t", *inputs}


def _act_on_small_motions(terms: Terms, state: str, spring: float) -> bool:
    """Tell whether terms act on small motions about zero beside a spring, or may."""
    columns = ("t", state, f"{state}'")
    if any(not variables(body) <= {*columns[1:]} for body in terms):
        return True
    tape = compile_tape([Term(1.0, None, add(*(mul(num(c), b) for b, c in terms.items())))], columns, 0)
    small = STEP  # the size of the motion along which other forces are compared with a spring
    at = np.array([[0.0] * 5, [0.0, small, -small, 0.0, 0.0], [0.0, 0.0, 0.0, small, -small]])
    found = evaluate(tape, [], at)
    return not found.finite or bool(np.abs(found.value).max() > NEGLIGIBLE * small * spring)


def _saturation(terms: Terms, units: Units) -> Iterator[Constant]:
    """Yield the half-saturation constants of terms with x/(x_half + x) or x^n/(x_half^n + x^n)."""
    for body in terms:
        factors = body.args if body.op == "*" else (body,)
        for factor in factors:
            if not (factor.op == "^" and factor.args[1] == num(-1.0) and factor.args[0].op == "+"):
                continue
            summands = factor.args[0].args
            levels = [number(t) for t in summands if t.op == "num"]
            amounts = [t for t in summands if t.op != "num"]
            if len(levels) == 1 and len(amounts) == 1 and levels[0] > 0 and amounts[0] in factors:
                yield _half_saturation(amounts[0], levels[0], units)


def _half_saturation(amount: Node, level: float, units: Units) -> Constant:
    base, exponent = (amount.args[0], number(amount.args[1])) if amount.op == "^" else (amount, 1.0)
    name = to_text(base)
    half = f"{name}_half"
    power_text = "" if exponent == 1 else f"^{exponent:g}"
    form = f"{name}{power_text}/({half}{power_text} + {name}{power_text})"
    return _constant(half, level ** (1 / exponent), HALF, form, _unit(units, name, 1, 0))


def told_of_doses(best: Candidate, dataset: Dataset) -> list[str]:
    """Return a sentence on clearance, half-life and volume for each measured state of a dosed linear law."""
    law = moving_law(best.equation)
    dosed = {dose.channel for run in dataset.runs for dose in run.doses}
    inputs = {shown_name(name, law.skeleton.called) for name in law.skeleton.inputs}
    plain = set(law.skeleton.orders) == {1} and DOSE not in inputs
    if len(dosed) != 1 or not plain or _matrix(law) is None:
        return []
    into = dosed.pop() // 3
    seen = [s for s in range(len(law.states)) if s not in dataset.hidden and s != into]
    return [sentence for state in seen for sentence in _sentence(best, dataset, into, state)]


def told_of_starts(best: Candidate, dataset: Dataset) -> list[str]:
    """Return a sentence on states that nobody read before the first dose, and whose start is fitted."""
    orders = best.equation.skeleton.orders
    fitted = [
        display_name(dataset, state)
        for s, state in enumerate(dataset.states)
        if orders[s] and s not in dataset.hidden
        if any(
            run.doses
            and np.isnan([run.initial[2 * s], run.observed[3 * s, 0]]).all()
            and best.initial[i, sum(orders[:s])] != 0
            for i, run in enumerate(dataset.runs)
        )
    ]
    return [
        f"what {name} was before the first dose was not measured, and is fitted; if nothing was given "
        f'earlier, say so: --initial {name}=0, or initial={{"{name}": 0}}'
        for name in fitted
    ]


def _sentence(best: Candidate, dataset: Dataset, into: int, state: int) -> list[str]:
    values = _quantities(best.equation, into, state)
    errors = errors_of(slopes_of(lambda law: _quantities(law, into, state), best.equation), best.covariance)
    if not np.all(np.isfinite(errors)) or np.any(errors > np.abs(values)):
        return []
    shown = best.equation.skeleton.shown_states
    of_whom = " of the mean of all runs" if best.own is not None else ""
    words = [with_error(value, NORMAL_95 * error) for value, error in zip(values, errors, strict=True)]
    return [
        f"after a dose into {shown[into]}, {shown[state]}{of_whom} has the clearance {words[0]} (dose over "
        f"the area under its curve), the terminal half-life {words[1]} and the volume {words[2]}"
    ]


def _quantities(law: Law, into: int, state: int) -> Float:
    """Return clearance, terminal half-life and volume; NaN where the law does not decay."""
    unknown, a = np.full(3, np.nan), _matrix(moving_law(law))
    if a is None:
        return unknown
    rates = -np.linalg.eigvals(a)
    if np.any(rates.real <= 0) or np.any(np.abs(rates.imag) > SMALL * np.abs(rates.real)):
        return unknown
    area = -np.linalg.inv(a)[state, into]
    if not area > 0:
        return unknown
    slowest = float(rates.real.min())
    return np.array([1 / area, np.log(2) / slowest, 1 / area / slowest])


def _matrix(law: Law) -> Float | None:
    """Return A (d, d) of a law x' = A x, None if it is another."""
    d = len(law.states)
    points = np.vstack([np.zeros(d), np.eye(d), 2 * np.eye(d), np.ones(d), np.full(d, 3.0)]).T
    at_rest, late = _slopes(law, points, 0.0), _slopes(law, points, 1.0)
    if at_rest is None or late is None or not np.allclose(at_rest, late, rtol=SMALL, atol=0.0):
        return None
    a = at_rest[:, 1 : d + 1] - at_rest[:, :1]
    size = float(np.abs(a).max()) or 1.0
    linear = np.allclose(at_rest, a @ points, rtol=0.0, atol=SMALL * size * 3 * d)
    return a if linear and abs(np.linalg.det(a / size)) > 0 else None


def _slopes(law: Law, points: Float, t: float) -> Float | None:
    """Return the right-hand sides (d, n) at some points (d, n), without inputs; None if not defined."""
    skeleton, rows = law.skeleton, []
    for index, equation in enumerate(law.equations):
        terms = equation.skeleton.rhs_terms
        if terms is None:
            return None
        names = skeleton.seen(index)
        columns = np.zeros((len(names), points.shape[1]))
        columns[0] = t
        columns[1 : 1 + 3 * len(points) : 3] = points
        tape = compile_tape(terms, names, equation.skeleton.n_constants)
        found = evaluate(tape, equation.constants, columns)
        if not found.finite:
            return None
        rows.append(found.value)
    return np.array(rows)


Key = tuple[str, ...]  # the factors of a term, in alphabetical order
Factors = Mapping[Key, float]  # the coefficients of a sum by the factors that they multiply


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
    of_x: Factors
    of_w: Factors
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


def _holds_only(terms: Factors, *keys: Key) -> bool:
    return {*terms} <= {*keys}


FORMS: tuple[Callable[[Pair], list[Told]], ...] = (
    _epidemic,
    _prey,
    _minimal_model,
    _tanks,
    _stores,
    _hysteresis,
)
