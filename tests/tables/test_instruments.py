"""What files are read as, with no option given, that instruments, spreadsheets and languages write."""

from functools import cache

import numpy as np
import pytest

from gode.data.dataset import plain_label, unit_of
from gode.errors import DataError
from gode.tables.dataset import DataOptions, read_dataset
from gode.tables.read import read_table
from instrument_files import FILES, Saved
from saved_files import SAVED
from unseen_files import UNSEEN

MISREAD = 2  # of these files may be read otherwise than their writer would say


@cache
def saved(make) -> Saved:
    return make()


def read(folder, file, **options):
    path = folder / file.name
    path.write_bytes(file.data)
    return read_dataset([str(path)], DataOptions(**options))


def differences(folder, file) -> list[str]:
    """What was read otherwise than is right, one entry each."""
    try:
        dataset, readings = read(folder, file)
    except DataError as error:
        return [str(error)]
    labels = {key: plain_label(label) for key, label in readings.labels.items()}
    keys = dataset.states if len(dataset.states) > 1 else ("u",)
    states = dataset.names if file.wells else tuple(labels.get(key, "") for key in keys)
    inputs = tuple(labels.get(key, "") for key in readings.inputs)
    first = (dataset.runs[0].t[0], *dataset.runs[0].observed[::3, 0])
    if file.wells:
        first = (first[0], *[run.observed[0, 0] for run in dataset.runs][: len(file.first) - 1])
    decimal = read_table(folder / file.name).decimal
    found = (labels["t"], states, inputs, labels.get("run"), unit_of(dataset, "t"), decimal)
    right = (file.time, file.states, file.inputs, file.run, file.unit, file.decimal)
    wrong = [f"{a!r} instead of {b!r}" for a, b in zip(found, right, strict=True) if a != b]
    close = len(first) == len(file.first) and np.allclose(first, file.first, rtol=1e-6, atol=1e-12)
    return wrong if close else [*wrong, f"{first} instead of {file.first}"]


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_a_file_is_read_as_its_writer_would_say_or_asks(tmp_path, make):
    file = saved(make)
    wrong = differences(tmp_path, file)
    if wrong:
        try:
            told = " ".join(read(tmp_path, file)[1].told[1:])
        except DataError as error:
            told = str(error)
        assert "--" in told, wrong


def test_nearly_all_files_are_read_right_without_an_option(tmp_path):
    wrong = {make.__name__: found for make in FILES if (found := differences(tmp_path, saved(make)))}
    assert len(wrong) <= MISREAD, wrong


def test_files_that_were_written_afterwards_are_read_right(tmp_path):
    wrong = {make.__name__: found for make in UNSEEN if (found := differences(tmp_path, make()))}
    assert len(wrong) <= MISREAD, wrong


@pytest.mark.parametrize("make", SAVED, ids=lambda make: make.__name__)
def test_files_that_people_saved_are_read_right(tmp_path, make):
    assert not differences(tmp_path, saved(make))
