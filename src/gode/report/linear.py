"""Linearisation about an equilibrium: state space, transfer function, discrete time.

For the residual R(t, u, u', u'', F) = 0 of the equation, small deviations x = (u, u') from an equilibrium
follow a u'' + b u' + k u + f F = 0, where a, b, k, f are the partial derivatives of R.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm
from scipy.signal import ss2tf

from gode.arrays import Float
from gode.discovery import Discovery
from gode.equation.tape import COLUMNS
from gode.equation.tree import TIME, depends_on
from gode.errors import ConfigError, EquationError
from gode.report.equilibria import equilibria_under, extent, slopes_at_equilibrium
from gode.report.naming import TINY

if TYPE_CHECKING:
    from control import StateSpace

STATES = ("u", "u'")


@dataclass(frozen=True)
class Linear:
    """x' = A x + B w, y = C x + D w for small deviations x of the state, w of the input, y of the output u.

    With a sample time `dt` the first is x(t + dt) = A x(t) + B w(t), the input held between samples.
    """

    a: Float  # (states, states)
    b: Float  # (states, inputs)
    c: Float  # (outputs, states)
    d: Float  # (outputs, inputs)
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    equilibrium: Float  # (states,)
    input: Float  # (inputs,) constant, of the equilibrium
    dt: float | None = None

    @property
    def poles(self) -> Float:
        """The eigenvalues of A, which may be complex."""
        return np.asarray(np.linalg.eigvals(self.a))

    def transfer_function(self) -> tuple[Float, Float]:
        """Return numerator and denominator of u over the input, the highest power of s (or z) first.

        Raises:
            EquationError: if there is no input.
        """
        if not self.inputs:
            raise EquationError("a transfer function needs an input, and this equation has none")
        over, under = ss2tf(self.a, self.b, self.c, self.d)
        over[np.abs(over) < TINY * np.abs(over).max()] = 0.0  # rounding
        return np.trim_zeros(over[0], "f"), under

    def discrete(self, dt: float) -> "Linear":
        """Return the model from sample to sample, `dt` apart, with the input held in between.

        Raises:
            ConfigError: if the time is not positive, or the model is discrete already.
        """
        if not (np.isfinite(dt) and dt > 0):
            raise ConfigError(f"the sample time must be positive, got {dt!r}")
        if self.dt is not None:
            raise ConfigError(f"the model is discrete already, with the sample time {self.dt:g}")
        n, m = self.b.shape
        block = np.zeros((n + m, n + m))
        block[:n, :n], block[:n, n:] = self.a, self.b
        held = expm(dt * block)
        return replace(self, a=held[:n, :n], b=held[:n, n:], dt=float(dt))

    def control(self) -> "StateSpace":
        """Return the model as a `StateSpace` of python-control.

        Raises:
            ConfigError: if that is not installed.
        """
        try:
            from control import StateSpace
        except ImportError:
            raise ConfigError(
                "this needs python-control; install it with: pip install 'gode-engine[control]'"
            ) from None
        return StateSpace(self.a, self.b, self.c, self.d, 0 if self.dt is None else self.dt)

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain lists and numbers."""
        out: dict[str, object] = {
            "states": list(self.states),
            "inputs": list(self.inputs),
            "outputs": ["u"],
            "equilibrium": self.equilibrium.tolist(),
            "input": self.input.tolist(),
            "dt": self.dt,
            "A": self.a.tolist(),
            "B": self.b.tolist(),
            "C": self.c.tolist(),
            "D": self.d.tolist(),
            "poles": [[float(p.real), float(p.imag)] for p in self.poles],
        }
        if self.inputs:
            over, under = self.transfer_function()
            out |= {"numerator": over.tolist(), "denominator": under.tolist()}
        return out


def linearise(discovery: Discovery, u: float | None, *, force: float) -> Linear:
    """Return the linear model about an equilibrium under a constant force.

    Args:
        u: near the equilibrium wanted; by default a stable one in the range of the data.

    Raises:
        EquationError: if there is none, or the equation is not linearisable there.
    """
    equation = discovery.candidates[0].single
    skeleton = equation.skeleton
    for name, value in (("u", u), ("force", force)):
        if value is not None and not np.isfinite(value):
            raise ConfigError(f"{name} must be a finite number, got {value!r}")
    if depends_on(skeleton.normal, TIME):
        raise EquationError(f"{equation.text(4)} changes with time, so it has no equilibria")
    inputs = [float(force)] * len(skeleton.inputs)
    low, high = extent(discovery)
    ends = [low, high] if u is None else [low, high, u]
    found = [
        _linear_about(discovery, x, inputs) for x in equilibria_under(equation, min(ends), max(ends), inputs)
    ]
    models = [model for model in found if model is not None]
    if not models:
        where = "" if u is None else f" or near u = {u:g}"
        raise EquationError(
            f"{equation.text(4)} has no equilibrium about which it is linear within the data{where} under "
            f"the constant force {force:g}; give another one"
        )
    middle = 0.5 * (low + high)
    if u is not None:
        return min(models, key=lambda m: abs(m.equilibrium[0] - u))
    return min(models, key=lambda m: (bool(np.any(m.poles.real > 0)), abs(m.equilibrium[0] - middle)))


def _linear_about(discovery: Discovery, u: float, inputs: list[float]) -> Linear | None:
    """Return the model about the equilibrium `u`; None if a slope is not finite or the leading one zero."""
    equation = discovery.candidates[0].single
    order, names = equation.order, equation.skeleton.inputs
    slopes = slopes_at_equilibrium(equation, u, inputs)
    lead, own = slopes[1 + order], slopes[1 : 1 + order]
    if not np.all(np.isfinite(slopes)) or not abs(lead) > TINY * np.abs(slopes).max():
        return None
    a, b = np.eye(order, k=1), np.zeros((order, len(names)))
    a[-1] = -own / lead
    b[-1] = -slopes[len(COLUMNS) :] / lead
    c = np.eye(1, order)
    state = np.array([u, *[0.0] * (order - 1)])
    return Linear(a, b, c, np.zeros((1, len(names))), STATES[:order], names, state, np.array(inputs))
