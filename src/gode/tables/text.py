"""Text files to tables of named columns, whatever their encoding, delimiter, decimal sign and header."""

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Int
from gode.errors import DataError
from gode.tables.cells import (
    MISSING,
    SPACES,
    Signs,
    below_table,
    find_heading,
    header_cells,
    heading_at,
    is_filled,
    is_time_word,
    is_unit,
    is_value,
    number,
    settle_signs,
    split,
)
from gode.tables.headers import parted, unit_in_name
from gode.tables.table import Column, Table

COMMENTS = ("#", "%", "//")
CHOICES = (  # delimiter and decimal sign; of several that fit, the first
    *((delimiter, ".") for delimiter in "\t;,|"),
    *((delimiter, ",") for delimiter in "\t;|,"),  # decimal commas between delimiting commas are in quotes
    (SPACES, "."),
    (SPACES, ","),
)
Choices = Sequence[tuple[str, str]]
# What stands in brackets is a remark, and no unit, if it has more characters than this. Set by hand.
LONGEST_UNIT = 16
# The delimiter is found from this many lines at the start, and about as many of the rest. Set by hand, for
# speed.
SAMPLE = 120
# Rows apart by spaces count less than others by this factor, since words of a text are apart by spaces, too.
# Set by hand on the corpus of files in the tests.
SPACED = 0.9
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
ARROW = re.compile(  # the time that a serial monitor puts before each line
    r"\s*(\d{1,2}:\d{2}:\d{2}\.\d{3}) -> "
)
STAMP = re.compile(r"(?P<stamp>\d{1,2}:\d{2}:\d{2}\.\d{3})[\t;,]")  # the same, as the first cell of a row
PAIR = (
    re.compile(  # a name, its value and perhaps a unit, as devices write them to a serial line: temp: 23.4 C
        r"\s*(?P<name>[^\W\d][\w .°%-]*?)\s*[:=]\s*(?P<value>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan)"
        r"(?:\s?(?P<unit>[^\W\d][\w/²^-]{0,7}|[°%]\w?)(?=[\s,;|]|$)(?!\s*[:=]))?(?:[\s,;|]+|$)",
        re.IGNORECASE,
    )
)
TRUTH = {"true": True, "false": False}
# A table may have this many columns. Set by hand.
MAX_COLUMNS = 10_000
# Floats hold every integer below this number, as 53 bits do.
EXACT = 2.0**53


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is said about how a file is written; by default it is found out."""

    header: int | None = None  # the line of the names, from 1; 0 if there is none
    skip: int = 0  # lines at the start that do not belong to the table
    decimal: str = ""  # the decimal sign
    missing: tuple[str, ...] = ()  # what stands in cells that hold no reading; "text" for any text

    def __post_init__(self) -> None:
        if self.decimal not in ("", ".", ","):
            raise DataError(f"--decimal must be a point or a comma, got {self.decimal!r}")


@dataclass(frozen=True)
class Layout:
    """The lines that hold rows, their numbers in the file, and how to split them."""

    delimiter: str
    signs: Signs
    names: tuple[str, ...]
    units: tuple[str, ...]
    rows: Sequence[str]  # the lines of the table below its header
    lines: Int  # the number of each in the file, from 1
    n_skipped: int  # lines of text above the header
    n_below: int = 0  # and below the table
    turned: bool = False  # whether the rows of the file became columns
    pairs: bool = False  # whether each value stood behind its name
    n_left: int = 0  # lines between the rows that are none, such as messages of a device

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)


GUESSED = Reading()


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


def find_layout(text: str, source: str, choices: Choices = CHOICES, reading: Reading = GUESSED) -> Layout:
    """Return how the table in `text` is laid out, by one of the `choices` of delimiter and decimal sign.

    Raises:
        DataError: if there is no table of numbers, or none in the lines that `reading` names.
    """
    body, lines, comments, n_left = _body(text, reading)
    given = _given_header(lines, reading, source)
    pairs = reading.header is None and _is_of_pairs(body)
    if pairs:
        n_left += len(body)
        body, lines = _rows_of_pairs(body, lines, source)
        n_left -= len(body) - 1  # of which the first is the header
    if reading.decimal:
        choices = [choice for choice in choices if choice[1] == reading.decimal]
    if not body:
        after = f" after line {reading.skip}" if reading.skip else ""
        raise DataError(
            f"{source} is empty: it holds no row of numbers{after}; name a file with columns t and u"
        )
    delimiter, decimal, width = _splitting(body[1:] if given and len(body) > 1 else body, choices)
    filled = _filled_columns(body, delimiter, decimal, width)
    if given:
        heading = heading_at(body, 0, delimiter, decimal, width, filled)
    else:
        heading = find_heading(body, delimiter, decimal, width, filled)
    if reading.header == 0:
        heading = replace(heading, names=[], units=[], at=None)
    names: Sequence[str] = heading.names
    if heading.at is None and reading.header is None:
        names = _commented_header(comments, int(lines[heading.start]), delimiter, width)
    rows, at = body[heading.start :], lines[heading.start :]
    n_below = below_table(rows, delimiter, decimal, filled)
    rows, at = rows[: len(rows) - n_below], at[: len(rows) - n_below]
    turned = [] if names or reading.header is not None else _turned(rows, delimiter, decimal, width)
    if turned:
        names, rows = split(turned[0], delimiter), turned[1:]
        at, width, filled = np.arange(2, len(rows) + 2), len(names), list(range(len(names)))
    labels, found = _labelled(names, heading.units, max(width, len(names)))
    signs = settle_signs(rows, delimiter, decimal, lambda i: f"{source}, line {at[i]}", reading.decimal)
    n_skipped = heading.start if heading.at is None else heading.at
    return Layout(delimiter, signs, labels, found, rows, at, n_skipped, n_below, bool(turned), pairs, n_left)


def parse_table(data: bytes, source: str, reading: Reading = GUESSED) -> Table:
    """Return the table in the bytes of a text file; `source` names it in messages."""
    return text_table(decode_text(data, source), source, CHOICES, reading)


def text_table(text: str, source: str, choices: Choices = CHOICES, reading: Reading = GUESSED) -> Table:
    """Return the table in a text; `choices` are the delimiters and decimal signs that it may have."""
    layout = find_layout(text, source, choices, reading)
    if not layout.rows:
        raise DataError(f"{source} holds a header but no rows; add the measurements below it")
    if layout.width > MAX_COLUMNS:
        raise DataError(f"{source} has {layout.width} columns; the limit is {MAX_COLUMNS}")
    _check_widths(layout, source)
    parsed = _parsed(layout)
    used = [i for i, name in enumerate(layout.names) if name != f"column {i + 1}" or _holds(parsed[i])]
    names, units = (tuple(part[i] for i in used) for part in (layout.names, layout.units))
    columns = tuple(parsed[i] for i in used)
    decimal, grouped, asks = layout.signs
    return Table(
        source, names, units, columns, layout.lines, decimal, grouped, _notes(layout),
        asks=(asks,) if asks else (), missing=frozenset(word.lower() for word in reading.missing),
    )  # fmt: skip


def _given_header(lines: Int, reading: Reading, source: str) -> bool:
    """Tell whether a line of names is given, which is then the first of the body.

    Raises:
        DataError: if it is empty, or behind the end of the file.
    """
    if not reading.header:
        return False
    if not len(lines) or lines[0] != reading.header:
        raise DataError(f"{source} has no text in line {reading.header}, which --header names; name another")
    return True


def _checked_text(text: str, source: str) -> str:
    if "\0" in text:
        raise DataError(
            f"{source} is no text file: it holds bytes that pictures and programs hold, but no text; "
            "save the table as CSV in UTF-8"
        )
    return text


def _body(text: str, reading: Reading) -> tuple[list[str], Int, dict[int, str], int]:
    """Return the lines that are no comment, their numbers, the comments, and how many lines were left out."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if reading.header:
        rows[: reading.header - 1] = [""] * len(rows[: reading.header - 1])
        if reading.header <= len(rows):
            rows[reading.header - 1] = rows[reading.header - 1].lstrip("#%/ ")
    rows[: reading.skip] = [""] * len(rows[: reading.skip])
    bare = (row.strip() for row in rows)
    kept = np.fromiter((bool(row) and not row.startswith(COMMENTS) for row in bare), np.bool_, len(rows))
    comments = {int(i) + 1: rows[i].strip() for i in np.flatnonzero(~kept) if rows[i].strip()}
    body = [row for row, keep in zip(rows, kept.tolist(), strict=True) if keep]
    n_lines = len(body)
    if body and 2 * sum(bool(ARROW.match(row)) for row in _sample(body)) > len(_sample(body)):
        # What has no time was not received as a row: messages of the monitor, and broken lines.
        stamped = [ARROW.match(row) is not None for row in body]
        body = [row for row, has_time in zip(body, stamped, strict=True) if has_time]
        kept[kept] = stamped
        sign = next((sign for sign in "\t;," if sign in body[-1]), "\t")
        body = [ARROW.sub(rf"\1{sign}", row) for row in body]
    return body, np.flatnonzero(kept) + 1, comments, n_lines - len(body)


