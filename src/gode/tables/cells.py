"""The cells of a table: numbers, times, limits, words for no reading; and where a table begins and ends."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import inf
from typing import NamedTuple

from gode.errors import DataError, shortened

NONE = "none"  # asks for no column in a role
ALL = "all"  # asks for every column of numbers that has no other role, each as a run
MISSING = frozenset(
    {"", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing", "-", "--", "---", "–", "—", "?", "."}
)
LIMIT = re.compile(  # <0.05: below what can be measured
    r"(?P<side>[<>≤≥]) ?=? ?(?P<value>[+-]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?)"
)
UNREAD = {  # words, in lower case, that instruments and people write instead of a number, and what they mean
    **dict.fromkeys(("n.d.", "nd", "n.d", "n. d.", "n.b.", "k.a.", "n.a.", "n.q.", "n.m."), "not determined"),
    **dict.fromkeys(
        ("blq", "bql", "bloq", "blod", "bdl", "lod", "loq", "<lod", "<loq", "low", "under"), "below"
    ),
    **dict.fromkeys(("ovrflw", "overflow", "over", "overrange", "overload", "ofl", "o.l.", "ol"), "above"),
    **dict.fromkeys(("sat", "saturated", "alq", "aloq", ">loq", "+over", "+inf", "inf.", "*****"), "above"),
    **dict.fromkeys(("#value!", "#div/0!", "#num!", "#ref!", "#name?", "#wert!", "#bezug!"), "an error"),
    **dict.fromkeys(("err", "error", "fail", "failed", "open", "burnout", "bad", "invalid"), "an error"),
}
SPACES = " "  # as a delimiter: any run of white space
CLOCK = re.compile(  # 1:45, 13:45:10.5, 1:45 PM, 100:00:00, 1 days 02:00:00
    r"(?:(?P<days>\d{1,6}) days?,? +)?(?P<first>\d{1,9}):(?P<second>\d{1,2})(?::(?P<third>\d{1,2}))?"
    r"(?:(?:[.,]|:(?=\d{3}(?!\d)))(?P<fraction>\d+))?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
DAY = (  # 2024-12-31, 31.12.2024, 12/31/24, 31-Dec-2024, Dec 31, 2024
    r"\d{1,4}(?P<sign>[-./])\d{1,2}(?P=sign)\d{1,4}\.?"
    r"|\d{1,2}[-. ]+[A-Za-z]{3,9}[-., ]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
)
DATE = re.compile(rf"(?P<day>{DAY})(?:(?:,? +|T)(?P<clock>\d+:\S+(?: ?[AaPp]\.?[Mm]\.?)?))?")
ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:?\d{2}.*)?")
APART = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # 1'067 and 1 067 with a narrow space
GROUPED = {  # by the decimal sign: thousands for certain, and thousands where the table is known to have them
    sign: (
        re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:(?:{other}\d{{3}})+{own}\d*|(?:{other}\d{{3}}){{2,}})"),
        re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{other}\d{{3}})+(?:{own}\d*)?"),
    )
    for sign, own, other in ((".", r"\.", ","), (",", ",", r"\."))
}
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")  # thousands, if points are not decimal
BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")
POINTED_DAY = re.compile(r"\b\d{1,2}\.\d{1,2}\.(?:19|20)?\d{2}\b")  # as where commas are decimal


class Signs(NamedTuple):
    """The decimal sign of a table."""

    decimal: str
    grouped: bool  # whether the other sign separates thousands somewhere
    asks: str = ""  # what to say where it is not sure


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, without quotes and outer spaces."""
    if '"' in line:
        try:
            parts = next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            return [line]
        return [part.strip() for part in parts if part or delimiter != SPACES]
    parts = line.split() if delimiter == SPACES else line.split(delimiter)
    return [part.strip() for part in parts]


