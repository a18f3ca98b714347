import pytest

from commands import gode, refused
from examples_found import found_growth


@pytest.fixture
def record(tmp_path):
    found_growth().save(tmp_path / "record.json")
    return tmp_path / "record.json"


@pytest.mark.parametrize("language", ["python", "c", "julia", "matlab", "modelica"])
def test_a_record_becomes_a_program(record, language):
    result = gode("export", record, "--to", language)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == found_growth().export(language).strip()


def test_a_program_goes_to_a_file(record, tmp_path):
    assert gode("export", tmp_path, "--to", "python", "--out", tmp_path / "model.py").exit_code == 0
    compile((tmp_path / "model.py").read_text(), "model.py", "exec")


def test_a_record_becomes_a_page_beside_it(record, tmp_path):
    assert gode("report", record).exit_code == 0
    assert "<html" in (tmp_path / "report.html").read_text()
    assert gode("report", tmp_path, "--out", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").exists()


def test_what_is_no_record_is_one_sentence(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    assert "is no record" in refused("export", tmp_path / "other.json", "--to", "c")
    assert "there is no record" in refused("report", tmp_path / "nowhere.json")
    assert "No such file" in refused("report", tmp_path)
    assert gode("export", tmp_path, "--to", "cobol").exit_code == 2
