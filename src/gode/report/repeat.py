"""How to get the same result again: as Python, on the command line, and the settings in full."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np

from gode.discovery import Discovery
from gode.discovery.settings import GRAMMARS

CHANNELS = (("u", "u"), ("u'", "velocity"), ("u''", "acceleration"))
OPTIONS = ("order", "grammar", "effort", "start", "without", "seed")


def python_call(discovery: Discovery) -> str:
    """Return the call that made this discovery, with names for the data."""
    several = len(discovery.prepared.dataset.runs) > 1
    comment = "# t, u, ...: a list of arrays, one for each run\n" if several else ""
    given = [name if name == "u" else f"{name}={name}" for name in _observed(discovery)]
    given += [f"force={_force(discovery) or 'force'}"] * bool(discovery.prepared.dataset.inputs)
    given += [f"initial={x if several else x[0]!r}" for x in _initial(discovery)]
    if not discovery.settings.grammar:
        head = f"d = gode.fit({str(discovery.order[0].equation.skeleton)!r}, t"
        return f"import gode\n\n{comment}{', '.join([head, *given])})"
    options = [f"{name}={value!r}" for name, value in _options(discovery).items()]
    return f"import gode\n\n{comment}{', '.join(['d = gode.discover(t', *given, *options])})"


def command(discovery: Discovery) -> str:
    """Return the command that does the same with a file of these columns."""
    labels = discovery.prepared.dataset.labels
    words = ["gode", "discover", "data.csv"]
    if not discovery.settings.grammar:
        words = ["gode", "fit", str(discovery.order[0].equation.skeleton), "data.csv"]
    words += ["--time", labels["t"]] if "t" in labels else []
    for column, name in CHANNELS:
        if name in _observed(discovery) and (name != "u" or column in labels):
            words += [f"--{name}", labels.get(column, name)]
    if discovery.prepared.dataset.inputs:
        formula = _force(discovery)
        words += ["--force", formula.strip("'\"") if formula else labels.get("F", "force")]
    for initial in _initial(discovery):
        words += ["--initial", ",".join(str(x) for x in initial[0])]
    if discovery.settings.grammar:
        for name, value in _options(discovery).items():
            words += [f"--{name}", ",".join(value) if isinstance(value, list) else str(value)]
    return " ".join(shlex.quote(word) for word in words)


def settings_rows(discovery: Discovery) -> list[tuple[str, str]]:
    """Return every setting with its value."""
    return list(_flat("", asdict(discovery.settings)))


def _flat(prefix: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", str(value)


def _observed(discovery: Discovery) -> list[str]:
    seen = discovery.prepared.dataset.channels
    return [name for column, name in CHANNELS if column in seen]


def _force(discovery: Discovery) -> str | None:
    """Return the force as it is typed in Python, if it is a formula."""
    signals = {
        run.inputs["F"] for run in discovery.prepared.dataset.runs if isinstance(run.inputs.get("F"), str)
    }
    return repr(signals.pop()) if len(signals) == 1 else None


def _initial(discovery: Discovery) -> list[list[list[float]]]:
    """Return the known initial values of all runs, if they are known at all."""
    order = discovery.settings.order
    known = [run.initial[:order] for run in discovery.prepared.dataset.runs]
    if not all(np.isfinite(values[0]) for values in known):
        return []
    return [[[float(x) for x in values if np.isfinite(x)] for values in known]]


def _options(discovery: Discovery) -> dict[str, object]:
    """Return the options of `discover` that matter: the order always, others where they are not empty."""
    given = asdict(discovery.settings)
    values = {name: given[name] for name in OPTIONS if given[name] not in (None, ())}
    if values["grammar"] == GRAMMARS.get(discovery.settings.order):
        del values["grammar"]
    if "without" in values:
        values["without"] = list(values["without"])
    return values
