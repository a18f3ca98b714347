"""What people do on the page of the studio, in a real browser; the way through it is in test_walk.py."""

import io
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from browsing import GROWTH, choose, downloaded, search, unfold
from gode.studio.runs import Runs, State

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright.expect
expect.set_options(timeout=60_000)
pytestmark = pytest.mark.slow


def wells(n: int = 8) -> bytes:
    t = np.linspace(0, 10, 30)
    rng = np.random.default_rng(1)
    rows = [5 / (1 + (4 + i) * np.exp(-0.8 * t)) + 0.03 * rng.standard_normal(30) for i in range(n)]
    table = np.column_stack([t, *rows])
    head = ",".join(["time_h", *(f"A{i + 1}" for i in range(n))])
    return (head + "\n" + "\n".join(",".join(f"{x:.5g}" for x in row) for row in table) + "\n").encode()


def two_states() -> bytes:
    t = np.linspace(0, 8, 60)
    rng = np.random.default_rng(2)
    x, y = np.exp(-0.5 * t) * np.cos(2 * t), -np.exp(-0.5 * t) * np.sin(2 * t)
    rows = np.column_stack([t, x + 0.01 * rng.standard_normal(60), y + 0.01 * rng.standard_normal(60)])
    return ("t,left,right\n" + "\n".join(",".join(f"{v:.5f}" for v in row) for row in rows) + "\n").encode()


def test_columns_of_a_plate_are_guessed_as_runs_and_a_blank_is_subtracted(page):
    choose(page, "plate.csv", wells())
    page.wait_for_selector("#plots canvas")
    assert page.is_checked("input[name='wells']")
    expect(page.locator("#command")).to_contain_text("--u A1,A2,A3,A4,A5,A6,A7,A8")
    expect(page.locator(".plot-key")).to_have_count(8)
    unfold(page, "Edit the data")
    page.fill("input[name='subtract.what']", "0.1")
    page.uncheck("input[name='subtract.columns'][value='A8']")
    page.locator(".tool", has_text="Subtract a blank").get_by_role("button").click()
    expect(page.locator("#command")).to_contain_text('"subtract 0.1 from A1,A2,A3,A4,A5,A6,A7"')
    page.get_by_role("button", name="Undo subtract 0.1").click()
    expect(page.locator("#command")).not_to_contain_text("subtract")


def test_times_of_a_clock_become_hours(page):
    rows = "".join(f"{i // 3:02}:{20 * (i % 3):02}:00;{i / 10:.1f}\n".replace(".", ",") for i in range(30))
    choose(page, "plate.csv", f"Zeit;OD\n{rows}".encode())
    expect(page.locator("main")).to_contain_text("decimal commas, as in 0,0")
    expect(page.locator("main")).to_contain_text("read as h:mm:ss")
    unfold(page, "Edit the data")
    page.select_option("select[name='multiply.column']", "Zeit")
    page.select_option("select[name='multiply.kind']", label="seconds to hours")
    page.locator(".tool", has_text="Convert a unit").get_by_role("button").click()
    expect(page.locator("#told")).to_contain_text("h:mm:ss, in h")
    page.wait_for_function(
        "() => window.gode.plots.length && Math.abs(window.gode.plots[0].series[0].x[29] - 9.6667) < 1e-3"
    )


def test_a_table_is_pasted_anywhere_on_the_page(page):
    paste = """text => { const d = new DataTransfer(); d.setData("text/plain", text);
        document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true })); }"""
    page.evaluate(paste, "one word")
    expect(page.get_by_role("alert")).to_contain_text("no table")
    page.evaluate(paste, GROWTH.decode().replace(",", "\t"))
    page.wait_for_selector("#plots canvas")
    expect(page.locator("#command")).to_contain_text("gode discover pasted.txt")


