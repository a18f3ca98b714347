"""How to reproduce a result: the Python call, the command, and all settings."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np

from gode.choices import Preset
from gode.data import Dataset
from gode.discovery import Discovery
from gode.discovery.framing import called, shown
from gode.fitting.population import ALL, CHOSEN
from gode.paper import paper_grammar
from gode.search.settings import AUTO, Settings

ARGUMENTS = (("u", "u"), ("u'", "velocity"), ("u''", "acceleration"))
COLUMNS = {"t": "time", "run": "run"}  # columns of a file, and the options that name them
SIGNAL = {"u": "u", "u'": "velocity", "u''": "acceleration", "F": "force"}  # the same of a single signal
OPTIONS = ("order", "grammar", "preset", "effort", "start", "without", "seed")


def python_call(discovery: Discovery) -> str:
    """Return the Python call that reproduces this discovery."""
    dataset = discovery.prepared.dataset
    several, system = len(dataset.runs) > 1, len(dataset.states) > 1
    first = "x" if system else "u"
    comment = f"# t, {first}, ...: a list of arrays, one for each run\n" if several else ""
    comment += "# x: an array with a column for each state\n" if system else ""
    comment += "".join(f"# after this edit: {edit!r}\n" for edit in dataset.edits)
    given = [first if name == "u" else f"{name}={name}" for name in _observed(discovery)]
    own = called(dataset)
    states = [own.get(state, state) for state in dataset.states]
    hidden = [states[s] for s in dataset.hidden] if discovery.settings.grammar else []
    measured = [state for state in states if state not in hidden]
    given += [f"names={measured!r}"] if measured != ["u"] else []
    given += [f"hidden={hidden!r}"] if hidden else []
    if dataset.inputs:
        given.append(f"force={_force_argument(discovery)}")
    if discovery.settings.interpolation != "auto":
        given.append(f"interpolation={discovery.settings.interpolation!r}")
    given += ["keep_outliers=True"] if dataset.keep_outliers else []
    known = _known_initial(discovery)
    given += [f"initial={(known if several else known[0])!r}"] if known else []
    if not discovery.settings.grammar:
        texts = _equations(discovery)
        head = f"d = gode.fit({texts if system else texts[0]!r}, t"
        given += [f"individual={_individual(discovery)!r}"] if discovery.settings.individual else []
        given += [f"{name}={value!r}" for name, value in _values(discovery).items()]
        return f"import gode\n\n{comment}{', '.join([head, *given])})"
    options = [f"{name}={value!r}" for name, value in _options(discovery).items()]
    options += (
        [f"frame={'; '.join(discovery.settings.known.frame)!r}"] if discovery.settings.known.frame else []
    )
    options += [f"{name}={value!r}" for name, value in _values(discovery).items()]
    return f"import gode\n\n{comment}{', '.join(['d = gode.discover(t', *given, *options])})"


def command(discovery: Discovery) -> str:
    """Return the command that reproduces it from a file with these columns."""
    words = ["gode", "discover", "data.csv"]
    if not discovery.settings.grammar:
        words = ["gode", "fit", "; ".join(_equations(discovery)), "data.csv"]
    for role, column in _columns(discovery).items():
        words += [f"--{role}", column]
    for edit in discovery.prepared.dataset.edits:
        words += ["--edit", edit]
    words += ["--keep-outliers"] if discovery.prepared.dataset.keep_outliers else []
    if discovery.settings.interpolation != "auto":
        words += ["--interpolation", discovery.settings.interpolation]
    for values in _known_initial(discovery):
        words += ["--initial", ",".join(f"{x:.15g}" for x in np.ravel(values))]
    words += _hidden_words(discovery)
    if discovery.settings.individual:
        words += ["--individual", ",".join(discovery.settings.individual)]
    for name, value in _options(discovery).items() if discovery.settings.grammar else ():
        if name == "individual":
            continue
        for each in value if isinstance(value, list) else [value]:
            words += [f"--{name}", str(each)]
    known = discovery.settings.known
    words += ["--frame", "; ".join(known.frame)] if known.frame and discovery.settings.grammar else []
    words += [word for name, value in known.fixed for word in ("--fix", f"{name}={value:.15g}")]
    words += [word for name in known.assume for word in ("--assume", name)]
    words += [word for name, unit in known.units for word in ("--units", f"{name}={unit}")]
    words += [word for bound in known.bounds for word in ("--bounds", _bound_text(*bound))]
    return " ".join(shlex.quote(word) for word in words)


def _hidden_words(discovery: Discovery) -> list[str]:
    """Return the option that names the hidden states of a search."""
    dataset = discovery.prepared.dataset
    if not dataset.hidden or not discovery.settings.grammar:
        return []
    return ["--hidden", ",".join(dataset.states[s] for s in dataset.hidden)]


def _equations(discovery: Discovery) -> list[str]:
    """Return the equations that were fitted, as they were given."""
    given = [text.strip() for text in discovery.settings.known.frame]
    return given or str(discovery.candidates[0].equation.skeleton).splitlines()


def _values(discovery: Discovery) -> dict[str, object]:
    """Return the values and bounds of constants that were given."""
    known = discovery.settings.known
    bounds = {name: tuple(x if np.isfinite(x) else None for x in pair) for name, *pair in known.bounds}
    given = {
        "fixed": dict(known.fixed),
        "bounds": bounds,
        "units": dict(known.units),
        "assume": list(known.assume),
    }
    return {name: value for name, value in given.items() if value}


def _bound_text(name: str, low: float, high: float) -> str:
    low_text, high_text = (f"{x:.15g}" if np.isfinite(x) else "" for x in (low, high))
    return f"{name}={low_text}:{high_text}"


def _columns(discovery: Discovery) -> dict[str, str]:
    """Return the columns of a file by the option that names them."""
    dataset = discovery.prepared.dataset
    options = COLUMNS if len(dataset.states) > 1 else COLUMNS | SIGNAL
    columns = {options[key]: column_name(label) for key, label in dataset.labels.items() if key in options}
    if len(dataset.states) == 1:
        columns |= {name: columns.get(name, name) for name in _observed(discovery) if name != "u"}
        if len(dataset.inputs) == 1:
            columns["force"] = _force_formula(discovery) or columns.get("force", "force")
        return columns if len(dataset.inputs) < 2 else {**columns, "force": _forces(discovery)}
    for option, primes in (("states", ""), ("velocity", "'"), ("acceleration", "''")):
        unseen = dataset.hidden if discovery.settings.grammar else ()
        names = [state + primes for s, state in enumerate(dataset.states) if s not in unseen]
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
    usual = dict(_flat("", asdict(Settings(order=own.order, grammar=""))))
    return [row for row in _flat("", asdict(own)) if row[0] == "order" or row[1] != usual[row[0]]]


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
    formulas = {shown(dataset, name): _formula(discovery, name) for name in dataset.inputs}
    if [*formulas] == ["F"]:
        return "force" if formulas["F"] is None else repr(formulas["F"])
    entries = [
        f"{name!r}: {name if formula is None else repr(formula)}" for name, formula in formulas.items()
    ]
    return f"{{{', '.join(entries)}}}"


def _force_formula(discovery: Discovery) -> str | None:
    """Return the force, if it is a formula."""
    return _formula(discovery, "F")


def _formula(discovery: Discovery, name: str) -> str | None:
    """Return a known input, if it is a formula."""
    signals = [run.inputs.get(name) for run in discovery.prepared.dataset.runs]
    texts = {signal for signal in signals if isinstance(signal, str)}
    return texts.pop() if len(texts) == 1 else None


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
    """Return the options of `discover` that differ from its defaults."""
    settings = discovery.settings
    given = asdict(settings)
    values = {name: given[name] for name in OPTIONS if given[name] not in (None, (), "default")}
    usual = paper_grammar(settings.order, forced=bool(discovery.prepared.dataset.inputs))
    if settings.known.frame:
        del values["order"]
    if (
        settings.implicit
        or settings.known.frame
        or (settings.preset == Preset.PAPER and settings.grammar == usual)
    ):
        del values["grammar"]
    if settings.share < 1:
        values["order"] = AUTO
    if settings.individual:
        values["individual"] = _individual(discovery)
    if "without" in values:
        values["without"] = list(values["without"])
    return values