def _pairs(line: str) -> list[re.Match[str]]:
    """Return the names and values of a line such as `millis:500, temp:23.4 C`; nothing for any other line."""
    found = []
    stamp = STAMP.match(line)
    at = stamp.end() if stamp else 0
    while at < len(line):
        pair = PAIR.match(line, at)
        if pair is None:
            return []
        found.append(pair)
        at = pair.end()
    return found


def _is_of_pairs(body: Sequence[str]) -> bool:
    """Tell whether most lines name each of their values, two at least."""
    sample = _sample(body)
    return 2 * sum(len(_pairs(line)) > 1 for line in sample) > len(sample)


def _rows_of_pairs(body: Sequence[str], lines: Int, source: str) -> tuple[list[str], Int]:
    """Return the rows of lines that name each of their values, below a header, and their numbers.

    Lines with other names than most are left out, such as messages of a device.

    Raises:
        DataError: if the unit of a value changes.
    """
    pairs = [_pairs(line) for line in body]
    names = [tuple(pair["name"] for pair in row) for row in pairs]
    usual, _ = Counter(filter(None, names)).most_common(1)[0]
    kept = [i for i, each in enumerate(names) if each == usual]
    units = [""] * len(usual)
    for i in kept:
        for place, pair in enumerate(pairs[i]):
            units[place] = units[place] or pair["unit"] or ""
            other = pair["unit"] or units[place]
            if other != units[place] and is_unit(other) and is_unit(units[place]):  # and no remark
                raise DataError(
                    f"{source}, line {lines[i]}: {usual[place]} is in {other}, but in {units[place]} "
                    "in the lines above; write all of its values in one unit"
                )
    header = [f"{name} [{unit}]" if unit else name for name, unit in zip(usual, units, strict=True)]
    rows = ["\t".join(pair["value"] for pair in pairs[i]) for i in kept]
    stamps = [STAMP.match(body[i]) for i in kept]
    if all(stamps):
        header = ["time", *header]
        rows = [f"{stamp['stamp']}\t{row}" for stamp, row in zip(stamps, rows, strict=True) if stamp]
    return ["\t".join(header), *rows], lines[[kept[0], *kept]]