def test_a_frame_is_checked_as_it_is_typed(page):
    choose(page, "growth.csv", GROWTH)
    unfold(page, "What you know")
    unfold(page, "A part of the equation is known")
    page.fill("#frame", "u' = r*u*(1 - ")
    expect(page.locator("#problem pre")).to_contain_text("^")
    expect(page.locator("#plots canvas")).to_have_count(1)  # the data are still there
    page.fill("#frame", "u' = r*u*(1 - u/K) - f(u)")
    expect(page.locator("#problem")).to_be_empty()
    page.fill("#fix", "K = 12")
    page.fill("#bounds", "r = 0:")
    page.fill("#units", "t = h")
    expect(page.locator("#command")).to_contain_text("--units t=h --fix K=12 --bounds r=0:")
    expect(page.locator("#python")).to_contain_text("bounds={'r': (0.0, None)}")
    page.fill("#individual", "all")
    expect(page.locator("#problem")).to_contain_text("only one")


def test_an_accelerometer_with_a_force_is_converted_and_read(page):
    choose(page, "shaker.csv", b"t [s],acc [g],force [N]\n" + b"".join(
        b"%g,%g,%g\n" % (0.01 * i, np.sin(0.1 * i), np.cos(0.1 * i)) for i in range(200)
    ))  # fmt: skip
    page.select_option("select[name='role.1']", "acceleration")
    expect(page.locator("#command")).to_contain_text("--u none --acceleration acc --force force")
    unfold(page, "Edit the data")
    page.select_option("select[name='multiply.column']", "acc")
    page.select_option("select[name='multiply.kind']", "0")
    page.locator(".tool", has_text="Convert a unit").get_by_role("button").click()
    expect(page.locator("#command")).to_contain_text('"multiply acc by 9.80665 as m/s2"')
    expect(page.locator("#plots")).to_contain_text("m/s2")


def test_two_columns_become_two_states(page):
    choose(page, "pair.csv", two_states())
    page.wait_for_selector("#plots canvas")  # the script is there
    page.select_option("select[name='role.2']", "state")
    expect(page.locator("#command")).to_contain_text("--states left,right")
    expect(page.locator("#plots canvas")).to_have_count(2)


def test_a_line_is_marked_as_that_of_the_names(page):
    rows = "".join(f"{i},{i * i % 7}\n" for i in range(12))
    choose(page, "two.csv", f"one,two\nhours,level\n{rows}".encode())
    expect(page.locator("table.roles")).to_contain_text("level")
    page.locator(".lines label", has_text="one,two").click()
    expect(page.locator("table.roles")).to_contain_text("two")
    expect(page.locator("#command")).to_contain_text("--header 1")
    page.get_by_text("As it was guessed").click()
    expect(page.locator("table.roles")).to_contain_text("level")
    expect(page.locator("#command")).not_to_contain_text("--header")


def test_what_is_not_used_is_drawn_faintly(page):
    choose(page, "pair.csv", two_states())
    page.wait_for_selector("#plots canvas")
    page.select_option("select[name='role.2']", "ignored")
    expect(page.locator("#plots")).to_contain_text("not used: right")
    assert page.evaluate("() => window.gode.plots.at(-1).series[0].alpha") < 0.5


