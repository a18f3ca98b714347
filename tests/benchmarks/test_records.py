import json

import pytest

from gode.errors import FileError
from gode_bench.jobs import Job
from gode_bench.problems import problem
from gode_bench.records import FILE, Record, open_store, read_records
from gode_bench.score import failed, score


def record(name: str, *, seed: int = 0, text: str | None = None) -> Record:
    one = problem(name)
    result = failed(one, "no idea") if text is None else score(one, text)
    return Record(
        job=Job(study=one.suite, problem=name, method="gode", seed=seed),
        equation=text,
        score=result,
        seconds=1.5,
        megabytes=200.0,
        date="2025-01-01T00:00:00+00:00",
        versions={"gode": "0.1.0"},
    )


RECORDS = [record("ID3", text="u' = 0.7*u - 0.01*u^2"), record("ID2", text="u' = u^3"), record("ID1")]


def write(folder, records):
    with open_store(folder) as store:
        for each in records:
            store.append(each)


def test_records_come_back_in_the_order_of_their_jobs(tmp_path):
    write(tmp_path, RECORDS)
    assert read_records(tmp_path) == sorted(RECORDS, key=lambda r: r.job)
    lines = (tmp_path / FILE).read_text().splitlines()
    assert all(json.loads(line) for line in lines)
    assert "NaN" not in "".join(lines)


def test_torn_last_line_is_ignored_and_cut_off(tmp_path):
    write(tmp_path, RECORDS[:2])
    whole = (tmp_path / FILE).read_bytes()
    for cut in (1, 40, len(RECORDS[2].line()) - 1):
        (tmp_path / FILE).write_bytes(whole + RECORDS[2].line().encode()[:cut])
        assert len(read_records(tmp_path)) == 2
        with open_store(tmp_path) as store:
            assert len(store.records) == 2
            store.append(RECORDS[2])
        assert len(read_records(tmp_path)) == 3


def test_broken_line_elsewhere_is_named(tmp_path):
    write(tmp_path, RECORDS)
    lines = (tmp_path / FILE).read_text().splitlines()
    for bad in ("{", "[]", "{}", '{"job": {}, "score": {}}', lines[0].replace('"ID3"', '"ID99"')):
        (tmp_path / FILE).write_text("\n".join([lines[0], bad, lines[2]]) + "\n")
        with pytest.raises(FileError, match="line 2: not a finished run"):
            read_records(tmp_path)


def test_later_record_of_a_job_counts(tmp_path):
    again = record("ID1", text="u' = -0.36*u + 0.3")
    write(tmp_path, [*RECORDS, again])
    assert read_records(tmp_path)[0] == again


def test_missing_or_unwritable_folders_are_named(tmp_path):
    with pytest.raises(FileError, match=f"holds no {FILE}"):
        read_records(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"), open_store(tmp_path / "file"):
        pass


def test_two_writers_are_refused(tmp_path):
    with open_store(tmp_path), pytest.raises(FileError, match="another process"), open_store(tmp_path):
        pass
