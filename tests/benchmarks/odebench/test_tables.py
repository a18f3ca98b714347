import pytest

from gode_bench.figures import profiles, svg
from gode_bench.jobs import Job
from gode_bench.judge import score_job
from gode_bench.odebench.summary import grouped, shares
from gode_bench.odebench.systems import systems
from gode_bench.odebench.tables import one_line, shares_table, system_runs, system_table
from gode_bench.records import Record, record_from
from gode_bench.tables import settings


def record(name, text, *, method="gode", seconds=2.0) -> Record:
    job = Job(study="odebench", problem=name, method=method, seed=1, initial="unknown")
    return Record(
        job=job, equation=text, score=score_job(job, text, "no idea"), seconds=seconds, megabytes=100.0,
        date="2025-01-01T00:00:00",
    )  # fmt: skip


RECORDS = [
    record("2", "u' = 0.23*u"),
    record("24", "x0' = x1\nx1' = -2.1*x0 + 1e-6*x1", seconds=4.0),
    record("27", "x0' = x0 - x0*x1\nx1' = x0*x1 - x1 + 0.5"),
    record("61", None),
]


def test_shares_are_those_of_the_runs():
    whole = shares("all", RECORDS)
    assert (whole.n, whole.systems, whole.failed) == (4, 4, 1)
    assert (whole.reconstruction, whole.generalisation) == (50.0, 50.0)
    assert whole.components == pytest.approx(100 * 3 / 8)  # of 1 + 2 + 2 + 3 equations
    assert whole.large_components == pytest.approx(100 * 4 / 8)
    assert (whole.whole, whole.large_whole) == (25.0, 50.0)
    assert whole.seconds == {1: 2.0, 2: 3.0, 3: 2.0}


def test_groups_leave_out_the_chaotic_and_the_scalar():
    assert [(s.group, s.n) for s in grouped(RECORDS)] == [
        ("all", 4),
        ("all but chaotic", 3),
        ("several states", 3),
        ("several states but chaotic", 2),
    ]
    assert [s.group for s in grouped(RECORDS[:1])] == ["all"]  # groups of the same runs are told once


def test_published_rows_stand_beside_all_systems_at_their_noise():
    ((setting, own),) = settings(RECORDS).items()
    assert not any(row[0].startswith("published") for row in shares_table(setting, own).rows)
    every = [record(name, None) for name in systems()]
    rows = [row for row in shares_table(setting, every).rows if row[0].startswith("published")]
    assert ("published: PySR", "all", "", "63.5", "19.0") in [row[:5] for row in rows]


def test_every_run_is_told_with_its_equations_on_one_line():
    ((setting, own),) = settings(RECORDS).items()
    rows = system_runs(own).rows
    assert rows[1][3:6] == ("1.0000", "1.0000", "10")
    assert rows[1][7] == "x0' = x1; x1' = -2.1*x0 + 1e-06*x1"
    assert rows[3][3:5] == ("-inf", "-inf")
    assert [row[2] for row in system_table(setting, own).rows] == [
        "1 1 1 of 1", "1 1 0 of 1", "0 0 0 of 1", "0 0 0 of 1",
    ]  # fmt: skip
    assert one_line("who knows") == "who knows"


def test_records_of_systems_survive_a_file():
    assert [record_from(r.line()) for r in RECORDS] == RECORDS


def test_profiles_are_drawn_though_a_run_failed():
    assert b"<svg" in svg(profiles(RECORDS))
