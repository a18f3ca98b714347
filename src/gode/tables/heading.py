"""Where the table begins and ends in a text file: its header, the units below it, text above and below."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gode.tables.cells import SPACES, is_filled, is_value, split, word_set

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
