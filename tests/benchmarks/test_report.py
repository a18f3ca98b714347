import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from gode.errors import FileError
from gode_bench.figures import COLOURS, MARKS, svg, violins
from gode_bench.jobs import Job
from gode_bench.methods import METHODS
from gode_bench.problems import problem
from gode_bench.records import Record, open_store, read_records
from gode_bench.report import make_report, markdown, remember_command, write_report
from gode_bench.score import failed, score

EQUATIONS = {
    "ID2": ("u' = 0.22*u", "u' = 0.3*u"),
    "ID3": (problem("ID3").text, None),
    "LODE1": ("u' = 2 - u/t", "u' = -3*u"),
    "LODE4": ("u'' = -63*u", "u'' = -60*u - u'"),
    "Duffing": ("u'' = -1.4*u - 5*u^3 + 0.2*F", "u'' = u^3"),
}
EVIL = "<script>alert(1)</script> & | worse"


def record(name, text, seed, **changes) -> Record:
    one = problem(name)
    job = Job(**{"study": one.suite, "problem": name, "method": "gode", "seed": seed, **changes})
    result = failed(one, EVIL) if text is None else score(one, text)
    return Record(
        job=job, equation=text, score=result, seconds=1.0, megabytes=100.0, date="2025-01-01T00:00:00",
        versions={"gode": "0.1.0"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench")
    records = [record(n, text, i) for n, texts in EQUATIONS.items() for i, text in enumerate(texts)]
    records += [replace(r, job=replace(r.job, method="floor")) for r in records if r.job.seed == 0]
    records += [record("ID2", "u' = 0.22*u", 0, study="sweep-noise", noise=x) for x in (0.0, 0.1)]
    with open_store(path) as store:
        for each in records:
            store.append(each)
    remember_command(path, "gode bench all --out 'a & b'", "2025-01-01")
    return path


@pytest.fixture(scope="module")
def report(folder):
    return make_report(folder)


def test_each_study_is_a_section_with_its_pictures(report):
    assert [s.title.split(":")[0] for s in report.sections] == ["b1", "b2", "b3", "sweep of noise"]
    names = [name for s in report.sections for name in s.pictures]
    kinds = [name.rsplit("-", 1)[-1] for name in names]
    assert kinds == ["violins", "problems", *["violins", "problems", "trajectories"] * 2, "noise"]
    for section in report.sections:
        for content in section.pictures.values():
            assert ElementTree.fromstring(content).tag.endswith("svg")


def test_page_needs_nothing_else_and_escapes_all_text(report, folder):
    written = write_report(report, folder)
    page = written[0].read_text()
    assert EVIL.split("&")[0].strip() not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    assert page.count("<img") == len(written) - 1
    assert "published" not in page  # its means are over more problems than these


def test_markdown_holds_commands_versions_dates_and_tables(report):
    text = markdown(report)
    assert "gode bench all --out 'a & b'" in text
    assert "2025-01-01T00:00:00" in text
    assert "gode 0.1.0" in text
    assert "published" not in text
    assert "sweep of noise" in text


def test_pictures_are_the_same_for_the_same_runs(report, folder):
    records = [r for r in read_records(folder) if r.job.study == "b1"]
    assert svg(violins(records)) == next(iter(report.sections[0].pictures.values()))


def test_every_method_has_a_colour_and_a_mark_of_its_own():
    assert set(COLOURS) == set(METHODS)
    assert len(set(COLOURS.values())) == len(METHODS) <= len(set(MARKS))


def test_runs_of_several_versions_are_pointed_out(tmp_path, report):
    assert report.warning == ""
    with open_store(tmp_path) as store:
        store.append(record("ID2", "u' = 0.22*u", 0))
        store.append(replace(record("ID2", "u' = 0.22*u", 1), versions={"gode": "0.2.0"}))
    assert "several versions of: gode" in make_report(tmp_path).warning


def test_folders_without_runs_are_refused(tmp_path):
    with pytest.raises(FileError, match="holds no runs"):
        make_report(tmp_path)
    with open_store(tmp_path):
        pass
    with pytest.raises(FileError, match="no finished run"):
        make_report(tmp_path)
