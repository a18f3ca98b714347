"""Linearisation about an equilibrium: state space, transfer function, discrete time, and response to inputs.

For the residual R(t, u, u', u'', F) = 0 of the equation, small deviations x = (u, u') from an equilibrium
follow a u'' + b u' + k u + f F = 0, where a, b, k, f are the partial derivatives of R.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

from gode.arrays import Float
from gode.discovery import Discovery
from gode.discovery.framing import by_columns
from gode.discovery.quality import start_names
from gode.equation import Law
from gode.equation.operators import KINKED
from gode.equation.skeleton import shown_name
from gode.equation.system import moving_law
from gode.equation.tree import TIME, depends_on, walk
from gode.errors import ConfigError, EquationError, GodeError
from gode.report.equilibria import RestingLaw, extents, stationary_points
from gode.report.naming import CYCLES, TINY, Units
from gode.report.spec import Kind, Plot, Trace
from gode.solve.program import late_states

if TYPE_CHECKING:
    from control import StateSpace

ASIDE, BENT = 1e-6, 1e-3  # of the range beside a kink, and of slopes: larger changes make one
POINTS = 400
DECADES = 2.0  # around the poles, on either side
SETTLED = 8.0  # time constants of the slowest mode that are drawn
LONGEST = 200.0  # time constants of the fastest mode
Place = float | Sequence[float] | Mapping[str, float] | Float  # of all states
Constant = float | Mapping[str, float]  # value of the input, or of several by their names


@dataclass(frozen=True)
class Linear:
    """x' = A x + B w, y = C x + D w for small deviations x of the state, w of the input, y of the output u.

    Of several states, the outputs y are all of them. Input i acts `delays[i]` late, its dead time: w_i(t) is
    its deviation at t - delays[i]. One that acts at several times is an input for each, such as F(t - 2.3).
    Poles and matrices are those of the rest; the transfer function has the factor exp(-s delays[i]) too.

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
    delays: tuple[float, ...] = ()  # (inputs,) dead times; none where nothing is late

    @property
    def poles(self) -> Float:
        """The eigenvalues of A, which may be complex."""
        return np.asarray(np.linalg.eigvals(self.a))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs: the states without their derivatives."""
        return tuple(name for name in self.states if not name.endswith("'"))

    def transfer_function(self, output: str | None = None, input: str | None = None) -> tuple[Float, Float]:
        """Return numerator and denominator of an output over an input, the highest power of s (or z) first.

        They are without the dead time of the input, for which `delays` is.

        Args:
            output, input: by default the first.

        Raises:
            EquationError: if there is no input, or none of these names.
        """
        if not self.inputs:
            raise EquationError("a transfer function needs an input, and this equation has none")
        from scipy.signal import ss2tf

        row = _index(self.outputs, output, "output")
        over, under = ss2tf(self.a, self.b, self.c, self.d, input=_index(self.inputs, input, "input"))
        over[np.abs(over) < TINY * np.abs(over).max()] = 0.0  # rounding
        return np.trim_zeros(over[row], "f"), under

    def discrete(self, dt: float) -> "Linear":
        """Return the model from sample to sample, `dt` apart, with the input held in between.

        A dead time stays beside it: what is held is the input as it was that long ago.

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
            EquationError: with a dead time, which it cannot hold.
        """
        if any(self.delays):
            told = ", ".join(
                f"{name} by {x:.6g}" for name, x in zip(self.inputs, self.delays, strict=True) if x
            )
            raise EquationError(
                f"a StateSpace of python-control has no dead time, and here inputs are late: {told}; take "
                "a, b, c, d, and a Pade approximation of the delay, as control.pade gives it"
            )
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
            "outputs": list(self.outputs),
            "equilibrium": self.equilibrium.tolist(),
            "input": self.input.tolist(),
            "dt": self.dt,
            **({"delays": list(self.delays)} if any(self.delays) else {}),
            "A": self.a.tolist(),
            "B": self.b.tolist(),
            "C": self.c.tolist(),
            "D": self.d.tolist(),
            "poles": [[float(p.real), float(p.imag)] for p in self.poles],
        }
        if len(self.inputs) == len(self.outputs) == 1:
            over, under = self.transfer_function()
            out |= {"numerator": over.tolist(), "denominator": under.tolist()}
        return out


def linearise(discovery: Discovery, u: Place | None, *, force: Constant) -> Linear:
    """Return the linear model about an equilibrium under a constant force.

    Args:
        u: near the equilibrium wanted; by default a stable one in the range of the data. Of several states,
            their values in order or by their names.
        force: a number, or one for each input by its name.

    Raises:
        EquationError: if there is none, or the equation is not linearisable there.
    """
    law, dataset = moving_law(discovery.candidates[0].equation), discovery.prepared.dataset
    skeleton = law.skeleton
    if isinstance(u, Mapping):
        u = by_columns(dataset, u)  # type: ignore[assignment]
    if isinstance(force, Mapping):
        force = by_columns(dataset, force)  # type: ignore[assignment]
    near, inputs = _near(u, law), _inputs(force, skeleton.inputs)
    if any(depends_on(part.normal, TIME) for part in skeleton.parts):
        raise EquationError(f"{'; '.join(law.lines(4))} changes with time, so it has no equilibria")
    if late_states(skeleton):
        raise EquationError(
            f"{'; '.join(law.lines(4))} has a delayed state, and no linear model of finite order"
        )
    low, high = (end[: len(law.states)] for end in extents(discovery))
    places, _ = stationary_points(law, low, high, inputs, near)
    models = [model for x in places if (model := _about(law, x, inputs))]
    if not models:
        where = "" if near is None else f" or near {_at(skeleton.shown_states, near)}"
        told = f"{force:g}" if isinstance(force, float | int) else str(dict(force))
        raise EquationError(
            f"{'; '.join(law.lines(4))} has no equilibrium about which it is linear within the data{where} "
            f"under the constant force {told}; give another one"
        )
    size = np.where(high > low, high - low, 1.0)
    middle = 0.5 * (low + high) if near is None else near
    values = [np.array([m.equilibrium[m.states.index(s)] for s in skeleton.shown_states]) for m in models]
    far = [float(np.max(np.abs(x - middle) / size)) for x in values]
    unstable = [near is None and bool(np.any(m.poles.real > 0)) for m in models]
    best = min(range(len(models)), key=lambda i: (unstable[i], far[i]))
    _check_smooth(law, values[best], inputs, size)
    return models[best]


def _check_smooth(law: Law, x: Float, inputs: list[float], size: Float) -> None:
    """Raise EquationError where the law has a kink at the equilibrium `x`, with the motion on either side."""
    if not any(node.op in KINKED for part in law.skeleton.parts for node in walk(part.normal)):
        return
    for s, name in enumerate(law.skeleton.shown_states):
        step = np.zeros(len(x))
        step[s] = ASIDE * size[s]
        c, resting = np.array(law.constants), RestingLaw(law)
        low, high = (resting.linear(c, x + move, inputs) for move in (-step, step))
        if low is None or high is None:
            continue
        below, above = low[0], high[0]
        if np.abs(above - below).max() <= BENT * np.abs(above).max():
            continue
        told = [", ".join(f"{z:.4g}" for z in np.linalg.eigvals(each)) for each in (below, above)]
        raise EquationError(
            f"{'; '.join(law.lines(4))} has a kink at its equilibrium {_at(law.skeleton.shown_states, x)}: "
            f"it follows no linear model there. Poles are {told[0]} at smaller {name}, {told[1]} at larger; "
            "take those of the side on which it moves, or another equilibrium"
        )


def _about(law: Law, x: Float, inputs: list[float]) -> Linear | None:
    """Return the model about the equilibrium `x`; None if a slope is not finite or the leading one zero."""
    found = RestingLaw(law).linear(np.array(law.constants), x, inputs)
    if found is None:
        return None
    a, b = found
    names, shown = start_names(law), law.skeleton.shown_states
    c = np.array([[float(name == state) for name in names] for state in shown])
    state = np.array([0.0 if name.endswith("'") else x[shown.index(name)] for name in names])
    known = [shown_name(name, law.skeleton.called) for name in law.skeleton.inputs]
    columns: dict[tuple[int, float], Float] = {(i, 0.0): b[:, i] for i in range(len(known))}
    for place, column in zip(RestingLaw(law).delays(np.array(law.constants)), b.T[len(known) :], strict=True):
        columns[place] = columns.get(place, np.zeros(len(b))) + column
    late = {i for i, delay in columns if delay}
    kept = [(i, delay) for i, delay in columns if delay or i not in late or columns[i, 0.0].any()]
    several = {i for i, _ in kept if sum(i == other for other, _ in kept) > 1}
    called = [f"{known[i]}(t - {d:.6g})" if d and i in several else known[i] for i, d in kept]
    return Linear(
        a,
        np.column_stack([columns[place] for place in kept]) if kept else b,
        c,
        np.zeros((len(law.states), len(kept))),
        tuple(names),
        tuple(called),
        state,
        np.array([inputs[i] for i, _ in kept]),
        delays=tuple(delay for _, delay in kept) if late else (),
    )


def _near(u: Place | None, law: Law) -> Float | None:
    """Return the place (d,) asked for."""
    if u is None:
        return None
    if isinstance(u, Mapping):
        given = [u.get(state, np.nan) for state in law.states]
    else:
        given = [float(x) for x in np.atleast_1d(np.asarray(u, np.float64))]
    if len(given) != len(law.states) or not np.all(np.isfinite(given)):
        raise ConfigError(f"u must be a finite number for each of {law.states}, got {u!r}")
    return np.array(given, np.float64)


def _inputs(force: Constant, names: tuple[str, ...]) -> list[float]:
    """Return the constant value of each input."""
    values = [force.get(name, 0.0) for name in names] if isinstance(force, Mapping) else [force] * len(names)
    for value in [*values, *([] if isinstance(force, Mapping) else [force])]:
        if not np.isfinite(value):
            raise ConfigError(f"force must be a finite number, got {value!r}")
    return [float(value) for value in values]


def _at(states: tuple[str, ...], place: Float) -> str:
    return ", ".join(f"{name} = {x:g}" for name, x in zip(states, place, strict=True))


def _index(names: tuple[str, ...], name: str | None, what: str) -> int:
    if name is not None and name not in names:
        raise EquationError(f"no {what} is called {name!r}; there are {', '.join(names)}")
    return 0 if name is None else names.index(name)


def response_plots(discovery: Discovery) -> list[Plot]:
    """Return amplitude, phase and step response about an equilibrium; nothing without an input."""
    if not discovery.candidates[0].equation.skeleton.inputs:
        return []
    try:
        linear = linearise(discovery, None, force=0.0)
    except GodeError:
        return []
    return [*_frequency(linear, discovery), *_step(linear, discovery)]


def _frequency(linear: Linear, discovery: Discovery) -> list[Plot]:
    units = Units.of(discovery.prepared.dataset)
    unit = CYCLES.get(units.time, f"cycles/{units.time}" if units.time else "cycles per unit of time")
    rates = np.abs(linear.poles)
    rates = rates[rates > 0]
    if not len(rates):
        return []
    low, high = np.log10(rates.min()) - DECADES, np.log10(rates.max()) + DECADES
    omega = np.unique(
        np.concatenate(
            [np.logspace(low, high, POINTS), np.sort(np.abs(linear.poles.imag[linear.poles.imag > 0]))]
        )
    )
    eye = np.eye(len(linear.a))
    gain = np.array([linear.c @ np.linalg.solve(1j * w * eye - linear.a, linear.b) + linear.d for w in omega])
    if linear.delays:
        gain = gain * np.exp(-1j * np.outer(omega, linear.delays))[:, None, :]
    names = [
        (o, i, f"{out} over {inp}")
        for o, out in enumerate(linear.outputs)
        for i, inp in enumerate(linear.inputs)
    ]
    x = omega / (2 * np.pi)
    amplitude = [Trace(Kind.LINE, name, x, np.abs(gain[:, o, i])) for o, i, name in names]
    angle = [
        Trace(Kind.LINE, name, x, np.degrees(np.unwrap(np.angle(gain[:, o, i])))) for o, i, name in names
    ]
    axis = f"frequency [{unit}]"
    return [
        Plot(
            title="Frequency response: amplitude",
            x=axis,
            y="amplitude",
            traces=amplitude,
            log="xy",
            link="f",
            height=240,
        ),
        Plot(
            title="Frequency response: phase",
            x=axis,
            y="phase [degrees]",
            traces=angle,
            log="x",
            link="f",
            height=220,
        ),
    ]


def _after(delay: float, t: Float, y: Float) -> tuple[Float, Float]:
    """Return a response that begins some time later."""
    return (t, y) if delay == 0 else (np.append(0.0, t + delay), np.append(0.0, y))


def _step(linear: Linear, discovery: Discovery) -> list[Plot]:
    poles = linear.poles
    if not np.all(poles.real < 0):
        return []
    slow, fast = 1.0 / np.abs(poles.real).min(), 1.0 / np.abs(poles).max()
    end = min(SETTLED * slow, LONGEST * fast)
    step = linear.discrete(end / POINTS)
    t = np.linspace(0.0, end, POINTS + 1)
    delays = linear.delays or (0.0,) * len(linear.inputs)
    drawn = []
    for i, name in enumerate(linear.inputs):
        x = np.zeros(len(linear.a))
        rows = []
        for _ in t:
            rows.append(linear.c @ x + linear.d[:, i])
            x = step.a @ x + step.b[:, i]
        drawn += [
            Trace(Kind.LINE, f"{out} after a step of {name}", *_after(delays[i], t, np.array(rows)[:, o]))
            for o, out in enumerate(linear.outputs)
        ]
    time = Units.of(discovery.prepared.dataset).time
    label = f"time after the step [{time}]" if time else "time after the step"
    return [Plot(title="Step response", x=label, y="response to a step of one", traces=drawn, height=240)]
