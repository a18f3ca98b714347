"""From files to a Dataset: their columns, as a user names them or as they are guessed, and their runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Unpack

from gode.errors import ConfigError, shortened
from gode.options.calls import completed, takes_options
from gode.options.files import FromFiles
from gode.tables.cells import NONE, split_list
from gode.tables.column_options import (
    Asked,
    asked_with_hidden,
    guessed_system,
    parts_of,
    state_columns,
    states_of_equations,
)

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.tables.doses import DoseColumns
    from gode.tables.guess_roles import Roles
    from gode.tables.runs import Readings
    from gode.tables.table import Table
    from gode.tables.text import Reading

SIGNALS = {"u": "", "velocity": "'", "acceleration": "''"}  # arguments, and the primes of their columns
COLUMNS = ("time", "u", "velocity", "acceleration", "force", "run")


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The values of the options about the data."""

    time: str | None = None
    u: str | None = None
    states: str | None = None
    velocity: str | None = None
    acceleration: str | None = None
    sd: str | None = None
    force: str | None = None
    run: str | None = None
    initial: tuple[str, ...] = ()
    hold: bool | None = None
    interpolation: str = "auto"
    dose: tuple[str, ...] = ()  # columns of amounts and the states that they are added to, as amt:depot
    edit: tuple[str, ...] = ()
    header: int | None = None  # the line of the names in a file, from 1; 0 if there is none
    skip: int = 0  # lines at the start of a file
    decimal: str | None = None  # the decimal sign
    missing: tuple[str, ...] = ()  # what stands in cells without a reading
    keep_outliers: bool = False
    noise: str = "auto"
    column_units: Mapping[str, str] = field(default_factory=dict)  # as --units gives them
    called: tuple[str, ...] = ()  # the states in given equations
    unmeasured: tuple[
        str, ...
    ] = ()  # the names of states that no column measures, of a search without equations
    single: bool = False  # whether a given equation has one state

    @property
    def reading(self) -> "Reading":
        """What is said about how the files are written."""
        from gode.tables.text import Reading

        texts = (self.missing,) if isinstance(self.missing, str) else self.missing
        words = tuple(word for text in texts for word in split_list(text))
        return Reading(header=self.header, skip=self.skip, decimal=self.decimal or "", missing=words)


def read_dataset(files: Sequence[str], options: DataOptions) -> "tuple[Dataset, Readings]":
    """Return the runs in the files with their labels and names, and how the tables were read.

    Raises:
        DataError, ConfigError: if they cannot be used that way.
    """
    return dataset_of(_tables(files, options), options)


def dataset_of(tables: "Sequence[Table]", options: DataOptions) -> "tuple[Dataset, Readings]":
    """Return the runs in some tables; see `read_dataset`."""
    from gode.data.columns import channel_names
    from gode.data.dataset import chosen_interpolation
    from gode.data.from_arrays import make_dataset
    from gode.tables.edits import held_shares, without_test

    shares = held_shares(options.edit)
    readings, asked = _read(tables, replace(options, edit=tuple(without_test(options.edit))))
    dataset = make_dataset(
        **_arguments(readings, asked),
        names=asked.states,
        initial=_initial_values(options.initial, len(readings.runs), asked.states),
        interpolation=chosen_interpolation(options.hold, options.interpolation),
        labels={**readings.labels, **asked.formulas, **({"sd": options.sd} if options.sd else {})},
        units=options.column_units,
        run_names=readings.names,
        all_read=not options.called,
    )
    channels = channel_names(asked.states)
    runs = tuple(replace(run, limits=readings.limits(i, channels)) for i, run in enumerate(dataset.runs))
    dataset = replace(dataset, runs=runs, edits=options.edit, keep_outliers=options.keep_outliers)
    dataset = replace(dataset, noise=options.noise)
    if not shares:
        return dataset, readings
    told = f"held back as a test: the last {100 * shares[0]:g} % of each run"
    return dataset.hold_back(shares[0]), replace(readings, told=(*readings.told, told))


