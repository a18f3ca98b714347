"""Several signals of a file as one system: which columns are taken, how they are called, what is refused."""

import numpy as np
import pytest

from gode.errors import ConfigError, DataError, GodeError
from gode.tables.dataset import DataOptions, check_initial, read_dataset

HEADER = "Year,Prey [1000],Predator,Temp °C,dPrey/dt,rain"
GIVEN = {
    **dict.fromkeys(("time", "u", "states", "velocity", "acceleration", "force", "run", "hold")),
    "initial": (),
    "interpolation": "auto",
}


def write(path, header=HEADER, seed=0):
    rng = np.random.default_rng(seed)
    rows = [[1900 + i, *rng.uniform(1, 2, header.count(","))] for i in range(8)]
    path.write_text("\n".join([header, *(",".join(f"{x:.4f}" for x in row) for row in rows)]))
    return str(path)


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "both.csv")


def read(*files, **options):
    return read_dataset(files, DataOptions(**{**GIVEN, **options}))


def test_states_are_named_after_their_columns_and_slopes_are_guessed(file):
    dataset, readings = read(file, states="prey,Temp °C")
    assert dataset.states == ("Prey", "Temp_C")
    assert dataset.channels == ("Prey", "Prey'", "Temp_C")
    assert dataset.labels["Prey"] == "Prey [1000]"
    told, asks = readings.told
    assert "time from 'Year', Prey from 'Prey [1000]', Temp_C from 'Temp °C', Prey' from 'dPrey/dt'," in told
    assert "rain from 'rain'; not used: 'Predator'" in told
    assert asks.startswith("'rain' is taken as the known input: its name means input (")


def test_states_may_be_given_by_number_or_renamed_and_columns_by_their_new_name(file):
    assert read(file, states="2,3")[0].states == ("Prey", "Predator")
    dataset, _ = read(file, states="x=Prey,y=Temp_C")
    assert dataset.states == ("x", "y")
    assert dataset.labels["y"] == "Temp °C"


def test_a_name_with_a_comma_stands_in_quotes(tmp_path):
    path = tmp_path / "semicolons.csv"
    path.write_text("t;a, b;c\n" + "".join(f"{i};{i * i};{7 - i**3}\n" for i in range(8)))
    assert read(str(path), states='"a, b",c')[0].states == ("a_b", "c")


def test_inputs_are_columns_and_formulas(file):
    dataset, _ = read(file, states="Prey,Predator", force="rain,sin(t),warm=cos(t)")
    assert dataset.inputs == ("rain", "F", "warm")
    assert dataset.runs[0].inputs["warm"] == "cos(t)"
    assert read(file, states="Prey,Predator", force="none")[0].inputs == ()


def test_one_signal_may_have_two_inputs(file):
    dataset, _ = read(file, u="Predator", force="rain,Temp °C")
    assert (dataset.states, dataset.inputs) == (("u",), ("F", "v1"))
    assert dataset.labels == {"t": "Year", "u": "Predator", "F": "rain", "v1": "Temp °C"}


def test_a_column_called_force_may_be_a_state(tmp_path):
    path = write(tmp_path / "fur.csv", "t,u,force")
    assert read(path, states="u,force")[0].states == ("u", "force")
    assert read(path, states="u,force")[0].inputs == ()


def test_a_single_state_is_a_signal_as_by_u(file):
    one, other = read(file, states="Predator")[0], read(file, u="Predator")[0]
    assert (one.states, one.labels) == (other.states, other.labels)


def test_one_signal_and_its_inputs_may_have_names_of_their_own(file):
    dataset, _ = read(file, states="hares=Prey", force="wet=rain")
    assert (dataset.states, dataset.labels["u"], dataset.labels["F"]) == (("u",), "hares [1000]", "wet")
    dataset, _ = read(file, u="Predator", force="wet=rain,Temp °C")
    assert (dataset.labels["F"], dataset.labels["v1"]) == ("wet", "Temp °C")


def test_columns_that_drive_are_no_slopes_and_no_signals(tmp_path):
    assert read(write(tmp_path / "a.csv", "t,u,a,b"), force="a,b")[0].channels == ("u",)
    dataset, _ = read(write(tmp_path / "b.csv", "t,p,q,level"), force="p,q")
    assert dataset.labels["u"] == "level"


def test_states_that_were_not_measured_themselves_have_slopes(file):
    dataset, _ = read(file, states="x=none,y=none", acceleration="Prey,Predator", velocity="none,rain")
    assert dataset.channels == ("x''", "y'", "y''")


