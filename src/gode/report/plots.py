"""The plots of a discovery.

Each equation on the front or among the near ties is a group of curves, so that a page can show or hide it
in all plots at once; the named equation is the group c0.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from contourpy import contour_generator

from gode.arrays import Float
from gode.data.dataset import cycles
from gode.discovery import Discovery, Finding
from gode.discovery.framing import display_name
from gode.discovery.residuals import Channel, Series, channels
from gode.discovery.simulate import Scenario, simulate
from gode.equation.tree import TIME, depends_on
from gode.errors import GodeError
from gode.fitting.population import NORMAL_95
from gode.report.equilibria import Equilibrium, RestingLaw, extents, find_equilibria
from gode.report.naming import Units, axis_label
from gode.report.spec import BLUE, BROWN, GREEN, GREY, ORANGE, PINK, Kind, Plot, Trace, band
from gode.selection import Candidate, front
from gode.solve import Solution

MAX_RIVALS = 8  # Equations besides the named one that have curves: as many as there are colours for them.
OTHERS = (3, 4, 5, 6, 7, 8, 9, 2)  # The places of their colours in the palette.
NAME = 70  # An equation in a legend has at most so many characters, about half the width of a page.
MAX_PANELS = 12  # So many runs are drawn one by one: three columns of four panels fill a page.
CURVE = 8000  # A curve of the named equation has at most so many points in a page.
SOLVED = 20_000  # A longer record is solved at so many times only, far more than a screen can show.
FINE = 400  # A solution is drawn at no fewer times than this, so that it looks smooth.
BEYOND = 0.35  # The prediction after the data lasts this fraction of the record.
MANY_CYCLES = 30.0  # More cycles cannot be distinguished on one panel.
LAST_CYCLES = 8.0  # So many are shown in the close-up of such a record.
GRID = 120  # Nullclines are found on a grid of so many points along each axis: smooth at this size.
AROUND = 0.12  # The phase plane shows this fraction of the range of the data on either side.
NEAR = 0.5  # An equilibrium within this fraction of the range beside the data widens the phase plane.
MOST_TRIED = 300  # So many of the equations tried are points in the plot of accuracy against complexity.
WIDE = 3.0  # From this ratio of the largest to the smallest residual on, the axis is logarithmic.
DASHED = (7, 4)
MARKS = {
    "stable": (GREEN, False),
    "unstable": (PINK, True),
    "a centre": (GREEN, True),
}  # colour, whether a ring


class Plots:
    """The plots of a discovery, whose solutions are found once."""

    def __init__(
        self, discovery: Discovery, budget: int = 80_000, *, rivals: bool = True, every_run: bool = False
    ) -> None:
        """Take a discovery.

        Args:
            budget: how many points all curves together may have in a page.
            rivals: whether other equations than the named one have curves.
            every_run: whether all runs are drawn, or of many only those with the largest residuals.
        """
        self.discovery = discovery
        self.dataset = discovery.prepared.dataset
        self.rivals = rivals
        self.every_run = every_run
        n_runs = min(len(self.dataset.runs), MAX_PANELS)
        per_run = budget // (2 * n_runs * len(self.dataset.channels))
        self.most_samples = max(per_run, 100)
        self.most_of_named = int(np.clip(per_run, 60, CURVE))
        self.most_of_rival = int(np.clip(per_run // MAX_RIVALS, 40, CURVE))
        self.solved: dict[tuple[int, int], Solution | None] = {}

    @cached_property
    def shown(self) -> list[Candidate]:
        """The equations that have curves, the named one first: near ties before the rest of the front.

        Of several that read the same, as two forms may, only the first.
        """
        found = self.discovery
        if not self.rivals:
            return [found.candidates[0]]
        near = {id(c) for c in found.assessment.near}
        named, *rest = (c for c, _ in found.shown)
        ordered = [named, *sorted(rest, key=lambda c: id(c) not in near)]
        first = {"; ".join(Finding(c).lines()): c for c in reversed(ordered)}
        return [c for c in ordered if first["; ".join(Finding(c).lines())] is c][: MAX_RIVALS + 1]

    @cached_property
    def measured(self) -> tuple[Channel, ...]:
        """The channels as measured, also where averages were fitted."""
        if self.discovery.quality.averaged == 1:
            return self.discovery.quality.channels
        return channels(self.discovery.candidates[0], self.discovery.prepared, self.dataset)

    def label(self, column: str) -> str:
        """Return the label of the axis of a column."""
        return axis_label(self.dataset, column)

    def name(self, number: int) -> str:
        """Return an equation in short."""
        return shortened("; ".join(Finding(self.shown[number]).lines()), NAME)

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

    def fit(self) -> list[Plot]:
        """Return data and solutions over time, a plot for each channel."""
        return [self.fit_of(channel) for channel in self.measured]

    def fit_of(self, channel: Channel) -> Plot:
        """Return the data of a channel with the solutions; for a single run also noise and prediction."""
        alone = len(channel.series) == 1
        runs = self.runs_of(channel)
        traces = [
            trace
            for series in runs
            for trace in self._along(channel, series, alone=alone, named=series is runs[0])
        ]
        traces += self._prediction(channel) if alone else []
        return self._over_time(f"Data and solution: {channel.shown}", channel, traces, legend=True)

    def held_back(self) -> list[Plot]:
        """Return what was held back with the solution, a plot for each channel; none where nothing was."""
        return [self._held_back_of(channel) for channel in self.measured] if self.dataset.held else []

    def _held_back_of(self, channel: Channel) -> Plot:
        found, dataset = self.discovery, self.dataset
        whole = replace(found.prepared, dataset=dataset.with_held())
        place = 3 * dataset.states.index(channel.state) + channel.name.count("'")
        traces = []
        for i, (first, rest) in enumerate(zip(dataset.runs, dataset.held, strict=True)):
            run = whole.dataset.runs[i]
            solved = simulate(found.candidates[0], whole, Scenario(run.t, run=i)).values[place]
            names = ("seen", "held back", "equation") if i == 0 else ("", "", "")
            of_run = i if len(dataset.runs) > 1 else None
            traces += [
                Trace(Kind.POINTS, names[0], first.t, first.observed[place], colour=BLUE, run=of_run),
                Trace(Kind.POINTS, names[1], rest.t, rest.observed[place], colour=GREEN, run=of_run),
                Trace(Kind.LINE, names[2], run.t, solved, colour=ORANGE, run=of_run),
            ]
        return self._over_time(f"Held back: {channel.shown}", channel, traces, legend=True)

    def fit_by_run(self, channel: Channel) -> list[Plot]:
        """Return a plot for each run of a channel, or of many runs for those with the largest residuals."""
        out = []
        for series in chosen_runs(channel):
            traces = list(self._along(channel, series, alone=True, named=True))
            title = shortened(self.dataset.name_of(series.run), 30)
            out.append(self._over_time(title, channel, traces, legend=False))
        return out

    def last_cycles(self, channel: Channel) -> Plot | None:
        """Return the end of a record of many cycles, where phase errors are largest; None for others."""
        if len(self.dataset.runs) > 1 or len(channel.series) > 1:
            return None
        n_cycles = cycles(self.dataset.runs[0])
        if n_cycles <= MANY_CYCLES:
            return None
        series = channel.series[0]
        begin = float(series.t[-1] - (series.t[-1] - series.t[0]) * LAST_CYCLES / n_cycles)
        traces = [after(trace, begin) for trace in self._along(channel, series, alone=True, named=True)]
        return self._over_time(f"Its last cycles: {channel.shown}", channel, traces, legend=True)

    def _over_time(self, title: str, channel: Channel, traces: list[Trace], *, legend: bool) -> Plot:
        return Plot(
            title=title,
            x=self.label("t"),
            y=self.label(channel.name),
            traces=traces,
            n_runs=len(self.dataset.runs),
            channel=channel.name,
            link="t",
            legend=legend,
        )

    def runs_of(self, channel: Channel) -> list[Series]:
        """Return the runs of a channel that are drawn together."""
        return list(channel.series) if self.every_run else chosen_runs(channel)

    def _along(self, channel: Channel, series: Series, *, alone: bool, named: bool) -> Iterator[Trace]:
        """Yield the data of a run and the solutions of the equations along it."""
        i = series.run
        yield Trace(
            Kind.POINTS,
            "data" if alone else shortened(self.dataset.name_of(i), 16),
            series.t,
            series.observed,
            colour=BLUE,
            run=None if alone else i,
            most=self.most_samples,
        )
        for number in range(len(self.shown)):
            solution = self.solution(number, i)
            if solution is None:
                continue
            best = number == 0
            values = solution[channel.name]
            if best and alone:
                roots = np.broadcast_to(series.roots, series.t.shape)
                noise = channel.noise / np.interp(solution.t, series.t, roots)  # it may go with the signal
                low, high = values - 2 * noise, values + 2 * noise
                yield band("±2 noise", solution.t, low, high, colour=ORANGE, most=self.most_of_named)
            yield Trace(
                Kind.LINE,
                ("equation" if best else self.name(number)) if named else "",
                solution.t,
                values,
                colour=ORANGE if best else OTHERS[(number - 1) % len(OTHERS)],
                run=i if best and not alone else None,
                group=f"c{number}",
                hidden=not best,
                loose=not best,
                dash=() if best else DASHED,
                most=self.most_of_named if best else self.most_of_rival,
            )

    def _prediction(self, channel: Channel) -> Iterator[Trace]:
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
            yield band("prediction, 95 %", t[:n], ahead.lower[:n], ahead.upper[:n], colour=GREEN)
            yield Trace(Kind.LINE, "", t[:n], ahead.u[:n], colour=GREEN, dash=DASHED)

    def residuals(self) -> list[Plot]:
        """Return of each channel the residuals over time, their autocorrelation and their distribution."""
        return [
            plot
            for channel in self.discovery.quality.channels
            for plot in (self.residuals_of(channel), autocorrelation(channel), quantiles(channel))
        ]

    def residuals_of(self, channel: Channel) -> Plot:
        """Return the residuals of a channel over time, in units of the noise."""
        ends = np.array([min(s.t[0] for s in channel.series), max(s.t[-1] for s in channel.series)])
        traces = [
            band("±2 noise", ends, np.full(2, -2.0), np.full(2, 2.0), colour=GREY),
            Trace(Kind.LINE, "", ends, np.zeros(2), colour=GREY, width=1),
        ]
        alone = len(channel.series) == 1
        for series in self.runs_of(channel):
            traces.append(
                Trace(
                    Kind.POINTS,
                    f"residual of {channel.shown}" if alone else self.dataset.name_of(series.run),
                    series.t,
                    series.weighted / (channel.noise or 1.0),
                    run=series.run,
                    most=self.most_samples,
                )
            )
        return Plot(
            title=f"Residuals: {channel.shown}",
            x=self.label("t"),
            y=f"residual of {channel.shown} / noise",
            traces=traces,
            n_runs=len(self.dataset.runs),
            link="t",
            height=220,
        )

    def phase(self) -> Plot:
        """Return the phase portrait of a single state, or the plane of two states with nullclines."""
        return self._plane() if len(self.dataset.states) > 1 else self._portrait()

    def _portrait(self) -> Plot:
        """Return u' over u: the solution, and the smoothed data where u was measured.

        Integrated velocities or accelerations would only show drift, and smoothed derivatives are wild at
        the ends of a record, so that the solution alone decides the range of the axes.
        """
        alone = len(self.dataset.runs) == 1
        traces = []
        solvable = any(self.solution(0, series.run) is not None for series in self.runs_of(self.measured[0]))
        for n, series in enumerate(self.runs_of(self.measured[0])):
            i = series.run
            if np.isfinite(self.dataset.runs[i].observed[0]).any():
                smooth = self.discovery.prepared.smooths[i].values
                traces.append(
                    Trace(
                        Kind.LINE,
                        "smoothed data" if n == 0 else "",
                        smooth[0],
                        smooth[1],
                        colour=BLUE,
                        run=None if alone else i,
                        width=4,
                        alpha=0.4,
                        loose=solvable,
                        most=self.most_samples,
                    )
                )
            traces += self._path(i, (0, 1), alone=alone, named=n == 0)
        name = display_name(self.dataset, "u")
        measured = "u" in self.dataset.channels
        title = "Phase portrait" if measured else f"Phase portrait of the equation ({name} was not measured)"
        return self._phase_plot(title, ("u", "u'"), traces)

    def _plane(self) -> Plot:
        """Return two states over each other, and of a law of two states its nullclines and equilibria."""
        low, high = extents(self.discovery)
        one, other = chosen_states(low, high)
        alone = len(self.dataset.runs) == 1
        traces = []
        for n, series in enumerate(self.runs_of(self.measured[0])):
            i = series.run
            observed = self.dataset.runs[i].observed
            traces.append(
                Trace(
                    Kind.POINTS,
                    "data" if n == 0 else "",
                    observed[3 * one],
                    observed[3 * other],
                    colour=BLUE,
                    run=None if alone else i,
                    alpha=0.6,
                    most=self.most_samples,
                )
            )
            traces += self._path(i, (3 * one, 3 * other), alone=alone, named=n == 0)
        if _is_planar(self.discovery):
            traces += self._nullclines(low, high)
        return self._phase_plot("Phase plane", (self.dataset.states[one], self.dataset.states[other]), traces)

    def _phase_plot(self, title: str, names: tuple[str, str], traces: list[Trace]) -> Plot:
        x, y = (self.label(name) for name in names)
        n_runs = len(self.dataset.runs)
        return Plot(title=title, x=x, y=y, traces=traces, n_runs=n_runs, legend=True, height=340)

    def _path(self, run: int, rows: tuple[int, int], *, alone: bool, named: bool) -> Iterator[Trace]:
        """Yield the solution of the named equation in a phase plane, and where it starts."""
        solution = self.solution(0, run)
        if solution is None:
            return
        x, y = solution.values[list(rows), :: len(solution.t) // self.most_of_named + 1]
        run_or_none = None if alone else run
        names = ("equation", "start") if named else ("", "")
        yield Trace(Kind.LINE, names[0], x, y, colour=ORANGE, run=run_or_none, most=self.most_of_named)
        yield Trace(Kind.POINTS, names[1], x[:1], y[:1], colour=ORANGE, run=run_or_none, size=3.5)

    def _nullclines(self, low: Float, high: Float) -> Iterator[Trace]:
        """Yield where each of two states is at rest, and the equilibria, where both are."""
        best = self.discovery.candidates[0]
        law = best.equation
        found, _ = find_equilibria(law, best.covariance, low, high, [Units()] * 2)
        bottom, top = _window(low, high, found)
        axes = [np.linspace(bottom[s], top[s], GRID) for s in (0, 1)]
        points = np.array([grid.ravel() for grid in np.meshgrid(*axes)])
        values, _ = RestingLaw(law).residuals(np.array(law.constants), points)
        for name, row, dash in zip(law.states, values, ((6, 4), (2, 3)), strict=True):
            x, y = _zero_line(axes[0], axes[1], row.reshape(GRID, GRID))
            if len(x):
                yield Trace(Kind.LINE, f"{name}' = 0", x, y, colour=GREY, width=1.2, dash=dash)
        told = set()
        for each in found:
            x, y = (np.array([value.value]) for value in each.values)
            if not all(bottom[s] <= each.values[s].value <= top[s] for s in (0, 1)):
                continue
            kind = next((word for word in MARKS if each.stability.startswith(word)), "equilibrium")
            colour, hollow = MARKS.get(kind, (BROWN, True))
            name = "" if kind in told else kind
            told.add(kind)
            yield Trace(Kind.POINTS, name, x, y, colour=colour, hollow=hollow, size=5, text=[str(each)])

    def front(self) -> Plot:
        """Return accuracy against complexity of the equations that were tried."""
        found = self.discovery
        best = found.candidates[0].rms
        unit = found.quality.misfit / best if best > 0 and found.quality.complete else 1.0
        groups = {id(c): f"c{i}" for i, c in enumerate(self.shown)}
        on_front = [c for c in front(found.candidates) if np.isfinite(c.rms) and c.rms > 0]
        kinds = (
            ("tried", found.candidates[:MOST_TRIED], GREY, 2.0),
            ("front", on_front, BLUE, 3.0),
            ("near ties", found.assessment.near[1:], GREEN, 4.0),
            ("chosen", found.candidates[:1], ORANGE, 6.0),
        )
        traces = []
        for name, several, colour, size in kinds:
            drawn = [c for c in several if np.isfinite(c.rms) and c.rms > 0]
            if not drawn:
                continue
            x, y = np.array([(c.complexity, unit * c.rms) for c in drawn], np.float64).T
            if name == "front":
                traces.append(Trace(Kind.LINE, "", x, y, colour=colour, width=1))
            lines = ["; ".join(Finding(c).lines())[:200] for c in drawn] if name != "tried" else []
            traces.append(
                Trace(
                    Kind.POINTS,
                    name,
                    x,
                    y,
                    colour=colour,
                    size=size,
                    hollow=name == "chosen",
                    groups=[groups.get(id(c)) for c in drawn],
                    text=lines,
                )
            )
        sizes = [trace.y for trace in traces]
        is_wide = bool(sizes) and WIDE * min(map(np.min, sizes)) < max(map(np.max, sizes))
        if traces:
            x = np.concatenate([trace.x for trace in traces])
            ends = np.array([x.min(), x.max()])
            traces.insert(0, Trace(Kind.LINE, "", ends, np.ones(2), colour=GREY, width=1, dash=(2, 3)))
        return Plot(
            title="Accuracy against complexity",
            x="complexity",
            y="rms residual / noise",
            traces=traces,
            log="y" if is_wide else "",
        )


def autocorrelation(channel: Channel) -> Plot:
    """Return the autocorrelation of the residuals, with the band that white noise leaves rarely."""
    lags = np.arange(1.0, len(channel.autocorrelation) + 1.0)
    bound = NORMAL_95 / np.sqrt(channel.n)
    ends = np.array([0.0, len(lags) + 1.0])
    return Plot(
        title=f"Autocorrelation of residuals: {channel.shown}",
        x="lag in samples",
        y="correlation",
        traces=[
            band("white noise, 95 %", ends, np.full(2, -bound), np.full(2, bound), colour=GREY),
            Trace(Kind.STEMS, "autocorrelation", lags, channel.autocorrelation, colour=BLUE),
        ],
        y_range=(-1.0, 1.0),
        height=200,
    )


def quantiles(channel: Channel) -> Plot:
    """Return the residuals against those of a normal distribution."""
    values, normal = channel.quantiles
    ends = normal[[0, -1]]
    return Plot(
        title=f"Distribution of residuals: {channel.shown}",
        x="normal quantile",
        y="residual / rms",
        traces=[
            Trace(Kind.LINE, "normal distribution", ends, ends, colour=GREY, width=1),
            Trace(Kind.POINTS, "residuals", normal, values, colour=BLUE, most=1000),
        ],
        height=220,
    )


def chosen_runs(channel: Channel) -> list[Series]:
    """Return the runs that are drawn: all, or if they are many those with the largest residuals."""
    size = [float(np.mean(series.residual**2)) for series in channel.series]
    worst = sorted(np.argsort(size)[::-1][:MAX_PANELS].tolist())
    return [channel.series[i] for i in worst]


def chosen_states(low: Float, high: Float) -> tuple[int, int]:
    """Return the two states that vary most beside their size, in order."""
    size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1e-300)
    one, other = sorted(np.argsort(-(high - low) / size, kind="stable")[:2].tolist())
    return one, other


def fine(t: Float) -> Float:
    """Return times at which a solution is drawn: those of the samples, and more if they are few."""
    return np.union1d(t, np.linspace(t[0], t[-1], FINE)) if len(t) <= FINE else t


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def after(trace: Trace, begin: float) -> Trace:
    """Return the part of a trace from a time on."""
    late = trace.x >= begin
    values = {key: getattr(trace, key)[late] for key in ("x", "y", "low", "high") if len(getattr(trace, key))}
    return replace(trace, **values)


def _is_planar(discovery: Discovery) -> bool:
    """Tell whether the law has two states of first order and does not change with time."""
    skeleton = discovery.candidates[0].equation.skeleton
    return skeleton.orders == (1, 1) and not any(depends_on(p.normal, TIME) for p in skeleton.parts)


def _window(low: Float, high: Float, found: list[Equilibrium]) -> tuple[Float, Float]:
    """Return the ends of a phase plane: the data with equilibria that lie near them, and a little more."""
    wide = np.where(high > low, high - low, 1.0)
    places = np.array([[value.value for value in each.values] for each in found]).reshape(-1, 2)
    is_near = (places >= low - NEAR * wide) & (places <= high + NEAR * wide)
    bottom = np.minimum(low, np.where(is_near, places, low).min(axis=0, initial=np.inf))
    top = np.maximum(high, np.where(is_near, places, high).max(axis=0, initial=-np.inf))
    return bottom - AROUND * wide, top + AROUND * wide


def _zero_line(x: Float, y: Float, values: Float) -> tuple[Float, Float]:
    """Return the curve on which a function on a grid vanishes; its parts are separated by NaN."""
    parts = contour_generator(x, y, np.ma.masked_invalid(values)).lines(0.0)
    gap = np.full((1, 2), np.nan)
    joined = np.concatenate([piece for part in parts for piece in (part, gap)] or [np.empty((0, 2))])
    return joined[:-1, 0], joined[:-1, 1]
