"""The lines of Python that do what a command does."""

from collections.abc import Mapping, Sequence

from gode.cli.asked import asked_options
from gode.data import Dataset
from gode.options.entry import Option, flags_of
from gode.options.files import FromFiles
from gode.options.table import Measurements, Searching, Seed
from gode.tables.column_options import parts_of
from gode.tables.dataset import DataOptions, parse_values

WIDTH = 88  # characters of a line
FILES = flags_of(FromFiles)  # what `read_arguments` takes
FOUND = flags_of(Measurements, Searching, Seed)  # what `discover` takes besides


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
    given = {name: getattr(data, name) for name in FILES}
    if data.states is not None and len(dataset.states) > 1:
        columns = [part.word for part in parts_of(data.states)]
        named = zip(dataset.states, columns, strict=False)
        given["states"] = ",".join(_quoted(c if c == name else f"{name}={c}") for name, c in named)
        if data.force is not None and dataset.inputs == ("F",):
            given["force"] = f"F={parts_of(data.force)[0].word}"
    return _arguments(FILES, given)


def _options(data: DataOptions, choices: Mapping[str, object], n_runs: int) -> list[str]:
    """Return the other arguments."""
    rows = [parse_values(text, "--initial") for text in data.initial]
    initial = rows * (n_runs // len(rows)) if rows and n_runs > 1 else rows[:1] and rows[0]
    given = {**vars(data), **choices, "initial": initial or None, "units": data.column_units, "order": 1}
    return _arguments(FOUND, {name: given[name] for name in FOUND if name in given})


def _arguments(table: Mapping[str, Option], given: Mapping[str, object]) -> list[str]:
    """Return the arguments that differ from their defaults, as they are written in Python."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    usual = {name: [] if table[name].default == () else table[name].default for name in given}
    return [f"{name}={value!r}" for name, value in values.items() if value != usual[name] and value != {}]


def _quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text
