"""The 43 problems of the paper: how the equations of its suites B1, B2 and B3 are sampled.

The equations are those of `gode.paper.benchmarks_sec3`. B2 has closed forms; B1 and B3 are integrated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import e, pi, sin

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, parse_equation
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.errors import ConfigError, GodeError
from gode.paper.benchmarks_sec3 import EQUATIONS
from gode.solve import SolveConfig, solve

Trajectory = tuple[Float, Float, Float, Float]  # t, u, u', u''
ACCURATE = SolveConfig(rtol=1e-10, max_steps=100_000)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An initial value problem, and which of its signals is measured."""

    name: str
    suite: str
    text: str  # with numbers; a known force is F
    order: int
    t0: float
    t1: float
    fs: float  # samples per unit of time
    initial: tuple[float, ...]  # u(t0), and u'(t0) for second order
    force: str | None = None  # F as a formula in t
    exact: Callable[[Float], tuple[Float, Float, Float]] | None = None  # u, u', u''
    observed: str = "u"  # or "acceleration"

    @cached_property
    def equation(self) -> Equation:
        """The equation to be found."""
        return parse_equation(self.text)

    @property
    def size(self) -> int:
        """Relative duration of a run of one sample."""
        return self.order

    @property
    def t(self) -> Float:
        """The times of the samples."""
        return np.linspace(self.t0, self.t1, int((self.t1 - self.t0) * self.fs + 1))


def _over_sine(t: Float) -> tuple[Float, Float, Float]:
    """(t + 2)/sin t and its derivatives."""
    u, s, cot = (t + 2) / np.sin(t), 1 / np.sin(t), np.cos(t) / np.sin(t)
    du = s - u * cot
    return u, du, -s * cot - du * cot + u * s**2


def _b1(name: str, t0: float, t1: float, start: float, fs: float) -> Problem:
    return Problem(
        name=name, suite="b1", text=EQUATIONS[name], order=1, t0=t0, t1=t1, fs=fs, initial=(start,)
    )


# fmt: off
B1 = (
    _b1("ID1", 0.1, 15.0, 10.0, 8),
    _b1("ID2", 4.0, 17.3, 4.78, 5),
    _b1("ID3", 0.5, 25.0, 7.3, 5),
    _b1("ID4", 1.5, 9.0, 0.8, 9),
    _b1("ID5", 2.0, 23.0, 0.5, 6),
    _b1("ID6", 0.3, 5.5, 0.13, 10),
    _b1("ID7", 1.5, 12.9, 1.73, 10),
    _b1("ID8", 1.8, 9.1, 6.123, 15),
    _b1("ID9", 0.3, 24.1, 0.14, 8),
    _b1("ID10", 1.1, 14.3, 0.83, 10),
    _b1("ID11", 2.0, 7.0, 3.4, 20),
    _b1("ID12", 4.3, 18.4, 11.0, 8),
    _b1("ID13", 0.1, 18.9, 2.4, 10),
    _b1("ID14", 1.4, 8.2, 2.76, 13),
    _b1("ID15", 3.8, 13.8, 44.3, 9),
    _b1("ID16", 0.8, 9.2, 0.94, 18),
    _b1("ID17", 1.4, 15.2, 14.3, 9),
    _b1("ID18", 1.8, 17.0, 21.1, 6),
    _b1("ID19", 2.5, 8.0, 0.13, 20),
    _b1("ID20", 1.5, 11.3, 0.002, 16),
    _b1("ID21", 2.0, 9.6, 0.0, 18),
    _b1("ID22", 2.8, 7.9, 3.1, 15),
    _b1("ID23", 4.9, 33.8, -2.74, 10),
    _b1("ID24", 2.9, 13.8, -1.89, 12),
    _b1("ID25", 0.9, 52.8, 1.89, 4),
    _b1("ID26", 1.5, 13.8, 2.92, 12),
    _b1("ID27", 0.8, 12.2, 0.05, 12),
    _b1("ID28", 1.23, 17.02, 0.1, 10),
    _b1("ID29", 3.52, 21.87, 12.3, 9),
    _b1("ID30", 1.8, 8.27, 0.3, 9),
)

