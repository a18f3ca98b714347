"""Baselines of the engine: the same tasks done by general tools on the same machine."""

import importlib.util
from collections.abc import Callable, Sequence

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from scipy.interpolate import make_smoothing_spline
from scipy.optimize import minimize

from gode.arrays import Float
from gode.equation import Equation, Skeleton
from gode.equation.symbolic import STATE_FUNCTION, TIME_SYMBOL, expression

Loss = Callable[[Float], float]
STATE, SLOPE = sympy.Symbol("x"), sympy.Symbol("y")


def has_symengine() -> bool:
    """Tell whether SymEngine, the baseline of the fits, is installed."""
    return importlib.util.find_spec("symengine") is not None


def nelder_mead(skeleton: Skeleton, t: Float, u: Float, du: Float) -> float:
    """Return the loss after the paper's inner loop: SymEngine, Nelder-Mead from ones, 300 iterations."""
    import symengine

    symbolic = expression(skeleton.tree)
    symbolic = symbolic.subs(sympy.Derivative(STATE_FUNCTION, TIME_SYMBOL), SLOPE).subs(STATE_FUNCTION, STATE)
    free = {s for s in symbolic.free_symbols if s.name.startswith("c")}
    names = sorted(free, key=lambda s: int(s.name[1:]))
    residual = symengine.Lambdify([TIME_SYMBOL, STATE, SLOPE, *names], [symbolic])
    points = np.empty((len(t), 3 + len(names)))
    points[:, 0], points[:, 1], points[:, 2] = t, u, du

    def loss(c: Float) -> float:
        points[:, 3:] = c
        with np.errstate(all="ignore"):
            value = np.sqrt(np.mean(np.asarray(residual(points)) ** 2))
        return float(value) if np.isfinite(value) else 1e10

    if not names:
        return loss(np.empty(0))
    found = minimize(
        loss,
        np.ones(len(names)),
        method="Nelder-Mead",
        options={"maxiter": 300, "xatol": 1e-3, "fatol": 1e-3},
    )
    return float(found.fun)


def scipy_solver(equation: Equation) -> Callable[[Float, Sequence[float], float], Float]:
    """Return a solver by `solve_ivp` with a lambdified right-hand side: (t, initial, rtol) -> u."""
    right = equation.sympy().rhs
    right = right.subs(sympy.Derivative(STATE_FUNCTION, TIME_SYMBOL), SLOPE).subs(STATE_FUNCTION, STATE)
    value = sympy.lambdify((TIME_SYMBOL, STATE, SLOPE), right, "math")

    def first(s: float, y: Float) -> tuple[float, ...]:
        return (value(s, y[0], 0.0),)

    def second(s: float, y: Float) -> tuple[float, ...]:
        return (y[1], value(s, y[0], y[1]))

    system = first if equation.order == 1 else second

    def solver(t: Float, initial: Sequence[float], rtol: float) -> Float:
        found = solve_ivp(system, (t[0], t[-1]), list(initial), t_eval=t, rtol=rtol, atol=1e-3 * rtol)
        return np.asarray(found.y[0])

    return solver


def spline(t: Float, u: Float) -> Float:
    """Return u, u' and u'' smoothed by a spline with generalised cross-validation."""
    smooth = make_smoothing_spline(t, u)
    return np.vstack([smooth(t), smooth.derivative(1)(t), smooth.derivative(2)(t)])
