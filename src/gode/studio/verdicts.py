"""The page of a finished run: verdict first, then what supports it, its rivals, and what to take away."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from gode.discovery import Discovery, Finding
from gode.discovery.quality import Verdict
from gode.equation.system import make_law
from gode.markup import Markup, bullets, copyable, details, html, paragraph, section
from gode.report.embedded import embedded, formula, rival_boxes
from gode.report.page import all_constants, initial_parts, overview_words
from gode.report.plots import Plots
from gode.report.repeat import python_call
from gode.report.response import response_plots
from gode.report.sections import answers_section, residuals_words, rivals_section, verdict_box
from gode.selection import Candidate
from gode.studio.form import command_text
from gode.studio.held import held_back
from gode.studio.runs import Job

FILES = (
    ("report.html", "report, one page with everything"),
    ("record.json", "record, which gode and Python load"),
    ("fit.csv", "fit and residuals as a table"),
    ("overview.png", "picture as PNG"),
    ("overview.svg", "picture as SVG"),
    ("equation.tex", "equation in LaTeX"),
    ("model.py", "program in Python"),
    ("model.c", "program in C"),
    ("model.jl", "program in Julia"),
    ("model.m", "program in MATLAB"),
    ("model.mo", "model in Modelica"),
    ("notebook.ipynb", "notebook"),
    ("log.txt", "what the command printed"),
)
STEPS = 200  # of a slider
REACH = 1.96  # standard errors that a slider goes to either side


def answer_page(found: Discovery, plots: Plots, job: Job, folder: Path) -> str:
    """Return the answer as HTML, to stand within a page."""
    here = f"/runs/{job.id}"
    parts = [
        Markup(f'<h2 class="headline">{html(headline(found))}</h2>'),
        verdict_box(found),
        formula(found),
        section("Constants", *all_constants(found), details("Initial values", *initial_parts(found))),
        section("Data and solution", embedded("fit", plots.fit()), rival_boxes(plots)),
        section("Held back as a test", *held_back(found, job, folder)),
        section("Try other constants", *sliders(plots, here)),
        section("What the data cannot decide", *rivals_section(found)),
        section("Two equations side by side", *side_by_side(plots, here)),
        section("Accuracy against complexity", *front_part(plots)),
        section("Residuals", bullets(residuals_words(found)), embedded("residuals", plots.residuals())),
        section("Phase plane", embedded("phase", plots.phase())),
        section("What it means for the system", *answers_section(found)),
        section("Response to the input", embedded("response", response_plots(found))),
        section("In short", bullets(overview_words(found))),
        section("Take away", take_away(here)),
        section(
            "To repeat it",
            copyable("command", command_text(job.files, job.words), "the command"),
            copyable("python", python_call(found), "the Python lines"),
        ),
    ]
    return "\n".join(html(part) for part in parts if part)


def headline(found: Discovery) -> str:
    """Return the verdict in a few words."""
    n = len(found.ties)
    verdict = found.quality.verdict
    if verdict is Verdict.UNSUPPORTED:
        return "No equation is supported by these data"
    if verdict is Verdict.POOR:
        return "A poor fit: do not rely on this equation"
    if verdict is Verdict.PATTERN:
        return "An equation that leaves something unexplained"
    return "A likely law" if n == 1 else f"One of {n} equations that explain the data about equally well"


def front_part(plots: Plots) -> list[Markup]:
    """Return the front; a click on a point shows its curve above."""
    specs = plots.front()
    words = "Click a point to draw its equation over the data; the boxes above do the same by keyboard."
    return [paragraph(words, "soft"), embedded("front", specs)] if specs else []


def sliders(plots: Plots, here: str) -> list[Markup]:
    """Return a slider for each constant of the named equation, within its error bar."""
    candidate = plots.shown[0]
    c, errors = np.array(candidate.equation.constants), candidate.errors
    if not len(c):
        return []
    rows = []
    for i, (value, error) in enumerate(zip(c.tolist(), errors.tolist(), strict=True)):
        half = REACH * error if np.isfinite(error) and error > 0 else 0.1 * (abs(value) or 1.0)
        place, scale = place_of(candidate, i)
        rows.append(
            f'<div class="slider"><label for="slider-{i}">Constant of {html(place)}: '
            f'<output id="value-{i}">{scale * value:.5g}</output></label>'
            f'<input type="range" id="slider-{i}" data-constant="{i}" data-scale="{scale!r}" '
            f'min="{value - half!r}" max="{value + half!r}" step="{2 * half / STEPS!r}" '
            f'value="{value!r}" data-best="{value!r}"></div>'
        )
    words = (
        "Each slider goes through the 95 % interval of its constant; the curve is drawn into the plot of "
        "data and solution."
    )
    return [
        paragraph(words, "soft"),
        Markup(
            f'<div id="sliders" data-url="{here}/calculate/curves">{"".join(rows)}'
            '<p><button type="button" id="sliders-reset">Back to the fitted values</button></p></div>'
        ),
    ]


def place_of(candidate: Candidate, i: int) -> tuple[str, float]:
    """Return what a free constant multiplies or where it stands, and how it is scaled in the text.

    Both are found by what changes with it.
    """
    before = Finding(candidate).constants
    c = np.array(candidate.equation.constants)
    value, step = c[i], 1e-3 * (abs(c[i]) or 1.0)
    c[i] += step
    moved = replace(candidate, equation=make_law(candidate.equation.skeleton, c))
    after = Finding(moved).constants
    if len(after) != len(before):
        return f"place {i + 1}", 1.0
    changed = [(a, b.value - a.value) for a, b in zip(before, after, strict=True) if a.value != b.value]
    places = " and ".join("the constant term" if a.place == "1" else a.place for a, _ in changed)
    if len(changed) == 1:
        shown, change = changed[0]
        scale = float(change / step)
        if np.isclose(scale * value, shown.value, rtol=1e-6, atol=0.0):  # it is the number in the text
            return places, scale
    return places or f"place {i + 1}", 1.0


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
            '<div class="sides" id="sides"></div><p id="experiment" role="status"></p></div>'
        )
    ]


def take_away(here: str) -> Markup:
    """Return links to all files."""
    items = "".join(
        f'<li><a href="{here}/files/{name}" download>{name}</a> <span class="soft">{html(words)}</span></li>'
        for name, words in FILES
    )
    link = f'class="button" href="{here}/files/report.html?view=1" target="_blank" rel="noopener"'
    return Markup(f'<p><a {link}>Open the report</a></p><ul class="takeaway">{items}</ul>')
