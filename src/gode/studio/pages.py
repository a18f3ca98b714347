"""The pages of the studio: the list of runs, the choices before a search, the search itself, its answer."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from gode import __version__
from gode.studio.fields import is_said, known_fields, role_rows, tool_columns, written_fields
from gode.studio.form import EFFORT, ROLES, first
from gode.studio.runs import STOPPING, Job, State
from gode.templates import Markup, render

EXAMPLES = {"growth": "a growth curve", "pendulum": "a swinging pendulum", "shaker": "a shaken structure"}
STATES = {
    State.DRAFT: "being prepared",
    State.QUEUED: "waiting",
    State.RUNNING: "searching",
    State.DONE: "done",
    State.STOPPED: "stopped with the best so far",
    State.FAILED: "failed",
}
FAILED = {"poor": "poor fit:", "unsupported": "not supported:"}  # by the verdict of a record


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


def _list(values: Mapping[str, object], key: str) -> list[str]:
    found = values[key]
    assert isinstance(found, list)
    return found


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


def answer(job: Job, fragment: str) -> str:
    """Return the page with the result of a search."""
    stopped = job.state is State.STOPPED
    return _of_run("answer", job, fragment=Markup(fragment), stopped=stopped, note=job.note)


def _of_run(template: str, job: Job, **values: object) -> str:
    return _page(template, job.title, here=f"/runs/{job.id}", **values)


def _page(template: str, title: str, **values: object) -> str:
    return render(f"gode/studio/templates/{template}.html", title=title, version=__version__, **values)
