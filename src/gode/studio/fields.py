"""The inputs of the page before a search: roles of columns, edits of the data, what is known."""

from collections.abc import Mapping, Sequence

from gode.markup import Markup, details, html, paragraph
from gode.studio.form import DATA, FRAME, LAW, ROLES, SEARCH, WRITTEN, Field, Form, first, in_words
from gode.studio.runs import Job

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


def role_table(seen: Mapping[str, object], form: Form) -> Markup:
    """Return a row for each column: its name, first values, role, and why that was guessed."""
    names, units, why, rows = (_list(seen, key) for key in ("names", "units", "why", "rows"))
    out = []
    for i, name in enumerate(names):
        unit = f" [{units[i]}]" if units[i] else ""
        chosen = first(form, f"role.{i}")
        options = "".join(
            f'<option value="{role}"{" selected" if role == chosen else ""}>{html(words)}</option>'
            for role, words in ROLES.items()
        )
        values = ", ".join(str(row[i]) or "–" for row in rows[:5] if i < len(row))
        out.append(
            f'<tr><th scope="row">{html(str(name) + unit)}</th><td class="values">{html(values)} …</td>'
            f'<td><select name="role.{i}" aria-label="Role of column {html(name)}">{options}</select></td>'
            f'<td class="soft">{html(in_words(str(why[i])))}</td></tr>'
        )
    head = "".join(
        f'<th scope="col">{w}</th>' for w in ("column", "first values", "role", "why it was guessed")
    )
    checked = " checked" if first(form, "wells") else ""
    return Markup(
        '<div class="scroll tall" tabindex="0" role="region" aria-label="Columns">'
        f'<table class="roles"><thead><tr>{head}</tr></thead><tbody>{"".join(out)}</tbody></table></div>'
        f'<p><label><input type="checkbox" name="wells"{checked}> '
        "Each state column is a run of its own, with the same law: "
        "wells of a plate, replicates, patients</label></p>"
    )


def edit_tools(job: Job, seen: Mapping[str, object]) -> Markup:
    """Return the list of edits, each with a button to undo it, and the tools that add one."""
    here = f"/runs/{job.id}/edits"
    items = "".join(
        f'<li><code>{html(edit)}</code> <button class="small" formaction="{here}?undo={i}" '
        f'aria-label="Undo {html(edit)}">Undo</button></li>'
        for i, edit in enumerate(job.edits)
    )
    done = (
        f'<ol class="edits">{items}</ol>' if items else '<p class="soft">The data are as they were read.</p>'
    )
    names = [str(name) for name in _list(seen, "names")]
    usable = [i for i, right in enumerate(_list(seen, "numeric")) if right]
    signals = [i for i in usable if first(job.form, f"role.{i}") in ("state", "velocity", "acceleration")]
    columns = [names[i] for i in usable]
    tools = (
        _tool(here, "crop", "Keep a part of the time", _text("crop.first", "from"), _text("crop.last", "to")),
        _tool(
            here, "drop", "Drop points", _columns("drop.column", columns, "of", everything=True),
            _text("drop.lines", "in lines", "14,17-19"),
        ),
        _tool(
            here, "subtract", "Subtract a blank",
            _text("subtract.what", "this column or number", choices=columns),
            _many("subtract.columns", columns, "from", [names[i] for i in signals]),
        ),
        _tool(
            here, "multiply", "Convert a unit", _columns("multiply.column", columns, "of"), _conversions(),
            _text("multiply.factor", "or multiply by"), _text("multiply.unit", "new unit"),
        ),
        _tool(here, "hold", "Hold back the end as a test", _text("hold.share", "per cent of the time", "20")),
    )  # fmt: skip
    hint = paragraph(
        "With the pointer: choose “Drop points” above a plot, then click a point or frame some.",
        "soft",
    )
    inner = [hint, Markup('<input type="hidden" name="edit" id="edit" value="">'), *tools]
    return Markup(html(Markup(done)) + details("Edit the data", *inner, opened=bool(job.edits)))


def known_fields(form: Form, assumptions: Sequence[Sequence[str]]) -> Markup:
    """Return the inputs for what is known, and for how to search.

    Args:
        assumptions: their names and meanings.
    """
    known = any(first(form, field.key) for field in FRAME)
    parts = [
        _fields("About the law", LAW, form, assumptions),
        details("A part of the equation is known", _fields("", FRAME, form), opened=known),
        _fields("About the data", DATA, form),
        _fields("The search", SEARCH, form),
    ]
    return Markup("".join(parts))


