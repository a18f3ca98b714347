"""A folder in which records arrive: what changes is told, once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

import gode
from fleet_data import growth, write
from gode.cli import main
from gode.errors import ConfigError, DataError
from gode.fleet.engines import Given
from gode.fleet.monitor import Status
from gode.fleet.watching import LOG, Law, Watch, given_law
from gode.measured.read import DataOptions

LAW = "u' = C*u + C*u^2"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield Given(made)


def fill(folder, numbers, **options):
    folder.mkdir(exist_ok=True)
    for i in numbers:
        write(folder / f"day{i:03d}.csv", *growth(i, **options))


def watched(folder, out, engine, law, first=6):
    return Watch(folder, out, engine, columns=DataOptions(), options={}, law=law, first=first)


def test_a_change_is_told_and_a_new_start_remembers(tmp_path, pool):
    folder, out = tmp_path / "in", tmp_path / "out"
    fill(folder, range(8))
    watch = watched(folder, out, pool, Law(LAW))
    assert watch.arrived() == []  # a file is taken when its size no longer changes
    told = list(watch.take(watch.arrived()))
    assert [t.status for t in told] == [Status.SAME] * 8
    fill(folder, [8], rate=1.2)
    fill(folder, [9])
    (folder / "day010.csv").write_text("t,u\n")
    later = watched(folder, out, pool, None)
    assert len(later.seen) == 8
    told = list(later.take(later.arrived(at_once=True)))
    assert [t.status for t in told] == [Status.CHANGED, Status.SAME, Status.FAILED]
    assert "multiplying u, usually 0.7" in told[0].sentence
    assert later.arrived(at_once=True) == []
    assert later.monitor.reference.constants == pytest.approx(watch.monitor.reference.constants)
    assert len((out / LOG).read_text().splitlines()) == 12


def test_another_law_than_that_of_the_log_is_refused(tmp_path, pool):
    folder, out = tmp_path / "in", tmp_path / "out"
    fill(folder, range(6))
    watch = watched(folder, out, pool, Law(LAW))
    list(watch.take(watch.arrived(at_once=True)))
    with pytest.raises(ConfigError, match=r"watches u' = C\*u \+ C\*u\^2, not u' = C\*u"):
        watched(folder, out, pool, Law("u' = C*u"))


def test_a_law_that_cannot_be_read_is_told_with_its_reason(tmp_path, pool):
    folder = tmp_path / "in"
    fill(folder, range(6))
    watch = watched(folder, tmp_path / "out", pool, Law("u' = = C"))
    with pytest.raises(DataError, match=r"day000\.csv: expected a number"):
        list(watch.take(watch.arrived(at_once=True)))


def test_files_that_are_moved_away_or_cannot_be_read_do_not_end_the_watch(tmp_path, pool):
    folder = tmp_path / "in"
    fill(folder, range(6))
    (folder / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    watch = watched(folder, tmp_path / "out", pool, Law(LAW))
    names = watch.arrived(at_once=True)
    assert len(names) == 6
    names[2].unlink()
    told = list(watch.take(names))
    assert [t.status for t in told].count(Status.FAILED) == 1
    assert "cannot be read" in told[2].sentence


def test_the_constants_of_a_record_are_usual_at_once(tmp_path, pool):
    folder = tmp_path / "in"
    fill(folder, [1])
    fill(folder, [2], rate=1.0)
    law = given_law(gode.fit(LAW, *growth(0)))
    watch = watched(folder, tmp_path / "out", pool, law)
    told = list(watch.take(watch.arrived(at_once=True)))
    assert [t.status for t in told] == [Status.SAME, Status.CHANGED]


def test_the_command_tells_changes_by_its_exit_code(tmp_path):
    folder = tmp_path / "in"
    fill(folder, range(2))
    words = ["watch", str(folder), "--law", LAW, "--once", "--jobs", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, words)
    assert "too few records" in result.output
    fill(folder, range(6))
    result = CliRunner().invoke(main, [*words, "--first", "5"])
    assert result.exit_code == 0, result.output
    assert "6 records, 0 told" in result.output
    fill(folder, [7], limit=8.0)
    result = CliRunner().invoke(main, [*words, "--quiet"])
    assert result.exit_code == 3, result.output
    assert "day007.csv: the constants differ" in result.output
    last = json.loads((tmp_path / "out" / LOG).read_text().splitlines()[-1])
    assert last["told"]["status"] == "changed"
