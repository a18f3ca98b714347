"""What a method is given of a problem: noisy samples, and never the truth."""

import zlib
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Bool, Float
from gode.benchmarks.jobs import Job
from gode.benchmarks.problems import Problem, problem, truth
from gode.errors import GodeError
from gode.solve import solve

MAX_TRIES = 60
TOO_LARGE = 3.0  # a further run may exceed the first by this factor
SPREAD = 0.3  # of the initial values of further runs


@dataclass(frozen=True)
class Measured:
    """Runs of noisy samples of u or of the acceleration, with what else is known."""

    order: int
    observed: str  # "u" or "acceleration"
    force: str | None
    t: tuple[Float, ...]
    signal: tuple[Float, ...]
    initial: tuple[tuple[float, ...], ...] | None  # None: unknown


def measured(job: Job) -> Measured:
    """Return the data of a job; the same for every method.

    The noise is normal with `noise` times the standard deviation of each run's clean signal.
    """
    one = _with_samples(problem(job.problem), job.samples)
    starts = initial_values(one, job.runs)
    rng = np.random.default_rng([job.seed, zlib.crc32(job.problem.encode())])
    times, signals = [], []
    for start in starts:
        t, u, _, d2u = truth(_started(one, start))
        clean = u if one.observed == "u" else d2u
        noisy = clean + job.noise * np.std(clean) * rng.standard_normal(len(clean))
        keep = _kept(len(t), job.dropped, rng)
        times.append(t[keep])
        signals.append(noisy[keep])
    known = tuple(starts) if job.initial == "known" else None
    return Measured(one.order, one.observed, one.force, tuple(times), tuple(signals), known)


def initial_values(one: Problem, n: int) -> list[tuple[float, ...]]:
    """Return the problem's own initial values and n - 1 near them from which it stays bounded.

    Raises:
        GodeError: if there are none.
    """
    found = [one.initial]
    if n == 1:
        return found
    rng = np.random.default_rng(zlib.crc32(one.name.encode()))
    _, u, du, _ = truth(one)
    sizes = [float(np.std(u)), float(np.std(du))][: one.order]
    inputs = None if one.force is None else {"F": one.force}
    for _ in range(MAX_TRIES):
        start = tuple(
            value + SPREAD * size * float(rng.standard_normal())
            for value, size in zip(one.initial, sizes, strict=True)
        )
        solution = solve(one.equation, one.t, start, inputs=inputs)
        if solution.failure is None and np.max(np.abs(solution.u)) <= TOO_LARGE * np.max(np.abs(u)):
            found.append(start)
        if len(found) == n:
            return found
    raise GodeError(f"{one.name} has no {n} bounded solutions near its initial values; ask for fewer runs")


def _with_samples(one: Problem, n: int) -> Problem:
    """Return the problem sampled n times over its span; as it is for n = 0."""
    return replace(one, fs=(n - 0.5) / (one.t1 - one.t0)) if n else one


def _started(one: Problem, start: tuple[float, ...]) -> Problem:
    return one if start == one.initial else replace(one, initial=start, exact=None)


def _kept(n: int, dropped: float, rng: np.random.Generator) -> Bool:
    """Return which samples stay: the first and the last always do."""
    keep = np.ones(n, bool)
    n_dropped = min(round(dropped * n), n - 5)
    keep[rng.permutation(np.arange(1, n - 1))[: max(n_dropped, 0)]] = False
    return keep
