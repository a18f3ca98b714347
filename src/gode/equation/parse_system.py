"""The equations of a system as a person writes them, with names of their own."""

import re
from collections.abc import Mapping, Sequence

from gode.equation.equation import equation_of
from gode.equation.names import Names
from gode.equation.parse import TOKEN, parse_tree
from gode.equation.skeleton import Skeleton, checked
from gode.equation.system import System, SystemSkeleton, seen_to_display
from gode.equation.tree import Node, has_constant, renamed
from gode.errors import EquationError, pointed, shortened


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
    parts = [checked(Skeleton(tree), text) for tree, text in trees.values()]
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
        checked(Skeleton(tree), text)
    equations = [equation_of(tree) for tree, _ in trees.values()]
    skeleton = SystemSkeleton(tuple(trees), tuple(e.skeleton for e in equations), used)
    return System(skeleton, tuple(c for e in equations for c in e.constants))


def written_states(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the states whose derivatives stand on the left of some equations, in their order."""
    return tuple(dict.fromkeys(_owner(text, ()) for text in texts))


def _texts(texts: Sequence[str] | Mapping[str, str]) -> list[str]:
    found = (
        [texts] if isinstance(texts, str) else list(texts.values() if isinstance(texts, Mapping) else texts)
    )
    for text in found:
        if not isinstance(text, str):
            raise EquationError(f"an equation must be text, got {type(text).__name__}")
    return found


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
    given = _texts(texts)
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
    trees: dict[str, tuple[Node, str]] = {}
    for own, name in enumerate(known):
        text = given[owners.index(name)]
        tree = parse_tree(text, inputs=tuple(inputs), states=known, names=names)
        seen = {shown: called for called, shown in seen_to_display(own, known, inputs).items()}
        trees[name] = renamed(tree, seen), text
    return trees


def _owner(text: str, states: Sequence[str]) -> str:
    """Return the state whose derivative stands on the left of an equation."""
    left = text.partition("=")[0]
    marked = [word.rstrip("'") for word in _words(left) if word.endswith("'")]
    marked += re.findall(r"diff\(\s*([A-Za-z_]\w*)\s*(?:\(\s*t\s*\)\s*)?,", left)
    found = [name for name in dict.fromkeys(marked) if not states or name in states]
    if len(found) != 1:
        known = f" of {', '.join(states)}" if states else ""
        reason = f"expected the derivative of one state{known} on the left, such as x' = ..."
        raise EquationError(pointed(f"{reason}, got {', '.join(found) or 'none'}", text, 0))
    return found[0]