def test_equations_name_the_states(file):
    assert read(file, states="Prey,Predator", called=("x", "y"))[0].states == ("x", "y")
    assert read(file, states="Prey,Predator", called=("Predator", "Prey"))[0].states == ("Prey", "Predator")


def test_all_columns_of_numbers_may_be_states(file):
    assert len(read(file, states="all")[0].states) == 5


def test_files_and_columns_of_runs_are_runs_of_the_system(tmp_path):
    files = [write(tmp_path / f"{name}.csv", "t,x,y", seed) for seed, name in enumerate("ab")]
    dataset, _ = read(*files, states="x,y", initial=("1,2", "3,4"))
    assert dataset.names == ("a", "b")
    np.testing.assert_array_equal(dataset.runs[1].initial, [3, np.nan, 4, np.nan])
    path = tmp_path / "runs.csv"
    path.write_text("run,t,x,y\n" + "".join(f"{i % 2},{i},{i * i},{i**3}\n" for i in range(12)))
    assert read(str(path), states="x,y")[0].names == ("run 0", "run 1")


def test_known_slopes_are_for_second_order(tmp_path):
    path = write(tmp_path / "a.csv", "t,x,y")
    dataset, _ = read(path, states="x,y", initial=("1,0,2,0",))
    assert check_initial(dataset, "2") == []
    with pytest.raises(ConfigError, match="must be a value for each state for order 1, got 4 values"):
        check_initial(dataset, "1")
    dataset, _ = read(path, states="x,y", initial=("1,2",))
    assert check_initial(dataset, "2")[1] == "y(t0) is known; y'(t0) is fitted"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"states": "Prey,Preditor"}, r"no column 'Preditor'; its columns are .*; did you mean 'Predator'\?"),
        ({"states": "Prey,Prey"}, "--states names column 'Prey' twice; drop one"),
        ({"states": "Prey,prey"}, "--states names column 'Prey' twice; drop one"),
        ({"states": "Prey,Year"}, "column 'Year' cannot be both time and the state Year; drop it"),
        ({"states": "Prey,Year", "time": "Year"}, "column 'Year' cannot be both time and Year"),
        ({"states": "Prey,rain", "force": "rain"}, "column 'rain' cannot be both a state and an input"),
        ({"states": "Prey,rain", "force": "Predator,Predator"}, "--force names column 'Predator' twice"),
        ({"states": "Prey,rain", "force": "wind"}, "--force 'wind' is neither a column"),
        ({"states": "Prey,rain", "u": "Predator"}, "--u and --states both name signals; give one of them"),
        (
            {"states": "Prey,rain", "velocity": "Predator"},
            "--velocity names 1 columns for 2 states; give one",
        ),
        ({"velocity": "Prey,rain"}, "--velocity names several columns; say by --states whose they are"),
        ({"states": ","}, "--states is empty; name columns"),
        ({"states": "Prey,none"}, "a state that was not measured itself needs a name, as in x=none"),
        ({"states": "Prey,sin=rain"}, "'sin' cannot name a state: in an equation it means a function"),
        ({"states": "Prey,rain", "called": ("x", "y", "z")}, "the equations are those of x, y, z"),
        ({"states": "x=none", "called": ("x", "Prey")}, "the equations are those of x, Prey"),
        (
            {"states": "Prey,rain", "initial": ("1,2,3",)},
            "a value for each of 2 states, or a value and a slope",
        ),
    ],
)
def test_what_cannot_be_a_system_gets_a_sentence(file, options, sentence):
    with pytest.raises(GodeError, match=sentence):
        read(file, **options)


def test_constant_and_identical_columns_are_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,x,y,z\n" + "".join(f"{i},{i * i},{i * i},3\n" for i in range(8)))
    with pytest.raises(DataError, match="x and y are identical; drop one of them"):
        read(str(path), states="x,y")
    with pytest.raises(DataError, match="z is constant"):
        read(str(path), states="x,z")


def test_several_signals_are_one_system_and_how_to_say_otherwise_is_told(file):
    dataset, readings = read(file)
    assert (dataset.states, dataset.inputs) == (("Prey", "Predator", "Temp_C"), ("rain",))
    assert "Prey from 'Prey [1000]', Predator from 'Predator', Temp_C from 'Temp °C'" in readings.told[0]
    assert "are taken as states of one system (--u all if each is a run of its own" in readings.told[2]


def test_an_equation_of_one_state_takes_one_column(file):
    dataset, readings = read(file, single=True)
    assert (dataset.states, dataset.labels["u"]) == (("u",), "Prey [1000]")
    assert "--states Prey,Predator,... if they are states of one system" in readings.told[0]
