"""The result of a discovery and its constants: printed, as JSON for programs, and saved in a folder."""

import json
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from gode.cli.app import FIT, PICTURE, REPORT, RUNS, console, say
from gode.data.columns import channel_names
from gode.data.noise import noise_words
from gode.discovery import Constant, Discovery, Finding
from gode.discovery.framing import display_names
from gode.discovery.inputs import input_words
from gode.discovery.invariants import conserved, conserved_words
from gode.discovery.quality import Verdict
from gode.discovery.reported_constants import UNDETERMINED, with_error
from gode.files import RECORD, make_folder, replacing, write_text
from gode.fitting.population import NORMAL_95


def print_constants(found: Discovery) -> None:
    """Print the equation and its constants with their intervals, as written, shared, and in natural forms."""
    say("\n" + "\n".join(f"  {line}" for line in found.equation.lines()) + "\n", style="bold")
    _print_frame(found)
    if found.equation.constants:
        say("with, at 95 % confidence,")
    misled = {interval.name: interval for interval in found.intervals}
    for constant in found.equation.constants:
        say(f"  {misled.get(constant.name) or interval_of(constant)}")
    if misled:
        say("Intervals with two ends or one are from the likelihood, where error bars mislead.")
    print_shared(found)
    if found.quality.verdict is not Verdict.UNSUPPORTED:  # else they mean nothing
        _print_natural(found)


def _print_frame(found: Discovery) -> None:
    """Print the equation with the names that the user gave, and what was found for unknown functions."""
    if found.settings.known.frame and found.equation.law.skeleton.parameters:
        given = [text.strip() for text in found.settings.known.frame]
        lines = [*given, *found.equation.functions.values()]
        say("\n".join(f"  {line}" for line in lines) + "\n")


def _print_natural(found: Discovery) -> None:
    """Print the constants of the forms that people use."""
    constants = found.equation.natural
    for form in dict.fromkeys(n.place for n in constants):
        own = [n for n in constants if n.place == form]
        say(f"As {form}: " + ", ".join(map(_natural_words, own)) + ".")


def _natural_words(natural: Constant) -> str:
    """Return the constant of a form with its interval and what it means, or that the data leave it open."""
    if not natural.determined:
        return f"{natural.name} is {UNDETERMINED} ({natural.meaning})"
    shown = f"{natural.name} = {with_error(natural.value, NORMAL_95 * natural.error)} {natural.unit}".rstrip()
    return f"{shown} ({natural.meaning})"


def print_shared(found: Discovery) -> None:
    """Print the constants that several equations share, and the sums of states that are conserved."""
    law, shared = found.equation.law, found.equation.shared
    if shared:
        stands = "stand" if len(shared) > 1 else "stands"
        say(f"\n{' and '.join(each.name for each in shared)} {stands} in several equations:")
        say("\n".join(f"  {line}" for line in found.equation.named_lines()))
    for sentence in [] if found.quality.verdict.is_failure else conserved_words(law):
        say(f"{sentence}.")


def interval_of(constant: Constant) -> str:
    """Return a constant with its 95 % interval and its place, such as 0.631 ± 0.011 multiplying u."""
    half = NORMAL_95 * constant.error
    places = {"1": "standing alone", "inside a function": "inside a function or power"}
    body, comma, equation = constant.place.partition(", in ")
    plain = body if body.startswith("inside") else f"multiplying {body}"
    where = places.get(body, plain) + comma + equation
    shown = f"{with_error(constant.value, half)} {constant.unit}".rstrip()
    if not constant.determined:
        shown = f"{constant.value:.2g}, {UNDETERMINED},"
    if constant.name and constant.name == constant.place:
        return f"{constant.name} = {shown}"
    return f"{shown} {where}"


SHOWN_TIES = 5
SHOWN_RUNS = 20
ACROSS = 3  # constants side by side in a table of runs, in a line of 80 characters
STYLES = {Verdict.GOOD: "green", Verdict.PATTERN: "yellow", Verdict.POOR: "bold red"}
SHOWN_FRONT = 10


def print_discovery(found: Discovery, *, seconds: float | None) -> None:
    """Print the equation with error bars, the Pareto front, and the near ties."""
    spent = "" if seconds is None else f" in {seconds:.1f} s"
    if found.interrupted:
        say(f"Interrupted: this is the best of {found.n_fitted} equations tried so far{spent}.")
    elif found.n_fitted > 1:
        say(f"Found among {found.n_fitted} equations tried{spent}:")
    else:
        say(f"Fitted{spent}:")
    if not found.supported:
        say(f"{found.quality.words} The best guess, which is not a finding, was", style="bold red")
    if found.equation.per_run:
        _print_individuals(found)
        print_shared(found)
    else:
        print_constants(found)
    say("\n" + " ".join([_quality(found), *_data_words(found)]))
    for remark in found.remarks:
        say(f"{remark[0].upper()}{remark[1:]}.")
    if found.supported:
        say(found.quality.words, style=STYLES[found.quality.verdict])
    for cause in found.causes:
        say(f"  {cause}.")
    if len(found.candidates) > 1:
        _print_front(found)
    if found.assessment.sure:
        _print_ties(found)


