"""Systems: an equation for each of several states, with constants that may be shared.

Each equation is written in its own view: its own state is u, the other states are v1, v2, ... in their order,
the first known input is F and further ones follow the states as v's. So one equation of a system is an
ordinary equation with inputs, and a scalar equation is a system of one state. Display names, such as prey and
predator, matter for reading and printing alone.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gode.arrays import Float
from gode.equation.equation import Equation, equation_of
from gode.equation.notation import in_primes
from gode.equation.parse import TOKEN, Names, parse_tree
from gode.equation.skeleton import AnySkeleton, Found, Link, Parameter, Skeleton, checked, shown_name
from gode.equation.sums import to_sum
from gode.equation.tree import STATE, TIME, Node, const, has_constant, renamed, replace_constants, unlabelled
from gode.errors import EquationError, pointed, shortened

if TYPE_CHECKING:
    import sympy


def state_seen(index: int, state: int) -> str:
    """Return what the equation of state number `index` calls a state."""
    return STATE if state == index else f"v{state + (state < index)}"


def input_seen(number: int, n_states: int) -> str:
    """Return what an equation of `n_states` states calls known input `number`."""
    return "F" if number == 0 else f"v{n_states - 1 + number}"


def columns_seen(index: int, n_states: int, n_inputs: int) -> tuple[str, ...]:
    """Return the names of the columns in one equation: t, three for each state, the inputs."""
    states = [state_seen(index, s) + "'" * k for s in range(n_states) for k in range(3)]
    return (TIME, *states, *(input_seen(i, n_states) for i in range(n_inputs)))


def names_in_law(states: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """Return what a law calls states, their derivatives and inputs: a single state is u, beside F, v1, ..."""
    shown = display_columns(states, inputs)
    return dict(zip(shown, columns_seen(0, 1, len(inputs)) if len(states) == 1 else shown, strict=True))


def display_columns(states: Sequence[str], inputs: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns as they are shown."""
    return (TIME, *(name + "'" * k for name in states for k in range(3)), *inputs)


