"""How well the equation that is shown explains the data: one misfit, one noise, one verdict for everybody."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.data.columns import STATES, channel_names
from gode.discovery.residuals import Channel, channels, sample_weights
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Law
from gode.fitting.prepare import Prepared
from gode.fitting.target import state_places
from gode.selection import Candidate

MAX_RUNS = 5  # that are named where something is assumed of them
FAR = 2.0  # times the noise, and
SHARE = 0.05  # of the spread: residuals of a channel beyond both make a poor fit
SLIGHT = 1.2  # times the noise: smaller residuals are not told as a multiple of it
UNSUPPORTED = (
    "no equation is supported by these data: "
    "a constant, a straight line or a random walk explains them as well"
)


class Verdict(StrEnum):
    """How far an equation can be trusted, from best to worst."""

    GOOD = "good"
    PATTERN = "pattern"
    POOR = "poor"
    UNSUPPORTED = "unsupported"

    @property
    def is_failure(self) -> bool:
        """Whether none of the laws tried explains the data, which scripts should notice."""
        return self in (Verdict.POOR, Verdict.UNSUPPORTED)


@dataclass(frozen=True)
class Quality:
    """What the equation leaves over, channel by channel, and what to think of it."""

    channels: tuple[Channel, ...]
    averaged: int  # samples behind a value, where records are dense
    supported: bool
    complete: bool  # whether the equation has a solution along all of the data
    assumed: tuple[str, ...] = ()  # what was taken for granted, such as u(0) = 0
    states: tuple[str, ...] = STATES

    @cached_property
    def misfit(self) -> float:
        """The root mean square residual in units of the noise, over all channels; inf without a solution."""
        if not self.complete:
            return np.inf
        n = sum(c.n for c in self.channels)
        return float(np.sqrt(sum(c.n * c.misfit**2 for c in self.channels) / n))

    @cached_property
    def noise(self) -> Float:
        """The standard deviation (3 d,) of the noise of a sample of u, u', u''; NaN if not observed."""
        known = {c.name: c.noise for c in self.channels}
        return np.array([known.get(name, np.nan) for name in channel_names(self.states)])

    @cached_property
    def independent(self) -> float:
        """The number of independent values that the residuals are worth."""
        return sum(c.independent for c in self.channels)

    @cached_property
    def verdict(self) -> Verdict:
        """How far the equation can be trusted."""
        if not self.supported or (self.channels and all(c.spread == 0 for c in self.channels)):
            return Verdict.UNSUPPORTED  # a constant record supports nothing
        if not self.complete or any(_is_far(c) for c in self.channels):
            return Verdict.POOR
        fine = all(c.negligible or (c.white and c.misfit <= FAR) for c in self.channels)
        return Verdict.GOOD if fine else Verdict.PATTERN

    @cached_property
    def follows(self) -> bool:
        """Whether the equation follows the data, supported or not."""
        return self.complete and not any(_is_far(c) for c in self.channels)

    @property
    def assumed_words(self) -> str:
        """What was taken for granted, in a sentence that names each value once; empty for nothing."""
        where: dict[str, list[str]] = {}
        for each in self.assumed:
            value, _, run = each.partition(" in ")
            where.setdefault(value, []).append(run)
        told = []
        for value, runs in where.items():
            more = f" and {len(runs) - MAX_RUNS} more" if len(runs) > MAX_RUNS else ""
            told.append(f"{value} in {', '.join(runs[:MAX_RUNS])}{more}" if runs[0] else value)
        return f"Assumed, as the data allow it: {'; '.join(told)}." if told else ""

    @property
    def words(self) -> str:
        """The verdict in a sentence."""
        if self.verdict is Verdict.UNSUPPORTED and not self.follows:
            left = f"{self._left_words()}, and " if self.complete else ""
            return (
                f"No equation that was tried follows these data: {left}a constant, a straight line or a "
                "random walk does as well."
            )
        if self.verdict is Verdict.UNSUPPORTED:
            return f"N{UNSUPPORTED[1:]}."
        if self.verdict is Verdict.GOOD:
            return "The fit is good: the equation follows the data as closely as the noise allows."
        if not self.complete:
            return "The fit is poor: the equation has no solution along all of the data."
        if self.verdict is Verdict.POOR:
            return f"The fit is poor: {self._left_words()}."
        return f"The equation follows the data, but not all of them: {self._left_words()}."

    def _left_words(self) -> str:
        """Return what is left in the channel that decides the verdict, as large as the verdict takes it."""
        found = [c for c in self.channels if not c.negligible] or list(self.channels)
        decisive = max(found, key=lambda c: (_is_far(c), c.misfit > FAR, not c.white, c.misfit))
        where = f" of {decisive.shown}" if len(self.channels) > 1 else ""
        share = decisive.rms / decisive.spread if decisive.spread > 0 else np.inf
        percent = f"{100 * share:.0f}" if share >= 1 else f"{100 * share:.2g}"  # 120, not 1.2e+02
        size = f"the residuals{where} are {percent} % of the spread of the data"
        if decisive.misfit > SLIGHT:
            size += f" and {decisive.misfit:.3g} times the noise"
        return size if decisive.white or _is_far(decisive) else f"{size}, and not white"


def _is_far(channel: Channel) -> bool:
    """Tell whether the residuals of a channel are large beside its noise and beside its spread."""
    return channel.misfit > FAR and channel.rms > SHARE * channel.spread


def quality_of(candidate: Candidate, prepared: Prepared, *, supported: bool) -> Quality:
    """Return the quality of a candidate on all of the data."""
    runs = prepared.whole.dataset.runs
    seen = channels(candidate, prepared, prepared.whole.dataset)
    whole = sum(c.n for c in seen) == sum(int(np.isfinite(run.observed).sum()) for run in runs)
    counts = max(round(float(np.median(run.roots)) ** 2) for run in runs)
    return Quality(seen, counts, supported, whole, _assumed(candidate, prepared), prepared.dataset.states)


def misfit_of(candidate: Candidate, prepared: Prepared, noise: Float) -> float:
    """Return the root mean square residual of any candidate on all of the data, in units of this noise."""
    squares, n = 0.0, 0
    for i, run in enumerate(prepared.whole.dataset.runs):
        path = simulate(candidate, prepared, Scenario(run.t, run=i))
        weights = sample_weights(prepared, run, i)
        rest = (run.observed - path.values) * weights / noise[:, None]
        seen = np.isfinite(run.observed)
        squares += float(np.sum(rest[seen] ** 2))
        n += int(seen.sum())
    return float(np.sqrt(squares / n)) if np.isfinite(squares) else np.inf


def _assumed(candidate: Candidate, prepared: Prepared) -> tuple[str, ...]:
    """Return what was taken for granted about initial values."""
    names, places = start_names(candidate.equation), state_places(candidate.equation.skeleton.orders)
    out = []
    for i, run in enumerate(prepared.dataset.runs):
        for name, known, value in zip(names, run.initial[places], candidate.initial[i], strict=True):
            if np.isnan(known) and value == 0:
                where = f" in {prepared.dataset.name_of(i)}" if len(prepared.dataset.runs) > 1 else ""
                out.append(f"{name}({run.t[0]:g}) = 0{where}")
    return tuple(out)


def start_names(law: Law) -> list[str]:
    """Return the names of the initial values: each state, and its derivative if it is of second order."""
    skeleton = law.skeleton
    pairs = zip(skeleton.shown_states, skeleton.orders, strict=True)
    return [name + "'" * k for name, order in pairs for k in range(order)]
