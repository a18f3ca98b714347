"""What was chosen on the page, as words of the command `gode discover`.

The choices are those of the table of options that have a place on the page; see `gode.options.table`.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gode.cli.request import DISCOVER
from gode.options.entry import Group, Place
from gode.tables.cells import NONE

ROLES = {
    "time": "time",
    "state": "state",
    "velocity": "its velocity",
    "acceleration": "its acceleration",
    "error": "its standard error",
    "input": "input",
    "dose": "dose",
    "measured": "measured formula",
    "run": "run",
    "ignored": "not used",
}
LEFT = re.compile(r"(\w+)'\s*=")  # a state whose equation is written
SIGN = re.compile(r"\s*=\s*")
Form = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Field:
    """A choice on the page: its place there, its option, and how its text becomes words of the command."""

    key: str
    option: str
    place: Place

    @property
    def label(self) -> str:
        """What the page calls it."""
        return self.place.label

    @property
    def help(self) -> str:
        """The sentence below it."""
        return self.place.help

    @property
    def kind(self) -> str:
        """The kind of its input."""
        return self.place.input.value

    @property
    def choices(self) -> tuple[tuple[str, str], ...]:
        """Values and labels to choose from, the first is the default; or suggestions."""
        return self.place.choices

    def words(self, form: Form) -> list[str]:
        """Return the words of the command for this choice; none where nothing was chosen."""
        text = first(form, self.key)
        if not text or (self.kind == "choice" and text == self.choices[0][0]):
            return []
        if self.kind == "flag":
            return [self.option]
        values = [text]
        if self.kind == "checks":
            values = list(form[self.key])
        elif self.kind == "lines":
            values = [SIGN.sub("=", line.strip()) for line in text.splitlines() if line.strip()]
        elif self.kind == "words":
            values = text.replace(",", " ").split()
        return [word for value in values for word in (self.option, value)]


def _key(flag: str) -> str:
    """Return the name of an input, as --max-seconds is max_seconds."""
    return flag.removeprefix("--").replace("-", "_")


FORMULA = Place(
    Group.DATA, "An input given by a formula in t", "Such as sin(2*t); one that was measured is a column."
)
FIELDS = (
    *(Field(_key(each.flag), each.flag, each.place) for each in DISCOVER.values() if each.place is not None),
    Field("formula", "", FORMULA),  # becomes a part of --force
)
EFFORT = next(field for field in FIELDS if field.key == "effort")  # stands beside the button that searches
ARGUMENT = re.compile(r", or \w+=\w+(?=\))| \(in Python, \w+=\w+\)")  # that says the same in Python
INPUT = re.compile(r"([,;]? )?(?:pass it as )?--force (?:'[^']*'|\S+) if it")
OPTION = re.compile(r"--[a-z][a-z-]*")
WORDS = {  # what the page calls the options of the command
    "--time": "the role “time”",
    "--u": "the role “state”",
    "--states": "the role “state”",
    "--velocity": "the role “its velocity”",
    "--acceleration": "the role “its acceleration”",
    "--sd": "the role “its standard error”",
    "--force": "the role “input”",
    "--dose": "the role “dose”",
    "--run": "the role “run”",
    "--runs": "the role “run”",
    "--edit": "“Edit the data”",
    "--hold": "“Between samples of an input: held until the next”",
    "--no-hold": "“Between samples of an input: straight lines”",
    **{field.option: f"“{field.label}”" for field in FIELDS if field.option},
}


def in_words(message: str) -> str:
    """Return a message of the command with the words of the page in place of its options."""
    plain = INPUT.sub(
        lambda found: f"{'; ' if found[1] else ''}give it the role “input” if it", ARGUMENT.sub("", message)
    )
    return OPTION.sub(lambda found: WORDS.get(found[0], found[0]), plain)


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


def formulas_of(form: Form, names: Sequence[str]) -> dict[str, str]:
    """Return what the columns measure that are formulas of states; empty where that is not said yet."""
    measured = {*roles_of(form, names)["measured"]}
    return {name: first(form, f"measures.{i}") for i, name in enumerate(names) if name in measured}


def as_states(form: Form) -> Form:
    """Return the choices with each column that measures a formula as a state, to draw it."""
    return {key: ["state"] if list(value) == ["measured"] else value for key, value in form.items()}


def command_words(form: Form, names: Sequence[str], edits: Sequence[str]) -> list[str]:
    """Return the options of `gode discover` for what was chosen."""
    chosen = [word for field in FIELDS if field.option for word in field.words(form)]
    return data_words(form, names, edits) + chosen


def data_words(form: Form, names: Sequence[str], edits: Sequence[str]) -> list[str]:
    """Return the options that say what is read from the files."""
    roles = roles_of(form, names)
    words = ["--time", roles["time"][0]] if roles["time"] else []
    hidden = _hidden(first(form, "frame"), roles, names)
    formulas = formulas_of(form, names)
    words += [] if formulas else _signal_words(roles, hidden, wells=bool(first(form, "wells")))
    words += [word for name, text in formulas.items() for word in ("--observe", f"{name} = {text}")]
    inputs = [*roles["input"], *filter(None, [first(form, "formula")])]
    if len(inputs) == 1 and ("--u" in words or formulas):
        words += ["--force", inputs[0]]
    elif inputs:
        n_columns = len(roles["input"])
        words += ["--force", _joined([*_named(inputs[:n_columns], "F"), *inputs[n_columns:]])]
    words += ["--sd", _joined(roles["error"])] if roles["error"] else []
    words += ["--run", roles["run"][0]] if roles["run"] else []
    into = next(iter([*hidden, *roles["state"]]), "")
    words += [word for column in roles["dose"] for word in ("--dose", f"{column}:{into}") if into]
    return words + [word for edit in edits for word in ("--edit", edit)]


def _hidden(frame: str, roles: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[str]:
    """Return the states with an equation that no column measures, of an equation that is known in part."""
    left = LEFT.findall(frame)
    n_hidden = len(left) - len(roles["state"])
    return [name for name in left if name not in names][:n_hidden] if n_hidden > 0 else []


def reading_words(form: Form) -> list[str]:
    """Return the options that say how the files are written."""
    return [word for field in fields_of(Group.WRITTEN) for word in field.words(form)]


def fields_of(group: Group) -> list[Field]:
    """Return the choices of a group."""
    return [field for field in FIELDS if field.place.group is group]


def _signal_words(roles: Mapping[str, Sequence[str]], hidden: Sequence[str], *, wells: bool) -> list[str]:
    """Return the options for the measured signals: one, one in several runs, or those of several states."""
    states, slopes = roles["state"], {role: roles[role] for role in ("velocity", "acceleration")}
    n_states = max(len(states), *map(len, slopes.values()))
    if hidden:
        words = ["--states", _joined([*_named(states, "x"), *(f"{name}={NONE}" for name in hidden)])]
    elif n_states == 1 or (wells and len(states) == n_states):
        words = ["--u", _joined(states) if len(states) > 1 else states[0] if states else NONE]
    else:
        unseen = [f"x{i + 1}={NONE}" for i in range(len(states), n_states)]  # only their slopes were measured
        words = ["--states", _joined([*_named(states, "x"), *unseen])] if n_states else []
    for role, columns in slopes.items():
        if columns:
            missing = [NONE] * (n_states - len(columns))
            several = _joined([*_named(columns, "x"), *missing])
            words += [f"--{role}", several if n_states > 1 else columns[0]]
    return words


def problem_of(form: Form, names: Sequence[str]) -> str:
    """Return what is missing or too much among the roles, in a sentence; empty if nothing is."""
    roles = roles_of(form, names)
    for role in ("time", "run"):
        if len(roles[role]) > 1:
            return f"Two columns are {role}: {' and '.join(roles[role][:2])}. Choose one."
    if not roles["time"]:
        return "No column is time. Choose the one that holds the times."
    for name, text in formulas_of(form, names).items():
        if not text:
            return f"What does {name} measure? Write the formula beside it, such as s*x + offset."
        if not first(form, "frame"):
            return (
                f"{name} is a formula of states: write their equations under “What you know”, “A part of the "
                "equation is known”, such as x' = r*x*(1 - x/K)."
            )
    if not (roles["measured"] or roles["state"] or roles["velocity"] or roles["acceleration"]):
        return "No column is a state. Choose the one that holds the measured signal."
    return ""


def command_text(files: Sequence[str], words: Sequence[str]) -> str:
    """Return the command to type."""
    return " ".join(map(_quoted, ["gode", "discover", *files, *words, "--out", "result"]))


def _quoted(word: str) -> str:
    """Return a word as shells take it: in double quotes where these are safe, which more shells know."""
    if shlex.quote(word) == word or {*word} & {*'"$`\\!'}:
        return shlex.quote(word)
    return f'"{word}"'


def _named(columns: Sequence[str], letter: str) -> list[str]:
    """Return columns as NAME=COLUMN where their own names hold an equals sign, which would end a name."""
    return [f"{letter}{i + 1}={name}" if "=" in name else name for i, name in enumerate(columns)]


def _joined(names: Sequence[str]) -> str:
    """Return columns as one option; one with a comma in it stands in quotes."""
    quoted = ('"{}"'.format(name.replace('"', '""')) if {*',"'} & {*name} else name for name in names)
    return ",".join(quoted)
