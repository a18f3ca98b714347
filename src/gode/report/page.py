"""The HTML page about a discovery, and its short form for notebooks."""

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from gode.data import Dataset
from gode.data.columns import channel_names
from gode.data.labels import plain_label
from gode.data.noise import NoiseKind
from gode.discovery import Constant, Discovery, Finding
from gode.discovery.called import called, column_of, shown
from gode.discovery.constants import UNDETERMINED
from gode.discovery.inputs import input_words
from gode.discovery.invariants import conserved_words
from gode.discovery.quality import POOR_MISFIT, Verdict, start_names
from gode.discovery.residuals import Channel
from gode.equation import Law, parse_tree
from gode.equation.skeleton import shown_name
from gode.errors import EquationError
from gode.files import make_folder, replacing
from gode.fitting.noise import noise_words
from gode.fitting.target import state_places
from gode.markup import Markup, bullets, html, paragraph, program, section, table
from gode.report.embedded import formula
from gode.report.html import page
from gode.report.individuals import individuals_section
from gode.report.mathml import law_mathml, tree_mathml
from gode.report.naming import Units, axis_label, figures
from gode.report.plots import Plots
from gode.report.sections import (
    MAX_ROWS,
    answers_section,
    data_section,
    fit_section,
    front_section,
    repeat_section,
    residuals_section,
    rivals_section,
    smoothing_section,
    verdict_box,
)

BUDGET = 8_000  # points of all curves together: the page stays below 2 MB
STRONG = 0.95  # correlation of two constants that gets a remark


def write_page(
    discovery: Discovery, path: str | PathLike[str], *, title: str = "Equation found by gode"
) -> Path:
    """Write the page about `discovery` to `path`, and return that.

    Raises:
        FileError: if the file cannot be written.
    """
    target = Path(path)
    text = discovery_page(discovery, title=title)
    make_folder(target.parent)
    with replacing(target) as draft:
        draft.write_text(text, encoding="utf-8")
    return target


def discovery_page(
    discovery: Discovery, *, title: str, more: Mapping[str, Sequence[object]] | None = None
) -> str:
    """Return the page as text.

    Args:
        more: further sections by their titles, after data and solution; empty ones are left out.
    """
    plots = Plots(discovery, budget=BUDGET)
    return page(
        title,
        Markup(f"{verdict_box(discovery)}\n{formula(discovery)}"),
        section("In short", bullets(overview_words(discovery))),
        section("Constants", *all_constants(discovery), *initial_parts(discovery)),
        section("Data and solution", *fit_section(discovery, plots)),
        *(section(name, *parts) for name, parts in (more or {}).items() if parts),
        section("What the data cannot decide", *rivals_section(discovery)),
        section("What it means for the system", *answers_section(discovery)),
        section("Residuals", *residuals_section(discovery, plots)),
        section("Accuracy against complexity", *front_section(discovery, plots)),
        section("Smoothing", *smoothing_section(discovery)),
        section("To repeat it", *repeat_section(discovery)),
        section("The data", *data_section(discovery)),
        interactive=True,
        failed=discovery.quality.verdict.is_failure,
    )


def notebook_summary(discovery: Discovery) -> str:
    """Return verdict, equation, constants and near ties as HTML for a notebook."""
    others = ["; ".join(Finding(c).lines()) for c in discovery.assessment.rivals]
    undecided = discovery.assessment.undecided
    words = f"{undecided[:-1]}:" if others else undecided
    parts = [
        verdict_box(discovery),
        Markup(f"<p>{law_mathml(discovery.equation.equation)}</p>"),
        _constant_table(discovery.equation, discovery.intervals),
        paragraph(words) if words else "",
        bullets(others[:5]) if others else "",
    ]
    return f"<div>{''.join(html(part) for part in parts)}</div>"


