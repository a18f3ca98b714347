import json
import os
import random
import resource
import stat
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gode
from examples_found import fitted_oscillator, found_growth
from gode.data.dataset import Limits
from gode.errors import FileError, GodeError
from gode.files import replacing
from gode.report.record import KEPT, discovery_of, record_of


@pytest.fixture(params=[found_growth, fitted_oscillator], ids=["growth", "oscillator"])
def pair(request, tmp_path):
    """A discovery, and what comes back from its file."""
    fresh = request.param()
    fresh.save(tmp_path / "record.json")
    return fresh, gode.load(tmp_path / "record.json")


def test_a_loaded_discovery_says_the_same(pair):
    fresh, loaded = pair
    assert str(loaded) == str(fresh)
    assert loaded.equation.constants == fresh.equation.constants
    pd.testing.assert_frame_equal(loaded.equations, fresh.equations, rtol=1e-4)
    assert [str(each) for each in loaded.ties] == [str(each) for each in fresh.ties]
    assert loaded.settings == fresh.settings
    assert (loaded.n_fitted, loaded.interrupted) == (fresh.n_fitted, fresh.interrupted)
    np.testing.assert_allclose(loaded.noise, fresh.noise, rtol=1e-4)  # a callable input becomes a spline


def test_the_folder_of_a_result_is_loaded_as_well(pair, tmp_path):
    assert str(gode.load(tmp_path).equation) == str(pair[0].equation)


def test_a_loaded_discovery_solves_to_the_same(pair):
    fresh, loaded = pair
    for run in range(len(fresh.prepared.dataset.runs)):
        ours, theirs = loaded.simulate(run=run), fresh.simulate(run=run)
        np.testing.assert_allclose(ours.u, theirs.u, rtol=1e-4)  # a callable input becomes a spline
    with_force = loaded.simulate(np.linspace(0.0, 9.0, 10), force="sin(t)")
    np.testing.assert_allclose(
        with_force.u, fresh.simulate(np.linspace(0.0, 9.0, 10), force="sin(t)").u, rtol=1e-9
    )


def test_a_saved_record_is_saved_again_bit_by_bit(pair, tmp_path):
    _, loaded = pair
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "record.json").read_bytes()


def test_the_names_of_runs_are_kept_and_old_records_have_none(pair):
    fresh, _ = pair
    dataset = fresh.prepared.dataset
    names = tuple(f"well {i}" for i in range(len(dataset.runs)))
    named = replace(fresh, prepared=replace(fresh.prepared, dataset=replace(dataset, names=names)))
    record = record_of(named)
    assert discovery_of(record).prepared.dataset.name_of(0) == "well 0"
    assert (
        discovery_of({k: v for k, v in record.items() if k != "names"}).prepared.dataset.name_of(0) == "run 0"
    )
    with pytest.raises(FileError, match="names has 3 entries"):
        discovery_of({**record, "names": ["a", "b", "c"]})


