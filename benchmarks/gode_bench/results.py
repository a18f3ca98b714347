"""All tables of the README and of the results page, made anew.

    make results [QUICK=1] [DATA=folder of measured records]
    python -m gode_bench.results [--quick] [--data DIR] [--only NAME ...] [--jobs 2] [--out DIR] [--pages]

Each study is a command of its own, run in a process of its own, --jobs of them at a time. What is finished is
kept in the folder of --out and not run again, so that an interrupted call goes on; a study whose command ends
with an error is told and left out, and a peer that is not installed stands in the tables as not run. In the
end benchmarks/results/tables.json holds what was found, and README.md and
docs/results.md are written from it; --pages writes them without running anything. With --quick each study is
a small part of itself, and its table says so.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import dropwhile, groupby, takewhile
from pathlib import Path
from typing import Any

from gode import __version__
from gode.files import read_text
from gode_bench.methods import METHODS, title_of
from gode_bench.records import read_records
from gode_bench.report import main_table
from gode_bench.tables import TextTable, methods_of, settings, summarise

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "benchmarks" / "results" / "tables.json"
PAGE = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- table of results: written by make results -->", "<!-- end of the table of results -->"
MAX_BYTES = 100_000_000
KEPT = 60  # lines of what a study prints
NOT_RUN = "not run"
BENCH = "from gode_bench.commands import bench; bench(prog_name='gode bench')"

Body = Callable[[Path, str], str]


@dataclass(frozen=True)
class Study:
    """A command, its small form, and how its table is made of its folder and of what it printed."""

    name: str
    title: str
    words: tuple[str, ...]  # DIR is the folder of the study, DATA that of measured records
    quick: tuple[str, ...]
    body: Body
    needs_data: bool = False  # others do with the records of this project


@dataclass(frozen=True)
class Outcome:
    """What a study found, as it stands on the page."""

    title: str
    command: str
    date: str
    versions: str
    quick: bool
    seconds: float
    body: str


def printed(folder: Path, output: str) -> str:
    """Return what a study printed, without its progress."""
    lines = [line.rstrip() for line in output.splitlines() if " left:" not in line]
    return "\n".join(["```text", *lines[-KEPT:], "```"])


def told(folder: Path, output: str) -> str:
    """Return the tables in Markdown that a study printed, and its sentences as paragraphs."""
    parts = groupby(output.strip().splitlines(), lambda line: line.startswith("|"))
    return "\n\n".join(("\n" if rows else "\n\n").join(lines) for rows, lines in parts)


def tables(folder: Path, output: str) -> str:
    """Return the tables of a folder of runs, one for each setting."""
    parts = []
    for setting, own in settings(read_records(folder)).items():
        table = main_table(setting, own)
        parts += [f"**{table.title}**", "", *table.lines(), "", table.note, ""]
    return "\n".join(parts).strip()


def page_of(folder: Path, output: str) -> str:
    """Return the Markdown that a study wrote into its folder, its headings one level lower."""
    text = read_text(folder / "tables.md", MAX_BYTES)
    return "\n".join(f"#{line}" if line.startswith("#") else line for line in text.splitlines()).strip()


def _bench(*words: str) -> tuple[str, ...]:
    return ("bench", *words)


SUITES = ("all", "--methods", "gode", "floor", "pysindy", "pyoperon", "--jobs", "1", "--out", "DIR")
PEERS = ("--methods", "gode", "pysindy", "--jobs", "1", "--out", "DIR")
SOME = "ID1 ID6 ID11 ID16 ID21 ID26 NLODE1 NLODE4 Pendulum Duffing"
FEW = (
    "yeast_growth falling_ball lynx_hare coffee_black coffee_filter foam_erdinger chick indometh onions n2o5"
)
STUDIES = (
    Study(
        "suites",
        "The paper's 43 problems, 5 % noise",
        _bench(*SUITES, "--seeds", "40", "41", "42"),
        _bench(*SUITES, "--seeds", "40", "--problems", *SOME.split()),
        tables,
    ),
    Study(
        "odebench",
        "ODEBench, 5 % noise",
        _bench("odebench", *PEERS, "--seeds", "21"),
        _bench("odebench", *PEERS, "--seeds", "21", "--problems", "1,9,17,24-32"),
        tables,
    ),
    Study(
        "dysts",
        "Chaotic systems of dysts, 1 % noise",
        _bench("dysts", *PEERS, "--seeds", "21"),
        _bench(
            "dysts",
            *PEERS,
            "--seeds",
            "21",
            "--effort",
            "quick",
            "--problems",
            "Lorenz",
            "SprottD",
            "SprottJ",
        ),
        tables,
    ),
    Study(
        "autosindy",
        "AutoSINDy's systems and noise levels",
        _bench("autosindy", *PEERS, "--seeds", "32", "33", "34", "35", "36"),
        _bench("autosindy", *PEERS, "--seeds", "32", "--noise", "0.02"),
        tables,
    ),
    Study(
        "calibration",
        "Probabilities: of the laws that are named with 90 %, how many are right",
        ("calibration", "--laws", "150", "--seed", "7000", "--out", "DIR/laws.jsonl"),
        ("calibration", "--laws", "40", "--seed", "7000", "--out", "DIR/laws.jsonl"),
        told,
    ),
    Study(
        "coverage",
        "Error bars: how often 95 % intervals hold the truth",
        ("error_bars", "--runs", "24", "--out", "DIR/runs.jsonl"),
        ("error_bars", "--runs", "4", "--out", "DIR/runs.jsonl"),
        printed,
    ),
    Study(
        "noise",
        "False discoveries: series of noise alone",
        ("false_discoveries", "--series", "100", "--out", "DIR/series.jsonl"),
        ("false_discoveries", "--series", "24", "--out", "DIR/series.jsonl"),
        printed,
    ),
    Study(
        "robustness",
        "Outliers, correlated noise, rounded readings",
        ("robustness", "--seeds", "10", "--out", "DIR/rows.csv"),
        ("robustness", "--seeds", "1", "--effort", "quick", "--out", "DIR/rows.csv"),
        told,
    ),
    Study(
        "measured",
        "Measured records: which law is named, and how well it forecasts",
        ("measured", "--data", "DATA"),
        ("measured", *FEW.split(), "--data", "DATA"),
        told,
    ),
    Study(
        "nonlinear",
        "Records of nonlinearbenchmark.org",
        _bench("nonlinear", "--data", "DATA", "--out", "DIR/tables.md"),
        _bench("nonlinear", "--effort", "quick", "--data", "DATA", "--out", "DIR/tables.md"),
        page_of,
        needs_data=True,
    ),
    Study(
        "fleets",
        "Many records: cost of one, start of a worker",
        ("fleet", "cost", "--out", "DIR"),
        ("fleet", "cost", "--out", "DIR"),
        printed,
    ),
    Study(
        "speed",
        "Speed of the engine",
        _bench("engine", "fits", "solves", "decode", "smooth"),
        _bench("engine", "fits", "solves", "--quick"),
        printed,
    ),
)
WRITING = threading.Lock()


def main() -> None:
    """Run the studies that are not finished, and write the pages."""
    known = {study.name: study for study in STUDIES}
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--quick", action="store_true")
    options.add_argument("--data", type=Path)
    options.add_argument("--only", nargs="+", choices=[*known], default=[*known])
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--out", type=Path, default=Path("out/results"))
    options.add_argument("--pages", action="store_true")
    given = options.parse_args()
    folder = given.out / ("quick" if given.quick else "full")
    todo = [] if given.pages else [known[name] for name in reversed(given.only)]
    workers = [threading.Thread(target=_work, args=(todo, folder, given)) for _ in range(given.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    write_pages()


def _work(todo: list[Study], folder: Path, given: argparse.Namespace) -> None:
    """Run studies from the end of a list that several threads share."""
    while True:
        try:
            study = todo.pop()
        except IndexError:
            return
        _make(study, folder, given.data, quick=given.quick)


def _make(study: Study, out: Path, data: Path | None, *, quick: bool) -> None:
    """Run a study unless it is finished, and keep what it found."""
    folder, words = out / study.name, study.quick if quick else study.words
    done = folder / "outcome.json"
    if not done.exists():
        if data is None and study.needs_data:
            print(f"{study.name}: left out, it needs --data", flush=True)
            return
        print(f"{study.name}: {_shown(words)}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        filled = [word.replace("DIR", str(folder)) for word in _with_data(words, data)]
        begin = time.perf_counter()
        run = subprocess.run(_command(filled), capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if run.returncode:
            last = (run.stderr.strip().splitlines() or ["nothing was said"])[-1]
            print(f"{study.name}: ended with code {run.returncode}: {last}", flush=True)
            return
        outcome = Outcome(
            title=study.title,
            command=_shown(words),
            date=datetime.now(UTC).date().isoformat(),
            versions=_versions(),
            quick=quick,
            seconds=round(seconds),
            body="\n\n".join([study.body(folder, run.stdout), *_absent(words)]),
        )
        done.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        print(f"{study.name}: done in {seconds:.0f} s", flush=True)
    with WRITING:
        found = read_outcomes()
        found[study.name] = json.loads(read_text(done, MAX_BYTES))
        if study.name == "suites":
            found[study.name]["rows"] = _suite_rows(folder)
        if study.name == "odebench":
            found[study.name]["rows"] = _system_rows(folder)
        TABLES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _with_data(words: Sequence[str], data: Path | None) -> list[str]:
    """Return the words with the folder of measured records, or without the option for it."""
    if data is None:
        return [word for word in words if word not in ("--data", "DATA")]
    return [word.replace("DATA", str(data)) for word in words]


def _command(words: Sequence[str]) -> list[str]:
    if words[0] == "bench":
        return [sys.executable, "-c", BENCH, *words[1:]]
    return [sys.executable, "-m", f"gode_bench.{words[0]}", *words[1:]]


def _absent(words: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each method of a study that is not installed."""
    for name in asked_methods(words):
        if not METHODS[name].installed:
            yield f"{title_of(name)}: not run, it is not installed (`pip install './benchmarks[peers]'`)."


