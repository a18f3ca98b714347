"""The pages of results say what the studies found; nobody has edited them by hand."""

import re
from importlib.util import find_spec
from itertools import dropwhile, takewhile

import pytest

from gode_bench.methods import METHODS
from gode_bench.results import (
    BEGIN,
    END,
    NOT_RUN,
    PAGE,
    README,
    ROOT,
    STUDIES,
    page,
    read_outcomes,
    readme_table,
    told,
    with_table,
)

OUTCOME = {
    "title": "A study",
    "command": "gode bench b1",
    "date": "2026-01-02",
    "versions": "gode 0.1.0",
    "quick": True,
    "seconds": 12.0,
    "body": "| a | 0.123 |",
    "rows": {"gode": {"b1": [0.00312, 0.0162], "b3": [0.0061, 0.005, 0.0042]}},
}


def test_the_page_is_what_was_written():
    assert PAGE.read_text(encoding="utf-8") == page(read_outcomes())


def test_the_table_of_the_readme_is_what_was_written():
    text = README.read_text(encoding="utf-8")
    assert text == with_table(text, readme_table(read_outcomes()))


def test_an_edited_figure_is_noticed():
    table = readme_table({"suites": OUTCOME})
    text = f"before\n{BEGIN}\n\n{table}\n\n{END}\nafter"
    assert text == with_table(text, table)
    assert text.replace(".003 / .016", ".002 / .016") != with_table(text, table)
    assert table in with_table(text.replace(".003 / .016", ".002 / .016"), table)


def test_small_parts_say_so():
    text = page({STUDIES[0].name: OUTCOME})
    assert "a small part of the study" in text
    assert "| a | 0.123 |" in text
    assert "small part" in readme_table({"suites": OUTCOME})
    assert "small part" not in readme_table({"suites": {**OUTCOME, "quick": False}})


def test_errors_stand_by_suite():
    (row,) = [line for line in readme_table({"suites": OUTCOME}).splitlines() if line.startswith("| gode")]
    assert re.split(r" *\| *", row)[1:-1] == ["gode", ".003 / .016", "", ".006 / .005 / .004"]


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
    text = README.read_text(encoding="utf-8")
    assert not typed(text[: text.index(BEGIN)] + text[text.index(END) :])


def test_a_typed_figure_is_noticed():
    row = "| PySINDy | .036 / .090 |"
    assert typed(f"A page\n\n{row}\n")
    assert not typed(f"*History: gode 0.1.0, November 2026.*\n\n{row}\n")
    assert not typed("| `observe={}` | a formula of states |\n")


def test_a_peer_that_is_not_installed_stands_in_the_table_as_not_run():
    assert f"| PySINDy | {NOT_RUN}" in re.sub(r" +", " ", readme_table({"suites": OUTCOME}))


def test_a_study_that_was_not_run_says_so():
    text = page({})
    assert all(f"## {study.title}\n\nNot run.\n" in text for study in STUDIES)


def test_tables_and_sentences_that_a_study_prints_become_a_page():
    assert told(PAGE, "4 laws\n| a |\n| --- |\n| 1 |\nall right\nin all\n") == (
        "4 laws\n\n| a |\n| --- |\n| 1 |\n\nall right\n\nin all"
    )


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_each_study_is_a_command_of_the_bench(study):
    for words in (study.words, study.quick):
        assert words[0] in ("bench", study.name) or find_spec(f"gode_bench.{words[0]}") is not None
        named = dropwhile("--methods".__ne__, words)
        methods = list(takewhile(lambda word: not word.startswith("--"), list(named)[1:]))
        assert {*methods} <= {*METHODS}
