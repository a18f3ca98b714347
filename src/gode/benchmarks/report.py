"""Records -> tables, pictures, one page and one Markdown file: files are read and written here."""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from gode.benchmarks.figures import bars, svg, sweep_curves, trajectories, violins
from gode.benchmarks.jobs import Job
from gode.benchmarks.records import Record, read_records
from gode.benchmarks.sweeps import PREFIX, curves, sweep_table, sweeps_of
from gode.benchmarks.tables import Table, described, problem_table, run_table, settings, suite_table
from gode.errors import FileError

COMMANDS = "commands.jsonl"
PAGE = "report.html"
FIGURES = "figures"
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#1b1b1b}
table{border-collapse:collapse;margin:1em 0;font-size:13px;display:block;overflow-x:auto}
td{font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid #ccc;padding:.25em .6em;text-align:left;vertical-align:top}
th{border-bottom:2px solid #555}td.equation{font-family:ui-monospace,monospace;min-width:18em}
img{max-width:100%;height:auto}p.note{color:#555;max-width:75em}code{background:#f2f2f2;padding:.1em .3em}
summary{cursor:pointer;margin:1em 0}
"""


@dataclass(frozen=True)
class Section:
    """A part of the report: tables and pictures by name; the long table is folded away."""

    title: str
    tables: tuple[Table, ...]
    pictures: dict[str, bytes]
    runs: Table


@dataclass(frozen=True)
class Report:
    """What a folder of records says."""

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


def _suite_section(setting: Job, records: Sequence[Record]) -> Section:
    name = "-".join([setting.study, f"noise{setting.noise:g}", setting.initial, setting.effort])
    pictures = {f"{name}-violins": svg(violins(records)), f"{name}-problems": svg(bars(records))}
    if setting.study in ("b2", "b3"):
        pictures[f"{name}-trajectories"] = svg(trajectories(records))
    tables = suite_table(setting, records), problem_table(setting, records)
    return Section(f"{setting.study}: {described(setting)}", tables, pictures, run_table(records))


def _sweep_section(what: str, records: Sequence[Record]) -> Section:
    pictures = {f"sweep-{what}": svg(sweep_curves(what, curves(what, records)))}
    return Section(f"sweep of {what}", (sweep_table(what, records),), pictures, run_table(records))


def _commands(folder: Path) -> tuple[str, ...]:
    path = folder / COMMANDS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    try:
        return tuple(dict.fromkeys(str(json.loads(line)["command"]) for line in lines))
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path} is not a list of commands ({error}); delete it") from error


def _versions(records: Sequence[Record]) -> tuple[dict[str, str], str]:
    """Return the versions that occur, and a warning if the code changed between two runs."""
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.versions.items():
            found.setdefault(name, set()).add(version)
    mixed = sorted(name for name, values in found.items() if len(values) > 1)
    warning = f"These runs were made with several versions of: {', '.join(mixed)}." if mixed else ""
    return {name: ", ".join(sorted(values)) for name, values in found.items()}, warning


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write the page and the pictures into `folder`; return their paths."""
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    written = [folder / PAGE]
    written[0].write_text(page(report), encoding="utf-8")
    for section in report.sections:
        for name, content in section.pictures.items():
            written.append(folder / FIGURES / f"{name}.svg")
            written[-1].write_bytes(content)
    return written


def write_text(path: Path, text: str) -> None:
    """Write a file of text, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def page(report: Report) -> str:
    """Return one HTML page that needs nothing else."""
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>gode bench</title><style>{STYLE}</style>"
    parts = [head, "<h1>Benchmarks of gode</h1>", f"<p>{escape(_when(report))}</p>"]
    parts += [f"<p><strong>{escape(report.warning)}</strong></p>"] if report.warning else []
    parts += [f"<p><code>{escape(command)}</code></p>" for command in report.commands]
    for section in report.sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [_html_table(table) for table in section.tables]
        for name, content in section.pictures.items():
            source = b64encode(content).decode()
            parts.append(f'<p><img alt="{escape(name)}" src="data:image/svg+xml;base64,{source}"></p>')
        runs = _html_table(section.runs)
        parts.append(
            f"<details><summary>{len(section.runs.rows)} runs with their equations</summary>{runs}</details>"
        )
    return "\n".join([*parts, "</html>\n"])


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(c)}</th>" for c in table.columns)
    kinds = [' class="equation"' if c in ("equation", "truth") else "" for c in table.columns]
    rows = (
        "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        for row in table.rows
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    note = f"<p class=note>{escape(table.note)}</p>" if table.note else ""
    return f"<h3>{escape(table.title)}</h3><table><tr>{head}</tr>\n{body}</table>{note}"


def markdown(report: Report) -> str:
    """Return the tables as Markdown, with commands, versions and dates."""
    lines = ["# Results", "", "Written by `gode bench report DIR --markdown FILE`; do not edit by hand.", ""]
    lines += [_when(report), ""]
    lines += [report.warning, ""] if report.warning else []
    lines += ["```", *(report.commands or ("(no command on record)",)), "```", ""]
    for section in report.sections:
        lines += [f"## {section.title}", ""]
        for table in section.tables:
            lines += [f"### {table.title}", "", *table.lines(), ""]
            lines += [table.note, ""] if table.note else []
    return "\n".join(lines)


def latex(report: Report) -> str:
    """Return the tables as LaTeX, to be put into a document that uses booktabs and textcomp."""
    lines = ["% Written by `gode bench report DIR --latex FILE`; needs \\usepackage{booktabs,textcomp}."]
    for section in report.sections:
        for table in section.tables:
            lines += ["", *table.latex()]
    return "\n".join(lines) + "\n"


def _when(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return f"Runs from {report.first} to {report.last}. Versions: {versions}."
