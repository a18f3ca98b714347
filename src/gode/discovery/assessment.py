"""What is told of a discovery: one verdict, how sure the law is, what is undecided, and why.

The command line, the report, the studio, notebooks, tables of fleets and exit codes all take their words from
here, so that they cannot contradict each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.discovery.forms import same_function
from gode.discovery.quality import Quality, Verdict
from gode.fitting.prepare import Prepared
from gode.selection import Candidate, SelectionConfig, probabilities, ties

MOST = 0.5  # posterior probability from which a law is the most likely one, whatever the others are


@dataclass(frozen=True)
class Assessment:
    """A verdict, and what follows from it for the law that is named and for its rivals."""

    quality: Quality
    near: tuple[Candidate, ...]  # the law that is named, and those that the data cannot tell from it
    forms: tuple[Candidate, ...]  # of these, the ones that are the same function within the data
    probability: float | None  # of the law in all its forms, if one of the laws tried is right
    given: bool  # whether the law was given, and nothing else was tried
    cut_short: bool  # whether the search was ended before its time

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
        if self.verdict is Verdict.PATTERN:
            return "An equation that leaves something unexplained"
        if self.given:
            return "The equation explains the data"
        words = self.certainty.partition(" (")[0]
        return f"A {words} law" if not self.rivals else f"{words[0].upper()}{words[1:]}"

    @property
    def share(self) -> str:
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
            one = "the most likely" if self.probability >= MOST else "one"
            return f"{one} of {len(self.rivals) + 1} laws that these data do not tell apart ({self.share})"
        return (
            f"very likely ({self.share})"  # near ties hold 90 % of the probability, and there are no others
        )

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
            one = self.probability >= MOST
            size = f"the most likely ({self.share})" if one else f"right with a probability of {self.share}"
        if self.verdict is Verdict.PATTERN:
            return (
                f"If one of the {tried} is right, this one is {size}; but something is left in the "
                "residuals, so that none may be."
            )
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
        return f"Undecided: these data cannot tell it from {count_of(n)}."


def count_of(others: int) -> str:
    """Return the number of others in words."""
    return {0: "no others", 1: "one other"}.get(others, f"{others} others")


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
    alike = {id(c) for c in same_function(first, near, prepared)}
    shares = probabilities(candidates, config, prepared.floor)
    own = np.array([id(c) in alike for c in candidates])
    forms = tuple(c for c in near if id(c) in alike)
    return Assessment(quality, tuple(near), forms, float(shares[own].sum()), given, cut_short)
