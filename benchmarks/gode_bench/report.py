"""The report of a study: tables and figures on one page, and the tables as Markdown or LaTeX."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gode.errors import FileError
from gode.files import read_text
from gode.report.page import image, page
from gode_bench.figures import bars, profiles, svg, sweep_curves, trajectories, violins
from gode_bench.jobs import Job
from gode_bench.odebench.systems import FILES, ODEBENCH
from gode_bench.odebench.tables import shares_table, system_runs, system_table
from gode_bench.records import Record, read_records
from gode_bench.sweeps import PREFIX, curves, sweep_table, sweeps_of
from gode_bench.tables import TextTable, described, problem_table, run_table, settings, suite_table

COMMANDS = "commands.jsonl"
PAGE = "report.html"
FIGURES = "figures"
MAX_BYTES = 50_000_000  # of the commands


@dataclass(frozen=True)
class Section:
    """A section of the report: tables, figures by name, and the table of all runs, which is collapsed."""

    title: str
    tables: tuple[TextTable, ...]
    pictures: dict[str, bytes]
    runs: TextTable


@dataclass(frozen=True)
class Report:
    """The contents of the report on a folder."""

    sections: tuple[Section, ...]
    commands: tuple[str, ...]
    versions: dict[str, str]
    first: str
    last: str
    warning: str


def remember_command(folder: Path, command: str, date: str) -> None:
    """Append the command of a study to its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / COMMANDS, "a", encoding="utf-8") as file:
        file.write(json.dumps({"command": command, "date": date}) + "\n")


def make_report(folder: Path) -> Report:
    """Return the report of the records in `folder`.

    Raises:
        FileError: if there are none.
    """
    records = read_records(folder)
    if not records:
        raise FileError(f"{folder} holds no finished run yet; run `gode bench b1 --out {folder}` first")
    suites = settings(r for r in records if not r.job.study.startswith(PREFIX))
    sections = [_suite_section(setting, own) for setting, own in suites.items()]
    sections += [_sweep_section(what, own) for what, own in sweeps_of(records).items()]
    dates = sorted(r.date for r in records)
    versions, warning = _versions(records)
    return Report(tuple(sections), _commands(folder), versions, dates[0], dates[-1], warning)


def main_table(setting: Job, records: Sequence[Record]) -> TextTable:
    """Return the table of a study with a row for each method."""
    table = shares_table if setting.study in FILES else suite_table
    return table(setting, records)


def _suite_section(setting: Job, records: Sequence[Record]) -> Section:
    name = "-".join([setting.study, f"noise{setting.noise:g}", setting.initial, setting.effort])
    if setting.study in FILES:
        return _system_section(f"{name}-dropped{setting.dropped:g}", setting, records)
    pictures = {f"{name}-violins": svg(violins(records)), f"{name}-problems": svg(bars(records))}
    if setting.study in ("b2", "b3"):
        pictures[f"{name}-trajectories"] = svg(trajectories(records))
    tables = suite_table(setting, records), problem_table(setting, records)
    return Section(f"{setting.study}: {described(setting)}", tables, pictures, run_table(records))


def _system_section(name: str, setting: Job, records: Sequence[Record]) -> Section:
    pictures = {f"{name}-profiles": svg(profiles(records))}
    tables = shares_table(setting, records), system_table(setting, records)
    return Section(f"{setting.study}: {described(setting)}", tables, pictures, system_runs(records))


def _sweep_section(what: str, records: Sequence[Record]) -> Section:
    pictures = {f"sweep-{what}": svg(sweep_curves(what, curves(what, records)))}
    return Section(f"sweep of {what}", (sweep_table(what, records),), pictures, run_table(records))


def _commands(folder: Path) -> tuple[str, ...]:
    path = folder / COMMANDS
    lines = read_text(path, MAX_BYTES).splitlines() if path.is_file() else []
    try:
        return tuple(dict.fromkeys(str(json.loads(line)["command"]) for line in lines))
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path} is not a list of commands ({error}); delete it") from error


def _versions(records: Sequence[Record]) -> tuple[dict[str, str], str]:
    """Return the versions used, and a warning if there are several of one package."""
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.versions.items():
            found.setdefault(name, set()).add(version)
    mixed = sorted(name for name, values in found.items() if len(values) > 1)
    warning = f"These runs were made with several versions of: {', '.join(mixed)}." if mixed else ""
    return {name: ", ".join(sorted(values)) for name, values in found.items()}, warning


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write the page and the figures into `folder`; return their paths."""
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    written = [folder / PAGE]
    written[0].write_text(report_page(report), encoding="utf-8")
    for part in report.sections:
        for name, content in part.pictures.items():
            written.append(folder / FIGURES / f"{name}.svg")
            written[-1].write_bytes(content)
    return written


def write_text(path: Path, text: str) -> None:
    """Write a text file; make its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def report_page(report: Report) -> str:
    """Return one HTML page that needs nothing else."""
    template = "gode_bench/templates/report.html"
    return page(template, title="Benchmarks of gode", report=report, when=_when(report), image=image)


def markdown(report: Report) -> str:
    """Return the tables as Markdown, with commands, versions and dates."""
    systems = all(part.title.startswith(f"{ODEBENCH}:") for part in report.sections)
    title = "# Results on ODEBench" if systems else "# Results"
    lines = [title, "", "Written by `gode bench report DIR --markdown FILE`; do not edit by hand.", ""]
    lines += [_when(report), ""]
    lines += [report.warning, ""] if report.warning else []
    lines += ["```", *(report.commands or ("(no command on record)",)), "```", ""]
    for part in report.sections:
        lines += [f"## {part.title}", ""]
        for each in part.tables:
            lines += [f"### {each.title}", "", *each.lines(), ""]
            lines += [each.note, ""] if each.note else []
    return "\n".join(lines)


def latex(report: Report) -> str:
    """Return the tables as LaTeX, for a document that uses booktabs and textcomp."""
    lines = ["% Written by `gode bench report DIR --latex FILE`; needs \\usepackage{booktabs,textcomp}."]
    for part in report.sections:
        for each in part.tables:
            lines += ["", *each.latex()]
    return "\n".join(lines) + "\n"


def _when(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return f"Runs from {report.first} to {report.last}. Versions: {versions}."
