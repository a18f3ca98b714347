"""What the user knows and assumes of a law; what terms tell is kept in the grammar, all else is checked."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gode.data import Columns
from gode.equation import Law, Node
from gode.equation.frame import split_equations
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import STATE, TIME, derivative_order, variables
from gode.errors import ConfigError, pointed
from gode.fitting.invariant_zero import POINTS, SMALL, keeps_zero, law_keeps_zero, values_at
from gode.options.table import Bounds, Texts

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
    if "rest-at-zero" in assumed and not np.abs(values_at(body, 0.0 * POINTS)).max() <= SMALL:
        return False
    if KEEPS_ZERO in assumed and not keeps_zero(body, order):
        return False
    if "odd" not in assumed:
        return True
    here, there = values_at(body, POINTS), values_at(body, -POINTS)
    return bool(np.abs(here + there).max() <= SMALL * max(np.abs(here).max(), 1.0))


def satisfies(law: Law, columns: Columns, assumed: Sequence[str]) -> bool:
    """Tell whether a law keeps what terms alone cannot tell, such as states that stay nonnegative."""
    if KEEPS_ZERO in assumed and not law_keeps_zero(law):
        return False
    if "nonnegative" not in assumed:
        return True
    for index, (part, equation) in enumerate(zip(law.skeleton.parts, law.equations, strict=True)):
        names = columns.seen(index)
        if part.order != 1 or part.rhs_terms is None:
            continue
        x = np.maximum(columns.matrix, 0.0)
        x[names.index(STATE)] = 0.0
        tape = compile_tape(part.rhs_terms, names, part.n_constants)
        slope = evaluate(tape, equation.constants, x).value
        if not np.all(slope >= -SMALL * max(np.abs(columns.matrix[1 + 3 * index + 1]).max(), 1.0)):
            return False
    return True


def remark_on(name: str, cost: float | None) -> str:
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


@dataclass(frozen=True, kw_only=True)
class Known:
    """A frame and the values and bounds of its constants, as they can be saved."""

    frame: tuple[str, ...] = ()
    fixed: tuple[tuple[str, float], ...] = ()
    bounds: tuple[tuple[str, float, float], ...] = ()
    units: tuple[tuple[str, str], ...] = ()  # of columns
    assume: tuple[str, ...] = ()
    guess: tuple[tuple[str, float], ...] = ()  # from where constants are fitted first

    @property
    def limits(self) -> dict[str, tuple[float | None, float | None]]:
        """The bounds by the names of constants."""
        return {name: (low, high) for name, low, high in self.bounds}


def make_known(
    frame: Texts | None = None,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    units: Mapping[str, str] | None = None,
    assume: str | Sequence[str] = (),
    guess: Mapping[str, float] | None = None,
) -> Known:
    """Return what the user knows.

    Raises:
        ConfigError: if values are given without an equation whose constants they are, or are no numbers.
    """
    if frame is None and (fixed or bounds):
        raise ConfigError("fixed= and bounds= are of constants in frame=; give that, too")
    if frame is not None and not isinstance(frame, str | Sequence | Mapping):
        raise ConfigError(f"frame= must be text, or a list with one for each state, got {frame!r}")
    texts = () if frame is None else tuple(split_equations(frame))
    if frame is not None and not texts:
        raise ConfigError(f'frame= must hold an equation, such as "u\' = f(u)", got {frame!r}')
    for option, given in (("fixed", fixed), ("bounds", bounds), ("units", units), ("guess", guess)):
        if given is not None and not isinstance(given, Mapping):
            raise ConfigError(
                f"{option}= must be a mapping of names to values, such as {{'K': 500}}, got {given!r}"
            )
    values = tuple((str(k), _number(k, v)) for k, v in (fixed or {}).items())
    first = tuple((str(k), _number(k, v, "guessed")) for k, v in (guess or {}).items())
    limits = tuple((str(k), *_pair(k, v)) for k, v in (bounds or {}).items())
    named = tuple((units or {}).items())
    assumed = checked_assumptions(assume)
    return Known(frame=texts, fixed=values, bounds=limits, units=named, assume=assumed, guess=first)


def _number(name: str, value: object, what: str = "fixed") -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ConfigError(f"the {what} value of {name} must be a number, got {value!r}") from None
    except OverflowError:
        raise ConfigError(
            f"the {what} value of {name} is too large to compute with; give a smaller one"
        ) from None
    if not math.isfinite(number):
        raise ConfigError(f"the {what} value of {name} must be a finite number, got {number}")
    return number


def _pair(name: str, given: tuple[float | None, float | None]) -> tuple[float, float]:
    try:
        low, high = given
        pair = -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ConfigError(f"the bounds of {name} must be a pair such as (0, None), got {given!r}") from None
    except OverflowError:
        raise ConfigError(f"a bound of {name} is too large to compute with; give a smaller one") from None
    return pair
