"""Speed of the engine, with a baseline in the same run, since ratios depend little on the machine."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gode.arrays import Float
from gode.choices import EffortName
from gode.data import columns_of_run, make_run, smooth_gp
from gode.equation import Skeleton, parse_equation
from gode.errors import ConfigError
from gode.fitting import fit_constants, residual_problem
from gode.grammar import load_grammar
from gode.library import draw_library
from gode.model import load_model
from gode.solve import SolveConfig, solve
from gode_bench import baselines
from gode_bench.jobs import Job, measured
from gode_bench.methods import METHODS, Task
from gode_bench.problems import problem
from gode_bench.score import relative_error
from gode_bench.tables import TextTable

SAMPLES = 120
PASSES = 3  # of which the fastest counts
SOLVES = (
    ("u' = 0.79*u - 0.0106*u^2", (7.3,), 25.0),
    ("u' = 0.4*u*(1 - u/95) - u^2/(1 + u^2)", (44.3,), 10.0),
    ("u' = 0.21 - sin(u)", (-2.74,), 29.0),
    ("u'' = -0.5*u' - 2.5*u + sin(0.5*t)", (0.0, 3.0), 30.0),
    ("u'' = -0.2*u' - 1.4*u - 5*u^3 + 0.2*cos(2*t)", (0.0, 1.5), 30.0),
)
# Equations of first and second order, growth, waves, poles and an oscillator, which a normal search finds.
DISCOVERIES = ("ID1", "ID8", "ID19", "LODE4", "NLODE2", "NLODE4")
FIRST_FIT = """
import time; start = time.perf_counter()
import gode
imported = time.perf_counter() - start
import numpy as np
from gode.data import columns_of_run
from gode.fitting import fit_constants, residual_problem
t = np.linspace(0, 1, 50)
problem = residual_problem(columns_of_run(t, np.exp(t), np.exp(t)))
fit_constants(gode.parse_skeleton("u' = C*u + C*sin(C*u)"), problem)
print(imported, time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Metric:
    """A measured rate or size, and that of the baseline if there is one."""

    name: str
    value: float
    unit: str
    baseline: str = ""
    base: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Our rate divided by that of the baseline."""
        return None if not self.base else self.value / self.base


def tables(rows: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """Return the measurements, which are given as the fields of Metric."""
    lines = []
    for row in rows:
        metric = Metric(**{name: value for name, value in row.items() if name != "ratio"})
        base = "" if metric.base is None else f"{metric.baseline}: {_rounded(metric.base)}"
        ratio = "" if metric.ratio is None else _rounded(metric.ratio)
        lines.append((metric.name, f"{_rounded(metric.value)} {metric.unit}", base, ratio, metric.note))
    return [TextTable("", ("measured", "gode", "baseline", "ratio", "note"), tuple(lines))]


def _rounded(value: float) -> str:
    """Return three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):,.12g}"


def measure(what: Sequence[str], *, quick: bool) -> Iterator[Metric]:
    """Yield the measurements named, or all if none is.

    Raises:
        ConfigError: if there is no such measurement.
    """
    for name in what:
        if name not in MEASUREMENTS:
            raise ConfigError(f"there is no measurement {name!r}; choose from {', '.join(MEASUREMENTS)}")
    for name in what or MEASUREMENTS:
        yield from MEASUREMENTS[name](quick)


def _fits(quick: bool) -> Iterator[Metric]:
    t, u, du = _signal()
    du = du + 0.02 * np.std(du) * np.random.default_rng(3).standard_normal(len(du))
    problem = residual_problem(columns_of_run(t, u, du))
    skeletons = _skeletons(50 if quick else 1000, seed=11)
    fit_constants(skeletons[0], problem)
    rates = []
    for _ in range(PASSES):
        fresh = [Skeleton(s.tree) for s in skeletons]  # computing their terms is timed, too
        start = time.perf_counter()
        fits = [fit_constants(s, problem) for s in fresh]
        rates.append(len(fits) / (time.perf_counter() - start))
    if not baselines.has_symengine():
        yield Metric("fits", max(rates), "a second", note="baseline not installed: pip install symengine")
        return
    start = time.perf_counter()
    theirs = [baselines.nelder_mead(s, t, u, du) for s in skeletons]
    rate = len(skeletons) / (time.perf_counter() - start)
    pairs = list(zip([f.loss for f in fits], theirs, strict=True))
    good = np.mean([a <= b * (1 + 1e-3) + 1e-12 or not np.isfinite(b) for a, b in pairs])
    note = f"optimum as good or better on {100 * good:.1f} %"
    yield Metric("fits", max(rates), "a second", "SymEngine and Nelder-Mead", rate, note)


