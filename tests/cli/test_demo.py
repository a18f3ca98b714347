import pytest

from commands import gode


@pytest.mark.slow
def test_the_demonstration_ends_with_equation_picture_and_report(tmp_path):
    result = gode("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "u' = 0.6" in result.output
    assert "at 95 % confidence" in result.output
    assert (tmp_path / "overview.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (tmp_path / "report.html").read_text()
    assert f"written: {tmp_path / 'record.json'}" in result.output


def test_the_demonstration_looks_at_its_folder_before_it_computes(tmp_path):
    (tmp_path / "good.csv").write_text("t,u\n")
    result = gode("demo", "--out", tmp_path / "good.csv")
    assert result.exit_code == 2
    assert "cannot be made" in result.output
    assert "The data:" not in result.output