@takes_options(FromFiles)
def read_arguments(*files: str, **options: Unpack[FromFiles]) -> dict[str, object]:
    """Return what files hold, as arguments of `gode.discover` and `gode.fit`: times, signals, known inputs.

    The format, the columns and the times are recognised as by the command line, whose options these are.

    Args:
        **options: see `gode.options.table`.

    Raises:
        DataError, ConfigError: with a sentence that says what to do.

    Example:
        >>> data = read_arguments("plate.csv", u="A1,A2", edit=["crop 0 to 30"])  # doctest: +SKIP
        >>> d = gode.discover(**data)  # doctest: +SKIP
    """
    chosen: dict[str, Any] = dict(completed("read_arguments", FromFiles, options))
    data = DataOptions(**{**chosen, **{name: tuple(chosen[name]) for name in ("edit", "missing", "dose")}})
    readings, asked = _read(_tables(files, data), data)
    arguments = {**_arguments(readings, asked), **_limits(readings, asked)}
    if len(readings.runs) == 1:
        arguments = {name: _of_first_run(values) for name, values in arguments.items()}
    out = {name: values for name, values in arguments.items() if values is not None}
    if len(asked.states) > 1:
        return {**out, "names": list(asked.states)}
    for name in {*SIGNALS, "sd", "below", "above"} & {*out}:
        (out[name],) = out[name].values()
    names = [name for name in (_name(readings, asked.states[0]),) if name.isidentifier()]
    if len(out.get("force", ())) == 1:
        ((column, values),) = out["force"].items()
        called = _name(readings, column)
        out["force"] = {called: values} if called.isidentifier() else values
    return {**out, "names": names} if names else out


def check_initial(dataset: "Dataset", order: str) -> list[str]:
    """Refuse u'(t0) for order 1; return a sentence if it has to be fitted for order 2.

    Raises:
        ConfigError: if there are more initial values than the order.
    """
    known = [[not isnan(value) for value in run.initial] for run in dataset.runs]
    if order == "1" and any(slope for row in known for slope in row[1::2]):
        n = 2 * len(dataset.states)
        raise ConfigError(f"--initial must be a value for each state for order 1, got {n} values")
    notes = []
    for s, name in enumerate(dataset.states):
        if order == "2" and any(row[2 * s] and not row[2 * s + 1] for row in known):
            notes.append(f"{name}(t0) is known; {name}'(t0) is fitted")
    return notes


def parse_values(text: str, option: str) -> list[float]:
    """Return the numbers in a text such as 1,0; nan stands for unknown."""
    try:
        return [float(word) for word in re.split(r"[,;\s]+", text.strip())]
    except ValueError:
        raise ConfigError(
            f"{option} must be numbers such as 1 or 1,0, got {shortened(text, 200)!r}"
        ) from None


def _tables(files: Sequence[str], options: DataOptions) -> "list[Table]":
    from gode.tables.read import read_table

    return [read_table(path, options.reading) for path in files]


