"""The prior learned from the laws that come with gode, kept in a file: learning takes longer than a fit.

After a change of the laws, or of how priors are learned from them: python scripts/learn_prior.py
"""

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from importlib.resources import files
from typing import Any, TypeVar

from gode.equation import Node
from gode.prior.composition import Composition
from gode.prior.corpus import known_text
from gode.prior.model import Counts, Prior, Smoothing, Tally

FILE = "learned.json"
Key = TypeVar("Key")


def kept_prior() -> Prior | None:
    """Return the prior in the file, None if that was not learned from these laws."""
    try:
        kept = json.loads((files("gode.prior") / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return _from_json(kept) if kept["laws"] == _mark() else None


def prior_text(prior: Prior) -> str:
    """Return what the file holds of a prior."""
    own, composed = prior.counts, prior.composition
    counts = {name: list(tally.items()) for name, tally in vars(own).items()}
    shapes = list(composed.shapes.items())
    events = {table: dict(sorted(outcomes.items())) for table, outcomes in sorted(composed.counts.items())}
    values = {"laws": _mark(), "counts": counts, "events": events, "shapes": shapes}
    return json.dumps(values, separators=(",", ":")) + "\n"


def _from_json(kept: dict[str, Any]) -> Prior:
    counts = Counts(
        equations=_tally(kept["counts"]["equations"], tuple),
        implicit=_tally(kept["counts"]["implicit"], int),
        sizes=_tally(kept["counts"]["sizes"], lambda key: (tuple(key[0]), key[1])),
        terms=_tally(kept["counts"]["terms"], lambda key: (tuple(key[0]), (_node(key[1][0]), key[1][1]))),
        leads=_tally(kept["counts"]["leads"], tuple),
    )
    shapes = {_node(shape): count for shape, count in kept["shapes"]}
    smoothing = Smoothing()
    return Prior(counts, Composition(kept["events"], shapes, smoothing.events, smoothing.copying), smoothing)


def _tally(pairs: Iterable[tuple[Any, float]], key_of: Callable[[Any], Key]) -> Tally[Key]:
    return Tally({key_of(key): count for key, count in pairs})


def _node(kept: list[Any]) -> Node:
    op, value, args = kept
    return Node(op, value, tuple(map(_node, args)))


def _mark() -> str:
    return sha256(known_text().encode()).hexdigest()