def written_fields(job: Job) -> Markup:
    """Return the inputs for how the file is written, with the button that reads it again."""
    said = any(first(job.form, field.key) for field in WRITTEN)
    here = f"/runs/{job.id}/part"
    button = Markup(f'<p><button class="small" id="reread" formaction="{here}">Read it again</button></p>')
    inner = (_fields("", WRITTEN, job.form), button)
    return Markup(details("How the file is written, if it was read wrongly", *inner, opened=said))


def _fields(
    title: str, fields: Sequence[Field], form: Form, assumptions: Sequence[Sequence[str]] = ()
) -> Markup:
    head = f"<h3>{html(title)}</h3>" if title else ""
    plain = "".join(_input(field, form) for field in fields if field.kind != "checks")
    checks = "".join(_checks(field, form, assumptions) for field in fields if field.kind == "checks")
    return Markup(f'{head}<div class="fields">{plain}</div>{checks}')


def _checks(field: Field, form: Form, choices: Sequence[Sequence[str]]) -> str:
    chosen = form.get(field.key) or []
    boxes = "".join(
        f'<label><input type="checkbox" name="{field.key}" value="{html(value)}"'
        f"{' checked' if value in chosen else ''}> {html(value)}: {html(words)}</label>"
        for value, words in choices
    )
    return f'<fieldset class="tool checks"><legend>{html(field.label)}</legend>{boxes}</fieldset>'


def _input(field: Field, form: Form) -> str:
    value, key = first(form, field.key), html(field.key)
    hint = f'<span class="soft" id="{key}-help">{html(field.help)}</span>' if field.help else ""
    described = f' aria-describedby="{key}-help"' if field.help else ""
    if field.kind in ("choice", "flag"):
        options = "".join(
            f'<option value="{html(v)}"{" selected" if v == value else ""}>{html(words)}</option>'
            for v, words in field.choices
        )
        control = f'<select name="{key}" id="{key}"{described}>{options}</select>'
    elif field.kind == "lines":
        attributes = f'name="{key}" id="{key}" rows="2" spellcheck="false"{described}'
        control = f"<textarea {attributes}>{html(value)}</textarea>"
    else:
        suggested = f' list="{key}-list"' if field.choices else ""
        control = (
            f'<input name="{key}" id="{key}" value="{html(value)}" spellcheck="false"{suggested}{described}>'
            + _suggestions(key, [v for v, _ in field.choices])
        )
    return f'<p class="field"><label for="{key}">{html(field.label)}</label>{control}{hint}</p>'


def _tool(here: str, do: str, title: str, *inputs: str) -> Markup:
    return Markup(
        f'<fieldset class="tool"><legend>{html(title)}</legend>{"".join(inputs)}'
        f'<button class="small" formaction="{here}?do={do}">Do it</button></fieldset>'
    )


def _text(key: str, label: str, hint: str = "", choices: Sequence[str] = ()) -> str:
    shown = f' placeholder="{html(hint)}"' if hint else ""
    suggested = f' list="{key}-list"' if choices else ""
    return (
        f'<label>{html(label)} <input class="short" name="{key}"{shown}{suggested}></label>'
        + _suggestions(key, choices)
    )


def _suggestions(key: str, choices: Sequence[str]) -> str:
    options = "".join(f'<option value="{html(choice)}"></option>' for choice in choices)
    return f'<datalist id="{key}-list">{options}</datalist>' if choices else ""


def _columns(key: str, names: Sequence[str], label: str, *, everything: bool = False) -> str:
    options = "".join(f'<option value="{html(name)}">{html(name)}</option>' for name in names)
    options = ('<option value="">all columns</option>' if everything else "") + options
    return f'<label>{html(label)} <select name="{key}">{options}</select></label>'


def _many(key: str, names: Sequence[str], label: str, chosen: Sequence[str]) -> str:
    boxes = "".join(
        f'<label><input type="checkbox" name="{key}" value="{html(name)}"'
        f"{' checked' if name in chosen else ''}> {html(name)}</label>"
        for name in names
    )
    return (
        f'<span class="many" role="group" aria-label="Columns to subtract from">{html(label)} {boxes}</span>'
    )


def _conversions() -> str:
    options = "".join(f'<option value="{i}">{html(words)}</option>' for i, (_, _, words) in enumerate(UNITS))
    return f'<label>as <select name="multiply.kind"><option value="">…</option>{options}</select></label>'


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