def overview_words(discovery: Discovery) -> list[str]:
    """Return sentences on data, noise and what was tried."""
    dataset = discovery.prepared.dataset
    runs = f"{len(dataset.runs)} runs" if len(dataset.runs) > 1 else "one run"
    spans = ", ".join(dict.fromkeys(f"{run.t[0]:g} to {run.t[-1]:g}" for run in dataset.runs[:5]))
    names, units = [axis_label(dataset, name) for name in dataset.channels], Units.of(dataset)
    span = f"t = {spans} {units.time}".rstrip()
    out = [f"{dataset.n_observed} observed values of {', '.join(names)} in {runs}, {span}."]
    out += input_words(dataset, discovery.settings)
    out += noise_words(discovery.prepared.whole.dataset, discovery.prepared.smooths, called(dataset))
    out += discovery.prepared.outliers
    for channel in discovery.quality.channels:
        out.append(f"The noise of {channel.shown} is about {_noise(channel, dataset)}; {_verdict(channel)}.")
    if not discovery.quality.verdict.is_failure:
        out += [f"{words}." for words in conserved_words(discovery.candidates[0].equation)]
    if discovery.settings.grammar:
        tried = f"Of {discovery.n_fitted} equations fitted, {discovery.n_solved} were solved along the data."
        out += [words for words in (tried, discovery.assessment.undecided) if words]
    out += [f"{remark[0].upper()}{remark[1:]}." for remark in discovery.remarks]
    told = {"t", *channel_names(dataset.states)}  # above
    kept = {column: label for column, label in dataset.labels.items() if column not in told}
    labels = [words for column, label in kept.items() if (words := _labelled(shown(dataset, column), label))]
    return [*out, "; ".join(labels) + "."] if labels else out


def _labelled(name: str, label: str) -> str:
    """Return what the label of a column says beyond its name."""
    if plain_label(label) != name:
        return f"{name} is {label}"
    unit = label.removeprefix(name).strip(" []")
    return f"{name} is in {unit}" if unit else ""


def _noise(channel: Channel, dataset: Dataset) -> str:
    """Return the noise of a channel: a number with its share of the spread, or a share of the value."""
    if channel.model.kind is not NoiseKind.ADDITIVE:
        return channel.noise_words
    unit = Units.of(dataset, channel.state).derived(channel.name)
    share = f"{100 * channel.noise / (channel.spread or 1.0):.2g} % of its spread"
    return f"{f'{channel.noise:.3g} {unit}'.rstrip()}, {share}"


def _verdict(channel: Channel) -> str:
    ratio = channel.misfit
    if channel.negligible:
        return "the equation follows the data as well as numbers can tell"
    pattern = "which look like white noise" if channel.white else "which show a pattern"
    pattern = "more than white noise" if channel.white and ratio > POOR_MISFIT else pattern
    return f"the equation leaves residuals of {ratio:.2f} times that, {pattern}"


def all_constants(discovery: Discovery) -> list[Markup]:
    """Return the constants: of each run where runs have their own, and of the population."""
    own = individuals_section(discovery) if discovery.equation.per_run else []
    head = [Markup("<h3>The law of the mean</h3>")] if own else []
    note = paragraph("Where error bars mislead, the interval is that of the likelihood itself.", "soft")
    notes = [note] if discovery.intervals else []
    supported = discovery.quality.verdict is not Verdict.UNSUPPORTED
    parts = constant_parts(discovery.equation, discovery.intervals, natural=supported)
    return [*own, *head, *parts, *notes]


def _natural(finding: Finding) -> list[Markup]:
    """Return the constants of the forms that people use, with their error bars."""
    rows = [
        (n.name, f"{figures(n.value, n.error)} {n.unit}".rstrip(), f"{n.error:.2g}", n.meaning, n.place)
        if n.determined
        else (n.name, UNDETERMINED, "", n.meaning, n.place)
        for n in finding.natural
    ]
    head = Markup("<h3>In the form that people use</h3>")
    return [head, table(("", "value", "standard error", "", "of"), rows)] if rows else []


