"""What solvers write to: arrays that Python makes once for many solutions.

Compiled code that makes no arrays need not count who uses them, and counting would be most of it.
"""

from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation.interpreter import Work, workspace
from gode.equation.operators import CODES
from gode.solve.doses import NO_JUMPS, Jumps
from gode.solve.past import LateStates, Past
from gode.solve.program import Program
from gode.solve.signals import Signals

SIGN = CODES["sign"]


class Room(NamedTuple):
    """Scratch of the explicit method, for d states, a state vector of n entries and some sensitivities."""

    x: Float  # (columns,)
    weight: Float  # (terms,) the number in front of each
    values: Float  # of each instruction
    adjoint: Float
    gradient: Float  # (d, constants + columns)
    slope: Float  # (d,)
    rate: Float  # (d,) what infusions add to the highest derivatives
    rate_slope: Float  # (d, params)
    largest: Float  # (n,) each entry so far
    before: Float  # (n,) the slope before a jump
    share: Float  # (7,) of the stages in a state between steps
    k: Float  # (9, n, 1 + params) the slopes at seven stages, the state, and the stage at hand
    flat: Float  # (9, n * (1 + params)) the same numbers
    unused: Float  # (n, 1 + params)
    resting: Bool  # (times,) whether the body rests
    dry: bool  # whether it may: friction does not vanish with the velocity


class Scratch(NamedTuple):
    """Scratch of the implicit method, for d states, a state vector of n entries and the stages of a step."""

    x: Float  # (columns, 3)
    point: Float  # (columns,)
    work: Work  # of the interpreter, for one equation after the other
    weight: Float  # (terms,) the number in front of each
    total: Float  # (d, 3) the residuals
    grads: Float  # (d, directions, 3) their derivatives
    const_dir: Int  # the direction that each constant is, or -1
    col_dir: Int  # the direction that each column is: first each state and its derivatives up to the highest
    matrix: Float  # (3 d, 3 d)
    pivot: Int  # (3 d,)
    right: Float  # (3 d,) a right-hand side
    entries: Float  # (3, n) the state, its largest values, the errors of a step
    y_sens: Float  # (params, n)
    w_sens: Float  # (params, d)
    added: Float  # (n, 1 + params) by a dose
    rate: Float  # (d,) what infusions add to the highest derivatives
    rate_slope: Float  # (d, params)
    highest: Float  # (5, d) highest derivatives and what Newton's method does with them
    stages: Float  # (3, d, 3) highest derivatives at the stages of this step, the step before, and guessed
    void: Bool  # (d,) the equations that hold no highest derivative
    channels: Int  # (3 d,) all of them


class Events(NamedTuple):
    """What doses and delays add to a law; a tuple, because compiled code takes those."""

    doses: Jumps
    late: LateStates
    delays: Float  # (late states,)
    past: Past


def make_room(program: Program, signals: Signals, n_constants: int, n_param: int, n_times: int) -> Room:
    """Return scratch for solutions at some times with sensitivities in some numbers."""
    layout, code = program.layout, program.tape.code
    d, n = len(layout.orders), len(layout.channel)
    columns = 1 + 3 * d + len(program.late.entry) + len(signals.starts) - 1
    k = np.zeros((9, n, 1 + n_param))
    return Room(
        np.zeros(columns),
        np.zeros(len(program.tape.linear)),
        np.zeros(len(code)),
        np.zeros(len(code)),
        np.zeros((d, n_constants + columns)),
        np.zeros(d),
        np.zeros(d),
        np.zeros((d, n_param)),
        np.zeros(n),
        np.zeros(n),
        np.zeros(7),
        k,
        k.reshape(9, -1),
        np.zeros((n, 1 + n_param)),
        np.zeros(n_times, np.bool_),
        d == 1 and n == 2 and signals.doses is None and bool((code == SIGN).any()),
    )


def make_events(program: Program, doses: Jumps | None, n_param: int, max_steps: int) -> Events | None:
    """Return the doses and delays of a law as the explicit method takes them, None if it has neither."""
    late, entries = program.late, len(program.layout.channel)
    n = len(late.entry)
    if doses is None and not n:
        return None
    kept = max_steps if n else 0
    past = Past(
        np.zeros(kept + 1),
        np.empty((kept, entries, 1 + n_param, 5)),
        np.zeros((entries, 1 + n_param)),
        np.zeros(n, np.int64),
        np.zeros(n),
    )
    return Events(NO_JUMPS if doses is None else doses, late, np.zeros(n), past)


def make_scratch(program: Program, signals: Signals, n_param: int) -> Scratch:
    """Return scratch for solutions with sensitivities in some numbers.

    Each constant stands in one equation, and the constants of different equations share directions.
    """
    layout, tape = program.layout, program.tape
    d, n = len(layout.orders), len(layout.channel)
    columns = 1 + 3 * d + len(signals.starts) - 1
    const_dir, col_dir = np.full(tape.n_constants, -1), np.full(columns, -1)
    n_dir = n + d
    for e, order in enumerate(layout.orders.tolist()):
        own = layout.places[e] + e
        col_dir[1 + 3 * e : 2 + 3 * e + order] = np.arange(own, own + order + 1)
        inside = (tape.owner >= layout.terms[e]) & (tape.owner < layout.terms[e + 1])
        numbers = tape.nonlinear[inside] if n_param else tape.nonlinear[:0]
        const_dir[numbers] = n + d + np.arange(len(numbers))
        n_dir = max(n_dir, n + d + len(numbers))
    return Scratch(
        np.zeros((columns, 3)),
        np.zeros(columns),
        workspace(len(tape.multiplier), tape.depth, n_dir, 3),
        np.zeros(len(tape.multiplier)),
        np.zeros((d, 3)),
        np.zeros((d, n_dir, 3)),
        const_dir,
        col_dir,
        np.zeros((3 * d, 3 * d)),
        np.zeros(3 * d, np.int64),
        np.zeros(3 * d),
        np.zeros((3, n)),
        np.zeros((n_param, n)),
        np.zeros((n_param, d)),
        np.zeros((n, 1 + n_param)),
        np.zeros(d),
        np.zeros((d, n_param)),
        np.zeros((5, d)),
        np.zeros((3, d, 3)),
        np.zeros(d, np.bool_),
        np.arange(3 * d),
    )
