"""The tables of a fleet, on rows made by hand; discovered ones are in test_folder."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

import gode
from gode.errors import ConfigError
from gode.fleet.result import Fit, Row, found_row
from gode.fleet.table import fleet_page, table_of

SPRING, FALL = "u'' = C*u", "u'' = C"


def row(name: str, law: str, *constants: float, error: float = 0.02, rival: str = "") -> Row:
    places = ("u", "1")[: len(constants)] if law != FALL else ("1",)
    fits = [Fit(law, 0.0, 8.0, 1.0, constants, (error,) * len(constants), places)]
    fits += [Fit(rival, 2.0, 8.0, 1.1, constants, (error,) * len(constants), places)] if rival else []
    return Row(
        id=name, law=law, equation=law, constants=constants, errors=(error,) * len(constants), places=places,
        misfit=1.0, verdict="good", order=2, n_values=50, fits=tuple(fits), seconds=1.0,
    )  # fmt: skip


@pytest.fixture
def fleet(rng):
    warm = np.linspace(0, 30, 30)
    stiff = -4 + 0.02 * warm + 0.02 * rng.standard_normal(30)
    rows = [row(f"s{i:02d}", SPRING, float(k), rival=FALL) for i, k in enumerate(stiff)]
    rows[7] = row("s07", SPRING, -9.0)
    rows += [row(f"f{i}", FALL, -9.81 + 0.01 * i) for i in range(6)]
    rows.append(Row(id="bad", failure="no data"))
    return gode.Fleet(table_of(rows))


def test_records_are_grouped_by_law(fleet):
    groups = fleet.groups.set_index("law")
    assert groups["records"].to_dict() == {SPRING: 30, FALL: 6}
    assert groups.loc[FALL, "could explain"] == 35
    assert fleet.table.loc["bad", "failure"] == "no data"
    assert len(fleet.table) == 37
    assert "2 laws, 1 without one" in repr(fleet)


def test_a_record_that_supports_no_equation_has_no_law(fleet):
    rows = [row("a", SPRING, -4.0), replace(row("b", FALL, 0.0), verdict="unsupported")]
    small = gode.Fleet(table_of(rows))
    assert list(small.groups["law"]) == [SPRING]
    assert small.table.loc["b", "group"] == ""
    assert "1 laws, 1 without one" in repr(small)


def test_one_form_is_weighed_against_forms_of_their_own(fleet):
    common = fleet.common.set_index("law")
    assert common.loc[SPRING, ["serves", "of"]].tolist() == [30, 36]
    assert common.loc[SPRING, "gain"] == pytest.approx(30 * 8 - 8)
    assert common.loc[FALL, "gain"] == pytest.approx(29 * (8 - 2) + 6 * 8 - 8)


def test_a_record_whose_constant_lies_apart_is_named(fleet):
    assert list(fleet.outliers.index) == ["s07"]
    assert fleet.outliers.loc["s07", "value"] == -9.0
    assert fleet.outliers.loc["s07", "usual"] == pytest.approx(-3.7, abs=0.1)


def test_the_population_is_that_of_the_records_less_their_errors(rng):
    true = rng.normal(-4.0, 0.3, 200)
    rows = [
        row(f"s{i}", SPRING, float(k + 0.2 * rng.standard_normal()), error=0.2) for i, k in enumerate(true)
    ]
    rows.append(row("odd", SPRING, -40.0))
    found = gode.Fleet(table_of(rows)).population().loc["u"]
    assert found["records"] == 200
    assert abs(found["mean"] + 4.0) < 4 * found["error"]
    assert found["error"] == pytest.approx(np.hypot(0.3, 0.2) / np.sqrt(200), rel=0.2)
    assert found["spread"] == pytest.approx(0.3, rel=0.2)


def test_constants_are_regressed_on_metadata(fleet):
    names = [f"s{i:02d}" for i in range(30)]
    about = pd.DataFrame({"id": names, "warm": np.linspace(0, 30, 30), "place": "north"}).drop(index=7)
    found = fleet.against(about)
    assert found[["law", "constant", "column", "n"]].iloc[0].tolist() == [SPRING, "u", "warm", 29]
    slope, error = found.loc[0, ["slope", "error"]]
    x = about["warm"].to_numpy()
    y = fleet.constants(SPRING).drop("s07")["u"].to_numpy()
    assert slope == pytest.approx(np.polyfit(x, y, 1)[0])
    assert abs(slope - 0.02) < 4 * error < 0.01
    assert found.loc[0, "clear"]


def test_metadata_may_leave_out_the_ending_of_files():
    rows = [row(f"{i}.csv", SPRING, float(-i - 1)) for i in range(6)]
    about = pd.DataFrame({"age": np.arange(6.0)}, index=[str(i) for i in range(6)])
    found = gode.Fleet(table_of(rows)).against(about)
    assert found.loc[0, ["n", "slope"]].tolist() == [6, pytest.approx(-1.0)]


def test_the_page_allows_its_own_script_and_no_other(fleet, tmp_path):
    path = fleet.report(tmp_path / "fleet.html", pd.DataFrame({"id": ["s00"], "warm": [1.0]}))
    text = path.read_text()
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert text.count("<tr>") > 37
    assert "s07" in text
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_text_of_strangers_is_escaped():
    text = fleet_page(gode.Fleet(table_of([Row(id="<b>x</b>", failure="<i>no</i>")])))
    assert "<b>x" not in text
    assert "&lt;i&gt;no" in text


def test_a_table_that_is_none_is_refused(fleet):
    with pytest.raises(ConfigError, match="fits is missing"):
        gode.Fleet(pd.DataFrame({"law": [], "verdict": [], "failure": []}))
    with pytest.raises(ConfigError, match="no records have the law"):
        fleet.constants("u' = C")


def test_the_law_of_a_record_has_the_form_of_its_equation():
    t = np.linspace(0.0, 10.0, 60)
    found = gode.fit(
        "u'' = C*u' + C*u + C*F", t, np.sin(t) * np.exp(-0.1 * t), force="sin(2*t)", initial=[0.0, 1.0]
    )
    row = found_row("a", found)
    assert row.law == "C*u'' + C*u' + C*u = F"
    assert row.equation.endswith("= F")
    assert row.places == ("u''", "u'", "u")
