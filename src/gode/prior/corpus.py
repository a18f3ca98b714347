"""Corpora of laws: text files of equations with their fields and names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from gode.equation import SystemSkeleton, parse_system
from gode.equation.operators import FUNCTIONS
from gode.errors import EquationError, FileError
from gode.files import read_text
from gode.grammar.rules import MAX_BYTES

NAME = re.compile(r"[A-Za-z_]\w*")
RESERVED = frozenset({"C", "t", "pi", "sqrt", "diff", *FUNCTIONS})


@dataclass(frozen=True)
class KnownLaw:
    """A law that people use."""

    field: str
    name: str
    skeleton: SystemSkeleton  # a scalar equation is a system of one state

    @property
    def n_inputs(self) -> int:
        """How many known inputs it has."""
        return len(self.skeleton.inputs)


def read_corpus(text: str, source: str) -> tuple[KnownLaw, ...]:
    """Return the laws in `text`; `source` names it in errors.

    A line in square brackets opens a field; every other line is `name: equation; equation ...`.

    Raises:
        FileError: with the line and the reason, if a line is no law.
    """
    laws: list[KnownLaw] = []
    field = "all"
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            field = line[1:-1].strip()
            continue
        name, colon, equations = line.rpartition(":")
        try:
            laws.append(KnownLaw(field, name.strip() if colon else f"law {number}", _law(equations)))
        except EquationError as error:
            raise FileError(
                f"{source}, line {number}: {error}\nwrite name: equation; equation, such as "
                "decay: a' = C*a; b' = C*a, or a field in square brackets"
            ) from None
    if not laws:
        raise FileError(f"{source} holds no law; write one on each line, such as cooling: T' = C*(F - T)")
    return tuple(laws)


def load_corpus(path: str | Path) -> tuple[KnownLaw, ...]:
    """Return the laws in the file at `path`.

    Raises:
        FileError: if it cannot be read or is no corpus.
    """
    return read_corpus(read_text(path, MAX_BYTES), str(path))


@lru_cache(maxsize=1)
def known_laws() -> tuple[KnownLaw, ...]:
    """Return the laws that come with gode."""
    return read_corpus(known_text(), "laws.txt")


def known_text() -> str:
    """Return the text of the laws that come with gode."""
    return (files("gode.prior") / "laws.txt").read_text(encoding="utf-8")


def fields(laws: Sequence[KnownLaw]) -> tuple[str, ...]:
    """Return the fields of some laws, in their order."""
    return tuple(dict.fromkeys(law.field for law in laws))


def _law(equations: str) -> SystemSkeleton:
    """Return the system written in a line; names without an equation of their own are inputs."""
    texts = [text.strip() for text in equations.split(";") if text.strip()]
    return parse_system(texts, inputs=_inputs(texts))


def _inputs(texts: Sequence[str]) -> tuple[str, ...]:
    names = dict.fromkeys(name for text in texts for name in NAME.findall(text))
    states = {name for text in texts for name in re.findall(r"([A-Za-z_]\w*)['′]", text)}
    found = [name for name in names if name not in RESERVED and name not in states]
    return tuple(sorted(found, key=lambda name: name != "F"))  # F is the first input, if there is one
