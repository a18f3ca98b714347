"""The sections of the page that need most words."""

import numpy as np

from gode.choices import Preset
from gode.discovery import Discovery, Finding
from gode.errors import EquationError
from gode.report.answers import answer
from gode.report.code import code
from gode.report.experiments import Separation, separations
from gode.report.figures import data_and_fit, front_picture, phase_portrait, residual_plots
from gode.report.html import Markup, bullets, card, details, html, paragraph, picture, program, table
from gode.report.mathml import equation_mathml
from gode.report.panels import chosen_runs
from gode.report.repeat import command, python_call, settings_rows
from gode.selection import front, ties

MAX_ROWS = 30  # of a table
MAX_CODE = 20_000  # characters of a program shown on the page


def count_of(others: int) -> str:
    """Return a number of others in words."""
    return {0: "no others", 1: "one other"}.get(others, f"{others} others")


def rivals_section(discovery: Discovery) -> list[Markup]:
    """Return near ties, each with the experiment that would tell it from the best equation."""
    single, common = separations(discovery)
    others = discovery.ties[1:]
    if not others:
        return [paragraph("Of the equations tried, no other explains these data about as well.")]
    out = [
        paragraph(
            f"{count_of(len(others)).capitalize()} of those tried explain these data about as well. "
            "What experiment would tell each from the best one:"
        )
    ]
    out += [_rival(each, discovery) for each in single]
    if len(others) > len(single):
        out.append(details("The others", bullets(str(each) for each in others[len(single) :])))
    if common is not None and common.decisive:
        out += [Markup("<h3>One experiment for all</h3>"), paragraph(common.words)]
    return out


def _rival(each: Separation, discovery: Discovery) -> Markup:
    rival = each.rivals[0]
    worse = rival.criterion - _least(discovery)
    misfit = next(rms for c, rms in discovery.shown if c is rival)
    head = f"rms residual {misfit:.3f} noise, criterion {worse:+.1f}, complexity {rival.complexity}"
    return card(
        Markup(f"<p>{equation_mathml(rival.equation)}</p>"), paragraph(head, "soft"), paragraph(each.words)
    )


def _least(discovery: Discovery) -> float:
    """Return the least criterion, which need not be that of the equation that is named."""
    return min(c.criterion for c in discovery.order)


def answers_section(discovery: Discovery) -> list[Markup]:
    """Return equilibria, what happens near them, and the gain over a linear model."""
    found = answer(discovery)
    motions = [e.motion() for e in found.equilibria]
    names = list(dict.fromkeys(name for motion in motions for name in motion))
    head = ["equilibrium u", "stability", *names, ""]
    rows = [
        [e.units.length(e.u), e.stability, *(motion.get(name, "") for name in names), _where(e.observed)]
        for e, motion in zip(found.equilibria, motions, strict=True)
    ]
    notes = bullets(found.notes) if found.notes else ""
    return [html(part) for part in (table(head, rows) if rows else "", notes) if part]


def _where(observed: bool) -> str:
    return "" if observed else "outside the data"


def fit_section(discovery: Discovery) -> list[Markup]:
    """Return the data with the solution, one picture for each run."""
    out = [picture(data_and_fit(discovery), "fit", "data and solution over time")]
    phase = picture(phase_portrait(discovery), "phase", "phase portrait")
    n_runs, n_shown = len(discovery.prepared.dataset.runs), len(chosen_runs(discovery.quality.channels[0]))
    if n_shown < n_runs:
        out.append(paragraph(f"The {n_shown} of {n_runs} runs with the largest residuals are shown.", "soft"))
    return [*out, Markup(f'<div class="half">{phase}</div>')]


def residuals_section(discovery: Discovery) -> list[Markup]:
    """Return the diagnosis of the residuals, in words and pictures."""
    quality = discovery.quality
    words = [sentence for channel in quality.channels for sentence in channel.words]
    if quality.averaged > 1:
        words.append(
            f"The record is dense: what was fitted, and what is told here, are means of {quality.averaged} "
            f"samples each, whose noise is {quality.averaged**0.5:.3g} times smaller than that of one sample."
        )
    drawn = residual_plots(discovery)
    return [bullets(words), picture(drawn, "residuals", "residuals, autocorrelation, distribution")]


def front_section(discovery: Discovery) -> list[Markup]:
    """Return the front of accuracy and complexity, as picture and table; nothing if just one was tried."""
    if len(discovery.order) == 1:
        return []
    close = {id(c) for c in ties(discovery.order, discovery.settings.selection)}
    best = {id(c) for c in front(discovery.order)}
    least = _least(discovery)
    rows = [
        (
            c.complexity,
            misfit,
            f"{c.criterion - least:+.1f}",
            _why(i == 0, id(c) in close, id(c) in best),
            Finding(c),
        )
        for i, (c, misfit) in enumerate(discovery.shown[:MAX_ROWS])
    ]
    head = ("complexity", "rms / noise", "criterion", "why", "equation")
    words = (
        "The front holds what no other equation beats in both accuracy and complexity. The criterion weighs "
        "the two, given here as distance from the least"
    )
    tie = discovery.settings.selection.tie
    words += f"; up to {tie:g} it is a near tie." if tie else "."
    if discovery.order[0].criterion > least:
        words += (
            " The one that is named need not have the least: it is a near tie that is simple, and not "
            "far off if another one is true."
        )
    drawn = picture(front_picture(discovery), "front", "accuracy against complexity")
    return [paragraph(words), Markup(f'<div class="half">{drawn}</div>'), table(head, rows, best=0)]


def _why(best: bool, close: bool, on_front: bool) -> str:
    words = ("best" if best else "near tie" if close else "", "front" if on_front else "")
    return ", ".join(word for word in words if word)


def smoothing_section(discovery: Discovery) -> list[Markup]:
    """Return how the data were smoothed."""
    rows = []
    for i, smooth in enumerate(discovery.prepared.smooths):
        noise = ", ".join(
            f"{n}: {x:.3g}" for n, x in zip(("u", "u'", "u''"), smooth.noise, strict=True) if np.isfinite(x)
        )
        spread = [float(np.sqrt(np.mean(row**2))) for row in smooth.deviations]
        rows.append((discovery.prepared.dataset.name_of(i), len(smooth.t), noise, *spread))
    head = ("run", "points", "noise", "error of smoothed u", "of u'", "of u''")
    words = (
        "By the paper's network, on whose derivatives the search works."
        if discovery.settings.preset == Preset.PAPER
        else "By a Gaussian process. The constants come from solutions compared with the data as measured. "
        "The smoothed curves start and steer the search, and tell whether an unknown start may be zero; in "
        "the ranking the smoothed highest derivative counts as one more value beside the measured ones."
    )
    return [paragraph(words), table(head, rows[:MAX_ROWS])]


def repeat_section(discovery: Discovery) -> list[Markup]:
    """Return what it takes to get the same result again."""
    parts = [
        Markup("<h3>In Python</h3>"),
        program(python_call(discovery)),
        Markup("<h3>On the command line</h3>"),
        program(command(discovery)),
        details("All settings", table(("setting", "value"), settings_rows(discovery))),
        details("The equation in LaTeX", program(discovery.equation.latex())),
        details("The equation with all digits", program(discovery.equation.equation.text(None))),
    ]
    try:
        text = code(discovery, "python")
    except EquationError:  # the highest derivative cannot be isolated
        text = code(discovery, "modelica")
    return parts if len(text) > MAX_CODE else [*parts, details("A program that simulates it", program(text))]
