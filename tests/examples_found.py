"""Discoveries that several tests look at: each is made once per process."""

from functools import cache

import numpy as np

import gode
from gode.data.example import load_example
from gode.data.from_arrays import make_dataset
from gode.discovery import Discovery
from gode.discovery.api import discover_in
from gode.discovery.options import Options
from gode.search.workers import Start
from gode.selection import Candidate
from gode.solve import solve

SMALL = {"effort": "quick", "grammar": "first-order", "without": ("t", "exp", "log", "sin", "cos", "tanh")}


def found_growth() -> Discovery:
    """The example of the package, with little effort: many candidates."""
    return growth_and_memo()[0]


@cache
def growth_and_memo() -> tuple[Discovery, dict[Start, Candidate | None]]:
    """The same with all the fits that were made for it."""
    example = load_example("growth")
    memo: dict[Start, Candidate | None] = {}
    return discover_in(make_dataset(example.t, example.u), Options(**SMALL), memo=memo), memo


@cache
def fitted_oscillator() -> Discovery:
    """Two runs of a forced oscillator with gaps, known initial values and a callable input: one candidate."""
    rng = np.random.default_rng(5)
    times = [np.linspace(0.0, 6.0, 60), np.linspace(0.0, 4.0, 41)]
    truth = gode.parse_equation("u'' + 0.3*u' + 4*u = F")
    runs = [solve(truth, t, [1.0, -0.5 * i], inputs={"F": np.sin}) for i, t in enumerate(times)]
    u = [run.u + 0.01 * rng.standard_normal(len(run.u)) for run in runs]
    u[0][7] = np.nan
    velocity = [np.where(np.arange(len(run.t)) % 3, np.nan, run.du) for run in runs]
    initial = [[1.0, 0.0], [1.0, np.nan]]
    text = "u'' + C*u' + C*u = F"
    return gode.fit(text, times, u, velocity=velocity, force=np.sin, initial=initial)
