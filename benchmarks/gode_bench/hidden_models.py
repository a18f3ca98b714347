"""Models of which one state is not measured, simulated with noise: the classics of several fields.

Constants and starts differ from seed to seed, so that no single record decides. Each model is also written as
a search finds it: the hidden state is scaled so that it enters the measured equation with the factor one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

from gode.arrays import Float

NOISE = 0.03  # of the standard deviation of the measured state
SPREAD = 0.15  # standard deviation of the logarithm of a constant over the seeds

Inputs = Mapping[str, Callable[[float], float]]
Right = Callable[[float, Float, Mapping[str, float], Inputs], list[float]]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A law with a hidden state, and how it is measured."""

    name: str
    equations: tuple[str, ...]  # as a user writes them for a fit
    right: Right  # of (measured, [its slope], hidden)
    constants: Mapping[str, float]
    start: tuple[float, ...]
    span: float
    points: int
    states: tuple[str, str]  # the measured one and the hidden one
    forms: tuple[tuple[str, str], ...]  # in coordinates of a search: each of these is the true law
    hidden: Callable[[Float, Mapping[str, float]], Float] = lambda states, constants: states[-1]
    inputs: tuple[str, ...] = ()
    order: int = 1
    known: tuple[str, ...] = ()  # hidden states whose start a user knows
    mixes: bool = (
        False  # whether the measured state may be added to the hidden one: the law is linear in both
    )
    open: tuple[str, ...] = ()  # constants that scale and zero of the hidden state leave open
    fixed: tuple[str, ...] = ()  # constants that a fit is given, as the data do not tell all of them
    at_ease: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # levels of the inputs
    frame: tuple[str, str]  # what a user may know of the law
    holes: Mapping[str, tuple[str, ...]]  # what its unknown functions are: each of these is right


@dataclass(frozen=True)
class HiddenRecord:
    """One simulated record: what is measured, what is true."""

    model: Model
    t: Float
    measured: Float
    clean: Float  # the measured state without noise
    hidden: Float  # the hidden state in the coordinates of a search
    force: Mapping[str, Float]
    constants: Mapping[str, float]
    start: tuple[float, ...]


def simulated(model: Model, seed: int, noise: float = NOISE) -> HiddenRecord:
    """Return a record of a model; every seed has other constants, starts, inputs and noise."""
    rng = np.random.default_rng((seed, sum(map(ord, model.name))))
    constants = {
        name: value * np.exp(SPREAD * rng.standard_normal()) for name, value in model.constants.items()
    }
    start = tuple(value * np.exp(0.5 * SPREAD * rng.standard_normal()) for value in model.start)
    t = np.linspace(0.0, model.span, model.points)
    force = {name: _switched(t, *model.at_ease[name], rng) for name in model.inputs}
    held = {name: _held(t, values) for name, values in force.items()}
    solved = solve_ivp(
        lambda time, y: model.right(time, y, constants, held),
        (0.0, model.span),
        start,
        t_eval=t,
        rtol=1e-8,
        atol=1e-10,
        max_step=model.span / model.points if model.inputs else np.inf,
    )
    clean = solved.y[0]
    measured = clean + noise * np.std(clean) * rng.standard_normal(len(t))
    return HiddenRecord(model, t, measured, clean, model.hidden(solved.y, constants), force, constants, start)


