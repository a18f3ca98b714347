"""PySINDy on systems: sequentially thresholded least squares for all states together.

Smoother, library and threshold are chosen on the data alone: the equations are solved from the smoothed first
values, and the Bayesian information criterion of the distance to the data decides; where no choice gives a
solution near the data, as for chaotic motion, that of the derivatives does.
"""

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pysindy as ps
from scipy.interpolate import BSpline, make_interp_spline, make_smoothing_spline

from gode.arrays import Float
from gode.data.from_arrays import make_dataset
from gode.errors import DataError
from gode.fitting.prepare import prepare
from gode_bench.odebench.systems import integrated
from gode_bench.peers.sindy import DEPENDENT, RIDGE, THRESHOLDS

DEGREES = (1, 2, 3)
CLOSE = 0.5  # largest share of the data's variance that a solution leaves, to be judged by it
FINEST = 1e-4  # of the data's standard deviation: a smaller distance is as good
TOLERANCE = 1e-5  # of the solutions
MOST_CALLS = 5000
GROWTH = 10.0  # largest solution, in units of the largest value of the data


@dataclass(frozen=True)
class _Library:
    """Products of powers of the states, with or without their sines and cosines."""

    exponents: Float  # (products, d)
    waves: bool

    def values(self, x: Float) -> Float:
        """Return the terms at states (..., d), with the terms last."""
        powers = np.prod(x[..., None, :] ** self.exponents, axis=-1)
        return np.concatenate([powers, np.sin(x), np.cos(x)], axis=-1) if self.waves else powers

    def names(self, states: Sequence[str]) -> list[str]:
        """Return the terms as text."""
        powers = [
            "*".join(f"{name}^{e:g}" for name, e in zip(states, row, strict=True) if e) or "1"
            for row in self.exponents
        ]
        waves = [f"{function}({name})" for function in ("sin", "cos") for name in states]
        return powers + (waves if self.waves else [])


@dataclass(frozen=True)
class _Model:
    """Coefficients (d, terms) of a library, and how far the model is from the data and the derivatives."""

    library: _Library
    coefficients: Float
    by_solution: float
    by_slopes: float
    left: float  # share of the data's variance that the solution leaves

    def text(self, states: Sequence[str]) -> str:
        """Return the equations, one a line."""
        names = self.library.names(states)
        return "\n".join(
            f"{state}' = {_sum(row, names)}" for state, row in zip(states, self.coefficients, strict=True)
        )


def find_system(t: Float, x: Float, states: Sequence[str]) -> str:
    """Return the equations with the best criterion, one a line; x is (n, d)."""
    models = [
        _judged(t, x, smooth, slopes, library, coefficients)
        for smooth, slopes in _smoothed(t, x)
        for library in _libraries(x.shape[1])
        for coefficients in _fits(library.values(smooth), slopes)
    ]
    if not models:
        raise DataError("no threshold leaves a term")
    close = [model for model in models if model.left < CLOSE]
    best = min(close, key=lambda m: m.by_solution) if close else min(models, key=lambda m: m.by_slopes)
    return best.text(states)


def _smoothed(t: Float, x: Float) -> Iterator[tuple[Float, Float]]:
    """Yield values and slopes (n, d): joined by a spline, smoothed by one, and by gode's own smoother."""
    makers: list[Callable[[Float], BSpline]] = [
        lambda y: make_interp_spline(t, y, k=5),
        lambda y: make_smoothing_spline(t, y),
    ]
    for make in makers:
        curves = [make(column) for column in x.T]
        yield (
            np.column_stack([curve(t) for curve in curves]),
            np.column_stack([curve.derivative()(t) for curve in curves]),
        )
    rows = [prepare(make_dataset(t, column), 1, FINEST).columns.matrix for column in x.T]
    if all(row.shape[1] == len(t) for row in rows):
        yield np.column_stack([row[1] for row in rows]), np.column_stack([row[2] for row in rows])


def _libraries(d: int) -> Iterator[_Library]:
    for degree in DEGREES:
        powers = [e for e in itertools.product(range(degree + 1), repeat=d) if sum(e) <= degree]
        for waves in (False, True):
            yield _Library(np.array(powers, float), waves)


def _fits(features: Float, slopes: Float) -> Iterator[Float]:
    """Yield the different sparse coefficients (d, terms) that the thresholds give."""
    sizes = np.sqrt(np.mean(features**2, axis=0))
    scales = np.std(slopes, axis=0)
    sizes[sizes == 0] = scales[scales == 0] = 1.0
    seen = set()
    for threshold in THRESHOLDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = ps.STLSQ(threshold=threshold, alpha=RIDGE).fit(features / sizes, slopes / scales)
        found = np.asarray(fit.coef_) * scales[:, None] / sizes
        support = (found != 0).tobytes()
        if np.any(found) and np.all(np.isfinite(found)) and support not in seen:
            seen.add(support)
            yield found


def _judged(
    t: Float, x: Float, smooth: Float, slopes: Float, library: _Library, coefficients: Float
) -> _Model:
    away = library.values(smooth) @ coefficients.T - slopes
    n, k = len(t), int(np.count_nonzero(coefficients))
    by_slopes = _criterion(away, slopes, k, n / DEPENDENT)
    solved = integrated(
        lambda s, y: np.asarray(coefficients @ library.values(y)),
        smooth[0].tolist(),
        t,
        TOLERANCE,
        GROWTH * float(np.max(np.abs(x))),
        MOST_CALLS,
    )
    if solved is None:
        return _Model(library, coefficients, np.inf, by_slopes, np.inf)
    left = np.sum((solved - x) ** 2) / np.sum((x - x.mean(axis=0)) ** 2)
    return _Model(library, coefficients, _criterion(solved - x, x, k, n), by_slopes, float(left))


def _criterion(away: Float, of: Float, k: int, n: float) -> float:
    """Return the criterion of residuals (n, d), each column with a variance of its own."""
    least = (FINEST * np.std(of, axis=0)) ** 2 + np.finfo(float).tiny
    with np.errstate(over="ignore"):
        fit = np.sum(np.log(np.mean(away**2, axis=0) + least))
    return float(n * fit + k * np.log(n * away.shape[1]))


def _sum(c: Float, names: Sequence[str]) -> str:
    terms = zip(c.tolist(), names, strict=True)
    return " + ".join(f"({value!r})*{name}" for value, name in terms if value != 0) or "0"
