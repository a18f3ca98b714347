"""The pages of the studio: the runs, the choices before a search, the search itself, its answer."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from gode import __version__
from gode.options.entry import Group
from gode.studio.form import EFFORT, ROLES, Field, Form, fields_of, first, in_words
from gode.studio.runs import STOPPING, Job, State
from gode.templates import Markup, render

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
HEADER = "header"  # the key of the line of the names
Input = tuple[Field, object, Sequence[str]]
Inputs = tuple[str, bool, bool, list[Input]]  # title, folded away, opened, and what is in it


def role_rows(seen: Mapping[str, object], form: Form) -> list[tuple[str, ...]]:
    """Return name, unit, first values, role of each column, why that was guessed, and what it measures."""
    names, units, why, rows = (_list(seen, key) for key in ("names", "units", "why", "rows"))
    out: list[tuple[str, ...]] = []
    for i, name in enumerate(names):
        values = ", ".join(str(row[i]) or "–" for row in rows[:5] if i < len(row))
        out.append(
            (
                str(name),
                str(units[i] or ""),
                values,
                first(form, f"role.{i}"),
                in_words(str(why[i])),
                first(form, f"measures.{i}"),
            )
        )
    return out


def tool_columns(seen: Mapping[str, object], form: Form) -> dict[str, list[str]]:
    """Return the columns that tools may edit, those of them that are signals, and conversions of units."""
    names = [str(name) for name in _list(seen, "names")]
    usable = [i for i, right in enumerate(_list(seen, "numeric")) if right]
    signals = [i for i in usable if first(form, f"role.{i}") in ("state", "velocity", "acceleration")]
    return {
        "columns": [names[i] for i in usable],
        "blank": _list(seen, "blank") if "blank" in seen else [],
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


def is_said(form: Form) -> bool:
    """Tell whether something is known, so that it is shown."""
    groups = (Group.LAW, Group.FRAME, Group.DATA, Group.SEARCH)
    return any(first(form, field.key) for each in groups for field, _, _ in _inputs(each, form))


def written_fields(form: Form, *, shown: bool) -> tuple[bool, list[Input]]:
    """Return whether it was said how the file is written, and the inputs for that.

    Args:
        shown: whether the lines of the file are shown, where that of the names can be marked.
    """
    inputs = [each for each in _inputs(Group.WRITTEN, form) if not (shown and each[0].key == HEADER)]
    return any(first(form, field.key) for field, _, _ in inputs), inputs


def _inputs(group: Group, form: Form, choices: Sequence[Sequence[str]] = ()) -> list[Input]:
    """Return each field with its value; of check boxes their choices, and those that are checked."""
    return [
        (field, choices if field.kind == "checks" else first(form, field.key), form.get(field.key) or ())
        for field in fields_of(group)
        if field is not EFFORT
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


EXAMPLES = {"growth": "a growth curve", "pendulum": "a swinging pendulum", "shaker": "a shaken structure"}
STATES = {
    State.DRAFT: "being prepared",
    State.QUEUED: "waiting",
    State.RUNNING: "searching",
    State.DONE: "done",
    State.STOPPED: "stopped",
    State.FAILED: "failed",
}
VERDICTS = {"good": "good fit", "pattern": "something is left"}  # by the verdict of a record
FAILED = {"poor": "poor fit", "unsupported": "not supported"}


def static(name: str) -> bytes:
    """Return a file that pages use: their style, or a script.

    Raises:
        FileNotFoundError: if there is none.
    """
    places = {
        "studio.css": "studio/static",
        "studio.js": "studio/static",
        "plot.js": "report/templates",
        "plot.css": "report/templates",
    }
    if name not in places:
        raise FileNotFoundError(name)
    return (files("gode") / places[name] / name).read_bytes()  # without importing the engine


def home(jobs: Sequence[tuple[Job, str, str]], folder: str, error: str = "") -> str:
    """Return the page to begin: drop a file, paste a table, or go back to an earlier run.

    Args:
        jobs: each with its equation and its verdict.
    """
    return _page(
        "home",
        "Runs",
        jobs=jobs,
        folder=folder,
        error=error,
        examples=EXAMPLES,
        states=STATES,
        failed=FAILED,
        verdicts=VERDICTS,
    )


def problem_page(sentence: str) -> str:
    """Return a page that says what is wrong."""
    return _page("problem", "A problem", sentence=sentence)


def setup(job: Job, seen: Mapping[str, object], checked: Mapping[str, object], error: str = "") -> str:
    """Return the page on which columns get their roles, data are edited, and what is known is said."""
    names = _list(seen, "sheets")
    sheets = [("", "the first with numbers"), *((name, name) for name in names)] if len(names) > 1 else []
    return _of_run(
        "setup",
        job,
        seen=seen,
        checked=checked,
        error=error,
        read=_read_words(job, seen),
        sheets=sheets,
        part=first(job.form, "part"),
        has_parts=_has_parts(job),
        written=written_fields(job.form, shown=bool(_list(seen, "lines"))),
        header=first(job.form, "header"),
        columns=role_rows(seen, job.form),
        roles=ROLES,
        wells=first(job.form, "wells"),
        edits=job.edits,
        tools=tool_columns(seen, job.form),
        known=known_fields(job.form, _list(seen, "assumptions")),
        opened=is_said(job.form),
        effort=EFFORT,
        effort_chosen=first(job.form, EFFORT.key),
    )


def unreadable(job: Job, sentence: str) -> str:
    """Return the page about a file that is no table, or does not have the part that was chosen."""
    part = first(job.form, "part")
    return _of_run("unreadable", job, sentence=sentence, part=part, has_parts=_has_parts(job))


def _read_words(job: Job, seen: Mapping[str, object]) -> str:
    notes = _list(seen, "notes") if not _list(seen, "how") else []
    more = f" and {len(job.files) - 1} more files" if len(job.files) > 1 else ""
    how = f": {', '.join(map(str, notes))}" if notes else ""
    return f"{job.files[0]}{more}: {seen['n_rows']} rows, {len(_list(seen, 'names'))} columns{how}."


def _has_parts(job: Job) -> bool:
    """Tell whether the first file may have several variables, by its name."""
    return job.files[0].lower().endswith((".mat", ".h5", ".hdf5"))


def search(job: Job, words: str) -> str:
    """Return the page that shows a search while it runs."""
    return _of_run(
        "search",
        job,
        command=words,
        state=job.state,
        state_words=STATES[job.state],
        stopping=job.message == STOPPING,
        queued=job.state is State.QUEUED,
    )


def failed(job: Job, command: str) -> str:
    """Return the page about a search that ended without a result."""
    return _of_run("failed", job, command=command, message=job.message)


def answer(job: Job, fragment: str, base: Job | None = None) -> str:
    """Return the page with the result of a search.

    Args:
        base: the run that it was made from, if that has a result, too.
    """
    stopped = job.state is State.STOPPED
    return _of_run(
        "answer", job, fragment=Markup(fragment), stopped=stopped, note=job.note, base=base, run=job.id
    )


def compare(sides: Sequence[tuple[Job, str]]) -> str:
    """Return the page with some results beside each other."""
    return _page("compare", "Compare", sides=[(job, Markup(fragment)) for job, fragment in sides])


def _of_run(template: str, job: Job, **values: object) -> str:
    return _page(template, job.title, here=f"/runs/{job.id}", **values)


def _page(template: str, title: str, **values: object) -> str:
    return render(f"gode/studio/templates/{template}.html", title=title, version=__version__, **values)