def number(cell: str, decimal: str, *, grouped: bool = False) -> float | None:
    """Return the number in a cell, NaN for a missing one, None for text.

    The other sign separates thousands where the cell proves it (1,234.5 or 1,234,567), or everywhere in a
    table that is known to have them (`grouped`).
    """
    cell = APART.sub("", cell.strip().strip('"').strip())
    if cell.lower() in MISSING or LIMIT.fullmatch(cell):
        return float("nan")
    other = "," if decimal == "." else "."
    if other in cell:
        if not GROUPED[decimal][grouped].fullmatch(cell):
            return None
        cell = cell.replace(other, "")
    if "_" in cell:
        return None
    try:
        return float(cell.replace(decimal, "."))
    except ValueError:
        return None


def limits(cell: str, decimal: str, *, grouped: bool = False) -> tuple[float, float] | None:
    """Return between which values the reading lies of a cell such as <0.05; None for any other cell."""
    found = LIMIT.fullmatch(cell.strip().strip('"').strip())
    value = number(found["value"], decimal, grouped=grouped) if found else None
    if found is None or value is None:
        return None
    return (-inf, value) if found["side"] in "<≤" else (value, inf)


def is_time(cell: str) -> bool:
    """Tell whether a cell is a time of day, a duration or a date."""
    cell = cell.strip().strip('"').strip()
    return bool(CLOCK.fullmatch(cell) or DATE.fullmatch(cell) or ISO.fullmatch(cell))


