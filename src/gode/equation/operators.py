"""The functions that an equation may hold: one table, so that a new one is one entry.

Sums, products and powers are the structure of a tree and are known to every module that walks one; all that
is to be known of sin, exp and the others stands here.

The parser, the normal form, the printer, SymPy and the compiled interpreter read the table.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function of one argument.

    `compiled` returns value and derivative, NaN where the function is not real; the interpreter compiles it,
    so it is restricted to what numba knows. `value` is the same for numbers in a tree, and raises there.
    """

    name: str
    value: Callable[[float], float]
    compiled: Callable[[float], tuple[float, float]]
    parity: int = 0  # 1: even, -1: odd, so that the sign of a factor inside can be pulled out
    kinked: bool = False  # made of straight pieces, as |x| is: it scales with its argument
    resolved: float = (
        math.inf
    )  # the largest change of the argument between two samples that tells its constants
    sympy: str = ""  # SymPy's name, if another
    latex: str = ""
    mathml: str = ""
    writing: Mapping[str, str] = field(default_factory=dict)  # how a language, or text, writes the call
    first: tuple[int, ...] = ()  # numbers that stand before the argument in SymPy

    def __post_init__(self) -> None:
        defaults = {
            "sympy": self.name,
            "latex": rf"\{self.name}\left({{}}\right)",
            "mathml": f"<mi>{self.name}</mi><mo>&#x2061;</mo><mrow><mo>(</mo>{{}}<mo>)</mo></mrow>",
        }
        for key, default in defaults.items():
            object.__setattr__(self, key, getattr(self, key) or default)

    def call(self, argument: str, language: str = "text") -> str:
        """Return the call as text, or as a programming language writes it."""
        return self.writing.get(language, f"{self.name}({{}})").format(argument)


def _sin(x: float) -> tuple[float, float]:
    return np.sin(x), np.cos(x)


def _cos(x: float) -> tuple[float, float]:
    return np.cos(x), -np.sin(x)


def _tan(x: float) -> tuple[float, float]:
    y = math.tan(x)
    return y, 1.0 + y * y


def _exp(x: float) -> tuple[float, float]:
    y = np.exp(x)
    return y, y


def _log(x: float) -> tuple[float, float]:
    return math.log(x) if x > 0.0 else np.nan, 1.0 / x


def _tanh(x: float) -> tuple[float, float]:
    y = math.tanh(x)
    return y, 1.0 - y * y


def _abs(x: float) -> tuple[float, float]:
    return abs(x), 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


def _max0(x: float) -> tuple[float, float]:
    return (x, 1.0) if x > 0.0 else ((0.0, 0.0) if x <= 0.0 else (x, x))


def _sign(x: float) -> tuple[float, float]:
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x), 0.0


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function(name="sin", value=math.sin, compiled=_sin, parity=-1, resolved=1.2),
        Function(name="cos", value=math.cos, compiled=_cos, parity=1, resolved=1.2),
        Function(name="tan", value=math.tan, compiled=_tan, parity=-1, resolved=1.2),
        Function(name="exp", value=math.exp, compiled=_exp, resolved=5.0),
        Function(name="log", value=math.log, compiled=_log),
        Function(name="tanh", value=math.tanh, compiled=_tanh, parity=-1, resolved=5.0),
        Function(
            name="abs",
            value=abs,
            compiled=_abs,
            parity=1,
            kinked=True,
            sympy="Abs",
            latex=r"\left|{}\right|",
            mathml="<mrow><mo>|</mo>{}<mo>|</mo></mrow>",
            writing={"c": "fabs({})"},
        ),
        Function(
            name="sign",
            value=lambda x: math.copysign(1.0, x) if x else 0.0,
            compiled=_sign,
            parity=-1,
            kinked=True,
            latex=r"\operatorname{{sign}}\left({}\right)",
        ),
        Function(  # the positive part: an overflow, a spring that engages, a dose above a threshold
            name="max0",
            value=lambda x: max(0.0, x),
            compiled=_max0,
            kinked=True,
            sympy="Max",
            first=(0,),
            latex=r"\max\left(0, {}\right)",
            mathml="<mi>max</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mn>0</mn><mo>,</mo>{}<mo>)</mo></mrow>",
            writing={
                "text": "max(0, {})",
                "c": "fmax(0.0, {})",
                "python": "np.maximum(0.0, {})",
                "julia": "max(0.0, {})",
                "matlab": "max(0, {})",
                "modelica": "max(0.0, {})",
            },
        ),
    )
}
KINKED = frozenset(name for name, function in FUNCTIONS.items() if function.kinked)

# The operations of a tape: what it puts on the stack, what it takes from there, then the functions in order.
VAR, CONST, LIT, ADD, MUL, POWI, POW, SQRT = range(8)
CODES: dict[str, int] = {name: code for code, name in enumerate(FUNCTIONS, start=SQRT + 1)}
