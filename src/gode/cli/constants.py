"""The constants of a discovery as they are printed."""

import numpy as np

from gode.cli.app import say
from gode.discovery import Constant, Discovery
from gode.discovery.constants import UNDETERMINED
from gode.discovery.invariants import conserved_words
from gode.discovery.quality import Verdict


def print_constants(found: Discovery) -> None:
    """Print the equation and its constants with their intervals, as written, shared, and in natural forms."""
    say("\n" + "\n".join(f"  {line}" for line in found.equation.lines()) + "\n", style="bold")
    _print_frame(found)
    if found.equation.constants:
        say("with, at 95 % confidence,")
    misled = {interval.name: interval for interval in found.intervals}
    for constant in found.equation.constants:
        say(f"  {misled.get(constant.name) or interval_of(constant)}")
    if misled:
        say("Intervals with two ends or one are from the likelihood, where error bars mislead.")
    print_shared(found)
    if found.quality.verdict is not Verdict.UNSUPPORTED:  # else they mean nothing
        _print_natural(found)


def _print_frame(found: Discovery) -> None:
    """Print the equation with the names that the user gave, and what was found for unknown functions."""
    if found.equation.law.skeleton.parameters:
        given = [text.strip() for text in found.settings.known.frame]
        lines = [*given, *found.equation.functions.values()]
        say("\n".join(f"  {line}" for line in lines) + "\n")


def _print_natural(found: Discovery) -> None:
    """Print the constants of the forms that people use."""
    constants = found.equation.natural
    for form in dict.fromkeys(n.place for n in constants):
        own = [n for n in constants if n.place == form]
        say(f"As {form}: " + ", ".join(map(_natural_words, own)) + ".")


def _natural_words(natural: Constant) -> str:
    """Return the constant of a form with its interval and what it means, or that the data leave it open."""
    if not natural.determined:
        return f"{natural.name} is {UNDETERMINED} ({natural.meaning})"
    shown = f"{natural.name} = {_with_error(natural.value, 1.96 * natural.error)} {natural.unit}".rstrip()
    return f"{shown} ({natural.meaning})"


def print_shared(found: Discovery) -> None:
    """Print the constants that several equations share, and the sums of states that are conserved."""
    law, shared = found.equation.law, found.equation.shared
    if shared:
        stands = "stand" if len(shared) > 1 else "stands"
        where = "both" if len(law.skeleton.states) == 2 else "several"
        say(f"\n{' and '.join(each.name for each in shared)} {stands} in {where} equations:")
        say("\n".join(f"  {line}" for line in found.equation.named_lines()))
    for sentence in [] if found.quality.verdict.is_failure else conserved_words(law):
        say(f"{sentence}.")


def interval_of(constant: Constant) -> str:
    """Return a constant with its 95 % interval and its place, such as 0.631 ± 0.011 multiplying u."""
    half = 1.96 * constant.error
    places = {"1": "standing alone", "inside a function": "inside a function or power"}
    body, comma, equation = constant.place.partition(", in ")
    plain = body if body.startswith("inside") else f"multiplying {body}"
    where = places.get(body, plain) + comma + equation
    shown = f"{_with_error(constant.value, half)} {constant.unit}".rstrip()
    if not constant.determined:
        shown = f"{constant.value:.2g}, {UNDETERMINED},"
    if constant.name and constant.name == constant.place:
        return f"{constant.name} = {shown}"
    return f"{shown} {where}"


def _with_error(value: float, half: float) -> str:
    """Return a number to the second digit of its error."""
    if not np.isfinite(half) or half <= 0:
        return f"{value:.4g}"
    digits = int(np.floor(np.log10(half))) - 1  # decimal place of the second digit of the error
    if -7 <= digits <= 4:
        places_shown = max(-digits, 0)
        return f"{value:.{places_shown}f} ± {half:.{places_shown}f}"
    return f"{value:.4g} ± {half:.2g}"