def _read(tables: "Sequence[Table]", options: DataOptions) -> "tuple[Readings, Asked]":
    """Return the runs in some tables, and the columns that they were read from.

    Raises:
        DataError, ConfigError: if they cannot be used that way.
    """
    from gode.data.columns import INPUT
    from gode.tables.doses import find_dose_columns, without_doses
    from gode.tables.edits import edit_runs, edit_table
    from gode.tables.guess_roles import Roles
    from gode.tables.runs import runs_of_tables

    tables = [edit_table(table, options.edit) for table in tables]
    if options.sd is not None:
        tables = [table.with_errors(split_list(options.sd)) for table in tables]
    roles = Roles(**{role: getattr(options, role) for role in COLUMNS})
    dosing = [find_dose_columns(table, options.dose) for table in tables]
    complete, left = tables, list[str]()
    if dosing[0] is not None and not (options.called or options.dose):
        left = [_left_out(dosing[0])]
        dosing = [None] * len(tables)
    if dosing[0] is not None:
        roles, options = _of_doses(tables[0], dosing[0], roles, options)
        pairs = zip(tables, dosing, strict=True)
        tables = [table if columns is None else without_doses(table, columns) for table, columns in pairs]
    words, hidden = options.states, list[str]()
    if words is None and options.called:
        words, hidden = states_of_equations(tables[0], options.called)
    states = [] if words is None else state_columns(tables[0], roles, words)
    if states and options.u is not None:
        raise ConfigError("--u and --states both name signals; give one of them")
    # The names that options give to a single state and to inputs, by their roles; F is what gode calls one.
    chosen = {part.name: part.name for part in parts_of(options.force or "") if part.name != INPUT}
    if len(states) == 1 and len(options.called) < 2:
        chosen["u"] = states[0].name
        roles, states = replace(roles, u=states[0].word), []
    numbers = [text for text in options.initial if "=" not in text]
    single = options.single or any(len(parse_values(text, "--initial")) == 1 for text in numbers)
    roles, states, asks = guessed_system(tables[0], roles, states, single=single)
    asked = asked_with_hidden(tables[0], roles, states, options.called, options.unmeasured)
    found_runs = runs_of_tables(complete, asked.roles, natural=True, dosing=dosing)
    found_runs = replace(found_runs, labels=_renamed(found_runs.labels, chosen))
    readings = edit_runs(found_runs, options.edit)
    edited = [f"edited: {'; '.join(options.edit)}"] if options.edit else []
    found = [f"{name} is in no column, so it is taken for a hidden state" for name in hidden]
    return replace(readings, told=(*readings.told, *found, *left, *asks, *edited)), asked


