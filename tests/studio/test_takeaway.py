"""Every file that can be taken away opens, and says the same as the page."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from gode import load
from gode.studio.answering import answer, file
from gode.studio.runs import Runs, download_name
from gode.studio.takeaway import Files


@pytest.fixture
def files(studio, answered) -> Files:
    folder = studio.folder / answered
    return Files(load(folder / "record.json"), Runs(studio.folder).load(answered), folder, "import gode")


def test_the_archive_holds_every_file_and_the_data(files):
    with zipfile.ZipFile(io.BytesIO(files.content("everything.zip"))) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        assert archive.read("growth.csv") == (files.folder / "data" / "growth.csv").read_bytes()
    assert {*names} == {*files.listed(), "growth.csv"} - {"everything.zip"}
    assert {"report.html", "record.json", "overview.png", "model.c", "model.mo", "notebook.ipynb"} <= {*names}


def test_the_report_has_the_headline_and_the_name_of_the_file(files):
    report = file(files.folder, files.job, "report.html").decode()
    title = f"growth: equation found by gode in growth.csv, {files.job.since[:10]}"
    assert f"<h1>{title}</h1>" in report
    assert title in answer(files.folder, files.job)
    for words in (files.found.quality.words, f"{files.found.n_solved} were solved"):
        assert words in report
        assert words in answer(files.folder, files.job)
    assert files.found.assessment.headline in report


def test_the_notebook_runs_beside_the_record(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    record = download_name(files.job, "record.json")  # as it is taken away alone
    assert record == "growth-record.json"
    (tmp_path / record).write_bytes(files.content("record.json"))
    cells = json.loads(files.content("notebook.ipynb"))["cells"]
    assert "0.63" in "".join(cells[0]["source"])
    seen: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "cell", "exec"), seen)  # noqa: S102
    assert str(seen["d"].equation) == str(files.found.equation)
    assert "time constant" in capsys.readouterr().out


def test_the_program_in_python_gives_the_solution(files, tmp_path):
    (tmp_path / "model.py").write_bytes(files.content("model.py"))
    done = subprocess.run(
        [sys.executable, "model.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    rows = [line.replace(",", " ").split() for line in done.stdout.splitlines()]
    table = np.array([[float(x) for x in row] for row in rows if row and row[0][0] in "-0123456789"])
    fit = files.found.simulate(table[:, 0])
    np.testing.assert_allclose(table[:, 1], fit.u, rtol=1e-4)


def test_the_picture_is_svg_and_the_equation_latex(files):
    assert files.content("overview.svg").lstrip().startswith(b"<?xml")
    assert rb"\dot" in files.content("equation.tex")
