"""Laws whose constants have names: what the names mean, and what was found for unknown functions."""

from __future__ import annotations

from typing import NamedTuple

from gode.equation import Found, Law
from gode.equation.names import HOLE, UNNAMED
from gode.equation.printer import rounded, to_text
from gode.equation.terms import linear_terms
from gode.equation.tree import Node, num, renamed, replace_constants
from gode.selection import Candidate

INSIDE = "inside a function"
UNDETERMINED = "not determined by these data"
SENSELESS = 1e3  # times a constant: an error beyond it says nothing


class _Number(NamedTuple):
    value: float
    error: float
    place: str


class Constant(_Number):
    """A number of the equation as written, its standard error, and what it multiplies or where it stands.

    It unpacks into these three; `name` is empty where it has none, `unit` where the columns do not tell it.
    """

    name: str
    unit: str

    def __new__(cls, value: float, error: float, place: str, name: str = "", unit: str = "") -> Constant:
        """Return a constant; name and unit stand beside the tuple."""
        made = super().__new__(cls, value, error, place)
        made.name, made.unit = name, unit
        return made

    @property
    def determined(self) -> bool:
        """Whether the error says anything; that of a constant next to zero does."""
        return not self.error > SENSELESS * abs(self.value) > 0

    def _asdict(self) -> dict[str, object]:
        return {**super()._asdict(), "name": self.name, "unit": self.unit}

    def _replace(self, **changes: object) -> Constant:
        return Constant(**{**self._asdict(), **changes})  # type: ignore[arg-type]


def numbers_of(law: Law, state: int | None) -> list[int]:
    """Return the free constants of a law, or those in the equation of one state."""
    skeleton = law.skeleton
    if state is None or len(skeleton.parts) == 1:
        return list(range(skeleton.n_constants))
    own = {parameter.name for parameter in skeleton.parts[state].parameters}
    return [i for i, parameter in enumerate(skeleton.parameters) if parameter.name in own]


def named_constants(candidate: Candidate, state: int | None) -> tuple[Constant, ...]:
    """Return the constants of a law, or of the equation of one state, by their names."""
    law = candidate.equation
    places = _places(law)
    return tuple(
        Constant(
            float(law.constants[i]),
            float(candidate.errors[i]),
            places.get(i, law.skeleton.parameters[i].name),
            law.skeleton.parameters[i].name,
        )
        for i in numbers_of(law, state)
    )


def _places(law: Law) -> dict[int, str]:
    """Return what each constant of an unknown function multiplies."""
    found: dict[int, str] = {}
    for function in law.skeleton.functions:
        for term in linear_terms(function.tree):
            body = to_text(displayed(law, function, term.body))
            for node in [term.body]:
                inner = _constants(node)
                found |= {i: f"inside {function.name}" for i in inner}
            if term.constant is not None:
                found[term.constant] = f"{body} in {function.name}"
    return found


def _constants(node: Node) -> list[int]:
    own = [int(node.value)] if node.op == "const" else []
    return own + [i for arg in node.args for i in _constants(arg)]


def displayed(law: Law, function: Found, tree: Node) -> Node:
    """Return a tree over the arguments of an unknown function in the names of the columns."""
    home = next(
        i for i, part in enumerate(law.skeleton.parts) if function.name in [f.name for f in part.functions]
    )
    return renamed(tree, law.skeleton.names(home))


def functions_found(law: Law) -> dict[str, str]:
    """Return what was found for each unknown function, as text with its name and arguments."""
    texts = {}
    for function in law.skeleton.functions:
        tree = replace_constants(function.tree, lambda i: num(law.constants[i]))
        text = to_text(displayed(law, function, tree), rounded(4))
        arguments = [to_text(displayed(law, function, Node("var", name, ()))) for name in function.arguments]
        left = "?" if function.name.startswith(HOLE) else f"{function.name}({', '.join(arguments)})"
        texts[function.name] = f"{left} = {text}"
    return texts


def lines_with_names(law: Law) -> list[str]:
    """Return the equation of each state with the names of its constants."""
    skeleton = law.skeleton
    return [part.text(skeleton.names(i)) for i, part in enumerate(skeleton.parts)]


def is_unnamed(name: str) -> bool:
    """Tell whether a constant was written C."""
    return not name or UNNAMED.fullmatch(name) is not None
