"""One self-contained HTML page about a discovery, and the short form that notebooks show."""

from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template

import numpy as np

from gode import __version__
from gode.discovery import Discovery, Finding
from gode.errors import EquationError, FileError
from gode.report.answers import answer
from gode.report.code import code
from gode.report.experiments import Separation, separations
from gode.report.figures import data_and_fit, front_picture, phase_portrait, residual_plots
from gode.report.html import Markup, bullets, card, details, html, paragraph, picture, program, section, table
from gode.report.mathml import equation_mathml
from gode.report.repeat import command, python_call, settings_rows
from gode.report.residuals import Channel, channels
from gode.selection import front, ties

MAX_ROWS = 30  # of the table of equations
MAX_CODE = 20_000  # characters of a program shown on the page
STRONG = 0.95  # a correlation worth a remark


def write_page(
    discovery: Discovery, path: str | PathLike[str], *, title: str = "Equation found by gode"
) -> Path:
    """Write the page about `discovery` to `path`, and return that.

    Raises:
        FileError: if the file cannot be written.
    """
    target = Path(path)
    text = page(discovery, title=title)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error.strerror}; choose another path") from None
    return target


def page(discovery: Discovery, *, title: str) -> str:
    """Return the page as text."""
    seen = channels(discovery)
    sections = (
        section("In short", bullets(_summary(discovery, seen))),
        section("Constants", *_constants(discovery.equation), *_initial(discovery)),
        section("Data and solution", picture(data_and_fit(discovery), "fit", "data and solution over time")),
        section("What the data cannot decide", *_rivals(discovery)),
        section("What it means for the system", *_answers(discovery)),
        section("Residuals", *_residuals(discovery, seen)),
        section("Accuracy against complexity", *_front(discovery)),
        section("Smoothing", *_smoothing(discovery)),
        section("To repeat it", *_repeat(discovery)),
    )
    template = files("gode.report") / "templates" / "page.html"
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=html(title),
        equation=equation_mathml(discovery.equation.equation),
        equation_text=html(discovery.equation),
        sections="\n".join(sections),
        version=html(__version__),
    )


def summary(discovery: Discovery) -> str:
    """Return equation, constants and rivals as a piece of HTML for a notebook."""
    others = [str(each) for each in discovery.ties[1:]]
    words = f"These data cannot tell it from {len(others)} other equations:" if others else ""
    parts = [
        Markup(equation_mathml(discovery.equation.equation)),
        _constant_table(discovery.equation),
        paragraph(words) if words else "",
        bullets(others[:5]) if others else "",
    ]
    return f"<div>{''.join(html(part) for part in parts)}</div>"


def _summary(discovery: Discovery, seen: tuple[Channel, ...]) -> list[str]:
    dataset = discovery.prepared.dataset
    runs = f"{len(dataset.runs)} runs" if len(dataset.runs) > 1 else "one run"
    spans = ", ".join(f"{run.t[0]:g} to {run.t[-1]:g}" for run in dataset.runs[:5])
    out = [f"{dataset.n_observed} observed values of {', '.join(dataset.channels)} in {runs}, t = {spans}."]
    for channel in seen:
        size = float(np.std(np.concatenate([s.observed for s in channel.series]))) or 1.0
        share = f"{100 * channel.noise / size:.2g} % of its spread"
        out.append(f"The noise of {channel.name} is about {channel.noise:.3g}, {share}; {_verdict(channel)}.")
    if discovery.settings.grammar:
        out.append(
            f"Of {discovery.n_fitted} equations fitted, {len(discovery.order)} were solved along the data; "
            f"{_count(len(discovery.ties) - 1)} explain them about as well as this one."
        )
    if discovery.interrupted:
        out.append("The search was interrupted; a full one may find a better equation.")
    labels = [f"{name} is {label}" for name, label in dataset.labels.items()]
    return [*out, "; ".join(labels) + "."] if labels else out


def _count(others: int) -> str:
    return {0: "no others", 1: "one other"}.get(others, f"{others} others")


def _verdict(channel: Channel) -> str:
    ratio = channel.rms / channel.noise
    if channel.negligible:
        return "the equation follows the data as well as numbers can tell"
    return f"the equation leaves an rms residual of {ratio:.2f} times that"


def _constants(finding: Finding) -> list[Markup]:
    if not finding.constants:
        return [paragraph("The equation has no free constants.")]
    return [_constant_table(finding), *_correlations(finding)]


def _constant_table(finding: Finding) -> Markup:
    rows = [
        (
            _place(c.place),
            c.value,
            c.error,
            f"{c.value - 1.96 * c.error:.4g} to {c.value + 1.96 * c.error:.4g}",
        )
        for c in finding.constants
    ]
    return table(("of", "value", "standard error", "95 % interval"), rows)