@pytest.mark.parametrize("size", [(1280, 800), (400, 800)])
def test_the_button_that_searches_is_seen_without_scrolling(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    choose(page, "plate.csv", wells())
    page.wait_for_selector("#plots canvas")
    expect(page.locator("#go")).to_be_in_viewport(ratio=1)


def test_a_run_gets_another_name(page, studio):
    choose(page, "growth.csv", GROWTH)
    page.fill("#title", "Yeast of Tuesday")
    with page.expect_response("**/rename"):
        page.press("#title", "Enter")
    page.goto(studio.address)
    expect(page.locator("#runs")).to_contain_text("Yeast of Tuesday")


def test_a_point_is_dropped_by_a_click_and_comes_back(page):
    choose(page, "growth.csv", GROWTH)
    page.wait_for_selector("#plots canvas")
    page.get_by_role("button", name="Drop points").click()
    place = page.evaluate(
        "() => { const p = window.gode.plots[0], s = p.series[0]; return [p.toX(s.x[20]), p.toY(s.y[20])]; }"
    )
    page.locator("#plots canvas").click(position={"x": place[0], "y": place[1]})
    expect(page.locator("#command")).to_contain_text('"drop u lines 23"')
    page.get_by_role("button", name="Undo drop u lines 23").click()
    expect(page.locator("#command")).not_to_contain_text("drop u")


def test_a_wrong_file_is_told_and_leads_back(page):
    page.set_input_files(
        "#file", files=[{"name": "a.png", "mimeType": "image/png", "buffer": b"\x89PNG\0\0\1"}]
    )
    expect(page.get_by_role("alert")).to_contain_text("a.png")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Find the equation")


def test_a_script_in_a_header_never_runs(page):
    evil = "<img src=x onerror=window.hacked=1>"
    rows = "".join(f"{i},{i % 5},{i % 3}\n" for i in range(12))
    choose(page, "evil<script>window.hacked=1</script>.csv", f"t,{evil},</script>\n{rows}".encode())
    page.wait_for_selector("#plots canvas")
    page.select_option("select[name='role.2']", "state")
    expect(page.locator("#plots canvas")).to_have_count(2)
    expect(page.locator(".plot-title").first).to_contain_text(evil[:20])
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("img").count() == 0


def test_two_tabs_work_side_by_side(page):
    other = page.context.new_page()
    choose(page, "one.csv", GROWTH)
    other.goto(page.url)
    other.set_default_timeout(300_000)
    unfold(other, "What you know")
    other.fill("#seed", "7")
    other.press("#seed", "Tab")
    expect(other.locator("#command")).to_contain_text("--seed 7")
    expect(page.locator("#command")).to_contain_text("--seed 7")  # without being loaded again
    unfold(page, "What you know")
    page.fill("#seed", "8")
    page.press("#seed", "Tab")
    expect(page.locator("#command")).to_contain_text("--seed 8")


def test_everything_can_be_reached_by_keyboard(page):
    def go_to(wanted: str) -> None:
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("w => document.activeElement.matches(w)", wanted):
                return
        raise AssertionError(wanted)

    go_to("summary")
    page.keyboard.press("Enter")
    go_to("#text")
    page.keyboard.insert_text(GROWTH.decode())
    go_to("#paste button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#plots canvas")
    go_to("input[name='header']")
    page.keyboard.press("ArrowDown")  # another line holds the names
    expect(page.locator("#command")).to_contain_text("--header 3")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#command")).to_contain_text("--time t --u u --header 2")
    go_to("select[name='role.1']")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#problem")).to_contain_text("Two columns are time")
    with page.expect_response("**/data.json"):  # the plot is drawn again
        page.keyboard.press("ArrowDown")
    expect(page.locator("#problem")).to_be_empty()
    go_to("canvas")
    before = page.evaluate("() => window.gode.plots[0].range.x1")
    page.keyboard.press("+")
    page.wait_for_function("before => window.gode.plots[0].range.x1 < before", arg=before)
    go_to("#go")


def test_the_answer_overlays_rivals_moves_constants_and_compares(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}#rivals")
    shown = "() => window.gode.plots[0].series.filter(s => s.group === 'c1').every(s => s.shown)"
    assert not page.evaluate(shown)
    page.check("input[data-group='c1']")
    assert page.evaluate(shown)
    page.get_by_role("button", name="Compare them").click()
    expect(page.locator("#sides .card")).to_have_count(2)
    expect(page.locator("#experiment")).to_contain_text("standard deviations")
    expect(page.locator("#foretold canvas")).to_have_count(1)


def test_a_slider_moves_curve_and_misfit_and_a_key_brings_the_best_back(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}")
    page.get_by_role("tab", name="Constants").click()
    expect(page.locator("#kept canvas")).to_be_in_viewport()
    best = page.inner_text("#misfit")
    page.locator("#slider-0").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#kept .plot-legend").first).to_contain_text("your constants")
    expect(page.locator("#misfit")).not_to_have_text(best)
    expect(page.locator("label[for='slider-0']")).to_contain_text("Constant of u: 0.6")
    page.keyboard.press("Escape")
    expect(page.locator("#misfit")).to_have_text(best)
    expect(page.locator("#kept .plot-legend").first).not_to_contain_text("your constants")


def test_tabs_go_by_arrow_keys_and_the_plot_stays(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}")
    page.get_by_role("tab", name="Fit").focus()
    for name in ("What it means", "Rivals", "Constants", "Residuals", "Take away", "Details", "Fit"):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name=name, exact=True)).to_be_focused()
        expect(page.get_by_role("tabpanel", name=name, exact=True)).to_be_visible()
        expect(page.get_by_role("tabpanel")).to_have_count(1)
        expect(page.locator("#kept canvas")).to_be_visible()


