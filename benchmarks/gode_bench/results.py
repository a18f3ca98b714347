"""All tables of the README and of the results page, made anew.

    make results [QUICK=1] [DATA=folder of measured records]
    python -m gode_bench.results [--quick] [--data DIR] [--only NAME ...] [--jobs 2] [--out DIR] [--pages]

Each study is a command of its own, run in a process of its own, --jobs of them at a time. What is finished is
kept in the folder of --out and not run again, so that an interrupted call goes on; a study whose command ends
with an error is told and left out, and a peer that is not installed has no row. In the end
benchmarks/results/tables.json holds the rows of what was found; docs/results.md, README.md and docs/index.md
are written from it; --pages writes them without running anything. With --quick each study is a small part of
itself, and the pages say so.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from gode import __version__
from gode.files import read_text
from gode_bench.methods import METHODS, title_of
from gode_bench.rows import MISSED
from gode_bench.studies import MAX_BYTES, PRINTED, STUDIES, Study
from gode_bench.tables import TextTable, markdown

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "benchmarks" / "results" / "tables.json"
PAGE = ROOT / "docs" / "results.md"
SHORT = (ROOT / "README.md", ROOT / "docs" / "index.md")  # pages with the short table
BEGIN, END = "<!-- table of results: written by make results -->", "<!-- end of the table of results -->"
BENCH = "from gode_bench.commands import bench; bench(prog_name='gode bench')"
INTRODUCTION = """# Results

