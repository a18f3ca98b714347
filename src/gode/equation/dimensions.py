"""Units of the constants in an equation, and mistakes such as metres added to seconds.

The unit of each constant is unknown. What is added must have one unit, what stands in sin or exp none; each
such rule gives the unit of a constant, or is kept, or is broken. A number may have any unit, except one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gode.equation.operators import FUNCTIONS
from gode.equation.printer import to_text
from gode.equation.skeleton import Link
from gode.equation.system import LawSkeleton
from gode.equation.tree import (
    DELAY,
    TIME,
    Node,
    const,
    count_constants,
    index,
    mul,
    num,
    number,
    renamed,
    renumber,
    replace_constants,
)
from gode.units import SMALLEST, Unit

SAME = ("abs", "max0")  # functions whose value has the unit of their argument


class UnitConflict(Exception):
    """Two different units where one is needed: in words, with the trees in braces, and where that is."""

    def __init__(self, reason: str, trees: tuple[Node, ...]) -> None:
        super().__init__(reason.format(*map(_shown, trees)))
        self.reason, self.trees = reason, trees

    @property
    def node(self) -> Node:
        """The tree with the unit that was not expected."""
        return self.trees[-1]

    def told(self, names: Mapping[str, str]) -> str:
        """Return the words in other names of the columns."""
        return self.reason.format(*(_shown(renamed(tree, names)) for tree in self.trees))


@dataclass(frozen=True)
class Mixed:
    """A unit with unknown ones in it, by their numbers."""

    known: Unit = field(default_factory=Unit)
    unknown: Mapping[int, float] = field(default_factory=dict)

    def times(self, other: "Mixed", power: float = 1.0) -> "Mixed":
        """Return the product with a power of another."""
        total = dict(self.unknown)
        for i, p in other.unknown.items():
            total[i] = total.get(i, 0.0) + p * power
        left = {i: p for i, p in total.items() if abs(p) > SMALLEST}
        return Mixed(self.known * other.known**power, left)


@dataclass
class Inference:
    """What is known of the units of constants so far; `columns` are those of the signals."""

    columns: Mapping[str, Unit]
    n_constants: int
    strict: bool = True  # whether what stands in log must be a pure number: log(C*u) is written C + log(u)
    solved: dict[int, Mixed] = field(default_factory=dict)
    n_unknown: int = 0
    functions: dict[str, int] = field(default_factory=dict)  # unknown ones: the number of their unit

    def __post_init__(self) -> None:
        self.n_unknown = self.n_constants

    def fresh(self) -> Mixed:
        """Return a unit of which nothing is known."""
        self.n_unknown += 1
        return Mixed(Unit(), {self.n_unknown - 1: 1.0})

    def reduced(self, unit: Mixed) -> Mixed:
        """Return a unit with all that was found about unknown ones."""
        while any(i in self.solved for i in unit.unknown):
            i = next(i for i in unit.unknown if i in self.solved)
            power = unit.unknown[i]
            rest = Mixed(unit.known, {k: p for k, p in unit.unknown.items() if k != i})
            unit = rest.times(self.solved[i], power)
        return unit

    def constant(self, i: int) -> Unit | None:
        """Return the unit of a constant, None if nothing determines it."""
        found = self.reduced(Mixed(Unit(), {i: 1.0}))
        return None if found.unknown else found.known

    def value(self, node: Node) -> Unit | None:
        """Return the unit of a tree, None if nothing determines it."""
        found = self.reduced(self.unit(node))
        return None if found.unknown else found.known

    def equal(self, one: Mixed, other: Mixed, what: str, *trees: Node) -> None:
        """See to it that two units are the same; `what` says of which trees, with <> for both units.

        Raises:
            UnitConflict: if they are not.
        """
        a, b = self.reduced(one), self.reduced(other)
        left = a.times(b, -1.0)
        if left.unknown:
            i = max(left.unknown)
            power = left.unknown[i]
            rest = Mixed(left.known, {k: p for k, p in left.unknown.items() if k != i})
            self.solved[i] = Mixed().times(rest, -1.0 / power)
        elif not left.known.is_pure:
            for unit in (a.known, b.known):
                what = what.replace("<>", str(unit) or "a pure number", 1)
            raise UnitConflict(what, trees)

    def unit(self, node: Node) -> Mixed:
        """Return the unit of a tree; constants must keep their numbers, and unknown numbers are new ones."""
        match node.op:
            case "num":
                return Mixed() if abs(number(node)) == 1 else self.fresh()
            case "const":
                return Mixed(Unit(), {index(node): 1.0})
            case "var":
                found = self.columns.get(str(node.value))
                return self.fresh() if found is None else Mixed(found)
            case "+":
                return self._sum(node)
            case "*":
                total = Mixed()
                for arg in node.args:
                    total = total.times(self.unit(arg))
                return total
            case "^":
                return self._power(*node.args)
            case "?":
                place = self.functions.setdefault(str(node.value), self.n_unknown)
                return self.fresh() if place == self.n_unknown else Mixed(Unit(), {place: 1.0})
        return self._call(node)

    def _sum(self, node: Node) -> Mixed:
        first = self.unit(node.args[0])
        for arg in node.args[1:]:
            pair = "{} and {} are added, but one is in <>, the other in <>"
            self.equal(first, self.unit(arg), pair, node.args[0], arg)
        return first

    def _power(self, base: Node, exponent: Node) -> Mixed:
        own = self.unit(base)
        if exponent.op == "num":
            return Mixed().times(own, number(exponent))
        what = "the exponent {} is in <>, it must be <>"
        self.equal(self.unit(exponent), Mixed(), what, exponent)
        return self.fresh() if self.reduced(own) != Mixed() else Mixed()

    def _call(self, node: Node) -> Mixed:
        if node.op == DELAY:
            if TIME in self.columns and node.args[1].op == "const":
                what = "the delay {} is in <>, it must be in <>, as t is"
                self.equal(self.unit(node.args[1]), Mixed(self.columns[TIME]), what, node.args[1])
            return self.unit(node.args[0])
        inside = self.unit(node.args[0])
        if node.op in SAME:
            return inside
        if node.op in FUNCTIONS and node.op != "sign" and (self.strict or node.op != "log"):
            what = f"{{}}: what stands in {node.op} is in <>, it must be <>"
            self.equal(inside, Mixed(), what, node)
        return Mixed()


def _shown(node: Node) -> str:
    return to_text(renumber(node))


def relabelled(skeleton: LawSkeleton, state: int, tree: Node) -> Node:
    """Return a part of one equation with its constants numbered as the free constants of the law."""
    first = sum(part.n_constants for part in skeleton.parts[:state])
    links = skeleton.links
    return replace_constants(tree, lambda i: _linked(links[first + i]) if links else const(first + i))


def _linked(link: Link) -> Node:
    return mul(num(link.factor), const(link.place)) if link.place >= 0 else num(link.factor)


def infer_units(skeleton: LawSkeleton, columns: Mapping[str, Unit]) -> Inference:
    """Return what the units of columns, by their names in the data, say of the free constants of a law.

    Raises:
        UnitConflict: if the law mixes them up.
    """
    found = Inference({}, skeleton.n_constants, strict=False)
    for state, part in enumerate(skeleton.parts):
        found.columns = columns_of_view(columns, skeleton.columns(state))
        found.unit(relabelled(skeleton, state, part.normal))
    return found


def columns_of_view(columns: Mapping[str, Unit], names: Mapping[str, str]) -> dict[str, Unit]:
    """Return the units of columns by the names that an equation has for them."""
    if not names:
        return dict(columns)
    return {seen: columns[shown] for seen, shown in names.items() if shown in columns}


def keeps_units(tree: Node, columns: Mapping[str, Unit]) -> bool:
    """Tell whether a tree in the view of its equation mixes up no units."""
    try:
        Inference(columns, count_constants(tree), strict=False).unit(tree)
    except UnitConflict:
        return False
    return True
