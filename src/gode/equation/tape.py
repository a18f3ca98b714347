"""Terms of a skeleton as postfix programs over named columns; nothing is compiled per skeleton."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation.interpreter import run_tape, workspace
from gode.equation.operators import ADD, CODES, CONST, KINKED, LIT, MUL, POW, POWI, SQRT, VAR
from gode.equation.terms import Term
from gode.equation.tree import (
    ONE,
    TIME,
    Node,
    add,
    by_term,
    constants_in,
    has_constant,
    index,
    mul,
    number,
    var,
    walk,
)
from gode.errors import EquationError

EXPONENT, FACTOR, ADDEND, FREQUENCY, KINK = range(5)  # the part a nonlinear constant plays
COLUMNS = ("t", "u", "u'", "u''")  # the columns of a scalar equation; inputs follow
MAX_DIRECTIONS = 62  # directions of differentiation are kept in the bits of an integer


class Tape(NamedTuple):
    """The programs of some terms; a tuple, because compiled code takes those.

    Term j is `multiplier[j] * c[linear[j]] * value of program j`, without the constant if
    `linear[j]` is -1. `nonlinear` are the constants inside the programs.
    """

    code: Int
    arg: Int
    literal: Float
    starts: Int
    multiplier: Float
    linear: Int
    nonlinear: Int
    owner: Int  # the term in which each nonlinear constant stands
    n_constants: int
    depth: int


_WHOLE, _REAL = np.zeros(0, np.int64), np.zeros(0)
NO_TERMS = Tape(_WHOLE, _WHOLE, _REAL, np.zeros(1, np.int64), _REAL, _WHOLE, _WHOLE, _WHOLE, 0, 1)


@dataclass(frozen=True)
class Scales:
    """The role of each nonlinear constant, and the program of what it multiplies or is added to.

    Both tell the magnitude in which its starting values are chosen.
    """

    role: Int
    tape: Tape


def compile_tape(terms: Sequence[Term], columns: Sequence[str], n_constants: int) -> Tape:
    """Return the programs of `terms` over the named `columns`."""
    columns = tuple(columns)
    return _joined(terms, [_program(term.body, columns) for term in terms], n_constants)


def compile_scales(terms: Sequence[Term], columns: Sequence[str], n_constants: int) -> Scales:
    """Return, for the nonlinear constants in tape order, their roles and the programs of their neighbours."""
    roles = [role for term in terms for role in _roles(term.body)]
    tape = compile_tape([neighbour for _, neighbour in roles], columns, n_constants)
    return Scales(np.array([role for role, _ in roles], np.int64), tape)


def compile_poles(terms: Sequence[Term], columns: Sequence[str], n_constants: int) -> Tape:
    """Return the programs of all that these terms divide by."""
    bases = dict.fromkeys(base for term in terms for base in _divisors(term.body))
    return compile_tape([Term(1.0, None, base) for base in bases], columns, n_constants)


def operands(tape: Tape, varied: Sequence[bool]) -> tuple[Int, Bool]:
    """Return, for each instruction, its left operand and whether a constant or a varied column enters it."""
    left, active, stack = [0] * len(tape.code), [False] * len(tape.code), [0] * (tape.depth + 1)
    code, arg, starts = tape.code.tolist(), tape.arg.tolist(), tape.starts.tolist()
    for low, high in pairwise(starts):
        top = -1
        for i in range(low, high):
            op = code[i]
            if op in (VAR, CONST, LIT):
                top += 1
                active[i] = op == CONST or (op == VAR and varied[arg[i]])
            elif op in (ADD, MUL, POW):
                top -= 1
                left[i] = stack[top]
                active[i] = active[i - 1] or active[left[i]]
            else:
                active[i] = active[i - 1]
            stack[top] = i
    return np.array(left, np.int64), np.array(active, np.bool_)


class _Program(NamedTuple):
    """The program of one term."""

    code: tuple[int, ...]
    arg: tuple[int, ...]
    literal: tuple[float, ...]
    inside: tuple[int, ...]  # its constants
    depth: int


def _joined(terms: Sequence[Term], programs: Sequence[_Program], n_constants: int) -> Tape:
    """Return the tape of some terms, whose programs are given."""
    if not terms:  # The constants are of terms that are not there, as in (1 + C*u)*u'' = 0.
        return NO_TERMS._replace(n_constants=n_constants)
    code: list[int] = []
    arg: list[int] = []
    literal: list[float] = []
    starts = [0]
    nonlinear: list[int] = []
    owner: list[int] = []
    depth = 1
    for j, program in enumerate(programs):
        code += program.code
        arg += program.arg
        literal += program.literal
        nonlinear += program.inside
        owner += [j] * len(program.inside)
        depth = max(depth, program.depth)
        starts.append(len(code))
    return Tape(
        np.array(code, np.int64),
        np.array(arg, np.int64),
        np.array(literal, np.float64),
        np.array(starts, np.int64),
        np.array([t.multiplier for t in terms], np.float64),
        np.array([-1 if t.constant is None else t.constant for t in terms], np.int64),
        np.array(nonlinear, np.int64),
        np.array(owner, np.int64),
        n_constants,
        depth,
    )


@by_term
def _program(body: Node, columns: tuple[str, ...]) -> _Program:
    column = {name: i for i, name in enumerate(columns)}
    code: list[int] = []
    arg: list[int] = []
    literal: list[float] = []
    depth = _emit(body, column, code, arg, literal)
    inside = dict.fromkeys(a for op, a in zip(code, arg, strict=True) if op == CONST)
    return _Program(tuple(code), tuple(arg), tuple(literal), tuple(inside), depth)


@by_term
def _divisors(body: Node) -> tuple[Node, ...]:
    """Return the bases of the negative powers in a term."""
    powers = [node for node in walk(body) if node.op == "^" and node.args[1].op == "num"]
    return tuple([node.args[0] for node in powers if number(node.args[1]) < 0])


@by_term
def _roles(body: Node) -> tuple[tuple[int, Term], ...]:
    """Return role and neighbour of each constant in a term."""
    found: dict[int, tuple[int, Node]] = {}
    body = _undelayed(body)  # whose constants are those that the program reads
    _find_roles(body, found, "")
    order = dict.fromkeys(constants_in(body))
    roles = [found.get(i, (FACTOR, ONE)) for i in order]  # one that is a whole term multiplies one
    return tuple([(role, Term(1.0, None, neighbour)) for role, neighbour in roles])


def _undelayed(node: Node) -> Node:
    """Return the node with what was some time ago as what is now: a delay is no part of a program."""
    if node.op == "delay":
        return node.args[0]
    return node._replace(args=tuple(map(_undelayed, node.args)))


def _find_roles(node: Node, found: dict[int, tuple[int, Node]], outside: str) -> None:
    """Enter the roles of the constants in a tree; `outside` is the operation that it is an argument of."""
    for i, child in enumerate(node.args):
        if child.op == "const":
            others = node.args[:i] + node.args[i + 1 :]
            if node.op == "*":
                role = FREQUENCY if outside in ("sin", "cos") and others == (var(TIME),) else FACTOR
                found[index(child)] = (role, mul(*others))
            elif node.op == "+":
                scaled = any(o.op == "*" and o.args[0].op == "const" for o in others)
                role = KINK if outside in KINKED else ADDEND
                found[index(child)] = (ADDEND, ONE) if scaled else (role, add(*others))
            else:
                found[index(child)] = (EXPONENT if node.op == "^" and i == 1 else ADDEND, ONE)
        elif node.op == "*" and child.op == "^" and child.args[0].op == "const" and child.args[1].op == "num":
            others = node.args[:i] + node.args[i + 1 :]  # u/C: of the size of u
            found[index(child.args[0])] = (ADDEND, mul(*(o for o in others if not has_constant(o))))
        elif has_constant(child):
            _find_roles(child, found, node.op)


def _emit(node: Node, column: dict[str, int], code: list[int], arg: list[int], literal: list[float]) -> int:
    """Append the program of `node`; return the stack it needs."""

    def put(op: int, a: int = 0, x: float = 0.0) -> None:
        code.append(op)
        arg.append(a)
        literal.append(x)

    match node.op:
        case "num":
            put(LIT, 0, number(node))
            return 1
        case "const":
            put(CONST, index(node))
            return 1
        case "var":
            put(VAR, column[str(node.value)])
            return 1
        case "delay":
            now = str(node.args[0].value)  # at rest, and for sizes, what was some time ago is what is now
            put(VAR, column.get(delay_name(node), column[now]))
            return 1
        case "+" | "*":
            need = 0
            for i, child in enumerate(node.args):
                need = max(need, _emit(child, column, code, arg, literal) + min(i, 1))
                if i:
                    put(ADD if node.op == "+" else MUL)
            return need
        case "^":
            return _emit_power(node, column, code, arg, literal)
        case name:
            need = _emit(node.args[0], column, code, arg, literal)
            put(CODES[name])
            return need


def delay_name(node: Node) -> str:
    """Return what the column of a delayed input is called among the columns of a program."""
    column, by = node.args
    return f"{column.value}({by.op} {by.value})"


def _emit_power(
    node: Node, column: dict[str, int], code: list[int], arg: list[int], literal: list[float]
) -> int:
    base, exponent = node.args
    need = _emit(base, column, code, arg, literal)
    literal.append(0.0)
    if exponent.op == "num" and number(exponent).is_integer() and 1 <= abs(number(exponent)) <= 64:
        code.append(POWI)
        arg.append(int(number(exponent)))
        return need
    if exponent.op == "num" and number(exponent) == 0.5:
        code.append(SQRT)
        arg.append(0)
        return need
    literal.pop()
    need = max(need, _emit(exponent, column, code, arg, literal) + 1)
    code.append(POW)
    arg.append(0)
    literal.append(0.0)
    return need


@dataclass(frozen=True)
class Evaluation:
    """Values of a sum of terms at n points, its derivatives, and whether all values are finite.

    A derivative may be infinite where the value is finite: that of sqrt(u) at u = 0.
    """

    value: Float
    in_constants: Float
    in_columns: Float
    finite: bool


def evaluate(tape: Tape, constants: Sequence[float] | Float, x: Float) -> Evaluation:
    """Return the sum of the tape's terms on columns `x` (columns, n), and all its first derivatives.

    Raises:
        EquationError: if constants and columns are more than `MAX_DIRECTIONS`.
    """
    c = np.asarray(constants, np.float64)
    n_columns, n = x.shape
    n_dir = tape.n_constants + n_columns
    if n_dir > MAX_DIRECTIONS:
        raise EquationError(
            f"{tape.n_constants} constants are too many; {MAX_DIRECTIONS - n_columns} are allowed"
        )
    weight = term_weights(tape, c)
    const_dir = np.arange(tape.n_constants, dtype=np.int64)
    col_dir = tape.n_constants + np.arange(n_columns, dtype=np.int64)
    work = workspace(len(weight), tape.depth, n_dir, n)
    if run_tape(tape, c, np.ascontiguousarray(x, np.float64), const_dir, col_dir, weight, work):
        with np.errstate(over="ignore", invalid="ignore"):
            value = weight @ work.values
            for j, i in enumerate(tape.linear):
                if i >= 0:
                    work.grads[i] += tape.multiplier[j] * work.values[j]
        if np.isfinite(value).all():
            grads = work.grads
            return Evaluation(value, grads[: tape.n_constants], grads[tape.n_constants :], True)
    nan = np.full((n_dir + 1, n), np.nan)
    return Evaluation(nan[0], nan[1 : 1 + tape.n_constants], nan[1 + tape.n_constants :], False)


def term_weights(tape: Tape, constants: Float) -> Float:
    """Return the number in front of each program: multiplier and linear constant."""
    own = np.append(constants, 1.0)[tape.linear]  # -1 picks the one
    return np.asarray(tape.multiplier * own)
