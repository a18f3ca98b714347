"""LatentSpace: a continuous map of a grammar's skeletons, in NumPy alone; and spaces by name.

Every point decodes to a sentence of the grammar: a rule is allowed only if the sentence can still be
closed within the limit. Rules switched off by the caller are respected with the same weights.

The shipped model of systems knows four states of second order. For an equation of fewer states, or of first
order, the rules of what is absent are switched off, and the weights stay valid.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from gode.equation import Node, Skeleton
from gode.equation.tree import STATE, derivative_order, is_other
from gode.errors import EquationError, GrammarError, ModelError, shortened
from gode.files import make_folder, read_bytes, replacing
from gode.grammar import Derivation, Grammar, allowed_rules, generate, grammar_names, load_grammar, sample
from gode.grammar.rules import SUFFIX
from gode.library import FEW, admitted, sentence_skeleton, term_tokens
from gode.model.choices import Plan, padded
from gode.model.inference import (
    GrammarNetwork,
    Network,
    PaperNetwork,
    Single,
    Weights,
    check_shapes,
    greedy,
    sampled,
)
from gode.model.termbook import TermBook

FORMAT = "gode-model-1"
HOTTEST = 1e6  # temperature; at a hundredth of that, rules are already drawn evenly
FARTHEST = 1e6  # coordinates beyond are moved here, where single precision still computes without overflow
KINDS: dict[str, type[GrammarNetwork] | type[PaperNetwork]] = {"gode": GrammarNetwork, "paper": PaperNetwork}
MAX_FILE = 50_000_000
HALF_MAX = 65504.0
CARD: dict[str, type] = {
    "name": str,
    "kind": str,
    "grammar": str,
    "grammar_hash": str,
    "weights_hash": str,
    "shapes": dict,
    "terms": list,
}


@dataclass(frozen=True, eq=False)
class LatentSpace:
    """A grammar and a trained network over it."""

    name: str
    kind: str  # "gode" or "paper"
    grammar: Grammar
    network: Network
    card: dict[str, Any]  # what the JSON card says: sizes, seed, command, figures

    @property
    def dimension(self) -> int:
        """The number of coordinates of a point."""
        return self.network.latent

    @property
    def skeletons(self) -> tuple[Skeleton, ...]:
        """All skeletons of the grammar, where they are listed: not here, they are too many."""
        return ()

    @cached_property
    def plan(self) -> Plan:
        """The choices of the grammar, with the rules that are switched off left out."""
        return Plan(self.grammar, every_step=self.kind == "paper")

    @cached_property
    def book(self) -> TermBook:
        """How the grammar writes the terms of a skeleton."""
        return TermBook(self.grammar, self.card["terms"])

    def without(self, *unwanted: str) -> "LatentSpace":
        """Return the same space over the grammar without some terminals, such as 'log' or 't'."""
        return _without(self, unwanted)

    def encode(self, skeletons: Sequence[Skeleton]) -> Single:
        """Return the points (n, dimension) of some skeletons.

        Raises:
            ModelError: if the grammar cannot write one of them.
        """
        derivations = []
        for skeleton in skeletons:
            derivation = self.book.write(skeleton)
            if derivation is None:
                raise ModelError(
                    f"grammar {self.grammar.name} cannot write {skeleton}; choose another grammar or guess"
                )
            derivations.append(derivation)
        return self.encode_derivations(derivations)

    def encode_derivations(self, derivations: Sequence[Derivation]) -> Single:
        """Return the points (n, dimension) of some derivations.

        Raises:
            ModelError: if one is longer than the grammar's limit.
        """
        limit = self.grammar.limit
        longest = max(map(len, derivations), default=0)
        if longest > limit:
            raise ModelError(f"a derivation has {longest} rules, the limit of {self.name} is {limit}")
        choices = [self.plan.choices(d) for d in derivations]
        width = limit if self.kind == "paper" else None
        return self.network.encode(*padded(choices, len(self.grammar.rules), width))

    def decode_derivations(
        self, z: ArrayLike, *, temperature: float = 0.0, rng: np.random.Generator | None = None
    ) -> list[Derivation]:
        """Return the derivation at each point of `z` (n, dimension); greedy at temperature 0.

        Raises:
            ModelError: if `z` has the wrong shape or is not finite.
        """
        return [self.plan.derivation(row) for row in self._decoded(z, temperature, rng)]

    def decode(
        self, z: ArrayLike, *, temperature: float = 0.0, rng: np.random.Generator | None = None
    ) -> list[Skeleton | None]:
        """Return the skeleton at each point; None for a sentence with a third derivative, or with none."""
        return [self._meaning(self.plan.sentence(row)) for row in self._decoded(z, temperature, rng)]

    def meaning(self, derivation: Derivation) -> Skeleton | None:
        """Return the skeleton a derivation stands for, or None if it is no equation of order 1 or 2."""
        return self._meaning(generate(self.grammar, derivation))

    def _meaning(self, tokens: tuple[str, ...]) -> Skeleton | None:
        differential = "'" in self.grammar.template or any(t == "diff" or "'" in t for t in tokens)
        try:
            return sentence_skeleton(self.grammar, tokens) if differential else None
        except EquationError:  # a third derivative
            return None

    def _decoded(
        self, z: ArrayLike, temperature: float, rng: np.random.Generator | None
    ) -> Iterator[list[int]]:
        """Yield the choices at each point."""
        points = self._points(z)
        if not 0 <= temperature <= HOTTEST or (temperature > 0 and rng is None):
            raise ModelError(
                f"temperature must be 0, or with an rng in (0, {HOTTEST:g}]; got {temperature} "
                f"{'without' if rng is None else 'with'} an rng"
            )
        pick = sampled(temperature, rng) if rng is not None and temperature > 0 else greedy
        rules, lengths = self.network.decode(points, self.plan, pick)
        rows = zip(rules.tolist(), lengths.tolist(), strict=True)
        return (row[:n] for row, n in rows)

    def _points(self, z: ArrayLike) -> Single:
        try:
            points = np.atleast_2d(np.asarray(z, np.float64))
        except (TypeError, ValueError) as error:
            raise ModelError(f"points must be an array of numbers: {error}") from None
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise ModelError(
                f"points of {self.name} have {self.dimension} coordinates, got shape {np.shape(z)}; "
                f"pass an array (n, {self.dimension})"
            )
        if not np.all(np.isfinite(points)):
            raise ModelError("points must be finite; replace NaN and inf")
        return np.clip(points, -FARTHEST, FARTHEST).astype(np.float32)


def model_names() -> list[str]:
    """Return the names of the models that come with the package."""
    home = _home()
    names = (file.name for file in home.iterdir()) if home.is_dir() else ()
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def load_model(name: str | Path) -> LatentSpace:
    """Return a model that comes with the package, by name, or one from a folder's `NAME.json`.

    Raises:
        ModelError: if there is none, or its files do not belong together.
    """
    if str(name) in model_names():
        return _shipped(str(name))
    stem = str(name).removesuffix(".json")
    card, weights = Path(f"{stem}.json"), Path(f"{stem}.safetensors")
    if not os.path.isfile(card):
        known = ", ".join(model_names()) or "none"
        raise ModelError(
            f"there is no model {shortened(str(name), 200)!r}: neither a card {shortened(str(card), 200)} "
            f"nor one that comes with gode, which are {known}; a grammar of your own is named by its file, "
            "such as my.grammar"
        )
    if not os.path.isfile(weights):
        raise ModelError(f"{card} has no weights beside it; expected {weights}")
    content = [
        read_bytes(path, MAX_FILE, smaller="no model of gode is that large", error=ModelError)
        for path in (card, weights)
    ]
    return read_model(content[0], content[1], str(card))


@lru_cache(maxsize=8)  # as many as come with the package: each discovery opens one or two
def _shipped(name: str) -> LatentSpace:
    card_file, weights_file = (_home() / f"{name}{end}" for end in (".json", ".safetensors"))
    return read_model(card_file.read_bytes(), weights_file.read_bytes(), name)


@lru_cache(maxsize=8)  # the terms of a grammar are read once for all discoveries that leave out the same
def _without(space: LatentSpace, unwanted: tuple[str, ...]) -> LatentSpace:
    return replace(space, grammar=space.grammar.without(*unwanted))


def read_model(card_bytes: bytes, weight_bytes: bytes, source: str) -> LatentSpace:
    """Return the model of a card and its weights; `source` names it in errors."""
    card = _card(card_bytes, source)
    try:
        grammar = Grammar.from_text(card["grammar"], source=card["name"])
    except GrammarError as error:
        raise ModelError(f"{source}: the grammar on the card is broken: {error}") from None
    if _digest(grammar.text().encode()) != card["grammar_hash"]:
        raise ModelError(f"{source}: the grammar on the card does not match its hash; get the files again")
    if _digest(weight_bytes) != card["weights_hash"]:
        raise ModelError(
            f"{source}: the weights beside the card are not those it was written for, or are damaged; "
            f"get the files again"
        )
    tensors = _tensors(weight_bytes, source)
    shapes = {key: tuple(value.shape) for key, value in tensors.items()}
    try:
        check_shapes(card["kind"], shapes, len(grammar.rules), len(grammar.nonterminals), grammar.limit)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    return LatentSpace(card["name"], card["kind"], grammar, KINDS[card["kind"]](tensors), card)


def write_model(
    folder: Path, name: str, kind: str, grammar: Grammar, weights: dict[str, Any], facts: dict[str, Any]
) -> None:
    """Write card and weights (in half precision) of a model into `folder`, each in one stroke."""
    wide = {key: np.ascontiguousarray(value, np.float32) for key, value in weights.items()}
    if not all(np.all(np.abs(value) <= HALF_MAX) for value in wide.values()):
        raise ModelError(f"{name}: a weight is not finite or beyond {HALF_MAX:g}; train again")
    content = save_tensors({key: value.astype(np.float16) for key, value in wide.items()})
    card = {
        "format": FORMAT,
        "name": name,
        "kind": kind,
        "grammar": grammar.text(),
        "grammar_hash": _digest(grammar.text().encode()),
        "weights_hash": _digest(content),
        "shapes": {key: list(value.shape) for key, value in wide.items()},
        **facts,
    }
    make_folder(folder)
    for path, data in (
        (folder / f"{name}.safetensors", content),
        (folder / f"{name}.json", (json.dumps(card, indent=1, allow_nan=False) + "\n").encode()),
    ):
        with replacing(path) as draft:
            draft.write_bytes(data)


def _tensors(content: bytes, source: str) -> Weights:
    """Return the tensors of a safetensors file, single precision."""
    try:
        tensors = load_tensors(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{source}: the weights cannot be read ({error}); get the files again") from None
    if not all(v.dtype in (np.float16, np.float32) and np.isfinite(v).all() for v in tensors.values()):
        raise ModelError(f"{source}: the weights hold values that are no finite floats; train again")
    return {key: value.astype(np.float32) for key, value in tensors.items()}


def _card(content: bytes, source: str) -> dict[str, Any]:
    try:
        card = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{source}: the card is not JSON ({error}); get the files again") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ModelError(f"{source}: expected a card of format {FORMAT}; another version of gode wrote it")
    for key, kind in CARD.items():
        if not isinstance(card.get(key), kind):
            raise ModelError(
                f"{source}: the card lacks {key!r}, or it is no {kind.__name__}; get the files again"
            )
    if not all(isinstance(text, str) for text in card["terms"]):
        raise ModelError(f"{source}: the terms on the card must be texts; get the files again")
    if card["kind"] not in KINDS:
        raise ModelError(f"{source}: the card is of kind {card['kind']!r}, known are {', '.join(KINDS)}")
    return card


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _home() -> Any:  # importlib.resources' Traversable
    return files("gode.model") / "weights"


SENTENCES = 5_000  # So many sentences are enumerated; of a larger grammar, sentences are drawn.
LONGEST = 100  # Grammars whose sentences may have more rules are not enumerated.
PATIENCE = 20  # Drawing ends after so many draws without a new skeleton, for each that was found.
FEWEST = 100  # In this rule at least so many count as found.
INPUT = "F"
# The templates of explicit equations by their order, from 1.
EXPLICIT = tuple(f"{STATE}{primes} = {{sentence}}" for primes in ("'", "''"))


@dataclass(frozen=True)
class Listing:
    """A grammar and all of its skeletons, with the interface of a latent space."""

    name: str
    grammar: Grammar
    source: str  # the file, for messages

    dimension = 0

    @cached_property
    def skeletons(self) -> tuple[Skeleton, ...]:
        """All skeletons of the grammar, each once.

        Raises:
            ModelError: if they are too many or none.
        """
        found = all_skeletons(self.grammar, FEW)
        if found is None:
            raise ModelError(
                f"grammar {self.name} writes more than {FEW} different equations, too many to try them all; "
                f"train a model with `gode train {self.source} --out models` and use models/{self.name}, "
                "or allow fewer rules with %limit"
            )
        if not found:
            raise ModelError(
                f"grammar {self.name} writes no equation of order 1 or 2 that holds u; change its rules"
            )
        return found

    @property
    def book(self) -> TermBook:
        """An empty book: only the listed skeletons are used."""
        return TermBook(self.grammar, ())

    def without(self, *unwanted: str) -> "Listing":
        """Return the listing of the grammar without some terminals, such as 'log' or 't'."""
        return Listing(self.name, self.grammar.without(*unwanted), self.source)

    def encode(self, skeletons: Sequence[Skeleton]) -> Single:
        """Raise ModelError: a listing has no points."""
        raise ModelError(f"grammar {self.name} is listed: it has no latent space; train one with gode train")

    def decode(self, z: ArrayLike) -> list[Skeleton | None]:
        """Raise ModelError: a listing has no points."""
        raise ModelError(f"grammar {self.name} is listed: it has no latent space; train one with gode train")


def open_space(name: str) -> LatentSpace | Listing:
    """Return the model called `name`, or the listing of a grammar file.

    A file with the rules of a grammar that comes with gode and other probabilities, as `gode grammar learn`
    writes, opens the model of that grammar; sentences are drawn with the probabilities of the file.

    Raises:
        ModelError, GrammarError: if there is neither, or it is not valid.
    """
    name = str(name)  # any other type is then reported as unknown
    is_model = name in model_names() or os.path.isfile(f"{name.removesuffix('.json')}.json")
    is_grammar = name in grammar_names() or name.endswith(SUFFIX) or os.path.isfile(name)
    if is_model or not is_grammar:
        return load_model(name)
    grammar = load_grammar(name)
    return _trained_on(grammar) or Listing(grammar.name, grammar, name)


@lru_cache(maxsize=16)  # the equations of a system have one order and see as many columns
def equation_space(
    space: LatentSpace | Listing, order: int, columns: tuple[str, ...]
) -> LatentSpace | Listing:
    """Return the part of a space that writes equations of `order` with `columns` alone on the right.

    Args:
        columns: u, v1, v2, ..., their derivatives and F, as far as they are there; any below `order` may be
            written. More than the grammar knows do no harm.

    Raises:
        GrammarError: if no sentence is left.
    """
    grammar = space.grammar
    signals = [name for name in grammar.terminals if name == INPUT or _is_state(name)]
    absent = [name for name in signals if name not in columns or derivative_order(name) >= order]
    template = EXPLICIT[order - 1] if grammar.template in EXPLICIT else grammar.template
    fewer = grammar.without(*absent) if absent else grammar
    return replace(space, grammar=replace(fewer, template=template))


def _trained_on(grammar: Grammar) -> LatentSpace | None:
    """Return the model of the same rules that comes with gode, with the probabilities of `grammar`."""
    for name in set(grammar_names()) & set(model_names()):
        if load_grammar(name).digest() == grammar.digest():
            space = load_model(name)
            same = (space.grammar.digest(), space.grammar.template, space.grammar.limit)
            if same == (grammar.digest(), grammar.template, grammar.limit):
                return replace(space, name=grammar.name, grammar=grammar)
    return None


def all_skeletons(grammar: Grammar, most: int) -> tuple[Skeleton, ...] | None:
    """Return the skeletons of a grammar, each once; None if there are more than `most`.

    Many sentences may stand for few skeletons, as sums have their terms in any order; then sentences are
    drawn until no new skeleton has appeared for long.
    """
    first = list(islice(_derivations(grammar), SENTENCES + 1)) if grammar.limit <= LONGEST else []
    complete = 0 < len(first) <= SENTENCES
    found: dict[Node, Skeleton] = {}
    met: set[object] = set()
    idle = 0
    for derivation in first if complete else _drawn(grammar):
        idle += 1
        if len(found) > most:
            return None
        if not complete and idle > PATIENCE * (len(found) + FEWEST):
            break
        tokens = generate(grammar, derivation)
        terms = tuple(sorted(term_tokens(tokens)))
        if terms in met:
            continue
        met.add(terms)
        key = admitted(grammar, tokens, None)
        if key is not None and key not in found:
            found[key], idle = sentence_skeleton(grammar, tokens), 0
    return tuple(found.values()) if len(found) <= most else None


def _derivations(grammar: Grammar) -> Iterator[Derivation]:
    """Yield every derivation within the grammar's limit."""
    todo: list[tuple[Derivation, tuple[str, ...]]] = [((), (grammar.start,))]
    while todo:
        done, waiting = todo.pop()
        if not waiting:
            yield done
        for rule in reversed(allowed_rules(grammar, waiting, grammar.limit - len(done))):
            opened = reversed(grammar.rules[rule].nonterminals)
            todo.append(((*done, rule), (*waiting[:-1], *opened)))


def _drawn(grammar: Grammar) -> Iterator[Derivation]:
    rng = np.random.default_rng(0)
    while True:
        yield sample(grammar, rng=rng)


def _is_state(name: str) -> bool:
    return name.rstrip("'") == STATE or is_other(name)
