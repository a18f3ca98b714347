"""Monitor: does a stream of records still obey the same law, with the same constants?

The first records, less those that lie apart, are the reference: mean constants, and how much they vary from
record to record beyond their error bars. Each record is then asked three things:

- does the law still explain it (misfit against that of the reference)?
- do its constants agree within their joint error bars (Hotelling's statistic with the F distribution)?
- do the constants of many records together move slowly (exponentially weighted mean)?
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from scipy.special import chdtri, fdtri

from gode.arrays import Float

LEVEL = 1e-3  # chance that a record without a change is told
MEMORY = 0.15  # weight of the latest record in the moving mean
LIMIT = 4.5  # standard deviations of the moving mean that are a drift
WORSE, FAR = 1.25, 6.0  # misfit: times that of the reference, and standard deviations beyond it
ROBUST = 1.4826
KNOWN = 5.0  # how much better error bars are known than a variance of as many records as the first


class Status(StrEnum):
    """What is said of a record."""

    SAME = "same"
    CHANGED = "changed"
    LAW = "another law"
    FAILED = "failed"


@dataclass(frozen=True)
class Seen:
    """A record to which the law was fitted."""

    id: str
    constants: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    misfit: float = 0.0
    n_values: int = 1
    poor: bool = False  # whether the law follows the record at all
    failure: str = ""

    @property
    def usable(self) -> bool:
        """Whether the law was fitted, with error bars."""
        return not self.failure


@dataclass(frozen=True)
class Told:
    """What is said of a record: a sentence if it differs, and constants that drift."""

    id: str
    status: Status
    sentence: str = ""
    distance: float = 0.0  # from the reference, in units in which one is the limit
    drift: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """What is usual: constants (k,), their covariance, the scatter beyond error bars, and the misfit."""

    constants: Float
    covariance: Float  # of the mean
    scatter: Float  # variances (k,) from record to record beyond the error bars
    inflation: float  # of the error bars, at least one
    misfit: float
    misfit_spread: float
    n: int

    def variance(self, seen: Seen) -> Float:
        """Return the covariance (k, k) of the difference between a record and the reference."""
        own = np.array(seen.covariance, float) + np.diag(self.scatter)
        return np.asarray(self.inflation * own + self.covariance)

    def distance(self, seen: Seen) -> float:
        """Return how far the constants of a record are away; beyond 1 is too far for chance."""
        away, k = np.array(seen.constants) - self.constants, len(self.constants)
        if not k:
            return 0.0
        squared = _squared(away, self.variance(seen))
        limit = k * fdtri(k, self._freedom(seen), 1 - LEVEL) if self.n > 1 else chdtri(k, LEVEL)
        return float(np.sqrt(squared / limit))

    def _freedom(self, seen: Seen) -> float:
        """Return degrees of freedom: few where the variance is learned from the first records, more where it
        is that of the error bars, which are known better."""
        bars = np.diag(np.array(seen.covariance, float))
        learned = np.max(
            self.scatter / np.maximum(self.scatter + bars, 1e-300), initial=1 - 1 / self.inflation
        )
        return (self.n - 1) * min(1 / max(float(learned) ** 2, 1e-9), KNOWN)

    def explains(self, seen: Seen) -> bool:
        """Tell whether the law still follows a record."""
        spread = max(self.misfit_spread, 1 / np.sqrt(2 * seen.n_values))
        worse = seen.misfit > WORSE * self.misfit and seen.misfit > self.misfit + FAR * spread
        return not seen.poor and not worse


def reference_of(first: Sequence[Seen]) -> Reference:
    """Return what is usual among the first records, less those that lie apart."""
    usable = [seen for seen in first if seen.usable and not seen.poor]
    found = _reference(usable)
    for _ in range(3):
        kept = [seen for seen in usable if found.distance(seen) <= 1 and found.explains(seen)]
        if len(kept) < max(3, len(usable) // 2) or len(kept) == len(usable):
            break
        usable, found = kept, _reference(kept)
    return found


def _reference(seen: Sequence[Seen]) -> Reference:
    values = np.array([s.constants for s in seen], float)
    bars = np.array([s.covariance for s in seen], float).reshape(len(seen), values.shape[1], values.shape[1])
    middle, n = np.median(values, axis=0), len(seen)
    spread = (ROBUST * np.median(np.abs(values - middle), axis=0)) ** 2
    usual = np.median(np.diagonal(bars, axis1=1, axis2=2), axis=0)
    scatter = np.maximum(spread - usual, 0.0) if n > 2 else np.zeros(values.shape[1])
    own = np.median(bars, axis=0) + np.diag(scatter)
    mean = values.mean(axis=0) if n < 5 else _trimmed(values, middle, np.sqrt(np.diag(own)))
    misfits = np.array([s.misfit for s in seen])
    level = float(np.median(misfits))
    away = ROBUST * float(np.median(np.abs(misfits - level)))
    plain = Reference(mean, own / n, scatter, 1.0, level, away, n)
    return Reference(mean, own / n, scatter, _inflation(plain, values, bars), level, away, n)


def _trimmed(values: Float, middle: Float, scale: Float) -> Float:
    """Return the mean of the values that lie within a few standard deviations of the median."""
    near = np.all(np.abs(values - middle) <= 4 * np.maximum(scale, 1e-300), axis=1)
    return np.asarray(values[near].mean(axis=0) if near.any() else middle)


def _inflation(found: Reference, values: Float, bars: Float) -> float:
    """Return by how much the distances of the reference itself exceed what its error bars allow."""
    k = values.shape[1]
    if not k or found.n < 5:
        return 1.0
    squared = []
    for row, bar in zip(values, bars, strict=True):
        squared.append(_squared(row - found.constants, bar + np.diag(found.scatter)))
    return max(1.0, float(np.median(squared)) / float(chdtri(k, 0.5)))


def _squared(away: Float, variance: Float) -> float:
    """Return the squared length of a difference in units of its standard deviations."""
    scale = np.sqrt(np.maximum(np.diag(variance), 1e-300))
    unit = away / scale
    return float(unit @ np.linalg.pinv(variance / np.outer(scale, scale), hermitian=True) @ unit)


@dataclass
class Monitor:
    """Remembers the reference and the moving mean of a stream."""

    places: tuple[str, ...]
    reference: Reference
    mean: Float = field(default_factory=lambda: np.zeros(0))
    weight: float = 0.0  # variance of the moving mean, in units of that of one record
    drifting: set[str] = field(default_factory=set)

    def tell(self, seen: Seen) -> Told:
        """Return what is to be said of the next record."""
        if not seen.usable:
            return Told(seen.id, Status.FAILED, seen.failure)
        if not self.reference.explains(seen):
            usual = self.reference.misfit
            words = f"the law no longer explains it: the residuals are {seen.misfit:.2g} times the noise"
            return Told(seen.id, Status.LAW, f"{words}, usually {usual:.2g}")
        distance = self.reference.distance(seen)
        if distance > 1:
            return Told(seen.id, Status.CHANGED, self._changed(seen), distance)
        return Told(seen.id, Status.SAME, "", distance, tuple(self._drift(seen)))

    def _scaled(self, seen: Seen) -> Float:
        away = np.array(seen.constants) - self.reference.constants
        scale = np.sqrt(np.diag(self.reference.variance(seen)))
        return np.asarray(np.divide(away, scale, out=np.zeros_like(away), where=scale > 0))

    def _changed(self, seen: Seen) -> str:
        """Return a sentence on the constant that differs most."""
        z = self._scaled(seen)
        k = int(np.argmax(np.abs(z)))
        usual, now = self.reference.constants[k], seen.constants[k]
        share = f", {100 * (now / usual - 1):+.1f} %" if usual else ""
        return (
            f"the constants differ: {now:.4g} multiplying {self.places[k]}, usually {usual:.4g}{share} "
            f"({abs(z[k]):.1f} standard deviations)"
        )

    def _drift(self, seen: Seen) -> list[str]:
        """Move the mean, and return sentences on constants that begin to drift."""
        z = self._scaled(seen)
        if not len(self.mean):
            self.mean = np.zeros(len(z))
        self.mean = (1 - MEMORY) * self.mean + MEMORY * z
        self.weight = (1 - MEMORY) ** 2 * self.weight + MEMORY**2
        deviation = np.sqrt(self.weight + 1 / self.reference.n)  # the reference is uncertain, too
        out = []
        for k, place in enumerate(self.places):
            size = abs(self.mean[k]) / deviation
            if size > LIMIT and place not in self.drifting:
                self.drifting.add(place)
                scale = float(np.sqrt(self.reference.variance(seen)[k, k]))
                usual = self.reference.constants[k]
                now = usual + scale * self.mean[k]
                out.append(f"drift: the constant of {place} moves, from {usual:.4g} to about {now:.4g}")
            elif size < LIMIT / 2:
                self.drifting.discard(place)
        return out