def _place(place: str) -> object:
    return {"1": "the constant term"}.get(place, place)


def _correlations(finding: Finding) -> list[Markup]:
    names = [str(_place(c.place)) for c in finding.constants]
    errors = np.sqrt(np.maximum(np.diag(finding.covariance), 0.0))
    if len(names) < 2 or not np.all(errors > 0):
        return []
    matrix = finding.covariance / np.outer(errors, errors)
    rows = [
        (name, *(_shaded(x) for x in row[: i + 1]))
        for i, (name, row) in enumerate(zip(names, matrix, strict=True))
    ]
    out = [Markup("<h3>Correlations of the constants</h3>"), table(("", *names), rows)]
    pairs = [(i, j) for i in range(len(names)) for j in range(i) if abs(matrix[i, j]) > STRONG]
    for i, j in pairs[:3]:
        out.append(
            paragraph(
                f"The constants of {names[j]} and {names[i]} are strongly correlated ({matrix[i, j]:+.3f}): "
                "the data fix a combination of them much better than each alone."
            )
        )
    return out


def _shaded(value: float) -> Markup:
    colour = "0, 114, 178" if value > 0 else "213, 94, 0"
    shade = f"background: rgba({colour}, {0.45 * abs(value):.2f}); padding: 0 .3rem"
    return Markup(f'<span style="{shade}">{value:+.2f}</span>')


def _initial(discovery: Discovery) -> list[Markup]:
    best = discovery.order[0]
    rows = []
    for i, (run, values) in enumerate(zip(discovery.prepared.dataset.runs, best.initial, strict=True)):
        for name, value, known in zip(("u", "u'"), values, run.initial, strict=False):
            rows.append(
                (
                    f"run {i}",
                    f"{name}({run.t[0]:g})",
                    float(value),
                    "given" if np.isfinite(known) else "fitted",
                )
            )
    return [Markup("<h3>Initial values</h3>"), table(("run", "of", "value", ""), rows[:MAX_ROWS])]


def _rivals(discovery: Discovery) -> list[Markup]:
    single, common = separations(discovery)
    others = discovery.ties[1:]
    if not others:
        return [paragraph("Of the equations tried, no other explains these data about as well.")]
    out = [
        paragraph(
            f"{_count(len(others)).capitalize()} of those tried explain these data about as well. "
            "What experiment would tell each from the best one:"
        )
    ]
    out += [_rival(each, discovery) for each in single]
    if len(others) > len(single):
        out.append(details("The others", bullets(str(each) for each in others[len(single) :])))
    if common is not None:
        out.append(Markup("<h3>One experiment for all</h3>"))
        out.append(paragraph(common.words))
    return out


def _rival(each: Separation, discovery: Discovery) -> Markup:
    rival = each.rivals[0]
    worse = rival.criterion - discovery.order[0].criterion
    head = f"rms residual {rival.rms:.3f} noise, criterion {worse:+.1f}, complexity {rival.complexity}"
    return card(
        Markup(f"<p>{equation_mathml(rival.equation)}</p>"), paragraph(head, "soft"), paragraph(each.words)
    )


def _answers(discovery: Discovery) -> list[Markup]:
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


def _residuals(discovery: Discovery, seen: tuple[Channel, ...]) -> list[Markup]:
    words = [sentence for channel in seen for sentence in channel.words]
    pictures = [picture(residual_plots(discovery), "residuals", "residuals, autocorrelation, distribution")]
    return [bullets(words), *pictures]


def _front(discovery: Discovery) -> list[Markup]:
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
    return [Markup(f'<div class="pair">{"".join(pictures)}</div>'), table(head, rows, best=0)]


def _why(best: bool, close: bool, on_front: bool) -> str:
    words = ("best" if best else "near tie" if close else "", "front" if on_front else "")
    return ", ".join(word for word in words if word)


def _smoothing(discovery: Discovery) -> list[Markup]:
    rows = []
    for i, smooth in enumerate(discovery.prepared.smooths):
        noise = ", ".join(
            f"{n}: {x:.3g}" for n, x in zip(("u", "u'", "u''"), smooth.noise, strict=True) if np.isfinite(x)
        )
        spread = [float(np.sqrt(np.mean(row**2))) for row in smooth.deviations]
        rows.append((f"run {i}", len(smooth.t), noise, *spread))
    head = ("run", "points", "noise", "error of smoothed u", "of u'", "of u''")
    words = (
        "Gaussian process. Smoothed derivatives only start and steer the search; the equation, its constants "
        "and the ranking come from solutions compared with the data as measured."
    )
    return [paragraph(words), table(head, rows[:MAX_ROWS])]


def _repeat(discovery: Discovery) -> list[Markup]:
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
