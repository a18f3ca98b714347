"""Names that a person gives to constants and unknown functions of an equation, entered as it is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gode.equation.tree import Node, const, has_constant, is_other, walk

HOLE = "?"  # the op of an unknown function, and the name of the one that is a function of all columns
MAX_FUNCTIONS = 20  # unknown functions of a frame
UNNAMED = re.compile(r"C\d+")  # what constants written C are called


class NameRefused(Exception):
    """Why a name cannot be used; the parser adds the place."""


@dataclass
class Names:
    """The constants and unknown functions met so far, in one equation or in all of a system."""

    functions_allowed: bool = False
    constants: list[str] = field(default_factory=list)
    functions: dict[str, int] = field(default_factory=dict)  # their numbers of arguments
    places: dict[str, tuple[str, int]] = field(default_factory=dict)  # text and place of each name

    def constant(self, name: str, text: str, start: int) -> Node:
        """Return the constant of this name."""
        if name in self.functions:
            raise NameRefused(f"{name} is an unknown function; write {name}(...) or another name")
        if is_other(name) or (UNNAMED.fullmatch(name) and name not in self.constants):
            raise NameRefused(f"{name} is a name that gode uses itself; choose another")
        return self._entered(name, text, start)

    def unnamed(self, text: str, start: int) -> Node:
        """Return another constant C."""
        n = sum(UNNAMED.fullmatch(name) is not None for name in self.constants)
        return self._entered(f"C{n + 1}", text, start)

    def _entered(self, name: str, text: str, start: int) -> Node:
        if name not in self.constants:
            self.constants.append(name)
            self.places[name] = text, start
        return const(self.constants.index(name))

    def function(self, name: str, arguments: Sequence[Node], text: str, start: int) -> Node:
        """Return an unknown function of these arguments."""
        if not self.functions_allowed:
            raise NameRefused(
                f"{name}{'(...)' * (name != HOLE)} is an unknown function, which discover finds: "
                "pass the equation as frame="
            )
        if name in self.constants:
            raise NameRefused(f"{name} is a constant; write '*' for a product")
        if not name[0].islower() and name != HOLE:
            raise NameRefused(
                f"unknown functions have lower-case names; write '*' for a product, or {name.lower()}(...)"
            )
        if any(node.op == HOLE for argument in arguments for node in walk(argument)):
            raise NameRefused(f"{name} cannot be a function of another unknown function")
        if any(map(has_constant, arguments)):
            raise NameRefused(
                f"the arguments of {name} are columns and numbers, without free constants; "
                "write '*' for a product"
            )
        if name not in self.functions and len(self.functions) >= MAX_FUNCTIONS:
            raise NameRefused(f"{name} is one unknown function too many; a frame has {MAX_FUNCTIONS} at most")
        n = self.functions.setdefault(name, len(arguments))
        if n != len(arguments):
            raise NameRefused(f"{name} has {len(arguments)} arguments here and {n} before")
        self.places.setdefault(name, (text, start))
        return Node(HOLE, name, tuple(arguments))