def constant_parts(
    finding: Finding, intervals: Sequence[Constant] = (), *, natural: bool = True
) -> list[Markup]:
    """Return the constants with their error bars and correlations.

    Args:
        intervals: those of constants whose error bars mislead.
        natural: whether forms that people use are named; where nothing was found they mean nothing.
    """
    forms = _natural(finding) if natural else []
    if not finding.constants:
        return [paragraph("The equation has no free constants.")]
    if finding.law.skeleton.parameters:
        words = [paragraph("With the names of the constants, and what was found for unknown functions:")]
        lines = [program("\n".join(finding.named_lines()))]
        return [
            *words,
            *lines,
            _constant_table(finding, intervals),
            *forms,
            *_correlations(finding),
        ]
    shared = finding.shared
    words = [paragraph("With a letter for each constant that equations share:")] if shared else []
    lines = [program("\n".join(finding.named_lines()))] if shared else []
    return [_constant_table(finding, intervals), *words, *lines, *forms, *_correlations(finding)]


def _constant_table(finding: Finding, intervals: Sequence[Constant] = ()) -> Markup:
    misled = {each.name: each for each in intervals}
    rows = [
        (
            _place(c.place, finding.law),
            f"{f'{c.value:.4g}' if c.name in misled else figures(c.value, c.error)} {c.unit}".rstrip(),
            _error(c) if c.name not in misled else "",
            _interval(c, misled.get(c.name)),
        )
        for c in finding.constants
    ]
    return table(("of", "value", "standard error", "95 % interval"), rows)


def _error(constant: Constant) -> str:
    """Return the standard error of a constant."""
    return f"{constant.error:.2g}" if np.isfinite(constant.error) and constant.determined else UNDETERMINED


def _interval(constant: Constant, told: Constant | None) -> str:
    """Return the 95 % interval of a constant: of the likelihood where known, else by its error bar."""
    if told is not None:
        if np.isinf(told.low) and np.isinf(told.high):
            return UNDETERMINED
        if np.isinf(told.high):
            return f"> {told.low:.3g}"
        return f"< {told.high:.3g}" if np.isinf(told.low) else f"{told.low:.3g} to {told.high:.3g}"
    if not (np.isfinite(constant.error) and constant.determined):
        return ""
    return " to ".join(figures(end, constant.error) for end in (constant.low, constant.high))


def _place(place: str, law: Law) -> object:
    """Return the factor of a constant as a formula, or its place in words."""
    body, comma, where = place.partition(", in ")
    if body == "1":
        return f"the constant term{comma}{where}"
    try:
        known = tuple(shown_name(name, law.skeleton.called) for name in law.skeleton.inputs or ("F",))
        tree = parse_tree(body, inputs=known, states=law.skeleton.shown_states)
    except EquationError:  # words
        return place
    return Markup(f"{tree_mathml(tree)}{html(comma + where)}")


def _correlations(finding: Finding) -> list[Markup]:
    names = [re.sub("^1(?=$|,)", "the constant term", c.place) for c in finding.constants]
    errors = np.sqrt(np.maximum(np.diag(finding.covariance), 0.0))
    if len(names) < 2 or not np.all(errors > 0):
        return []
    matrix = finding.covariance / np.outer(errors, errors)
    rows = [
        (name, *(_shaded(x) if j <= i else "" for j, x in enumerate(row)))
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


def initial_parts(discovery: Discovery) -> list[Markup]:
    """Return the initial values of each run."""
    best, dataset = discovery.candidates[0], discovery.prepared.dataset
    rows, names = [], start_names(best.equation)
    places = state_places(best.equation.skeleton.orders)
    for i, (run, values) in enumerate(zip(dataset.runs, best.initial, strict=True)):
        for column, value, known in zip(names, values, run.initial[places], strict=True):
            origin = "given" if np.isfinite(known) else "fitted" if value else "zero fits as well as any"
            unit = Units.of(dataset, column_of(dataset, column.rstrip("'"))).derived(column)
            shown = f"{value:.4g} {unit}".rstrip()
            rows.append((dataset.name_of(i), f"{column}({run.t[0]:g})", shown, origin))
    out = [Markup("<h3>Initial values</h3>"), table(("run", "of", "value", ""), rows[:MAX_ROWS])]
    more = f"{len(rows) - MAX_ROWS} more are in the record. " if len(rows) > MAX_ROWS else ""
    several = "Commands number the runs from 0, in this order." if len(dataset.runs) > 1 else ""
    return [*out, paragraph(more + several, "soft")] if several else out
