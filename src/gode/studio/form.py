"""What was chosen on the page, as words of the command `gode discover` and as lines of Python.

`FIELDS` is the one place where a new option of the command gets its place on the page.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROLES = {
    "time": "time",
    "state": "state: a measured signal",
    "velocity": "velocity of the state",
    "acceleration": "acceleration of the state",
    "input": "known input",
    "run": "run: tells runs apart",
    "ignored": "not used",
}
NONE = "none"
Form = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Field:
    """A choice on the page: its label, its option, and how its text becomes words of the command."""

    key: str
    label: str
    option: str
    help: str = ""
    kind: str = "text"  # text, lines (one value a line), words (apart by commas or spaces), choice, check
    choices: tuple[tuple[str, str], ...] = ()  # value and label; the first is the default
    value: str = ""  # of a check: what the option is given; nothing for a flag
    argument: str = ""  # of the Python call; nothing where there is none

    def words(self, form: Form) -> list[str]:
        """Return the words of the command for this choice; none where nothing was chosen."""
        text = first(form, self.key)
        if not text or (self.choices and text == self.choices[0][0]):
            return []
        if self.kind == "check":
            return [self.option, *([self.value] if self.value else [])]
        values = [text]
        if self.kind == "lines":
            values = [line.strip() for line in text.splitlines() if line.strip()]
        elif self.kind == "words":
            values = text.replace(",", " ").split()
        return [word for value in values for word in (self.option, value)]


KNOWN = (
    Field(
        "order", "Order of the equation", "--order", "2 means that it rules the acceleration.", "choice",
        (("", "2 if accelerations were measured, else 1"), ("1", "1"), ("2", "2"), ("auto", "try both")),
        argument="order",
    ),
    Field(
        "autonomous", "The law does not change with time", "--without",
        "Leaves the time t out of the equation.", "check", value="t", argument="without",
    ),
    Field(
        "without", "Functions that cannot occur", "--without", "Such as log exp sin; apart by spaces.",
        "words", argument="without",
    ),
    Field(
        "initial", "Known initial values", "--initial",
        "u(t0), or u(t0),u'(t0) for order 2: once for all runs, or a line for each.", "lines",
        argument="initial",
    ),
    Field(
        "interpolation", "Between samples of an input", "--interpolation", "", "choice",
        (("auto", "as the data suggest"), ("hold", "held until the next"), ("linear", "straight lines"),
         ("cubic", "smooth curve")), argument="interpolation",
    ),
    Field(
        "individual", "Constants that each run has for itself", "--individual",
        "all, auto for those that need it, or names; empty for one law with the same constants.",
        argument="individual",
    ),
    Field("start", "A guess of the equation", "--start", "Such as u'' = C*u + C*u'.", argument="start"),
)  # fmt: skip
SEARCH = (
    Field(
        "effort", "Effort", "--effort", "", "choice",
        (("normal", "normal: minutes"), ("quick", "quick: half a minute"), ("thorough", "thorough: long")),
        argument="effort",
    ),
    Field(
        "max_seconds", "End after this many seconds", "--max-seconds",
        "With the best so far; empty for no limit.", argument="max_seconds",
    ),
    Field("seed", "Seed", "--seed", "Same seed, same answer.", argument="seed"),
)  # fmt: skip
FIELDS = (*KNOWN, *SEARCH)
NUMBERS = ("order", "max_seconds", "seed")


def first(form: Form, key: str) -> str:
    """Return the first value of a key, without outer spaces; empty where there is none."""
    values = form.get(key) or [""]
    return values[0].strip()


def roles_of(form: Form, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of each role."""
    chosen: dict[str, list[str]] = {role: [] for role in ROLES}
    for i, name in enumerate(names):
        chosen.get(first(form, f"role.{i}"), chosen["ignored"]).append(name)
    return chosen


