"""Skeletons as postfix programs, and the one compiled interpreter that runs them.

A tape holds one program per term. The interpreter works on whole data columns, carries derivatives in
any chosen constants and columns along (forward mode), and never raises or warns: a point at which a
term is not finite makes the run a failure. Nothing is compiled per skeleton.

This module may trade clarity for speed; `tests/equation/test_tape.py` holds its plain twin.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from gode.arrays import Float, Int
from gode.equation.skeleton import Term
from gode.equation.tree import ONE, Node, add, has_constant, index, mul, number, walk

VAR, CONST, LIT, ADD, MUL, POWI, POW, SQRT, SIN, COS, TAN, EXP, LOG, TANH, ABS, SIGN = range(16)
FUNCTION_CODES = {
    "sin": SIN,
    "cos": COS,
    "tan": TAN,
    "exp": EXP,
    "log": LOG,
    "tanh": TANH,
    "abs": ABS,
    "sign": SIGN,
}
EXPONENT, FACTOR, ADDEND = range(3)  # the part a nonlinear constant plays
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


class Work(NamedTuple):
    """Scratch of the interpreter for n points and some directions of differentiation."""

    values: Float  # (terms, n) the value of each program
    grads: Float  # (directions, n) the derivatives of their weighted sum
    stack: Float  # (depth + 1, n)
    dual: Float  # (depth + 1, directions, n)
    mask: Int  # (depth + 1,) which directions a stack entry depends on


@dataclass(frozen=True)
class Scales:
    """What tells the size of each nonlinear constant: its role, and a program for its neighbour."""

    role: Int
    tape: Tape


def compile_tape(terms: Sequence[Term], columns: Sequence[str], n_constants: int) -> Tape:
    """Return the programs of `terms` over the named `columns`."""
    column = {name: i for i, name in enumerate(columns)}
    code: list[int] = []
    arg: list[int] = []
    literal: list[float] = []
    starts = [0]
    nonlinear: list[int] = []
    owner: list[int] = []
    depth = 1
    for j, term in enumerate(terms):
        depth = max(depth, _emit(term.body, column, code, arg, literal))
        inside = [arg[i] for i in range(starts[-1], len(code)) if code[i] == CONST]
        nonlinear += inside
        owner += [j] * len(inside)
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


def compile_scales(terms: Sequence[Term], columns: Sequence[str], n_constants: int) -> Scales:
    """Return, for the nonlinear constants in tape order, their roles and the programs of their neighbours."""
    found: dict[int, tuple[int, Node]] = {}
    order: list[int] = []
    for term in terms:
        _find_roles(term.body, found)
        order += [index(n) for n in walk(term.body) if n.op == "const"]
    neighbours = [Term(1.0, None, found[i][1]) for i in order]
    role = np.array([found[i][0] for i in order], np.int64)
    return Scales(role, compile_tape(neighbours, columns, n_constants))


def _find_roles(node: Node, found: dict[int, tuple[int, Node]]) -> None:
    for i, child in enumerate(node.args):
        if child.op == "const":
            others = node.args[:i] + node.args[i + 1 :]
            if node.op == "*":
                found[index(child)] = (FACTOR, mul(*others))
            elif node.op == "+":
                scaled = any(o.op == "*" and o.args[0].op == "const" for o in others)
                found[index(child)] = (ADDEND, ONE if scaled else add(*others))
            else:
                found[index(child)] = (EXPONENT if node.op == "^" and i == 1 else ADDEND, ONE)
        elif has_constant(child):
            _find_roles(child, found)


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
            put(FUNCTION_CODES[name])
            return need


def _emit_power(
    node: Node, column: dict[str, int], code: list[int], arg: list[int], literal: list[float]
) -> int:
    base, exponent = node.args
    need = _emit(base, column, code, arg, literal)
    literal.append(0.0)
    if exponent.op == "num" and number(exponent).is_integer() and abs(number(exponent)) <= 64:
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


@njit(cache=True, error_model="numpy")
def workspace(n_terms, depth, n_dir, n):
    """Return scratch for `n` points and `n_dir` directions."""
    return Work(
        np.empty((n_terms, n)),
        np.empty((n_dir, n)),
        np.empty((depth + 1, n)),
        np.empty((depth + 1, n_dir, n)),
        np.zeros(depth + 1, np.int64),
    )


@njit(cache=True, error_model="numpy")
def run_tape(tape, c, x, const_dir, col_dir, weight, work):
    """Run all programs on the columns `x` (columns, n); return whether every value is finite.

    work.values[j] becomes the value of program j. work.grads[d] becomes the sum over j of weight[j] times
    the derivative of program j in direction d; `const_dir` and `col_dir` give the direction that a
    constant or a column is, or -1.
    """
    code, arg, literal, starts = tape.code, tape.arg, tape.literal, tape.starts
    values, grads, stack, dual, mask = work.values, work.grads, work.stack, work.dual, work.mask
    n = x.shape[1]
    n_dir = grads.shape[0]
    for d in range(n_dir):
        for m in range(n):
            grads[d, m] = 0.0
    for j in range(len(starts) - 1):
        sp = -1
        for i in range(starts[j], starts[j + 1]):
            op = code[i]
            if op == VAR:
                sp += 1
                for m in range(n):
                    stack[sp, m] = x[arg[i], m]
                mask[sp] = 0
                d = col_dir[arg[i]] if n_dir > 0 else -1
                if d >= 0:
                    mask[sp] = 1 << d
                    for m in range(n):
                        dual[sp, d, m] = 1.0
            elif op == CONST:
                sp += 1
                for m in range(n):
                    stack[sp, m] = c[arg[i]]
                mask[sp] = 0
                d = const_dir[arg[i]] if n_dir > 0 else -1
                if d >= 0:
                    mask[sp] = 1 << d
                    for m in range(n):
                        dual[sp, d, m] = 1.0
            elif op == LIT:
                sp += 1
                for m in range(n):
                    stack[sp, m] = literal[i]
                mask[sp] = 0
            elif op == ADD:
                sp -= 1
                for m in range(n):
                    stack[sp, m] += stack[sp + 1, m]
                ma = mask[sp]
                mb = mask[sp + 1]
                if mb != 0:
                    for d in range(n_dir):
                        if mb >> d & 1:
                            if ma >> d & 1:
                                for m in range(n):
                                    dual[sp, d, m] += dual[sp + 1, d, m]
                            else:
                                for m in range(n):
                                    dual[sp, d, m] = dual[sp + 1, d, m]
                    mask[sp] = ma | mb
            elif op == MUL:
                sp -= 1
                ma = mask[sp]
                mb = mask[sp + 1]
                if ma | mb:
                    for d in range(n_dir):
                        if ma >> d & 1:
                            if mb >> d & 1:
                                for m in range(n):
                                    dual[sp, d, m] = (
                                        dual[sp, d, m] * stack[sp + 1, m] + dual[sp + 1, d, m] * stack[sp, m]
                                    )
                            else:
                                for m in range(n):
                                    dual[sp, d, m] *= stack[sp + 1, m]
                        elif mb >> d & 1:
                            for m in range(n):
                                dual[sp, d, m] = dual[sp + 1, d, m] * stack[sp, m]
                    mask[sp] = ma | mb
                for m in range(n):
                    stack[sp, m] *= stack[sp + 1, m]
            elif op == POW:
                sp -= 1
                ma = mask[sp]
                mb = mask[sp + 1]
                for m in range(n):
                    a = stack[sp, m]
                    b = stack[sp + 1, m]
                    if a > 0.0:
                        y = a**b
                        da = b * y / a
                        db = y * math.log(a)
                    elif a == 0.0 and b > 0.0:
                        y = 0.0
                        da = 0.0 if b > 1.0 else (1.0 if b == 1.0 else np.inf)
                        db = 0.0
                    elif b == math.floor(b) and not (a == 0.0):
                        y = a**b
                        da = b * y / a
                        db = np.nan if mb else 0.0
                    else:
                        y = 1.0 if b == 0.0 else np.nan
                        da = 0.0
                        db = 0.0
                    stack[sp, m] = y
                    if ma | mb:
                        for d in range(n_dir):
                            g = 0.0
                            if ma >> d & 1:
                                g += dual[sp, d, m] * da
                            if mb >> d & 1:
                                g += dual[sp + 1, d, m] * db
                            dual[sp, d, m] = g
                mask[sp] = ma | mb
            else:
                ma = mask[sp]
                if op == POWI:
                    p = arg[i]
                    if p == 2:
                        for m in range(n):
                            stack[sp + 1, m] = 2.0 * stack[sp, m]
                            stack[sp, m] = stack[sp, m] * stack[sp, m]
                    elif p == -1:
                        for m in range(n):
                            y = 1.0 / stack[sp, m]
                            stack[sp + 1, m] = -y * y
                            stack[sp, m] = y
                    elif p == 3:
                        for m in range(n):
                            y = stack[sp, m] * stack[sp, m]
                            stack[sp + 1, m] = 3.0 * y
                            stack[sp, m] = y * stack[sp, m]
                    else:
                        for m in range(n):
                            a = stack[sp, m]
                            y = 1.0
                            q = abs(p) - 1
                            for _ in range(q):
                                y *= a
                            if p > 0:
                                stack[sp + 1, m] = p * y
                                stack[sp, m] = y * a
                            else:
                                w = 1.0 / (y * a)
                                stack[sp + 1, m] = p * w / a
                                stack[sp, m] = w
                elif op == SIN:
                    for m in range(n):
                        a = stack[sp, m]
                        stack[sp, m] = math.sin(a)
                        if ma:
                            stack[sp + 1, m] = math.cos(a)
                elif op == COS:
                    for m in range(n):
                        a = stack[sp, m]
                        stack[sp, m] = math.cos(a)
                        if ma:
                            stack[sp + 1, m] = -math.sin(a)
                elif op == EXP:
                    for m in range(n):
                        y = math.exp(stack[sp, m])
                        stack[sp, m] = y
                        stack[sp + 1, m] = y
                elif op == LOG:
                    for m in range(n):
                        a = stack[sp, m]
                        stack[sp, m] = math.log(a) if a > 0.0 else np.nan
                        stack[sp + 1, m] = 1.0 / a
                elif op == TANH:
                    for m in range(n):
                        y = math.tanh(stack[sp, m])
                        stack[sp, m] = y
                        stack[sp + 1, m] = 1.0 - y * y
                elif op == TAN:
                    for m in range(n):
                        y = math.tan(stack[sp, m])
                        stack[sp, m] = y
                        stack[sp + 1, m] = 1.0 + y * y
                elif op == SQRT:
                    for m in range(n):
                        a = stack[sp, m]
                        y = math.sqrt(a) if a >= 0.0 else np.nan
                        stack[sp, m] = y
                        stack[sp + 1, m] = 0.5 / y
                else:
                    for m in range(n):
                        a = stack[sp, m]
                        s = 1.0 if a > 0.0 else (-1.0 if a < 0.0 else 0.0)
                        if op == ABS:
                            stack[sp, m] = abs(a)
                            stack[sp + 1, m] = s
                        else:
                            stack[sp, m] = s if a == a else np.nan
                            stack[sp + 1, m] = 0.0
                if ma:
                    for d in range(n_dir):
                        if ma >> d & 1:
                            for m in range(n):
                                dual[sp, d, m] *= stack[sp + 1, m]
        total = 0.0
        for m in range(n):
            values[j, m] = stack[0, m]
            total += stack[0, m] - stack[0, m]
        if not total == 0.0:
            return False
        ma = mask[0]
        if ma:
            for d in range(n_dir):
                if ma >> d & 1:
                    for m in range(n):
                        grads[d, m] += weight[j] * dual[0, d, m]
    return True


@dataclass(frozen=True)
class Evaluation:
    """Values of a sum of terms at n points, its derivatives, and whether all of it is finite."""

    value: Float
    in_constants: Float
    in_columns: Float
    finite: bool


def evaluate(tape: Tape, constants: Sequence[float] | Float, x: Float) -> Evaluation:
    """Return the sum of the tape's terms on columns `x` (columns, n), and all its first derivatives."""
    c = np.asarray(constants, np.float64)
    n_columns, n = x.shape
    weight = term_weights(tape, c)
    const_dir = np.arange(tape.n_constants, dtype=np.int64)
    col_dir = tape.n_constants + np.arange(n_columns, dtype=np.int64)
    n_dir = tape.n_constants + n_columns
    work = workspace(len(weight), tape.depth, n_dir, n)
    finite = bool(run_tape(tape, c, np.ascontiguousarray(x, np.float64), const_dir, col_dir, weight, work))
    if not finite:
        nan = np.full((n_dir + 1, n), np.nan)
        return Evaluation(nan[0], nan[1 : 1 + tape.n_constants], nan[1 + tape.n_constants :], finite)
    for j, i in enumerate(tape.linear):
        if i >= 0:
            work.grads[i] += tape.multiplier[j] * work.values[j]
    grads = work.grads
    return Evaluation(weight @ work.values, grads[: tape.n_constants], grads[tape.n_constants :], finite)


def term_weights(tape: Tape, constants: Float) -> Float:
    """Return the number in front of each program: multiplier and linear constant."""
    own = np.append(constants, 1.0)[tape.linear]  # -1 picks the one
    return np.asarray(tape.multiplier * own)
