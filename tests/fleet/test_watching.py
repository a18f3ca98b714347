"""A folder in which records arrive: what changes is told, once."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

import gode
from fleet_data import growth, write
from gode.cli import main
from gode.errors import ConfigError, DataError, FileError
from gode.fleet.engine import GivenExecutor
from gode.fleet.watching import LOG, Law, Status, Watch, given_law
from gode.tables.dataset import DataOptions

LAW = "u' = C*u + C*u^2"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield GivenExecutor(made)


def fill(folder, numbers, **options):
    folder.mkdir(exist_ok=True)
    for i in numbers:
        write(folder / f"day{i:03d}.csv", *growth(i, **options))


def watched(folder, out, engine, law, first=6):
    return Watch(folder, out, engine, columns=DataOptions(), options={}, law=law, first=first)


def still(watch):
    """Return the files that have not changed between two looks."""
    watch.arrived()
    return watch.arrived()


def test_a_change_is_told_and_a_new_start_remembers(tmp_path, pool):
    folder, out = tmp_path / "in", tmp_path / "out"
    fill(folder, range(8))
    watch = watched(folder, out, pool, Law(LAW))
    assert watch.arrived() == []  # a file is taken when it is the same at two looks
    told = list(watch.take(watch.arrived()))
    assert [t.status for t in told] == [Status.SAME] * 8
    fill(folder, [8], rate=1.2)
    fill(folder, [9])
    (folder / "day010.csv").write_text("t,u\n")
    later = watched(folder, out, pool, None)
    assert len(later.seen) == 8
    told = list(later.take(still(later)))
    assert [t.status for t in told] == [Status.CHANGED, Status.SAME, Status.FAILED]
    assert "multiplying u, usually 0.7" in told[0].sentence
    assert still(later) == []
    assert later.monitor.reference.constants == pytest.approx(watch.monitor.reference.constants)
    assert len((out / LOG).read_text().splitlines()) == 12


def test_a_file_is_judged_when_it_is_whole_and_again_when_it_changes(tmp_path, pool):
    folder, out, notes = tmp_path / "in", tmp_path / "out", []
    fill(folder, range(7))
    watch = watched(folder, out, pool, Law(LAW))
    watch.on_note = notes.append
    late = folder / "day006.csv"
    whole = late.read_text()
    late.write_text(whole[: len(whole) // 2])
    watch.arrived()
    late.write_text(whole)  # it was being written
    assert [path.name for path in watch.arrived()] == [f"day{i:03d}.csv" for i in range(6)]
    assert [t.status for t in watch.take(watch.arrived())] == [Status.SAME] * 7
    assert still(watch) == []
    fill(folder, [3], rate=1.2)
    (told,) = watch.take(still(watch))
    assert (told.id, told.status) == ("day003.csv", Status.CHANGED)
    assert notes == ["day003.csv has changed since it was judged, and is judged again"]
    later = watched(folder, out, pool, None)
    assert still(later) == []  # the log tells how each file was
    fill(folder, [3])
    assert [t.status for t in later.take(still(later))] == [Status.SAME]


def test_a_file_that_changes_while_it_is_read_waits_for_the_next_look(tmp_path, pool, monkeypatch):
    folder = tmp_path / "in"
    fill(folder, range(6))
    watch = watched(folder, tmp_path / "out", pool, given_law(gode.fit(LAW, *growth(0))))
    paths = still(watch)
    with paths[2].open("a") as file:
        file.write("\n")
    assert len(list(watch.take(paths))) == 5
    assert watch.arrived() == []
    assert [path.name for path in watch.arrived()] == [paths[2].name]


def test_the_log_of_an_earlier_version_counts_files_as_judged(tmp_path, pool):
    folder, out = tmp_path / "in", tmp_path / "out"
    fill(folder, range(6))
    list((first := watched(folder, out, pool, Law(LAW))).take(still(first)))
    lines = [json.loads(line) for line in (out / LOG).read_text().splitlines()]
    (out / LOG).write_text(
        "".join(json.dumps({k: v for k, v in line.items() if k != "file"}) + "\n" for line in lines)
    )
    later = watched(folder, out, pool, None)
    assert still(later) == []
    fill(folder, [3], rate=1.2)
    assert [t.status for t in later.take(still(later))] == [Status.CHANGED]


def test_a_damaged_log_is_refused_in_a_sentence(tmp_path, pool):
    (tmp_path / LOG).write_text('{"seen": 3}\n')
    with pytest.raises(FileError, match="line 1: not a line of a watch"):
        watched(tmp_path, tmp_path, pool, None)


def test_what_is_no_file_is_told_and_the_watch_goes_on(tmp_path, pool):
    folder = tmp_path / "in"
    fill(folder, range(6))
    os.mkfifo(folder / "pipe.csv")
    (folder / "zero.csv").symlink_to("/dev/zero")
    watch = watched(folder, tmp_path / "out", pool, Law(LAW))
    told = {t.id: t for t in watch.take(still(watch))}
    assert "is a pipe" in told["pipe.csv"].sentence
    assert "is a device" in told["zero.csv"].sentence
    assert [t.status for t in told.values()].count(Status.SAME) == 6


def test_another_law_than_that_of_the_log_is_refused(tmp_path, pool):
    folder, out = tmp_path / "in", tmp_path / "out"
    fill(folder, range(6))
    watch = watched(folder, out, pool, Law(LAW))
    list(watch.take(still(watch)))
    with pytest.raises(ConfigError, match=r"watches u' = C\*u \+ C\*u\^2, not u' = C\*u"):
        watched(folder, out, pool, Law("u' = C*u"))


def test_a_law_that_cannot_be_read_is_told_with_its_reason(tmp_path, pool):
    folder = tmp_path / "in"
    fill(folder, range(6))
    watch = watched(folder, tmp_path / "out", pool, Law("u' = = C"))
    with pytest.raises(DataError, match=r"day000\.csv: expected a number"):
        list(watch.take(still(watch)))


def test_files_that_are_moved_away_or_cannot_be_read_do_not_end_the_watch(tmp_path, pool):
    folder = tmp_path / "in"
    fill(folder, range(6))
    (folder / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    watch = watched(folder, tmp_path / "out", pool, Law(LAW))
    names = still(watch)
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
    told = list(watch.take(still(watch)))
    assert [t.status for t in told] == [Status.SAME, Status.CHANGED]


def test_the_command_tells_changes_by_its_exit_code(tmp_path):
    folder = tmp_path / "in"
    fill(folder, range(2))
    words = [
        "watch",
        str(folder),
        "--law",
        LAW,
        "--once",
        "--every",
        "0.1",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
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