def _print_individuals(found: Discovery) -> None:
    """Print the law, mean and spread of the constants that each run has for itself, and these of each run."""
    law, dataset = found.equation, found.prepared.dataset
    constants, n_runs = law.per_run, len(dataset.runs)
    say("\n" + "\n".join(f"  {line}" for line in law.lines_per_run()) + "\n", style="bold")
    say("over the population of runs, at 95 % confidence, with")
    for constant in constants:
        say(f"  {constant} on average, {constant.spread:.2g} between runs")
    if law.of_all_runs:
        say("and the same in all runs")
    for constant in law.of_all_runs:
        say(f"  {interval_of(constant)}")
    shown = range(min(n_runs, SHOWN_RUNS))
    rows = [[with_error(v, NORMAL_95 * e) for v, e in (c.runs[i] for c in constants)] for i in shown]
    names = [dataset.name_of(i) for i in shown]
    say("constants of each run ± 1.96 standard errors")
    for first in range(0, len(constants), ACROSS):  # more are not read well side by side
        table = Table(box=SIMPLE_HEAD)
        table.add_column("run", overflow="fold")
        for constant in constants[first : first + ACROSS]:
            table.add_column(Text(constant.label), justify="right", no_wrap=True)
        for name, cells in zip(names, rows, strict=True):
            table.add_row(Text(name), *cells[first : first + ACROSS])
        console().print(table)
    if n_runs > SHOWN_RUNS:
        say(f"and {n_runs - SHOWN_RUNS} runs more; --out writes all of them")


def print_json(found: Discovery, notes: Sequence[str], files: Sequence[Path]) -> None:
    """Print everything as one JSON object."""
    click.echo(json.dumps(_json_values(found, notes, files), indent=1))


def _json_values(found: Discovery, notes: Sequence[str], files: Sequence[Path]) -> dict[str, object]:
    """Return the values to print as JSON; NaN becomes null."""
    best, law = found.candidates[0], found.equation.law
    return {
        "equation": best.equation.text(None),
        "text": str(found.equation),
        "latex": found.equation.latex(),
        "order": found.settings.order,
        "functions": found.equation.functions,
        "intervals": [_fields(c, "name", "value", "low", "high", "unit") for c in found.intervals],
        "natural": [
            {**_fields(c, "name", "value", "error", "meaning", "unit"), "form": c.place}
            for c in found.equation.natural
        ],
        "constants": [
            _fields(c, "value", "error", "place", "name", "unit") for c in found.equation.constants
        ],
        "initial": best.initial.tolist(),
        **_individuals_json(found),
        "complexity": best.complexity,
        "rms_over_noise": found.quality.misfit,
        "verdict": found.quality.verdict.value,
        "headline": found.assessment.headline,
        "verdict_words": found.quality.words,
        "causes": list(found.causes),
        "assumed": list(found.quality.assumed),
        "independent": found.quality.independent,
        "states": list(found.equation.states),
        "shared": [
            {**_fields(c, "name", "value", "equations"), "place": c.index} for c in found.equation.shared
        ],
        "conserved": conserved(law),
        "potential": found.equation.potential,
        "noise": dict(_noise(found)),
        "misfits": {channel.shown: channel.misfit for channel in found.quality.channels},
        "equations": [_finite(row) for row in found.equation_rows],
        "probability": found.assessment.probability,
        "certainty": found.certainty,
        "forms": [_one_line(each) for each in found.forms[1:]],
        "ties": [_one_line(each) for each in found.ties[1:]],
        "n_fitted": found.n_fitted,
        "interrupted": found.interrupted,
        "timed_out": found.timed_out,
        "remarks": list(found.remarks),
        "predictable": _finite(found.predictable),
        "supported": found.supported,
        "noise_kinds": found.noise_kinds,
        "data": [*notes, *_data_words(found)],
        "files": [str(path) for path in files],
    }


def _individuals_json(found: Discovery) -> dict[str, object]:
    """Return the constants of each run and of the population, if runs have their own."""
    if not found.equation.per_run:
        return {}
    return {
        "law": found.equation.lines_per_run(),
        "individuals": found.run_rows,
        "population": found.population_rows,
    }


