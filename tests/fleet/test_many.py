"""discover_many on real executors: the same as alone, from lists, folders and tables."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import gode
from fleet_data import cooling, few, growth, write
from gode.errors import ConfigError, DataError


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as made:
        yield made


def equations(found) -> dict[str, str]:
    return {result.id: result.failure or result.equation for result in found}


def alone(record, **options) -> str:
    return str(gode.discover(*record, **options).equation)


def test_results_are_those_of_records_alone_in_processes_of_ours(tmp_path):
    records = [growth(0), cooling(1), growth(2, rate=1.1)]
    options = {"grammar": few(tmp_path), "effort": "quick"}
    found = {result.id: result for result in gode.discover_many(records, n_jobs=2, picture=True, **options)}
    assert {k: r.equation for k, r in found.items()} == {
        str(i): alone(record, **options) for i, record in enumerate(records)
    }
    one = found["1"]
    assert one.law == "u' = C*u + C"
    assert one.discovery.equation.constants == gode.discover(*records[1], **options).equation.constants
    assert one.picture.startswith(b"<svg ")
    assert len(one.packed) + len(one.picture) < 50_000
    one.save(tmp_path / "one.json")
    assert str(gode.load(tmp_path / "one.json").equation) == one.equation


def test_a_bad_record_is_a_row_with_a_sentence(tmp_path, pool):
    t, u = growth(0)
    records = {
        "good": (t, u),
        "short": (t[:2], u[:2]),
        "number": 7,
        "typo": {"t": t, "uu": u},
        "effort": {"t": t, "u": u, "effort": "lazy"},
    }
    found = equations(gode.discover_many(records, executor=pool, grammar=few(tmp_path)))
    assert found.pop("good").startswith("u' = ")
    assert "too few" in found["short"]
    assert "pair (t, u), got int" in found["number"]
    assert "uu" in found["typo"]
    assert "effort must be one of" in found["effort"]


def test_folders_and_long_tables_are_read_alike(tmp_path, pool):
    records = {"a": growth(0), "b": cooling(1)}
    (tmp_path / "in").mkdir()
    for name, record in records.items():
        write(tmp_path / "in" / f"{name}.csv", *record)
    (tmp_path / "in" / "notes.md").write_text("no record")
    (tmp_path / "in" / "broken.csv").write_text("")
    (tmp_path / "in" / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    (tmp_path / "in" / "folder.csv").mkdir()
    options = {"executor": pool, "grammar": few(tmp_path)}
    files = equations(gode.discover_many(tmp_path / "in", **options))
    assert "broken.csv" in files.pop("broken.csv")
    assert "cannot be read (No such file" in files.pop("gone.csv")
    frames = [pd.DataFrame({"well": name, "t": t, "u": u}) for name, (t, u) in records.items()]
    table = equations(gode.discover_many(pd.concat(frames), id="well", time="t", u="u", **options))
    assert {f"{name}.csv": equation for name, equation in table.items()} == files
    pd.concat(frames).to_csv(tmp_path / "long.csv", index=False)
    assert equations(gode.discover_many(tmp_path / "long.csv", id="well", **options)) == table


def test_options_of_one_record_are_its_own(tmp_path, pool):
    records = {"a": growth(0), "b": growth(0)}
    each = {"b": {"without": ["u^2"], "order": 3}}
    found = equations(gode.discover_many(records, each=each, executor=pool, grammar=few(tmp_path)))
    assert found["a"].startswith("u' = ")
    assert "order must be 1, 2" in found["b"]
    with pytest.raises(ConfigError, match="no record is called so"):
        list(gode.discover_many(records, each={"c": {}}, executor=pool, grammar=few(tmp_path)))


def test_options_of_a_file_need_not_name_its_ending(tmp_path, pool):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.csv", *growth(0))
    options = {"executor": pool, "grammar": few(tmp_path)}
    found = equations(gode.discover_many(tmp_path, each={"b": {"order": 3}}, **options))
    assert found["a.csv"].startswith("u' = ")
    assert "order must be 1, 2" in found["b.csv"]
    with pytest.raises(ConfigError, match="'c', but no record is called so"):
        gode.discover_many(tmp_path, each={"c": {"order": 2}}, **options)


@pytest.mark.parametrize(
    ("records", "options", "told"),
    [
        (3, {}, "records must be a list"),
        ("nowhere", {}, "is no folder"),
        (pd.DataFrame({"t": [1.0]}), {}, "needs id="),
        ([(0, 1)], {"order": 7}, "order must be"),
        (".", {"speed": 3}, "no option 'speed'"),
        ([(0, 1)], {"speed": 3}, "no option 'speed'"),
        ([(0, 1)], {"grammar": "nowhere.grammar"}, "No such file"),
    ],
)
def test_nonsense_is_refused_before_the_work_begins(records, options, told):
    with pytest.raises(gode.GodeError, match=told):
        gode.discover_many(records, **options)


def test_two_records_of_one_name_are_refused(tmp_path, pool):
    records = [{"id": "x", "t": [1], "u": [1]}, {"id": "x", "t": [1], "u": [1]}]
    with pytest.raises(DataError, match="two records are called 'x'"):
        list(gode.discover_many(records, executor=pool))
