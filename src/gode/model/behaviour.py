"""Behaviour descriptors: the share of each of some test functions that a skeleton can express.

A skeleton is a family of functions of t, u, u', u'' and known signals. On a fixed cloud of points its terms,
at a few values of their inner constants, span a subspace; the descriptor holds the share of each test
function that lies in it. Skeletons with similar descriptors fit the same data well, however different their
texts; a latent space in which they are close is easier to search.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.equation import Skeleton
from gode.equation.interpreter import run_tape, workspace
from gode.equation.tape import COLUMNS, compile_tape
from gode.equation.tree import derivative_order

INPUT = "F"
N_POINTS = 96
N_TESTS = 64
N_DRAWS = 2  # values of the inner constants
DEPENDENT = 1e-6  # singular values below this share of the largest are rounding error
LARGEST = 1e12  # values beyond count as not finite
MAX_TRIES = 100 * N_TESTS


@dataclass(frozen=True)
class Probe:
    """Points (columns, n), test functions (tests, n) on them, and draws of the inner constants."""

    points: Float
    tests: Float
    draws: Float  # (draws, 16)
    names: tuple[str, ...] = (*COLUMNS, INPUT)  # of the columns


def make_probe(skeletons: Sequence[Skeleton], *, rng: np.random.Generator) -> Probe:
    """Return a probe whose test functions are random combinations of terms of `skeletons`."""
    u, t = rng.uniform(0.2, 2.5, N_POINTS), rng.uniform(0.3, 5.0, N_POINTS)
    rates = rng.normal(0.0, 1.0, (3, N_POINTS))
    others = sorted({name for s in skeletons for name in s.inputs} - {INPUT})
    signals = [_signal(name, own) for name, own in zip(others, rng.spawn(len(others)), strict=True)]
    points, names = np.vstack([t, u, rates, *signals]), (*COLUMNS, INPUT, *others)
    draws = np.exp(rng.normal(0.0, 0.5, (N_DRAWS, 16))) * rng.choice([-1.0, 1.0, 1.0], (N_DRAWS, 16))
    bare = Probe(points, np.zeros((0, N_POINTS)), draws, names)
    tests: list[Float] = []
    tries = 0
    while len(tests) < N_TESTS:
        tries += 1
        terms = _terms(skeletons[int(rng.integers(len(skeletons)))], bare) if tries <= MAX_TRIES else None
        if terms is not None:
            mixed = rng.normal(size=len(terms)) @ (terms / np.linalg.norm(terms, axis=1, keepdims=True))
            tests.append(mixed / np.linalg.norm(mixed))
        elif tries > MAX_TRIES:  # hardly any skeleton has finite terms: use noise
            noise = rng.normal(size=N_POINTS)
            tests.append(noise / np.linalg.norm(noise))
    return Probe(points, np.array(tests), draws, names)


def _signal(name: str, rng: np.random.Generator) -> Float:
    """Return values of another state of a system, in the range of u, or of its derivative."""
    return rng.normal(0.0, 1.0, N_POINTS) if derivative_order(name) else rng.uniform(0.2, 2.5, N_POINTS)


def behaviour_of(skeletons: Iterable[Skeleton], probe: Probe) -> Float:
    """Return (skeletons, tests): the share of each test function that a skeleton can express."""
    return np.array([_shares(skeleton, probe) for skeleton in skeletons])


def _shares(skeleton: Skeleton, probe: Probe) -> Float:
    terms = _terms(skeleton, probe)
    if terms is None:
        return np.zeros(len(probe.tests))
    unit = terms / np.linalg.norm(terms, axis=1, keepdims=True)
    left, sizes, _ = np.linalg.svd(unit.T, full_matrices=False)
    basis = left[:, sizes > DEPENDENT * sizes[0]]
    return np.asarray(np.minimum(((probe.tests @ basis) ** 2).sum(axis=1), 1.0))


def _terms(skeleton: Skeleton, probe: Probe) -> Float | None:
    """Return the values of all terms at every draw; None if one is not finite."""
    tape = compile_tape(skeleton.terms, probe.names, skeleton.n_constants)
    n_draws = len(probe.draws) if len(tape.nonlinear) else 1
    x = np.ascontiguousarray(probe.points)
    work = workspace(len(tape.multiplier), tape.depth, 0, x.shape[1])
    none = np.full(tape.n_constants, -1, np.int64)
    rows = []
    for draw in probe.draws[:n_draws]:
        c = np.ones(tape.n_constants)
        c[tape.nonlinear] = np.resize(draw, len(tape.nonlinear))
        ok = run_tape(tape, c, x, none, np.full(len(x), -1, np.int64), tape.multiplier, work)
        size = np.abs(work.values).max(axis=1)
        if not ok or not np.all((size > 1 / LARGEST) & (size < LARGEST)):
            return None
        rows.append(work.values.copy())
    return np.vstack(rows)
