import random
from dataclasses import replace

import pytest

from gode_bench.jobs import Job
from gode_bench.problems import problem, suite
from gode_bench.records import Record
from gode_bench.score import failed, score
from gode_bench.sweeps import curves, sweep_table, sweeps_of
from gode_bench.tables import problem_table, run_table, settings, suite_table, summarise


def record(name, text, *, method="gode", seed=0, seconds=2.0, **changes) -> Record:
    one = problem(name)
    job = Job(**{"study": one.suite, "problem": name, "method": method, "seed": seed, **changes})
    result = failed(one, "no idea") if text is None else score(one, text)
    return Record(
        job=job, equation=text, score=result, seconds=seconds, megabytes=100.0, date="2025-01-01T00:00:00"
    )


TRUE = {name: problem(name).text for name in ("ID2", "ID3", "LODE4")}
RECORDS = [
    record("ID2", TRUE["ID2"]),
    record("ID2", "u' = u^3", seed=1, seconds=4.0),
    record("ID3", TRUE["ID3"], seed=0),
    record("ID3", "u' = 0.7*u", seed=1),
    record("ID2", None, method="floor"),
    record("LODE4", TRUE["LODE4"]),
    record("LODE4", "u'' = -60*u", method="floor"),
]


def test_means_best_and_counts_are_those_of_the_runs():
    found = summarise("gode", [r for r in RECORDS if r.job.study == "b1"])
    last = score(problem("ID3"), "u' = 0.7*u").errors[0]
    assert found.n == 4
    assert found.mean[0] == pytest.approx((0 + 1 + 0 + last) / 4, abs=1e-5)
    assert found.mean[2] is None  # first order has no u''
    assert found.best[:2] == pytest.approx((0, 0), abs=1e-5)
    assert found.above == 1 + (last >= 1)
    assert found.failed == 0
    assert (found.exact, found.seconds, found.megabytes) == (0.5, 2.0, 100.0)
    assert summarise("floor", RECORDS[:5]).failed == 1


def test_table_is_the_same_whatever_the_order_of_the_runs():
    shuffled = RECORDS.copy()
    random.Random(3).shuffle(shuffled)
    for one, other in zip(settings(RECORDS).items(), settings(shuffled).items(), strict=True):
        assert suite_table(*one) == suite_table(*other)
        assert problem_table(*one) == problem_table(*other)
        assert run_table(one[1]) == run_table(other[1])


def test_settings_are_kept_apart():
    other = [replace(r, job=replace(r.job, initial="unknown")) for r in RECORDS if r.job.study == "b1"]
    assert [s.study for s in settings([*RECORDS, *other])] == ["b1", "b1", "b2"]


def test_published_rows_stand_below_ours_where_the_problems_are_theirs():
    setting, own = next(iter(settings(RECORDS).items()))
    others = [record(one.name, one.text) for one in suite("b1")]
    table = suite_table(setting, [*own, *others])
    first = [row[0] for row in table.rows]
    assert first[:2] == ["gode", "floor: true skeleton, trajectory"]
    assert "published: PySR best" in first
    assert table.note.endswith("Published rows are the best of five runs.")
    subset = suite_table(setting, own)  # two of thirty problems
    assert [row[0] for row in subset.rows] == first[:2]
    assert "Published" not in subset.note
    noisier = [replace(r, job=replace(r.job, noise=0.1)) for r in others]
    assert [row[0] for row in suite_table(noisier[0].job, noisier).rows] == ["gode"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert {len(line) for line in table.lines()} == {len(table.lines()[0])}


def test_every_run_is_listed_with_its_equation():
    table = run_table(RECORDS)
    assert len(table.rows) == len(RECORDS)
    assert any("u'' = -60*u" in row for row in table.rows)
    assert any("no idea" in row for row in table.rows)


def test_a_bar_in_a_cell_does_not_break_the_table():
    broken = record("ID2", None)
    broken = replace(broken, score=replace(broken.score, failure="a | b\nc"))
    assert "a \\| b c" in run_table([broken]).lines()[-1]


def test_sweeps_become_curves():
    levels = {0.0: TRUE["ID2"], 0.1: "u' = 0.25*u", 0.2: "u' = u^3"}
    records = [record("ID2", text, noise=level, study="sweep-noise") for level, text in levels.items()]
    ((what, own),) = sweeps_of([*records, *RECORDS]).items()
    (curve,) = curves(what, own)
    assert (what, curve.levels, curve.exact) == ("noise", (0.0, 0.1, 0.2), (1.0, 1.0, 0.0))
    assert curve.errors[0][0] < 1e-5 < curve.errors[1][0] < curve.errors[2][0] == 1.0
    assert [row[1] for row in sweep_table(what, own).rows] == ["0 %", "10 %", "20 %"]


def test_a_table_is_written_in_latex():
    setting, own = next(iter(settings([*RECORDS, record("ID2", "u' = u", method="mine:find_it")]).items()))
    lines = suite_table(setting, own).latex()
    assert lines[2] == r"\begin{tabular}{lllllllllllll}"
    assert lines[4].startswith(r"method & u & u\textquotesingle{} & u best & ")
    assert lines[4].count(" & ") == 12
    assert any(line.startswith(r"mine:find\_it & ") and line.endswith(r"\\") for line in lines)
    assert all(line.count("%") == line.count(r"\%") for line in lines)
    assert any(r"\textgreater{} 1" in line for line in lines)