def _fields(constant: Constant, *names: str) -> dict[str, object]:
    """Return these fields of a constant for JSON, which has neither infinity nor NaN."""
    return {name: _finite(getattr(constant, name)) for name in names}


def _finite(value: object) -> Any:
    """Return a value for JSON, which has neither infinity nor NaN."""
    match value:
        case float():
            return float(value) if np.isfinite(value) else None
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list():
            return [_finite(each) for each in value]
    return value


def _one_line(finding: Finding) -> str:
    return "; ".join(finding.lines())


def _data_words(found: Discovery) -> list[str]:
    """Return sentences on how the input was joined and what the noise depends on."""
    prepared = found.prepared
    noise = noise_words(prepared.whole.dataset, prepared.smooths, display_names(prepared.dataset))
    return [*input_words(prepared.dataset, found.settings), *noise, *prepared.outliers]


def _noise(found: Discovery) -> list[tuple[str, float]]:
    """Return the noise of each channel that was observed."""
    names = channel_names(found.equation.states)
    return [(n, float(v)) for n, v in zip(names, found.noise, strict=True) if np.isfinite(v)]


def _quality(found: Discovery) -> str:
    quality = found.quality
    noise = [channel.noise_words for channel in quality.channels]
    text = f"The noise is about {', '.join(noise)}; the residuals are {quality.misfit:.3g} times that."
    if len(quality.channels) > 1:
        each = ", ".join(f"{channel.misfit:.3g} in {channel.shown}" for channel in quality.channels)
        text = f"{text[:-1]} ({each})."
    if quality.assumed:
        text += f" {quality.assumed_words}"
    return text


def print_candidates(found: Discovery) -> None:
    """Print all laws that were fitted, the best first."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    rows = found.candidate_rows()
    heads = {"complexity": "size", "misfit": "misfit / noise"}
    numbers = [name for name in rows[0] if name not in ("law", "criterion")]
    for name in numbers:
        table.add_column(heads.get(name, name), justify="right")
    table.add_column("law", overflow="fold")
    for row in rows:
        law = Text(str(row["law"]).replace("; ", "\n"))
        table.add_row(*(f"{row[name]:.3g}" for name in numbers), law)
    console().print(table)


def _print_front(found: Discovery) -> None:
    rows: list[dict[str, Any]] = [row for row in found.equation_rows if row["why"] != "near tie"]
    front = sorted(rows, key=itemgetter("complexity"))
    table = Table(box=SIMPLE_HEAD, title="accuracy against complexity", title_justify="left", pad_edge=False)
    table.add_column("size", justify="right")
    table.add_column("misfit / noise", justify="right")
    table.add_column("equation", overflow="fold")
    best = next(i for i, row in enumerate(front) if row["why"].startswith("best"))
    end = best + 2  # with the next larger law, which tells what more terms would gain
    for row in front[max(0, end - SHOWN_FRONT) : end]:
        table.add_row(
            str(row["complexity"]),
            f"{row['rms']:.3g}",
            Text(row["equation"].replace("; ", "\n")),
            style="bold" if row is front[best] else "",
        )
    console().print(table)


def _print_ties(found: Discovery) -> None:
    forms = {id(form.candidate) for form in found.forms}
    others = [each for each in found.ties[1:] if id(each.candidate) not in forms]
    say(found.assessment.sure)
    for form in found.forms[1:]:
        say(f"The same within these data, in another form: {_one_line(form)}")
    if found.assessment.undecided:
        say(f"{found.assessment.undecided[:-1]}:" if others else found.assessment.undecided)
    for each in others[:SHOWN_TIES]:
        say(f"  {_one_line(each)}")
    if len(others) > SHOWN_TIES:
        say(f"  and {len(others) - SHOWN_TIES} more")


def save_results(found: Discovery, out: Path) -> list[Path]:
    """Write record, picture, report and fit into the folder `out`; each file is complete or unchanged."""
    from gode.report import save  # slow to import
    from gode.report.figures import overview
    from gode.report.page import write_page
    from gode.report.record import fit_table

    make_folder(out)
    when = f"after {out / RECORD} was written, before picture and report were"
    with _uninterrupted(when):
        save(found, out / RECORD)
    try:
        with replacing(out / PICTURE) as draft:
            overview(found).savefig(draft, dpi=120)
        write_page(found, out / REPORT)
        write_text(out / FIT, fit_table(found))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(when) from None
    written = [out / RECORD, out / PICTURE, out / REPORT, out / FIT]
    if found.equation.per_run:
        with replacing(out / RUNS) as draft:
            found.individuals.to_csv(draft, lineterminator="\n")
        written.append(out / RUNS)
    return written


@contextmanager
def _uninterrupted(when: str) -> Iterator[None]:
    """Delay Ctrl-C until the block is done, so that the result is not lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt(when)
