"""What an equation leaves over: the residuals of each channel, their noise, and whether they are white."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from gode.arrays import Float
from gode.data import Dataset, Run
from gode.data.columns import channel_names
from gode.data.gp import loss_with_noise
from gode.data.noise import NoiseKind, NoiseModel, noise_model
from gode.data.smoothing import BLOCK
from gode.discovery.framing import display_name
from gode.discovery.simulate import Scenario, simulate
from gode.fitting.covariance import DOUBT, effective_sample_size
from gode.fitting.prepare import Prepared
from gode.selection import Candidate

# Residuals are no noise, however white, if their rms exceeds this multiple of what smoothing leaves over and
# this fraction of the standard deviation of the readings.
MISSED = 3.0
SHARE = 0.1
# Residuals of a larger share of the standard deviation are not noise alone: the equation explains less than
# three quarters of the variance. Without this limit, simulated epidemics with a wrong law passed at 0.7.
LEFT = 0.5
EPS = float(np.finfo(np.float64).eps)
MAX_SHAPIRO = 5000  # For more values the probability of the Shapiro-Wilk test is not accurate.
# With more fitted numbers per value than this, or where what they correlate exceeds a standard error of a
# correlation, as of many short runs with constants of their own, the fit itself correlates the residuals.
SHORT = 0.1
CONSTANT = NoiseModel(1.0, 0.0)  # Noise of the same size in all samples.


@dataclass(frozen=True)
class Series:
    """The observed points of one channel of one run, and the solution there."""

    t: Float
    observed: Float
    fit: Float
    run: int = 0
    roots: Float | float = 1.0  # weight of each value: root of its samples, over its noise if that differs

    @property
    def residual(self) -> Float:
        """What the solution leaves over."""
        return self.observed - self.fit

    @property
    def weighted(self) -> Float:
        """The residuals as large as the noise of one sample makes them."""
        return np.asarray(self.residual * self.roots)

    def loss_with_noise(self, noise: float) -> float:
        """Return by how much noise of this size makes a smooth curve through the data less probable."""
        observed = np.full((3, len(self.t)), np.nan)
        observed[0] = self.observed
        profile = np.ones_like(observed)
        profile[0] = 1 / self.roots
        return loss_with_noise(Run(self.t, observed, np.full(2, np.nan)), noise, profile)


@dataclass(frozen=True)
class Channel:
    """One observed channel over all runs."""

    name: str
    smoothed_noise: float  # standard deviation of a sample about the smoothed data
    n_free: float  # fitted numbers, shared among the channels by their values
    series: tuple[Series, ...]
    model: NoiseModel = CONSTANT  # of the noise about the smoothed data
    called: str = ""  # what it is called when it is shown, if that is another name

    @property
    def state(self) -> str:
        """The name of its state."""
        return self.name.rstrip("'")

    @property
    def shown(self) -> str:
        """Its name when it is shown."""
        return self.called or self.name

    @property
    def noise_words(self) -> str:
        """The noise of a sample: a number, or the share of the value that it is."""
        if self.model.kind is NoiseKind.ADDITIVE:
            return f"{self.noise:.2g} in {self.shown}"
        scale = self.noise / self.smoothed_noise
        share = f"{100 * scale * self.model.share:.2g} % of {self.shown}"
        if self.model.kind is NoiseKind.MULTIPLICATIVE:
            return share
        return f"{scale * self.model.constant:.2g} and {share}"

    @cached_property
    def n(self) -> int:
        """The number of residuals."""
        return sum(len(s.t) for s in self.series)

    @cached_property
    def spread(self) -> float:
        """The standard deviation of what was observed."""
        return float(np.std(np.concatenate([s.observed for s in self.series])))

    @cached_property
    def noise(self) -> float:
        """The standard deviation of the noise of one sample.

        Residuals that are white are noise. Of others only the part is that changes from value to value, and
        no more than lies about the smoothed data.
        """
        left = self._size * np.sqrt(self.n / max(self.n - self.n_free, 0.5 * self.n))
        if self.negligible or (self.white and not self._follows_less_than_smoothing()):
            return max(float(left), self._rounding)
        changes = [np.diff(s.weighted, 2) for s in self.series if len(s.t) > 2]
        squares = np.concatenate(changes) ** 2 if changes else np.full(1, 6 * left**2)
        return max(
            min(float(np.sqrt(np.mean(squares) / 6)), self.smoothed_noise, float(left)), self._rounding
        )

    @property
    def _rounding(self) -> float:
        """What a number of the size of the values cannot hold."""
        largest = max(float(np.abs(s.observed).max()) for s in self.series)
        return EPS * largest or 1e-300

    def _follows_less_than_smoothing(self) -> bool:
        """Whether a smooth curve comes much closer to the data: coarse samples hide what was missed."""
        return self._size > MISSED * self.smoothed_noise and self.rms > SHARE * self.spread

    @cached_property
    def may_be_noise(self) -> bool:
        """Whether white residuals that are larger than the noise of smoothing could be noise all the same.

        A smooth curve can go through all of a few coarse samples, which then hardly tell their noise. They
        exclude noise as large as the residuals if so large a likelihood ratio is less probable than DOUBT.
        """
        doubtful = self.white and self._follows_less_than_smoothing()
        if not doubtful or self.rms > LEFT * self.spread:
            return False
        loss = 0.0
        for each in self.series:
            if len(each.t) > BLOCK:  # A long record tells its noise.
                return False
            loss += each.loss_with_noise(self._size)
            if chdtrc(1, 2 * max(loss, 0.0)) < DOUBT:
                return False
        return True

    @property
    def misfit(self) -> float:
        """The root mean square residual in units of the noise."""
        return self._size / self.noise

    @cached_property
    def _size(self) -> float:
        return float(np.sqrt(np.mean(np.concatenate([s.weighted for s in self.series]) ** 2)))

    @cached_property
    def independent(self) -> float:
        """The number of independent values that the residuals are worth."""
        return sum(effective_sample_size(s.weighted) for s in self.series)

    @cached_property
    def rms(self) -> float:
        """The root mean square residual."""
        return float(np.sqrt(np.mean(np.concatenate([s.residual for s in self.series]) ** 2)))

    @cached_property
    def negligible(self) -> bool:
        """Whether the residuals are so small beside the signal that their pattern means nothing."""
        return self.rms <= 1e-4 * self.spread

    @cached_property
    def autocorrelation(self) -> Float:
        """The correlation of residuals 1, 2, ... samples apart, within runs."""
        lags = max(1, min(20, self.n // (5 * len(self.series))))
        rows = [s.weighted for s in self.series]
        whole = sum(float(r @ r) for r in rows) or 1.0
        return np.array([sum(float(r[k:] @ r[:-k]) for r in rows) / whole for k in range(1, lags + 1)])

    @property
    def _from_fit(self) -> float:
        """The negative correlation of neighbours that the fit alone may leave, where it has many numbers."""
        size = self.n_free / max(self.n - self.n_free, 1.0)
        matters = self.n_free > SHORT * self.n or size * np.sqrt(self.n) > 1
        return -min(size, 0.9) if matters else 0.0

    @cached_property
    def whiteness(self) -> float:
        """The probability of so much autocorrelation in white noise (Ljung and Box)."""
        r = self.autocorrelation
        if self.n <= len(r) + 1:
            return 1.0
        r = np.where(r < 0, np.minimum(r - self._from_fit, 0.0), r)
        weights = self.n * (self.n + 2) / (self.n - np.arange(1, len(r) + 1))
        return float(chdtrc(len(r), np.sum(weights * r**2)))

    @cached_property
    def runs(self) -> float:
        """The probability of so few or many changes of sign in white noise (Wald and Wolfowitz)."""
        signs = [np.sign(s.residual[s.residual != 0]) for s in self.series]
        changes = sum(int(np.sum(s[1:] != s[:-1])) for s in signs)
        above = sum(int(np.sum(s > 0)) for s in signs)
        n = sum(len(s) for s in signs)
        if not 0 < above < n:
            return 1.0 if n < 5 else 0.0  # all on one side
        mean = 2 * above * (n - above) / n * (n - len(signs)) / (n - 1)
        variance = mean * (mean - 1) / (n - 1)
        if changes > mean and self._from_fit:  # a negative correlation changes the sign more often
            mean = min(mean * 2 / np.pi * np.arccos(self._from_fit), changes)
        return float(2 * ndtr(-abs(changes - mean) / np.sqrt(max(variance, 1e-12))))

    @property
    def white(self) -> bool:
        """Whether neither test speaks against white noise."""
        return min(self.whiteness, self.runs) >= DOUBT

    @cached_property
    def normality(self) -> float:
        """The probability of so odd a distribution if the residuals are normal (Shapiro and Wilk)."""
        from scipy.stats import shapiro  # slow to import, and only reports ask

        values = self.quantiles[0]
        if len(values) < 3 or np.ptp(values) == 0:
            return 1.0
        return float(shapiro(values[:: -(-len(values) // MAX_SHAPIRO)]).pvalue)

    @cached_property
    def quantiles(self) -> tuple[Float, Float]:
        """The residuals sorted, in units of their rms, and the normal values they would have."""
        values = np.sort(np.concatenate([s.weighted for s in self.series])) / (self._size or 1.0)
        return values, np.asarray(ndtri((np.arange(len(values)) + 0.5) / len(values)))

    @property
    def words(self) -> list[str]:
        """The diagnosis in sentences."""
        averaged = self.model.kind is NoiseKind.ADDITIVE and np.max(self.series[0].roots) > 1
        dense = ", of averages," if averaged else ","
        size = f"The rms residual of {self.shown} is {self.rms:.3g}{dense} {self.misfit:.2f} times the noise"
        if self.negligible:
            return [f"{size}; beside the signal it is nothing, so its pattern says nothing either."]
        return [f"{size}.", self._white_words(), self._normal_words()]

    def _white_words(self) -> str:
        figures = (
            f"lag-1 correlation {self.autocorrelation[0]:+.2f}, Ljung-Box p = {self.whiteness:.2g}, "
            f"runs test p = {self.runs:.2g}"
        )
        failed = [p < DOUBT for p in (self.whiteness, self.runs)]
        if self.may_be_noise:
            return (
                f"The residuals look like white noise ({figures}), but a smooth curve comes much closer to "
                "the data: samples as few as these do not tell whether what is left is noise."
            )
        if self.white and self._follows_less_than_smoothing():
            return (
                f"Neighbouring residuals are not alike ({figures}), yet a smooth curve comes much closer to "
                "the data: the samples are too coarse to show what the equation misses."
            )
        if self.white:
            return f"The residuals look like white noise ({figures}): the equation leaves no pattern behind."
        strength = "are correlated" if all(failed) else "may be correlated"
        return (
            f"The residuals {strength} ({figures}): the equation misses something, or the noise itself is "
            "correlated. The error bars are wider for it."
        )

    def _normal_words(self) -> str:
        if self.normality >= DOUBT:
            return (
                f"Their distribution is compatible with a normal one (Shapiro-Wilk p = {self.normality:.2g})."
            )
        far = float(np.max(np.abs(self.quantiles[0])))
        return (
            f"Their distribution is not normal (Shapiro-Wilk p = {self.normality:.2g}; the largest is "
            f"{far:.1f} times the rms): look for outliers or a change of the noise level."
        )


def channels(candidate: Candidate, prepared: Prepared, dataset: Dataset) -> tuple[Channel, ...]:
    """Return the observed channels of the data, as measured or as fitted, with the solution there."""
    runs = dataset.runs
    solved = [simulate(candidate, prepared, Scenario(run.t, run=i)) for i, run in enumerate(runs)]
    weights = [sample_weights(prepared, run, i) for i, run in enumerate(runs)]
    n_values = max(sum(int(np.isfinite(run.observed).sum()) for run in runs), 1)
    out = []
    for c, name in enumerate(channel_names(dataset.states)):
        series = []
        for i, (run, fit) in enumerate(zip(runs, solved, strict=True)):
            curve = fit.values[c]
            seen = np.isfinite(run.observed[c]) & np.isfinite(curve)
            if seen.any():
                roots = weights[i][c, seen]
                series.append(Series(run.t[seen], run.observed[c][seen], curve[seen], i, roots))
        if series and np.isfinite(prepared.noise[c]):
            share = candidate.n_free * sum(len(s.t) for s in series) / n_values
            model = noise_model(prepared.smooths, c)
            noise = _smoothed_noise(prepared, c)
            out.append(Channel(name, noise, share, tuple(series), model, display_name(dataset, name)))
    return tuple(out)


def _smoothed_noise(prepared: Prepared, channel: int) -> float:
    """Return the noise of a sample about the smoothed data, each run counting as far as it can tell.

    A curve that goes through nearly all of a few points says little about their noise: what it leaves of a
    run, over the noise that it claims, is the share of the values that speak.
    """
    told, total = 0.0, 0.0
    for run, smooth in zip(prepared.whole.dataset.runs, prepared.smooths, strict=True):
        seen = np.isfinite(run.observed[channel])
        if not seen.any() or not smooth.noise[channel] > 0:
            continue
        curve = np.interp(run.t[seen], smooth.t, smooth.values[channel])
        roots = run.roots[seen] / np.median(run.roots)
        left = (run.observed[channel, seen] - curve) * roots / smooth.noise[channel]
        values = min(float(left @ left), float(seen.sum()))
        told += values * float(smooth.noise[channel] * np.median(run.roots)) ** 2
        total += values
    known = float(prepared.noise[channel])
    return max(float(np.sqrt(told / total)), known) if total > 0 and len(prepared.smooths) > 1 else known


def sample_weights(prepared: Prepared, run: Run, number: int) -> Float:
    """Return the weights (channels, n): by the samples behind each value, and by how noisy it is."""
    target = prepared.whole
    if not target.profiles:
        return np.broadcast_to(run.roots, run.observed.shape)
    times, rows = target.dataset.runs[number].t, target.profiles[number]
    return np.array([run.roots / np.interp(run.t, times, row) for row in rows])


def lowest_series(candidate: Candidate, prepared: Prepared, dataset: Dataset) -> list[tuple[Float, Float]]:
    """Return what was observed in the lowest channel of each state and run, and residuals, over the noise.

    It is that of the channel, even where some samples are noisier than others.
    """
    found: dict[tuple[int, str], tuple[Float, Float]] = {}
    for channel in channels(candidate, prepared, dataset):
        for each in channel.series:
            run = dataset.runs[each.run]
            roots = run.roots[np.searchsorted(run.t, each.t)]  # a level over a varying noise is no level
            unit = channel.smoothed_noise / roots
            found.setdefault((each.run, channel.state), (each.observed / unit, each.residual / unit))
    return [found[key] for key in sorted(found, key=lambda key: key[0])]
