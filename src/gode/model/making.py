"""Making a model: draw a library, train, write; an interrupted call resumes from the files it left.

The quality of its latent space is reconstruction, validity, coverage and locality, and what skeletons can
express. A skeleton is a family of functions of t, u, u', u'' and known signals. On a fixed cloud of points
its terms, at a few values of their inner constants, span a subspace; the descriptor holds the share of each
test function that lies in it. Skeletons with similar descriptors fit the same data well, however different
their texts; a latent space in which they are close is easier to search.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gode.arrays import Float
from gode.equation import Skeleton
from gode.equation.interpreter import run_tape, workspace
from gode.equation.tape import COLUMNS, compile_tape
from gode.equation.tree import derivative_order
from gode.errors import ConfigError, FileError, GrammarError, ModelError, shortened
from gode.files import make_folder
from gode.grammar import Derivation, Grammar, generate, sample
from gode.library import Library, admitted, draw_library, load_library, rewrite, save_library, skeleton_of
from gode.model.choices import Corpus, is_held_out, make_corpus
from gode.model.inference import Single
from gode.model.latent import LatentSpace, load_model, write_model
from gode.model.termbook import bodies_of, make_book

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


Show = Callable[[str, float, str], None]
RECIPE = {"source", "source_name", "order", "size", "latent", "epochs", "seed"}
N_UNSEEN = 1000  # skeletons, never trained on, by which a model is measured
LONGEST = 200  # bytes of a name: file names made of it stay below the usual limit of 255
DRAWS_PER_UNSEEN = 2000  # at most: 1 in 20 is held out, and most of a small grammar is in the library


@dataclass(frozen=True, kw_only=True)
class Making:
    """What a model is made from."""

    name: str
    grammar: Grammar
    source: Grammar  # the grammar the library is drawn from
    order: int | None
    size: int
    latent: int
    epochs: int
    seed: int

    def __post_init__(self) -> None:
        if self.size < 100:
            raise ConfigError(
                f"a library of {self.size} skeletons teaches nothing; ask for 100 or more; if the grammar "
                "has fewer, do without a model: gode discover --grammar FILE tries them all"
            )
        if self.latent < 1 or self.epochs < 1 or self.seed < 0:
            raise ConfigError(
                f"latent and epochs must be at least 1 and seed at least 0, "
                f"got {self.latent}, {self.epochs} and {self.seed}"
            )
        if not self.name or Path(self.name).name != self.name or len(self.name.encode()) > LONGEST:
            raise ConfigError(
                f"a model's name becomes a file's name, which {shortened(self.name)!r} cannot be"
            )

    def recipe(self) -> dict[str, Any]:
        """Return everything that decides the result, for the card."""
        texts = {
            "source": self.source.text(),
            "source_name": self.source.name,
            "grammar": self.grammar.text(),
        }
        numbers = {k: getattr(self, k) for k in ("order", "size", "latent", "epochs", "seed")}
        return {**texts, **numbers}

    def digest(self) -> str:
        """Return a short name for the recipe."""
        return hashlib.sha256(json.dumps(self.recipe(), sort_keys=True).encode()).hexdigest()[:12]


def make_model(making: Making, folder: Path, *, device: str, on_step: Show | None = None) -> dict[str, float]:
    """Draw the library, train the network, write the model into `folder`; return its figures.

    Finished steps are kept in `folder`; the same call resumes from there.
    """
    try:
        from gode.model.training import train_resumable  # torch is needed from here on
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"training needs {error.name}; install it with: pip install gode-engine[train]"
        ) from None

    show = on_step or (lambda stage, done, words: None)
    make_folder(folder)
    library = _library(making, folder, show)
    corpus = _corpus(library, making.seed, show)
    part = folder / f"{making.name}.{making.digest()}.part"
    weights, epochs = train_resumable(
        corpus,
        part,
        latent=making.latent,
        epochs=making.epochs,
        seed=making.seed,
        device=device,
        on_step=show,
    )
    figures = {
        "exact_held_out": max(e.exact for e in epochs),
        "seconds": epochs[-1].seconds,
        "epochs": len(epochs),
    }
    recipe = making.recipe()
    facts = {
        "recipe": {k: recipe[k] for k in recipe if k != "grammar"},
        "figures": figures,
        "epochs": [asdict(e) for e in epochs],
        "terms": make_book(making.grammar, library.derivations),
    }
    write_model(folder, making.name, "gode", making.grammar, weights, facts)
    pairs = zip(library.derivations, corpus.held_out, strict=True)
    unseen = Library(library.grammar, tuple(d for d, out in pairs if out)[:N_UNSEEN])
    figures["exact"] = exact_share(load_model(folder / making.name), unseen)
    write_model(folder, making.name, "gode", making.grammar, weights, facts)
    part.unlink(missing_ok=True)
    return figures


def check_model(space: LatentSpace, truths: Sequence[Skeleton], *, rng: np.random.Generator) -> Quality:
    """Return the figures of a model; its training library is drawn again, to know what is unseen."""
    recipe = space.card.get("recipe")
    if not isinstance(recipe, dict) or not recipe.keys() >= RECIPE:
        raise FileError(f"the card of {space.name} does not say how the model was made; train it again")
    source = Grammar.from_text(recipe["source"], source=recipe["source_name"])
    library = draw_library(
        source,
        recipe["size"],
        order=recipe["order"],
        rng=recipe["seed"],
        model=space.grammar,
        max_rules=recipe.get("max_rules"),
    )
    unseen = unseen_library(library, source, recipe["order"], N_UNSEEN, rng=rng)
    return check(space, library, unseen, truths, rng=rng)


def unseen_library(
    library: Library, source: Grammar, order: int | None, n: int, *, rng: np.random.Generator
) -> Library:
    """Return skeletons of the same kind as those of `library`, held out and none of them in it.

    They are `n`, or fewer if the grammar has not so many.
    """
    model = library.grammar
    seen = {hash(skeleton.key) for skeleton in library}
    found: list[Derivation] = []
    for _ in range(DRAWS_PER_UNSEEN * n):
        tokens = generate(source, sample(source, rng=rng))
        key = admitted(source, tokens, order)
        if key is None or hash(key) in seen:
            continue
        seen.add(hash(key))
        derivation = rewrite(model, tokens) if is_held_out(Skeleton(key)) else None
        if derivation is not None and is_held_out(skeleton_of(model, derivation)):
            found.append(derivation)
        if len(found) == n:
            break
    return Library(model, tuple(found))


def _library(making: Making, folder: Path, show: Show) -> Library:
    path = folder / f"{making.name}.{making.digest()}.library.npz"
    if path.is_file():
        return load_library(path)
    library = draw_library(
        making.source,
        making.size,
        order=making.order,
        rng=making.seed,
        model=making.grammar,
        on_step=lambda n: show("drawing skeletons", n / making.size, f"{n} of {making.size}"),
    )
    save_library(library, path)
    return library


def _corpus(library: Library, seed: int, show: Show) -> Corpus:
    show("measuring behaviour", 0.0, "")
    skeletons = list(library)
    probe = make_probe(skeletons, rng=np.random.default_rng(seed + 1))
    held = np.array([is_held_out(s) for s in skeletons])
    return make_corpus(library, held, behaviour_of(skeletons, probe))
