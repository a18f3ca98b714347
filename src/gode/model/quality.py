"""Quality of a latent space: reconstruction, validity, coverage, locality; and what skeletons can express.

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
from gode.errors import GrammarError, ModelError
from gode.grammar import Derivation, generate
from gode.library import Library
from gode.model.inference import Single
from gode.model.latent import LatentSpace
from gode.model.termbook import bodies_of

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


STEPS = (0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Quality:
    """The figures of a latent space, each a share unless it says otherwise."""

    exact: float  # unseen skeletons whose encoding decodes to themselves
    valid: float  # points of the prior that decode to a sentence of the grammar within its limit
    solvable: float  # points whose sentence is an equation of order 1 or 2: the paper's grammars write others
    unique: float  # different skeletons among all those points
    novel: float  # of those, the share that was not in the training library
    locality: dict[str, float]  # mean number of terms that differ after a step of that length
    random_pair: float  # the same for two random points of the prior
    behaviour: float  # rank correlation of latent and behavioural distance
    covered: float  # truths that the grammar can write and the space reproduces
    expressible: int  # truths that the grammar can write


def check(
    space: LatentSpace,
    library: Library,
    unseen: Library,
    truths: Sequence[Skeleton],
    *,
    n_prior: int = 5000,
    rng: np.random.Generator,
) -> Quality:
    """Return the figures of `space`, trained on `library`; `unseen` are skeletons of the same kind.

    Raises:
        ModelError: if there are no unseen skeletons.
    """
    if not len(unseen):
        raise ModelError(f"no skeleton is left that {space.name} was not trained on; nothing can be measured")
    points = rng.standard_normal((n_prior, space.dimension)).astype(np.float32)
    derivations = space.decode_derivations(points)
    samples = [space.meaning(d) for d in derivations]
    keys = {s.key for s in samples if s is not None}
    seen = {hash(s.key) for s in library}
    locality, random_pair = _locality(space, points[:1000], rng)
    written = [d for truth in truths if (d := space.book.write_freed(truth)) is not None]
    return Quality(
        exact=exact_share(space, unseen),
        valid=sum(_is_sentence(space, d) for d in derivations) / n_prior,
        solvable=sum(s is not None for s in samples) / n_prior,
        unique=len(keys) / n_prior,
        novel=sum(hash(k) not in seen for k in keys) / max(len(keys), 1),
        locality=locality,
        random_pair=random_pair,
        behaviour=_behaviour(space, unseen, rng),
        covered=exact_share(space, Library(space.grammar, tuple(written))),
        expressible=len(written),
    )


def exact_share(space: LatentSpace, library: Library) -> float:
    """Return the share of a library whose encodings decode to the same skeleton; 1 for an empty one."""
    if not len(library):
        return 1.0
    derivations = space.decode_derivations(space.encode_derivations(library.derivations))
    pairs = zip(library.derivations, derivations, strict=True)
    same = sum(a == b or _same(space, a, b) for a, b in pairs)
    return same / len(library)


def term_distance(a: Skeleton, b: Skeleton) -> int:
    """Return how many terms must be added, deleted or swapped to turn one skeleton into the other."""
    mine, yours = bodies_of(a.key), bodies_of(b.key)
    return max(len(mine - yours), len(yours - mine))


def _is_sentence(space: LatentSpace, derivation: Derivation) -> bool:
    active = space.grammar.active
    if len(derivation) > space.grammar.limit or not all(active[rule] for rule in derivation):
        return False
    try:
        return bool(generate(space.grammar, derivation))
    except GrammarError:
        return False


def _same(space: LatentSpace, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    one, other = space.meaning(a), space.meaning(b)
    return one is not None and one == other


def _meanings(space: LatentSpace, points: Single) -> list[Skeleton | None]:
    return [space.meaning(d) for d in space.decode_derivations(points)]


def _locality(space: LatentSpace, points: Single, rng: np.random.Generator) -> tuple[dict[str, float], float]:
    here = _meanings(space, points)
    away = rng.standard_normal(points.shape)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    local = {}
    for step in STEPS:
        shift = step * np.sqrt(space.dimension) * away
        local[str(step)] = _mean_distance(here, _meanings(space, points + shift.astype(np.float32)))
    return local, _mean_distance(here, [*here[1:], here[0]])


def _mean_distance(some: Sequence[Skeleton | None], others: Sequence[Skeleton | None]) -> float:
    pairs = [(a, b) for a, b in zip(some, others, strict=True) if a is not None and b is not None]
    return sum(term_distance(a, b) for a, b in pairs) / max(len(pairs), 1)


def _behaviour(space: LatentSpace, unseen: Library, rng: np.random.Generator) -> float:
    skeletons = list(unseen)
    shares = behaviour_of(skeletons, make_probe(skeletons, rng=rng))
    z = space.encode_derivations(unseen.derivations)
    i, j = rng.integers(len(skeletons), size=(2, 5000))
    near = np.linalg.norm(z[i] - z[j], axis=1), np.linalg.norm(shares[i] - shares[j], axis=1)
    if any(np.ptp(x) == 0 for x in near):
        return 0.0
    return float(np.corrcoef(_ranks(near[0]), _ranks(near[1]))[0, 1])


def _ranks(x: Float) -> Float:
    """Return the rank of each value; ties share their mean rank."""
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])