def seen_to_display(index: int, states: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """Return the display name of each column by its name in the view of equation `index`."""
    seen = columns_seen(index, len(states), len(inputs))
    return dict(zip(seen, display_columns(states, inputs), strict=True))


@dataclass(frozen=True, eq=False)
class SystemSkeleton(AnySkeleton):
    """The equations of several states with free constants; equal to every one with the same normal forms."""

    states: tuple[str, ...]
    parts: tuple[Skeleton, ...]  # one for each state, in its own view
    inputs: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()  # one for each constant of all parts; none if every constant is free
    parameters: tuple[Parameter, ...] = ()  # names and bounds of the free constants, where they have some
    called: Mapping[str, str] = field(default_factory=dict)  # what one state and its inputs are called

    @cached_property
    def key(self) -> tuple[object, ...]:
        """The normal forms and what ties their constants: what makes systems equal."""
        return (*(part.key for part in self.parts), self.links)

    @cached_property
    def structure(self) -> object:
        """What tells laws apart: the terms of each equation, whatever their factors."""
        if self.parameters:
            return self.key
        return tuple(frozenset(to_sum(unlabelled(part.key))) for part in self.parts)

    @property
    def order(self) -> int:
        """The largest order."""
        return max(self.orders)

    @property
    def sought(self) -> "tuple[LawSkeleton, ...]":
        """What a search was for: the law, or each unknown function of a frame as a right-hand side."""
        found = {
            f.name: each
            for p in self.parts
            if p.functions
            for f, each in zip(p.functions, p.sought, strict=True)
        }
        return tuple(found.values()) or (self,)

    @cached_property
    def n_constants(self) -> int:
        """The number of free constants."""
        return 1 + max(link.place for link in self.links) if self.links else self.n_numbers

    @cached_property
    def functions(self) -> "tuple[Found, ...]":
        """What the unknown functions of a frame became, with constants numbered as the free ones."""
        found: dict[str, Found] = {}
        for part, first in zip(self.parts, self.offsets, strict=False):
            for each in part.functions:
                places = self.places[first:]
                tree = replace_constants(each.tree, lambda i, p=places: const(int(p[i])))  # type: ignore[misc]
                found.setdefault(each.name, each._replace(tree=tree))
        return tuple(found.values())

    @cached_property
    def complexity(self) -> int:
        """The paper's complexity of all equations."""
        return sum(part.complexity for part in self.parts)

    @property
    def explicit(self) -> bool:
        """Whether each equation can be solved for its highest derivative."""
        return all(part.explicit for part in self.parts)

    def seen(self, index: int) -> tuple[str, ...]:
        """Return the names of the columns in the view of equation `index`."""
        return columns_seen(index, len(self.states), len(self.inputs))

    def names(self, index: int) -> dict[str, str]:
        """Return the display name of each column by its name in the view of one equation."""
        inputs = [shown_name(name, self.called) for name in self.inputs]
        return seen_to_display(index, self.shown_states, inputs)

    def columns(self, index: int) -> dict[str, str]:
        """Return what the data call each column, by its name in the view of one equation."""
        return seen_to_display(index, self.states, self.inputs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SystemSkeleton) and self.key == other.key

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return "\n".join(part.text(self.names(i)) for i, part in enumerate(self.parts))


@dataclass(frozen=True)
class System:
    """The skeleton of a system and its free constants."""

    skeleton: SystemSkeleton
    constants: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.constants) != self.skeleton.n_constants:
            raise EquationError(
                f"{self.skeleton} has {self.skeleton.n_constants} constants, got {len(self.constants)} values"
            )

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return self.skeleton.states

    @property
    def order(self) -> int:
        """The largest order."""
        return self.skeleton.order

    @cached_property
    def equations(self) -> tuple[Equation, ...]:
        """The equation of each state, in its own view."""
        values, ends = self.skeleton.numbers(self.constants).tolist(), self.skeleton.offsets
        return tuple(
            Equation(part, tuple(values[ends[i] : ends[i + 1]])) for i, part in enumerate(self.skeleton.parts)
        )

    @cached_property
    def complexity(self) -> int:
        """The paper's complexity of all equations."""
        return sum(equation.complexity for equation in self.equations)

    def lines(self, digits: int | None = 6) -> list[str]:
        """Return the equation of each state as text."""
        return [e.text(digits, self.skeleton.names(i)) for i, e in enumerate(self.equations)]

    def text(self, digits: int | None = 6) -> str:
        """Return the equations as text, one line for each; every digit if `digits` is None."""
        return "\n".join(self.lines(digits))

    def latex(self, digits: int = 4) -> str:
        """Return the equations as an aligned block of LaTeX."""
        rows = [e.latex(digits, self.skeleton.names(i)) for i, e in enumerate(self.equations)]
        body = " \\\\\n".join(row.replace(" = ", " &= ", 1) for row in rows)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def sympy(self) -> "list[sympy.Eq]":
        """Return the equations as a list of SymPy `Eq` in functions of t, such as prey(t)."""
        from gode.equation.symbolic import tree_to_sympy  # SymPy takes 0.3 s to import

        return [
            tree_to_sympy(*(renamed(side, self.skeleton.names(i)) for side in e.explicit_sides()))
            for i, e in enumerate(self.equations)
        ]

    def __str__(self) -> str:
        return self.text()


Law = Equation | System
LawSkeleton = Skeleton | SystemSkeleton


def make_law(skeleton: LawSkeleton, constants: Sequence[float] | Float) -> Law:
    """Return a skeleton with the values of its free constants."""
    values = tuple(float(c) for c in constants)
    if isinstance(skeleton, SystemSkeleton):
        return System(skeleton, values)
    return Equation(skeleton, values)


def joined(
    states: tuple[str, ...], inputs: tuple[str, ...], parts: Sequence[Skeleton], links: tuple[Link, ...] = ()
) -> LawSkeleton:
    """Return the law of one equation for each state; constants of one name are one."""
    if len(parts) == 1 and not links:
        return parts[0]
    named = [p for part in parts for p in part.parameters]
    if not named:
        return SystemSkeleton(states, tuple(parts), inputs, links)
    free = list({p.name: p for p in named}.values())
    names = [p.name for p in free]
    links = tuple(Link(names.index(p.name)) for p in named)
    return SystemSkeleton(states, tuple(parts), inputs, links, tuple(free))


def law_of(states: tuple[str, ...], inputs: tuple[str, ...], equations: Sequence[Equation]) -> Law:
    """Return the law of one equation for each state; a constant of several has the value of the first."""
    skeleton = joined(states, inputs, [equation.skeleton for equation in equations])
    if not skeleton.parameters:
        return make_law(skeleton, [value for equation in equations for value in equation.constants])
    pairs = [pair for e in equations for pair in zip(e.skeleton.parameters, e.constants, strict=True)]
    values = {parameter.name: value for parameter, value in reversed(pairs)}
    return make_law(skeleton, [values[parameter.name] for parameter in skeleton.parameters])


