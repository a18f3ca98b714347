"""Eight records of the kinds that people have, each from the dropped file to the downloaded report.

Three clicks after the drop at most, and none on a guess that was wrong: what is clicked is Find, the first
remedy where there is one, and the report.
"""

import base64
import re

import pytest

import studio_measured as measured

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.slow

DROP = """([name, text]) => { const d = new DataTransfer();
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    d.items.add(new File([bytes], name)); return d; }"""
FIND, REMEDY, REPORT = "#go", ".remedies button >> nth=0", "a:text-is('Save the report')"
NUMBER = r"([-\d.e]+)"


def walked(page, folder, made, *clicks: str) -> tuple[str, str]:
    """Drop a record, click, and return the headline, which the report tells, too, and the law."""
    name, content = made
    page.set_default_timeout(600_000)
    text = base64.b64encode(content).decode()
    page.dispatch_event("#drop", "drop", {"dataTransfer": page.evaluate_handle(DROP, [name, text])})
    page.wait_for_selector("#plots canvas")
    assert len(clicks) < 3
    for click in clicks:
        page.locator(click).click()
        page.wait_for_selector("#live")
        page.wait_for_selector(".headline")
    with page.expect_download() as waiting:
        page.locator(REPORT).click()
    waiting.value.save_as(folder / "report.html")
    headline = page.text_content(".headline")
    assert headline in (folder / "report.html").read_text(encoding="utf-8")
    assert not re.search("Do not rely|unexplained", headline)
    return headline, page.text_content("#copy-equation")


def numbers(pattern: str, law: str) -> list[float]:
    """Return the constants of a law, written with # for each."""
    found = re.search(re.escape(pattern).replace(r"\#", NUMBER), law)
    assert found, law
    return [float(word) for word in found.groups()]


def test_growth_below_a_padded_preamble_with_decimal_commas(page, tmp_path):
    _, law = walked(page, tmp_path, measured.growth(), FIND)
    rate, crowding = numbers("OD600' = #*OD600 - #*OD600^2", law)
    assert rate == pytest.approx(0.55, rel=0.05)
    assert rate / crowding == pytest.approx(1.42, rel=0.02)


def test_an_accelerometer_with_the_force(page, tmp_path):
    _, law = walked(page, tmp_path, measured.accelerometer(), FIND)
    mass, damping, spring = numbers("#*u'' + #*u' + #*u = Force", law)
    assert mass == pytest.approx(1.2, rel=0.02)
    assert damping == pytest.approx(0.72, rel=0.1)
    assert spring == pytest.approx(10.8, rel=0.02)


def test_hare_and_lynx_are_two_states(page, tmp_path):
    _, law = walked(page, tmp_path, measured.pelts(), FIND)
    births, eaten = numbers("hare' = #*hare - #*hare*lynx", law)
    deaths, fed = numbers("lynx' = #*lynx + #*lynx*hare", law)
    assert [births, eaten, deaths, fed] == pytest.approx([0.55, 0.028, -0.8, 0.024], rel=0.1)


def test_eight_wells_have_constants_of_their_own(page, tmp_path):
    _, law = walked(page, tmp_path, measured.wells(), FIND, REMEDY)
    numbers("u' = #*u - #*u^2", law)
    assert page.locator("#fit table tbody tr").count() >= 8


def test_a_valve_acts_late(page, tmp_path):
    _, law = walked(page, tmp_path, measured.valve(), FIND, REMEDY)
    rate, gain, late = numbers("rise_K' = #*rise_K + #*valve_opening(t - #)", law)
    assert [rate, gain, late] == pytest.approx([-0.05, 0.03, 6], rel=0.05)
    assert page.get_by_role("link", name="Compare with").count() == 1  # with the law of no delay


def test_a_workbook_with_the_data_on_its_second_sheet(page, tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    _, law = walked(page, tmp_path, measured.workbook(), FIND)
    rate, rest = numbers("T' = #*T + #", law)
    assert rate == pytest.approx(-0.045, rel=0.05)
    assert -rest / rate == pytest.approx(21, abs=1)


def test_tablets_are_absorbed_from_a_depot(page, tmp_path):
    walked(page, tmp_path, measured.tablets(), FIND, REMEDY)
    for name, value, within in (("ka", 1.6, 0.5), ("ke", 0.09, 0.01), ("V", 0.45, 0.05)):
        told = page.locator(f"#fit tr:has(td:text-is('{name}')) td").nth(1).text_content()
        assert float(told) == pytest.approx(value, abs=within)


def test_the_upper_of_two_tanks_was_not_measured(page, tmp_path):
    _, law = walked(page, tmp_path, measured.tanks(), FIND, REMEDY)
    into, out = numbers("lower_level' = w^0.5 - #*lower_level^0.5", law)[0], law
    assert into == pytest.approx(0.2, rel=0.05)
    assert re.search(r"w' = [-+.\d*w^e ]*pump", out)
