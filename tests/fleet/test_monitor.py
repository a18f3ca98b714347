from dataclasses import replace

import numpy as np
import pytest

from gode.fleet.watching import Monitor, Seen, Status, reference_of

USUAL, ERRORS = np.array([-0.2, -4.0]), np.array([0.01, 0.02])
COVARIANCE = np.diag(ERRORS**2) + np.array([[0, 5e-5], [5e-5, 0]])


def stream(n: int, rng, *, shift=(0.0, 0.0), misfit: float = 1.0) -> list[Seen]:
    values = USUAL + np.array(shift) + rng.multivariate_normal([0, 0], COVARIANCE, n)
    bars = tuple(map(tuple, COVARIANCE.tolist()))
    misfits = misfit * (1 + 0.05 * rng.standard_normal(n))
    return [
        Seen(str(i), tuple(v.tolist()), bars, float(m), 100)
        for i, (v, m) in enumerate(zip(values, misfits, strict=True))
    ]


def monitor(first) -> Monitor:
    return Monitor(("u'", "u"), reference_of(first))


def test_a_change_is_told_and_hardly_anything_else():
    false, missed = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        watch = monitor(stream(20, rng))
        told = [watch.tell(seen) for seen in stream(180, rng)]
        false += sum(t.status is not Status.SAME or bool(t.drift) for t in told)
        changed = [watch.tell(seen) for seen in stream(20, rng, shift=(0.0, -0.2))]
        missed += sum(t.status is not Status.CHANGED for t in changed)
    assert false <= 5  # of 1440
    assert missed == 0


def test_the_sentence_names_the_constant(rng):
    watch = monitor(stream(20, rng))
    (told,) = (watch.tell(seen) for seen in stream(1, rng, shift=(0.0, -0.4)))
    assert "multiplying u, usually -4" in told.sentence
    assert "+10" in told.sentence or "+9" in told.sentence


def test_a_reference_with_changed_records_in_it_is_that_of_the_others(rng):
    first = stream(17, rng) + stream(3, rng, shift=(0.0, -1.0))
    found = reference_of(first)
    assert found.constants == pytest.approx(USUAL, abs=0.02)
    told = [Monitor(("u'", "u"), found).tell(seen).status for seen in first]
    assert told[17:] == [Status.CHANGED] * 3
    assert told[:17].count(Status.SAME) >= 16


def test_constants_that_vary_from_record_to_record_are_usual(rng):
    def varied(n):
        moves = 0.2 * rng.standard_normal(n)
        return [
            replace(s, constants=(s.constants[0], s.constants[1] + float(move)))
            for s, move in zip(stream(n, rng), moves, strict=True)
        ]

    watch = monitor(varied(20))
    assert sum(watch.tell(seen).status is Status.CHANGED for seen in varied(100)) <= 3


def test_a_slow_drift_is_told_before_any_record_differs(rng):
    watch = monitor(stream(20, rng))
    told = [watch.tell(seen) for seen in stream(60, rng)]
    assert not any(t.drift for t in told)
    told = [watch.tell(seen) for seen in stream(60, rng, shift=(0.0, -0.04))]
    drifts = [t for t in told if t.drift]
    assert len(drifts) == 1
    assert "drift: the constant of u moves, from -4" in drifts[0].drift[0]


def test_another_law_and_a_bad_file_are_told_as_such(rng):
    watch = monitor(stream(20, rng))
    (told,) = (watch.tell(seen) for seen in stream(1, rng, misfit=2.0))
    assert told.status is Status.LAW
    assert watch.tell(Seen("x", failure="no data")).sentence == "no data"
