"""How a text file of numbers is laid out: encoding, comments, delimiter, decimal sign, header, units."""

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Int
from gode.errors import DataError
from gode.tables.cells import SPACES, is_time, number, split
from gode.tables.signs import settle_signs

COMMENTS = ("#", "%", "//")
CHOICES = (  # delimiter and decimal sign; of several that fit, the first
    *((delimiter, ".") for delimiter in "\t;,|"),
    *((delimiter, ",") for delimiter in "\t;|,"),  # decimal commas between delimiting commas are in quotes
    (SPACES, "."),
    (SPACES, ","),
)
Choices = Sequence[tuple[str, str]]
SAMPLE = 120  # lines examined at the start, and as many of the rest
MAX_PREAMBLE = 60  # lines of text before the table
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
TIME = re.compile(  # time_h, t_ms, elapsed min: a name of time and its unit
    r"(?P<word>t|times?|zeit|temps|tiempo|tempo|elapsed(?:[ _]time)?|timestamp)[ _.,/-]+(?:in[ _])?"
    r"(?P<unit>[mµun]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|a|yrs?|years?)",
    re.IGNORECASE,
)
UNIT = re.compile(r"^(?P<name>.*?[^\s\[(])\s*[\[(]\s*(?P<unit>[^\[\]()]*?)\s*[\])]$")


@dataclass(frozen=True)
class Layout:
    """The lines that hold rows, their numbers in the file, and how to split them."""

    delimiter: str
    decimal: str
    grouped: bool  # whether the other sign separates thousands
    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: Sequence[str]  # the lines of the table below its header
    lines: Int  # the number of each in the file, from 1
    n_skipped: int  # lines of text above the header

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)


def decode_text(data: bytes, source: str) -> str:
    """Decode a file by its byte order mark, else as UTF-8, else as Latin-1."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            try:
                return _checked_text(data.decode(encoding), source)
            except UnicodeDecodeError:
                raise DataError(f"{source} is not whole {encoding} text; save it as UTF-8") from None
    try:
        return _checked_text(data.decode("utf-8"), source)
    except UnicodeDecodeError:
        return _checked_text(data.decode("latin-1"), source)


def find_layout(text: str, source: str, choices: Choices = CHOICES) -> Layout:
    """Return how the table in `text` is laid out, by one of the `choices` of delimiter and decimal sign.

    Raises:
        DataError: if there is no table of numbers.
    """
    body, lines, comments = _body(text)
    if not body:
        raise DataError(f"{source} is empty: it holds no row of numbers; name a file with columns t and u")
    delimiter, decimal, width = _splitting(body, choices)
    first = _first_row(body, delimiter, decimal, width)
    head = [split(line, delimiter) for line in body[first : first + 1]]
    numeric = _numeric_columns(body[first + 1 :] or body[first:], delimiter, decimal, width)
    if not _is_header(head[0], numeric, decimal):
        names, start = _commented_header(comments, lines[first], delimiter, width), first
        units: Sequence[str] = ()
    else:
        names, start = head[0], first + 1
        units, start = _units_row(body, start, delimiter, decimal, width)
    if len(names) == width - 1:  # the first column holds row names
        names = ["", *names]
    labels, found = _labelled(names, units, width)
    rows, at = body[start:], lines[start:]
    decimal, grouped = settle_signs(rows, delimiter, decimal, lambda i: f"{source}, line {at[i]}")
    return Layout(delimiter, decimal, grouped, labels, found, rows, at, first)


def _checked_text(text: str, source: str) -> str:
    if "\0" in text:
        raise DataError(f"{source} is no text file: it holds zero bytes; save the table as CSV in UTF-8")
    return text


def _body(text: str) -> tuple[list[str], Int, dict[int, str]]:
    """Return the lines that are no comment, their numbers, and the comments by number."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    bare = (row.strip() for row in rows)
    kept = np.fromiter((bool(row) and not row.startswith(COMMENTS) for row in bare), np.bool_, len(rows))
    comments = {int(i) + 1: rows[i].strip() for i in np.flatnonzero(~kept) if rows[i].strip()}
    body = [row for row, keep in zip(rows, kept.tolist(), strict=True) if keep]
    return body, np.flatnonzero(kept) + 1, comments


