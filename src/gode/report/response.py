"""The response of the linear model to its inputs: frequency response and step response, as plots."""

import numpy as np

from gode.discovery import Discovery
from gode.errors import GodeError
from gode.report.linear import Linear, linearise
from gode.report.naming import CYCLES, Units
from gode.report.spec import Kind, Plot, Trace

POINTS = 400
DECADES = 2.0  # around the poles, on either side
SETTLED = 8.0  # time constants of the slowest mode that are drawn
LONGEST = 200.0  # time constants of the fastest mode


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


def _step(linear: Linear, discovery: Discovery) -> list[Plot]:
    poles = linear.poles
    if not np.all(poles.real < 0):
        return []
    slow, fast = 1.0 / np.abs(poles.real).min(), 1.0 / np.abs(poles).max()
    end = min(SETTLED * slow, LONGEST * fast)
    step = linear.discrete(end / POINTS)
    t = np.linspace(0.0, end, POINTS + 1)
    drawn = []
    for i, name in enumerate(linear.inputs):
        x = np.zeros(len(linear.a))
        rows = []
        for _ in t:
            rows.append(linear.c @ x + linear.d[:, i])
            x = step.a @ x + step.b[:, i]
        drawn += [
            Trace(Kind.LINE, f"{out} after a step of {name}", t, np.array(rows)[:, o])
            for o, out in enumerate(linear.outputs)
        ]
    time = Units.of(discovery.prepared.dataset).time
    label = f"time after the step [{time}]" if time else "time after the step"
    return [Plot(title="Step response", x=label, y="response to a step of one", traces=drawn, height=240)]
