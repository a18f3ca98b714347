"""The remaining time of a discovery, from its planned fits and their speed so far."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from gode.search.settings import Effort

SIZES = 8  # numbers of constants of which the best go to the trajectory
PARTS = 5  # simpler equations fitted to the trajectory beside the neighbours of one
SUMS = 3  # sizes of sums that are compared
RATIO = 8.0  # time of a trajectory fit over that of a cheap one, until it is measured
MEASURED = 5  # trajectory fits after which their own speed is used


@dataclass(frozen=True)
class Workload:
    """How many fits a search makes, if its stages do not end early."""

    cheap: float
    fits: float


def planned(effort: Effort, share: float) -> Workload:
    """Return the plan of one pass with this share of an effort."""
    cheap = share * (effort.library + effort.latent) + SUMS * effort.sums
    fits = share * (SIZES * effort.per_size + effort.rounds * (effort.per_round + PARTS))
    return Workload(cheap, fits)


class Pace:
    """Counts the fits of a pass and their time."""

    def __init__(self, plan: Workload, passes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.plan, self.passes, self.clock = plan, passes, clock
        self.cheap, self.fits = 0, 0  # done in this pass
        self.seconds = {False: 0.0, True: 0.0}  # spent on cheap fits, and on fits to the trajectory
        self.counts = {False: 0, True: 0}
        self.seen = 0
        self.last: float | None = None  # time before the first call is loading and compiling

    def again(self) -> None:
        """Begin the next pass."""
        self.passes -= 1
        self.cheap, self.fits = 0, 0

    def left(self, *, n_cheap: int, on_trajectory: bool) -> float:
        """Count the fits since the last call; return the estimated seconds that are left.

        Args:
            n_cheap: the cheap fits so far, in all passes.
        """
        now, before = self.clock(), self.last
        new, self.seen, self.last = n_cheap - self.seen, n_cheap, now
        if before is None:
            self.cheap += new
            return math.nan
        self.seconds[on_trajectory] += now - before
        if on_trajectory:
            self.fits, self.counts[True] = self.fits + 1, self.counts[True] + 1
        else:
            self.cheap, self.counts[False] = self.cheap + new, self.counts[False] + new
        return self._estimate(on_trajectory)

    def _estimate(self, on_trajectory: bool) -> float:
        n, seconds = self.counts, self.seconds
        if not n[False]:
            return math.nan
        cheap = seconds[False] / n[False]
        fit = seconds[True] / n[True] if n[True] >= MEASURED else RATIO * cheap
        later = (self.passes - 1) * (cheap * self.plan.cheap + fit * self.plan.fits)
        searching = 0.0 if on_trajectory else cheap * max(self.plan.cheap - self.cheap, 0.0)
        return later + searching + fit * max(self.plan.fits - self.fits, 0.0)