def join_list(names: Sequence[str]) -> str:
    """Return entries as a list with commas between; those with commas or quotes stand in quotes."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def split_list(text: str) -> list[str]:
    """Return the entries of a list with commas between; one with a comma in it stands in quotes.

    Raises:
        DataError: if the text has several lines, or more than a table can.
    """
    try:
        words = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise DataError(
            f"{shortened(text)!r} is no list of columns ({error}); write them in one line, with commas"
        ) from None
    return [word.strip() for word in words if word.strip()]


def is_value(cell: str, decimal: str) -> bool:
    """Tell whether a cell is a number or a time, or missing; beside decimal commas 1.234 is a number."""
    return number(cell, decimal, grouped=decimal == ",") is not None or is_time(cell)


def is_filled(cell: str, decimal: str) -> bool:
    """Tell whether a cell holds a number or a time: no text, and not missing."""
    value = number(cell, decimal, grouped=decimal == ",")
    return is_time(cell) if value is None else value == value


def meaning(cell: str) -> str:
    """Return what a cell that holds no number says of the reading; empty for other text."""
    cell = cell.strip().strip('"').strip()
    found = LIMIT.fullmatch(cell)
    if found:
        return "below" if found["side"] in "<≤" else "above"
    return UNREAD.get(cell.lower(), "")


def settle_signs(
    rows: Sequence[str], delimiter: str, decimal: str, place: Callable[[int], str], given: str = ""
) -> Signs:
    """Return the decimal sign, and whether the other one separates thousands somewhere.

    Args:
        rows: all lines of the table, its header apart.
        delimiter: between the cells of a row.
        decimal: the sign under which most cells are numbers.
        place: names a line in messages.
        given: the decimal sign, where it is said.

    Raises:
        DataError: if every comma can be read either way.
    """
    if given:
        other = "," if given == "." else "."
        cells = (cell for _, cell in _cells(rows, delimiter, other))
        return Signs(given, any(GROUPED[given][1].fullmatch(cell) for cell in cells))
    if decimal == ".":
        return _pointed(rows, delimiter)
    return _with_commas(rows, delimiter, place)


def _pointed(rows: Sequence[str], delimiter: str) -> Signs:
    """Return the signs of a table with points, which may separate thousands: 1.234 and 12.345."""
    if any(GROUPED["."][1].fullmatch(cell) for _, cell in _cells(rows, delimiter, ",")):
        return Signs(".", True)
    shown = ""
    for _, cell in _cells(rows, delimiter, "."):
        if POINTED_DAY.match(cell):
            continue
        if not POINTS.fullmatch(cell) and number(cell, ".") is not None:
            return Signs(".", False)
        shown = shown or (cell if POINTS.fullmatch(cell) else "")
    if not shown:
        return Signs(".", False)
    thousand, decimals = shown.replace(".", ""), shown
    if any(POINTED_DAY.search(row) for row in rows[:100]):
        words = f"{shown!r} is read as {thousand}, as is usual beside such dates"
        return Signs(",", True, f"{words} (--decimal . if it is {decimals})")
    if delimiter == ";":
        return Signs(".", False, f"{shown!r} is read as {decimals} (--decimal , if it is {thousand})")
    return Signs(".", False)


def _with_commas(rows: Sequence[str], delimiter: str, place: Callable[[int], str]) -> Signs:
    if any(_shows_decimals(cell) for _, cell in _cells(rows, delimiter, ",")):
        return Signs(",", any(GROUPED[","][1].fullmatch(cell) for _, cell in _cells(rows, delimiter, ".")))
    grouped = [(row, cell) for row, cell in _cells(rows, delimiter, ",") if THOUSANDS.fullmatch(cell)]
    if grouped and not _mean_thousands(rows, delimiter):
        row, cell = grouped[0]
        raise DataError(
            f"{place(row)}: {cell!r} may be {cell.replace(',', '.')} or {cell.replace(',', '')}, "
            "and no other number tells; say --decimal , or --decimal ."
        )
    return Signs(".", True) if grouped else Signs(",", False)


def _cells(rows: Sequence[str], delimiter: str, sign: str) -> Iterator[tuple[int, str]]:
    """Yield the cells with this sign in them, and their lines."""
    for i, row in enumerate(rows):
        if sign in row and (sign != delimiter or '"' in row):
            yield from ((i, cell) for cell in split(row, delimiter) if sign in cell)


def _shows_decimals(cell: str) -> bool:
    """Tell whether the comma in a cell can only be a decimal one, as in 0,125 and 1,5."""
    return not THOUSANDS.fullmatch(cell) and number(cell, ",") is not None


def _mean_thousands(rows: Sequence[str], delimiter: str) -> bool:
    """Tell whether there are two commas in a number, or numbers below 1000 in a column with commas.

    Decimals have three digits everywhere only if their number is fixed, and then every number has them.
    """
    columns: dict[int, set[str]] = {}
    for row in rows:
        for i, cell in enumerate(split(row, delimiter)):
            if cell.count(",") > 1 and THOUSANDS.fullmatch(cell):
                return True
            kind = "," if "," in cell else "small" if BELOW_THOUSAND.fullmatch(cell) else "other"
            if number(cell, ",") == number(cell, ","):  # not a missing one
                columns.setdefault(i, set()).add(kind)
    return any(kinds == {",", "small"} for kinds in columns.values())


# The first row is looked for in this many lines. Set by hand.
MAX_PREAMBLE = 300
# Names, units and kinds of average stand in the last lines above the first row, at most this many. Set by
# hand.
NEAR = 6

TIME_WORDS = word_set(
    "t time times zeit temps tiempo tempo elapsed timestamp datetime date datum uhrzeit heure millis "
    "day days tag hour hours stunde stunden minute minutes seconds sec sekunden year years week month"
)
UNITS = word_set(
    "s sec sec. secs second seconds sek min min. minute minutes h hr hrs hour hours ms us µs μs ns d "
    "day days v mv µv kv volt volts a ma µa amp amps ampere w mw kw watt watts n mn kn newton nm n·m mm "
    "cm m km µm μm um inch in ft mg g kg µg k °c °f c f degc deg degf rad ° % %rf %rh pa kpa mpa hpa "
    "bar mbar psi hz khz mhz rpm ohm kohm l ml µl mol mmol µmol ppm ppb ph au a.u. rfu od lux db j kj "
    "cal n/a - ts rn no. nr. avg smp tot std max sample sequence gal strain µε"
)
NO_UNITS = word_set("ts rn no. nr. avg smp tot std max sequence sample")  # below a name, but no unit of it
DEGREES = {"degc": "°C", "degf": "°F", "celsius": "°C"}
BRACKETED = re.compile(r"[\[(][^\[\]()]{0,15}[\])]")
BEFORE_UNIT = re.compile(r"\s+(?=[\[(])")  # the space before a unit in brackets
WIDE = re.compile(r"\s{2,}|\t")
RATIO = re.compile(r"[^\s\d]{1,5}(?:[/·^*-][^\s]{1,6})+")  # m/s, mg/l, m/s^2


@dataclass(frozen=True)
class Heading:
    """The names and units of columns, and the first line of the table below them, counted in the body."""

    names: Sequence[str]
    units: Sequence[str]
    start: int
    at: int | None  # the line of the names; None if there is no header


def find_heading(
    body: Sequence[str], delimiter: str, decimal: str, width: int, filled: Sequence[int]
) -> Heading:
    """Return the header of a table.

    Args:
        width: the number of columns of most rows.
        filled: the columns that hold numbers or times.
    """
    first = _first_row(body, delimiter, decimal, filled)
    if first is None:
        return Heading([], [], 0, None)
    near = {
        i: _shifted(_head_cells(body, i, delimiter, width), width) for i in range(max(0, first - NEAR), first)
    }
    names: list[int] = []
    for i in sorted(near, reverse=True):
        below = near.get(names[-1]) if names else None
        if not _is_wordy(near[i], decimal, filled, width) and not (
            below and unit_share(below) == 1 and len(near[i]) == width and all(near[i][k] for k in filled)
        ):
            break
        names.append(i)
    if not names:
        return Heading([], [], first, None)
    at = max(names, key=lambda i: (_score(near[i], width, filled, first - i), i))
    return heading_at(body, at, delimiter, decimal, width, filled)


def heading_at(
    body: Sequence[str], at: int, delimiter: str, decimal: str, width: int, filled: Sequence[int]
) -> Heading:
    """Return the header in a line of the body, with the units that stand between it and the first row."""
    names = _shifted(_head_cells(body, at, delimiter, width), width)
    if at > 0:
        names = _with_groups(names, split(body[at - 1], delimiter), decimal)
    units = [""] * max(len(names), width)
    start = at + 1
    while start < len(body) - 1 and start <= at + NEAR:
        cells = _head_cells(body, start, delimiter, width)
        held = [cells[k] for k in filled if k < len(cells)]
        if any(is_filled(cell, decimal) for cell in held) or not any(held):
            break
        for k, cell in enumerate(cells[: len(units)]):
            units[k] = units[k] or _unit(cell, decimal)
        start += 1
    return Heading(names, units, start, at)


def below_table(rows: Sequence[str], delimiter: str, decimal: str, filled: Sequence[int]) -> int:
    """Return how many lines at the end are no rows but text, such as means and remarks.

    These have words where the rows have a time or their first number, or a single cell.
    """
    if not filled:
        return 0
    n = 0
    for row in reversed(rows):
        cells = split(row, delimiter)
        key = cells[filled[0]] if filled[0] < len(cells) else ""
        if key and (is_value(key, decimal)) and (len(cells) > 1 or len(filled) == 1):
            break
        if not key and any(k < len(cells) and is_filled(cells[k], decimal) for k in filled[1:]):
            break
        n += 1
    return n if n < len(rows) else 0


def header_cells(line: str, delimiter: str, width: int) -> list[str]:
    """Return the cells of a line of names; those apart by spaces may hold spaces, as in `t [s]  theta [rad]`.

    Args:
        width: the number of columns, by which it is seen what stands between the names.
    """
    cells = split(line, delimiter)
    if delimiter != SPACES or len(cells) == width:
        return cells
    bracketed = BEFORE_UNIT.sub("\0", line).split()
    forms = [[cell.replace("\0", " ") for cell in bracketed], WIDE.split(line.strip())]
    return next((form for form in forms if len(form) == width), cells)


def is_time_word(name: str) -> bool:
    """Tell whether a name speaks of time: `Time (s)`, `Prüfzeit`, `Date Time, GMT+01:00`."""
    words = words_of(name)
    return bool(TIME_WORDS & {*words}) or any(w.endswith(("zeit", "time")) for w in words if len(w) > 4)


def words_of(name: str) -> list[str]:
    """Return the words in a name, in lower case: tempHeater_K holds temp, heater and k."""
    apart = re.sub(r"(?<=[a-zäöüéè])(?=[A-ZÄÖÜ])", " ", name)
    return re.findall(r"[^\W\d_]+", apart.lower())


def unit_share(cells: Sequence[str]) -> float:
    """Return the share of cells with text that read like units."""
    words = [cell for cell in cells if cell]
    return sum(map(is_unit, words)) / len(words) if words else 0.0


def is_unit(cell: str) -> bool:
    """Tell whether a cell reads like a unit: (mm), Deg C, m/s^2."""
    plain = cell.strip("[]() ").lower()
    joined = plain.replace(" ", "")
    return bool(BRACKETED.fullmatch(cell.strip())) or joined in UNITS or bool(RATIO.fullmatch(plain))


def _unit(cell: str, decimal: str) -> str:
    word = cell.strip("[]() ")
    word = DEGREES.get(word.lower().replace(" ", ""), word)
    return "" if is_filled(cell, decimal) or word.lower() in NO_UNITS else word


def _first_row(body: Sequence[str], delimiter: str, decimal: str, filled: Sequence[int]) -> int | None:
    """Return where the first row of numbers stands that is followed by more of them."""
    last: int | None = None
    for i, line in enumerate(body[:MAX_PREAMBLE]):
        if not _is_row(split(line, delimiter), decimal, filled):
            continue
        last = i if last is None else last
        after = body[i + 1 : i + 6]
        if 2 * sum(_is_row(split(other, delimiter), decimal, filled) for other in after) >= len(after):
            return i
    return last


def _is_row(cells: Sequence[str], decimal: str, filled: Sequence[int]) -> bool:
    """Tell whether the cells in the columns of numbers are mostly numbers, the first one among them."""
    held = [cells[k] for k in filled if k < len(cells)]
    if not held or (len(cells) == 1 and len(filled) > 1):
        return False
    known = [is_value(cell, decimal) for cell in held]
    values = any(is_filled(cell, decimal) for cell in held)
    return values and known[0] and 2 * sum(known) > len(held)


def _head_cells(body: Sequence[str], i: int, delimiter: str, width: int) -> list[str]:
    """Return the cells of a line above the rows; units apart by spaces belong to the names above them."""
    cells = header_cells(body[i], delimiter, width)
    if delimiter != SPACES or len(cells) >= width or unit_share(cells) < 1:
        return cells
    above = (line for line in reversed(body[max(i - NEAR, 0) : i]) if len(split(line, delimiter)) == width)
    names = [found.span() for found in re.finditer(r"\S+", next(above, ""))]
    if not names:
        return cells
    out = [""] * width
    for unit in re.finditer(r"\S+", body[i]):
        overlaps = [min(unit.end(), end) - max(unit.start(), start) for start, end in names]
        out[overlaps.index(max(overlaps))] = unit[0]
    return out


def _with_groups(names: list[str], above: list[str], decimal: str) -> list[str]:
    """Return repeated names with those of the groups above them, such as `Tank 1` over some columns."""
    repeated = {name for name in names if name and names.count(name) > 1}
    if not repeated or len(above) > len(names) or any(is_filled(cell, decimal) for cell in above):
        return names
    made = []
    group = ""
    for name, cell in zip_longest(names, above, fillvalue=""):
        group = cell or group
        made.append(f"{group} {name}".strip() if name in repeated else name)
    return made if len({*made}) > len({*names}) else names


def _shifted(cells: list[str], width: int) -> list[str]:
    """Return the cells of a header; if they are one too few, the first column holds the names of rows."""
    return ["", *cells] if len(cells) == width - 1 else cells


def _is_wordy(cells: Sequence[str], decimal: str, filled: Sequence[int], width: int) -> bool:
    """Tell whether a line may hold the names or units of the columns of numbers."""
    held = [cells[k] for k in filled if k < len(cells)]
    words = sum(bool(cell) and not is_value(cell, decimal) for cell in held)
    return len(cells) >= width and 2 * words >= len(filled) and words > len(held) - words - held.count("")


def _score(cells: Sequence[str], width: int, filled: Sequence[int], above: int) -> float:
    """Return how much a line looks like names: words of time, all named, all different, and no units."""
    held = [cells[k] for k in filled if k < len(cells)]
    score = 3.0 * any(map(is_time_word, cells)) + 2.0 * all(held) + 2.0 * (len({*held}) == len(held))
    return score + (len(cells) == width) - 6.0 * unit_share(cells) - 0.1 * above
