"""Measurements, checked once: Run and Dataset, inputs and labels; and Smooth, a smoothed run.

A run has its own times and any of the channels u, u', u'' of each state; NaN means not observed. Known
inputs are samples at its times, a formula in t, a callable, or samples with times of their own;
`interpolation` says how samples are interpolated. Initial values may be known, in part or not at all.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from numbers import Integral

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.data.columns import INPUT, STATES, channel_names
from gode.data.doses import Dose, of_state
from gode.errors import ConfigError, DataError, pointed
from gode.units import Unit, parse_unit

# Each state needs this many readings. Set by hand: a curve through fewer fits any law of two constants.
MIN_POINTS = 5
# An input is taken as held if more than this fraction of its changes is followed by an unchanged sample. Set
# by hand, as the majority.
ISOLATED_CHANGES = 0.5
# The frequencies below which 99 % of the signal's power lies are its own, those above are ringing and noise;
# set by hand.
POWER_KEPT = 0.99
NEGLIGIBLE = 1e-3  # What is a smaller fraction of another thing counts as nothing beside it; set by hand.
CHANNELS = channel_names(STATES)


class Interpolation(StrEnum):
    """How to interpolate between the samples of an input."""

    AUTO = "auto"  # cubic, or hold where samples change in isolated jumps
    CUBIC = "cubic"
    LINEAR = "linear"
    HOLD = "hold"


@dataclass(frozen=True)
class Samples:
    """Samples of an input, their times and their interpolation."""

    t: Float
    values: Float
    interpolation: Interpolation

    @property
    def resolved(self) -> Interpolation:
        """The interpolation, with AUTO decided."""
        if self.interpolation is not Interpolation.AUTO:
            return self.interpolation
        return Interpolation.HOLD if changes_by_jumps(self.values) else Interpolation.CUBIC


Input = str | Callable[[float], float] | Float | Samples


@dataclass(frozen=True)
class Limits:
    """Readings of which only limits are known, such as <0.05: (m,) times, channels, and limits on both sides.

    Reading i is one of channel `channel[i]`, a row of `Run.observed`, at the time `t[i]`; it lies above
    `low[i]` and below `high[i]`, one of which is infinite where only the other is known. The times increase
    or repeat. They need not be among those of the run, whose rows all hold readings: they may lie before the
    first, or behind the last as at the end of a decay. Smoothing and averaging leave them as they are.

    In a likelihood, with the solution x at `t` in that channel and the standard deviation s of the noise
    there, each counts as log(Phi((high - x) / s) - Phi((low - x) / s)), where Phi is the distribution
    function of the normal distribution; see `gode.fitting.limits`.
    """

    t: Float
    channel: Int
    low: Float
    high: Float

    def at(self, kept: Bool | Int) -> "Limits":
        """Return some of the readings."""
        return Limits(self.t[kept], self.channel[kept], self.low[kept], self.high[kept])

    @classmethod
    def joined(cls, parts: "Sequence[Limits]") -> "Limits | None":
        """Return readings one after the other; None where there are none."""
        names = ("t", "channel", "low", "high")
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names)) if parts else None


@dataclass(frozen=True)
class Run:
    """One measurement of d states: times, channels (3 d, n) with NaN where nothing was observed, inputs."""

    t: Float
    observed: Float
    initial: Float  # (2 d,) u(t0) and u'(t0) of each state; NaN where unknown
    inputs: Mapping[str, Input] = field(default_factory=dict)
    interpolation: Interpolation = Interpolation.AUTO  # of the samples of inputs
    counts: Float | None = None  # (n,) samples averaged into each value; None means one each
    doses: tuple[Dose, ...] = ()  # what is added to states, and when
    limits: Limits | None = None  # readings known as limits only
    sd: Float | None = None  # (3 d, n) given standard errors of the readings, NaN where there is none

    @property
    def n_points(self) -> int:
        """The number of times."""
        return len(self.t)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.observed) // 3

    def state(self, s: int) -> "Run":
        """Return one state alone, at all times of the run."""
        limits = self.limits
        if limits is not None:
            limits = limits.at(limits.channel // 3 == s)
            limits = replace(limits, channel=limits.channel % 3) if len(limits.t) else None
        observed, initial = self.observed[3 * s : 3 * s + 3], self.initial[2 * s : 2 * s + 2]
        doses = of_state(self.doses, s)
        sd = None if self.sd is None else self.sd[3 * s : 3 * s + 3]
        return replace(self, observed=observed, initial=initial, doses=doses, limits=limits, sd=sd)

    def segment(self, low: int, high: int) -> "Run":
        """Return the points from number `low` to before `high`; only the first know initial values."""
        initial = self.initial if low == 0 else np.full_like(self.initial, np.nan)
        return replace(self.at(slice(low, high)), initial=initial)

    def at(self, kept: Bool | slice) -> "Run":
        """Return some of the times alone; samples of inputs keep their own."""
        return replace(
            self,
            t=self.t[kept],
            observed=self.observed[:, kept],
            inputs=self.signals,
            counts=None if self.counts is None else self.counts[kept],
            limits=self.limits_at(kept),
            sd=None if self.sd is None else self.sd[:, kept],
        )

    def limits_at(self, kept: Bool | slice) -> Limits | None:
        """Return the limits that belong to some of the times: those up to the next time of the run."""
        if self.limits is None:
            return None
        rows = np.zeros(self.n_points, np.bool_)
        rows[kept] = True
        before = np.searchsorted(self.t, self.limits.t, side="right") - 1
        limits = self.limits.at(rows[np.maximum(before, 0)])
        return limits if len(limits.t) else None

    def cut(self, n: int) -> "tuple[Run, Run]":
        """Return the first `n` points, and those after them, whose initial values are unknown."""
        first, rest = (self._part(rows) for rows in (slice(n), slice(n, None)))
        return first, replace(rest, initial=np.full_like(self.initial, np.nan))

    def joined(self, rest: "Run") -> "Run":
        """Return the run with what `cut` took away."""
        return replace(
            self,
            t=np.append(self.t, rest.t),
            observed=np.hstack([self.observed, rest.observed]),
            inputs={name: _joined_input(given, rest.inputs[name]) for name, given in self.inputs.items()},
            limits=Limits.joined([each.limits for each in (self, rest) if each.limits is not None]),
            sd=None if self.sd is None or rest.sd is None else np.hstack([self.sd, rest.sd]),
        )

    def _part(self, rows: slice) -> "Run":
        """Return some of the points with the samples of inputs at these."""
        inputs = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in self.inputs.items()}
        return replace(self.at(rows), inputs=inputs)

    def is_measured(self, state: int) -> bool:
        """Tell whether there are readings of a state or of its derivatives."""
        return bool(np.isfinite(self.observed[3 * state : 3 * state + 3]).any())

    @property
    def roots(self) -> Float:
        """The square root (n,) of the number of samples behind each value, by which its noise is reduced."""
        return np.ones(self.n_points) if self.counts is None else np.sqrt(self.counts)

    @property
    def n_samples(self) -> int:
        """The largest number of samples of an input, which a solver has to resolve; 0 without samples."""
        return max((len(s.values) for s in self.signals.values() if isinstance(s, Samples)), default=0)

    @property
    def signals(self) -> dict[str, str | Callable[[float], float] | Samples]:
        """The inputs as a solver takes them: samples with their times and interpolation."""
        return {
            name: Samples(self.t, given, self.interpolation) if isinstance(given, np.ndarray) else given
            for name, given in self.inputs.items()
        }


def _joined_input(first: Input, rest: Input) -> Input:
    """Return an input over a run and what was cut from it: samples one after the other, else as it was."""
    both = isinstance(first, np.ndarray) and isinstance(rest, np.ndarray)
    return np.append(first, rest) if both else first  # type: ignore[arg-type]


@dataclass(frozen=True)
class Dataset:
    """Runs of one system; all have the same states and inputs."""

    runs: tuple[Run, ...]
    # The user's name and unit of a column, such as "force [N]", by the column: t, a state or its derivative,
    # an input, and "run" for the column of a file that tells runs apart.
    labels: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the runs (wells, patients, files), for display; may be empty
    states: tuple[str, ...] = STATES
    edits: tuple[str, ...] = ()  # what was changed after reading, for display
    keep_outliers: bool = False  # whether readings far from all others are fitted, too
    held: tuple[Run, ...] = ()  # the end of each run where it was held back as a test; see `hold_back`
    noise: str = "auto"  # the kind of noise, if it was given

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the known inputs."""
        return tuple(self.runs[0].inputs)

    def name_of(self, run: int) -> str:
        """Return the name of a run, or its number."""
        return self.names[run] if self.names else f"run {run}"

    def number_of(self, run: object) -> int:
        """Return the number of a run that is given by its number or its name.

        Raises:
            DataError: if there is no such run.
        """
        numbers = range(len(self.runs))
        if isinstance(run, str) and run in self.names:
            return self.names.index(run)
        number = int(run) if isinstance(run, str) and run.isdecimal() else run
        if isinstance(number, Integral) and not isinstance(number, bool) and number in numbers:
            return int(number)
        several = f", or one of the names {', '.join(self.names[:5])}" if self.names else ""
        more = ", ..." if len(self.names) > 5 else ""
        if len(self.runs) == 1:
            raise DataError(f"there is one run only, number 0, got {run!r}; leave run out")
        raise DataError(f"run must be a number from 0 to {len(self.runs) - 1}{several}{more}, got {run!r}")

    def of_runs(self, chosen: Sequence[int]) -> "Dataset":
        """Return some of the runs alone."""
        names = tuple(self.names[i] for i in chosen) if self.names else ()
        held = tuple(self.held[i] for i in chosen) if self.held else ()
        return replace(self, runs=tuple(self.runs[i] for i in chosen), names=names, held=held)

    def hold_back(self, share: float) -> "Dataset":
        """Return the data with this share of the time of each run, at its end, held back as a test.

        Raises:
            DataError: if a run is left with too few readings.
        """
        first, rest = [], []
        for i, run in enumerate(self.runs):
            n = int(np.searchsorted(run.t, run.t[0] + (1 - share) * np.ptp(run.t), side="right"))
            if n < MIN_POINTS:
                where = f"{self.name_of(i)}: " if len(self.runs) > 1 else ""
                raise DataError(
                    f"{where}holding back {100 * share:g} % leaves {n} of {run.n_points} times to fit; at "
                    f"least {MIN_POINTS} are needed, so hold back less"
                )
            parts = run.cut(n)
            first.append(parts[0])
            rest.append(parts[1])
        return replace(self, runs=tuple(first), held=tuple(rest))

    def with_held(self) -> "Dataset":
        """Return the data with what was held back in its runs."""
        pairs = zip(self.runs, self.held, strict=True)
        return replace(self, runs=tuple(run.joined(rest) for run, rest in pairs), held=())

    @property
    def n_observed(self) -> int:
        """The number of observed values."""
        return int(sum(np.isfinite(run.observed).sum() for run in self.runs))

    @property
    def is_dosed(self) -> bool:
        """Whether anything was added to a state."""
        return any(run.doses for run in self.runs)

    @property
    def hidden(self) -> tuple[int, ...]:
        """The numbers of the states that were never measured."""
        states = range(len(self.states))
        return tuple(s for s in states if not any(run.is_measured(s) for run in self.runs))

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that were observed in some run."""
        seen = np.any([np.isfinite(run.observed).any(axis=1) for run in self.runs], axis=0)
        return tuple(name for name, here in zip(channel_names(self.states), seen, strict=True) if here)


@dataclass(frozen=True)
class Smooth:
    """A smoothed run: u, u', u'' of d states (3 d, n) at its times, their standard deviations, and the noise.

    `noise` (3 d,) is the standard deviation of each observed channel, NaN where nothing was observed. Where
    that of the samples differs, it is their root mean square, `profile` (3 d, n) is that of a sample relative
    to it, and `shares` (3 d, 2) holds the constant part and the share of the value in each channel.
    """

    t: Float
    values: Float
    deviations: Float
    noise: Float
    hyperparameters: Float
    profile: Float | None = None
    shares: Float | None = None
    evidence: float = np.nan  # log probability of the data and hyperparameters, of one state

    @classmethod
    def unknown(cls, t: Float, n_hyperparameters: int) -> "Smooth":
        """Return the place of a state that was never measured: zeros, until a fitted law fills it."""
        nothing = np.zeros((3, len(t)))
        return cls(t, nothing, nothing.copy(), np.full(3, np.nan), np.zeros(n_hyperparameters))

    @property
    def sigma(self) -> Float:
        """The standard deviation of the noise of each sample (3 d, n)."""
        return np.broadcast_to(self.noise[:, None], self.values.shape) * self._profile

    @property
    def _profile(self) -> Float:
        return np.ones(self.values.shape) if self.profile is None else self.profile

    @property
    def _shares(self) -> Float:
        return np.column_stack([self.noise, 0 * self.noise]) if self.shares is None else self.shares

    def state(self, s: int) -> "Smooth":
        """Return one state alone."""
        rows = slice(3 * s, 3 * s + 3)
        n = 3 * len(self.hyperparameters) // len(self.values)
        return Smooth(
            t=self.t,
            values=self.values[rows],
            deviations=self.deviations[rows],
            noise=self.noise[rows],
            hyperparameters=self.hyperparameters[n * s : n * (s + 1)],
            profile=None if self.profile is None else self.profile[rows],
            shares=None if self.shares is None else self.shares[rows],
        )

    @classmethod
    def of_states(cls, parts: "Sequence[Smooth]") -> "Smooth":
        """Return the states that were smoothed one by one as one run."""
        if len(parts) == 1:
            return parts[0]
        constant = all(p.profile is None for p in parts)
        return cls(
            t=parts[0].t,
            values=np.vstack([p.values for p in parts]),
            deviations=np.vstack([p.deviations for p in parts]),
            noise=np.concatenate([p.noise for p in parts]),
            hyperparameters=np.concatenate([p.hyperparameters for p in parts]),
            profile=None if constant else np.vstack([p._profile for p in parts]),
            shares=None if constant else np.vstack([p._shares for p in parts]),
        )


def chosen_interpolation(hold: bool | None, interpolation: str) -> Interpolation:
    """Return the interpolation chosen by `interpolation=` or by its short form `hold=`.

    Raises:
        ConfigError: if they contradict each other or have other values.
    """
    if not (hold is None or isinstance(hold, bool | np.bool_)):
        raise ConfigError(f"hold must be True, False or None, got {hold!r}")
    if not isinstance(interpolation, str) or interpolation not in set(Interpolation):
        words = ", ".join(Interpolation)
        raise ConfigError(f"interpolation must be one of {words}, got {interpolation!r}")
    how = Interpolation(interpolation)
    if hold is None:
        return how
    if how is Interpolation.AUTO:
        return Interpolation.HOLD if hold else Interpolation.CUBIC
    if bool(hold) is not (how is Interpolation.HOLD):
        raise ConfigError(f"hold={bool(hold)} contradicts interpolation={interpolation!r}; give one of them")
    return how


def changes_by_jumps(y: Float) -> bool:
    """Tell whether samples change in isolated jumps, as those of a switch, rather than gradually."""
    moves = np.diff(y) != 0
    after = moves[1:][moves[:-1]]
    return len(after) > 0 and bool(np.mean(~after) > ISOLATED_CHANGES)


def held_inputs(dataset: Dataset) -> list[str]:
    """Return the names of the inputs whose samples are held in every run."""
    names = []
    for name in dataset.inputs:
        signals = [run.signals[name] for run in dataset.runs]
        if all(isinstance(s, Samples) and s.resolved is Interpolation.HOLD for s in signals):
            names.append(name)
    return names


def lowest_channel(run: Run, state: int = 0) -> int:
    """Return the lowest channel of a state that was observed; of the first: 0 for u, 1 for u', 2 for u''."""
    seen = np.isfinite(run.observed[3 * state : 3 * state + 3]).any(axis=1)
    return 3 * state + int(np.flatnonzero(seen)[0])


