"""How to reproduce a result: the Python call, the command, and all settings."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from gode.choices import Preset
from gode.data import Dataset
from gode.data.columns import INPUT
from gode.data.doses import Dose
from gode.discovery import Discovery
from gode.discovery.framing import display_name, display_names
from gode.fitting.population import ALL, CHOSEN
from gode.fitting.prepare import inputs_seen
from gode.options.checks import AUTO
from gode.options.entry import Option, Takes, flags_of
from gode.options.table import Measurements, Searching, Seed, Starting
from gode.paper import paper_grammar
from gode.search.settings import SYSTEMS, Settings

ARGUMENTS = (("u", "u"), ("u'", "velocity"), ("u''", "acceleration"))
COLUMNS = {"t": "time", "run": "run"}  # columns of a file, and the options that name them
SIGNAL = {"u": "u", "u'": "velocity", "u''": "acceleration", "F": "force"}  # the same of a single signal
FIT = flags_of(Measurements, Starting)
DISCOVER = flags_of(Measurements, Searching, Seed)
FIRST = ("order", "grammar", "implicit")  # settings that are listed before the others
ALWAYS = ("order", "effort", "seed")  # options that are told where they are the defaults, too


def python_call(discovery: Discovery) -> str:
    """Return the Python call that reproduces this discovery."""
    dataset = discovery.prepared.dataset
    several, system = len(dataset.runs) > 1, len(dataset.states) > 1
    first = "x" if system else "u"
    comment = f"# t, {first}, ...: a list of arrays, one for each run\n" if several else ""
    comment += "# x: an array with a column for each state\n" if system else ""
    comment += "".join(f"# after this edit: {edit!r}\n" for edit in dataset.edits)
    given = [first if name == "u" else f"{name}={name}" for name in _observed(discovery)]
    own = display_names(dataset)
    states = [own.get(state, state) for state in _named_states(discovery)]
    given += [f"names={states!r}"] if states != ["u"] else []
    given += ["sd=sd"] if any(run.sd is not None for run in dataset.runs) else []
    known = [run.limits for run in dataset.runs if run.limits is not None]
    given += ["below=below"] if any(np.isfinite(limits.high).any() for limits in known) else []
    given += ["above=above"] if any(np.isfinite(limits.low).any() for limits in known) else []
    if dataset.inputs:
        given.append(f"force={_force_argument(discovery)}")
    given += [f"doses={_doses_argument(discovery)}"] if dataset.is_dosed else []
    given += [f"{name}={value!r}" for name, value in _options(discovery).items()]
    head = "d = gode.discover(t"
    if not discovery.settings.grammar:
        texts = _equations(discovery)
        head = f"d = gode.fit({texts if system else texts[0]!r}, t"
    return f"import gode\n\n{comment}{', '.join([head, *given])})"


def command(discovery: Discovery) -> str:
    """Return the command that reproduces it from a file with these columns."""
    words = ["gode", "discover", "data.csv"]
    if not discovery.settings.grammar:
        words = ["gode", "fit", "; ".join(_equations(discovery)), "data.csv"]
    for role, column in _columns(discovery).items():
        words += [f"--{role}", column]
    if any(run.sd is not None for run in discovery.prepared.dataset.runs):
        words += ["--sd", discovery.prepared.dataset.labels.get("sd", "sd")]
    for edit in discovery.prepared.dataset.edits:
        words += ["--edit", edit]
    words += [word for text in _dosed(discovery) for word in ("--dose", text)]
    for name, value in _options(discovery).items():
        words += _words({**DISCOVER, **FIT}[name], _initial_words(discovery) if name == "initial" else value)
    return " ".join(shlex.quote(word) for word in words)


def _dosed(discovery: Discovery) -> list[str]:
    """Return the states that were dosed, each with the name of a column of amounts."""
    dataset = discovery.prepared.dataset
    channels = dict.fromkeys(dose.channel for run in dataset.runs for dose in run.doses)
    names = [
        display_name(dataset, dataset.states[channel // 3] + "'" * (channel % 3))
        for channel in sorted(channels)
    ]
    return [f"amt:{name}" for name in names]


def _doses_argument(discovery: Discovery) -> str:
    """Return the doses as an argument: a row for each run, or the name of a list where there are more."""
    dataset = discovery.prepared.dataset
    if any(len(run.doses) > 1 for run in dataset.runs):
        return "doses"
    rows = [[_dose_row(dataset, dose) for dose in run.doses] for run in dataset.runs]
    return repr(rows if len(rows) > 1 else rows[0])


def _dose_row(dataset: Dataset, dose: Dose) -> tuple[str | float | bool, ...]:
    name = display_name(dataset, dataset.states[dose.channel // 3] + "'" * (dose.channel % 3))
    row = name, dose.t, dose.amount, dose.duration, dose.first
    return row if dose.first else row[:4] if dose.duration else row[:3]


def _words(option: Option, value: object) -> list[str]:
    """Return an option with its value as words of a command, as often as it takes."""
    if option.takes is Takes.NOTHING:
        return [option.flag]
    texts = option.text(value) if option.text else value if isinstance(value, list) else [value]
    return [word for text in texts for word in (option.flag, str(text))]


def _named_states(discovery: Discovery) -> list[str]:
    """Return the states that data are given for; equations that are given name the hidden ones, too."""
    dataset = discovery.prepared.dataset
    hidden = dataset.hidden if discovery.settings.grammar else ()
    return [state for s, state in enumerate(dataset.states) if s not in hidden]


def _equations(discovery: Discovery) -> list[str]:
    """Return the equations that were fitted, as they were given."""
    given = [text.strip() for text in discovery.settings.known.frame]
    return given or str(discovery.candidates[0].equation.skeleton).splitlines()


def _columns(discovery: Discovery) -> dict[str, str]:
    """Return the columns of a file by the option that names them."""
    dataset = discovery.prepared.dataset
    alone = len(dataset.states) == 1
    options = COLUMNS | SIGNAL if alone else COLUMNS
    columns = {options[key]: column_name(label) for key, label in dataset.labels.items() if key in options}
    if alone:
        columns |= {name: columns.get(name, name) for name in _observed(discovery) if name != "u"}
        if len(dataset.inputs) == 1:
            columns["force"] = _formula(discovery, "F") or columns.get("force", "force")
        return columns if len(dataset.inputs) < 2 else {**columns, "force": _forces(discovery)}
    for option, primes in (("states", ""), ("velocity", "'"), ("acceleration", "''")):
        names = [state + primes for state in _named_states(discovery)]
        if {*names} & {*dataset.channels}:
            columns[option] = ",".join(_column(dataset, name, option == "states") for name in names)
    return {**columns, "force": _forces(discovery)} if dataset.inputs else columns


def _forces(discovery: Discovery) -> str:
    """Return the known inputs as one option: columns or formulas, with their names where these differ."""
    dataset = discovery.prepared.dataset
    formulas = {name: _formula(discovery, name) for name in dataset.inputs}
    entries = [f"{n}={f}" if f else _column(dataset, n, True) for n, f in formulas.items()]
    return ",".join(f'"{entry}"' if "," in entry else entry for entry in entries)


def _column(dataset: Dataset, name: str, named: bool) -> str:
    """Return the column of a state or input, with its name in the law if that is another."""
    column = column_name(dataset.labels.get(name, name))
    if name not in dataset.labels and "'" in name:
        return "none" if name not in dataset.channels else name
    return column if column == name or not named else f"{name}={column}"


def column_name(label: str) -> str:
    """Return the name of a column without its unit, as in ``u [m]``."""
    return label.rsplit(" [", 1)[0] if label.endswith("]") else label


def settings_rows(discovery: Discovery) -> list[tuple[str, str]]:
    """Return the settings that differ from the defaults, with their values; the record holds all."""
    own = discovery.settings
    grammar = own.grammar if _grammar(discovery) is None else ""  # unless asked for, it follows from the data
    usual = dict(_flat("", asdict(Settings(order=own.order, grammar=grammar, implicit=own.implicit))))
    rows = sorted(_flat("", asdict(own)), key=lambda row: row[0] not in FIRST)
    return [row for row in rows if row[0] == "order" or row[1] != usual[row[0]]]


def _flat(prefix: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", str(value)


def _observed(discovery: Discovery) -> list[str]:
    seen = {"u" + "'" * name.count("'") for name in discovery.prepared.dataset.channels}
    return [name for column, name in ARGUMENTS if column in seen]


def _force_argument(discovery: Discovery) -> str:
    """Return the known input as an argument: a formula, or the name of an array; several by their names."""
    dataset = discovery.prepared.dataset
    formulas = {display_name(dataset, name): _formula(discovery, name) for name in dataset.inputs}
    if [*formulas] == ["F"]:
        return "force" if formulas["F"] is None else repr(formulas["F"])
    entries = [
        f"{name!r}: {name if formula is None else repr(formula)}" for name, formula in formulas.items()
    ]
    return f"{{{', '.join(entries)}}}"


def _formula(discovery: Discovery, name: str) -> str | None:
    """Return a known input, if it is a formula."""
    signals = [run.inputs.get(name) for run in discovery.prepared.dataset.runs]
    texts = {signal for signal in signals if isinstance(signal, str)}
    return texts.pop() if len(texts) == 1 else None


def _initial_words(discovery: Discovery) -> list[str]:
    """Return the known initial values of each run as words."""
    return [",".join(f"{x:.15g}" for x in np.ravel(values)) for values in _known_initial(discovery)]


def _known_initial(discovery: Discovery) -> list[list[float] | list[list[float]]]:
    """Return the known initial values of each run, of several states by state; nothing if none are known."""
    order = discovery.settings.order
    known = [run.initial.reshape(-1, 2)[:, :order] for run in discovery.prepared.dataset.runs]
    if not all(np.isfinite(values[:, 0]).all() for values in known):
        return []
    rows = [[[float(x) for x in row if np.isfinite(x)] for row in values] for values in known]
    return [row[0] if len(row) == 1 else row for row in rows]


def _individual(discovery: Discovery) -> bool | str | list[str]:
    """Return which constants each run has for itself, as an argument."""
    asked = discovery.settings.individual
    return True if asked == ALL else asked[0] if asked == CHOSEN else list(asked)


def _options(discovery: Discovery) -> dict[str, object]:
    """Return the other options of the call that differ from their defaults, by name, as they are in Python.

    They are found by their names among the settings, what was known, and the data, which a record keeps.
    """
    settings, dataset = discovery.settings, discovery.prepared.dataset
    initial = _known_initial(discovery)
    values: dict[str, Any] = {**vars(dataset), **vars(settings.known), **vars(settings)}
    values |= {
        "initial": initial if len(dataset.runs) > 1 else initial[0] if initial else None,
        "grammar": _grammar(discovery),
        "order": AUTO if settings.share < 1 else settings.order,
        "individual": _individual(discovery) if settings.individual else False,
        "hidden": [dataset.states[s] for s in dataset.hidden] or 0,
        "frame": "; ".join(settings.known.frame) or None,
        "fixed": dict(settings.known.fixed),
        "guess": dict(settings.known.guess),
        "units": dict(settings.known.units),
        "bounds": {
            name: tuple(x if np.isfinite(x) else None for x in pair) for name, *pair in settings.known.bounds
        },
    }
    found = {}
    for name, option in (DISCOVER if settings.grammar else FIT).items():
        value = list(values[name]) if isinstance(values.get(name), tuple) else values.get(name)
        is_usual = value in (option.default, [], {}, None)
        if name in values and not (is_usual and name not in ALWAYS):
            found[name] = value
    if settings.known.frame:
        found.pop("order", None)  # it is that of the frame
    return found


def _grammar(discovery: Discovery) -> str | None:
    """Return the grammar that was asked for; None where it follows from the other options."""
    settings = discovery.settings
    usual = paper_grammar(settings.order, forced=bool(discovery.prepared.dataset.inputs))
    by_paper = settings.preset == Preset.PAPER and settings.grammar == usual
    seen = inputs_seen(discovery.prepared.dataset, settings.order)
    by_data = settings.grammar == SYSTEMS and not {*seen} <= {INPUT}
    follows = settings.implicit or settings.known.frame or by_paper or by_data
    return None if follows else settings.grammar