def _switched(t: Float, low: float, high: float, rng: np.random.Generator) -> Float:
    """Return an input that jumps between random levels and stays for a while."""
    stays = max(len(t) // 16, 3)
    levels = rng.uniform(low, high, len(t) // stays + 1)
    return np.repeat(levels, stays)[: len(t)]


def _held(t: Float, values: Float) -> Callable[[float], float]:
    return lambda time: float(
        values[min(int(np.searchsorted(t, time + 1e-12, side="right")) - 1, len(t) - 1)]
    )


# Of a linear pair that nothing drives, every choice of coordinates w + C*c is the same law.
LINEAR_PAIR = (
    ("c' = C*c + w", "w' = C*c + C*w"),
    ("c' = C*c + w", "w' = C*w"),
    ("c' = C*c + w", "w' = C*c"),
    ("c' = w", "w' = C*c + C*w"),
)

MODELS = (
    Model(
        name="two compartments",
        equations=("c' = -ke*c - k12*c + k21*p", "p' = k12*c - k21*p"),
        right=lambda t, y, k, f: [
            -(k["ke"] + k["k12"]) * y[0] + k["k21"] * y[1],
            k["k12"] * y[0] - k["k21"] * y[1],
        ],
        constants={"ke": 0.2, "k12": 0.3, "k21": 0.1},
        start=(10.0, 0.0),
        span=30.0,
        points=60,
        states=("c", "p"),
        mixes=True,
        known=("p",),
        forms=LINEAR_PAIR,
        hidden=lambda y, k: k["k21"] * y[1],
        frame=("c' = -ke*c - f(c, p)", "p' = f(c, p)"),
        holes={"f": ("C*c + C*p",)},
    ),
    Model(
        name="depot",
        equations=("c' = ka*a/V - ke*c", "a' = -ka*a"),
        right=lambda t, y, k, f: [k["ka"] * y[1] / k["V"] - k["ke"] * y[0], -k["ka"] * y[1]],
        constants={"ka": 1.0, "ke": 0.12, "V": 30.0},
        start=(0.0, 320.0),
        span=24.0,
        points=60,
        states=("c", "a"),
        mixes=True,
        known=("c", "a"),
        forms=LINEAR_PAIR,
        hidden=lambda y, k: y[1],
        frame=("c' = f(a) - ke*c", "a' = -ka*a"),
        holes={"f": ("C*a",)},
    ),
    Model(
        name="epidemic",
        equations=("I' = b*S*I - g*I", "S' = -b*S*I"),
        right=lambda t, y, k, f: [k["b"] * y[0] * y[1] - k["g"] * y[0], -k["b"] * y[0] * y[1]],
        constants={"b": 0.002, "g": 0.5},
        start=(3.0, 760.0),
        span=20.0,
        points=60,
        states=("I", "S"),
        forms=(("I' = C*I + w*I", "w' = C*I*w"), ("I' = w*I", "w' = C*I*w + C*I")),
        hidden=lambda y, k: k["b"] * y[1],
        frame=("I' = f(S, I) - g*I", "S' = -f(S, I)"),
        holes={"f": ("C*S*I",)},
    ),
    Model(
        name="neuron",
        equations=("v' = v - a*v^3 - w + i", "w' = e*(v + b - c*w)"),
        right=lambda t, y, k, f: [
            y[0] - k["a"] * y[0] ** 3 - y[1] + k["i"],
            k["e"] * (y[0] + k["b"] - k["c"] * y[1]),
        ],
        constants={"a": 0.33, "e": 0.08, "b": 0.7, "c": 0.8, "i": 0.5},
        start=(-1.0, 0.1),
        span=80.0,
        points=160,
        states=("v", "w"),
        open=("i", "b"),  # the zero of w shifts both
        forms=(
            ("v' = C*v + C*v^3 + w", "w' = C*v + C*w + C"),
            ("v' = C*v + C*v^3 + C + w", "w' = C*v + C*w"),
        ),
        hidden=lambda y, k: -y[1],
        frame=("v' = f(v) - w", "w' = e*(v - c*w)"),
        holes={"f": ("C + C*v + C*v^3",)},
    ),
    Model(
        name="predator unseen",
        equations=("x' = a*x - b*x*y", "y' = d*x*y - c*y"),
        right=lambda t, y, k, f: [
            k["a"] * y[0] - k["b"] * y[0] * y[1],
            k["d"] * y[0] * y[1] - k["c"] * y[1],
        ],
        constants={"a": 1.0, "b": 0.3, "c": 0.8, "d": 0.2},
        start=(4.0, 2.0),
        span=20.0,
        points=100,
        states=("x", "y"),
        open=("b",),
        forms=(("x' = C*x + w*x", "w' = C*w + C*w*x"), ("x' = w*x", "w' = C*w + C*w*x + C*x + C")),
        hidden=lambda y, k: -k["b"] * y[1],
        frame=("x' = a*x - f(x, y)", "y' = e*f(x, y) - m*y"),
        holes={"f": ("C*x*y",)},
    ),
    Model(
        name="motor",
        equations=("s' = i - f*s", "i' = a*F - r*i - b*s"),
        right=lambda t, y, k, f: [
            y[1] - k["f"] * y[0],
            k["a"] * f["F"](t) - k["r"] * y[1] - k["b"] * y[0],
        ],
        constants={"f": 0.5, "a": 3.0, "r": 2.0, "b": 1.5},
        start=(0.0, 0.0),
        span=30.0,
        points=200,
        states=("s", "i"),
        mixes=True,
        inputs=("F",),
        at_ease={"F": (-2.0, 2.0)},
        known=("i",),
        fixed=("f",),
        forms=(
            ("s' = C*s + w", "w' = C*w + C*s + C*F"),
            ("s' = w", "w' = C*w + C*s + C*F"),
            ("s' = C*s + w", "w' = C*s + C*F"),
        ),
        frame=("s' = i - f*s", "i' = g(F, i, s)"),
        holes={"g": ("C*F + C*i + C*s", "C*F + C*s", "C*F + C*i")},
    ),
    Model(
        name="tanks",
        equations=("l' = k2*sqrt(x) - k3*sqrt(l)", "x' = F - k1*sqrt(x)"),
        right=lambda t, y, k, f: [
            k["k2"] * np.sqrt(max(y[1], 0.0)) - k["k3"] * np.sqrt(max(y[0], 0.0)),
            f["F"](t) - k["k1"] * np.sqrt(max(y[1], 0.0)),
        ],
        constants={"k1": 0.5, "k2": 0.5, "k3": 0.45},
        start=(5.0, 5.0),
        span=200.0,
        points=200,
        states=("l", "x"),
        inputs=("F",),
        at_ease={"F": (0.6, 1.5)},
        forms=(
            ("l' = C*sqrt(l) + w", "w' = C + C*F/w"),
            ("l' = C*sqrt(l) + sqrt(w)", "w' = C*sqrt(w) + C*F"),
        ),
        hidden=lambda y, k: k["k2"] * np.sqrt(np.maximum(y[1], 0.0)),
        frame=("l' = f(x) - k3*sqrt(l)", "x' = F - g(x)"),
        holes={"f": ("C*sqrt(x)",), "g": ("C*sqrt(x)",)},
    ),
    Model(
        name="minimal model",
        equations=("g' = p*gb - p*g - x*g", "x' = r*F - q*x"),
        right=lambda t, y, k, f: [
            k["p"] * (k["gb"] - y[0]) - y[1] * y[0],
            k["r"] * f["F"](t) - k["q"] * y[1],
        ],
        constants={"p": 0.03, "gb": 90.0, "q": 0.05, "r": 0.0004},
        start=(280.0, 0.0),
        span=240.0,
        points=160,
        states=("g", "x"),
        inputs=("F",),
        at_ease={"F": (0.0, 15.0)},
        known=("x",),
        forms=(("g' = C + C*g + w*g", "w' = C*w + C*F"), ("g' = C + w*g", "w' = C*w + C*F + C")),
        hidden=lambda y, k: -y[1],
        frame=("g' = p*gb - p*g - x*g", "x' = f(F, x)"),
        holes={"f": ("C*F + C*x",)},
    ),
    Model(
        name="house",
        equations=("T' = a*(W - T) + b*Q", "W' = c*(T - W) + d*(E - W)"),
        right=lambda t, y, k, f: [
            k["a"] * (y[1] - y[0]) + k["b"] * f["Q"](t),
            k["c"] * (y[0] - y[1]) + k["d"] * (f["E"](t) - y[1]),
        ],
        constants={"a": 0.8, "b": 3.0, "c": 0.15, "d": 0.08},
        start=(18.0, 15.0),
        span=96.0,
        points=192,
        states=("T", "W"),
        mixes=True,
        inputs=("Q", "E"),
        at_ease={"Q": (0.0, 2.0), "E": (-5.0, 10.0)},
        forms=(
            ("T' = C*T + C*Q + w", "w' = C*T + C*w + C*E"),
            ("T' = C*T + C*Q + w", "w' = C*w + C*Q + C*E"),  # these with a multiple of T in w
            ("T' = C*T + C*Q + w", "w' = C*T + C*Q + C*E"),
            ("T' = C*Q + w", "w' = C*T + C*w + C*Q + C*E"),
        ),
        hidden=lambda y, k: k["a"] * y[1],
        frame=("T' = a*(W - T) + f(Q)", "W' = c*(T - W) + g(E, W)"),
        holes={"f": ("C*Q",), "g": ("C*E + C*W", "C*E")},
    ),
    Model(
        name="hysteretic spring",
        equations=("x'' = F - c*x' - k*x - z", "z' = a*x' - b*abs(x')*z - g*x'*abs(z)"),
        right=lambda t, y, k, f: [
            y[1],
            f["F"](t) - k["c"] * y[1] - k["k"] * y[0] - y[2],
            k["a"] * y[1] - k["b"] * abs(y[1]) * y[2] - k["g"] * y[1] * abs(y[2]),
        ],
        constants={"c": 0.3, "k": 1.0, "a": 1.5, "b": 1.0, "g": 0.6},
        start=(0.0, 0.0, 0.0),
        span=60.0,
        points=400,
        states=("x", "z"),
        inputs=("F",),
        at_ease={"F": (-2.0, 2.0)},
        order=2,
        known=("z",),
        forms=(("x'' = C*x' + C*x + C*F + w", "w' = C*x' + C*abs(x')*w + C*x'*abs(w)"),),
        hidden=lambda y, k: -y[2],
        frame=("x'' = F - c*x' - k*x - z", "z' = f(x', z)"),
        holes={"f": ("C*x' + C*abs(x')*z + C*x'*abs(z)",)},
    ),
)