Written by `make results`; do not edit by hand. Each section has the command that made it, in which DIR
stands for a folder of your own and DATA for one with measured records that are not part of gode. How
problems, methods and scores are defined is told on the page about [benchmarks](benchmarks.md)."""
SMALL = "This is a small part of the study; the whole is"


@dataclass(frozen=True)
class Outcome:
    """What a study found, as it stands on the pages."""

    command: str
    date: str
    versions: str
    quick: bool
    seconds: float
    absent: tuple[str, ...]  # titles of methods that were not installed
    tables: tuple[TextTable, ...]


Outcomes = Mapping[str, Outcome]
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
        if given.data is None and study.needs_data:
            print(f"{study.name}: left out, it needs --data", flush=True)
        else:
            _make(study, folder / study.name, given.data, quick=given.quick)


def _make(study: Study, folder: Path, data: Path | None, *, quick: bool) -> None:
    """Run a study unless it is finished, and keep what it found."""
    done = folder / "outcome.json"
    if not done.exists() and not _run(study, folder, data, quick=quick):
        return
    about = json.loads(read_text(done, MAX_BYTES))
    outcome = Outcome(**about, absent=tuple(study.absent), tables=tuple(study.tables(folder)))
    with WRITING:
        found = {**read_outcomes(), study.name: outcome}
        text = json.dumps({name: asdict(each) for name, each in found.items()}, indent=1, ensure_ascii=False)
        TABLES.write_text(text + "\n", encoding="utf-8")


def _run(study: Study, folder: Path, data: Path | None, *, quick: bool) -> bool:
    """Run the command of a study in its folder, and tell whether it was finished.

    The time of calls that were interrupted before is added to that of this one.
    """
    words = study.quick if quick else study.words
    print(f"{study.name}: {shown(words)}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    filled = [word.replace("DIR", str(folder)) for word in _with_data(words, data)]
    versions, spent = _versions(study), folder / "seconds.txt"
    before = float(read_text(spent, MAX_BYTES)) if spent.exists() else 0.0
    begin = time.perf_counter()
    with (folder / PRINTED).open("w") as out, (folder / "errors.txt").open("w") as errors:
        run = subprocess.Popen(_command(filled), stdout=out, stderr=errors)
        while run.poll() is None:
            time.sleep(0.5)
            spent.write_text(f"{before + time.perf_counter() - begin:.1f}")
    seconds = float(read_text(spent, MAX_BYTES))
    if run.returncode not in (0, MISSED):
        last = (read_text(folder / "errors.txt", MAX_BYTES).strip().splitlines() or ["nothing was said"])[-1]
        print(f"{study.name}: ended with code {run.returncode}: {last}", flush=True)
        return False
    about = {
        "command": shown(words),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions,
        "quick": quick,
        "seconds": round(seconds),
    }
    (folder / "outcome.json").write_text(json.dumps(about), encoding="utf-8")
    print(f"{study.name}: done in {seconds:.0f} s", flush=True)
    return True


def _with_data(words: Sequence[str], data: Path | None) -> list[str]:
    """Return the words with the folder of measured records, or without the option for it."""
    if data is None:
        return [word for word in words if word not in ("--data", "DATA")]
    return [word.replace("DATA", str(data)) for word in words]


def _command(words: Sequence[str]) -> list[str]:
    if words[0] == "bench":
        return [sys.executable, "-c", BENCH, *words[1:]]
    return [sys.executable, "-m", f"gode_bench.{words[0]}", *words[1:]]


def shown(words: Sequence[str]) -> str:
    """Return the command of a study as one types it."""
    start = ["gode", "bench"] if words[0] == "bench" else ["python", "-m", f"gode_bench.{words[0]}"]
    return " ".join([*start, *words[1:]])


def _versions(study: Study) -> str:
    git = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    python = ".".join(map(str, sys.version_info[:3]))
    commit = f" at {git.stdout.strip()}" if git.stdout else ""
    peers = [f"{title_of(name)} {METHODS[name].version}" for name in study.methods if METHODS[name].version]
    numbers = f"Python {python}", f"NumPy {version('numpy')}", f"SciPy {version('scipy')}"
    return ", ".join([f"gode {__version__}{commit}", *numbers, *peers])


def read_outcomes() -> dict[str, Outcome]:
    """Return what is known, by the names of the studies."""
    return outcomes_from(json.loads(read_text(TABLES, MAX_BYTES))) if TABLES.exists() else {}


def outcomes_from(values: Mapping[str, Mapping[str, object]]) -> dict[str, Outcome]:
    """Return outcomes from what JSON keeps of them."""
    found = {}
    for name, each in values.items():
        rows = [
            TextTable(t["title"], tuple(t["columns"]), tuple(map(tuple, t["rows"])), t["note"])
            for t in each["tables"]  # type: ignore[attr-defined]
        ]
        found[name] = Outcome(**{**each, "absent": tuple(each["absent"]), "tables": tuple(rows)})  # type: ignore[arg-type]
    return found


def page(found: Outcomes) -> str:
    """Return the page of the results."""
    lines = [INTRODUCTION, ""]
    for study in STUDIES:
        lines += [f"## {study.title}", "", study.about, ""]
        outcome = found.get(study.name)
        if outcome is None:
            lines += [f"This was not run on this version. Its command: `{shown(study.words)}`.", ""]
            continue
        lines += [*markdown(outcome.tables), *_absent(outcome)]
        lines += ["```sh", outcome.command, "```", "", _made(outcome, study), ""]
    return "\n".join(lines)


def _absent(outcome: Outcome) -> list[str]:
    if not outcome.absent:
        return []
    names = ", ".join(outcome.absent)
    return [f"Not installed, and so without rows: {names} (`pip install './benchmarks[peers]'`).", ""]


def _made(outcome: Outcome, study: Study) -> str:
    minutes = f"{outcome.seconds / 60:.1f} minutes" if outcome.seconds >= 60 else f"{outcome.seconds:.0f} s"
    whole = shown(study.words)
    part = f" {SMALL} `{whole}`." if outcome.quick and outcome.command != whole else ""
    return f"Made on {outcome.date} in {minutes} by {outcome.versions}.{part}"


def short_table(found: Outcomes) -> str:
    """Return the short table of README and front page, and a sentence on measured records."""
    cells = {**_suite_cells(found.get("suites"))}
    columns = ["B1: u / u'", "B2: u / u' / u''", "B3: u / u' / u''"] if cells else []
    systems = _system_cells(found.get("odebench"))
    if systems:
        columns.append("ODEBench: reconstructed / generalised / exact, %")
    rows = []
    for name in dict.fromkeys([*cells, *systems]):
        errors = cells.get(name, ("",) * 3) if cells else ()
        rows.append((name, *errors, *([systems.get(name, "")] if systems else [])))
    out = TextTable("", ("method", *columns), tuple(rows)).lines() if rows else []
    if measured := found.get("measured"):
        sentence, _, _ = measured.tables[0].note.partition(". ")
        out += ["", f"{sentence}."]
    used = [each for name in ("suites", "odebench") if (each := found.get(name))]
    if used:
        dates = sorted({each.date for each in used})
        extent = [table.title.partition(", noise")[0] for each in used for table in each.tables]
        small = " small parts of the studies" if any(each.quick for each in used) else ""
        out += ["", f"Measured {' and '.join(dates)} on{small}: {'; '.join(extent)}."]
    return "\n".join(out).strip()


def _suite_cells(outcome: Outcome | None) -> dict[str, tuple[str, ...]]:
    """Return the mean errors of each method on B1, B2 and B3."""
    found: dict[str, dict[str, str]] = {}
    for table in outcome.tables if outcome else ():
        errors = [i for i, name in enumerate(table.columns) if name in ("u", "u'", "u''")]
        for row in table.rows:
            if not row[0].startswith("published"):
                means = " / ".join(row[i].removeprefix("0") for i in errors)
                found.setdefault(row[0], {})[table.title[:2]] = means
    return {
        name: tuple(means.get(suite, "") for suite in ("b1", "b2", "b3")) for name, means in found.items()
    }


def _system_cells(outcome: Outcome | None) -> dict[str, str]:
    """Return the shares of each method over all systems."""
    if outcome is None:
        return {}
    table = outcome.tables[0]
    wanted = [table.columns.index(name) for name in ("reconstruction", "generalisation", "exact components")]
    rows = [row for row in table.rows if row[1] == "all" and not row[0].startswith("published")]
    return {row[0]: " / ".join(row[i] for i in wanted) for row in rows}


def with_table(text: str, table: str) -> str:
    """Return a page with the table between its marks.

    Raises:
        ValueError: if a mark is missing.
    """
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:before]}\n\n{table}\n\n{text[after:]}"


def write_pages() -> None:
    """Write the page of results and the short table from what is known."""
    found = read_outcomes()
    PAGE.write_text(page(found), encoding="utf-8")
    for path in SHORT:
        path.write_text(with_table(read_text(path, MAX_BYTES), short_table(found)), encoding="utf-8")
    print("written:", *(path.relative_to(ROOT) for path in (PAGE, *SHORT)))


if __name__ == "__main__":
    main()
