"""Run and Dataset: measurements, checked once.

A run has its own times and any of the channels u, u', u''; NaN means not observed. Known inputs are
samples at its times, a formula in t, a callable, or samples with times of their own; `interpolation`
says how samples are interpolated. Initial values may be known, in part or not at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data.columns import check_increasing
from gode.data.dates import as_seconds
from gode.data.joining import Interpolation, Samples
from gode.data.numbers import as_numbers
from gode.errors import DataError

Input = str | Callable[[float], float] | Float | Samples
CHANNELS = ("u", "u'", "u''")
MIN_POINTS = 5
MAX_SIZE = 1e100  # largest magnitude of a value: its square must be finite
MIN_SIZE = 1e-100  # least magnitude of the largest value: its square must not vanish


@dataclass(frozen=True)
class Run:
    """One measurement: times, the observed channels (3, n) with NaN where nothing was observed, inputs."""

    t: Float
    observed: Float
    initial: Float  # (2,) u(t0) and u'(t0); NaN where unknown
    inputs: Mapping[str, Input] = field(default_factory=dict)
    interpolation: Interpolation = Interpolation.AUTO  # of the samples of inputs
    counts: Float | None = None  # (n,) samples averaged into each value; None means one each

    @property
    def n_points(self) -> int:
        """The number of times."""
        return len(self.t)

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
    """Runs of one system; all have the same inputs."""

    runs: tuple[Run, ...]
    labels: Mapping[str, str] = field(default_factory=dict)  # column names and units, for display
    names: tuple[str, ...] = ()  # of the runs (wells, patients, files), for display; may be empty

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the known inputs."""
        return tuple(self.runs[0].inputs)

    def name_of(self, run: int) -> str:
        """Return the name of a run, or its number."""
        return self.names[run] if self.names else f"run {run}"

    @property
    def n_observed(self) -> int:
        """The number of observed values."""
        return int(sum(np.isfinite(run.observed).sum() for run in self.runs))

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that were observed in some run."""
        seen = np.any([np.isfinite(run.observed).any(axis=1) for run in self.runs], axis=0)
        return tuple(name for name, here in zip(CHANNELS, seen, strict=True) if here)


def make_run(
    t: ArrayLike,
    *,
    u: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    inputs: Mapping[str, object] | None = None,
    initial: ArrayLike | None = None,
    interpolation: Interpolation = Interpolation.AUTO,
    label: str = "",
) -> Run:
    """Return a checked run; rows without a time or without any observation are dropped.

    Dates and durations of any unit become seconds from the first.

    Raises:
        DataError: with a sentence that says what to do.
    """
    where = f"{label}: " if label else ""
    dated = as_seconds(t)
    time = _numbers(t if dated is None else dated[0], "t", where, None)
    rows = [
        _channel(x, n, where, len(time)) for x, n in zip((u, velocity, acceleration), CHANNELS, strict=True)
    ]
    observed = np.vstack(rows)
    given = {name: _input(value, name, where, len(time)) for name, value in (inputs or {}).items()}
    keep = np.isfinite(time) & np.isfinite(observed).any(axis=0)
    for values in given.values():
        if isinstance(values, np.ndarray):
            keep &= np.isfinite(values)
    if not keep.any():
        raise DataError(
            f"{where}nothing is observed: every value is missing; pass u, velocity or acceleration"
        )
    time, observed = time[keep], observed[:, keep]
    given = {k: v[keep] if isinstance(v, np.ndarray) else v for k, v in given.items()}
    _check_times(time, where)
    _check_units(time, observed, where)
    return Run(time, observed, _initial(initial, where), given, interpolation)


def _check_times(t: Float, where: str) -> None:
    if len(t) < MIN_POINTS:
        raise DataError(f"{where}{len(t)} usable points are too few; at least {MIN_POINTS} are needed")
    check_increasing(_not_tiny(t, "t", where), f"{where}row")
    step = np.diff(t)
    if np.min(step) < 1e-9 * (t[-1] - t[0]):
        i = int(np.argmin(step)) + 1
        raise DataError(
            f"{where}row {i}: the times {t[i - 1]:.17g} and {t[i]:.17g} nearly coincide; drop one of the rows"
        )


def _check_units(t: Float, observed: Float, where: str) -> None:
    """Raise DataError if u'' would overflow when squared in these units of time."""
    sizes = np.max(np.abs(observed), axis=1, where=np.isfinite(observed), initial=0.0)
    with np.errstate(over="ignore"):
        rate = float(np.max(sizes / (t[-1] - t[0]) ** np.array([2.0, 1.0, 0.0])))
    if rate > MAX_SIZE:
        raise DataError(
            f"{where}t spans {t[-1] - t[0]:g}, so that u'' is about {rate:g}, too large to square; "
            "use other units of time"
        )


def _numbers(values: ArrayLike, name: str, where: str, length: int | None) -> Float:
    row = as_numbers(values, f"{where}{name}")
    if row.ndim == 2 and name == "u" and row.shape[1] > 1:
        raise DataError(
            f"{where}u has {row.shape[1]} columns: systems of equations are not supported yet; "
            "pass one signal, the others perhaps as known inputs"
        )
    if row.ndim != 1:
        raise DataError(f"{where}{name} must have one dimension, got shape {row.shape}; pass one signal")
    if length is not None and len(row) != length:
        raise DataError(f"{where}{name} has {len(row)} values, but t has {length}; give one per time")
    if np.any(np.isinf(row)):
        i = int(np.argmax(np.isinf(row)))
        raise DataError(f"{where}{name} is infinite at row {i}; drop that row or write NaN for not observed")
    if np.any(np.abs(row) > MAX_SIZE):
        i = int(np.argmax(np.abs(row) > MAX_SIZE))
        raise DataError(f"{where}{name} is {row[i]:g} at row {i}, too large to square; use other units")
    return row


def _not_tiny(row: Float, name: str, where: str) -> Float:
    """Return `row`, unless its squares underflow; all zeros are accepted."""
    largest = float(np.max(np.abs(row), where=np.isfinite(row), initial=0.0))
    if 0 < largest < MIN_SIZE:
        raise DataError(f"{where}{name} is {largest:g} at most, too small to square; use other units")
    return row


def _channel(values: ArrayLike | None, name: str, where: str, n: int) -> Float:
    if values is None:
        return np.full(n, np.nan)
    return _not_tiny(_numbers(values, name, where, n), name, where)


def _input(value: object, name: str, where: str, n: int) -> Input:
    if isinstance(value, str) or callable(value):
        return value
    return _numbers(value, name, where, n)  # type: ignore[arg-type]


def _initial(values: ArrayLike | None, where: str) -> Float:
    known = np.full(2, np.nan)
    if values is None:
        return known
    given = np.atleast_1d(
        _numbers(np.atleast_1d(np.asarray(values, object)).tolist(), "initial", where, None)
    )
    if len(given) > 2:
        raise DataError(f"{where}initial must be [u(t0)] or [u(t0), u'(t0)], got {len(given)} values")
    known[: len(given)] = given
    return known


def held_inputs(dataset: Dataset) -> list[str]:
    """Return the names of the inputs whose samples are held in every run."""
    names = []
    for name in dataset.inputs:
        signals = [run.signals[name] for run in dataset.runs]
        if all(isinstance(s, Samples) and s.resolved is Interpolation.HOLD for s in signals):
            names.append(name)
    return names


def lowest_channel(run: Run) -> int:
    """Return the lowest channel that was observed: 0 for u, 1 for u', 2 for u''."""
    return int(np.flatnonzero(np.isfinite(run.observed).any(axis=1))[0])


def most_cycles(run: Run) -> float:
    """Return the cycles of the fastest observed channel: accelerations show what positions attenuate."""
    seen = np.flatnonzero(np.isfinite(run.observed).sum(axis=1) > MIN_POINTS)
    return max((cycles(run, int(i)) for i in seen), default=1.0)


def cycles(run: Run, channel: int | None = None) -> float:
    """Return the number of cycles at the highest significant frequency of a channel (default: lowest)."""
    t, signal = run.t, run.observed[lowest_channel(run) if channel is None else channel]
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
