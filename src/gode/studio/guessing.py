"""What was guessed about a table, and why: how its text is laid out, and what each column is."""

import re
from pathlib import Path

from gode.errors import GodeError
from gode.files import read_head
from gode.tables.cells import number
from gode.tables.excel import sheet_names
from gode.tables.layout import decode_text, time_unit
from gode.tables.names import GUESSES
from gode.tables.read import read_whole
from gode.tables.roles import Roles, assign_columns
from gode.tables.table import Table

HEAD = 60_000  # bytes of a file that are looked at again
ZIP = b"PK"
SEPARATORS = {"tabs": "\t", "semicolons": ";", "bars": "|", "commas": ","}
ROLES = {
    "time": "time",
    "u": "state",
    "velocity": "velocity",
    "acceleration": "acceleration",
    "force": "input",
    "run": "run",
}
WELL = re.compile(r"[A-P]\d{1,2}|(?:well|sample|replicate|rep|tube)[ _-]?\w{1,4}", re.IGNORECASE)


def how_read(table: Table, path: Path) -> list[str]:
    """Return how the text of a file was read, each with the reason; nothing for files that are no text."""
    head = read_head(path, HEAD)
    if head.startswith(ZIP) or b"\0" in head:
        return []
    lines = decode_text(head, path.name).splitlines()
    first = int(table.lines[0])
    raw = lines[first - 1] if first <= len(lines) else ""
    return [*_splitting(table, raw, first), *_naming(table, first), *_timing(table)]


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
    words = "is counted in seconds from its start; “Edit the data” converts it to minutes, hours or days."
    return [f"{timed[0]} holds times and {words}"] if timed else []


def sheets(path: Path) -> list[str]:
    """Return the sheets of a workbook; nothing for another file."""
    return sheet_names(read_whole(str(path))) if read_head(path, len(ZIP)) == ZIP else []


def guess(table: Table) -> tuple[list[str], bool, list[str]]:
    """Return a role for each column, whether columns are runs, and why each role was guessed."""
    try:
        taken = assign_columns(table, Roles())[0]
    except GodeError as error:
        return ["ignored"] * len(table.names), False, [str(error), *[""] * (len(table.names) - 1)]
    roles = {name: role for role, name in taken.items()}
    wells = [n for n in table.names if WELL.fullmatch(n) and table.is_numeric(n) and roles.get(n, "u") == "u"]
    by_place = taken.u is not None and not _is_named(taken.u, "u")
    many = len(wells) > 1 and (taken.u in wells or by_place)
    found = {name: ROLES[role] for name, role in roles.items()}
    if many:
        found = {name: role for name, role in found.items() if role != "state"} | dict.fromkeys(
            wells, "state"
        )
    why = [
        _left(table, name) if name not in found
        else "named like the well of a plate" if many and name in wells
        else _reason(table, name, roles[name])
        for name in table.names
    ]  # fmt: skip
    return [found.get(name, "ignored") for name in table.names], many, why


def _left(table: Table, name: str) -> str:
    kind = "numbers" if table.is_numeric(name) else "times" if table.is_timed(name) else "text"
    return f"{kind}; nothing says what it is"


def _reason(table: Table, name: str, role: str) -> str:
    form = ""
    if role == "time" and table.is_timed(name):
        try:
            form = f"; read as {table.times(name).form}, in seconds"
        except GodeError:  # told where the data are read
            form = ""
    if _is_named(name, role):
        return f"its name means {'the signal' if role == 'u' else role}{form}"
    if role == "time":
        return f"it holds times or dates{form}" if table.is_timed(name) else "the first column that increases"
    return "the first column of numbers that is left"


def _is_named(name: str, role: str) -> bool:
    plain = time_unit(name)[0].lower().replace(" ", "").removesuffix("(t)")
    return plain in GUESSES[role].split()