def asked_methods(words: Sequence[str]) -> list[str]:
    """Return the methods that the command of a study names."""
    return list(
        takewhile(lambda word: not word.startswith("-"), list(dropwhile("--methods".__ne__, words))[1:])
    )


def _shown(words: Sequence[str]) -> str:
    shown = (
        ["gode", *words] if words[0] == "bench" else ["python", "-m", f"gode_bench.{words[0]}", *words[1:]]
    )
    return " ".join(shown)


def _versions() -> str:
    git = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    python = ".".join(map(str, sys.version_info[:3]))
    commit = f" at {git.stdout.strip()}" if git.stdout else ""
    return f"gode {__version__}{commit}, Python {python}, NumPy {version('numpy')}, SciPy {version('scipy')}"


def _suite_rows(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Return the mean errors of each method by suite, for the README."""
    rows: dict[str, dict[str, list[float]]] = {}
    for setting, own in settings(read_records(folder)).items():
        for method in methods_of(own):
            means = [x for x in summarise(method, own).mean if x is not None]
            rows.setdefault(title_of(method), {})[setting.study] = means
    return rows


def _system_rows(folder: Path) -> dict[str, list[str]]:
    """Return the cells of each method on all systems, for the README."""
    rows = {}
    for setting, own in settings(read_records(folder)).items():
        for cells in main_table(setting, own).rows:
            if cells[1] == "all" and not cells[0].startswith("published"):
                rows[cells[0]] = list(cells)
    return rows


def _with_absent(outcome: Mapping[str, Any], row: object, study: str) -> dict[str, Any]:
    """Return the rows of an outcome, and such a row for each method of the study that was not run."""
    rows = dict(outcome["rows"])
    words = next(each.words for each in STUDIES if each.name == study)
    for name in asked_methods(words):
        rows.setdefault(title_of(name), row)
    return rows


def read_outcomes() -> dict[str, dict[str, object]]:
    """Return what is known, by the names of the studies."""
    return json.loads(read_text(TABLES, MAX_BYTES)) if TABLES.exists() else {}


def page(found: Mapping[str, Mapping[str, object]]) -> str:
    """Return the page of the results."""
    lines = ["# Results", "", "Written by `make results`; do not edit by hand.", ""]
    for study in STUDIES:
        if study.name not in found:
            lines += [f"## {study.title}", "", "Not run.", "", "```sh", _shown(study.words), "```", ""]
            continue
        outcome = found[study.name]
        part = " A quick look, at a small part of the study." if outcome["quick"] else ""
        lines += [
            f"## {outcome['title']}",
            "",
            f"{outcome['date']}, {outcome['versions']}, {outcome['seconds']:.0f} s.{part}",
            "",
            *("```sh", str(outcome["command"]), "```", ""),
            str(outcome["body"]),
            "",
        ]
    return "\n".join(lines)


def readme_table(found: Mapping[str, Mapping[str, object]]) -> str:
    """Return the short table of the README."""
    out: list[str] = []
    suites, systems = found.get("suites"), found.get("odebench")
    if suites:
        table = TextTable(
            "",
            ("method", "B1 u / u'", "B2 u / u' / u''", "B3 u / u' / u''"),
            tuple(
                (name, *(_errors(rows.get(suite)) if rows else NOT_RUN for suite in ("b1", "b2", "b3")))
                for name, rows in _with_absent(suites, None, "suites").items()
            ),
        )
        out += [*table.lines(), "", _about(suites), ""]
    if systems:
        table = TextTable(
            "",
            ("ODEBench, 5 % noise", "runs", "reconstruction %", "generalisation %", "exact equations %"),
            tuple(
                (r[0], r[2], *r[3:6])
                for r in _with_absent(systems, ["", "", NOT_RUN, "", "", ""], "odebench").values()
            ),
        )
        out += [*table.lines(), "", _about(systems), ""]
    if measured := found.get("measured"):
        sentences = [line for line in str(measured["body"]).splitlines() if line and line[0] != "|"]
        out += [f"Measured records: {'; '.join(sentences)}.", "", _about(measured), ""]
    return "\n".join(out).strip()


def _errors(values: Sequence[float] | None) -> str:
    return "" if values is None else " / ".join(f"{x:.3f}".removeprefix("0") for x in values)


def _about(outcome: Mapping[str, object]) -> str:
    part = "; a small part of the study" if outcome["quick"] else ""
    return f"`{outcome['command']}`, {outcome['date']}{part}."


def with_table(text: str, table: str) -> str:
    """Return the README with the table between its marks.

    Raises:
        ValueError: if a mark is missing.
    """
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:before]}\n\n{table}\n\n{text[after:]}"


def write_pages() -> None:
    """Write the page of results and the table of the README from what is known."""
    found = read_outcomes()
    PAGE.write_text(page(found), encoding="utf-8")
    text = read_text(README, MAX_BYTES)
    README.write_text(with_table(text, readme_table(found)), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}, {README.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