def most_cycles(run: Run) -> float:
    """Return the cycles of the fastest observed channel: accelerations show what positions attenuate."""
    seen = np.flatnonzero(np.isfinite(run.observed).sum(axis=1) > MIN_POINTS)
    return max((cycles(run, int(i)) for i in seen), default=1.0)


def cycles(run: Run, channel: int | None = None) -> float:
    """Return the number of cycles at the highest significant frequency of a channel.

    By default it is the lowest channel of each state, of which the fastest counts.
    """
    if channel is None:
        lowest = [lowest_channel(run, s) for s in range(run.n_states) if run.is_measured(s)]
        return max(cycles(run, each) for each in lowest)
    signal = run.observed[channel]
    seen = np.isfinite(signal)
    n = int(seen.sum())
    even = np.interp(np.linspace(run.t[0], run.t[-1], n), run.t[seen], signal[seen])
    line = np.linspace(even[0], even[-1], n)
    power = np.abs(np.fft.rfft((even - line) * np.hanning(n))) ** 2
    # The power of white noise is exponentially distributed: its median is log(2) of its mean, and the largest
    # of n values is about log(n) times the mean. The last twentieth of the frequencies is taken for noise.
    noise = np.median(power[-max(n // 20, 3) :]) / np.log(2)
    signal_power = np.cumsum(np.maximum(power - (1 + np.log(n)) * noise, 0.0))
    if signal_power[-1] <= 0:
        return 1.0
    return float(np.searchsorted(signal_power, POWER_KEPT * signal_power[-1]) + 1)


UNIT = re.compile(r"\[([^\[\]]+)\]\s*$")  # as in `force [N]`
NO_UNIT = {"1", "-", "–", "—"}  # written for a pure number
ARGUMENTS = {"time": "t", "velocity": "u'", "acceleration": "u''", "force": INPUT}  # keys in older records


def unit_of(dataset: Dataset, column: str) -> str:
    """Return the unit of a column as it was written; empty where it is unknown or none."""
    found = UNIT.search(dataset.labels.get(column, ""))
    unit = found[1].strip() if found else ""
    return "" if unit in NO_UNIT else unit


def plain_label(label: str) -> str:
    """Return the name of a column without its unit."""
    return UNIT.sub("", label).strip()


def by_column(labels: Mapping[str, str], states: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """Return labels by their columns; those of older records had the names of arguments for keys."""
    columns = {*channel_names(states), *inputs}
    return {key if key in columns else ARGUMENTS.get(key, key): label for key, label in labels.items()}


def with_units(dataset: Dataset, units: Mapping[str, str]) -> Dataset:
    """Return the data with the units of time, states and inputs in their labels.

    Args:
        units: by the names of columns, the user's or those in the equation.

    Raises:
        ConfigError: if a unit cannot be read.
        DataError: if there is no such column.
    """
    signals = (*dataset.states, *dataset.inputs)
    columns = {name: name for name in ("t", *signals)}
    columns |= {plain_label(dataset.labels[name]): name for name in signals if name in dataset.labels}
    columns.pop("", None)
    labels = dict(dataset.labels)
    for name, text in units.items():
        if name not in columns:
            reason = f"units= has {name!r}, which is no column; the columns are {', '.join(columns)}"
            raise DataError(pointed(reason, f"{name} = {text}", 0))
        parse_unit(text)
        column = columns[name]
        labels[column] = f"{plain_label(labels.get(column, '')) or column} [{text}]"
    return replace(dataset, labels=labels)


def column_units(dataset: Dataset) -> dict[str, Unit]:
    """Return the units of t, states, their derivatives and inputs that labels tell and that can be read."""
    found: dict[str, Unit] = {}
    for column in ("t", *channel_names(dataset.states), *dataset.inputs):
        written = UNIT.search(dataset.labels.get(column, ""))
        unit = parse_unit(written[1], strict=False) if written else None
        if unit is not None:
            found[column] = unit
    for state in dataset.states if "t" in found else ():
        slopes = (found[state + "'" * k] * found["t"] ** k for k in (1, 2) if state + "'" * k in found)
        unit = found.get(state) or next(slopes, None)  # of a state of which only a derivative was measured
        if unit is not None:
            found[state] = unit
            for order in (1, 2):
                found[state + "'" * order] = found[state] / found["t"] ** order
    return found
