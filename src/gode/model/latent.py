"""LatentSpace: a continuous map of a grammar's skeletons, in NumPy alone.

Every point decodes to a sentence of the grammar: a rule is allowed only if the sentence can still be
closed within the limit. Rules switched off by the caller are respected with the same weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from gode.equation import Skeleton
from gode.errors import EquationError, GrammarError, ModelError
from gode.grammar import Derivation, Grammar, generate
from gode.library import sentence_skeleton
from gode.model.inference import GrammarNetwork, Network, PaperNetwork, Single, greedy, sampled
from gode.model.plan import Plan, padded
from gode.model.terms import TermBook

FORMAT = "gode-model-1"
KINDS: dict[str, type[GrammarNetwork] | type[PaperNetwork]] = {"gode": GrammarNetwork, "paper": PaperNetwork}
MAX_FILE = 50_000_000


@dataclass(frozen=True)
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
    def plan(self) -> Plan:
        """The choices of the grammar, with the rules that are switched off left out."""
        return Plan(self.grammar)

    def without(self, *unwanted: str) -> "LatentSpace":
        """Return the same space over the grammar without some terminals, such as 'log' or 't'."""
        return replace(self, grammar=self.grammar.without(*unwanted))

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
        """Return the points (n, dimension) of some derivations."""
        fill = len(self.grammar.rules)
        if self.kind == "paper":
            rules, lengths = padded(derivations, fill, self.grammar.limit)
        else:
            rules, lengths = padded([self.plan.choices(d) for d in derivations], fill)
        return self.network.encode(rules, lengths)

    def decode_derivations(
        self, z: ArrayLike, *, temperature: float = 0.0, rng: np.random.Generator | None = None
    ) -> list[Derivation]:
        """Return the derivation at each point of `z` (n, dimension); greedy at temperature 0.

        Raises:
            ModelError: if `z` has the wrong shape or is not finite.
        """
        points = self._points(z)
        if temperature < 0 or (temperature > 0 and rng is None):
            raise ModelError(f"temperature must be 0, or positive with an rng; got {temperature}")
        pick = sampled(temperature, rng) if rng is not None and temperature > 0 else greedy
        plan = self.plan if self.kind == "gode" else FullPlan(self.grammar)
        rules, lengths = self.network.decode(points, plan, pick)
        rows = [row[:n].tolist() for row, n in zip(rules, lengths, strict=True)]
        return [plan.derivation(row) for row in rows]

    def decode(
        self, z: ArrayLike, *, temperature: float = 0.0, rng: np.random.Generator | None = None
    ) -> list[Skeleton | None]:
        """Return the skeleton at each point of `z`; see `decode_derivations`.

        None stands for a sentence of the grammar that is no equation gode solves: some grammars of the
        paper can write third derivatives.
        """
        derivations = self.decode_derivations(z, temperature=temperature, rng=rng)
        return [self.meaning(derivation) for derivation in derivations]

    def meaning(self, derivation: Derivation) -> Skeleton | None:
        """Return the skeleton a derivation stands for, or None if it is no equation of order 1 or 2."""
        try:
            return sentence_skeleton(self.grammar, generate(self.grammar, derivation))
        except EquationError:
            return None

    @property
    def book(self) -> TermBook:
        """How the grammar writes the terms of a skeleton."""
        return TermBook(self.grammar, self.card["terms"])

    def _points(self, z: ArrayLike) -> Single:
        points = np.atleast_2d(np.asarray(z, np.float32))
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise ModelError(
                f"points of {self.name} have {self.dimension} coordinates, got shape {np.shape(z)}; "
                f"pass an array (n, {self.dimension})"
            )
        if not np.all(np.isfinite(points)):
            raise ModelError("points must be finite; replace NaN and inf")
        return points


class FullPlan(Plan):
    """A plan in which forced steps are steps too, as the paper's network writes them."""

    @property
    def forced(self) -> dict[int, int]:
        """No symbol is forced."""
        return {}


def model_names() -> list[str]:
    """Return the names of the models that come with the package."""
    return sorted(f.name.removesuffix(".json") for f in _home().iterdir() if f.name.endswith(".json"))