def test_a_click_on_the_front_draws_an_equation(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}#rivals")
    front = page.locator("[data-plot='values-front'] canvas")
    front.scroll_into_view_if_needed()
    place = page.evaluate(
        "() => { const p = window.gode.plots.find(p => p.spec.title.startsWith('Accuracy'));"
        " for (const s of p.series) for (let i = 0; i < s.x.length; i++)"
        " if (s.groups?.[i] && s.groups[i] !== 'c0') return [p.toX(s.x[i]), p.toY(s.y[i]), s.groups[i]]; }"
    )
    front.click(position={"x": place[0], "y": place[1]})
    assert page.is_checked(f"input[data-group='{place[2]}']")


def test_chosen_runs_are_compared_and_deleted(page, studio, answered):
    runs = Runs(studio.folder)
    made = runs.save(replace(runs.copy(runs.load(answered)), title="A twin", base=answered))
    (studio.folder / made.id / "record.json").write_bytes(
        (studio.folder / answered / "record.json").read_bytes()
    )
    runs.move(made, State.DONE, words=runs.load(answered).words)
    page.goto(f"{studio.address}/runs/{made.id}")
    page.get_by_role("link", name="Compare with").click()
    expect(page.locator(".sides section")).to_have_count(2)
    page.goto(studio.address)
    page.get_by_label("Choose A twin").check()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete the chosen").click()
    expect(page.get_by_label("Choose A twin")).to_have_count(0)
    assert (studio.folder / answered).exists()


@pytest.mark.parametrize(
    "name", ["record.json", "fit.csv", "equation.tex", "model.c", "notebook.ipynb", "overview.svg"]
)
def test_every_file_can_be_taken_away(page, studio, answered, tmp_path, name):
    page.goto(f"{studio.address}/runs/{answered}")
    assert downloaded(page, name, tmp_path).stat().st_size > 20


PLACES = ["/", "setup", "running", "failed", "answer", "report"]


def opened(page, studio, answered: str, place: str) -> None:
    """Open a page of the studio: by its address, or that of a run in some state."""
    page.goto(studio.link)
    page.set_default_timeout(300_000)
    if place == "setup":
        choose(page, "growth.csv", GROWTH)
        unfold(page, "Edit the data")
        unfold(page, "What you know")
        unfold(page, "A part of the equation is known")
        page.wait_for_selector("#plots canvas")
        return
    runs = Runs(studio.folder)
    if place in ("running", "failed"):
        job = runs.add({"growth.csv": GROWTH})
        words = {"words": ("--time", "t", "--u", "u"), "message": "the time of line 4 is no number"}
        answered = runs.move(
            replace(job, form={"role.0": ["time"], "role.1": ["state"]}), State(place), **words
        ).id
    places = {"/": "/", "report": f"/runs/{answered}/files/report.html?view=1"}
    page.goto(studio.address + places.get(place, f"/runs/{answered}"))
    page.wait_for_selector("#plots canvas" if place == "running" else "main")
    if place == "running":
        runs.remove(runs.load(answered))


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_wider_than_a_phone(browser, studio, answered, place):
    context = browser.new_context(viewport={"width": 400, "height": 800})
    page = context.new_page()
    opened(page, studio, answered, place)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", PLACES)
