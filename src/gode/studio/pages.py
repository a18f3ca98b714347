"""The pages of the studio: the list of runs, the choices before a search, the search itself, its answer."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from gode import __version__
from gode.markup import Markup, bullets, copyable, details, html, paragraph, section
from gode.studio.fields import edit_tools, known_fields, role_table, written_fields
from gode.studio.form import Form, first
from gode.studio.runs import STOPPING, Job, State

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

BACK = Markup('<p><a class="button" href="/">Back to the runs</a></p>')


def shell(title: str, *parts: object, script: str = "") -> str:
    """Return a page with the head and foot that all have."""
    body = "\n".join(html(part) for part in parts if part)
    scripts = "".join(f'<script src="/static/{name}" defer></script>' for name in script.split())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{html(title)} · gode studio</title>\n'
        '<link rel="stylesheet" href="/static/studio.css">\n<link rel="icon" href="data:,">\n'
        f"{scripts}\n</head>\n"
        '<body>\n<a class="skip" href="#main">To the content</a>\n'
        '<header class="top"><a href="/">gode studio</a> '
        '<span class="soft">on this machine only</span></header>\n'
        f'<main id="main">\n{body}\n</main>\n'
        f"<footer>gode {html(__version__)}. Nothing leaves this machine.</footer>\n"
        "</body>\n</html>\n"
    )


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
    """Return the page to begin: drop a file, paste a table, or go back to an earlier run."""
    tries = " ".join(
        f'<button name="example" value="{name}">{html(words)}</button>' for name, words in EXAMPLES.items()
    )
    upload = Markup(
        '<form method="post" action="/runs" enctype="multipart/form-data" class="drop" id="drop">\n'
        '<label for="file"><strong>Drop a file here, or choose one</strong></label>\n'
        '<input type="file" id="file" name="file" multiple aria-describedby="kinds">\n'
        '<p class="soft" id="kinds">CSV, TSV, Excel, MATLAB, HDF5 or Parquet, with a column of times. '
        "Several files are several runs of one system.</p>\n"
        '<details id="paste"><summary>Paste a table instead (or press Ctrl-V anywhere on this page)</summary>'
        '<label for="text">Rows copied from a spreadsheet or a text, with their header</label>'
        '<textarea id="text" name="text" rows="6" spellcheck="false"></textarea></details>\n'
        '<p><button class="main" type="submit">Read it</button></p>\n'
        f'<p class="soft">Or try {tries}.</p>\n</form>'
    )
    words = (
        "Measurements in, the differential equation behind them out: with error bars, with the rivals that "
        "the data cannot rule out, and with a verdict on whether to trust it."
    )
    runs = _runs(jobs) if jobs else paragraph("There are no runs yet.", "soft")
    kept = f"All runs are folders in {folder}; gode report, simulate and export read them, too."
    return shell(
        "Runs", Markup("<h1>Find the equation behind a measurement</h1>"), paragraph(words), problem(error),
        upload, section("Runs", runs, paragraph(kept, "soft")), script="plot.js studio.js",
    )  # fmt: skip


def _runs(jobs: Sequence[tuple[Job, str, str]]) -> Markup:
    rows = []
    for job, equation, verdict in jobs:
        link = f'<a href="/runs/{job.id}">{html(job.title)}</a>'
        what = f"<code>{html(equation)}</code>" if equation else html(job.message[:120])
        if equation and verdict in FAILED:
            what = f'<strong class="failed">{FAILED[verdict]}</strong> <span class="soft">{what}</span>'
        note = f'<p class="soft">{html(job.note)}</p>' if job.note else ""
        when = html(job.made.replace("T", " ")[:16])
        rows.append(
            f"<tr><td>{link}{note}</td><td>{html(STATES[job.state])}</td><td>{what}</td><td>{when}</td></tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("run", "state", "equation", "made"))
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="Runs">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def problem(sentence: str) -> Markup | str:
    """Return a sentence on what is wrong, and below it the place in an equation; nothing if all is well."""
    if not sentence:
        return ""
    words, _, place = sentence.partition("\n")
    shown = f"<pre>{html(place)}</pre>" if place else ""
    return Markup(f'<div class="problem" role="alert"><p>{html(words)}</p>{shown}</div>')


def setup(job: Job, seen: Mapping[str, object], checked: Mapping[str, object], error: str = "") -> str:
    """Return the page on which columns get their roles, data are edited, and what is known is said."""
    here = f"/runs/{job.id}"
    form = job.form
    told, assumptions = _list(checked, "told"), _list(seen, "assumptions")
    plots = f'<div id="plots" data-src="{here}/data.json" data-select="drop" aria-live="polite"></div>'
    parts = [
        section(
            "What was read", paragraph(_read_words(job, seen)), bullets(_list(seen, "how")),
            _part(form, _list(seen, "sheets"), job), written_fields(job), role_table(seen, form),
        ),
        section("The data", Markup(plots), edit_tools(job, seen)),
        section("What do you know?", known_fields(form, assumptions)),
        section(
            "The same as a command",
            Markup(f'<div id="problem" aria-live="polite">{problem(str(checked.get("problem", "")))}</div>'),
            Markup(f'<div id="told">{bullets(told)}</div>'),
            _shown("command", str(checked.get("command", "")), "the command"),
            details("In Python", _shown("python", str(checked.get("python", "")), "the Python lines")),
        ),
        Markup('<p class="bar"><button class="main" type="submit" id="go">Find the equation</button></p>'),
    ]  # fmt: skip
    body = "\n".join(map(html, parts))
    page = Markup(
        f'<form method="post" action="{here}/start" id="setup" data-save="{here}/form">\n{body}\n</form>'
    )
    title = Markup(f"<h1>{html(job.title)}</h1>")
    return shell(job.title, title, problem(error), page, _delete(job), script="plot.js studio.js")


def unreadable(job: Job, sentence: str) -> str:
    """Return the page about a file that is no table, or does not have the part that was chosen."""
    chosen = first(job.form, "part")
    other: Markup | str = ""
    if chosen or _has_parts(job):
        field = f'<label for="part">Sheet or variable to read</label> {_text_part(chosen)}'
        other = Markup(
            f'<form method="post" action="/runs/{job.id}/part"><p class="field">{field}</p>'
            '<p><button class="main">Read it</button> <span class="soft">Empty for the first with numbers.'
            "</span></p></form>"
        )
    return shell(
        job.title, Markup(f"<h1>{html(job.title)}</h1>"), problem(sentence), other,
        Markup('<p><a class="button" href="/">Back, to another file</a></p>'), _delete(job),
    )  # fmt: skip


def _read_words(job: Job, seen: Mapping[str, object]) -> str:
    notes = _list(seen, "notes") if not _list(seen, "how") else []
    more = f" and {len(job.files) - 1} more files" if len(job.files) > 1 else ""
    how = f": {', '.join(map(str, notes))}" if notes else ""
    return f"{job.files[0]}{more}: {seen['n_rows']} rows, {len(_list(seen, 'names'))} columns{how}."


def _part(form: Form, sheets: Sequence[str], job: Job) -> Markup | str:
    """Return the choice of a sheet, or of a variable of a file that is no text."""
    chosen = first(form, "part")
    button = f'<button class="small" id="part-go" formaction="/runs/{job.id}/part">Read it</button>'
    if len(sheets) > 1:
        names = ["", *sheets]
        options = "".join(
            f'<option value="{html(name)}"{" selected" if name == chosen else ""}>'
            f"{html(name or 'the first with numbers')}</option>"
            for name in names
        )
        select = f'<select id="part" name="part">{options}</select>'
        return Markup(f'<p class="field"><label for="part">Sheet</label>{select} {button}</p>')
    if not _has_parts(job):
        return Markup(f'<input type="hidden" name="part" value="{html(chosen)}">') if chosen else ""
    field = f'<label for="part">Its name</label> {_text_part(chosen)} {button}'
    return details("Another variable of the file", Markup(field), opened=bool(chosen))


def _has_parts(job: Job) -> bool:
    """Tell whether the first file may have several variables, by its name."""
    return job.files[0].lower().endswith((".mat", ".h5", ".hdf5"))


def _text_part(chosen: str) -> str:
    return f'<input id="part" name="part" value="{html(chosen)}">'


def _shown(name: str, text: str, words: str) -> Markup:
    return Markup(f'<div id="{name}">{copyable(name, text, words)}</div>')


def _list(values: Mapping[str, object], key: str) -> list[str]:
    found = values[key]
    assert isinstance(found, list)
    return found


def search(job: Job, words: str) -> str:
    """Return the page that shows a search while it runs."""
    here = f"/runs/{job.id}"
    live = Markup(
        f'<div id="live" data-state="{here}/state.json" data-src="{here}/data.json" data-was="{job.state}">\n'
        f'<p id="stage" role="status" aria-live="polite">{html(STATES[job.state])}</p>\n'
        '<progress id="done" aria-label="Progress of the search" max="1"></progress>\n'
        '<p class="soft" id="counts"></p>\n<p class="equation-text"><code id="best"></code></p>\n'
        '<div id="plots"></div>\n<div id="front"></div>\n</div>\n'
        "<noscript><p>This is the state when the page was loaded; load it again to see more.</p></noscript>\n"
    )
    if job.message == STOPPING:
        stop: Markup = paragraph(
            "It is being stopped: the best equation so far is finished, which takes a moment."
        )
    elif job.state is State.QUEUED:
        stop = _button(f"{here}/stop", "Take it out of the queue")
    else:
        stop = _button(f"{here}/stop", "Stop and keep the best")
    return shell(
        job.title, Markup(f"<h1>{html(job.title)}</h1>"), live, stop,
        paragraph("You may close this page: the search goes on; the list of runs leads back to it.", "soft"),
        section("The command", copyable("command", words, "the command")), script="plot.js studio.js",
    )  # fmt: skip


def failed(job: Job, command: str) -> str:
    """Return the page about a search that ended without a result."""
    here = f"/runs/{job.id}"
    again = Markup(
        f'<div class="buttons">{_button(f"{here}/resume", "Try again from where it stopped", "main")}'
        f"{_button(f'{here}/again', 'Change the choices')}</div>"
    )
    return shell(
        job.title, Markup(f"<h1>{html(job.title)}</h1>"), problem(f"There is no result: {job.message}"),
        again, section("The command", copyable("command", command, "the command")), _delete(job),
    )  # fmt: skip


def answer(job: Job, fragment: str) -> str:
    """Return the page with the result of a search."""
    here = f"/runs/{job.id}"
    stopped = (
        paragraph("This search was stopped; going on may find a better equation.")
        if job.state is State.STOPPED
        else ""
    )
    resume = _button(f"{here}/resume", "Go on with the search") if job.state is State.STOPPED else ""
    again = _button(f"{here}/again", "Change the choices and search again")
    buttons = Markup(f'<div class="buttons">{resume}{again}</div>')
    note = Markup(
        f'<form method="post" action="{here}/note" class="note"><label for="note">Note on this run</label>'
        f'<textarea id="note" name="note" rows="2">{html(job.note)}</textarea>'
        "<button>Keep the note</button></form>"
    )
    return shell(
        job.title, Markup(f"<h1>{html(job.title)}</h1>"), stopped, Markup(fragment),
        section("This run", buttons, note), _delete(job), script="plot.js studio.js",
    )  # fmt: skip


def _delete(job: Job) -> Markup:
    return details("Delete this run", _button(f"/runs/{job.id}/delete", "Delete it with its files", "risk"))


def _button(address: str, words: str, kind: str = "") -> Markup:
    """Return a button that posts to an address."""
    return Markup(
        f'<form method="post" action="{address}"><button class="{kind}">{html(words)}</button></form>'
    )