def load_model(name: str | Path) -> LatentSpace:
    """Return a model that comes with the package, by name, or one from a folder's `NAME.json`.

    Raises:
        ModelError: if there is none, or its files do not belong together.
    """
    if str(name) in model_names():
        card_file, weights_file = (_home() / f"{name}{end}" for end in (".json", ".safetensors"))
        return read_model(card_file.read_bytes(), weights_file.read_bytes(), str(name))
    path = Path(name).with_suffix(".json")
    if not path.is_file():
        known = ", ".join(model_names())
        raise ModelError(f"there is no model {str(name)!r}: neither a card {path} nor one of {known}")
    weights = path.with_suffix(".safetensors")
    if not weights.is_file():
        raise ModelError(f"{path} has no weights beside it; expected {weights}")
    if max(path.stat().st_size, weights.stat().st_size) > MAX_FILE:
        raise ModelError(f"{path} or its weights are larger than {MAX_FILE} bytes: no model of gode is")
    return read_model(path.read_bytes(), weights.read_bytes(), str(path))


def read_model(card_bytes: bytes, weight_bytes: bytes, source: str) -> LatentSpace:
    """Return the model of a card and its weights; `source` names it in errors."""
    card = _card(card_bytes, source)
    try:
        grammar = Grammar.from_text(card["grammar"], source=card["name"])
    except GrammarError as error:
        raise ModelError(f"{source}: the grammar on the card is broken: {error}") from None
    if grammar.digest() != card["grammar_hash"]:
        raise ModelError(f"{source}: the grammar on the card does not match its hash; get the files again")
    try:
        tensors = load_tensors(weight_bytes)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelError(f"{source}: the weights cannot be read ({error}); get the files again") from None
    shapes = {key: list(value.shape) for key, value in tensors.items()}
    if shapes != card["shapes"]:
        raise ModelError(f"{source}: the weights have other shapes than the card says; get the files again")
    if not all(np.isfinite(v.astype(np.float32)).all() for v in tensors.values()):
        raise ModelError(f"{source}: the weights hold values that are not finite; train again")
    network = KINDS[card["kind"]](tensors)
    if network.n_rules != len(grammar.rules):
        raise ModelError(
            f"{source}: the network knows {network.n_rules} rules, the grammar has {len(grammar.rules)}"
        )
    return LatentSpace(card["name"], card["kind"], grammar, network, card)


def write_model(
    folder: Path, name: str, kind: str, grammar: Grammar, weights: dict[str, Any], facts: dict[str, Any]
) -> None:
    """Write card and weights (in half precision) of a model into `folder`, each in one stroke."""
    half = {key: np.ascontiguousarray(value, np.float16) for key, value in weights.items()}
    card = {
        "format": FORMAT,
        "name": name,
        "kind": kind,
        "grammar": grammar.text(),
        "grammar_hash": grammar.digest(),
        "shapes": {key: list(value.shape) for key, value in half.items()},
        **facts,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in (
        (folder / f"{name}.safetensors", save_tensors(half)),
        (folder / f"{name}.json", (json.dumps(card, indent=1) + "\n").encode()),
    ):
        draft = path.with_name(path.name + ".part")
        draft.write_bytes(content)
        draft.replace(path)


def _card(content: bytes, source: str) -> dict[str, Any]:
    try:
        card = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{source}: the card is not JSON ({error}); get the files again") from None
    wanted = {"format": str, "name": str, "kind": str, "grammar": str, "grammar_hash": str, "shapes": dict}
    wanted["terms"] = list
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ModelError(f"{source}: expected a card of format {FORMAT}; another version of gode wrote it")
    for key, kind in wanted.items():
        if not isinstance(card.get(key), kind):
            raise ModelError(
                f"{source}: the card lacks {key!r}, or it is no {kind.__name__}; get the files again"
            )
    if card["kind"] not in KINDS:
        raise ModelError(f"{source}: the card is of kind {card['kind']!r}, known are {', '.join(KINDS)}")
    return card


def _home() -> Any:  # importlib.resources' Traversable
    return files("gode.model") / "weights"
