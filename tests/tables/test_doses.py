"""Doses in tables: a column of amounts, and the layout of NONMEM."""

import numpy as np
import pytest

from gode.errors import ConfigError, DataError
from gode.tables.dataset import DataOptions, read_dataset

HEAD = "ID,TIME,AMT,DV,EVID,CMT,RATE,II,ADDL\n"
STATES = ("depot", "c")


def read(tmp_path, text, **options):
    path = tmp_path / "doses.csv"
    path.write_text(text)
    return read_dataset([str(path)], DataOptions(**{"called": STATES, **options}))


def readings_of_one():
    return readings(1, 2, 3, 4, 5, 6)


def readings(*times, subject=1):
    return "".join(f"{subject},{t},.,{1 + t},0,2,.,.,.\n" for t in times)


def test_table_for_nonmem_has_runs_doses_and_readings(tmp_path):
    text = HEAD + "1,0,320,.,1,1,.,.,.\n" + readings(1, 2, 3, 4, 5, 6)
    text += "2,0,100,.,1,1,.,2,2\n" + readings(0, 1, 2, 3, 5, 6, subject=2)
    dataset, told = read(tmp_path, text)
    assert dataset.states == STATES
    assert dataset.hidden == (0,)
    one, two = dataset.runs
    assert [(d.channel, d.t, d.amount, d.first) for d in one.doses] == [(0, 0.0, 320.0, False)]
    assert one.t.tolist() == [0, 1, 2, 3, 4, 5, 6]  # the record begins at the dose
    assert [(d.t, d.amount) for d in two.doses] == [(0.0, 100.0), (2.0, 100.0), (4.0, 100.0)]
    assert [d.first for d in two.doses] == [True, False, False]
    assert any("4 doses in 2 runs" in sentence for sentence in told.told)


def test_rate_makes_an_infusion_and_repeats_end_with_the_readings(tmp_path):
    text = HEAD + "1,0,30,.,1,1,10,24,9\n" + readings(1, 2, 3, 10, 20, 30)
    run = read(tmp_path, text)[0].runs[0]
    assert [(d.t, d.amount, d.duration) for d in run.doses] == [(0.0, 30.0, 3.0), (24.0, 30.0, 3.0)]


def test_reading_on_the_row_of_a_dose_comes_before_it(tmp_path):
    text = "Subject,Time,amt,conc\n1,0,4,0.1\n" + "".join(f"1,{t},,{t}\n" for t in range(1, 8))
    run = read(tmp_path, text, called=(), dose=("amt:conc",), u="conc", run="Subject")[0].runs[0]
    assert run.observed[0, 0] == 0.1
    assert [(d.t, d.amount, d.first) for d in run.doses] == [(0.0, 4.0, False)]


def test_an_amount_that_all_rows_of_a_run_repeat_is_one_dose(tmp_path):
    rows = [f"{i},{3 + i},{t},{t + i}\n" for i in (1, 2) for t in (0, 1, 2, 4, 8, 12)]
    dataset, _ = read(
        tmp_path, "Subject,Dose,Time,conc\n" + "".join(rows), called=(), dose=("Dose:conc",), u="conc",
        run="Subject",
    )  # fmt: skip
    assert [[(d.t, d.amount) for d in run.doses] for run in dataset.runs] == [[(0.0, 4.0)], [(0.0, 5.0)]]


def test_amounts_of_two_columns_go_into_two_states(tmp_path):
    text = "t,c,a,b\n0,0,1,2\n" + "".join(f"{t},{t},,\n" for t in range(1, 8))
    run = read(tmp_path, text, dose=("a:depot", "b:c"))[0].runs[0]
    assert [(d.channel, d.amount) for d in run.doses] == [(0, 1.0), (3, 2.0)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,0,1,.,3,1,.,.,.\n", "line 2, column 'EVID': 3 is an event that is not supported"),
        ("1,0,1,.,1,1,-2,.,.\n", "line 2, column 'RATE': a rate of -2"),
        ("1,0,1,.,1,1,.,.,3\n", "line 2, column 'ADDL': 3 more doses every 0 make no sense"),
    ],
)
def test_events_that_make_no_sense_are_told_with_their_line(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, HEAD + row + readings(1, 2, 3, 4, 5, 6))


def test_a_state_without_a_column_may_be_dosed_in_a_search(tmp_path):
    text = HEAD + "1,0,320,.,1,1,.,.,.\n" + readings(1, 2, 3, 4, 5, 6)
    dataset, told = read(
        tmp_path, text, called=(), dose=("AMT:depot",), unmeasured=("depot",), initial=("depot=0",)
    )
    assert dataset.states == ("DV", "depot")
    assert dataset.hidden == (1,)
    assert [(d.channel, d.amount) for d in dataset.runs[0].doses] == [(3, 320.0)]
    assert dataset.runs[0].initial[2] == 0.0
    assert "1 dose in 1 run" in " ".join(told.told)


def test_dose_into_a_state_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="a dose goes into 'gut', which is no state"):
        read(tmp_path, HEAD + "1,0,1,.,1,1,.,.,.\n" + readings(1, 2, 3, 4, 5, 6), dose=("AMT:gut",))
    with pytest.raises(ConfigError, match="must be a column of amounts and the state"):
        read(tmp_path, HEAD + "1,0,1,.,1,1,.,.,.\n" + readings(1, 2, 3, 4, 5, 6), dose=("AMT",))


def test_arguments_of_a_file_hold_its_doses(tmp_path):
    from gode.measured import read_arguments

    path = tmp_path / "one.csv"
    path.write_text(HEAD + "1,0,320,.,1,1,.,.,.\n" + readings(1, 2, 3, 4, 5, 6))
    assert "doses" not in read_arguments(str(path))
    arguments = read_arguments(str(path), states="depot=none,c=DV", dose=["AMT:depot"])
    assert arguments["doses"] == [("depot", 0.0, 320.0, 0.0, False)]
    assert np.array_equal(arguments["t"], [1, 2, 3, 4, 5, 6])
    assert [*arguments["u"]] == ["c"]


def test_doses_without_an_equation_are_left_out_which_is_told(tmp_path):
    dataset, readings = read(tmp_path, HEAD + "1,0,1,.,1,1,.,.,.\n" + readings_of_one(), called=())
    assert not dataset.is_dosed
    assert any("--hidden depot --dose AMT:depot" in sentence for sentence in readings.told)
    assert any("with --initial DV=0 if nothing was given before" in sentence for sentence in readings.told)
