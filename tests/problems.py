"""ODEs with closed-form solutions: the known answers of every numerical test.

A text uses `u`, `u'`, `u''`, `t`, numbers, `+ - * / ^` and `sin`; along the solution its two sides are equal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gode.arrays import Float


class Trajectory(NamedTuple):
    """A signal and its derivatives, each of shape (n,)."""

    t: Float
    u: Float
    du: Float
    d2u: Float


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An initial value problem and its solution; `initial` is (u,) or (u, u') at t0."""

    name: str
    text: str
    order: int
    t0: float
    t1: float
    initial: tuple[float, ...]
    exact: Callable[[Float], Float]
    exact_du: Callable[[Float], Float]
    exact_d2u: Callable[[Float], Float]
    branches: int = 1  # how many real values of the highest derivative satisfy the equation

    def trajectory(self, n_points: int = 200) -> Trajectory:
        """Return the solution at `n_points` equally spaced times."""
        t = np.linspace(self.t0, self.t1, n_points)
        return Trajectory(t, self.exact(t), self.exact_du(t), self.exact_d2u(t))


def _sigmoid(t: Float) -> Float:
    return 1 / (1 + 9 * np.exp(-t))


PROBLEMS = (
    Problem(
        name="exponential decay",
        text="u' = -0.7*u",
        order=1,
        t0=0.0,
        t1=5.0,
        initial=(2.0,),
        exact=lambda t: 2 * np.exp(-0.7 * t),
        exact_du=lambda t: -1.4 * np.exp(-0.7 * t),
        exact_d2u=lambda t: 0.98 * np.exp(-0.7 * t),
    ),
    Problem(
        name="logistic",
        text="u' = u*(1 - u)",
        order=1,
        t0=0.0,
        t1=8.0,
        initial=(0.1,),
        exact=_sigmoid,
        exact_du=lambda t: _sigmoid(t) * (1 - _sigmoid(t)),
        exact_d2u=lambda t: _sigmoid(t) * (1 - _sigmoid(t)) * (1 - 2 * _sigmoid(t)),
    ),
    Problem(
        name="newton cooling",
        text="u' = -0.5*(u - 20)",
        order=1,
        t0=0.0,
        t1=8.0,
        initial=(90.0,),
        exact=lambda t: 20 + 70 * np.exp(-0.5 * t),
        exact_du=lambda t: -35 * np.exp(-0.5 * t),
        exact_d2u=lambda t: 17.5 * np.exp(-0.5 * t),
    ),
    Problem(
        name="cubic decay",
        text="u' = -u^3",
        order=1,
        t0=0.0,
        t1=4.0,
        initial=(1.0,),
        exact=lambda t: (1 + 2 * t) ** -0.5,
        exact_du=lambda t: -((1 + 2 * t) ** -1.5),
        exact_d2u=lambda t: 3 * (1 + 2 * t) ** -2.5,
    ),
    Problem(
        name="square root",
        text="u' = 1/(2*u)",
        order=1,
        t0=0.25,
        t1=4.0,
        initial=(0.5,),
        exact=np.sqrt,
        exact_du=lambda t: 0.5 * t**-0.5,
        exact_d2u=lambda t: -0.25 * t**-1.5,
    ),
    Problem(
        name="linear in time",
        text="u' + u/t - 2 = 0",
        order=1,
        t0=0.1,
        t1=4.0,
        initial=(20.1,),
        exact=lambda t: t + 2 / t,
        exact_du=lambda t: 1 - 2 / t**2,
        exact_d2u=lambda t: 4 / t**3,
    ),
    Problem(
        name="undamped oscillator",
        text="u'' = -4*u",
        order=2,
        t0=0.0,
        t1=10.0,
        initial=(1.0, 0.0),
        exact=lambda t: np.cos(2 * t),
        exact_du=lambda t: -2 * np.sin(2 * t),
        exact_d2u=lambda t: -4 * np.cos(2 * t),
    ),
    Problem(
        name="damped oscillator",
        text="u'' + 0.4*u' + 1.04*u = 0",
        order=2,
        t0=0.0,
        t1=12.0,
        initial=(0.0, 1.0),
        exact=lambda t: np.exp(-0.2 * t) * np.sin(t),
        exact_du=lambda t: np.exp(-0.2 * t) * (np.cos(t) - 0.2 * np.sin(t)),
        exact_d2u=lambda t: np.exp(-0.2 * t) * (-0.4 * np.cos(t) - 0.96 * np.sin(t)),
    ),
    Problem(
        name="double root",
        text="u'' - 6*u' + 9*u = 0",
        order=2,
        t0=0.0,
        t1=1.0,
        initial=(0.0, 2.0),
        exact=lambda t: 2 * t * np.exp(3 * t),
        exact_du=lambda t: (2 + 6 * t) * np.exp(3 * t),
        exact_d2u=lambda t: (12 + 18 * t) * np.exp(3 * t),
    ),
    Problem(
        name="implicit product",
        text="u''*u' + 4/t^3 = 0",
        order=2,
        t0=1.0,
        t1=5.0,
        initial=(0.0, 2.0),
        exact=lambda t: 2 * np.log(t),
        exact_du=lambda t: 2 / t,
        exact_d2u=lambda t: -2 / t**2,
    ),
    Problem(
        name="implicit square",
        text="u''^2 - 81*u^2 = 0",
        order=2,
        t0=0.0,
        t1=2.0,
        initial=(0.0, 3.0),
        exact=lambda t: np.sin(3 * t),
        exact_du=lambda t: 3 * np.cos(3 * t),
        exact_d2u=lambda t: -9 * np.sin(3 * t),
        branches=2,  # u'' = 9u and u'' = -9u, which meet wherever u = 0, so also at t0
    ),
    Problem(
        name="forced oscillator",
        text="u'' + 4*u = 3*sin(t)",
        order=2,
        t0=0.0,
        t1=10.0,
        initial=(1.0, 1.0),
        exact=lambda t: np.cos(2 * t) + np.sin(t),
        exact_du=lambda t: -2 * np.sin(2 * t) + np.cos(t),
        exact_d2u=lambda t: -4 * np.cos(2 * t) - np.sin(t),
    ),
)

BY_NAME = {problem.name: problem for problem in PROBLEMS}
TRACKED = tuple(problem for problem in PROBLEMS if problem.branches == 1)  # the initial values decide
