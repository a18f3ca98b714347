"""Changes that may help where a result is no good one, each a button that makes a new run beside the old."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gode.data.dataset import unit_of
from gode.discovery import Discovery
from gode.discovery.quality import Verdict
from gode.studio.form import FIELDS
from gode.studio.runs import Job

# An option with its value in the sentence of a cause: --order 2, or (--individual all, or individual=True)
OPTION = re.compile(r"--(?P<flag>[a-z][a-z-]*) (?P<value>'[^']*'|\"[^\"]*\"|[^\s,;)]+)")
SAID = re.compile(
    r"(?:[:,] ?| \()--[a-z][a-z-]* (?:'[^']*'|\"[^\"]*\"|[^\s,;)]+)(?:[^;()]*\)|, in Python [^;]*)?"
)
KEYS = {field.option.removeprefix("--"): field for field in FIELDS if field.option}
BUTTONS = {  # by option: what the button says, and what the new run is called
    "order": ("Search an equation of order {}", "order {}"),
    "individual": ("Give each run constants of its own", "own constants"),
    "force": ("Use {} as an input", "with {}"),
    "edit": ("{}", "{}"),
    "delay": ("Let the {} act late", "late {}"),
    "hidden": ("Allow {}", "with a hidden quantity"),
}
HIDDEN = {"1": "a quantity that was not measured", "2": "two quantities that were not measured"}
MAX_DRIVING = 2  # columns that are offered as an input
USUAL = ("Search with {}", "{}")


@dataclass(frozen=True)
class Remedy:
    """One change: what speaks for it, the button, what the new run is called, and the choices that differ."""

    words: str
    button: str
    called: str
    changes: tuple[tuple[str, str], ...]


def remedies(found: Discovery, job: Job, columns: Sequence[str] = ()) -> list[Remedy]:
    """Return the changes that the causes name, and choices that were not made; none for a good result.

    Args:
        columns: those of numbers that could be inputs, as they have no role or are one of several states.
    """
    unit = unit_of(found.prepared.dataset, "t")
    out = [
        _of_option(_said(cause), option["flag"], option["value"].strip("'\""), unit)
        for cause in found.causes
        for option in OPTION.finditer(cause)
    ]
    if found.quality.verdict is Verdict.GOOD:
        return out
    words, known = {*job.words}, {key for each in out for key, _ in each.changes}
    if len(found.prepared.dataset.runs) > 1 and not found.settings.individual and "individual" not in known:
        out.append(_of_option("", "individual", "all"))
    if not {"auto", "--frame"} & words and "order" not in known:
        out.append(Remedy("", "Try both orders", "both orders", (("order", "auto"),)))
    if not {"--hidden", "--frame"} & words and "hidden" not in known:
        out.append(_of_option("", "hidden", "1"))
    named = {value for each in out for key, value in each.changes if key == "input"}
    out += [_of_option("", "force", name) for name in columns if name not in named][:MAX_DRIVING]
    is_searched = bool(found.settings.grammar) or "--frame" not in words  # not a whole law that was fitted
    if "thorough" not in words and is_searched:
        out.append(Remedy("", "Search with more effort", "more effort", (("effort", "thorough"),)))
    return out


def unchanged(found: Discovery) -> list[str]:
    """Return the causes that name no change that a button could make."""
    return [cause for cause in found.causes if not OPTION.search(cause)]


def advice(found: Discovery) -> list[str]:
    """Return what to try by hand where the result is no good one."""
    if found.quality.verdict is Verdict.GOOD:
        return []
    dataset = found.prepared.dataset
    tries = []
    if not dataset.inputs:
        tries.append("If something drives the system, give it as an input: a column or a formula.")
    tries.append("If another signal was measured that takes part, add it as a state.")
    return [*tries, "Crop what does not belong to the experiment, and drop points that went wrong."]


def _said(cause: str) -> str:
    plain = SAID.sub("", cause)
    return f"{plain[0].upper()}{plain[1:]}."


def _of_option(words: str, flag: str, value: str, unit: str = "") -> Remedy:
    """Return the button for an option.

    Args:
        unit: of time, which an edit of times does not name.
    """
    button, called = BUTTONS.get(flag, USUAL)
    key = {"force": "input", "edit": "edit"}.get(flag) or (KEYS[flag].key if flag in KEYS else flag)
    shown = value if flag in BUTTONS else f"{KEYS[flag].label.lower()}: {value}" if flag in KEYS else value
    shown = (
        f"{shown} {unit}".rstrip()
        if flag == "edit"
        else HIDDEN.get(shown, shown)
        if flag == "hidden"
        else shown
    )
    told = button.format(shown)
    return Remedy(words, f"{told[0].upper()}{told[1:]}", called.format(shown), ((key, value),))
