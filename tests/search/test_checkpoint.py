import json

import numpy as np
import pytest

from examples_found import SMALL, fitted_oscillator, found_growth, growth_and_memo
from gode.data import Dataset, make_run
from gode.data.dataset import Interpolation
from gode.data.example import load_example
from gode.data.from_arrays import make_dataset
from gode.discovery.api import discover_in
from gode.discovery.options import Options
from gode.errors import FileError
from gode.fitting.prepare import input_values
from gode.report.record import record_of
from gode.search.checkpoint import Checkpoint
from gode.search.workers import Start


def opened(path, **options):
    return Checkpoint(path, found_growth().prepared.dataset, options)


def some_fits():
    return [(Start(c.equation), c) for c in found_growth().candidates[:5]]


def test_what_was_remembered_is_recalled_bit_by_bit(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    first = opened(path, seed=1)
    for scored, candidate in some_fits():
        assert scored not in first
        first[scored] = candidate
    lost = Start(some_fits()[0][0].equation, whole=True)
    first[lost] = None
    again = opened(path, seed=1)
    assert again.n_recalled == 6
    assert again[lost] is None
    for scored, candidate in some_fits():
        assert again[scored].equation == candidate.equation
        assert again[scored].covariance.tobytes() == candidate.covariance.tobytes()
        assert again[scored].criterion == candidate.criterion


def test_other_data_or_options_start_anew(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    for scored, candidate in some_fits():
        opened(path, seed=1)[scored] = candidate
    assert opened(path, seed=1).n_recalled == 5
    assert Checkpoint(path, fitted_oscillator().prepared.dataset, {"seed": 1}).n_recalled == 0
    assert opened(path, seed=2).n_recalled == 0


def test_an_input_of_another_kind_with_the_same_samples_starts_anew(tmp_path):
    path, t = tmp_path / "checkpoint.jsonl", np.linspace(0.0, 5.0, 12)
    formula = "sin(2*t)"
    samples = input_values(make_run(t, u=t, inputs={"F": formula}), t)["F"]
    kinds = [
        make_run(t, u=t, inputs={"F": formula}),
        make_run(t, u=t, inputs={"F": "sin(t + t)"}),
        make_run(t, u=t, inputs={"F": samples}),
        make_run(t, u=t, inputs={"F": samples}, interpolation=Interpolation.HOLD),
        make_run(t, u=t, inputs={"F": lambda s: float(np.interp(s, t, samples))}),
    ]
    heads = [Checkpoint(path, Dataset((run,)), {}).head["of"] for run in kinds]
    assert len(set(heads)) == len(kinds)


def test_a_line_cut_short_is_left_out(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    first = opened(path)
    for scored, candidate in some_fits():
        first[scored] = candidate
    whole = path.read_bytes()
    ends = [i for i, byte in enumerate(whole) if byte == ord("\n")]
    for cut in (0, 5, ends[0] + 1, ends[2] + 9, len(whole) - 2):
        path.write_bytes(whole[:cut])
        assert opened(path).n_recalled == max(sum(end < cut for end in ends) - 1, 0)


@pytest.mark.parametrize("line", ["[1, 2]", '["x", {"rms": 1}]', "[[[[", '["x", {"equation": "eval()"}]'])
def test_a_hostile_line_is_left_out(tmp_path, line):
    path = tmp_path / "checkpoint.jsonl"
    opened(path)
    with path.open("a") as file:
        file.write(line + "\n")
    assert opened(path).n_recalled == 0


def test_a_discovery_goes_on_from_half_its_fits_to_the_same_end(tmp_path):
    path = tmp_path / "checkpoint.jsonl"
    example = load_example("growth")
    found, memo = growth_and_memo()
    killed = opened(path)
    for scored, candidate in list(memo.items())[: len(memo) // 2]:
        killed[scored] = candidate
    half = opened(path)
    assert half.n_recalled == len(memo) // 2
    again = discover_in(make_dataset(example.t, example.u), Options(**SMALL), memo=half)
    assert len(half) == len(memo)
    assert json.dumps(record_of(again)) == json.dumps(record_of(found))


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot be read|cannot be written"):
        opened(tmp_path / "file" / "checkpoint.jsonl")
    gone = opened(tmp_path / "checkpoint.jsonl")
    gone.path = tmp_path / "file" / "checkpoint.jsonl"
    scored, candidate = some_fits()[0]
    with pytest.raises(FileError, match="give the same command again"):
        gone[scored] = candidate