def test_axe_finds_no_serious_violation(browser, studio, answered, place, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    opened(page, studio, answered, place)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (each["id"], [node["html"][:200] for node in each["nodes"][:2]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    context.close()
    assert serious == []


def test_the_report_is_looked_into_without_a_network(browser, studio, answered, tmp_path):
    context = browser.new_context(accept_downloads=True, offline=True)
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((studio.folder / answered / "report.html").as_uri())
    page.wait_for_selector("canvas")
    page.check("input[data-group='c1']")
    page.get_by_role("button", name="Copy the equation").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save fit.csv").click()
    waiting.value.save_as(tmp_path / "fit.csv")
    assert (tmp_path / "fit.csv").read_text() == (studio.folder / answered / "fit.csv").read_text()
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert errors == []
    context.close()


def test_the_report_is_readable_without_script(browser, studio, answered):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((studio.folder / answered / "report.html").as_uri())
    assert page.locator(".still svg").first.is_visible()
    assert page.locator("canvas").count() == 0
    assert not page.get_by_role("button", name="Copy the equation").is_visible()
    context.close()


def test_a_hundred_thousand_rows_stay_fluent(page):
    t = np.arange(100_000) / 500
    u = np.sin(5 * t) + 0.1 * np.random.default_rng(0).standard_normal(len(t))
    rows = "\n".join(f"{a:.3f},{b:.5f}" for a, b in zip(t.tolist(), u.tolist(), strict=True))
    choose(page, "dense.csv", f"t,u\n{rows}\n".encode())
    page.wait_for_selector("#plots canvas")
    assert page.evaluate("() => window.gode.plots[0].series[0].x.length") == 100_000
    page.evaluate("() => window.gode.plots[0].zoom(0.7)")
    milliseconds = page.evaluate(
        "() => { const p = window.gode.plots[0], n = 5, t = performance.now();"
        " for (let i = 0; i < n; i++) { p.range.x1 *= 0.99; p.paint(); p.hover(300, 100); }"
        " return (performance.now() - t) / n; }"
    )
    assert milliseconds < 100


@pytest.mark.parametrize("kind", ["shaker", "pair", "plate"])
def test_from_other_measurements_to_a_downloaded_report(page, tmp_path, kind):
    shaker = (files("gode.data.examples") / "shaker.csv").read_bytes()
    content = {"shaker": shaker, "pair": two_states(), "plate": wells()}[kind]
    choose(page, f"{kind}.csv", content)
    search(page)
    assert downloaded(page, "report.html", tmp_path).stat().st_size < 2_000_000


def test_the_second_sheet_of_a_workbook_is_read_and_its_names_can_be_marked(page):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "Cooling of a cup"
    sheet = book.create_sheet("Data")
    for row in [("measured by", "me"), ("Time [min]", "T [°C]"), *((i, 90 - i) for i in range(20))]:
        sheet.append(row)
    made = io.BytesIO()
    book.save(made)
    choose(page, "cup.xlsx", made.getvalue())
    expect(page.locator(".lines .names")).to_contain_text("Time [min]")
    expect(page.locator("#command")).to_contain_text("gode discover cup.xlsx --time Time --u T")
    assert page.input_value("#part") == ""


def test_a_search_is_stopped_keeps_its_best_and_goes_on(page):
    t = np.linspace(0.0, 12.0, 60)
    u = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * t)) + 0.4 * np.random.default_rng(0).standard_normal(60)
    rows = "\n".join(f"{x:.3f},{y:.4f}" for x, y in zip(t, u, strict=True))
    choose(page, "growth.csv", f"t,u\n{rows}\n".encode())  # so noisy that no first look decides
    page.get_by_role("button", name="Find the equation").click()
    expect(page.locator("#best")).to_contain_text("u'", timeout=600_000)
    page.get_by_role("button", name="Stop and keep the best").click()
    page.wait_for_selector(".headline", timeout=600_000)
    page.get_by_role("button", name="Go on with the search").click()
    page.wait_for_selector("#live")
    page.wait_for_selector(".headline", timeout=600_000)
    assert page.get_by_role("button", name="Go on with the search").count() == 0


def place_of(page, point: int) -> dict[str, float]:
    """Return where a point of the data is drawn in the plot that stays."""
    x, y = page.evaluate(
        "(i) => { const p = window.gode.plots[0], s = p.series.find((s) => s.lines);"
        " return [p.toX(s.x[i]), p.toY(s.y[i])]; }",
        point,
    )
    return {"x": x, "y": y}


def test_points_are_left_out_of_an_answer_in_a_run_beside_it(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}")
    expect(page.locator("#again-part")).to_be_hidden()
    page.get_by_role("button", name="Leave out points").click()
    for point in (5, 20, 5):  # the first one comes back
        page.locator("#kept canvas").click(position=place_of(page, point))
    page.get_by_role("button", name="Search again without 1 point").click()
    page.wait_for_selector("#live")
    expect(page.locator("#copy-command")).to_contain_text('--edit "drop u lines 23"')
    assert page.input_value("#title") == "growth, without 1 point"
    page.get_by_role("button", name=re.compile("Stop|Take it")).click()


def test_the_part_that_is_looked_at_is_searched_again(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}")
    page.wait_for_selector("#kept canvas")
    page.evaluate("() => window.gode.plots[0].zoom(0.5)")
    again = page.get_by_role("button", name="Search again only from")
    expect(again).to_be_visible()
    page.get_by_role("button", name="Show all").first.click()
    expect(again).to_be_hidden()
    page.evaluate("() => window.gode.plots[0].zoom(0.5)")
    again.click()
    page.wait_for_selector("#live")
    expect(page.locator("#copy-command")).to_contain_text('--edit "crop ')
    page.get_by_role("button", name=re.compile("Stop|Take it")).click()


def test_a_column_measures_a_formula_of_a_state(page):
    t = np.linspace(0, 10, 60)
    signal = 2.5 / (1 + 9 * np.exp(-t)) + 0.3 + 0.005 * np.random.default_rng(0).standard_normal(60)
    rows = "".join(f"{a:.3f},{b:.4f}\n" for a, b in zip(t.tolist(), signal.tolist(), strict=True))
    choose(page, "sensor.csv", f"t [h],signal [V]\n{rows}".encode())
    page.wait_for_selector("#plots canvas")
    page.select_option("select[name='role.1']", "measured")
    expect(page.locator("#problem")).to_contain_text("What does signal measure?")
    page.fill("input[name='measures.1']", "s*x + 0.3")
    expect(page.locator("#problem")).to_contain_text("signal is a formula of states")
    page.fill("#frame", "x' = r*x*(1 - x)")
    expect(page.locator("#problem")).to_be_empty()
    expect(page.locator("#command")).to_contain_text('--observe "signal = s*x + 0.3"')
    expect(page.locator("#plots canvas")).to_have_count(1)
    page.get_by_role("button", name="Find the equation").click()
    page.wait_for_selector(".headline", timeout=600_000)
    expect(page.locator("#copy-equation")).to_contain_text("signal = 2.5")


def test_the_key_of_a_dashed_curve_is_dashed(page, studio, answered):
    page.goto(f"{studio.address}/runs/{answered}#rivals")
    page.check("input[data-group='c1']")
    keys = page.locator(".plot-key:has(.plot-mark.line) .plot-mark")
    shown = keys.evaluate_all("all => all.map((mark) => getComputedStyle(mark).backgroundImage)")
    assert shown[0] == "none"
    assert any(text.startswith("repeating-linear-gradient") for text in shown)