def test_the_first_fifty_the_front_and_the_ties_are_kept(pair):
    fresh, loaded = pair
    first = [str(c.equation) for c in fresh.candidates[:KEPT]]
    assert [str(c.equation) for c in loaded.candidates[: len(first)]] == first
    assert len(loaded.candidates) <= len(fresh.candidates)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["format"], "other", "format 'gode record'"),
        (["version"], 99, "its version is 99, and 3 is the newest known"),
        (["version"], "1", "version must be a whole number"),
        (["settings", "order"], 3, "order must be 1 or 2"),
        (["settings", "effort"], "huge", "effort must be one of"),
        (["settings", "shell"], "rm", "settings holds 'shell'"),
        (["candidates"], [], "candidates must be a list with entries"),
        (["candidates", 0, "equation", "residuals", 0], "u' - __import__", "unknown"),
        (["candidates", 0, "equation", "residuals", 0], "(" * 5000, "nested|too long"),
        (["candidates", 0, "equation", "residuals", 0], "u'' - C*u - C*u^2", "of order 2, but 1 was sought"),
        (["candidates", 0, "equation", "constants"], [1.0], "has 2 constants, got 1 values"),
        (
            ["candidates", 0, "equation", "constants"],
            [None, "inf"],
            r"constants must be between .*, got null",
        ),
        (["candidates", 0, "covariance"], {"shape": [1, 1], "values": [1.0]}, "covariance has the shape"),
        (["candidates", 0, "rms"], None, r"candidates\[0\].rms must be between 0 and 1e\+120, got null"),
        (["runs"], {}, "runs must be a list"),
        (["runs", 0, "t", "values", 3], -9.0, "time must increase"),
        (["runs", 0, "t", "shape"], [2**40], "do not make the shape"),
        (["runs", 0, "observed"], {"shape": [3, 1], "values": [1, 1, 1]}, "observed has the shape"),
        (["runs", 0, "inputs"], {"F": "__import__('os')"}, "no meaning|unknown"),
        (["smooths", 0, "values", "values", 0], None, r"smooths\[0\].values must be between .*, got null"),
        (["smooths"], [1, 2], "smooths has 2 entries, but 1 are expected"),
        (["labels"], {"u": 3}, "labels must be an object of texts"),
        (["n_fitted"], 1.5, "n_fitted must be a whole number"),
        (["interrupted"], 0, "interrupted must be true or false"),
        (["n_fitted"], -3, "n_fitted must be between 0 and 1e.09, got -3"),
        (["labels"], {"u": "a\ud800"}, r"labels.u must be text that can be written, got 'a.ud800'"),
        (["settings", "start"], "\ud800", "settings.start must be text that can be written"),
        (["settings", "without"], ["t", "\udfff"], "settings.without must be text that can be written"),
        (
            ["settings", "selection", "level"],
            None,
            "settings.selection.level must be between 0 and 1e.06, got null",
        ),
        (["settings", "selection", "level"], "-inf", "settings.selection.level must be .*, got -inf"),
        (["settings", "shooting", "max_steps"], 10**30, "settings.shooting.max_steps must be .*, got 1e.30"),
        (["settings", "shooting", "poor"], -1.0, "settings.shooting.poor must be .*, got -1"),
        (["candidates", 0, "rms"], 10**400, r"candidates\[0\].rms .*"),
        (["candidates", 0, "rms"], -1.0, r"candidates\[0\].rms must be .*, got -1"),
        (["candidates", 0, "criterion"], 1e300, r"candidates\[0\].criterion must be"),
        (["candidates", 0, "initial", "values", 0], 1e300, r"candidates\[0\].initial must be"),
        (["candidates", 0, "equation", "constants", 0], 1e-320, r"equation.constants must be .*, got 9.99"),
        (["candidates", 0, "equation", "constants", 0], 1e301, r"equation.constants must be .*, got 1e.301"),
        (["runs", 0, "initial", "values", 0], 1e300, r"runs\[0\].initial must be"),
        (["smooths", 0, "noise", "values", 0], 1e300, r"smooths\[0\].noise must be .*, got 1e.300"),
        (["smooths", 0, "noise", "values", 0], -1.0, r"smooths\[0\].noise must be .*, got -1"),
        (["smooths", 0, "noise", "values", 1], 1.0, r"smooths\[0\].noise has a value for u', which was not"),
        (["smooths", 0, "noise", "values"], [None] * 3, r"smooths\[0\].noise has no value"),
        (["smooths", 0, "t", "values", 1], -1.0, r"smooths\[0\].t must hold increasing times"),
        (["remarks"], ["\ud800"], "remarks must be text that can be written"),
        (["smooths", 0, "deviations", "values", 0], -1.0, r"smooths\[0\].deviations must be"),
    ],
)
def test_a_hostile_record_is_refused_with_a_sentence(path, value, sentence, tmp_path):
    data = deepcopy(record_of(found_growth()))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (tmp_path / "bad.json").write_text(json.dumps(data))
    with pytest.raises(FileError, match=sentence):
        gode.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not complete JSON.*or damaged; name the folder of another result, or run the command again"),
        (b'{"format": "gode record", ', "not complete JSON"),
        (b"\xff\xfe\0", "not text"),
        (b"[1, 2]", "no record.*; name the folder of another result, or run the command again"),
        (b"[" * 200_000, "is nested more than 50 deep"),
        (b'{"a":' * 60 + b"1" + b"}" * 60, "is nested more than 50 deep"),
        (b"[" + b"[]," * 1_100_000 + b"[]]", "holds more than 1000000 lists"),
        (b"[" + b"0," * 21_000_000 + b"0]", "holds more than 20000000 values"),
        (b"]" * 5 + b"[", "not complete JSON"),
        (b'{"format": "gode record", "version": ' + b"9" * 5000 + b"}", "not complete JSON|its version"),
    ],
)
def test_a_file_that_is_no_record_is_refused(content, sentence, tmp_path):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(FileError, match=sentence):
        gode.load(tmp_path / "bad.json")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_an_end_is_refused(device):
    with pytest.raises(FileError, match=r"is a device; name a record\.json"):
        gode.load(device)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"nowhere.json cannot be read \(No such file"):
        gode.load(tmp_path / "nowhere.json")