def _renamed(labels: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return labels with the names that were chosen for some columns instead of those in the file."""
    from gode.data.dataset import plain_label

    units = {key: label.removeprefix(plain_label(label)) for key, label in labels.items()}
    return {key: chosen[key] + units[key] if chosen.get(key) else label for key, label in labels.items()}


def _left_out(columns: "DoseColumns") -> str:
    amounts, reading = columns.amounts[0][0], columns.reading or "u"
    return (
        f"doses in {amounts!r} are left out; say what they are added to: --dose {amounts}:{reading} to "
        f"what is measured, --hidden depot --dose {amounts}:depot to what it is absorbed from, with "
        f"--initial {reading}=0 if nothing was given before"
    )


def _of_doses(
    table: "Table", columns: "DoseColumns", roles: "Roles", options: DataOptions
) -> "tuple[Roles, DataOptions]":
    """Return roles and options with the columns of a table for NONMEM, where nothing else was asked for.

    Raises:
        ConfigError: if it cannot be told which state the readings are of.
    """
    if not columns.listed or columns.reading is None:
        return roles, options
    from gode.tables.doses import observed_compartment

    roles = replace(
        roles,
        time=roles.time or columns.time,
        run=roles.run or columns.run,
        force=roles.force or NONE,
        velocity=roles.velocity or NONE,
        acceleration=roles.acceleration or NONE,
    )
    if options.states is not None or options.u is not None:
        return roles, options
    called = options.called
    if len(called) < 2:
        return replace(roles, u=columns.reading), options
    number = observed_compartment(table, columns)
    dosed = {state for _, state in columns.amounts} - {""} or {called[0]}
    others = [name for name in called if name not in dosed]
    if number is not None and number <= len(called):
        others = [called[number - 1]]
    if len(others) != 1:
        raise ConfigError(
            f"{columns.reading} may hold any of {', '.join(others)}; say which by --states "
            f"{others[0]}={columns.reading},{called[0]}=none, with all states of the equations"
        )
    states = [f"{name}={columns.reading if name in others else NONE}" for name in called]
    return roles, replace(options, states=",".join(states))


def _arguments(readings: "Readings", asked: Asked) -> dict[str, Any]:
    """Return what was read as arguments of `make_dataset`: lists with one entry for each run, by name."""
    from gode.tables.runs import ERRORS

    arguments: dict[str, Any] = {"t": readings.column("t")}
    for argument, primes in SIGNALS.items():
        found = {state: readings.column(state + primes) for state in asked.states}
        arguments[argument] = {name: values for name, values in found.items() if values is not None} or None
    errors = {state: readings.column(f"{ERRORS}{state}") for state in asked.states}
    arguments["sd"] = {name: values for name, values in errors.items() if values is not None} or None
    inputs = {name: readings.column(name) for name in readings.inputs}
    arguments["force"] = {**inputs, **asked.formulas} or None
    arguments["doses"] = list(readings.doses) or None
    return arguments


def _limits(readings: "Readings", asked: Asked) -> dict[str, Any]:
    """Return the limits of readings such as <0.05 and >200 as arguments, in the same form as the readings."""
    import numpy as np

    from gode.tables.runs import LIMITS

    out: dict[str, Any] = {}
    for side, at in (("above", 0), ("below", 1)):
        for state in asked.states:
            none = (np.full((len(run["t"]), 2), np.nan) for run in readings.runs)
            pairs = (run.get(LIMITS + state, rest) for run, rest in zip(readings.runs, none, strict=True))
            values = [np.where(np.isfinite(pair[:, at]), pair[:, at], np.nan) for pair in pairs]
            if not all(np.isnan(of_run).all() for of_run in values):
                out.setdefault(side, {})[state] = values
    return out


def _of_first_run(values: Any) -> Any:
    """Return of lists with one entry for each run the first one; formulas are those of all runs."""
    if isinstance(values, dict):
        return {name: _of_first_run(each) for name, each in values.items()}
    return values[0] if isinstance(values, list) else values


def _name(readings: "Readings", column: str) -> str:
    """Return what the file calls a column, without its unit; empty for a formula."""
    from gode.data.dataset import plain_label

    return plain_label(readings.labels.get(column, ""))


def _initial_values(texts: tuple[str, ...], n_runs: int, states: tuple[str, ...]) -> list[list[float]] | None:
    """Return the known initial values of each run, one for each state or a value and a slope for each."""
    if not texts:
        return None
    if len(texts) not in (1, n_runs):
        raise ConfigError(
            f"--initial was given {len(texts)} times for {n_runs} runs; give it once, or once for each"
        )
    d = len(states)
    values = [
        _named_values(text, states) if "=" in text else parse_values(text, "--initial") for text in texts
    ]
    for row in values:
        if len(row) not in (d, 2 * d):
            raise ConfigError(
                f"--initial must be a value for each of {d} states, or a value and a slope for each, "
                f"or values by name such as {states[-1]}=0, got {len(row)} values"
            )
    return values * (n_runs // len(values))


def _named_values(text: str, states: tuple[str, ...]) -> list[float]:
    """Return a value and a slope for each state from a text such as p=0,c'=1; nan where none is given."""
    known: dict[str, float] = {}
    for part in split_list(text):
        name, _, value = (word.strip() for word in part.partition("="))
        places = [state + prime for state in states for prime in ("", "'")]
        if name not in places:
            raise ConfigError(
                f"--initial {shortened(part, 80)!r} must be a value of a state, as {states[-1]}=0; the "
                f"states are {', '.join(states)}"
            )
        if name in known:
            raise ConfigError(f"--initial gives {name} twice; drop one")
        known[name] = _number(value, part)
    return [known.get(state + prime, nan) for state in states for prime in ("", "'")]


def _number(value: str, part: str) -> float:
    numbers = parse_values(value, f"--initial {shortened(part, 80)}")
    if len(numbers) != 1:
        raise ConfigError(f"--initial {shortened(part, 80)!r} must have one value")
    return numbers[0]
