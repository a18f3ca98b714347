"""The sections of the page that need most words."""

import numpy as np

from gode.discovery import Discovery, Finding
from gode.errors import EquationError
from gode.report.answers import answer
from gode.report.code import code
from gode.report.experiments import Separation, separations
from gode.report.figures import front_picture, phase_portrait, residual_plots
from gode.report.html import Markup, bullets, card, details, html, paragraph, picture, program, table
from gode.report.mathml import equation_mathml
from gode.report.repeat import command, python_call, settings_rows
from gode.report.residuals import Channel
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
    worse = rival.criterion - discovery.order[0].criterion
    head = f"rms residual {rival.rms:.3f} noise, criterion {worse:+.1f}, complexity {rival.complexity}"
    return card(
        Markup(f"<p>{equation_mathml(rival.equation)}</p>"), paragraph(head, "soft"), paragraph(each.words)
    )


def answers_section(discovery: Discovery) -> list[Markup]:
    """Return equilibria, what happens near them, and the gain over a linear model."""
    found = answer(discovery)
    head = ["equilibrium u", "stability", "natural frequency", "damping ratio", "time constant", ""]
    rows = [
        [
            str(e.u),
            e.stability,
            *(str(v or "") for v in (e.frequency, e.damping, e.time_constant)),
            _where(e.observed),
        ]
        for e in found.equilibria
    ]
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    kept = [[row[i] for i in used] for row in rows]
    notes = bullets(found.notes) if found.notes else ""
    return [html(part) for part in (table([head[i] for i in used], kept) if rows else "", notes) if part]


def _where(observed: bool) -> str:
    return "" if observed else "outside the data"


def residuals_section(discovery: Discovery, seen: tuple[Channel, ...]) -> list[Markup]:
    """Return the diagnosis of the residuals, in words and pictures."""
    words = [sentence for channel in seen for sentence in channel.words]
    pictures = [picture(residual_plots(discovery), "residuals", "residuals, autocorrelation, distribution")]
    return [bullets(words), *pictures]


def front_section(discovery: Discovery) -> list[Markup]:
    """Return the front of accuracy against complexity, as pictures and as a table."""
    close = {id(c) for c in ties(discovery.order, discovery.settings.selection)}
    best = {id(c) for c in front(discovery.order)}
    chosen = [c for c in discovery.order if id(c) in close | best][:MAX_ROWS]
    rows = [
        (
            c.complexity,
            c.rms,
            f"{c.criterion - discovery.order[0].criterion:+.1f}",
            _why(i == 0, id(c) in close, id(c) in best),
            Finding(c),
        )
        for i, c in enumerate(chosen)
    ]
    pictures = (
        picture(front_picture(discovery), "front", "accuracy against complexity"),
        picture(phase_portrait(discovery), "phase", "phase portrait"),
    )
    head = ("complexity", "rms / noise", "criterion", "why", "equation")
    words = (
        "The front holds what no other equation beats in both accuracy and complexity. The criterion weighs "
        "the two, given here as distance from the best"
    )
    tie = discovery.settings.selection.tie
    words += f"; up to {tie:g} it is a near tie." if tie else "."
    pair = Markup(f'<div class="pair">{"".join(pictures)}</div>')
    return [paragraph(words), pair, table(head, rows, best=0)]


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
        rows.append((f"run {i}", len(smooth.t), noise, *spread))
    head = ("run", "points", "noise", "error of smoothed u", "of u'", "of u''")
    words = (
        "By the paper's network, on whose derivatives the search works."
        if discovery.settings.preset == "paper"
        else "By a Gaussian process. Smoothed derivatives only start and steer the search; the equation, its "
        "constants and the ranking come from solutions compared with the data as measured."
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
