"""What was guessed about a table, and why: how its text is laid out, and what each column is."""

from pathlib import Path

from gode.errors import GodeError
from gode.files import read_head
from gode.tables.binary import sheet_names, sheet_text
from gode.tables.cells import number
from gode.tables.read import read_whole
from gode.tables.roles import Roles, survey
from gode.tables.table import Table
from gode.tables.text import decode_text

HEAD = 60_000  # bytes of a file that are looked at again
ZIP = b"PK"
WIDE = (b"\xff\xfe", b"\xfe\xff")  # begin texts of two bytes a character, which hold zero bytes
BEFORE, AFTER = 8, 5  # so many lines above the header and from the first numbers on are shown
LONGEST = 200  # characters of a line that are shown
SEPARATORS = {"tabs": "\t", "semicolons": ";", "bars": "|", "commas": ","}


def how_read(table: Table, path: Path) -> list[str]:
    """Return how the text of a file was read, each with the reason; nothing for files that are no text."""
    head = read_head(path, HEAD)
    if head.startswith(ZIP) or (b"\0" in head and not head.startswith(WIDE)):
        return []
    lines = decode_text(head, path.name).splitlines()
    first = int(table.lines[0])
    raw = lines[first - 1] if first <= len(lines) else ""
    return [*_splitting(table, raw, first), *_naming(table, first), *_timing(table)]


def raw_lines(table: Table, path: Path, sheet: str) -> tuple[list[tuple[int, str]], int]:
    """Return the first lines of a text or a sheet with their numbers, and which of them holds the names.

    That is 0 if the file has no header; a file that is no text has no lines.
    """
    head = read_head(path, HEAD)
    if head.startswith(ZIP):
        text = sheet_text(read_whole(str(path)), path.name, sheet)[1]
    elif b"\0" in head and not head.startswith(WIDE):
        return [], 0
    else:
        text = decode_text(head, path.name)
    lines = text.splitlines()
    first = min(int(table.lines[0]), len(lines) + 1)
    named = [sum(name in line for name in table.names) for line in lines[: first - 1]]
    header = max(range(len(named)), key=lambda i: (named[i], i), default=-1) + 1
    header = header if header and named[header - 1] else 0
    start = max(header - BEFORE, 1)
    shown = lines[start - 1 : max(first, header) + AFTER - 1][: BEFORE + 2 * AFTER]
    return [(start + i, line.expandtabs(4)[:LONGEST]) for i, line in enumerate(shown)], header


def _splitting(table: Table, raw: str, line: int) -> list[str]:
    """Return sentences on separators and decimal signs, with what shows them."""
    said = next((note.removeprefix("separated by ") for note in table.notes if "separated" in note), "commas")
    n = raw.count(SEPARATORS.get(said, " "))
    out = (
        [f"Columns are separated by {said}: line {line} has {n} for {len(table.names)} columns."] if n else []
    )
    if said == "spaces":
        out = ["Columns are separated by spaces."]
    if table.decimal == ",":
        cells = [cell.strip() for cell in raw.split(SEPARATORS.get(said))]
        shown = next((c for c in cells if "," in c and number(c, ",") is not None), "")
        out.append("Numbers have decimal commas" + (f", as in {shown}." if shown else "."))
    out += [f"{note[0].upper()}{note[1:]}." for note in table.notes if "thousands" in note or "below" in note]
    return out


def _naming(table: Table, first: int) -> list[str]:
    """Return sentences on the names and units of columns."""
    if all(name == f"column {i + 1}" for i, name in enumerate(table.names)):
        return [f"There is no header: the numbers begin in line {first}, so the columns are counted."]
    units = [f"{n} in {u}" for n, u in zip(table.names, table.units, strict=True) if u]
    told = [f"Units stand in the header: {', '.join(units[:6])}."] if units else []
    return [f"Names come from the header, and the numbers begin in line {first}.", *told]


def _timing(table: Table) -> list[str]:
    """Return a sentence on columns of times of day and dates."""
    timed = [name for name in table.names if table.is_timed(name)]
    words = "is counted from its start in the unit that suits its length; “Edit the data” converts it."
    return [f"{timed[0]} holds times and {words}"] if timed else []


def sheets(path: Path) -> list[str]:
    """Return the sheets of a workbook; nothing for another file."""
    return sheet_names(read_whole(str(path))) if read_head(path, len(ZIP)) == ZIP else []


def guess(table: Table) -> tuple[list[str], bool, list[str], list[str]]:
    """Return a role for each column, whether columns are runs, the reason for each, and what to check."""
    try:
        clocking, signals = survey(table, Roles())
    except GodeError as error:
        kinds = [_kind(table, name) for name in table.names]
        return ["ignored"] * len(table.names), False, kinds, [*table.asks, str(error)]
    found = {clocking.time: "time", **dict.fromkeys(signals.states, "state")}
    found |= {name: "velocity" for name in [signals.velocity] if name}
    found |= {name: "acceleration" for name in [signals.acceleration] if name}
    found |= dict.fromkeys(signals.inputs, "input")
    found |= {name: "run" for name in [clocking.run] if name}
    why = {**signals.why, clocking.time: f"{clocking.why_time}{_form(table, clocking.time)}"}
    why |= {clocking.run: clocking.why_run} if clocking.run else {}
    reasons = [why.get(name) or _kind(table, name) for name in table.names]
    asks = [ask.partition(" (--")[0] for ask in (*table.asks, *signals.asks)]
    return [found.get(name, "ignored") for name in table.names], signals.apart, reasons, asks


def _kind(table: Table, name: str) -> str:
    kind = "numbers" if table.is_numeric(name) else "times" if table.is_timed(name) else "text"
    return f"{kind}; nothing says what it is"


def _form(table: Table, name: str) -> str:
    """Return how times of day and dates are read."""
    if not table.is_timed(name):
        return ""
    try:
        return f"; read as {table.times(name).form}"
    except GodeError:  # told where the data are read
        return ""
