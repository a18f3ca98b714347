"""The page of a fleet in a real browser: its table is sorted and filtered."""

import pytest

import gode
from gode.fleet.result import Fit, Row
from gode.fleet.table import table_of

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser, tmp_path):
    rows = []
    for i in range(1000):
        fits = (Fit("u' = C*u", 0.0, 3.0, 1.0, (float(i % 7 - 3),), (0.1,), ("u",)),)
        verdict = "poor" if i % 10 == 3 else "good"
        rows.append(
            Row(id=f"well {i}", law="u' = C*u", equation="e", misfit=i / 500, verdict=verdict, fits=fits)
        )
    rows.append(Row(id="well 1000", failure="no data"))
    path = gode.Fleet(table_of(rows)).report(tmp_path / "fleet.html")
    context = browser.new_context()
    made, errors = context.new_page(), []
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    made.goto(path.as_uri())
    yield made
    context.close()
    assert errors == []


def shown(page, column: int) -> list[str]:
    script = "(rows, i) => rows.filter(r => !r.hidden).map(r => r.cells[i].textContent)"
    return page.eval_on_selector_all(".records tbody tr", script, column)


def test_columns_are_sorted_by_numbers_and_words(page):
    head = page.get_by_role("columnheader", name="id")
    head.get_by_role("button").click()
    assert shown(page, 0)[:12] == [f"well {i}" for i in range(12)]
    assert head.get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="misfit").press("Enter")
    page.get_by_role("button", name="misfit").press("Space")
    assert shown(page, 3)[:2] == ["1.998", "1.996"]
    assert head.get_attribute("aria-sort") is None
    page.get_by_role("button", name="constants").click()
    assert set(shown(page, 2)[:140]) == {"-3"}


def test_rows_are_filtered_by_words_and_numbers(page):
    count, box = page.get_by_role("status"), page.get_by_role("searchbox", name="Show")
    assert count.text_content() == "1001 of 1001 records, of which the first 200 are shown"
    assert len(shown(page, 0)) == 200
    page.get_by_role("button", name="Show all").click()
    assert len(shown(page, 0)) == 1001
    for words, n in (
        ("verdict=poor", 100),
        ("poor misfit>1", 50),
        ("misfit<0.1", 50),
        ("no data", 1),
        ("x=y", 0),
    ):
        box.fill(words)
        assert count.text_content() == f"{n} of 1001 records"
        assert len(shown(page, 0)) == n
