"""Derivatives as people write them, in primes: d/dt(x), dx/dt, x_t and Newton's dots become x'.

Texts are rewritten before they are read, so that messages show what was understood, with the caret in it.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

NAME = r"[A-Za-z_]\w*"
SQUARED = r"\s*(?:\^|\*\*)?\s*[2²]"
OF_TIME = r"(?:\s*\(\s*t\s*\))?"
DOTS = {"\u0307": "'", "\u0308": "''"}  # combining marks: a dot, and two
SEEN = re.compile(r"_tt?(?!\w)|/\s*dt|[^\x00-\x7f]")  # in a text that may hold any of this
DERIVATIVE = re.compile(r"'|′|(?<!\w)diff\s*\(")
# d/dt(x) and dx/dt, each of first and second order. What stands behind dt is no power of it.
OPERATORS = (
    (re.compile(rf"(?<!\w)d\s*/\s*dt\s*\(\s*({NAME}'*){OF_TIME}\s*\)"), "'"),
    (re.compile(rf"(?<!\w)d{SQUARED}\s*/\s*dt{SQUARED}\s*\(\s*({NAME}){OF_TIME}\s*\)"), "''"),
)
QUOTIENTS = (
    (re.compile(rf"(?<!\w)d{SQUARED}\s*({NAME}){OF_TIME}\s*/\s*dt{SQUARED}(?!\w)"), "''"),
    (re.compile(rf"(?<!\w)d({NAME}){OF_TIME}\s*/\s*dt(?!\w|\s*(?:\^|\*\*|\())"), "'"),
)
MARKED = re.compile(rf"(?<!\w)({NAME})([\u0307\u0308]+)((?:\d+|_\w+)?)(?!\w)")
DOTTED = re.compile(r"(?<!\w)([^\W\d_])((?:\d+|_\w+)?)(?!\w)")  # a letter alone, with an index
INDEXED = re.compile(r"(?<!\w)([A-Za-z_]\w*?)_(tt?)(?![\w'′])")


def in_primes(texts: Sequence[str], states: Collection[str] = (), others: Collection[str] = ()) -> list[str]:
    """Return the texts of some equations with all derivatives in primes.

    An index t is read so only where it stands on the left of an equation that has no other derivative there,
    of a name that occurs by itself and has no derivative elsewhere: k_t stays what it is called.

    Args:
        states: the names that may have derivatives, where they are known; otherwise any may.
        others: further names that are known, such as those of inputs and constants.
    """
    if not any(isinstance(text, str) and SEEN.search(text) for text in texts):
        return list(texts)
    known = {*states, *others}
    plain = [_dots(_quotients(text, states, known)) if isinstance(text, str) else text for text in texts]
    names = _indexed(plain, states, known)
    return [_without_index(text, names) if isinstance(text, str) else text for text in plain]


def _quotients(text: str, states: Collection[str], known: set[str]) -> str:
    def written(found: re.Match[str], primes: str) -> str:
        taken = {"dt", f"d{found[1]}"} & known
        is_other = taken or (states and found[1].rstrip("'") not in states)
        return found[0] if is_other else found[1] + primes

    for pattern, primes in (*QUOTIENTS, *OPERATORS, *OPERATORS):  # twice: d/dt(d/dt(x))
        text = pattern.sub(lambda found, primes=primes: written(found, primes), text)  # type: ignore[misc]
    return text


def _dots(text: str) -> str:
    def marked(found: re.Match[str]) -> str:
        return found[1] + found[3] + "".join(DOTS[mark] for mark in found[2])

    def dotted(found: re.Match[str]) -> str:
        letter, *marks = [*unicodedata.normalize("NFD", found[1])]
        if not letter.isascii() or not marks or not DOTS.keys() >= {*marks}:
            return found[0]
        return letter + found[2] + "".join(DOTS[mark] for mark in marks)

    return DOTTED.sub(dotted, MARKED.sub(marked, text))


def _indexed(texts: Sequence[str], states: Collection[str], known: set[str]) -> set[str]:
    """Return the names whose derivatives are written by an index t or tt."""
    whole = "\n".join(text for text in texts if isinstance(text, str))
    names = set()
    for text in texts:
        left, equals, _ = text.partition("=") if isinstance(text, str) else ("", "", "")
        if not equals or DERIVATIVE.search(left):
            continue
        found = {m[1] for m in INDEXED.finditer(left) if m[0] not in known}
        found = {name for name in found if _is_by_itself(name, whole)}
        found &= {*states} if states else found
        names |= found if len(found) == 1 else set()
    return names


def _is_by_itself(name: str, whole: str) -> bool:
    """Tell whether a name occurs without an index, and never with another sign of a derivative."""
    own = rf"(?<!\w){re.escape(name)}"
    is_marked = rf"{own}(_tt?)?['′]|(?<!\w)diff\s*\(\s*{re.escape(name)}(_tt?)?(?!\w)"
    return re.search(rf"{own}(?!\w)", whole) is not None and re.search(is_marked, whole) is None


def _without_index(text: str, names: Collection[str]) -> str:
    return INDEXED.sub(lambda m: m[1] + "'" * len(m[2]) if m[1] in names else m[0], text)