def moving_law(law: Law) -> Law:
    """Return the equations of the states that move, without formulas of what is measured, which come last."""
    skeleton = law.skeleton
    if all(skeleton.orders):
        return law
    assert isinstance(skeleton, SystemSkeleton), "a formula stands beside equations"
    kept = [s for s, order in enumerate(skeleton.orders) if order]
    inputs = range(len(skeleton.inputs))
    called = {input_seen(i, len(skeleton.states)): input_seen(i, len(kept)) for i in inputs}
    parts = tuple(replace(skeleton.parts[s], tree=renamed(skeleton.parts[s].tree, called)) for s in kept)
    n = sum(part.n_constants for part in parts)
    made = SystemSkeleton(tuple(skeleton.states[s] for s in kept), parts, skeleton.inputs, skeleton.links[:n])
    constants = law.constants[: made.n_constants]
    return System(replace(made, parameters=skeleton.parameters[: made.n_constants]), constants)


def with_names(law: Law, called: Mapping[str, str]) -> Law:
    """Return a law whose columns are called otherwise when it is shown; it stays equal to itself.

    A name that a constant or an unknown function of the law has is not taken.
    """
    named = shown_as(law.skeleton, called)
    return law if named is law.skeleton else replace(law, skeleton=named)  # type: ignore[arg-type]


def shown_as(skeleton: LawSkeleton, called: Mapping[str, str]) -> LawSkeleton:
    """Return a skeleton whose columns are called otherwise when it is shown; see `with_names`."""
    used = {*(p.name for p in skeleton.parameters), *(f.name for f in skeleton.functions)}
    free = {name: other for name, other in called.items() if other not in used and other != name}
    if free == skeleton.called:
        return skeleton
    named = copy(skeleton)  # with what is known about it
    object.__setattr__(named, "called", free)
    return named


def parse_system(
    texts: Sequence[str] | Mapping[str, str],
    *,
    states: Sequence[str] = (),
    inputs: Sequence[str] = ("F",),
) -> SystemSkeleton:
    """Return the system a person typed, such as ``["x' = C*x - C*x*y", "y' = C*x*y - C*y"]``.

    Numbers are kept as they are; each C is a free constant.

    Args:
        states: their names, in order; by default those that have a derivative, as they occur. The state of an
            equation is the one whose derivative stands on its left, or the key of a mapping.

    Raises:
        EquationError: if a text is no equation, or a state has none or two of them.
    """
    used = _used(texts, inputs)
    trees = read_trees(texts, states, used)
    parts = [checked(Skeleton(tree), text, formula=True) for tree, text in trees.values()]
    return SystemSkeleton(tuple(trees), tuple(parts), used)


def parse_system_values(
    texts: Sequence[str] | Mapping[str, str],
    *,
    states: Sequence[str] = (),
    inputs: Sequence[str] = ("F",),
) -> System:
    """Return the system a person typed with numbers for all of its constants; see `parse_system`."""
    used = _used(texts, inputs)
    trees = read_trees(texts, states, used)
    for tree, text in trees.values():
        if has_constant(tree):
            raise EquationError(f"{shortened(text)!r} has free constants C; give them values")
        checked(Skeleton(tree), text, formula=True)
    equations = [equation_of(tree) for tree, _ in trees.values()]
    skeleton = SystemSkeleton(tuple(trees), tuple(e.skeleton for e in equations), used)
    return System(skeleton, tuple(c for e in equations for c in e.constants))


