"""How well the law named explains the data, how sure it is, and what the data leave undecided, in words.

The command line, the report, the studio, notebooks, tables of fleets and exit codes all take misfit, noise,
verdict and words from here, so that they cannot contradict each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.data.columns import STATES, channel_names
from gode.data.noise import NoiseKind, noise_models
from gode.discovery.residuals import Channel, channels, sample_weights
from gode.discovery.shortlist import same_function
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Law
from gode.fitting.prepare import Prepared
from gode.fitting.target import state_places
from gode.selection import Candidate, SelectionConfig, probabilities, ties

SLIGHT_MISFIT = 1.2  # A smaller misfit is within the uncertainty of the noise: neither told nor explained.
MAX_RUNS = 5  # More runs of which something is assumed are counted instead of named, to keep the line short.
MOST_LIKELY = 0.5  # From this posterior probability on a law is the most likely one, whatever the others are.
# A law is off if its rms residual exceeds both this multiple of the noise and this fraction of the standard
# deviation, in a fit as in a test; set by hand so that fits that look right by eye pass.
POOR_MISFIT = 2.0
POOR_FRACTION = 0.05
UNSUPPORTED = (
    "no equation is supported by these data: "
    "a constant, a straight line or a random walk explains them as well"
)


class Verdict(StrEnum):
    """How far a law can be trusted, from best to worst."""

    GOOD = "good"
    PATTERN = "pattern"
    POOR = "poor"
    UNSUPPORTED = "unsupported"

    @property
    def is_failure(self) -> bool:
        """Whether none of the laws tried explains the data, which scripts should notice."""
        return self in (Verdict.POOR, Verdict.UNSUPPORTED)


@dataclass(frozen=True)
class Forecast:
    """How far a law is off on what was held back."""

    misfit: float  # root mean square over the noise; infinite where the law has no solution
    fraction: float  # root mean square over the spread of the data
    n: int

    @property
    def is_failed(self) -> bool:
        """Whether the law does not foretell what was held back."""
        return self.misfit > POOR_MISFIT and self.fraction > POOR_FRACTION

    @property
    def words(self) -> str:
        """The result in a sentence."""
        seen = f"{self.n} values at the end that were held back from the fit"
        if not np.isfinite(self.misfit):
            return f"It has no solution along the {seen}: it fails this test."
        verdict = "fails" if self.is_failed else "passes"
        return f"On the {seen}, it is off by {self.misfit:.2g} times the noise: it {verdict} this test."


@dataclass(frozen=True, repr=False)
class Quality:
    """The residuals of a law, channel by channel, and what to think of them."""

    channels: tuple[Channel, ...]
    averaged: int  # The number of samples behind a value, where records are dense.
    supported: bool
    complete: bool  # Whether the equation has a solution along all of the data.
    assumed: tuple[str, ...] = ()  # Initial values that were taken for granted, such as u(0) = 0.
    states: tuple[str, ...] = STATES
    forecast: Forecast | None = None  # On what was held back, if anything was.
    surpassed: bool = False  # Whether something else explains the data clearly better.

    def __repr__(self) -> str:
        return f"<Quality: {self.words}>"

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
        observed = {c.name: c.noise for c in self.channels}
        return np.array([observed.get(name, np.nan) for name in channel_names(self.states)])

    @cached_property
    def independent(self) -> float:
        """The effective sample size of the residuals."""
        return sum(c.independent for c in self.channels)

    @cached_property
    def verdict(self) -> Verdict:
        """How far the equation can be trusted."""
        if not self.supported or (self.channels and all(c.spread == 0 for c in self.channels)):
            return Verdict.UNSUPPORTED  # a constant record supports nothing
        if not self.complete or any(_is_poor(c) for c in self.channels):
            return Verdict.POOR
        fine = self.leaves_noise
        foretold = self.forecast is None or not self.forecast.is_failed
        return Verdict.GOOD if fine and foretold and not self.surpassed else Verdict.PATTERN

    @cached_property
    def follows(self) -> bool:
        """Whether the equation follows the data, supported or not."""
        return self.complete and not any(_is_poor(c) for c in self.channels)

    @property
    def assumed_words(self) -> str:
        """What was taken for granted, in a sentence that names each value once; empty for nothing."""
        where: dict[str, list[str]] = {}
        for assumption in self.assumed:
            value, _, run = assumption.partition(" in ")
            where.setdefault(value, []).append(run)
        told = []
        for value, runs in where.items():
            more = f" and {len(runs) - MAX_RUNS} more" if len(runs) > MAX_RUNS else ""
            told.append(f"{value} in {', '.join(runs[:MAX_RUNS])}{more}" if runs[0] else value)
        return f"Assumed, as the data allow it: {'; '.join(told)}." if told else ""

    @property
    def words(self) -> str:
        """The verdict in a sentence, and in another one how the law does on what was held back."""
        return f"{self._fit_words} {self.forecast.words}" if self.forecast else self._fit_words

    @property
    def _fit_words(self) -> str:
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
        if self.leaves_noise:
            return "The equation follows the data that it was fitted to as closely as the noise allows."
        if self.may_be_noise:
            return (
                "The equation follows the data, but whether all that is left is noise is not to be told from "
                f"so few samples: {self._left_words()} about a smooth curve."
            )
        return f"The equation follows the data, but not all of them: {self._left_words()}."

    @cached_property
    def leaves_noise(self) -> bool:
        """Whether nothing but noise is left in any channel."""
        return all(c.negligible or (c.white and c.misfit <= POOR_MISFIT) for c in self.channels)

    @cached_property
    def may_be_noise(self) -> bool:
        """Whether what is left is noise for all that the data tell."""
        return all(
            c.negligible or c.may_be_noise or (c.white and c.misfit <= POOR_MISFIT) for c in self.channels
        )

    def _left_words(self) -> str:
        """Return what is left in the channel that decides the verdict, as large as the verdict takes it."""
        found = [c for c in self.channels if not c.negligible] or list(self.channels)
        decisive = max(found, key=lambda c: (_is_poor(c), c.misfit > POOR_MISFIT, not c.white, c.misfit))
        where = f" of {decisive.shown}" if len(self.channels) > 1 else ""
        relative = decisive.rms / decisive.spread if decisive.spread > 0 else np.inf
        percent = f"{100 * relative:.0f}" if relative >= 0.995 else f"{100 * relative:.2g}"  # not 1.2e+02
        size = f"the residuals{where} are {percent} % of the spread of the data"
        if decisive.misfit > SLIGHT_MISFIT:
            size += f" and {decisive.misfit:.3g} times the noise"
        return size if decisive.white or _is_poor(decisive) else f"{size}, and not white"


@dataclass(frozen=True)
class Assessment:
    """A verdict, and what follows from it for the law that is named and for its rivals."""

    quality: Quality
    near: tuple[Candidate, ...]  # The law that is named, and those that the data cannot tell from it.
    forms: tuple[Candidate, ...]  # Those of them that are the same function within the data.
    probability: float | None  # That of the law in all its forms, if one of the laws tried is right.
    given: bool  # Whether the law was given, and nothing else was tried.
    cut_short: bool  # Whether the search was ended before its time.

    @property
    def verdict(self) -> Verdict:
        """How far the law can be trusted."""
        return self.quality.verdict

    @property
    def is_failure(self) -> bool:
        """Whether none of the laws tried explains the data."""
        return self.verdict.is_failure

    @property
    def rivals(self) -> tuple[Candidate, ...]:
        """The near ties that are other functions."""
        same = {id(c) for c in self.forms}
        return tuple(c for c in self.near if id(c) not in same)

    @property
    def headline(self) -> str:
        """The verdict on the law in a few words."""
        if self.verdict is Verdict.UNSUPPORTED:
            return "No finding"
        if self.verdict is Verdict.POOR:
            return "Do not rely on this equation"
        if self._is_only_surpassed:
            return "An equation that has a better explanation beside it"
        if self.verdict is Verdict.PATTERN:
            may = "may leave" if self.quality.may_be_noise else "leaves"
            return f"An equation that {may} something unexplained"
        if self.given:
            return "The equation explains the data"
        words = self.certainty.partition(" (")[0]
        return f"A {words} law" if not self.rivals else f"{words[0].upper()}{words[1:]}"

    @property
    def _is_only_surpassed(self) -> bool:
        """Whether the law leaves nothing, and is not called good because something else explains more."""
        return self.verdict is Verdict.PATTERN and self.quality.surpassed and self.quality.leaves_noise

    @property
    def percent(self) -> str:
        """The probability in words."""
        return "" if self.probability is None else f"{min(round(100 * self.probability), 99)} %"

    @property
    def certainty(self) -> str:
        """How sure the law is among those tried, in words; empty where nothing else was tried."""
        if self.given:
            return ""
        if self.probability is None:
            return "unlikely, as all other laws tried: none of them explains these data"
        if self.rivals:
            one = "the most likely" if self.probability >= MOST_LIKELY else "one"
            return f"{one} of {len(self.rivals) + 1} laws that these data do not tell apart ({self.percent})"
        return f"very likely ({self.percent})"  # The near ties hold 90 % of the probability, and it is alone.

    @property
    def sure(self) -> str:
        """How sure the law is among those tried, in a sentence; empty where nothing else was tried."""
        if self.given:
            return ""
        tried = "laws tried before the search was ended" if self.cut_short else "laws tried"
        if self.is_failure:
            return f"None of the {tried} explains these data, so none of them is called likely."
        size = self.certainty
        if self.rivals and self.probability is not None:  # how many there are is told as undecided
            one = self.probability >= MOST_LIKELY
            size = (
                f"the most likely ({self.percent})" if one else f"right with a probability of {self.percent}"
            )
        if self.verdict is Verdict.PATTERN:
            left = "something is left in the residuals"
            if self._is_only_surpassed:
                left = "something else explains the data better"
            elif self.quality.may_be_noise:
                left = "the residuals may be more than noise"
            return f"If one of the {tried} is right, this one is {size}; but {left}, so that none may be."
        return f"Among the {tried} this one is {size}."

    @property
    def undecided(self) -> str:
        """What these data leave open, in a sentence; empty where there is nothing to tell apart."""
        if self.given or self.is_failure:
            return ""
        n = len(self.rivals)
        if not n:
            nothing = "Undecided: nothing; no" if self.verdict is Verdict.GOOD else "No"
            return f"{nothing} other equation that was tried comes close."
        return f"Undecided: these data cannot tell it from {'one other' if n == 1 else f'{n} others'}."


def quality_of(candidate: Candidate, prepared: Prepared, *, supported: bool) -> Quality:
    """Return the quality of a candidate on all of the data."""
    runs = prepared.whole.dataset.runs
    fitted = channels(candidate, prepared, prepared.whole.dataset)
    complete = sum(c.n for c in fitted) == sum(int(np.isfinite(run.observed).sum()) for run in runs)
    averaged = max(round(float(np.median(run.roots)) ** 2) for run in runs)
    assumed = _assumed_initial_values(candidate, prepared)
    found = Quality(fitted, averaged, supported, complete, assumed, prepared.dataset.states)
    return replace(found, forecast=forecast_of(candidate, prepared, found.noise))


def misfit_of(candidate: Candidate, prepared: Prepared, noise: Float) -> float:
    """Return the root mean square residual of any candidate on all of the data, in units of this noise."""
    squares, n = 0.0, 0
    for i, run in enumerate(prepared.whole.dataset.runs):
        path = simulate(candidate, prepared, Scenario(run.t, run=i))
        weights = sample_weights(prepared, run, i)
        residuals = (run.observed - path.values) * weights / noise[:, None]
        observed = np.isfinite(run.observed)
        squares += float(np.sum(residuals[observed] ** 2))
        n += int(observed.sum())
    return float(np.sqrt(squares / n)) if np.isfinite(squares) else np.inf


def _assumed_initial_values(candidate: Candidate, prepared: Prepared) -> tuple[str, ...]:
    """Return the unknown initial values that are zero in the law, in words."""
    names, places = start_names(candidate.equation), state_places(candidate.equation.skeleton.orders)
    out = []
    for i, run in enumerate(prepared.dataset.runs):
        for name, given, value in zip(names, run.initial[places], candidate.initial[i], strict=True):
            if np.isnan(given) and value == 0:
                where = f" in {prepared.dataset.name_of(i)}" if len(prepared.dataset.runs) > 1 else ""
                out.append(f"{name}({run.t[0]:g}) = 0{where}")
    return tuple(out)


def start_names(law: Law) -> list[str]:
    """Return the names of the initial values: each state, and its derivative if it is of second order."""
    skeleton = law.skeleton
    pairs = zip(skeleton.shown_states, skeleton.orders, strict=True)
    return [name + "'" * k for name, order in pairs for k in range(order)]


def assess(
    candidates: Sequence[Candidate],
    quality: Quality,
    prepared: Prepared,
    config: SelectionConfig,
    *,
    given: bool,
    cut_short: bool,
) -> Assessment:
    """Return what is told of these candidates, the best of which has this quality."""
    first = candidates[0]
    if given or quality.verdict.is_failure:
        return Assessment(quality, (first,), (first,), None, given, cut_short)
    near = ties(candidates, config, prepared.floor)
    same = {id(c) for c in same_function(first, near, prepared)}
    forms = tuple(c for c in near if id(c) in same)
    chances = probabilities(candidates, config, prepared.floor)
    probability = float(chances[np.array([id(c) in same for c in candidates])].sum())
    return Assessment(quality, tuple(near), forms, probability, given, cut_short)


def _is_poor(channel: Channel) -> bool:
    """Tell whether the residuals of a channel are large beside its noise and beside its spread."""
    large = channel.misfit > POOR_MISFIT and channel.rms > POOR_FRACTION * channel.spread
    return large and not channel.may_be_noise


def forecast_of(candidate: Candidate, prepared: Prepared, noise: Float) -> Forecast | None:
    """Return how far a law is off on what was held back; None where nothing was.

    Args:
        noise: (3 d,) standard deviation of each channel.
    """
    if not prepared.dataset.held:
        return None
    squares = _squares(candidate, prepared, noise)
    parts = np.hstack([run.observed for run in prepared.dataset.runs])
    spread = [float(np.std(row[np.isfinite(row)])) if np.isfinite(row).any() else 1.0 for row in parts]
    rest = _squares(candidate, prepared, np.array([each or 1.0 for each in spread]))
    return Forecast(float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(rest))), len(squares))


def best_foretold_first(order: Sequence[Candidate], prepared: Prepared) -> list[Candidate]:
    """Return laws by how well they foretell what was held back.

    Those that do as well as the best within one standard error of the difference come first, in the order
    that they have, which is that of the criterion; the others follow by their errors. The standard error is
    that of the paired differences of squared residuals (Breiman and others, 1984, for trees).
    """
    squares = [_squares(c, prepared, prepared.noise) for c in order]
    errors = [float(np.mean(each)) for each in squares]
    best = squares[int(np.argmin(errors))]
    if not np.isfinite(best).all():
        return list(order)
    near = [bool(_as_good(each, best)) for each in squares]
    others = sorted((i for i, as_good in enumerate(near) if not as_good), key=lambda i: errors[i])
    return [c for c, as_good in zip(order, near, strict=True) if as_good] + [order[i] for i in others]


def remark_on_ranking(first: Candidate, by_criterion: Candidate) -> list[str]:
    """Return a sentence where another law than that of the criterion foretells better what was held back."""
    if first.equation.skeleton.structure == by_criterion.equation.skeleton.structure:
        return []
    other = "; ".join(by_criterion.equation.lines(4))
    return [
        f"laws are ranked by what was held back, which this one foretells better than {other}, the law with "
        "the least criterion on the rest"
    ]


def _as_good(squares: Float, best: Float) -> bool:
    if not np.isfinite(squares).all():
        return False
    more = squares - best
    return bool(np.mean(more) <= np.std(more) / np.sqrt(len(more)))


def _squares(candidate: Candidate, prepared: Prepared, noise: Float) -> Float:
    """Return the squared residuals over the noise of all that was held back; infinite without a solution."""
    dataset = prepared.dataset
    whole = replace(prepared, dataset=dataset.with_held())
    parts = []
    for i, rest in enumerate(dataset.held):
        values = simulate(candidate, whole, Scenario(rest.t, run=i)).values
        sigma = noise[:, None] * _relative_noise(prepared, i, values)
        with np.errstate(over="ignore", invalid="ignore"):
            found = ((rest.observed - values) / sigma) ** 2
        found = np.where(np.isfinite(values), found, np.inf)
        parts.append(found[np.isfinite(rest.observed)])
    return np.concatenate(parts)


def _relative_noise(prepared: Prepared, number: int, values: Float) -> Float:
    """Return the noise (channels, n) where a run was held back, over that of its channel.

    It follows from standard errors that were given, or from how the noise grows with the value.
    """
    whole, rest = prepared.whole, prepared.dataset.held[number]
    out = np.ones(values.shape)
    models = noise_models(whole.dataset, prepared.smooths)
    for i, name in enumerate(channel_names(prepared.dataset.states)):
        if rest.sd is not None and np.isfinite(rest.sd[i]).any() and whole.profiles:
            ratios = whole.profiles[number][i] / whole.dataset.runs[number].sd[i]  # type: ignore[index]
            out[i] = np.nanmedian(ratios) * rest.sd[i]
        elif name in models and models[name].kind is not NoiseKind.ADDITIVE:
            out[i] = models[name].sigma(values[i]) / prepared.noise[i]
    return out
