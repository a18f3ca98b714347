"""Column names as names in an equation: letters, digits and _, and none of the words with a meaning there."""

import re
import unicodedata
from collections.abc import Collection, Sequence

GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)")


def identifiers(columns: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Return a name for each column that an equation can hold, as close to its own as possible.

    Args:
        taken: words that have another meaning.
    """
    out: list[str] = []
    for i, column in enumerate(columns):
        name = _plain(column) or f"x{i + 1}"
        if not name[0].isalpha() or name in taken:
            name = f"x_{name}"
        first, n = name, 2
        while name in out or name in taken:
            name, n = f"{first}_{n}", n + 1
        out.append(name)
    return out


def _plain(column: str) -> str:
    """Return the letters and digits of a name in ASCII, joined by _, such as Temp_C for Temp °C.

    Greek letters are spelled out, as theta_1 for θ 1.
    """
    spelled = "".join(map(_spelled, unicodedata.normalize("NFKD", column)))
    letters = spelled.encode("ascii", "ignore").decode()
    return "_".join(re.findall(r"[A-Za-z0-9_]+", letters)).strip("_")


def _spelled(letter: str) -> str:
    """Return the name of a Greek letter, any other as it is."""
    found = GREEK.fullmatch(unicodedata.name(letter, ""))
    if found is None:
        return letter
    return found[2].lower() if found[1] == "SMALL" else found[2].title()
