"""Training data of a network: the arrays of a library, saved and loaded without torch."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.equation import Skeleton
from gode.files import opened
from gode.library import MAX_UNPACKED, Library, check_unpacked
from gode.model.plan import Plan, padded


@dataclass(frozen=True)
class Corpus:
    """Choice sequences, padded at the end, and the behaviour of their skeletons (n, m), or (0, 0)."""

    rules: Int  # (n, time)
    heads: Int  # (n, time)
    lengths: Int
    allowed: Bool  # (heads, rules)
    held_out: Bool  # (n,) never trained on
    behaviour: Float = field(default_factory=lambda: np.zeros((0, 0)))


def make_corpus(library: Library, held_out: Bool, behaviour: Float | None = None) -> Corpus:
    """Return a library's derivations as padded choice sequences."""
    plan = Plan(library.grammar)
    rules, lengths = padded([plan.choices(d) for d in library.derivations], 0)
    nothing = np.zeros((0, 0))
    extra = nothing if behaviour is None else behaviour
    return Corpus(rules, plan.heads[rules], lengths, plan.allowed, held_out, extra)


def is_held_out(skeleton: Skeleton) -> bool:
    """Tell whether a skeleton is held out: a twentieth, by hash, is never used in training."""
    return hashlib.blake2b(str(skeleton).encode(), digest_size=8).digest()[0] % 20 == 0


def save_corpus(corpus: Corpus, path: Path) -> None:
    """Write a corpus to a compressed file."""
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            rules=corpus.rules.astype(np.int16),
            heads=corpus.heads.astype(np.int16),
            lengths=corpus.lengths,
            allowed=corpus.allowed,
            held_out=corpus.held_out,
            behaviour=corpus.behaviour.astype(np.float16),
        )


def load_corpus(path: Path) -> Corpus:
    """Read what `save_corpus` wrote."""
    with opened(path) as file:
        check_unpacked(file, MAX_UNPACKED, str(path))
        with np.load(file, allow_pickle=False) as stored:
            rules, heads = (stored[k].astype(np.int64) for k in ("rules", "heads"))
            behaviour = stored["behaviour"].astype(np.float64)
            return Corpus(rules, heads, stored["lengths"], stored["allowed"], stored["held_out"], behaviour)
