"""The equations of a system as one tape, and where its states stand: what compiled solvers work on."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Int
from gode.equation import LawSkeleton, Node
from gode.equation.operators import CONST, VAR
from gode.equation.tape import NO_TERMS, Tape, compile_tape, delay_name, operands
from gode.equation.terms import Term
from gode.equation.tree import TIME, delays, index, number
from gode.errors import EquationError
from gode.solve.past import LateStates
from gode.solve.signals import Late, write_in


class Layout(NamedTuple):
    """Where d states stand; a tuple, because compiled code takes those.

    The state vector is x, x' (of second order), y, ...; channel 3 s + k, in column 1 + 3 s + k, is derivative
    k of state s.
    """

    orders: Int  # (d,)
    places: Int  # (d + 1,) where each state begins in the state vector; last, its length
    channel: Int  # of each entry of the state vector
    others: Int  # the channels of which no entry is
    terms: Int  # (d + 1,) where the terms of each equation begin in the tape; last, their number
    constants: Int  # (d + 1,) where the constants of each equation begin; last, their number


class Operands(NamedTuple):
    """What the interpreter at a point has to know of each instruction and of each term."""

    left: Int  # (instructions,) where the left operand was computed
    active: Bool  # (instructions,) whether it depends on a constant, a state or a fitted delay
    equation: Int  # (terms,) to which one each belongs


class Program(NamedTuple):
    """The terms of all equations, one equation after the other, and so their constants."""

    tape: Tape
    layout: Layout
    operands: Operands
    late: LateStates  # the columns after the channels


@lru_cache(maxsize=256)
def late_inputs(skeleton: LawSkeleton, names: tuple[str, ...]) -> tuple[Late, ...]:
    """Return the delayed inputs of a law, each of which is a further column of its equation.

    Args:
        names: the inputs that are columns; formulas are written into the terms.
    """
    return tuple(each for each in _late(skeleton) if each.input in names)


@lru_cache(maxsize=256)
def late_states(skeleton: LawSkeleton) -> tuple[Late, ...]:
    """Return the delayed states of a law, each of which is a further column of its equation."""
    return tuple(each for each in _late(skeleton) if each.input in skeleton.states)


def _late(skeleton: LawSkeleton) -> Iterator[Late]:
    """Yield what is delayed in a law, by the name that the data call it."""
    found: dict[Late, None] = {}
    first, row = 0, 0
    for own, part in enumerate(skeleton.parts):
        called = dict(zip(skeleton.seen(own), _columns_of(skeleton), strict=True))
        for node in delays(part.normal):
            column, by = node.args
            number_of, value = (first + index(by), 0.0) if by.op == "const" else (-1, number(by))
            name, place = called[str(column.value)], row if part.order else 0
            found[Late(name, number_of, value, place, delay_name(node))] = None
        first += part.n_constants
        row += part.order > 0
    yield from found


def _columns_of(skeleton: LawSkeleton) -> tuple[str, ...]:
    """Return what the data call the columns that an equation sees, in the same order."""
    states = (state + "'" * k for state in skeleton.states for k in range(3))
    return (TIME, *states, *skeleton.inputs)


def moving(orders: Sequence[int]) -> list[int]:
    """Return the states that move; the others are formulas of what is measured."""
    return [s for s, order in enumerate(orders) if order]


@lru_cache(maxsize=1024)
def make_program(
    skeleton: LawSkeleton, names: tuple[str, ...], implicit: bool, formulas: tuple[tuple[str, Node], ...]
) -> Program | None:
    """Return the program of the residuals, or of the right-hand sides if the system is solved for them.

    Args:
        names: the inputs that are columns, after those of the states; `formulas` are written into the terms.

    Raises:
        EquationError: if an equation holds a higher derivative of a state than that state's own equation.
    """
    tapes = []
    for own, part in enumerate(skeleton.parts):
        if not part.order:
            tapes.append(NO_TERMS._replace(n_constants=part.n_constants))
            continue
        terms = part.terms if implicit else part.rhs_terms
        if terms is None:
            return None
        tapes.append(_tape(skeleton, own, terms, names, formulas))
    states = moving(skeleton.orders)
    orders = [skeleton.orders[s] for s in states]
    layout = _layout(skeleton, orders, tapes, states)
    tape = _joined(tapes)
    moves = np.zeros(3 * len(states), np.bool_)
    moves[layout.channel] = True
    past, delayed = late_states(skeleton), late_inputs(skeleton, names)
    fitted = [each.number >= 0 for each in delayed]
    varied = [False, *moves.tolist(), *[True] * len(past), *[False] * len(names), *fitted]
    left, active = operands(tape, varied)
    equation = np.repeat(np.arange(len(states)), np.diff(layout.terms))
    program = Program(tape, layout, Operands(left, active, equation), _late_states(skeleton, layout, states))
    if not implicit:
        return None if _reads(tape, layout.others) else program
    beyond = [c for c in layout.others.tolist() if c % 3 > orders[c // 3]]
    if _reads(tape, np.array(beyond, np.int64)):
        raise EquationError(
            f"an equation of the system holds a higher derivative of a state than the equation of that state "
            f"itself; write the system in its highest derivatives:\n{skeleton}"
        )
    return program


@lru_cache(maxsize=256)
def formula_tapes(
    skeleton: LawSkeleton, names: tuple[str, ...], formulas: tuple[tuple[str, Node], ...]
) -> tuple[tuple[int, Tape], ...]:
    """Return the formulas of what is measured: the number of each and its program; see `make_program`."""
    found = []
    for own, part in enumerate(skeleton.parts):
        if not part.order:
            assert part.rhs_terms is not None, "a formula stands alone on its left"
            found.append((own, _tape(skeleton, own, part.rhs_terms, names, formulas)))
    return tuple(found)


def _tape(
    skeleton: LawSkeleton,
    own: int,
    terms: Sequence[Term],
    names: tuple[str, ...],
    formulas: tuple[tuple[str, Node], ...],
) -> Tape:
    """Return the program of one equation over t, the states that move, their derivatives and the inputs."""
    columns = skeleton.seen(own)
    n = len(columns) - len(skeleton.inputs)
    called = dict(zip(skeleton.inputs, columns[n:], strict=True))
    written = write_in(terms, {called[name]: tree for name, tree in formulas})
    kept = [columns[1 + 3 * s + k] for s in moving(skeleton.orders) for k in range(3)]
    row = sum(order > 0 for order in skeleton.orders[:own]) if skeleton.orders[own] else -1
    past = [
        each.name if each.equation == row else f"{each.name} {each.equation}"
        for each in late_states(skeleton)
    ]
    first = sum(part.n_constants for part in skeleton.parts[:own])
    ours = range(first, first + skeleton.parts[own].n_constants)
    late = [
        each.name if each.number in ours or each.number < 0 else f"{each.name} of another {each.number}"
        for each in late_inputs(skeleton, names)
    ]
    columns = (columns[0], *kept, *past, *(called[name] for name in names), *late)
    return compile_tape(written, columns, skeleton.parts[own].n_constants)


def used_inputs(skeleton: LawSkeleton) -> list[str]:
    """Return those inputs of a system that stand in one of its equations."""
    if not skeleton.inputs:
        return []
    n = 1 + 3 * len(skeleton.parts)
    seen = {
        name
        for own, part in enumerate(skeleton.parts)
        for name, column in zip(skeleton.inputs, skeleton.seen(own)[n:], strict=True)
        if column in part.inputs
    }
    return [name for name in skeleton.inputs if name in seen]


def _layout(
    skeleton: LawSkeleton, orders: Sequence[int], tapes: Sequence[Tape], states: Sequence[int]
) -> Layout:
    """Return where the states of these orders stand; `tapes` are those of all states, these among them."""
    channel = [3 * s + k for s, order in enumerate(orders) for k in range(order)]
    others = [i for i in range(3 * len(orders)) if i not in channel]
    counts = orders, [len(tapes[s].linear) for s in states]
    places, terms = (np.cumsum([0, *count]) for count in counts)
    ends = np.cumsum([0, *(tape.n_constants for tape in tapes)])
    constants = np.append(ends[list(states)], ends[-1])  # a formula between two equations has no slope there
    rows = orders, places, channel, others, terms, constants
    return Layout(*(np.array(row, np.int64) for row in rows))


def _late_states(skeleton: LawSkeleton, layout: Layout, states: Sequence[int]) -> LateStates:
    """Return the delayed states of a law as solvers look them up."""
    late = late_states(skeleton)
    entries = [int(layout.places[states.index(skeleton.states.index(each.input))]) for each in late]
    numbers, values = [each.number for each in late], [each.value for each in late]
    return LateStates(np.array(entries, np.int64), np.array(numbers, np.int64), np.array(values, np.float64))


def _joined(tapes: Sequence[Tape]) -> Tape:
    """Return several tapes as one, with the constants of each after those of the one before."""
    if len(tapes) == 1:
        return tapes[0]
    arg, starts, linear, nonlinear, owner = [], [np.zeros(1, np.int64)], [], [], []
    constants = instructions = terms = 0
    for tape in tapes:
        arg.append(tape.arg + np.where(tape.code == CONST, constants, 0))
        starts.append(tape.starts[1:] + instructions)
        linear.append(np.where(tape.linear < 0, -1, tape.linear + constants))
        nonlinear.append(tape.nonlinear + constants)
        owner.append(tape.owner + terms)
        constants += tape.n_constants
        instructions += len(tape.code)
        terms += len(tape.linear)
    return Tape(
        np.concatenate([tape.code for tape in tapes]),
        np.concatenate(arg),
        np.concatenate([tape.literal for tape in tapes]),
        np.concatenate(starts),
        np.concatenate([tape.multiplier for tape in tapes]),
        np.concatenate(linear),
        np.concatenate(nonlinear),
        np.concatenate(owner),
        constants,
        max(tape.depth for tape in tapes),
    )


def _reads(tape: Tape, channels: Int) -> bool:
    """Tell whether a term holds one of these channels."""
    return bool(np.isin(tape.arg[tape.code == VAR], 1 + channels).any())
