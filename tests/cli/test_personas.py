"""People with their data, from file to answer, through the command line: what must come out."""

import json
import re
from html import unescape

import numpy as np
import pytest

from commands import gode
from gode import fit, parse_equation
from gode.data.example import load_example
from gode.solve import solve

HOURS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0])
RATES = 0.25 * np.exp(0.3 * np.random.default_rng(0).standard_normal(12))  # of twelve people


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(1)
    rows = ["patient,time [h],conc [mg/L]"]
    for i, k in enumerate(RATES):
        seen = 5.0 * np.exp(-k * HOURS) * (1 + 0.05 * rng.standard_normal(8))
        rows += [f"P{i + 1:02d},{t},{c:.4f}" for t, c in zip(HOURS, seen, strict=True)]
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_pooled_patients_are_told_that_they_differ(patients, tmp_path):
    result = gode("fit", "u' = C*u", str(patients), "--run", "patient", "--u", "conc", "--json")
    assert result.exit_code == 3
    told = json.loads(result.stdout)
    assert told["verdict"] == "poor"
    assert any("runs differ" in cause for cause in told["causes"])


@pytest.mark.slow
def test_the_page_of_pooled_patients_is_red_and_names_them(patients, tmp_path):
    folder = tmp_path / "out"
    gode("fit", "u' = C*u", str(patients), "--run", "patient", "--u", "conc", "--out", str(folder))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.index("Do not rely on this equation") < page.index("<h2>")
    assert "runs differ" in page
    assert all(f">P{i:02d}<" in page for i in range(1, 13))
    assert re.search(r"halves in</th>.*?\d h", page, re.DOTALL)


def test_one_patient_alone_gets_a_half_life(patients, tmp_path):
    lines = patients.read_text(encoding="utf-8").splitlines()
    alone = tmp_path / "one.csv"
    alone.write_text("\n".join(["time [h],conc [mg/L]", *(x[4:] for x in lines if x.startswith("P01"))]))
    result = gode("fit", "u' = C*u", str(alone), "--json")
    assert result.exit_code == 0
    (rate,) = json.loads(result.stdout)["constants"]
    assert -rate["value"] == pytest.approx(RATES[0], abs=3 * rate["error"])


def test_a_tablet_has_two_rates_in_either_order(tmp_path):
    hours = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0])
    clean = 12.0 * (np.exp(-0.2 * hours) - np.exp(-1.3 * hours))
    seen = clean + 0.1 * np.random.default_rng(2).standard_normal(len(hours))
    path = tmp_path / "oral.csv"
    path.write_text("\n".join(["t,u", *(f"{t},{c:.4f}" for t, c in zip(hours, seen, strict=True))]))
    result = gode("fit", "u' = C*u + C*exp(C*t)", str(path), "--json")
    assert result.exit_code == 0
    values = {c["place"]: c["value"] for c in json.loads(result.stdout)["constants"]}
    rates = sorted([-values["u"], -values["inside a function"]])
    assert rates == pytest.approx([0.2, 1.3], rel=0.25)


@pytest.mark.slow
def test_a_physics_lab_gets_hertz_per_cent_and_units(tmp_path):
    t = np.linspace(0.0, 12.0, 180)
    angle = solve(parse_equation("u'' = -12.26*sin(u) - 0.06*u'"), t, [1.2, 0.0]).u
    seen = angle + 0.01 * np.random.default_rng(3).standard_normal(180)
    path = tmp_path / "pendulum.csv"
    rows = (f"{a:.4f},{b:.4f}" for a, b in zip(t, seen, strict=True))
    path.write_text("\n".join(["time [s],angle [rad]", *rows]))
    result = gode("fit", "u'' = C*sin(u) + C*u'", path, "--out", tmp_path / "lab")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "lab" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"3\.5\d* ± \S+ rad/s \(0\.557\d* ± \S+ Hz, period 1\.79\d* s\)", page)
    assert re.search(r"0\.8\d* ± \S+ %", page)
    assert "angle [rad]" in page
    assert "angle' [rad/s]" in unescape(page)


def test_a_teacher_sees_verdict_formula_and_picture_in_the_notebook():
    growth = load_example("growth")
    found = fit("u' = C*u - C*u^2", growth.t, growth.u)
    shown = found._repr_html_()
    assert shown.index("✓") < shown.index("<math") < shown.index("standard error")
    assert found.plot()._repr_png_().startswith(b"\x89PNG")


def test_an_ecologist_is_told_which_column_would_help(tmp_path):
    t = np.linspace(0.0, 20.0, 41)
    hare = 30 + 25 * np.sin(0.6 * t)
    lynx = np.empty(41)
    lynx[0] = 10.0
    for i in range(40):
        lynx[i + 1] = lynx[i] * np.exp(0.5 * (0.024 * (hare[i] + hare[i + 1]) / 2 - 0.75))
    lynx *= 1 + 0.03 * np.random.default_rng(0).standard_normal(41)
    rows = [f"{a:.3f},{b:.3f},{c:.3f}" for a, b, c in zip(t, lynx, hare, strict=True)]
    path = tmp_path / "furs.csv"
    path.write_text("\n".join(["year,lynx,hare", *rows]))
    told = gode("fit", "u' = C*u + C", str(path), "--time", "year", "--u", "lynx")
    assert "--force hare if it drives the system" in told.output
    assert "the column 'hare' would help as a known input: --force 'hare'" in told.output
    assert told.exit_code == 3
    driven = gode("fit", "u' = C*u + C*F*u", str(path), "--time", "year", "--u", "lynx", "--force", "hare")
    assert driven.exit_code == 0


@pytest.mark.slow
def test_a_structural_engineer_gets_stiffness_and_damping_from_a_shaker(tmp_path):
    rng = np.random.default_rng(3)
    t = np.arange(3000) / 250
    frequencies = np.fft.rfftfreq(3000, 1 / 250)
    band = (frequencies > 0.5) & (frequencies < 20)
    force = np.fft.irfft(band * np.exp(2j * np.pi * rng.random(len(band))), 3000)
    force *= 5 / np.std(force)
    law = "u'' + 1.5*u' + 632*u = F"
    a = solve(parse_equation(law), t, [0.0, 0.0], inputs={"F": force}).d2u
    a += 0.02 * np.std(a) * rng.standard_normal(3000)
    rows = [f"{x!r},{y!r},{z!r}" for x, y, z in zip(t.tolist(), a.tolist(), force.tolist(), strict=True)]
    path = tmp_path / "shaker.csv"
    path.write_text("\n".join(["t,acceleration,force", *rows]))
    result = gode("discover", str(path), "--effort", "quick", "--json")
    assert result.exit_code == 0
    found = {c["place"]: c for c in json.loads(result.stdout)["constants"]}
    assert found["u"]["value"] == pytest.approx(632, abs=4 * found["u"]["error"])
    assert found["u'"]["value"] == pytest.approx(1.5, abs=4 * found["u'"]["error"])