def written_states(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the states whose derivatives stand on the left of some equations, in their order.

    So does what is measured, of which a formula tells what it is: it stands on the left by itself.
    """
    return tuple(dict.fromkeys(_owner(text, ()) for text in sorted(in_primes(texts), key=is_formula)))


def _texts(texts: Sequence[str] | Mapping[str, str], states: Sequence[str] = ()) -> list[str]:
    found = (
        [texts] if isinstance(texts, str) else list(texts.values() if isinstance(texts, Mapping) else texts)
    )
    for text in found:
        if not isinstance(text, str):
            raise EquationError(f"an equation must be text, got {type(text).__name__}")
    return in_primes(found, states)


def _used(texts: Sequence[str] | Mapping[str, str], inputs: Sequence[str]) -> tuple[str, ...]:
    words = {word for text in _texts(texts) for word in _words(text)}
    return tuple(name for name in inputs if name in words)


def _words(text: str) -> list[str]:
    """Return the names in a text, derivatives with their primes."""
    return [m["name"] + "'" * len(m["primes"] or "") for m in TOKEN.finditer(text) if m["name"]]


def read_trees(
    texts: Sequence[str] | Mapping[str, str],
    states: Sequence[str],
    inputs: Sequence[str],
    names: Names | None = None,
) -> dict[str, tuple[Node, str]]:
    """Return the tree of each state in its own view, and its text, in the order of the states.

    Args:
        names: where names of constants and unknown functions are entered; see `parse_tree`.
    """
    given = _texts(texts, states)
    owners = list(texts) if isinstance(texts, Mapping) else [_owner(text, states) for text in given]
    known = tuple(states) or tuple(dict.fromkeys(owners))
    for name in known:
        if owners.count(name) != 1:
            raise EquationError(
                f"the state {name} needs one equation, got {owners.count(name)}; write {name}' = ... once"
            )
    unknown = [name for name in owners if name not in known]
    if unknown:
        text = given[owners.index(unknown[0])]
        raise EquationError(
            pointed(
                f"{unknown[0]} is no state; the states are {', '.join(known)}", text, text.find(unknown[0])
            )
        )
    _check_formulas(given, owners)
    trees: dict[str, tuple[Node, str]] = {}
    for index, name in enumerate(known):
        text = given[owners.index(name)]
        tree = parse_tree(text, inputs=tuple(inputs), states=known, names=names)
        seen = {shown: called for called, shown in seen_to_display(index, known, inputs).items()}
        trees[name] = renamed(tree, seen), text
    return trees


def is_formula(text: str) -> bool:
    """Tell whether a text says by a formula what is measured: a name alone stands on its left."""
    left, equals, _ = text.partition("=")
    return bool(equals) and re.fullmatch(r"\s*[A-Za-z_]\w*\s*", left) is not None


def _check_formulas(texts: Sequence[str], owners: Sequence[str]) -> None:
    """Raise EquationError if what a formula says is measured stands in an equation, or there is no other."""
    measured = [owner for text, owner in zip(texts, owners, strict=True) if is_formula(text)]
    for name in measured:
        for text in texts:
            start = text.index("=") + 1 if "=" in text else 0
            place = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)").search(text, start)
            if place is not None:
                reason = f"{name} is what is measured, by its formula; write the formula itself here"
                if is_formula(text) and owners[texts.index(text)] == name:
                    reason = f"{name} stands on both sides; a law of it begins with {name}' = ..."
                raise EquationError(pointed(reason, text, place.start()))
    if measured and len(measured) == len(texts):
        reason = f"it holds no derivative; a formula of {measured[0]} stands beside equations of its states"
        raise EquationError(pointed(reason, texts[0], 0))
    states = [owner for owner in owners if owner not in measured]
    formulas = [text for text in texts if is_formula(text)]
    parts = [text.partition("=")[2] for text in formulas]
    if formulas and not any("?" in part or re.search(rf"\b({'|'.join(states)})\b", part) for part in parts):
        which = f"the state {states[0]}" if len(states) == 1 else f"any of the states {', '.join(states)}"
        reason = f"it does not hold {which}, so that {measured[0]} says nothing about the law"
        start = len(formulas[0]) - len(parts[0].lstrip())
        raise EquationError(pointed(f"{reason}; other names are constants", formulas[0], start))


def _owner(text: str, states: Sequence[str]) -> str:
    """Return the state whose derivative stands on the left of an equation, or what a formula is of."""
    left = text.partition("=")[0]
    if is_formula(text) and (not states or left.strip() in states):
        return left.strip()
    marked = [word.rstrip("'") for word in _words(left) if word.endswith("'")]
    marked += re.findall(r"diff\(\s*([A-Za-z_]\w*)\s*(?:\(\s*t\s*\)\s*)?,", left)
    found = [name for name in dict.fromkeys(marked) if not states or name in states]
    if len(found) != 1:
        known = f" of {', '.join(states)}" if states else ""
        reason = f"expected the derivative of one state{known} on the left, such as x' = ..."
        raise EquationError(pointed(f"{reason}, got {', '.join(found) or 'none'}", text, 0))
    return found[0]
