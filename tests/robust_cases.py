"""Random tables and options for `discover`: mostly sound, each with a little of what goes wrong."""

import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import gode
from gode.errors import GodeError

CPU_LIMIT = 240.0  # seconds of work after which a call counts as hanging
PLAIN = {  # what to leave out so that a search is over soon
    1: ["t", "exp", "log", "sin", "cos", "tanh", "abs", "/"],
    2: ["t", "exp", "log", "sin", "cos", "tanh", "abs", "sign", "/"],
}


def signals(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return one of the signals that people measure, or an ugly one, at n times in [0, 1]."""
    x = np.linspace(0.0, 1.0, n)
    shapes = [
        np.zeros(n),
        np.full(n, 0.1),
        2 * x - 0.3,
        np.exp(-3 * x),
        1 / (1 + 9 * np.exp(-8 * x)),
        np.cos(9 * x) * np.exp(-x),
        1 / (1.02 - x),
        np.sign(np.sin(12 * x)),
        (x > 0.5).astype(float),
        rng.standard_normal(n),
        np.where(np.arange(n) == n // 2, 1.0, 0.0),
        np.exp(60 * x),
    ]
    return shapes[rng.integers(len(shapes))] + rng.choice([0.0, 0.02]) * rng.standard_normal(n)


def sometimes(rng: np.random.Generator, share: float, *choices: Any, usual: Any) -> Any:
    """Return one of `choices` in this share of the calls, `usual` otherwise."""
    return choices[rng.integers(len(choices))] if rng.random() < share else usual


def damaged(rng: np.random.Generator, values: np.ndarray, share: float) -> Any:
    """Return `values`, or in this share of the calls something worse."""
    if rng.random() >= share:
        return values
    at = rng.integers(max(len(values), 1), size=3)
    worse = values.copy()
    match rng.integers(9):
        case 0 if len(values):
            worse[at] = np.nan
        case 1 if len(values):
            worse[at[0]] = rng.choice([np.inf, -np.inf])
        case 2:
            return np.full(len(values), np.nan)
        case 3:
            return values[:-1]
        case 4:
            return values[:, None]
        case 5:
            return [str(v) for v in values[:-1]] + ["x"]
        case 6:
            return np.column_stack([values, values])
        case 7:
            return values.astype(complex)
        case _:
            return [10**400, *values[1:].tolist()]
    return worse


def times(rng: np.random.Generator, n: int) -> Any:
    """Return n times in some unit, sometimes in no good order."""
    t = np.linspace(0.0, 1.0, n)
    if rng.random() < 0.3 and n > 2:
        t = np.sort(rng.random(n))
    t = t * 10.0 ** rng.uniform(-12, 12) * rng.choice([1.0, 1e-3]) + rng.choice([0.0, 0.0, 1.0, -5.0])
    match rng.integers(16):
        case 0:
            t = t[::-1]
        case 1 if n > 1:
            t[1] = t[0]
        case 2 if n > 1:
            t[1] = np.nextafter(t[0], np.inf)
        case 3:
            return t.tolist()
    return damaged(rng, t, 0.05)


def table(rng: np.random.Generator, most: int) -> dict[str, Any]:
    """Return times and channels, in units between 1e-12 and 1e12."""
    n = int(sometimes(rng, 0.15, 0, 1, 2, 4, 5, usual=rng.integers(6, most + 1)))
    size, level = 10.0 ** rng.uniform(-12, 12), rng.choice([0.0, 0.0, 1.0, 100.0])
    names = ["u", "velocity", "acceleration"]
    chosen = sometimes(rng, 0.3, names[1:2], names[2:], names[:2], names, names[1:], [], usual=names[:1])
    out: dict[str, Any] = {"t": times(rng, n)}
    for name in chosen:
        out[name] = damaged(rng, size * (level + signals(rng, n)), 0.12)
        size *= 10.0 ** rng.uniform(-3, 3)
    forces = [
        np.ones(n),
        np.ones(max(n - 1, 0)),
        "cos(t)",
        "cos(u)",
        "C*t",
        "1/0",
        "t^",
        np.cos,
        "exp(1e9*t)",
    ]
    forces += [lambda s: "x", lambda s: np.nan, 3.0, [], np.linspace(0.0, 1.0, n)]
    out["force"] = sometimes(rng, 0.2, *forces, usual=None)
    start = [[1.0], [0.0, 1.0], [1.0, 2.0, 3.0], [np.nan, 1.0], [], 2.0, "x", [[1.0]], [np.inf], [1e300]]
    out["initial"] = sometimes(rng, 0.2, *start, usual=None)
    return out


def options(rng: np.random.Generator, plain: bool) -> dict[str, Any]:
    """Return what else `discover` takes, sometimes in contradiction; `plain` keeps the search small."""
    order = int(rng.integers(1, 3))
    grammar = {1: "first-order", 2: "second-order"}
    few = [["log"], ["tanh"], "t", ["nonsense"], 5, [1], ["u"], ["C"]]
    return {
        "order": sometimes(rng, 0.05, 0, 3, "1", 1.0, [1], None, True, usual=order),
        "effort": sometimes(rng, 0.03, "heroic", [], None, usual="quick"),
        "preset": sometimes(rng, 0.02, "best", None, usual="default"),
        "grammar": sometimes(
            rng, 0.05, "nowhere", "b1", 5, grammar[3 - order], usual=grammar[order] if plain else None
        ),
        "start": sometimes(
            rng, 0.15, "u' = C*u", "u'' = C*u", "u' = C*F", "u' = 2u", "__import__", 5, "", usual=None
        ),
        "without": sometimes(rng, 0.1, *few, usual=PLAIN[order] if plain else ()),
        "seed": sometimes(rng, 0.03, -1, 1.5, "x", None, usual=int(rng.integers(100))),
    }


def random_call(seed: int, *, plain: bool, most: int = 60) -> dict[str, Any]:
    """Return the arguments of one call of `discover`."""
    rng = np.random.default_rng([2025, seed])
    given = {**table(rng, most), **options(rng, plain)}
    if rng.random() < 0.1:
        given |= {"t": [given["t"]] * 2, "u": [given.get("u")] * 2}
    return given


@contextmanager
def within_cpu_limit() -> Iterator[None]:
    """Raise TimeoutError when the work inside takes too much of the processor's time."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {CPU_LIMIT} s of work")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def outcome(given: dict[str, Any]) -> "gode.Discovery | str":
    """Return what `discover` finds, or the sentence of its error; warnings are errors."""
    with warnings.catch_warnings(), within_cpu_limit():
        warnings.simplefilter("error")
        try:
            return gode.discover(**given)
        except GodeError as error:
            return str(error)


def flaw(found: "gode.Discovery | str") -> str | None:
    """Return what is wrong with an outcome, None for a sound result or a sentence."""
    if isinstance(found, str):
        sentence = found.split("\n  ")[0]  # an equation is shown with a caret under the place
        return None if sentence and "\n" not in sentence and len(found) < 1000 else f"no sentence: {found!r}"
    numbers = [c.value for c in found.equation.constants]
    if not np.all(np.isfinite([*numbers, *found.candidates[0].equation.constants, found.candidates[0].rms])):
        return f"not finite: {found.equation} {numbers}"
    if not np.all(np.isfinite(found.candidates[0].initial)) or not np.isfinite(found.candidates[0].criterion):
        return f"not finite: initial values or criterion of {found.equation}"
    solved = found.simulate()
    if solved.failure is not None or not np.all(np.isfinite(solved.u)):
        return f"no solution along the data: {found.equation}: {solved.failure}"
    gode.parse_equation(str(found.equation))
    return None if len(found.equations) else "an empty table of equations"


def timed(given: dict[str, Any]) -> tuple["gode.Discovery | str", float]:
    """Return the outcome of a call and the processor's time it took."""
    begun = time.process_time()
    found = outcome(given)
    return found, time.process_time() - begun
