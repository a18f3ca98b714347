"""The inputs of the page before a search: roles of columns, edits of the data, what is known."""

from collections.abc import Mapping, Sequence

from gode.options.entry import Group
from gode.studio.form import Field, Form, fields_of, first, in_words

UNITS = (  # factor, new unit, words
    ("9.80665", "m/s2", "g to m/s²"),
    ("0.001", "", "milli to one, as mV to V"),
    ("0.017453292519943295", "rad", "degrees to radians"),
    (f"{1 / 60!r}", "min", "seconds to minutes"),
    (f"{1 / 3600!r}", "h", "seconds to hours"),
    (f"{1 / 86400!r}", "d", "seconds to days"),
    ("60", "s", "minutes to seconds"),
    ("3600", "s", "hours to seconds"),
)
Input = tuple[Field, object, Sequence[str]]
Inputs = tuple[str, bool, bool, list[Input]]  # title, folded away, opened, and what is in it


def role_rows(seen: Mapping[str, object], form: Form) -> list[tuple[str, str, str, str, str]]:
    """Return name, unit, first values, role of each column, and why that was guessed."""
    names, units, why, rows = (_list(seen, key) for key in ("names", "units", "why", "rows"))
    out = []
    for i, name in enumerate(names):
        values = ", ".join(str(row[i]) or "–" for row in rows[:5] if i < len(row))
        out.append((str(name), str(units[i] or ""), values, first(form, f"role.{i}"), in_words(str(why[i]))))
    return out


def tool_columns(seen: Mapping[str, object], form: Form) -> dict[str, list[str]]:
    """Return the columns that tools may edit, those of them that are signals, and conversions of units."""
    names = [str(name) for name in _list(seen, "names")]
    usable = [i for i, right in enumerate(_list(seen, "numeric")) if right]
    signals = [i for i in usable if first(form, f"role.{i}") in ("state", "velocity", "acceleration")]
    return {
        "columns": [names[i] for i in usable],
        "signals": [names[i] for i in signals],
        "conversions": [words for _, _, words in UNITS],
    }


def known_fields(form: Form, assumptions: Sequence[Sequence[str]]) -> list[Inputs]:
    """Return groups of inputs for what is known, and for how to search.

    Args:
        assumptions: their names and meanings.
    """
    known = any(first(form, field.key) for field in fields_of(Group.FRAME))
    groups = (Group.LAW, Group.FRAME, Group.DATA, Group.SEARCH)
    return [
        (each.value, each is Group.FRAME, each is Group.FRAME and known, _inputs(each, form, assumptions))
        for each in groups
    ]


def written_fields(form: Form) -> tuple[bool, list[Input]]:
    """Return whether it was said how the file is written, and the inputs for that."""
    inputs = _inputs(Group.WRITTEN, form)
    return any(first(form, field.key) for field, _, _ in inputs), inputs


def _inputs(group: Group, form: Form, choices: Sequence[Sequence[str]] = ()) -> list[Input]:
    """Return each field with its value; of check boxes their choices, and those that are checked."""
    return [
        (field, choices if field.kind == "checks" else first(form, field.key), form.get(field.key) or ())
        for field in fields_of(group)
    ]


def edit_of(do: str, form: Form) -> str:
    """Return the edit that a tool asks for, as text; empty where nothing was filled in."""
    if do == "crop":
        ends = [first(form, "crop.first"), first(form, "crop.last")]
        return f"crop {ends[0]} to {ends[1]}".replace("  ", " ").strip() if any(ends) else ""
    if do == "drop":
        column, lines = first(form, "drop.column"), first(form, "drop.lines").replace(" ", "")
        return f"drop {column} lines {lines}".replace("  ", " ") if lines else ""
    if do == "subtract":
        what, columns = first(form, "subtract.what"), form.get("subtract.columns") or []
        return f"subtract {what} from {_joined(columns)}" if what and columns else ""
    if do == "multiply":
        column, kind = first(form, "multiply.column"), first(form, "multiply.kind")
        factor, unit = first(form, "multiply.factor"), first(form, "multiply.unit")
        if not factor and kind.isdecimal() and int(kind) < len(UNITS):
            factor, unit = UNITS[int(kind)][0], unit or UNITS[int(kind)][1]
        return f"multiply {_joined([column])} by {factor}" + (f" as {unit}" if unit else "") if factor else ""
    if do == "hold":
        share = first(form, "hold.share").removesuffix("%").strip()
        return f"hold back {share} %" if share else ""
    return first(form, "edit")


def _joined(names: Sequence[str]) -> str:
    return ",".join(f'"{name}"' if "," in name else name for name in names)


def _list(values: Mapping[str, object], key: str) -> list[str]:
    found = values[key]
    assert isinstance(found, list)
    return found
