"""Frames as a person writes them: equations with named constants and unknown functions."""

import re
from collections.abc import Mapping, Sequence

from gode.equation.fixing import with_values
from gode.equation.frame import Frame, Unknown, fill, order_of, scaling
from gode.equation.names import HOLE, Names
from gode.equation.parse import parse_tree
from gode.equation.parse_system import read_trees
from gode.equation.skeleton import Found, Parameter, Skeleton, checked
from gode.equation.system import columns_seen, seen_to_display
from gode.equation.tree import STATE, TIME, Node, derivative_order, renamed, var, walk
from gode.errors import EquationError, pointed
from gode.options.table import Bounds


def parse_frame(
    texts: str | Sequence[str] | Mapping[str, str],
    *,
    states: Sequence[str] = (STATE,),
    inputs: Sequence[str] = ("F",),
    called: Mapping[str, str] | None = None,
    single: bool = True,
    functions: bool = True,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
) -> Frame:
    """Return the frame a person typed, such as ``x' = r*x - f(x, y); y' = e*f(x, y) - m*y``.

    Names that are no state, input or function are constants; followed by arguments, unknown functions. A ? is
    an unknown function of all columns.

    Args:
        called: what the texts call the states and inputs, where that is not their name.
        single: whether there is one equation, in u and F.
        functions: whether unknown functions are allowed.
        fixed: values of constants that are known.
        bounds: the least and the largest value of constants; None for no bound.

    Raises:
        EquationError, ConfigError: with a caret under the place.
    """
    if isinstance(texts, str):
        texts = split_equations(texts)
    names, called = Names(functions), called or {}
    shown = [called.get(name, name) for name in states], [called.get(name, name) for name in inputs]
    if single:
        text = split_equations(texts)
        if len(text) != 1:
            whole = ";".join(text)
            place = len(whole) if len(text) < 2 else len(text[0]) + 1
            raise EquationError(pointed(f"one state needs one equation, got {len(text)}", whole, place))
        tree = parse_tree(text[0], inputs=tuple(shown[1]), states=tuple(shown[0]), names=names)
        own = {v: k for k, v in seen_to_display(0, shown[0], shown[1]).items()}
        read = {STATE: (renamed(tree, own), text[0])}
    else:
        read = read_trees(texts, shown[0], shown[1], names)
    trees = [
        _opened(tree, i, len(states), len(inputs), len(read)) for i, (tree, _) in enumerate(read.values())
    ]
    unknown = _unknowns(trees)
    made = Frame(
        tuple(text for _, text in read.values()),
        tuple(states),
        tuple(inputs),
        single,
        tuple(trees),
        tuple(Parameter(name) for name in names.constants),
        tuple(unknown),
    )
    _check(made, names)
    return with_values(made, names, fixed or {}, bounds or {})


def split_equations(texts: str | Sequence[str] | Mapping[str, str]) -> list[str]:
    """Return the equations in a text, where ; or a new line parts them, or of several texts."""
    if isinstance(texts, str):
        return [part for part in re.split(r"[;\n]", texts) if part.strip()]
    return [str(text) for text in (texts.values() if isinstance(texts, Mapping) else texts)]


def _opened(tree: Node, own: int, n_states: int, n_inputs: int, n_equations: int) -> Node:
    """Return the tree with the arguments of each ?: all columns below the highest derivatives."""
    names = columns_seen(own, n_states, n_inputs)
    order = max((derivative_order(str(n.value)) for n in walk(tree) if n.op == "var"), default=1)
    columns = [name for name in names if derivative_order(name) < order]
    name = HOLE if n_equations == 1 else f"{HOLE}{own + 1}_"

    def opened(node: Node) -> Node:
        if node.op == HOLE and node.value == HOLE:
            return Node(HOLE, name, tuple(map(var, columns)))
        return node._replace(args=tuple(map(opened, node.args)))

    return opened(tree)


def _unknowns(trees: Sequence[Node]) -> list[Unknown]:
    found: dict[str, Unknown] = {}
    for own, tree in enumerate(trees):
        for node in walk(tree):
            name = str(node.value)
            if node.op != HOLE or name in found:
                continue
            columns = tuple(str(arg.value) for arg in node.args)
            plain = all(arg.op == "var" for arg in node.args) and len(set(columns)) == len(columns)
            generic = tuple(STATE if i == 0 else f"v{i}" for i in range(len(columns)))
            found[name] = Unknown(name, columns if plain else generic, own, plain)
    return list(found.values())


def _check(frame: Frame, names: Names) -> None:
    """See to it that the frame can be filled, and that what fills it can be told from its constants."""
    for tree, text in zip(frame.trees, frame.texts, strict=True):
        holes = {
            function.name: Found(function.name, function.formal, var(TIME)) for function in frame.functions
        }
        checked(Skeleton(fill(tree, holes), tuple(frame.parameters)), text)
    for tree in frame.trees:
        _check_arguments(tree, names)
    for function in frame.functions:
        own = {function.constant(i) for i in range(100)}
        for name in own & set(names.constants):
            text, start = names.places[name]
            raise EquationError(
                pointed(
                    f"{name} is what a constant of {function.name} is called; choose another name",
                    text,
                    start,
                )
            )
        scales = [i for tree in frame.trees for i, f in scaling(tree) if f == function.name]
        places = [n for tree in frame.trees for n in walk(tree) if n.op == HOLE and n.value == function.name]
        if len(scales) == len(places):
            name = frame.parameters[scales[0]].name
            text, start = names.places[name]
            raise EquationError(
                pointed(
                    f"{name} only scales {function.name}, which has factors of its own; leave it out",
                    text,
                    start,
                )
            )


def _check_arguments(tree: Node, names: Names) -> None:
    """See to it that no unknown function depends on the highest derivative."""
    holes = [node for node in walk(tree) if node.op == HOLE]
    order = order_of(_without_holes(tree))
    for hole in holes:
        high = [n.value for arg in hole.args for n in walk(arg) if n.op == "var"]
        worst = [str(name) for name in high if derivative_order(str(name)) >= order]
        if worst and order:
            text, start = names.places[str(hole.value)]
            own = f"{hole.value} depends on a derivative of order {derivative_order(worst[0])}"
            raise EquationError(
                pointed(f"{own}, but the equation is of order {order}; leave it out", text, start)
            )


def _without_holes(node: Node) -> Node:
    return node._replace(args=() if node.op == HOLE else tuple(map(_without_holes, node.args)))


def read_named(
    text: str,
    parameters: Sequence[Parameter],
    functions: Sequence[tuple[str, tuple[str, ...], str]],
    inputs: tuple[str, ...],
) -> Skeleton:
    """Return the skeleton of a residual in its own view, with the names of its constants in their order.

    Args:
        functions: name, arguments and text of what was found for unknown functions.
    """
    names = Names(constants=[p.name for p in parameters])
    states = (STATE, *(f"v{i}" for i in range(1, 100)))
    tree = parse_tree(f"{text} = 0", inputs=inputs, states=states, names=names)
    found = [
        Found(name, arguments, parse_tree(own, inputs=inputs, states=states, names=names))
        for name, arguments, own in functions
    ]
    if len(names.constants) != len(parameters):
        raise EquationError(f"{names.constants[-1]!r} is unknown in {text!r}")
    return checked(Skeleton(tree, tuple(parameters), tuple(found)), text)
