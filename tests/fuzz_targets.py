"""What a fuzzer throws bytes at: the readers of what people write. Only our own errors may come out."""

import json
import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from gode.data.dataset import with_units
from gode.data.from_arrays import make_dataset
from gode.discovery.framing import frame_of
from gode.equation import parse_equation, parse_skeleton
from gode.errors import GodeError
from gode.grammar import Grammar, generate, sample
from gode.options.checks import bounds_of, fixed_values, units_of
from gode.report.record import discovery_of
from gode.search.assumptions import make_known
from gode.tables.guess_roles import Roles
from gode.tables.runs import runs_of_tables
from gode.tables.text import parse_table


def expression(data: bytes) -> None:
    """Read an equation, and read what is written of it again."""
    text = data.decode("utf-8", "replace")
    try:
        parse_skeleton(text)
        equation = parse_equation(text)
    except GodeError:
        return
    assert all(math.isfinite(c) for c in equation.constants), text
    equation.latex()
    with suppress(GodeError):  # one that divides by zero is read, but has no value and may not read back
        parse_equation(str(equation))


def grammar(data: bytes) -> None:
    """Read a grammar, write it, draw a sentence of it."""
    try:
        found = Grammar.from_text(data.decode("utf-8", "replace"), source="fuzzed")
        derivation = sample(found, rng=np.random.default_rng(0))
    except GodeError:
        return
    assert Grammar.from_text(found.text(), source="again").rules == found.rules
    generate(found, derivation)


def table(data: bytes) -> None:
    """Read a table of measurements and make runs of it."""
    try:
        found = runs_of_tables([parse_table(data, "fuzzed.csv")], Roles())
        columns = [found.column(name) for name in ("t", "u", "velocity", "acceleration", "force")]
        plain = (None if c is None else (c[0] if len(c) == 1 else c) for c in columns)
        dataset = make_dataset(*plain, None)
    except GodeError:
        return
    for run in dataset.runs:
        assert np.all(np.diff(run.t) > 0)
        assert not np.isinf(run.observed).any()


def record(data: bytes) -> None:
    """Read a saved discovery and simulate what it holds."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return
    try:
        found = discovery_of(content)
    except GodeError:
        return
    str(found)
    found.simulate()


def known(data: bytes) -> None:
    """Read what is known of a law: a frame, values, bounds, units and assumptions, apart by a bar."""
    words = data.decode("utf-8", "replace").split("|")
    frame, fixed, bounds, units, assumed = (*words, "", "", "", "", "")[:5]
    lists = [tuple(each.split("\n")) if each else () for each in (fixed, bounds, units, assumed)]
    t = np.linspace(0.0, 1.0, 12)
    try:
        found = make_known(frame, fixed_values(lists[0]), bounds_of(lists[1]), units_of(lists[2]), lists[3])
        dataset = with_units(make_dataset(t, np.c_[t, t**2], names=["x", "y"]), dict(found.units))
        frame_of(found, dataset)
    except GodeError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    "expression": expression,
    "grammar": grammar,
    "table": table,
    "record": record,
    "known": known,
}
