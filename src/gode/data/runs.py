"""Run and Dataset: measurements, checked once.

A run has its own times and any of the channels u, u', u'' of each state; NaN means not observed. Known
inputs are samples at its times, a formula in t, a callable, or samples with times of their own;
`interpolation` says how samples are interpolated. Initial values may be known, in part or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral

import numpy as np

from gode.arrays import Bool, Float
from gode.data.columns import STATES, channel_names
from gode.data.joining import Interpolation, Samples
from gode.errors import DataError

Input = str | Callable[[float], float] | Float | Samples
CHANNELS = channel_names(STATES)
MIN_POINTS = 5  # of each state


@dataclass(frozen=True)
class Run:
    """One measurement of d states: times, channels (3 d, n) with NaN where nothing was observed, inputs."""

    t: Float
    observed: Float
    initial: Float  # (2 d,) u(t0) and u'(t0) of each state; NaN where unknown
    inputs: Mapping[str, Input] = field(default_factory=dict)
    interpolation: Interpolation = Interpolation.AUTO  # of the samples of inputs
    counts: Float | None = None  # (n,) samples averaged into each value; None means one each

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
        own = self.observed[3 * s : 3 * s + 3], self.initial[2 * s : 2 * s + 2]
        return replace(self, observed=own[0], initial=own[1])

    def segment(self, low: int, high: int) -> "Run":
        """Return the points from number `low` to before `high`; only the first know initial values."""
        counts = None if self.counts is None else self.counts[low:high]
        initial = self.initial if low == 0 else np.full_like(self.initial, np.nan)
        t, observed = self.t[low:high], self.observed[:, low:high]
        return replace(self, t=t, observed=observed, initial=initial, inputs=self.signals, counts=counts)

    def at(self, kept: Bool) -> "Run":
        """Return some of the times alone; samples of inputs keep their own."""
        counts = None if self.counts is None else self.counts[kept]
        rows = self.t[kept], self.observed[:, kept]
        return replace(self, t=rows[0], observed=rows[1], inputs=self.signals, counts=counts)

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


@dataclass(frozen=True)
class Dataset:
    """Runs of one system; all have the same states and inputs."""

    runs: tuple[Run, ...]
    labels: Mapping[str, str] = field(default_factory=dict)  # column names and units, for display
    names: tuple[str, ...] = ()  # of the runs (wells, patients, files), for display; may be empty
    states: tuple[str, ...] = STATES
    edits: tuple[str, ...] = ()  # what was changed after reading, for display
    keep_outliers: bool = False  # whether readings far from all others are fitted, too

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
        if isinstance(run, str) and run in self.names:
            return self.names.index(run)
        number = int(run) if isinstance(run, str) and run.isdecimal() else run
        if isinstance(number, Integral) and not isinstance(number, bool) and int(number) in self._numbers:
            return int(number)
        several = f", or one of the names {', '.join(self.names[:5])}" if self.names else ""
        more = ", ..." if len(self.names) > 5 else ""
        if len(self.runs) == 1:
            raise DataError(f"there is one run only, number 0, got {run!r}; leave run out")
        raise DataError(f"run must be a number from 0 to {len(self.runs) - 1}{several}{more}, got {run!r}")

    @property
    def _numbers(self) -> range:
        return range(len(self.runs))

    def of_runs(self, chosen: Sequence[int]) -> "Dataset":
        """Return some of the runs alone."""
        names = tuple(self.names[i] for i in chosen) if self.names else ()
        return replace(self, runs=tuple(self.runs[i] for i in chosen), names=names)

    @property
    def n_observed(self) -> int:
        """The number of observed values."""
        return int(sum(np.isfinite(run.observed).sum() for run in self.runs))

    @property
    def hidden(self) -> tuple[int, ...]:
        """The numbers of the states that were never measured, in no run."""
        states = range(len(self.states))
        return tuple(s for s in states if not any(run.is_measured(s) for run in self.runs))

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that were observed in some run."""
        seen = np.any([np.isfinite(run.observed).any(axis=1) for run in self.runs], axis=0)
        return tuple(name for name, here in zip(channel_names(self.states), seen, strict=True) if here)


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
    own = run.observed[3 * state : 3 * state + 3]
    return 3 * state + int(np.flatnonzero(np.isfinite(own).any(axis=1))[0])


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
    t, signal = run.t, run.observed[channel]
    seen = np.isfinite(signal)
    n = int(seen.sum())
    even = np.interp(np.linspace(t[0], t[-1], n), t[seen], signal[seen])
    line = np.linspace(even[0], even[-1], n)
    power = np.abs(np.fft.rfft((even - line) * np.hanning(n))) ** 2
    noise = np.median(power[-max(n // 20, 3) :]) / np.log(
        2
    )  # the largest of n is about log(n) times the mean
    signal_power = np.cumsum(np.maximum(power - (1 + np.log(n)) * noise, 0.0))
    if signal_power[-1] <= 0:
        return 1.0
    return float(np.searchsorted(signal_power, 0.99 * signal_power[-1]) + 1)
