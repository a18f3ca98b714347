"""Smoothing by the paper's network, three layers of 32 SiLU units (sec. 2.3), with its losses (eq. 11).

Where u was observed, the network is fitted to it and then differentiated (B1, B2). Where only derivatives
were observed, it is fitted to those, with losses on the initial values and on drift (eq. 11, B3). The paper
has no uncertainties: ours are those of a Bayesian linear regression on the last hidden layer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.data.dataset import Run, Smooth
from gode.errors import ConfigError, DataError
from gode.paper.smoothing_network import Training, forward, initial_parameters, layers_of, train

HIDDEN = (32, 32, 32)
USUAL = (1e-2, 1e3)  # range of the paper's signals and spans; outside it, units are powers of ten
FAR = 3.0  # a record that starts more than this many spans from t = 0 is shifted to start there
CROSSINGS = 4  # of a band about its straight line: a signal with at least so many is oscillating
BAND = 0.3  # half the width of that band, in standard deviations
REPORT = 200  # epochs between two calls of `on_epoch`


@dataclass(frozen=True, kw_only=True)
class MlpConfig:
    """How the paper's network is trained."""

    epochs: int = 10_000  # where u was observed: B1 and B2
    blind_epochs: int = 100_000  # where only derivatives were: B3
    rate: float = 1e-3
    decay: float = 0.95  # factor of the rate at each of its steps
    steps: int = 20  # of the rate where u was observed: one every 500 epochs
    blind_steps: int = 50  # where only derivatives were: one every 2000
    drift_weight: float = 1e-3  # eq. 11

    def __post_init__(self) -> None:
        for name in ("epochs", "blind_epochs", "steps", "blind_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")

    def training(self, blind: bool) -> Training:
        """Return the schedule with u observed, or without."""
        epochs = self.blind_epochs if blind else self.epochs
        step = max(epochs // (self.blind_steps if blind else self.steps), 1)
        return Training(epochs=epochs, rate=self.rate, decay=self.decay, step=step)


@dataclass(frozen=True)
class Goal:
    """What the network is fitted to, in its own units; NaN where nothing was observed or known."""

    observed: Float  # (channels, n)
    initial: Float  # (2,) known values at the first time, if u was not observed
    line: Float  # (2, m) orthonormal basis of straight lines over the last m times, for drift; m may be 0
    drift_weight: float


@dataclass(frozen=True)
class Units:
    """The network's units of time and of u, and its zero of time."""

    start: float
    span: float
    size: float

    @classmethod
    def of(cls, run: Run) -> "Units":
        """Return the user's own units, unless they are far from those for which the network was designed."""
        length = float(run.t[-1] - run.t[0])
        span = _unit(length)
        start = float(run.t[0]) if abs(run.t[0]) > FAR * length or span != 1.0 else 0.0
        order = int(np.flatnonzero(np.isfinite(run.observed).any(axis=1))[0])
        seen = run.observed[order][np.isfinite(run.observed[order])]
        return cls(start, span, _unit(float(np.sqrt(np.mean(seen**2))) * span**order))

    def time(self, t: Float) -> Float:
        """Return the network's times."""
        return np.asarray((t - self.start) / self.span)

    @property
    def channels(self) -> Float:
        """The user's units of u, u', u'' in those of the network."""
        return np.array([self.size, self.size / self.span, self.size / self.span**2])


def smooth_mlp(
    run: Run,
    *,
    config: MlpConfig,
    rng: np.random.Generator,
    period: float = 0.0,
    on_epoch: Callable[[int], None] | None = None,
) -> Smooth:
    """Return `run` smoothed by a network; its initial values are used where u was not observed.

    Args:
        period: of the force; the loss on drift begins after the first one (eq. 11).

    Raises:
        DataError: if u was not observed and its initial values are not known.
    """
    units = Units.of(run)
    goal = make_goal(run, units, period, config.drift_weight)
    x = network_inputs(units.time(run.t), oscillating=oscillates(run))
    sizes = (x.shape[1], *HIDDEN, 1)
    parameters = initial_parameters(sizes, rng=rng)
    training = config.training(blind=bool(np.isfinite(goal.initial).any()))
    seen = x[: len(goal.observed)]
    for epoch in train(parameters, sizes, seen, lambda out: mlp_loss(out, goal), training):
        if on_epoch and epoch % REPORT == 0:
            on_epoch(epoch)
    out, trace = forward(layers_of(parameters, sizes), x)
    weights = layers_of(parameters, sizes)[-1][0]
    deviations, noise = last_layer(out, trace.last, goal, float(np.mean(weights**2)))
    unit = units.channels
    used = np.array([training.epochs, mlp_loss(out[: len(goal.observed)], goal)[0]])
    return Smooth(run.t, out * unit[:, None], deviations * unit[:, None], noise * unit, used)


def make_goal(run: Run, units: Units, period: float, drift_weight: float) -> Goal:
    """Return what the network is fitted to on `run`."""
    seen = np.any(np.isfinite(run.observed), axis=1)
    highest = int(np.flatnonzero(seen)[-1])
    observed = (run.observed / units.channels[:, None])[: highest + 1]
    initial = run.initial / units.channels[:2]
    if seen[0]:
        initial = np.full(2, np.nan)
    needed = int(np.flatnonzero(seen)[0])
    if not np.all(np.isfinite(initial[:needed])) and needed:
        what = "u(t0)" if needed == 1 else "u(t0) and u'(t0)"
        raise DataError(
            f"u was not observed, so the paper's network needs {what}; pass initial=, or use preset='default'"
        )
    t = units.time(run.t)
    late = t[t >= t[0] + period / units.span] if needed == 2 else t[:0]
    line = np.linalg.qr(np.vstack([np.ones_like(late), late - t[0]]).T)[0].T if len(late) > 2 else late[None]
    return Goal(observed, initial, line, drift_weight)


def network_inputs(t: Float, *, oscillating: bool) -> Float:
    """Return the channels (3, inputs, n) of t, or of t and sin t for an oscillating signal."""
    rows = [np.vstack([t, np.ones_like(t), np.zeros_like(t)])]
    if oscillating:
        rows.append(np.vstack([np.sin(t), np.cos(t), -np.sin(t)]))
    return np.stack(rows, axis=1)


def oscillates(run: Run) -> bool:
    """Tell whether the lowest observed channel oscillates about its straight line, at least twice."""
    order = int(np.flatnonzero(np.isfinite(run.observed).any(axis=1))[0])
    seen = np.isfinite(run.observed[order])
    t, y = run.t[seen], run.observed[order][seen]
    rest = y - np.polyval(np.polyfit(t - t.mean(), y, 1), t - t.mean())
    outside = rest[np.abs(rest) > BAND * np.std(rest)]
    return int(np.sum(np.diff(np.sign(outside)) != 0)) >= CROSSINGS


def dominant_period(t: Float, values: Float) -> float:
    """Return the period of the strongest oscillation in `values`; 0 for a constant."""
    even = np.interp(np.linspace(t[0], t[-1], len(t)), t, values)
    strength = np.abs(np.fft.rfft(even - even.mean()))
    peak = int(np.argmax(strength))
    return float(t[-1] - t[0]) / peak if peak and strength[peak] > 1e-12 * np.abs(even).max() else 0.0


def mlp_loss(out: Float, goal: Goal) -> tuple[float, Float]:
    """Return the loss of the network's channels and its derivatives in them: eq. 11; B1 and B2 have its
    first term alone, on u."""
    rest = np.where(np.isfinite(goal.observed), out - goal.observed, 0.0)
    counts = np.maximum(np.isfinite(goal.observed).sum(axis=1, keepdims=True), 1)
    slope = 2.0 * rest / counts
    loss = 0.5 * float(np.vdot(slope, rest))
    for i in range(min(len(out), 2)):
        if np.isfinite(goal.initial[i]):
            miss = float(out[i, 0] - goal.initial[i])
            slope[i, 0] += 2.0 * miss
            loss += miss**2
    m = goal.line.shape[1]
    if m:
        trend = goal.line.T @ (goal.line @ out[0, -m:]), np.full(m, out[1, -m:].mean())
        for i, part in enumerate(trend):
            slope[i, -m:] += 2.0 * goal.drift_weight / m * part
            loss += goal.drift_weight / m * float(part @ part)
    return loss, slope


def last_layer(out: Float, features: Float, goal: Goal, weight: float) -> tuple[Float, Float]:
    """Return the standard deviations (3, n) of all channels and the noise (3,) of the observed ones.

    The last layer is a linear model on `features` (3, 32, n); its weights have a prior of size `weight`.
    """
    ones = np.zeros((3, 1, out.shape[1]))
    ones[0] = 1.0
    phi = np.concatenate([features, ones], axis=1)
    noise, precision = np.full(3, np.nan), np.zeros(0)
    seen = np.isfinite(goal.observed)
    rows = [i for i in range(len(seen)) if seen[i].any()]
    inside = {i: phi[i][:, seen[i]] for i in rows}
    squares = {i: float(np.sum((out[i] - goal.observed[i])[seen[i]] ** 2)) for i in rows}
    freedom = dict.fromkeys(rows, 0.0)
    for _ in range(3):  # noise and degrees of freedom depend on each other
        precision = np.eye(phi.shape[1]) / max(weight, 1e-12)
        for i in rows:
            n = inside[i].shape[1]
            noise[i] = np.sqrt(squares[i] / max(n - freedom[i], 0.3 * n)) + 1e-12
            precision += inside[i] @ inside[i].T / noise[i] ** 2
        for j in np.flatnonzero(np.isfinite(goal.initial)):  # eq. 11 weighs it like all measurements together
            precision += np.outer(phi[j, :, 0], phi[j, :, 0]) * len(out[0]) / noise[rows[0]] ** 2
        inverse = np.linalg.pinv(precision, hermitian=True)
        for i in rows:
            freedom[i] = float(np.sum(inside[i] * (inverse @ inside[i]))) / noise[i] ** 2
    variance = np.einsum("kin,kin->kn", phi, np.matmul(np.linalg.pinv(precision, hermitian=True), phi))
    return np.sqrt(np.maximum(variance, 0.0)), noise


def _unit(size: float) -> float:
    return 1.0 if USUAL[0] <= size <= USUAL[1] or size <= 0 else float(10.0 ** np.floor(np.log10(size)))