def _solves(quick: bool) -> Iterator[Metric]:
    config = SolveConfig(rtol=1e-6)
    repeats = 3 if quick else 50
    rates = []
    for text, initial, span in SOLVES:
        equation, t = parse_equation(text), np.linspace(0.0, span, 150)
        solver = baselines.scipy_solver(equation)
        error = np.max(np.abs(solve(equation, t, initial, config=config).u - solver(t, initial, 1e-10)))
        ours = _rate(partial(solve, equation, t, initial, config=config), repeats)
        theirs = _rate(partial(solver, t, initial, 1e-6), max(1, repeats // 10))
        rates.append((ours, theirs))
        yield Metric(f"solves of {text}", ours, "a second", "solve_ivp", theirs, f"largest error {error:.1e}")
    ours, theirs = (float(np.exp(np.mean(np.log(column)))) for column in zip(*rates, strict=True))
    yield Metric("solves, geometric mean", ours, "a second", "solve_ivp", theirs)


def _decode(quick: bool) -> Iterator[Metric]:
    n = 64 if quick else 1000
    rng = np.random.default_rng(0)
    rates: dict[str, list[float]] = {"decode": [], "encode": []}
    for name in ("b1", "b1-paper"):
        space = load_model(name)
        z = rng.standard_normal((n, space.dimension))
        derivations = space.decode_derivations(z)
        rates["decode"].append(n * _rate(partial(space.decode, z), 1))
        rates["encode"].append(n * _rate(partial(space.encode_derivations, derivations), 1))
    for name, (ours, theirs) in rates.items():
        yield Metric(f"{name}, grammar b1", ours, "a second", "the paper's network", theirs)


def _smooth(quick: bool) -> Iterator[Metric]:
    t, u, du = _signal()
    noisy = u + 0.05 * np.std(u) * np.random.default_rng(1).standard_normal(len(u))
    run = make_run(t, u=noisy)
    repeats = 1 if quick else 5
    ours, theirs = (
        _rate(partial(smooth_gp, run), repeats),
        _rate(partial(baselines.spline, t, noisy), repeats),
    )
    errors = [relative_error(values[1], du) for values in (smooth_gp(run).values, baselines.spline(t, noisy))]
    note = f"error of u' {errors[0]:.3f} against {errors[1]:.3f}"
    yield Metric(f"smoothing {SAMPLES} points", ours, "a second", "spline by cross-validation", theirs, note)


def _library(quick: bool) -> Iterator[Metric]:
    n = 500 if quick else 50_000
    start = time.perf_counter()
    library = draw_library(load_grammar("b2-library"), n, order=None, rng=0, model=load_grammar("b2"))
    yield Metric(
        "unique skeletons of b2", len(library) / (time.perf_counter() - start), "a second", note=f"{n} drawn"
    )


def _memory(quick: bool) -> Iterator[Metric]:
    problem = residual_problem(columns_of_run(*_signal()))
    n = 50 if quick else 10_000
    sizes = []
    for part in range(10):
        for skeleton in _skeletons(n, seed=part):
            fit_constants(skeleton, problem)
        sizes.append(_resident())
    yield Metric(
        "memory",
        sizes[-1],
        "MB",
        note=f"after {10 * n} fits; {sizes[-1] - sizes[0]:+.0f} MB since the first tenth",
    )


def _start(quick: bool) -> Iterator[Metric]:
    with tempfile.TemporaryDirectory() as cache:
        for label in ("warm",) if quick else ("cold", "warm"):
            env = dict(os.environ) if quick else {**os.environ, "NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-c", FIRST_FIT]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            imported, fitted = map(float, done.stdout.split())
            yield Metric(f"{label} start to the first fit", fitted, "s", note=f"import gode {imported:.2f} s")


def _discoveries(quick: bool) -> Iterator[Metric]:
    names = DISCOVERIES[:2] if quick else DISCOVERIES
    effort = EffortName.QUICK if quick else EffortName.NORMAL
    seconds = []
    for name in names:
        _discovery(name, EffortName.QUICK)  # which loads or compiles the kernels
        spent, equation = _discovery(name, effort)
        seconds.append(spent)
        yield Metric(f"{effort} discovery of {name}", spent, "s", note=equation)
    mean = float(np.exp(np.mean(np.log(seconds))))
    yield Metric("discoveries, geometric mean", mean, "s", note="of the processor, on one thread")


def _discovery(name: str, effort: EffortName) -> tuple[float, str]:
    """Return the processor time of a discovery in seconds, and the equation."""
    job = Job(study=problem(name).suite, problem=name, method="gode", effort=effort.value)
    task = Task(measured(job), job.seed, job.effort, job.study)
    start = time.process_time()
    equation = METHODS["gode"].work(task)
    return time.process_time() - start, equation


MEASUREMENTS: dict[str, Callable[[bool], Iterator[Metric]]] = {
    "fits": _fits,
    "solves": _solves,
    "decode": _decode,
    "smooth": _smooth,
    "library": _library,
    "memory": _memory,
    "start": _start,
    "discoveries": _discoveries,
}


def _skeletons(n: int, seed: int) -> list[Skeleton]:
    return list(draw_library(load_grammar("b1"), n, order=1, rng=seed))


def _signal() -> tuple[Float, Float, Float]:
    """Return t, u, u' of logistic growth, which is positive: every function of the grammar is defined."""
    t = np.linspace(0.5, 10.0, SAMPLES)
    u = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * t))
    return t, u, 0.8 * u * (1.0 - u / 5.0)


def _rate(work: Callable[[], object], repeats: int) -> float:
    """Return the calls per second, of the fastest of three passes."""
    work()
    spent = []
    for _ in range(PASSES):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        spent.append((time.perf_counter() - start) / repeats)
    return 1.0 / min(spent)


def _resident() -> float:
    """Return the resident memory of this process in MB; 0 where it is unknown."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1e3
