"""What was chosen on the page, as words of the command `gode discover`.

`FIELDS` is the one place where a new option of the command gets its place on the page.
"""

import re
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
SIGN = re.compile(r"\s*=\s*")
Form = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Field:
    """A choice on the page: its label, its option, and how its text becomes words of the command."""

    key: str
    label: str
    option: str
    help: str = ""
    kind: str = (
        "text"  # text, lines (one value a line), words (apart by commas or spaces), choice, checks, flag
    )
    choices: tuple[tuple[str, str], ...] = ()  # value and label, the first is the default; or suggestions

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


LAW = (
    Field(
        "order", "Order of the equation", "--order",
        "2 means that it rules the acceleration, as in mechanics.", "choice",
        (("", "1; 2 for accelerations"), ("1", "1"), ("2", "2"), ("auto", "try both")),
    ),
    Field("without", "Functions that cannot occur", "--without", "Such as log exp sin t.", "words"),
    Field("start", "A guess of the equation", "--start", "Such as u'' = C*u + C*u'."),
    Field(
        "hidden", "Quantities that act but were not measured", "--hidden",
        "Their number, names such as w, or auto to compare 0, 1 and 2; empty for none.",
        choices=(("1", "one"), ("2", "two"), ("auto", "compare none, one and two")),
    ),
    Field("assume", "The law keeps", "--assume", kind="checks"),  # the engine's own table of assumptions
)  # fmt: skip
FRAME = (
    Field(
        "frame", "The equation as far as it is known", "--frame",
        "Letters are constants to fit, f(...) is an unknown function, ? anything: "
        "u'' = -9.81*sin(u) - f(u'). Several states have an equation each, with semicolons between.",
    ),
    Field("fix", "Constants whose values are known", "--fix", "One a line: K = 500", "lines"),
    Field(
        "bounds", "Bounds and signs of constants", "--bounds",
        "One a line, least and largest with a colon, either may be missing: r = 0:", "lines",
    ),
)  # fmt: skip
DATA = (
    Field(
        "initial", "Known initial values", "--initial",
        "u(t0), or u(t0),u'(t0) for order 2; once for all runs, or a line for each.", "lines",
    ),
    Field(
        "units", "Units", "--units",
        "One a line: t = h. Laws that would add metres to seconds are left out.", "lines",
    ),
    Field(
        "formula", "An input given by a formula in t", "",
        "Such as sin(2*t); one that was measured is a column.",
    ),
    Field(
        "interpolation", "Between samples of an input", "--interpolation", "", "choice",
        (("auto", "as the data suggest"), ("hold", "held until the next"), ("linear", "straight lines"),
         ("cubic", "smooth curve")),
    ),
    Field(
        "keep_outliers", "Readings far from all others", "--keep-outliers", "", "flag",
        (("", "left out, and told"), ("keep", "fitted, too")),
    ),
    Field(
        "individual", "Constants that each run has for itself", "--individual",
        "all, auto for those that need it, or names such as K; empty if runs are alike.",
        choices=(("all", "all constants"), ("auto", "those that need it")),
    ),
)  # fmt: skip
WRITTEN = (
    Field("header", "Line of the column names", "--header", "From 1; 0 if there is none."),
    Field("skip", "Lines to leave out at the start", "--skip"),
    Field(
        "decimal", "Decimal sign", "--decimal", "", "choice",
        (("", "as the numbers suggest"), (".", "point"), (",", "comma")),
    ),
    Field(
        "missing", "Words in cells without a reading", "--missing",
        "Besides NA, n.d., <0.05, OVRFLW; text for any text.", "words",
    ),
)  # fmt: skip
SEARCH = (
    Field(
        "effort", "Effort", "--effort", "", "choice",
        (("normal", "normal: minutes"), ("quick", "quick: half a minute"), ("thorough", "thorough: long")),
    ),
    Field(
        "max_seconds", "End after this many seconds", "--max-seconds",
        "With the best so far; empty for no limit.",
    ),
    Field("seed", "Seed", "--seed", "Same seed, same answer."),
)  # fmt: skip
FIELDS = (*LAW, *FRAME, *DATA, *WRITTEN, *SEARCH)
ARGUMENT = re.compile(r", or \w+=\w+(?=\))| \(in Python, \w+=\w+\)")  # that says the same in Python
OPTION = re.compile(r"--[a-z][a-z-]*")
WORDS = {  # what the page calls the options of the command
    "--time": "the role “time”",
    "--u": "the role “state”",
    "--states": "the role “state”",
    "--velocity": "the role “velocity of the state”",
    "--acceleration": "the role “acceleration of the state”",
    "--force": "the role “known input”",
    "--run": "the role “run”",
    "--runs": "the role “run”",
    "--edit": "“Edit the data”",
    "--hold": "“Between samples of an input: held until the next”",
    "--no-hold": "“Between samples of an input: straight lines”",
    **{field.option: f"“{field.label}”" for field in FIELDS if field.option},
}


def in_words(message: str) -> str:
    """Return a message of the command with the words of the page in place of its options."""
    plain = ARGUMENT.sub("", message)
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


def command_words(form: Form, names: Sequence[str], edits: Sequence[str]) -> list[str]:
    """Return the options of `gode discover` for what was chosen."""
    chosen = [word for field in FIELDS if field.option for word in field.words(form)]
    return data_words(form, names, edits) + chosen


def data_words(form: Form, names: Sequence[str], edits: Sequence[str]) -> list[str]:
    """Return the options that say what is read from the files."""
    roles = roles_of(form, names)
    words = ["--time", roles["time"][0]] if roles["time"] else []
    words += _signal_words(roles, wells=bool(first(form, "wells")))
    inputs = [*roles["input"], *filter(None, [first(form, "formula")])]
    if len(inputs) == 1 and "--u" in words:
        words += ["--force", inputs[0]]
    elif inputs:
        n_columns = len(roles["input"])
        words += ["--force", _joined([*_named(inputs[:n_columns], "F"), *inputs[n_columns:]])]
    words += ["--run", roles["run"][0]] if roles["run"] else []
    return words + [word for edit in edits for word in ("--edit", edit)]


def reading_words(form: Form) -> list[str]:
    """Return the options that say how the files are written."""
    return [word for field in WRITTEN for word in field.words(form)]


def _signal_words(roles: Mapping[str, Sequence[str]], *, wells: bool) -> list[str]:
    """Return the options for the measured signals: one, one in several runs, or those of several states."""
    states, slopes = roles["state"], {role: roles[role] for role in ("velocity", "acceleration")}
    n_states = max(len(states), *map(len, slopes.values()))
    if n_states == 1 or (wells and len(states) == n_states):
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
    if not (roles["state"] or roles["velocity"] or roles["acceleration"]):
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
