"""Other constants to try: a slider for each number in the equation as it is written."""

from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.discovery import Finding
from gode.discovery.constants import INSIDE
from gode.equation.system import make_law
from gode.markup import Markup, html, paragraph
from gode.selection import Candidate

STEPS = 200  # of a slider
REACH = 1.96  # standard errors that a slider goes to either side
ROUNDS = 3  # of solving for the free constants; slopes hardly change within error bars


def sliders(candidate: Candidate, address: str) -> list[Markup]:
    """Return a slider for each constant of an equation, through its error bar."""
    rows = []
    for i, constant in enumerate(Finding(candidate).constants):
        value, error = constant.value, constant.error
        half = REACH * error if np.isfinite(error) and error > 0 else 0.1 * (abs(value) or 1.0)
        rows.append(
            f'<div class="slider"><label for="slider-{i}">{html(_words(constant.name, constant.place))}: '
            f'<output id="value-{i}">{value:.5g}</output></label>'
            f'<input type="range" id="slider-{i}" data-constant="{i}" '
            f'min="{value - half!r}" max="{value + half!r}" step="{2 * half / STEPS!r}" '
            f'value="{value!r}" data-best="{value!r}"></div>'
        )
    if not rows:
        return []
    words = (
        "Each slider goes through the 95 % interval of its constant; the curve is drawn into the plot of "
        "data and solution."
    )
    return [
        paragraph(words, "soft"),
        Markup(
            f'<div id="sliders" data-url="{address}">{"".join(rows)}'
            '<p><button type="button" id="sliders-reset">Back to the fitted values</button></p></div>'
        ),
    ]


def _words(name: str, place: str) -> str:
    """Return what a constant is called: its name, or what it multiplies."""
    body, comma, where = place.partition(", in ")
    if name:
        return name
    if body == "1":
        return f"The constant term{comma}{where}"
    return f"The constant {place}" if place.startswith(INSIDE) else f"Constant of {place}"


def moved(candidate: Candidate, values: Float) -> Candidate:
    """Return an equation whose numbers, as they are written, have these values.

    The free constants behind them are found by Newton's method, with the slopes at the fitted values.
    """
    c = np.array(candidate.equation.constants)
    start = _written(candidate, c)
    steps = 1e-6 * np.where(c != 0, np.abs(c), 1.0)
    slopes = np.column_stack(
        [
            (_written(candidate, c + step * row) - start) / step
            for step, row in zip(steps, np.eye(len(c)), strict=True)
        ]
    )
    for _ in range(ROUNDS):
        c = c + np.linalg.lstsq(slopes, values - _written(candidate, c), rcond=None)[0]
    return replace(candidate, equation=make_law(candidate.equation.skeleton, c), own=None)


def _written(candidate: Candidate, c: Float) -> Float:
    """Return the numbers of the equation as it is written with these free constants."""
    changed = replace(candidate, equation=make_law(candidate.equation.skeleton, c))
    return np.array([constant.value for constant in Finding(changed).constants])