def _sample(body: Sequence[str]) -> list[str]:
    rest = body[SAMPLE:]
    return [*body[:SAMPLE], *rest[:: len(rest) // SAMPLE + 1]]


def _splitting(body: Sequence[str], choices: Choices) -> tuple[str, str, int]:
    """Return delimiter and decimal sign under which most cells are numbers or times, and the columns."""
    sample = _sample(body)
    scored = []
    for place, (delimiter, decimal) in enumerate(choices):
        rows = [split(line, delimiter) for line in sample]
        counts = Counter(map(len, rows))
        width = max(counts, key=lambda w: (counts[w], w))
        cells = [cell for row in rows if len(row) == width for cell in row]
        share = sum(_is_value(cell, decimal) for cell in cells) / len(cells) if cells else 0.0
        same = counts[width] / len(rows)
        scored.append((round(same * share, 9), same * (width > 1), width, -place, delimiter, decimal))
    _, _, width, _, delimiter, decimal = max(scored)
    return delimiter, decimal, width


def _is_value(cell: str, decimal: str) -> bool:
    return number(cell, decimal) is not None or is_time(cell)


def _first_row(body: Sequence[str], delimiter: str, decimal: str, width: int) -> int:
    """Return where the table starts, header included: below lines of text of another width."""
    for i, line in enumerate(body[:MAX_PREAMBLE]):
        cells = split(line, delimiter)
        known = [number(cell, decimal) is not None for cell in cells]
        if len(cells) == width or all(known):
            return i
        if len(cells) == width - 1 and not any(known):  # names above all columns but that of row names
            below = split(body[i + 1], delimiter) if i + 1 < len(body) else []
            if any(number(cell, decimal) is not None for cell in below):
                return i
    return 0


def _numeric_columns(lines: Sequence[str], delimiter: str, decimal: str, width: int) -> list[int]:
    """Return the columns that hold numbers in most of the rows."""
    rows = [row for row in (split(line, delimiter) for line in _sample(lines)) if len(row) == width]
    counts = [sum(number(row[i], decimal) is not None for row in rows) for i in range(width)]
    return [i for i, count in enumerate(counts) if 2 * count > len(rows)]


def _is_header(cells: Sequence[str], numeric: Sequence[int], decimal: str) -> bool:
    """Tell whether most cells above columns of numbers are words."""
    shown = [cells[i] for i in numeric if i < len(cells)] or list(cells)
    return 2 * sum(number(cell, decimal) is None for cell in shown) > len(shown)


def _commented_header(comments: dict[int, str], line: int, delimiter: str, width: int) -> list[str]:
    """Return the names in the comment just above the first row, if there are as many as columns."""
    words = comments.get(line - 1, "").lstrip("#%/ \t")
    cells = split(words, delimiter)
    return cells if len(cells) == width and not any(number(c, ".") is not None for c in cells) else []


def _units_row(
    body: Sequence[str], start: int, delimiter: str, decimal: str, width: int
) -> tuple[Sequence[str], int]:
    """Return the units of a second header line, if there is one, and where the rows start."""
    if start + 1 >= len(body):
        return (), start
    cells = split(body[start], delimiter)
    words = [cell for cell in cells if cell]
    if len(cells) != width or not words or any(number(word, decimal) is not None for word in words):
        return (), start
    numeric = _numeric_columns(body[start + 1 :], delimiter, decimal, width)
    return ([cell.strip("[]()") for cell in cells], start + 1) if numeric else ((), start)


def _labelled(
    names: Sequence[str], units: Sequence[str], width: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a name of its own and a unit for each column."""
    out: list[str] = []
    found: list[str] = []
    for i in range(width):
        name, unit = parted(names[i] if i < len(names) else "")
        name = name or f"column {i + 1}"
        while name in out:
            name += "_2"
        out.append(name)
        found.append(unit or (units[i] if i < len(units) else "") or time_unit(name)[1])
    return tuple(out), tuple(found)


def parted(header: str) -> tuple[str, str]:
    """Return name and unit of a header such as `u [m]` or `time (s)`; u(t) is a name."""
    header = header.strip().strip('"').strip()
    found = UNIT.match(header)
    if found is None:
        return header, ""
    return found["name"].strip(), "" if found["unit"] == "t" else found["unit"]


def time_unit(name: str) -> tuple[str, str]:
    """Return word and unit of a name of time such as `time_h`; of another the name and no unit."""
    found = TIME.fullmatch(name.strip())
    return (found["word"], found["unit"]) if found else (name, "")
