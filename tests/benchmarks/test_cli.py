import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gode.cli import main
from gode_bench.commands import bench
from gode_bench.jobs import QUICK
from gode_bench.quick import check_quick, quick_jobs
from gode_bench.records import open_store, read_records
from gode_bench.worker import broken


def run(words: str, *more: str):
    return CliRunner().invoke(main, ["bench", *words.split(), *more])


def test_a_suite_a_sweep_and_their_report(tmp_path):
    out = str(tmp_path)
    words = "--seeds 0 --effort quick --jobs 1 --out"
    first = run(f"b1 --problems ID2 --methods gode floor pysr {words}", out)
    assert first.exit_code == 0, first.output
    assert "2 runs, 1 at a time" in first.output
    assert "| gode " in first.output
    assert "published" not in first.output  # its means are over thirty problems
    second = run(f"sweep noise --problems ID2 --values 0 0.1 --methods floor {words}", out)
    assert second.exit_code == 0, second.output
    assert "sweep of noise" in second.output
    found = {(r.job.study, r.job.method): r for r in read_records(tmp_path)}
    assert found["b1", "gode"].score.errors[0] < 0.05
    assert found["b1", "gode"].megabytes > 50
    assert found["b1", "gode"].versions["gode"]
    lines = (tmp_path / "commands.jsonl").read_text().splitlines()
    assert json.loads(lines[1])["command"] == (
        "gode bench sweep noise --problems ID2 --methods floor --seeds 0 --effort quick --jobs 1 "
        f"--out {out} --values 0.0 0.1"
    )
    files = ("--markdown", str(tmp_path / "docs" / "results.md"), "--latex", str(tmp_path / "tables.tex"))
    shown = run("report", out, *files)
    assert shown.exit_code == 0, shown.output
    text = (tmp_path / "docs" / "results.md").read_text()
    assert "gode bench b1 --problems ID2 --methods gode floor pysr --seeds 0 --effort quick --jobs 1" in text
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "tables.tex").read_text().count(r"\begin{tabular}") == 3


def test_odebench_is_run_and_reported_like_a_suite(tmp_path):
    out = str(tmp_path)
    words = (
        "odebench --problems 2 --methods floor gode --seeds 1 --noise 0 0.05 --effort quick --jobs 1 --out"
    )
    done = run(words, out)
    assert done.exit_code == 0, done.output
    assert "4 runs, 1 at a time" in done.output
    assert "seed 1: R² 0.99" in done.output
    assert done.output.count("odebench: 1 system, 1 seed") == 2
    records = read_records(tmp_path)
    assert [r.job.noise for r in records if r.job.method == "gode"] == [0, 0.05]
    assert all(min(r.score.r2) > 0.99 and r.score.components == (True,) for r in records)
    assert "published" not in done.output  # which is over 63 systems
    again = run(words, out)
    assert "seed 1" not in again.output.split("runs.jsonl")[1].split("odebench:")[0]  # nothing is run twice
    shown = run("report", out, "--markdown", str(tmp_path / "results.md"))
    assert shown.exit_code == 0, shown.output
    assert "Population growth (naive)" in (tmp_path / "results.md").read_text()


def test_a_method_of_ones_own_is_run_beside_ours(tmp_path, monkeypatch):
    (tmp_path / "my_methods.py").write_text(
        "def find(task):\n"
        "    assert task.data.observed == 'u' and len(task.data.t[0]) == len(task.data.signal[0])\n"
        '    return "u\' = 0.79*u - 0.0106*u^2"\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", sys.path.copy())
    done = run("b1 --problems ID3 --methods my_methods:find --seeds 0 --jobs 1 --out bench")
    assert done.exit_code == 0, done.output
    assert "| my_methods:find |" in done.output
    shown = run("report", "bench")
    assert shown.exit_code == 0, shown.output
    assert "my_methods:find" in (tmp_path / "bench" / "report.html").read_text()
    monkeypatch.delitem(sys.modules, "my_methods", raising=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("b1 --problems ID99", "b1 has no problem 'ID99'"),
        ("b1 --methods oracle", "no method 'oracle'"),
        ("b1 --methods oracle:ask", "the method 'oracle:ask' cannot be loaded (No module named 'oracle')"),
        ("b1 --methods json:nothing", "the method 'json:nothing' cannot be loaded"),
        ("b1 --methods json:decoder", "is no function, but module"),
        ("b1 --noise -1", "noise is a share"),
        ("b1 --effort heroic", "'heroic' is not one of 'quick', 'normal', 'thorough'"),
        ("b1 --jobs 0", "number of processes"),
        ("b1 --limit 0", "time limit"),
        ("b3 --initial unknown", "acceleration alone"),
        ("sweep runs --problems LODE1", "one initial value only"),
        ("odebench --problems 24,64", "odebench has no system '64'; choose from 1 to 63"),
        (
            "odebench --methods gode-paper",
            "gode-paper takes one state, but these are systems; choose from",
        ),
        ("odebench --drop 0.95", "share of dropped samples must lie in [0, 0.9]"),
        ("engine luck", "no measurement 'luck'"),
        ("report nowhere", "holds no runs.jsonl"),
    ],
)
def test_nonsense_is_one_sentence_with_exit_code_2(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "words", ["b4", "b1 --seeds x", "sweep colour", "b1 --initial guessed", "b1 --jobs two"]
)
def test_words_that_mean_nothing_are_refused(words):
    assert run(words).exit_code == 2


def test_the_commands_of_the_page_are_understood():
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    commands = [line.split("#")[0].split() for line in text.splitlines() if line.startswith("gode bench ")]
    assert len(commands) > 10
    for _, _, name, *words in commands:
        bench.commands[name].make_context(name, words)


def test_methods_are_listed():
    result = run("methods")
    assert result.exit_code == 0
    assert "gode-paper" in result.output


def test_engine_prints_json():
    result = run("engine smooth --quick --json")
    (figure,) = json.loads(result.output)
    assert figure["ratio"] == pytest.approx(figure["value"] / figure["base"])


@pytest.mark.slow
def test_quick_suite_reaches_its_accuracy(tmp_path):
    result = run("all --quick --jobs 2 --out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "as accurate as it should be" in result.output


def test_quick_suite_notices_a_loss(tmp_path):
    jobs = quick_jobs(("b1", "b2", "b3"))
    assert {job.problem for job in jobs} == {name for names in QUICK.values() for name in names}
    with open_store(tmp_path) as store:
        for job in jobs:
            store.append(broken(job, "lost", 1.0))
    losses = check_quick(tmp_path, jobs)
    assert any("b1: mean error of u is 1.0000" in loss for loss in losses)
    assert any("b3: 0 of 1 structures found" in loss for loss in losses)