B2 = (
    Problem(
        name="LODE1", suite="b2", text=EQUATIONS["LODE1"],
        order=1, t0=0.1, t1=1.0, fs=50, initial=(20.1,),
        exact=lambda t: (t + 2 / t, 1 - 2 / t**2, 4 / t**3),
    ),
    Problem(
        name="LODE2", suite="b2", text=EQUATIONS["LODE2"],
        order=1, t0=0.1, t1=1.0, fs=50, initial=(2.1 / sin(0.1),),
        exact=_over_sine,
    ),
    Problem(
        name="LODE3", suite="b2", text=EQUATIONS["LODE3"],
        order=1, t0=0.0, t1=1.0, fs=50, initial=(0.0,),
        exact=lambda t: (
            np.exp(-t / 5) * np.sin(t),
            np.exp(-t / 5) * (np.cos(t) - np.sin(t) / 5),
            np.exp(-t / 5) * (-0.4 * np.cos(t) - 0.96 * np.sin(t)),
        ),
    ),
    Problem(
        name="LODE4", suite="b2", text=EQUATIONS["LODE4"],
        order=2, t0=0.0, t1=1.0, fs=100, initial=(0.0, 8.0),  # printed without the slope
        exact=lambda t: (np.sin(8 * t), 8 * np.cos(8 * t), -64 * np.sin(8 * t)),
    ),
    Problem(
        name="LODE5", suite="b2", text=EQUATIONS["LODE5"],
        order=2, t0=0.0, t1=1.0, fs=100, initial=(0.0, 2.0),
        exact=lambda t: (2 * t * np.exp(3 * t), (2 + 6 * t) * np.exp(3 * t), (12 + 18 * t) * np.exp(3 * t)),
    ),
    Problem(
        name="NLODE1", suite="b2", text=EQUATIONS["NLODE1"],
        order=1, t0=1.0, t1=4.0, fs=30, initial=(1.0,),
        exact=lambda t: (t**0.5, 0.5 * t**-0.5, -0.25 * t**-1.5),
    ),
    Problem(
        name="NLODE2", suite="b2", text=EQUATIONS["NLODE2"],
        order=2, t0=1.0, t1=2.0, fs=50, initial=(0.0, 2.0),  # printed without the slope
        exact=lambda t: (2 * np.log(t), 2 / t, -2 / t**2),
    ),
    Problem(
        name="NLODE3", suite="b2", text=EQUATIONS["NLODE3"],
        order=2, t0=e, t1=2 * e, fs=35, initial=(0.0, 1 / e),
        exact=lambda t: (
            np.log(np.log(t)), 1 / (t * np.log(t)), -(1 + np.log(t)) / (t * np.log(t)) ** 2,
        ),
    ),
    Problem(
        name="NLODE4", suite="b2", text=EQUATIONS["NLODE4"],
        order=2, t0=0.0, t1=2 * pi, fs=30, initial=(0.0, 3.0),
        exact=lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)),
    ),
    Problem(
        name="NLODE5", suite="b2", text=EQUATIONS["NLODE5"],
        order=2, t0=0.0, t1=2.5, fs=50, initial=(0.0, 0.0),
        exact=lambda t: (0.8 * t**3, 2.4 * t**2, 4.8 * t),
    ),
)

B3 = (
    Problem(
        name="Pendulum", suite="b3", text=EQUATIONS["Pendulum"], force="2*sin(0.5*t)",
        order=2, t0=0.0, t1=60.0, fs=10, initial=(0.0, 3.0), observed="acceleration",
    ),
    Problem(
        name="Duffing", suite="b3", text=EQUATIONS["Duffing"], force="cos(2*t)",
        order=2, t0=0.0, t1=30.0, fs=10, initial=(0.0, 1.5), observed="acceleration",
    ),
    Problem(
        name="VanDerPol", suite="b3", text=EQUATIONS["VanDerPol"], force="cos(2*t)",
        order=2, t0=0.0, t1=30.0, fs=10, initial=(1.0, 0.0), observed="acceleration",
    ),
)
# fmt: on

SUITES = {"b1": B1, "b2": B2, "b3": B3}


def problem(name: str) -> Problem:
    """Return the problem called `name`, such as ID7, LODE2 or Duffing.

    Raises:
        ConfigError: if there is none of that name.
    """
    for problems in SUITES.values():
        for one in problems:
            if one.name == name:
                return one
    names = [one.name for problems in SUITES.values() for one in problems]
    raise ConfigError(f"there is no problem {name!r}; choose one of {', '.join(names)}")


def suite(name: str) -> tuple[Problem, ...]:
    """Return the problems of suite b1, b2 or b3.

    Raises:
        ConfigError: if there is none of that name.
    """
    if name not in SUITES:
        raise ConfigError(f"there is no suite {name!r}; choose one of {', '.join(SUITES)}")
    return SUITES[name]


def truth(problem: Problem) -> Trajectory:
    """Return t, u, u' and u'' of the clean solution: the closed form, or integrated to ten digits."""
    t = problem.t
    if problem.exact is not None:
        return (t, *problem.exact(t))
    inputs = None if problem.force is None else {"F": problem.force}
    solution = solve(problem.equation, t, problem.initial, inputs=inputs, config=ACCURATE)
    if solution.failure is not None:
        raise GodeError(f"{problem.name} could not be integrated: {solution.failure}; this is a bug of gode")
    if problem.order == 2:
        return t, solution.u, solution.du, solution.d2u
    return t, solution.u, solution.du, _slope_of_rhs(problem.equation, t, solution.u, solution.du)


def noisy(problem: Problem, noise: float, *, rng: np.random.Generator) -> tuple[Float, Float]:
    """Return the times and the measured signal, with normal noise of `noise` times its standard deviation.

    The measured signal is u, but the acceleration u'' in B3.
    """
    t, u, _, d2u = truth(problem)
    signal = u if problem.observed == "u" else d2u
    return t, signal + noise * np.std(signal) * rng.standard_normal(len(signal))


def _slope_of_rhs(equation: Equation, t: Float, u: Float, du: Float) -> Float:
    """Return u'' of a first-order equation u' = f(t, u): f_t + f_u u'."""
    terms = equation.skeleton.rhs_terms
    assert terms is not None, "the problems of B1 are explicit"
    zero = np.zeros_like(t)
    tape = compile_tape(terms, COLUMNS, len(equation.constants))
    slope = evaluate(tape, equation.constants, np.vstack([t, u, zero, zero])).in_columns
    return np.asarray(slope[0] + slope[1] * du)
