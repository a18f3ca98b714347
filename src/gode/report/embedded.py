"""Plots in a page: the values stand in the page, the script draws them in place of a still picture."""

import json
from collections.abc import Mapping, Sequence

from gode.discovery import Discovery, Finding
from gode.markup import Markup, html
from gode.report.mathml import law_mathml
from gode.report.plots import Plots
from gode.report.spec import Plot


def embedded(name: str, plots: Sequence[Plot], still: object = "") -> Markup:
    """Return plots that the script draws; without it, and printed, the still picture is there."""
    if not plots:
        return html(still)
    values = json.dumps([plot.as_json() for plot in plots], allow_nan=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    picture = f'<div class="still">{html(still)}</div>' if still else ""
    return Markup(
        f'<div data-plot="values-{name}" hidden></div>{picture}\n'
        f'<script type="application/json" id="values-{name}">{values}</script>'
    )


def rival_boxes(plots: Plots) -> Markup:
    """Return a box for each equation that can be drawn, to show or hide its curves."""
    if len(plots.shown) < 2:
        return Markup("")
    misfits = {id(c): rms for c, rms in plots.discovery.shown}
    boxes = []
    for i, candidate in enumerate(plots.shown):
        text = "; ".join(Finding(candidate).lines())
        misfit = f"{misfits.get(id(candidate), candidate.rms):.3g}"
        checked = " checked" if i == 0 else ""
        boxes.append(
            f'<label class="choose"><input type="checkbox" data-group="c{i}"{checked}> '
            f"<code>{html(text)}</code> "
            f'<span class="soft">rms {misfit} noise, complexity {candidate.complexity}</span></label>'
        )
    return Markup(
        '<fieldset class="card on-screen" hidden><legend>Equations that are drawn</legend>'
        f"{''.join(boxes)}</fieldset>"
    )


def saved(name: str, files: Mapping[str, str]) -> Markup:
    """Return buttons that save texts which stand in the page."""
    buttons, texts = [], []
    for i, (file, text) in enumerate(files.items()):
        place = f"{name}-{i}"
        buttons.append(
            f'<button type="button" data-save="{place}" data-name="{html(file)}" hidden>'
            f"Save {html(file)}</button>"
        )
        guarded = json.dumps(text).replace("<", "\\u003c")
        texts.append(f'<script type="application/json" id="{place}">{guarded}</script>')
    return Markup(f'<p class="on-screen">{" ".join(buttons)}</p>{"".join(texts)}')


def formula(discovery: Discovery) -> Markup:
    """Return the equation as a formula, and as text with a button that copies it."""
    lines = discovery.equation.lines()
    text = "<br/>".join(html(line) for line in lines)
    return Markup(
        f'<div class="equation" tabindex="0" role="group" aria-label="The equation">'
        f"{law_mathml(discovery.equation.equation)}</div>\n"
        f'<p class="soft"><code id="copy-equation">{text}</code> '
        '<button type="button" class="on-screen small" data-copy="copy-equation" hidden>'
        "Copy the equation</button></p>"
    )
