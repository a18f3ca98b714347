"""The form of a law that people use, such as r*u*(1 - u/K), with error bars carried over from its constants.

Growth with a limit, relaxation, oscillation and saturation are recognised in the terms of each equation. A
natural frequency is told where these terms alone decide the small motions about rest, and nowhere else.
Their constants are functions of those that were fitted; the errors follow from the slopes (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.discovery.constants import STEP, Constant
from gode.discovery.invariants import right_side
from gode.discovery.joint_forms import joint_constants
from gode.equation import Law, Term
from gode.equation.printer import to_text
from gode.equation.skeleton import shown_name
from gode.equation.system import make_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import ONE, Node, add, mul, num, number, power, var, variables
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
SMALL_FORCE = 1e-3  # A force below this fraction of that of the spring leaves the natural frequency as it is.
ROUNDING = 1e-8  # A relative influence of a constant below it is a rounding error of the numerical slope.

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
    c = np.array(law.constants)
    slopes = np.zeros((len(found), len(c)))
    for i in range(len(c)):
        moved = c.copy()
        moved[i] += STEP * (abs(c[i]) or 1.0)
        near = {(p.name, p.place): p.value for p in _recognised(make_law(law.skeleton, moved), {})}
        values = [near.get((p.name, p.place), p.value) - p.value for p in found]
        slopes[:, i] = np.array(values) / (moved[i] - c[i])
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), 0.0))
    return tuple(
        replace(p, error=float(error))
        for p, error, slope in zip(found, errors, slopes, strict=True)
        if not _is_given(law, p.value, slope)
    )


def _is_given(law: Law, value: float, slope: Float) -> bool:
    """Tell whether a constant is a named one, or follows from numbers that were given."""
    free = np.flatnonzero(np.abs(slope * np.array(law.constants)) > ROUNDING * abs(value))
    named = bool(law.skeleton.parameters) and len(free) == 1
    return not len(free) or (named and math.isclose(value, law.constants[free[0]], rel_tol=1e-9))


def _recognised(law: Law, units: Units) -> list[Constant]:
    """Return the constants of all forms that are found in a law, without errors, each once."""
    found: list[Constant] = []
    if not law.skeleton.explicit:
        return found
    inputs = tuple(shown_name(name, law.skeleton.called) for name in law.skeleton.inputs)
    for i, state in enumerate(law.skeleton.shown_states):
        if not law.skeleton.orders[i]:  # a formula of what is measured
            continue
        terms = right_side(law, i)
        forms = _first_order if law.skeleton.orders[i] == 1 else _second_order
        for one in [*forms(state, terms, inputs, units), *_saturation(terms, units)]:
            own = one.meaning in OF_ONE_EQUATION
            named = replace(one, name=law.skeleton.name_in(one.name, i)) if own else one
            if (named.name, named.value) not in [(p.name, p.value) for p in found]:
                found.append(named)
    states, sums = law.skeleton.shown_states, [right_side(law, i) for i in range(len(law.states))]
    found += [
        Constant(one.value, math.nan, one.form, one.name, one.unit, one.meaning, vague=1.0)
        for one in joint_constants(states, sums, inputs, units)
    ]
    return found


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
    return not found.finite or bool(np.abs(found.value).max() > SMALL_FORCE * small * spring)


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
