"""Systems of any size, length and speed, with gaps, inputs and several runs: an answer or one sentence."""

import os
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gode
from gode.errors import GodeError
from gode_bench.measured import MEASURED, channels, textbook_of

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
EXAMPLES = int(os.environ.get("GODE_EXAMPLES", "12"))  # of the sweep, each some seconds; every night more
KINDS = ("linear", "prey", "chaos", "walk", "steps", "growth")


@dataclass(frozen=True)
class Case:
    """What is measured, and how."""

    kind: str
    states: int
    lengths: tuple[int, ...]  # rows of each run
    cycles: float
    missing: float  # share of the cells
    noise: float
    forced: bool
    order: int
    individual: bool | str
    seed: int


def cases(*, rows, states, runs, cycles):
    return st.builds(
        Case,
        kind=st.sampled_from(KINDS),
        states=st.integers(1, states),
        lengths=st.lists(st.integers(5, rows), min_size=1, max_size=runs).map(tuple),
        cycles=st.floats(1.0, cycles),
        missing=st.sampled_from([0.0, 0.05, 0.3]),
        noise=st.sampled_from([0.0, 0.01, 0.2]),
        forced=st.booleans(),
        order=st.sampled_from([1, 2]),
        individual=st.sampled_from([False, True, "auto"]),
        seed=st.integers(0, 1000),
    )


def rate(kind, x, force):
    """Return dx/dt of the states (d,)."""
    others = np.roll(x, -1)
    signs = np.where(np.arange(len(x)) % 2, -1.0, 1.0)
    if kind == "linear":
        return signs * others - 0.05 * x + force
    if kind == "prey":
        return signs * x * (1.0 - others) + 0.1 * force
    if kind == "growth":
        return x * (1.0 - x - 0.3 * others) + 0.1 * force
    y, z = (np.append(x, [1.0, 20.0])[i] for i in (1, 2))
    lorenz = np.array([10 * (y - x[0]), x[0] * (28 - z) - y, x[0] * y - 8 / 3 * z, x[0] - x[-1]])
    return lorenz[: len(x)] + force


def signals(case, t, force, rng):
    """Return the states (n, d) of one run."""
    d, n = case.states, len(t)
    if case.kind == "walk":
        return np.cumsum(rng.standard_normal((n, d)), axis=0)
    if case.kind == "steps":
        return np.floor(3 * np.sin(np.outer(t, np.arange(1, d + 1))))
    fine = np.linspace(0.0, t[-1], min(int(t[-1] / 0.05) + 2, 20_000))
    step, x, out = fine[1], rng.uniform(0.2, 1.5, d), []
    for now in np.interp(fine, t, force) * case.forced:
        out.append(x)
        middle = x + 0.5 * step * rate(case.kind, x, now)
        x = np.clip(np.nan_to_num(x + step * rate(case.kind, middle, now)), -1e3, 1e3)
    return np.column_stack([np.interp(t, fine, row) for row in np.transpose(out)])


def drawn(case):
    """Return times, states and options of a case."""
    rng, times, states, forces = np.random.default_rng(case.seed), [], [], []
    for n in case.lengths:
        end = 2 * np.pi * case.cycles
        t = np.linspace(0.0, end, n) if rng.random() < 0.7 else np.sort(rng.uniform(0.0, end, n))
        force = np.sign(np.sin(t / case.cycles)) if rng.random() < 0.5 else rng.standard_normal(n)
        u = signals(case, t, force, rng)
        u = u + case.noise * (np.std(u) + 1e-3) * rng.standard_normal(u.shape)
        u[rng.random(u.shape) < case.missing] = np.nan
        times.append(t)
        states.append(u if case.states > 1 else u[:, 0])
        forces.append(force)
    options = {"order": case.order}
    if len(times) > 1 and case.individual:
        options["individual"] = case.individual
    if case.forced:
        options["force"] = forces if len(times) > 1 else forces[0]
    return (times, states, options) if len(times) > 1 else (times[0], states[0], options)


def check(case, seconds):
    t, u, options = drawn(case)
    with suppress(GodeError):
        found = gode.discover(t, u, effort="quick", max_seconds=seconds, **options)
        assert str(found.equation)
        assert found.quality.words


@given(cases(rows=30, states=2, runs=2, cycles=8.0))
@settings(max_examples=3, derandomize=True, deadline=None)
def test_a_small_system_ends_in_an_answer_or_a_sentence(case):
    check(case, 0.5)


@pytest.mark.slow
@given(cases(rows=2000, states=4, runs=4, cycles=200.0))
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None)
def test_any_system_ends_in_an_answer_or_a_sentence(case):
    check(case, 2.0)


@pytest.mark.parametrize("states", [1, 3])
def test_five_rows_have_an_answer_when_the_time_is_over_at_once(states):
    case = Case("growth", states, (5,), 1.0, 0.0, 0.0, False, 1, False, 0)
    t, u, _ = drawn(case)
    assert len(gode.discover(t, u, effort="quick", max_seconds=1e-3).equation.lines()) == states


FORTY = [
    Case(
        kind=KINDS[i % len(KINDS)],
        states=2 + i % 3,
        lengths=((6, 9, 14, 25, 40, 60)[i % 6],) * (1 + i % 4 // 2),
        cycles=(0.7, 2.0, 6.0)[i // 6 % 3],
        missing=(0.0, 0.1)[i // 2 % 2],
        noise=(0.01, 0.05)[i // 5 % 2],
        forced=i % 7 == 0,
        order=1,
        individual=False,
        seed=i,
    )
    for i in range(40)
]


@pytest.mark.slow
@pytest.mark.parametrize("case", FORTY, ids=lambda case: f"{case.kind}-{case.seed}")
def test_a_short_record_ends_in_an_answer_or_a_sentence(case):
    check(case, 2.0)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the measured records are not beside this checkout")
@pytest.mark.parametrize("number", range(len(MEASURED)), ids=lambda i: f"{i}-{MEASURED[i].name}")
def test_a_measured_record_has_an_answer_and_its_textbook_law_can_be_fitted(number):
    record = MEASURED[number]
    t, data, force = channels(record, SHARED / f"{record.name}.csv")
    options = {} if force is None else {"force": force if len(t) > 1 else force[0]}
    signals = t if len(t) > 1 else t[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gode.discover(signals, data, order=record.order, effort="quick", max_seconds=5, **options)
        fitted = gode.fit(textbook_of(record), signals, data, **options)
    assert str(found.equation)
    assert str(fitted.equation)
