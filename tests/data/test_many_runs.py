"""Many runs are smoothed with hyperparameters that some of them lend to the others."""

import time

import numpy as np
import pytest

from gode.data import make_run
from gode.data.smoothing import evenly, smooth, smooth_runs

T = np.linspace(0.0, 6.0, 20)


def _runs(n):
    rng = np.random.default_rng(0)
    levels = rng.uniform(4.0, 9.0, n)
    clean = [k / (1 + 9 * np.exp(-1.1 * T)) for k in levels]
    return [make_run(T, u=u + 0.1 * rng.standard_normal(len(T))) for u in clean], clean


def test_runs_that_borrow_are_as_smooth_as_those_tuned_alone():
    runs, clean = _runs(48)
    begin = time.process_time()
    together = smooth_runs(runs, [run.initial for run in runs])
    both = time.process_time() - begin
    borrowed = [i for i in range(48) if i not in {*range(4), *evenly(48, 20)}][:6]
    alone = [smooth(runs[i]) for i in borrowed]
    errors = [np.std(together[i].values[0] - clean[i]) for i in borrowed]
    assert np.mean(errors) < 1.3 * np.mean(
        [np.std(s.values[0] - clean[i]) for s, i in zip(alone, borrowed, strict=True)]
    )
    assert [together[i].noise[0] for i in borrowed] == pytest.approx([s.noise[0] for s in alone], rel=0.5)
    assert both < 60
