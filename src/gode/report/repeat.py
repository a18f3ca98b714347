"""How to reproduce a result: the Python call, the command, and all settings."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np

from gode.choices import Preset
from gode.discovery import Discovery
from gode.paper import paper_grammar
from gode.search.settings import AUTO

ARGUMENTS = (("u", "u"), ("u'", "velocity"), ("u''", "acceleration"))
ROLES = ("time", "u", "velocity", "acceleration", "force", "run")  # of the columns of a file
OPTIONS = ("order", "grammar", "preset", "effort", "start", "without", "seed")


def python_call(discovery: Discovery) -> str:
    """Return the Python call that reproduces this discovery."""
    several = len(discovery.prepared.dataset.runs) > 1
    comment = "# t, u, ...: a list of arrays, one for each run\n" if several else ""
    given = [name if name == "u" else f"{name}={name}" for name in _observed(discovery)]
    if discovery.prepared.dataset.inputs:
        formula = _force_formula(discovery)
        given.append(f"force={'force' if formula is None else repr(formula)}")
    if discovery.settings.interpolation != "auto":
        given.append(f"interpolation={discovery.settings.interpolation!r}")
    known = _known_initial(discovery)
    given += [f"initial={(known if several else known[0])!r}"] if known else []
    if not discovery.settings.grammar:
        head = f"d = gode.fit({str(discovery.candidates[0].equation.skeleton)!r}, t"
        return f"import gode\n\n{comment}{', '.join([head, *given])})"
    options = [f"{name}={value!r}" for name, value in _options(discovery).items()]
    return f"import gode\n\n{comment}{', '.join(['d = gode.discover(t', *given, *options])})"


def command(discovery: Discovery) -> str:
    """Return the command that reproduces it from a file with these columns."""
    dataset = discovery.prepared.dataset
    words = ["gode", "discover", "data.csv"]
    if not discovery.settings.grammar:
        words = ["gode", "fit", str(discovery.candidates[0].equation.skeleton), "data.csv"]
    columns = {role: column_name(label) for role, label in dataset.labels.items() if role in ROLES}
    columns |= {name: columns.get(name, name) for name in _observed(discovery) if name != "u"}
    if dataset.inputs:
        columns["force"] = _force_formula(discovery) or columns.get("force", "force")
    for role, column in columns.items():
        words += [f"--{role}", column]
    if discovery.settings.interpolation != "auto":
        words += ["--interpolation", discovery.settings.interpolation]
    for values in _known_initial(discovery):
        words += ["--initial", ",".join(f"{x:.15g}" for x in values)]
    for name, value in _options(discovery).items() if discovery.settings.grammar else ():
        for each in value if isinstance(value, list) else [value]:
            words += [f"--{name}", str(each)]
    return " ".join(shlex.quote(word) for word in words)


def column_name(label: str) -> str:
    """Return the name of a column without its unit, as in ``u [m]``."""
    return label.rsplit(" [", 1)[0] if label.endswith("]") else label


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
    return [name for column, name in ARGUMENTS if column in seen]


def _force_formula(discovery: Discovery) -> str | None:
    """Return the force, if it is a formula."""
    signals = [run.inputs.get("F") for run in discovery.prepared.dataset.runs]
    texts = {signal for signal in signals if isinstance(signal, str)}
    return texts.pop() if len(texts) == 1 else None


def _known_initial(discovery: Discovery) -> list[list[float]]:
    """Return the known initial values of each run; nothing if they are not known."""
    known = [run.initial[: discovery.settings.order] for run in discovery.prepared.dataset.runs]
    if not all(np.isfinite(values[0]) for values in known):
        return []
    return [[float(x) for x in values if np.isfinite(x)] for values in known]


def _options(discovery: Discovery) -> dict[str, object]:
    """Return the options of `discover` that differ from its defaults."""
    settings = discovery.settings
    given = asdict(settings)
    values = {name: given[name] for name in OPTIONS if given[name] not in (None, (), "default")}
    usual = paper_grammar(settings.order, forced=bool(discovery.prepared.dataset.inputs))
    if settings.implicit or (settings.preset == Preset.PAPER and settings.grammar == usual):
        del values["grammar"]
    if settings.share < 1:
        values["order"] = AUTO
    if "without" in values:
        values["without"] = list(values["without"])
    return values