def test_random_damage_never_gives_a_traceback():
    rng = random.Random(3)
    text = json.dumps(record_of(fitted_oscillator()))
    n_refused = 0
    for _ in range(60):
        at = rng.randrange(len(text))
        damaged = (
            text[:at] + rng.choice(['"', "9", "-", "null", "[", "}", "e9"]) + text[at + rng.randint(1, 9) :]
        )
        try:
            discovery_of(json.loads(damaged))
        except (json.JSONDecodeError, GodeError):
            n_refused += 1
    assert n_refused > 30


def test_a_failed_write_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("earlier")
    with pytest.raises(FileError, match=r"cannot be written .*unchanged"), replacing(path) as draft:
        (draft / "below").write_text("half")
    assert path.read_text() == "earlier"
    assert os.listdir(tmp_path) == ["record.json"]


def test_a_full_disk_leaves_the_earlier_record_and_says_so(tmp_path):
    path = tmp_path / "record.json"
    fitted_oscillator().save(path)
    before = path.read_bytes()
    program = (
        "import resource, sys, gode; d = gode.load(sys.argv[1]);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); d.save(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert "FileError" in done.stderr
    assert "File too large" in done.stderr.splitlines()[-1]
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["record.json"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_one_sentence(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(FileError, match="Permission denied"):
            fitted_oscillator().save(tmp_path / "record.json")
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"record.json cannot be written \(Not a directory\)"):
        fitted_oscillator().save(tmp_path / "file" / "record.json")


def test_a_loaded_discovery_weighs_samples_as_the_saved_one_did(tmp_path):
    t = np.linspace(0.0, 8.0, 60)
    rng = np.random.default_rng(1)
    x = np.column_stack([3 * np.exp(-0.7 * t) * (1 + 0.05 * rng.standard_normal(60)), np.exp(-t)])
    x[:, 1] += 0.02 * rng.standard_normal(60)
    found = gode.fit(["x1' = C*x1", "x2' = C*x2"], t, x)
    (profile,) = found.prepared.whole.profiles
    found.save(tmp_path / "found.json")
    loaded = gode.load(tmp_path / "found.json")
    np.testing.assert_array_equal(loaded.prepared.whole.profiles[0], profile)
    assert loaded.quality.misfit == found.quality.misfit


def test_limits_of_readings_are_kept_in_a_record_and_checked():
    fresh = found_growth()
    dataset = fresh.prepared.dataset
    limits = Limits(np.array([1.0, 2.0]), np.array([0, 2]), np.array([-np.inf, 1.0]), np.array([0.1, np.inf]))
    runs = (replace(dataset.runs[0], limits=limits), *dataset.runs[1:])
    changed = replace(dataset, runs=runs)
    found = replace(fresh, prepared=replace(fresh.prepared, dataset=changed))
    data = json.loads(json.dumps(record_of(found)))
    again = discovery_of(data).prepared.dataset.runs[0].limits
    for kept, given in zip(vars(again).values(), vars(limits).values(), strict=True):
        np.testing.assert_array_equal(kept, given)
    data["runs"][0]["limits"]["channel"]["values"] = [0, 3]
    with pytest.raises(FileError, match=r"limits.channel must be numbers from 0 to 2"):
        discovery_of(data)
    data["runs"][0]["limits"]["channel"] = {"shape": [1], "values": [0]}
    with pytest.raises(FileError, match="as many times as channels"):
        discovery_of(data)


def test_labels_of_a_record_that_was_saved_by_arguments_are_those_of_columns():
    record = record_of(fitted_oscillator())
    labels = {"time": "time [s]", "u": "angle [rad]", "force": "motor [N]"}
    found = discovery_of(json.loads(json.dumps({**record, "labels": labels})))
    assert found.prepared.dataset.labels == {"t": "time [s]", "u": "angle [rad]", "F": "motor [N]"}
