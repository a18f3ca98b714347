"""A discovery as plots that can be looked into: plain values for the script, in the page or for the studio.

Each equation on the front or among the near ties is a group of curves, so that it can be shown or hidden in
all plots at once; the named equation is the group c0.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery, Finding
from gode.discovery.residuals import Channel, Series, channels
from gode.discovery.simulate import Scenario, simulate
from gode.equation.tree import TIME, depends_on
from gode.errors import GodeError
from gode.report.equilibria import RestingLaw, extents
from gode.report.naming import axis_label
from gode.report.panels import BEYOND, MAX_PANELS, chosen_runs, fine
from gode.report.planes import chosen_states
from gode.report.series import Spec, band, line_series, marks, plot
from gode.selection import Candidate, front
from gode.solve import Solution

MAX_RIVALS = 8  # equations besides the named one that have curves
CURVE = 8000  # points of a curve
SOLVED = 20_000  # times at which a solution is found, of which the extremes are drawn if that is too many
GRID = 90  # points along an axis, for nullclines
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = range(6)  # places in the palette of the script
OTHERS = (3, 4, 5, 6, 7, 8, 9, 2)  # colours of rivals, one for each
NAME = 70  # characters of an equation in a legend


class Plots:
    """The plots of a discovery."""

    def __init__(self, discovery: Discovery, budget: int = 80_000) -> None:
        """Take a discovery, and how many points all curves together may have."""
        self.discovery = discovery
        self.dataset = discovery.prepared.dataset
        n_runs = min(len(self.dataset.runs), MAX_PANELS)
        n_channels = len(self.dataset.channels)
        own = budget // (2 * n_runs * n_channels)
        self.most = max(own, 100)  # of the samples of a run
        self.curve = int(np.clip(own, 60, CURVE))  # of the named equation
        self.rival = int(np.clip(own // MAX_RIVALS, 40, CURVE))
        self.solved: dict[tuple[int, int], Solution | None] = {}

    @cached_property
    def shown(self) -> list[Candidate]:
        """The equations that have curves, the named one first: near ties before the rest of the front.

        Of several that read the same, as two forms may, only the first.
        """
        found = self.discovery
        close = {id(c) for c in found.assessment.near}
        named, *rest = (c for c, _ in found.shown)
        ordered = [named, *sorted(rest, key=lambda c: id(c) not in close)]
        unlike = {"; ".join(Finding(c).lines()): c for c in reversed(ordered)}
        return [c for c in ordered if unlike["; ".join(Finding(c).lines())] is c][: MAX_RIVALS + 1]

    @cached_property
    def measured(self) -> tuple[Channel, ...]:
        """The channels as measured, also where averages were fitted."""
        if self.discovery.quality.averaged == 1:
            return self.discovery.quality.channels
        return channels(self.discovery.candidates[0], self.discovery.prepared, self.dataset)

    def fit(self) -> list[Spec]:
        """Return data and solutions over time, a plot for each channel."""
        t = axis_label(self.dataset, "t")
        out = []
        for channel in self.measured:
            several = len(channel.series) > 1
            drawn = [s for run in chosen_runs(channel) for s in self._run(channel, run, several=several)]
            drawn += [] if several else self._forecast(channel)
            title = f"Data and solution: {channel.shown}"
            label = axis_label(self.dataset, channel.name)
            out.append(plot(title, t, label, drawn, link="t", channel=channel.name, legend=True))
        return out

    def _run(self, channel: Channel, series: Series, *, several: bool) -> Iterator[Spec]:
        i = series.run
        own = self.dataset.name_of(i) if several else ""
        colour = i % 8 if several else BLUE
        yield marks(own or "data", series.t, series.observed, most=self.most, colour=colour)
        for number in range(len(self.shown)):
            solution = self.solution(number, i)
            if solution is None:
                continue
            best = number == 0
            name = ("equation" if best else self.name(number)) if i == chosen_runs(channel)[0].run else ""
            paint = (colour if several else ORANGE) if best else OTHERS[(number - 1) % len(OTHERS)]
            if best and not several:
                roots = np.broadcast_to(series.roots, series.t.shape)
                noise = channel.noise / np.interp(solution.t, series.t, roots)
                values = solution[channel.name]
                low, high = values - 2 * noise, values + 2 * noise
                yield band("±2 noise", solution.t, low, high, most=self.curve, colour=ORANGE)
            yield line_series(
                name, solution.t, solution[channel.name], most=self.curve if best else self.rival,
                colour=paint, group=f"c{number}", hidden=not best, loose=not best,
                dash=[] if best else [7, 4],
            )  # fmt: skip

    def _forecast(self, channel: Channel) -> Iterator[Spec]:
        """Yield the prediction after the data with its band, unless it would need an unknown input."""
        run = self.dataset.runs[0]
        sampled = any(isinstance(signal, np.ndarray) for signal in run.inputs.values())
        if sampled or channel.name != channel.state:
            return
        t = np.linspace(run.t[-1], run.t[-1] + BEYOND * (run.t[-1] - run.t[0]), 120)
        try:
            ahead = self.discovery.predict(t)[channel.state]
        except GodeError:
            return
        size = 3 * np.ptp(channel.series[0].fit) + 6 * channel.noise
        near = np.abs(ahead.u - channel.series[0].fit[-1]) + (ahead.upper - ahead.u) < size
        n = len(t) if near.all() else int(np.argmin(near))
        if n > 1:
            yield band("forecast, 95 %", t[:n], ahead.lower[:n], ahead.upper[:n], colour=GREEN)
            yield line_series("forecast", t[:n], ahead.u[:n], colour=GREEN, dash=[7, 4])

    def residuals(self) -> list[Spec]:
        """Return the residuals of each channel over time, in units of the noise."""
        t = axis_label(self.dataset, "t")
        out = []
        for channel in self.discovery.quality.channels:
            ends = np.array([min(s.t[0] for s in channel.series), max(s.t[-1] for s in channel.series)])
            drawn = [band("±2 noise", ends, np.full(2, -2.0), np.full(2, 2.0), colour=ORANGE)]
            several = len(channel.series) > 1
            for series in chosen_runs(channel):
                name = self.dataset.name_of(series.run) if several else f"residual of {channel.shown}"
                scaled = series.weighted / (channel.noise or 1.0)
                drawn.append(marks(name, series.t, scaled, most=self.most, colour=series.run % 8))
            label = f"residual of {channel.shown} / noise"
            out.append(plot(f"Residuals: {channel.shown}", t, label, drawn, link="t", height=220))
            out += [_autocorrelation(channel), _quantiles(channel)]
        return out

    def phase(self) -> list[Spec]:
        """Return the phase portrait of a single state, or the plane of two states with nullclines."""
        several = len(self.dataset.states) > 1
        low, high = extents(self.discovery)
        one, other = (3 * s for s in chosen_states(low, high)) if several else (0, 1)
        names = (self.dataset.states[one // 3], self.dataset.states[other // 3]) if several else ("u", "u'")
        drawn: list[Spec] = []
        loose = not (several or self.discovery.quality.verdict.is_failure)  # smoothed ends may run away
        for series in chosen_runs(self.measured[0]):
            run, smooth = self.dataset.runs[series.run], self.discovery.prepared.smooths[series.run]
            x, y = (
                (run.observed[one], run.observed[other]) if several else (smooth.values[0], smooth.values[1])
            )
            seen = np.isfinite(run.observed[one]).any()
            solution = self.solution(0, series.run)
            colour = series.run % 8 if len(self.dataset.runs) > 1 else BLUE
            if seen:
                name = "data" if several else "smoothed data"
                drawn.append(marks(name, x, y, most=self.most, colour=colour, loose=loose))
            if solution is not None:
                paint = ORANGE if colour == BLUE else colour
                some = solution.values[[one, other], :: len(solution.t) // self.curve + 1]
                drawn.append(line_series("solution", *some, most=self.curve, colour=paint))
        drawn += self._nullclines(low, high) if several else []
        title = "Phase plane" if several else "Phase portrait"
        x_label, y_label = (axis_label(self.dataset, name) for name in names)
        return [plot(title, x_label, y_label, drawn, height=340)]

    def _nullclines(self, low: Float, high: Float) -> Iterator[Spec]:
        law = self.discovery.candidates[0].equation
        autonomous = not any(depends_on(part.normal, TIME) for part in law.skeleton.parts)
        if len(law.states) != 2 or law.skeleton.orders != (1, 1) or not autonomous:
            return
        wide = 0.12 * np.where(high > low, high - low, 1.0)
        x, y = (np.linspace(low[s] - wide[s], high[s] + wide[s], GRID) for s in (0, 1))
        points = np.array([grid.ravel() for grid in np.meshgrid(x, y)])
        values, _ = RestingLaw(law).residuals(np.array(law.constants), points)
        for s, name in enumerate(law.states):
            at = _zeros(values[s].reshape(GRID, GRID), x, y)
            if len(at[0]):
                yield marks(f"{name}' = 0", *at, size=1.2, colour=6 + s, loose=True)

    def front(self) -> list[Spec]:
        """Return accuracy against complexity; clicking an equation shows its curves."""
        found = self.discovery
        if len(found.candidates) == 1:
            return []
        best = found.candidates[0].rms
        unit = found.quality.misfit / best if best > 0 and found.quality.complete else 1.0
        groups = {id(c): f"c{i}" for i, c in enumerate(self.shown)}
        drawn = []
        kinds: tuple[tuple[str, Sequence[Candidate], int, float], ...] = (
            ("tried", found.candidates[:300], 7, 2.0),
            ("front", front(found.candidates), BLUE, 4.0),
            ("near ties", found.assessment.near[1:], GREEN, 5.0),
            ("chosen", found.candidates[:1], ORANGE, 6.0),
        )
        for name, several, colour, size in kinds:
            seen = [c for c in several if np.isfinite(c.rms) and c.rms > 0]
            if seen:
                x, y = np.array([(c.complexity, unit * c.rms) for c in seen], np.float64).T
                text = ["; ".join(Finding(c).lines())[:200] for c in seen] if name != "tried" else None
                own = [groups.get(id(c)) for c in seen]
                drawn.append(marks(name, x, y, size=size, colour=colour, groups=own, text=text))
        return [
            plot(
                "Accuracy against complexity",
                "complexity",
                "rms residual / noise",
                drawn,
                log="y",
                height=300,
            )
        ]

    def solution(self, number: int, run: int) -> Solution | None:
        """Return the solution of an equation along a run; None where it has none."""
        key = number, run
        if key not in self.solved:
            t = fine(self.dataset.runs[run].t)
            t = t if len(t) <= SOLVED else np.linspace(t[0], t[-1], SOLVED)
            try:
                self.solved[key] = simulate(self.shown[number], self.discovery.prepared, Scenario(t, run=run))
            except GodeError:
                self.solved[key] = None
        return self.solved[key]

    def name(self, number: int) -> str:
        """Return an equation in short."""
        text = "; ".join(Finding(self.shown[number]).lines())
        return text if len(text) <= NAME else f"{text[: NAME - 1]}…"


def _autocorrelation(channel: Channel) -> Spec:
    """Return the autocorrelation of the residuals, with the band that white noise leaves rarely."""
    lags = np.arange(1.0, len(channel.autocorrelation) + 1.0)
    bound = 1.96 / np.sqrt(channel.n)
    ends = np.array([0.0, len(lags) + 1.0])
    drawn = [
        band("white noise, 95 %", ends, np.full(2, -bound), np.full(2, bound), colour=ORANGE),
        marks("autocorrelation", lags, channel.autocorrelation, size=4, colour=BLUE),
    ]
    title = f"Autocorrelation of residuals: {channel.shown}"
    return plot(title, "lag in samples", "correlation", drawn, height=200)


def _quantiles(channel: Channel) -> Spec:
    """Return the residuals against those of a normal distribution."""
    values, normal = channel.quantiles
    ends = normal[[0, -1]]
    drawn = [marks("residuals", normal, values, colour=BLUE, most=1000)]
    drawn.append(line_series("normal distribution", ends, ends, colour=7, width=1))
    title = f"Distribution of residuals: {channel.shown}"
    return plot(title, "normal quantile", "residual / rms", drawn, height=220)


def _zeros(values: Float, x: Float, y: Float) -> tuple[Float, Float]:
    """Return points (x, y) at which a function on a grid changes its sign."""
    out: list[tuple[float, float]] = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for axis in (0, 1):
            a, b = (values[:-1], values[1:]) if axis == 0 else (values[:, :-1], values[:, 1:])
            share = a / (a - b)
            for i, j in np.argwhere(np.isfinite(a) & np.isfinite(b) & (a * b < 0)).tolist():
                if axis == 0:
                    out.append((x[j], y[i] + share[i, j] * (y[i + 1] - y[i])))
                else:
                    out.append((x[j] + share[i, j] * (x[j + 1] - x[j]), y[i]))
    found = np.array(out, np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