def command_words(form: Form, names: Sequence[str], edits: Sequence[str]) -> list[str]:
    """Return the options of `gode discover` for what was chosen."""
    roles, wells = roles_of(form, names), bool(first(form, "wells"))
    words = [
        word for role, option in (("time", "--time"),) for name in roles[role][:1] for word in (option, name)
    ]
    states = roles["state"]
    if not states:
        words += ["--u", NONE]
    elif len(states) == 1 or wells:
        words += ["--u", _joined(states) if len(states) > 1 else states[0]]
    else:
        words += ["--states", _joined(states)]
    for role in ("velocity", "acceleration"):
        columns = roles[role]
        if columns:
            missing = [NONE] * (len(states) - len(columns)) if len(states) > 1 else []
            words += [f"--{role}", _joined([*columns, *missing]) if len(states) > 1 else columns[0]]
    inputs = [*roles["input"], *([first(form, "formula")] if first(form, "formula") else [])]
    words += ["--force", _joined(inputs) if len(inputs) > 1 else inputs[0]] if inputs else []
    words += ["--run", roles["run"][0]] if roles["run"] else []
    for edit in edits:
        words += ["--edit", edit]
    return words + [word for field in FIELDS for word in field.words(form)]


def problem_of(form: Form, names: Sequence[str]) -> str:
    """Return what is missing or too much among the roles, in a sentence; empty if nothing is."""
    roles = roles_of(form, names)
    for role in ("time", "run"):
        if len(roles[role]) > 1:
            return f"Two columns are {role}: {' and '.join(roles[role][:2])}. Choose one."
    if not roles["time"]:
        return "No column is time. Choose the one that holds the times."
    if not (roles["state"] or roles["velocity"] or roles["acceleration"]):
        return "No column is a state. Choose the one that holds the measured signal."
    return ""


def command_text(files: Sequence[str], words: Sequence[str]) -> str:
    """Return the command to type."""
    return " ".join(shlex.quote(word) for word in ["gode", "discover", *files, *words, "--out", "result"])


def python_text(files: Sequence[str], form: Form, names: Sequence[str], edits: Sequence[str]) -> str:
    """Return lines of Python that do the same."""
    roles, wells = roles_of(form, names), bool(first(form, "wells"))
    data = [f"data[{name!r}]" for name in roles["state"]]
    time = f"data[{roles['time'][0]!r}]" if roles["time"] else "t"
    signal = data[0] if len(data) == 1 else f"data[{roles['state']!r}]"
    if wells and len(data) > 1:
        time, signal = f"[{time}] * {len(data)}", f"[{', '.join(data)}]"
    arguments = [time, *([signal] if data else [])]
    for role in ("velocity", "acceleration"):
        arguments += [f"{role}=data[{name!r}]" for name in roles[role][:1]]
    formula = first(form, "formula")
    inputs = {name: f"data[{name!r}]" for name in roles["input"]} | ({"F": repr(formula)} if formula else {})
    if len(inputs) == 1:
        arguments.append(f"force={next(iter(inputs.values()))}")
    elif inputs:
        arguments.append(f"force={{{', '.join(f'{name!r}: {v}' for name, v in inputs.items())}}}")
    arguments += _python_options(form)
    notes = [f"# first, in the data: {edit}" for edit in edits]
    notes += [f"# a run for each value of {roles['run'][0]}: pass lists of arrays"] if roles["run"] else []
    read = "read_excel" if files[0].lower().endswith(".xlsx") else "read_csv"
    lines = ["import gode", "import pandas as pd", "", f"data = pd.{read}({files[0]!r})", *notes]
    call = ", ".join(arguments)
    return "\n".join([*lines, f"d = gode.discover({call})", "print(d.equation)", 'd.report("report.html")'])


def _python_options(form: Form) -> list[str]:
    found: dict[str, list[str]] = {}
    for field in FIELDS:
        words = field.words(form)
        if words and field.argument:
            found.setdefault(field.argument, []).extend(words[1::2])
    out = []
    for name, values in found.items():
        value: object = values if name == "without" else values[0]
        if name == "initial":
            rows = [f"[{row}]" for row in values]
            out.append(f"initial={rows[0] if len(rows) == 1 else '[' + ', '.join(rows) + ']'}")
        elif name in NUMBERS and values[0].replace(".", "", 1).isdecimal():
            out.append(f"{name}={values[0]}")
        else:
            out.append(f"{name}={value!r}")
    return out


def _joined(names: Sequence[str]) -> str:
    """Return columns as one option; one with a comma in it stands in quotes."""
    return ",".join(f'"{name}"' if "," in name else name for name in names)
