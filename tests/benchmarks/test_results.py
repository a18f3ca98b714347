"""The pages of results say what the studies found; nobody has edited them by hand."""

import json
import re
from dataclasses import asdict, replace
from importlib.util import find_spec
from itertools import count

import pytest

from gode_bench.methods import METHODS
from gode_bench.results import (
    BEGIN,
    END,
    PAGE,
    ROOT,
    SHORT,
    Outcome,
    outcomes_from,
    page,
    read_outcomes,
    short_table,
    with_table,
)
from gode_bench.rows import finished
from gode_bench.studies import STUDIES
from gode_bench.tables import TextTable

SUITE = TextTable(
    "b1: 1 problem",
    ("method", "u", "u'", "u best", "s"),
    (("gode", "0.0031", "0.0162", "0.0031", "2.5"),),
    "a note",
)
SYSTEMS = TextTable(
    "odebench: 1 system",
    ("method", "systems", "reconstruction", "generalisation", "exact components"),
    (("PySINDy", "all", "61.0", "52.0", "43.0"), ("PySINDy", "several states", "1.0", "2.0", "3.0")),
)
OUTCOME = Outcome(
    command="gode bench all --out DIR",
    date="2026-01-02",
    versions="gode 0.1.0",
    quick=True,
    seconds=12.0,
    absent=("pyoperon",),
    tables=(SUITE,),
)


def cells(line):
    return re.split(r" *\| *", line)[1:-1]


def rows_of(text):
    return {row[0]: row[1:] for line in text.splitlines() if line.startswith("|") and (row := cells(line))}


def test_the_page_is_what_was_written():
    assert PAGE.read_text(encoding="utf-8") == page(read_outcomes())


@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.name)
def test_the_short_table_is_what_was_written(path):
    text = path.read_text(encoding="utf-8")
    assert text == with_table(text, short_table(read_outcomes()))


def test_an_edited_figure_is_noticed():
    table = short_table({"suites": OUTCOME})
    text = f"before\n{BEGIN}\n\n{table}\n\n{END}\nafter"
    assert text == with_table(text, table)
    assert text.replace(".0031 / .0162", ".0021 / .0162") != with_table(text, table)
    assert table in with_table(text.replace(".0031 / .0162", ".0021 / .0162"), table)


def test_what_is_kept_as_json_is_the_same_outcome():
    kept = json.loads(json.dumps({"suites": asdict(OUTCOME)}))
    assert outcomes_from(kept) == {"suites": OUTCOME}


def test_small_parts_say_so():
    text = page({"suites": OUTCOME})
    assert "a small part of the study" in text
    assert "| gode   | 0.0031 |" in text
    assert "small parts" in short_table({"suites": OUTCOME})
    assert "small parts" not in short_table({"suites": replace(OUTCOME, quick=False)})


def test_the_readme_has_a_row_for_each_method_that_was_run_and_no_other():
    found = {"suites": OUTCOME, "odebench": replace(OUTCOME, tables=(SYSTEMS,))}
    rows = rows_of(short_table(found))
    assert rows["gode"] == [".0031 / .0162", "", "", ""]
    assert rows["PySINDy"] == ["", "", "", "61.0 / 52.0 / 43.0"]
    assert "pyoperon" not in rows
    assert "without rows: pyoperon" in page(found)


MARK = re.compile(r"^\*History: gode \d+\.\d+\.\d+, [\w ]*20\d\d\.", re.M)
MADE = re.compile(r"^Written by `[^`]+`", re.M)
FIGURES = re.compile(r"^\|.*(?<![\w.])\d*\.\d+", re.M)
EXAMPLES = {  # tables of options, formats, calls and claims, whose numbers are no results
    *("command-line.md", "file-formats.md", "index.md", "robustness.md", "tutorial.md", "what-you-know.md"),
}
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)


def typed(text: str) -> list[str]:
    """The rows of figures in tables that no program wrote and that are not marked as history."""
    return [] if MARK.search(text) or MADE.search(text) else FIGURES.findall(re.sub(r"`.*?`", "", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_figure_of_a_page_is_typed_by_hand(page):
    assert page.name in EXAMPLES or not typed(page.read_text(encoding="utf-8"))


def test_no_figure_of_the_readme_is_typed_by_hand():
    text = SHORT[0].read_text(encoding="utf-8")
    assert not typed(text[: text.index(BEGIN)] + text[text.index(END) :])


def test_a_typed_figure_is_noticed():
    row = "| PySINDy | .036 / .090 |"
    assert typed(f"A page\n\n{row}\n")
    assert not typed(f"*History: gode 0.1.0, November 2026.*\n\n{row}\n")
    assert not typed("| `observe={}` | a formula of states |\n")


def test_a_study_that_was_not_run_has_a_plain_sentence():
    text = page({})
    assert all(f"## {study.title}\n\n{study.about}\n\nThis was not run" in text for study in STUDIES)
    assert short_table({}) == ""


def test_an_interrupted_study_goes_on_with_what_is_missing(tmp_path):
    calls = count()

    def make(seed, effort):
        next(calls)
        return None if seed == 1 else {"found": [effort]}

    path = tmp_path / "rows.jsonl"
    settings = [{"seed": seed, "effort": "quick"} for seed in range(3)]
    first = list(finished(path, settings[:1], make))
    assert first == [{"seed": 0, "effort": "quick", "found": ["quick"]}]
    again = list(finished(path, settings, make))
    assert [row["seed"] for row in again] == [0, 2]
    assert next(calls) == 3
    assert len(list(finished(path, [{"seed": 0, "effort": "normal"}], make))) == 1
    assert next(calls) == 5


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_each_study_is_a_command_of_the_bench(study):
    for words in (study.words, study.quick):
        assert words[0] in ("bench", study.name) or find_spec(f"gode_bench.{words[0]}") is not None
    assert {*study.methods} <= {*METHODS}
