"""The lines of Python that do what a command does."""

from collections.abc import Mapping, Sequence

from gode.cli.asked import asked_options
from gode.cli.known import bounds_of, fixed_values, units_of
from gode.cli.request import hidden_of
from gode.data import Dataset
from gode.tables.columns import parts_of
from gode.tables.dataset import DataOptions, parse_values

WIDTH = 88  # characters of a line
ALL, CHOSEN = "all", "auto"  # of --individual
READ = (
    "time",
    "u",
    "states",
    "velocity",
    "acceleration",
    "force",
    "run",
    "edit",
    "header",
    "skip",
    "decimal",
    "missing",
)  # what `read_arguments` takes
PLAIN = ("grammar", "preset", "effort", "start", "frame", "seed", "max_seconds")
USUAL = {"preset": "default", "effort": "normal", "seed": 0}


def python_text(files: Sequence[str], words: Sequence[str], dataset: Dataset, order: int | str) -> str:
    """Return lines of Python that do what `gode discover` does with these words.

    Args:
        dataset: as the command reads it.
        order: that the command would use.
    """
    data, choices = asked_options(words)
    read = [repr(name) for name in files] + _reading(data, dataset)
    found = [
        "**data",
        *([] if choices["frame"] or order == 1 else [f"order={order!r}"]),
        *_options(data, choices, len(dataset.runs)),
    ]
    lines = ["import gode", "from gode.measured import read_arguments", ""]
    lines += [_call("data = read_arguments", read), _call("d = gode.discover", found)]
    return "\n".join([*lines, "print(d.equation)", 'd.report("report.html")'])


def _call(head: str, arguments: Sequence[str]) -> str:
    """Return a call; a long one has a line for each argument."""
    short = f"{head}({', '.join(arguments)})"
    return short if len(short) <= WIDTH else "\n".join([f"{head}(", *(f"    {a}," for a in arguments), ")"])


def _reading(data: DataOptions, dataset: Dataset) -> list[str]:
    """Return the arguments about the files; states are called as in the data, which a frame may name."""
    given = {name: getattr(data, name) for name in READ}
    if data.states is not None and len(dataset.states) > 1:
        columns = [part.word for part in parts_of(data.states)]
        named = zip(dataset.states, columns, strict=False)
        given["states"] = ",".join(_quoted(c if c == name else f"{name}={c}") for name, c in named)
        if data.force is not None and dataset.inputs == ("F",):
            given["force"] = f"F={parts_of(data.force)[0].word}"
    given["edit"], given["missing"] = list(data.edit), list(data.missing)
    return [
        f"{name}={value!r}" for name, value in given.items() if value or (name == "header" and value == 0)
    ]


def _options(data: DataOptions, choices: Mapping[str, object], n_runs: int) -> list[str]:
    """Return the other arguments: what differs from the default."""
    given: dict[str, object] = {name: choices[name] for name in PLAIN if choices[name] != USUAL.get(name)}
    rows = [parse_values(text, "--initial") for text in data.initial]
    given["initial"] = rows * (n_runs // len(rows)) if rows and n_runs > 1 else rows[:1] and rows[0]
    given["hold"] = data.hold
    given["keep_outliers"] = data.keep_outliers or None
    given["interpolation"] = data.interpolation if data.interpolation != "auto" else None
    given |= {
        "without": _texts(choices["without"]),
        "fixed": fixed_values(tuple(_texts(choices["fix"]))),
        "bounds": bounds_of(tuple(_texts(choices["bounds"]))),
        "units": units_of(tuple(_texts(choices["units"]))),
        "assume": _texts(choices["assume"]),
        "individual": _individual(choices["individual"]),
        "hidden": _hidden(choices["hidden"]),
    }
    return [f"{name}={value!r}" for name, value in given.items() if value not in (None, [], {}, ())]


def _individual(option: object) -> object:
    if option is None or option == CHOSEN:
        return option
    return True if option == ALL else str(option).split(",")


def _hidden(option: object) -> object:
    found = None if option is None else hidden_of(str(option))
    return list(found) if isinstance(found, tuple) else found


def _texts(values: object) -> list[str]:
    assert isinstance(values, tuple), "an option that may be repeated"
    return [str(value) for value in values]


def _quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text
