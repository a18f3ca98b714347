"""Library: unique skeletons of a wanted order drawn from a grammar, with their derivations.

The grammar they are drawn from may differ from the grammar of the model that is to learn them (the
paper's B2 and B3 draw from a probabilistic grammar and model a looser one): the derivations are those
of the model's grammar.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from gode.equation import Skeleton, parse_tree
from gode.equation.tree import STATE, TIME, Node, depends_on, variables
from gode.errors import EquationError, FileError, GrammarError
from gode.grammar import Derivation, Grammar, generate, parse, sample

FORMAT = "gode-library-1"
PATIENCE = 200  # draws without a new skeleton, per skeleton found, after which a grammar counts as exhausted


@dataclass(frozen=True)
class Library:
    """Derivations under `grammar`, each of a different skeleton."""

    grammar: Grammar
    derivations: tuple[Derivation, ...]

    def __len__(self) -> int:
        return len(self.derivations)

    def skeleton(self, i: int) -> Skeleton:
        """Return skeleton number `i`."""
        return skeleton_of(self.grammar, self.derivations[i])

    def __iter__(self) -> Iterator[Skeleton]:
        return (self.skeleton(i) for i in range(len(self)))


def skeleton_of(grammar: Grammar, derivation: Derivation) -> Skeleton:
    """Return what a derivation means: its sentence, put into the grammar's template."""
    return sentence_skeleton(grammar, generate(grammar, derivation))


def sentence_skeleton(grammar: Grammar, tokens: tuple[str, ...]) -> Skeleton:
    """Return what a sentence means in the grammar's template."""
    return Skeleton(parse_tree(grammar.template.replace("{sentence}", f"({''.join(tokens)})")))


def draw_library(
    source: Grammar,
    n: int,
    *,
    order: int | None,
    rng: np.random.Generator | int,
    model: Grammar | None = None,
    max_rules: int | None = None,
    on_step: Callable[[int], None] | None = None,
) -> Library:
    """Draw `n` skeletons that differ in more than order of terms, merging of constants and overall scale.

    Args:
        order: the wanted order; None takes first and second.
        model: the grammar in which the derivations are written; by default `source`.
        on_step: called with the number found so far, every thousand.

    Raises:
        GrammarError: if the grammar runs out of different skeletons before `n` are found.
    """
    rng = np.random.default_rng(rng)
    model = model or source
    limit = max_rules or source.limit
    seen: set[int] = set()  # hashes: the trees of fifty thousand skeletons would fill the memory
    found: list[Derivation] = []
    idle = 0
    while len(found) < n:
        idle += 1
        if idle > PATIENCE * 10 + PATIENCE * len(found) // 100:
            raise GrammarError(
                f"grammar {source.name} gives only about {len(found)} different skeletons of order "
                f"{order or '1 or 2'}, {n} were wanted; ask for fewer or allow longer sentences"
            )
        derivation = sample(source, rng=rng, max_rules=limit)
        tokens = generate(source, derivation)
        key = admitted(source, tokens, order)
        if key is None or hash(key) in seen:
            continue
        seen.add(hash(key))
        if model is not source:
            rewritten = rewrite(model, tokens)
            if rewritten is None:
                continue
            derivation = rewritten
        found.append(derivation)
        idle = 0
        if on_step and len(found) % 1000 == 0:
            on_step(len(found))
    return Library(model, tuple(found))


def admitted(grammar: Grammar, tokens: tuple[str, ...], order: int | None) -> Node | None:
    """Return the normal form of a sentence, or None if it is no equation worth having.

    Worth having is an equation of the wanted order that holds the state and is not trivial: not a
    single product that vanishes, and no derivative above the second.
    """
    try:
        skeleton = sentence_skeleton(grammar, tokens)
    except EquationError:  # a third derivative
        return None
    key = skeleton.key
    names = variables(key)
    if key.op != "+" or skeleton.highest not in names:
        return None
    if order is not None and skeleton.order != order:
        return None
    others = [term for term in key.args if term.value != skeleton.highest]
    holds_state = any(depends_on(t, n) for t in others for n in names if n.startswith(STATE) and n != TIME)
    return key if skeleton.order and holds_state else None


def rewrite(model: Grammar, tokens: tuple[str, ...]) -> Derivation | None:
    """Return the derivation of a sentence under another grammar, or None if that cannot write it."""
    try:
        derivation = parse(model, without_idle_parentheses(tokens))
    except GrammarError:
        return None
    return derivation if len(derivation) <= model.limit else None


def without_idle_parentheses(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return `tokens` without parentheses around a whole term: ``a - (b*c)`` is ``a - b*c``."""
    opened: list[tuple[int, bool]] = []  # where, and whether a term begins there
    idle: set[int] = set()
    for i, token in enumerate(tokens):
        if token == "(":
            opened.append((i, i == 0 or tokens[i - 1] in "+-"))
        elif token in "+-" and opened:
            opened[-1] = (opened[-1][0], False)
        elif token == ")":
            start, whole = opened.pop()
            if whole and (i + 1 == len(tokens) or tokens[i + 1] in "+-)"):
                idle |= {start, i}
    return tuple(token for i, token in enumerate(tokens) if i not in idle)


def save_library(library: Library, path: Path) -> None:
    """Write a library to `path`, without pickle."""
    lengths = np.array([len(d) for d in library.derivations], np.int32)
    rules = np.concatenate([np.array(d, np.int16) for d in library.derivations])
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            format=np.array(FORMAT),
            name=np.array(library.grammar.name),
            grammar=np.array(library.grammar.text()),
            lengths=lengths,
            rules=rules,
        )


def load_library(path: Path) -> Library:
    """Read a library that `save_library` wrote.

    Raises:
        FileError: if the file is missing or not such a library.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            parts = {key: stored[key] for key in ("format", "name", "grammar", "lengths", "rules")}
    except (OSError, ValueError, KeyError, BadZipFile, EOFError) as error:
        raise FileError(f"{path} is no library that gode wrote ({error}); draw it anew") from None
    if str(parts["format"]) != FORMAT:
        raise FileError(f"{path} has format {parts['format']}, expected {FORMAT}; draw it anew")
    grammar = Grammar.from_text(str(parts["grammar"]), source=str(parts["name"]))
    stops = np.cumsum(parts["lengths"])
    rules = parts["rules"].tolist()
    starts = (stops - parts["lengths"]).tolist()
    derivations = tuple(tuple(rules[a:b]) for a, b in zip(starts, stops.tolist(), strict=True))
    return Library(grammar, derivations)