def _sample(body: Sequence[str]) -> list[str]:
    rest = body[SAMPLE:]
    return [*body[:SAMPLE], *rest[:: len(rest) // SAMPLE + 1]]


def _splitting(body: Sequence[str], choices: Choices) -> tuple[str, str, int]:
    """Return delimiter and decimal sign under which most cells are numbers or times, and the columns."""
    sample = _sample(body)
    scored = []
    for place, (delimiter, decimal) in enumerate(choices):
        shares: dict[int, list[float]] = {}
        for line in sample:
            cells = split(line, delimiter)
            known = [is_value(cell, decimal) for cell in cells]
            numbers = any(cell and right for cell, right in zip(cells, known, strict=True))
            shares.setdefault(len(cells), []).append(sum(known) / len(known) if known and numbers else 0.0)
        sums = {width: sum(share**4 for share in each) for width, each in shares.items()}
        width = max(sums, key=lambda w: (sums[w], len(shares[w]), w))
        rows = [share for share in shares[width] if share > 0.5] or shares[width]
        quality = sum(rows) / len(sample) * (SPACED if delimiter == SPACES or width == 1 else 1.0)
        scored.append(
            (round(quality, 9), len(shares[width]) * (width > 1), width, -place, delimiter, decimal)
        )
    _, _, width, _, delimiter, decimal = max(scored)
    return delimiter, decimal, width


def _filled_columns(lines: Sequence[str], delimiter: str, decimal: str, width: int) -> list[int]:
    """Return the columns that hold numbers or times in most of the rows that have some."""
    rows = [row for row in (split(line, delimiter) for line in _sample(lines)) if len(row) == width]
    held = [[is_filled(cell, decimal) for cell in row] for row in rows]
    held = [row for row in held if any(row)]
    return [i for i in range(width) if 2 * sum(row[i] for row in held) > len(held)]


def _turned(rows: Sequence[str], delimiter: str, decimal: str, width: int) -> list[str]:
    """Return the columns of a table as lines, if a row of it holds the times and its name; else nothing."""
    cells = [row for row in (split(line, delimiter) for line in rows) if len(row) == width]
    if width < 4 or len(cells) < 2 or any(number(row[0], decimal) is not None for row in cells):
        return []
    named = [row for row in cells if is_time_word(row[0]) and row[0]]
    if not named or any(delimiter in cell for row in cells for cell in row):
        return []
    if not all(is_filled(cell, decimal) for cell in named[0][1:]):
        return []
    return [delimiter.join(column) for column in zip(*cells, strict=True)]


def _commented_header(comments: dict[int, str], line: int, delimiter: str, width: int) -> list[str]:
    """Return the names in the comment just above the first row, if there are as many as columns."""
    words = comments.get(line - 1, "").lstrip("#%/ \t")
    forms = [*(split(words, sign) for sign in "\t;,|"), header_cells(words, delimiter, width)]
    named = (cells for cells in forms if len(cells) == width)
    return next((cells for cells in named if not any(number(c, ".") is not None for c in cells)), [])


def _labelled(
    names: Sequence[str], units: Sequence[str], width: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a name of its own and a unit for each column."""
    out: list[str] = []
    found: list[str] = []
    headers = [*names, *[""] * (width - len(names))]
    plain = [parted(header)[0] for header in headers]
    for i, header in enumerate(headers):
        name, unit = parted(header)
        if plain.count(name) > 1 and unit and not is_unit(unit):  # A(412 nm) beside A(560 nm)
            name, unit = header.strip().strip('"').strip(), ""
        unit = "" if len(unit) > LONGEST_UNIT else unit
        name = name or f"column {i + 1}"
        while name in out:
            name += "_2"
        out.append(name)
        found.append(unit or (units[i] if i < len(units) else "") or unit_in_name(name))
    return tuple(out), tuple(found)


def _check_widths(layout: Layout, source: str) -> None:
    for line, row in zip(layout.lines, layout.rows, strict=True):
        if row.count('"') % 2:
            raise DataError(f"{source}, line {line}: a quotation mark is never closed; remove it or close it")
        if '"' in row or layout.delimiter == SPACES:
            width = len(split(row, layout.delimiter))
        else:
            width = row.count(layout.delimiter) + 1
        if width > layout.width:
            raise DataError(
                f"{source}, line {line}: {width} cells, but the other lines have {layout.width}; "
                "remove what is too much"
            )


def _parsed(layout: Layout) -> tuple[Column, ...]:
    quoted = any('"' in row for row in layout.rows)  # rare; what is in quotes is kept as it is
    rows = [split(row, layout.delimiter) for row in layout.rows]
    whole = [[*row, *[""] * (layout.width - len(row))] for row in rows]
    return tuple(_column(cells, "" if quoted else layout.signs.decimal) for cells in zip(*whole, strict=True))


def _holds(column: Column) -> bool:
    """Tell whether some cell is given."""
    return any(v is not None and v == v for v in column.tolist())


def _column(cells: Sequence[str], decimal: str) -> Column:
    """Return the cells of a column: numbers, if all are that, else objects; None where one is empty."""
    given = [None if cell.lower() in MISSING else cell for cell in cells]
    filled = [cell for cell in given if cell is not None]
    if not decimal or any("_" in cell or (decimal == "," and "." in cell) for cell in filled):
        return np.array(given, object)
    try:
        values = np.array([np.nan if cell is None else float(cell.replace(decimal, ".")) for cell in given])
    except ValueError:
        truths = [TRUTH.get(cell.lower()) for cell in cells]
        return np.array(given, object) if None in truths else np.array(truths, np.bool_)
    whole = len(filled) == len(given) and all(cell.lstrip("+-").isdecimal() for cell in filled)
    return values.astype(np.int64) if whole and np.all(np.abs(values) < EXACT) else values


def _notes(layout: Layout) -> tuple[str, ...]:
    names = {"\t": "tabs", ";": "semicolons", "|": "bars", SPACES: "spaces"}
    notes = [f"separated by {names[layout.delimiter]}"] if layout.delimiter in names else []
    if layout.pairs:
        notes = ["each value behind its name"]
    decimal, grouped, _ = layout.signs
    if decimal == "," and not layout.signs.asks:
        notes.append("with decimal commas")
    if grouped:
        notes.append(f"{'commas' if decimal == '.' else 'points'} taken as thousands separators")
    if layout.turned:
        notes.append("a column of the table for each row of the file")
    if layout.n_skipped:
        notes.append(f"below {_lines(layout.n_skipped)} of text")
    if layout.n_left:
        notes.append(f"without {_lines(layout.n_left)} that are no rows")
    if layout.n_below:
        notes.append(f"without {_lines(layout.n_below)} of text at the end")
    return tuple(notes)


def _lines(n: int) -> str:
    return "1 line" if n == 1 else f"{n} lines"
