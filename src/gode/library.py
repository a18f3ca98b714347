"""Library: unique skeletons of a wanted order drawn from a grammar, with their derivations.

They may be drawn from another grammar than that of the model that learns them (the paper's B2 and B3 draw
from a probabilistic grammar and model a more general one): derivations are those of the model's grammar.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from struct import error as StructError
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

import numpy as np

from gode.arrays import Int
from gode.equation import Skeleton, parse_tree
from gode.equation.tree import (
    MINUS_ONE,
    STATE,
    Node,
    add,
    depends_on,
    is_other,
    mul,
    renumber,
    variables,
)
from gode.errors import EquationError, FileError, GrammarError
from gode.files import opened, replacing
from gode.grammar import Derivation, Grammar, generate, parse, sample

FORMAT = "gode-library-1"
MAX_UNPACKED = 4_000_000_000  # bytes
# what NumPy and zipfile raise for files that are foreign, truncated or corrupt
UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    RuntimeError,
    BadZipFile,
    ZlibError,
    StructError,
)
PLACE = "sentence_"  # stands for the sentence while a template is read
FEW = 2000  # a grammar of at most this many skeletons needs no model: all are tried
PATIENCE = 200  # draws without a new skeleton, per 100 found, after which a grammar counts as exhausted


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
    """Return the skeleton of a derivation: its sentence in the grammar's template."""
    return sentence_skeleton(grammar, generate(grammar, derivation))


def sentence_skeleton(grammar: Grammar, tokens: tuple[str, ...]) -> Skeleton:
    """Return the skeleton of a sentence in the grammar's template."""
    return _sum_skeleton(grammar.template, tuple(sorted(term_tokens(tokens))))


@lru_cache(maxsize=5_000)  # sentences of a search repeat, up to the order of their terms
def _sum_skeleton(template: str, terms: tuple[tuple[str, tuple[str, ...]], ...]) -> Skeleton:
    signed = [mul(MINUS_ONE, term_tree(term)) if sign == "-" else term_tree(term) for sign, term in terms]
    return Skeleton(renumber(_filled(_frame(template), add(*signed))))


def term_tokens(tokens: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Split a sentence into its terms, each with the sign in front of it."""
    terms: list[tuple[str, tuple[str, ...]]] = []
    depth, start, sign = 0, 0, "+"
    for i, token in enumerate(tokens):
        if token in ("+", "-") and depth == 0 and i > start:
            terms.append((sign, tokens[start:i]))
            start, sign = i + 1, token
        if "(" in token or ")" in token:
            depth += token.count("(") - token.count(")")
    return [*terms, (sign, tokens[start:])]


@lru_cache(maxsize=20_000)  # the sentences of a grammar are made of few different terms
def term_tree(tokens: tuple[str, ...]) -> Node:
    """Return the tree of one term; v1, v2, ... are the other states of a system."""
    others = {token.rstrip("'") for token in tokens if is_other(token)}
    return parse_tree("".join(tokens), states=(STATE, *sorted(others)))


@lru_cache(maxsize=64)
def _frame(template: str) -> Node:
    """Return the tree of a template, with a variable in the place of the sentence."""
    return parse_tree(template.replace("{sentence}", PLACE), inputs=("F", PLACE))


def _filled(frame: Node, sentence: Node) -> Node:
    if frame.value == PLACE:
        return sentence
    if not frame.args:
        return frame
    return Node(frame.op, frame.value, tuple([_filled(arg, sentence) for arg in frame.args]))


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
    """Draw `n` skeletons with different normal forms.

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
    seen: set[int] = set()  # hashes, as fifty thousand trees would fill the memory
    found: list[Derivation] = []
    idle = 0
    while len(found) < n:
        idle += 1
        if idle > PATIENCE * 10 + PATIENCE * len(found) // 100:
            raise GrammarError(_exhausted(source, len(found), n, order))
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


def _exhausted(source: Grammar, found: int, wanted: int, order: int | None) -> str:
    """Return the message for a grammar with too few skeletons."""
    fact = (
        f"grammar {source.name} gives only about {found} different skeletons of order {order or '1 or 2'}, "
        f"{wanted} were wanted"
    )
    if not found:
        return f"{fact}; choose another order or grammar"
    if found <= FEW:
        return f"{fact}; so few need no model: gode discover --grammar FILE tries them all"
    return f"{fact}; ask for {found} or fewer, or allow longer sentences with %limit"


def admitted(grammar: Grammar, tokens: tuple[str, ...], order: int | None) -> Node | None:
    """Return the normal form of a sentence; None if it is no equation of the wanted order in the state.

    An equation of a system may hold other states alone, as u' = v1. Single products, which only say that a
    factor is zero, and derivatives above the second are not admitted.
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
    states = [name for name in names if name.rstrip("'") == STATE or is_other(name)]
    holds_state = any(depends_on(term, name) for term in others for name in states)
    return key if skeleton.order and holds_state else None


def rewrite(model: Grammar, tokens: tuple[str, ...]) -> Derivation | None:
    """Return the derivation of a sentence under another grammar, or None if it has none."""
    try:
        derivation = parse(model, without_idle_parentheses(tokens))
    except GrammarError:
        return None
    return derivation if len(derivation) <= model.limit else None


def without_idle_parentheses(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return `tokens` without parentheses around a whole term: ``a - (b*c)`` is ``a - b*c``."""
    opened: list[tuple[int, bool]] = []  # index, and whether a term begins there
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
    rules = np.array([rule for d in library.derivations for rule in d], np.int16)
    with replacing(path) as draft, draft.open("wb") as file:
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
        with opened(path) as file:
            check_unpacked(file, MAX_UNPACKED, str(path))
            with np.load(file, allow_pickle=False) as stored:
                parts = {key: stored[key] for key in ("format", "name", "grammar", "lengths", "rules")}
    except UNREADABLE as error:
        raise FileError(f"{path} is no library that gode wrote ({error}); draw it anew") from None
    if str(parts["format"]) != FORMAT:
        raise FileError(f"{path} has format {parts['format']}, expected {FORMAT}; draw it anew")
    try:
        grammar = Grammar.from_text(str(parts["grammar"]), source=f"{parts['name']}.grammar")
    except GrammarError as error:
        raise FileError(f"{path} holds no grammar ({error}); draw it anew") from None
    lengths, rules = parts["lengths"], parts["rules"]
    if not _consistent(lengths, rules, len(grammar.rules)):
        raise FileError(f"{path} holds derivations that its grammar does not have; draw it anew")
    stops = np.cumsum(lengths)
    flat, starts = rules.tolist(), (stops - lengths).tolist()
    derivations = tuple(tuple(flat[a:b]) for a, b in zip(starts, stops.tolist(), strict=True))
    return Library(grammar, derivations)


def check_unpacked(file: BinaryIO, most: int, name: str) -> None:
    """Refuse an archive, such as NumPy's .npz, that unpacks to more than `most` bytes; rewind it.

    Raises:
        FileError: if it does.
    """
    with ZipFile(file) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > most:
        raise FileError(f"{name} unpacks to more than {most / 10**6:g} MB, which is the most that is read")
    file.seek(0)


def _consistent(lengths: Int, rules: Int, n_rules: int) -> bool:
    """Tell whether stored derivations are integers in range whose lengths add up."""
    if any(part.ndim != 1 or part.dtype.kind != "i" for part in (lengths, rules)):
        return False
    in_range = bool(np.all((rules >= 0) & (rules < n_rules)))
    return in_range and bool(np.all(lengths > 0)) and int(lengths.sum()) == len(rules)
