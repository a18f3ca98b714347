"""The form of a law that people use, such as r*u*(1 - u/K), with error bars carried over from its constants.

Growth with a limit, relaxation, oscillation and saturation are recognised in the terms of each equation. A
natural frequency is told where these terms alone decide the small motions about rest, and nowhere else.
Their constants are functions of those that were fitted; the errors follow from the slopes (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.discovery.named import SENSELESS
from gode.discovery.shared import right_side
from gode.equation import Law, Term
from gode.equation.printer import to_text
from gode.equation.skeleton import shown_name
from gode.equation.system import make_law
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import ONE, Node, add, mul, num, number, power, var, variables
from gode.units import Unit

TINY, SMALL = 1e-6, 1e-3  # of a motion, and of the force of a spring: smaller ones are none
STEP = 1e-6  # relative, of a constant, for the slopes
Side = Mapping[Node, float]  # coefficients by their bodies


class Natural(NamedTuple):
    """A constant of a form that people use."""

    name: str
    value: float
    error: float
    meaning: str
    form: str  # the terms in which it stands
    unit: str = ""

    @property
    def determined(self) -> bool:
        """Whether the data tell its size: the inverse of a number that may be zero has none."""
        most = 1.0 if self.meaning in INVERSE else SENSELESS
        return not self.error > most * abs(self.value) > 0


class _Part(NamedTuple):
    """A constant of a form as a number; its unit as powers of those of the column and of time."""

    name: str
    value: float
    meaning: str
    form: str
    column: str
    powers: tuple[float, float]
    per: str = ""  # another column by whose unit it is divided


def natural_constants(law: Law, covariance: Float, units: Mapping[str, Unit]) -> tuple[Natural, ...]:
    """Return the constants that people would speak of, with their standard errors.

    Those that the user has given a name or a value are left out.
    """
    found = _parts(law)
    c = np.array(law.constants)
    slopes = np.zeros((len(found), len(c)))
    for i in range(len(c)):
        moved = c.copy()
        moved[i] += STEP * (abs(c[i]) or 1.0)
        near = {(p.name, p.form): p.value for p in _parts(make_law(law.skeleton, moved))}
        values = [near.get((p.name, p.form), p.value) - p.value for p in found]
        slopes[:, i] = np.array(values) / (moved[i] - c[i])
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), 0.0))
    return tuple(
        Natural(p.name, p.value, float(e), p.meaning, p.form, _unit(p, units))
        for p, e, slope in zip(found, errors, slopes, strict=True)
        if not _is_given(law, p.value, slope)
    )


def _is_given(law: Law, value: float, slope: Float) -> bool:
    """Tell whether a constant is a named one, or follows from numbers that were given."""
    free = np.flatnonzero(np.abs(slope * np.array(law.constants)) > 1e-8 * abs(value))  # but rounding
    named = bool(law.skeleton.parameters) and len(free) == 1
    return not len(free) or (named and math.isclose(value, law.constants[free[0]], rel_tol=1e-9))


def _unit(part: _Part, units: Mapping[str, Unit]) -> str:
    own, time = part.powers
    needed = [name for name, power_ in ((part.column, own), ("t", time), (part.per, part.per)) if power_]
    if any(name not in units for name in needed):
        return ""
    found = units.get(part.column, Unit()) ** own * units.get("t", Unit()) ** time
    return str(found / units.get(part.per, Unit()))


def _parts(law: Law) -> list[_Part]:
    found: list[_Part] = []
    if not law.skeleton.explicit:
        return found
    several = len(law.states) > 1
    inputs = tuple(shown_name(name, law.skeleton.called) for name in law.skeleton.inputs)
    for own, state in enumerate(law.skeleton.shown_states):
        side = right_side(law, own)
        forms = _first_order if law.skeleton.orders[own] == 1 else _second_order
        for part in [*forms(state, side, inputs), *_saturation(side)]:
            named = part._replace(name=f"{part.name}_{state}") if several and part.meaning in OWN else part
            if (named.name, named.value) not in [(p.name, p.value) for p in found]:
                found.append(named)
    return found


GROWTH, LIMIT, TIME, REST = "growth rate", "carrying capacity", "time constant", "value at rest"
FREQUENCY, DAMPING, GAIN = "natural frequency", "damping ratio", "gain at rest"
DOUBLING, HALF = "doubling time", "half-saturation constant"
INVERSE = (TIME, LIMIT, DOUBLING, HALF)
OWN = (GROWTH, LIMIT, TIME, REST, FREQUENCY, DAMPING, GAIN)  # of one equation of a system


def _first_order(name: str, side: Side, inputs: tuple[str, ...]) -> Iterator[_Part]:
    u = var(name)
    one, two, level = side.get(u, 0.0), side.get(power(u, num(2.0)), 0.0), side.get(ONE, 0.0)
    if one > 0 and two < 0:
        form = f"r*{name}*(1 - {name}/K)"
        yield _Part("r", one, GROWTH, form, name, (0, -1))
        yield _Part("K", -one / two, LIMIT, form, name, (1, 0))
    elif one < 0 and set(side) <= {u, ONE, *map(var, inputs)}:
        driven = [known for known in inputs if var(known) in side]
        gains = ["gain" if len(driven) == 1 else f"gain_{known}" for known in driven]
        level_text = [f"{name}_rest"] if level else []
        over = " + ".join([*level_text, *(f"{g}*{known}" for g, known in zip(gains, driven, strict=True))])
        form = f"({over} - {name})/tau" if over else f"-{name}/tau"
        yield _Part("tau", -1 / one, TIME, form, name, (0, 1))
        if level:
            yield _Part(f"{name}_rest", -level / one, REST, form, name, (1, 0))
        for gain, known in zip(gains, driven, strict=True):
            yield _Part(gain, -side[var(known)] / one, GAIN, form, name, (1, 0), known)
    elif one > 0 and set(side) == {u}:
        yield _Part("T2", math.log(2.0) / one, DOUBLING, f"ln(2)/T2*{name}", name, (0, 1))


def _second_order(name: str, side: Side, inputs: tuple[str, ...]) -> Iterator[_Part]:
    u, speed = var(name), var(f"{name}'")
    for body, shown in ((u, name), (Node("sin", 0.0, (u,)), f"sin({name})")):
        spring, damper = side.get(body, 0.0), side.get(speed, 0.0)
        rest = {b: c for b, c in side.items() if b not in (body, speed) and not _drives(b, inputs)}
        bent = body is not u or set(rest) - {ONE}  # a level moves the rest of these, and their slope with it
        if spring < 0 and not (bent and _moves(rest, name, -spring)):
            omega = math.sqrt(-spring)
            form = f"-omega^2*{shown}" + (f" - 2*zeta*omega*{name}'" if damper else "")
            yield _Part("omega", omega, FREQUENCY, form, name, (0, -1))
            if damper:
                yield _Part("zeta", -damper / (2 * omega), DAMPING, form, name, (0, 0))
            return


def _drives(body: Node, inputs: tuple[str, ...]) -> bool:
    """Tell whether a term depends on time and inputs alone."""
    return body != ONE and variables(body) <= {"t", *inputs}


def _moves(side: Side, name: str, spring: float) -> bool:
    """Tell whether terms act on small motions about zero, beside a spring, or may."""
    columns = ("t", name, f"{name}'")
    if any(not variables(body) <= {*columns[1:]} for body in side):
        return True
    tape = compile_tape([Term(1.0, None, add(*(mul(num(c), b) for b, c in side.items())))], columns, 0)
    at = np.array([[0.0] * 5, [0.0, TINY, -TINY, 0.0, 0.0], [0.0, 0.0, 0.0, TINY, -TINY]])
    found = evaluate(tape, [], at)
    return not found.finite or bool(np.abs(found.value).max() > SMALL * TINY * spring)


def _saturation(side: Side) -> Iterator[_Part]:
    """Yield the half-saturation constants of terms with x/(x_half + x) or x^n/(x_half^n + x^n)."""
    for body in side:
        factors = body.args if body.op == "*" else (body,)
        for factor in factors:
            if not (factor.op == "^" and factor.args[1] == num(-1.0) and factor.args[0].op == "+"):
                continue
            terms = factor.args[0].args
            level = [number(t) for t in terms if t.op == "num"]
            amounts = [t for t in terms if t.op != "num"]
            if len(level) == 1 and len(amounts) == 1 and level[0] > 0 and amounts[0] in factors:
                yield _half(amounts[0], level[0])


def _half(amount: Node, level: float) -> _Part:
    base, exponent = (amount.args[0], number(amount.args[1])) if amount.op == "^" else (amount, 1.0)
    name = to_text(base)
    half = f"{name}_half"
    form = (
        f"{name}/({half} + {name})"
        if exponent == 1
        else f"{name}^{exponent:g}/({half}^{exponent:g} + {name}^{exponent:g})"
    )
    return _Part(half, level ** (1 / exponent), HALF, form, name, (1, 0))
