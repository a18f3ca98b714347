"""The page of a finished run: verdict first, then what supports it, its rivals, and what to take away."""

from collections.abc import Iterable, Sequence

from gode.discovery import Discovery
from gode.discovery.quality import Verdict
from gode.markup import Markup, bullets, copyable, details, html, paragraph
from gode.report.embedded import embedded, formula, rival_boxes
from gode.report.page import all_constants, initial_parts, overview_words
from gode.report.plots import Plots
from gode.report.response import response_plots
from gode.report.sections import answers_section, residuals_words, rivals_section, verdict_box
from gode.studio.form import command_text, in_words
from gode.studio.held import held_back
from gode.studio.runs import Job
from gode.studio.takeaway import Files
from gode.studio.trying import sliders

ZOOM = "Drag across a plot to look closer, double-click to see all; hover to read values."


def answer_page(plots: Plots, files: Files) -> str:
    """Return the answer as HTML, to stand within a page."""
    found, job = plots.discovery, files.job
    here = f"/runs/{job.id}"
    failed = " failed" if found.assessment.is_failure else ""
    constants = [*all_constants(found), details("Initial values", *initial_parts(found))]
    parts = {
        "Data and solution": [paragraph(ZOOM, "soft"), embedded("fit", plots.fit()), rival_boxes(plots)],
        "Held back as a test": held_back(found, job, files.folder),
        "Constants": constants,
        "Try other constants": sliders(plots.shown[0], f"{here}/calculate/curves"),
        "What the data cannot decide": rivals_section(found),
        "Two equations side by side": side_by_side(plots, here),
        "Accuracy against complexity": front_part(plots),
        "Residuals": [bullets(residuals_words(found)), embedded("residuals", plots.residuals())],
        "Phase plane": [embedded("phase", [plots.phase()])],
        "What it means for the system": answers_section(found),
        "Response to the input": [embedded("response", response_plots(found))],
        "In short": [bullets(overview_words(found))],
        "Take away": [take_away(files, here)],
        "To repeat it": [
            copyable("command", command_text(job.sources, job.words), "the command"),
            copyable("python", files.python, "the Python lines"),
        ],
    }
    shown = {title: [part for part in own if part] for title, own in parts.items()}
    shown = {title: own for title, own in shown.items() if own}
    head = [
        Markup(f'<h2 class="headline">{html(found.assessment.headline)}</h2>'),
        Markup(in_words(html(verdict_box(found, titled=False)))),
        *advice(found, job),
        formula(found),
        _contents(shown, here),
    ]
    body = [_titled(title, own) for title, own in shown.items()]
    return Markup(f'<div class="answer{failed}">') + "\n".join(map(html, [*head, *body])) + "</div>"


def _contents(titles: Iterable[str], here: str) -> Markup:
    """Return links to the sections, and the report."""
    links = "".join(f'<li><a href="#{_place(title)}">{html(title)}</a></li>' for title in titles)
    report = f'<a class="button" href="{here}/files/report.html" download>Save the report</a>'
    return Markup(f'<nav class="contents" aria-label="On this page"><ul>{links}</ul>{report}</nav>')


def _titled(title: str, parts: Sequence[object]) -> Markup:
    body = "\n".join(map(html, parts))
    return Markup(f'<section id="{_place(title)}">\n<h2>{html(title)}</h2>\n{body}\n</section>')


def _place(title: str) -> str:
    return title.lower().replace(" ", "-")


def advice(found: Discovery, job: Job) -> list[Markup]:
    """Return what to try where the result is no good one: choices that were not made."""
    if found.quality.verdict is Verdict.GOOD:
        return []
    words = {*job.words}
    runs, inputs = len(found.prepared.dataset.runs), found.prepared.dataset.inputs
    tries = [] if {"auto", "--frame"} & words else ["Try both orders."]
    tries += (
        [] if inputs else ["If something drives the system, give it as a known input: a column or a formula."]
    )
    if runs > 1 and not found.settings.individual:
        tries.append("If the runs are not quite alike, give each constants of its own.")
    if len(found.prepared.dataset.states) == 1:
        tries.append("If another signal was measured that takes part, add it as a state.")
    tries += [] if "thorough" in words else ["Search with more effort."]
    tries.append("Crop what does not belong to the experiment, and drop points that went wrong.")
    again = f"/runs/{job.id}/again"
    button = (
        f'<form method="post" action="{again}"><button>Change the choices and search again</button></form>'
    )
    opened = found.assessment.is_failure
    return [details("What to try", bullets(tries), Markup(button), opened=opened)]


def front_part(plots: Plots) -> list[Markup]:
    """Return the front; a click on a point shows its curve above."""
    if len(plots.discovery.candidates) == 1:
        return []
    words = "Click a point to draw its equation over the data; the boxes above do the same by keyboard."
    return [paragraph(words, "soft"), embedded("front", [plots.front()])]


def side_by_side(plots: Plots, here: str) -> list[Markup]:
    """Return the choice of two equations to compare; nothing if there is only one."""
    if len(plots.shown) < 2:
        return []
    chosen = []
    for key, label, first in (("one", "One", 0), ("other", "The other", 1)):
        options = "".join(
            f'<option value="{i}"{" selected" if i == first else ""}>{html(plots.name(i))}</option>'
            for i in range(len(plots.shown))
        )
        chosen.append(
            f'<p class="field"><label for="{key}">{label}</label><select id="{key}">{options}</select></p>'
        )
    return [
        Markup(
            f'<div id="compare" data-url="{here}/calculate/compare">{"".join(chosen)}'
            '<p><button type="button" id="compare-go">Compare them</button></p>'
            '<div class="sides" id="sides"></div><p id="experiment" role="status"></p>'
            '<div id="foretold"></div></div>'
        )
    ]


def take_away(files: Files, here: str) -> Markup:
    """Return links to all files."""
    items = "".join(
        f'<li><a href="{here}/files/{name}" download>{name}</a> <span class="soft">{html(words)}</span></li>'
        for name, words in files.listed().items()
    )
    link = f'class="button" href="{here}/files/report.html?view=1" target="_blank" rel="noopener"'
    return Markup(f'<p><a {link}>Open the report</a></p><ul class="takeaway">{items}</ul>')
