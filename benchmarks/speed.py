"""Processor time of normal discoveries, warm, on one thread: python benchmarks/speed.py [PROBLEM ...].

Run it once in each checkout that is to be compared, on the same machine at the same time; the ratio of two
geometric means is what travels.

python benchmarks/speed.py --against PATH compares what a start costs with the checkout at PATH, in fresh
processes that take turns: a discovery and a worker of a fleet, and with `--cold` both commands that users
run first, with an empty cache of compiled code (minutes of processor time each).
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gode import discover
from gode.benchmarks.jobs import Job, measured
from gode.equation import parse_equation
from gode.solve import solve

HERE = Path(__file__).parents[1]
GROWTH = str(HERE / "src" / "gode" / "data" / "examples" / "growth.csv")
COMMAND = "import sys; from gode.cli.start import main; sys.argv[0] = 'gode'; sys.exit(main())"
WORKER = "import os; from gode.fleet.work import begin; begin(); os._exit(0)"  # as processes of a pool end
WARM = {"discovery": [COMMAND, "discover", GROWTH], "worker": [WORKER]}
COLD = {"first discovery": [COMMAND, "discover", GROWTH], "first demo": [COMMAND, "demo"]}
TURNS = 5
PROBLEMS = ("ID1", "ID8", "ID19", "LODE4", "NLODE2", "pendulum")


def timed(name: str, effort: str = "normal") -> tuple[float, str]:
    """Return the processor time of a discovery in seconds, and the equation."""
    if name == "pendulum":
        t = np.linspace(0.0, 10.0, 200)
        clean = solve(parse_equation("u'' = -9.81*sin(u) - 0.2*u'"), t, [2.0, 0.0]).u
        noise = np.random.default_rng(0).standard_normal(len(t))
        given = {"t": t, "u": clean + 0.05 * np.std(clean) * noise, "order": 2}
    else:
        study = "b1" if name.startswith("ID") else "b2"
        data = measured(Job(study=study, problem=name, method="gode", seed=0))
        given = {"t": list(data.t), "order": data.order, "force": data.force, "initial": data.initial}
        given["u" if data.observed == "u" else "acceleration"] = list(data.signal)
    start = time.process_time()
    found = discover(**given, effort=effort)
    return time.process_time() - start, str(found.equation)


def compare_starts(other: Path, *, cold: bool) -> None:
    """Print the processor time of each start in this checkout and in another, and the ratio."""
    for name, words in (COLD if cold else WARM).items():
        both = HERE, other
        if not cold:
            for checkout in both:
                start_seconds(checkout, words)  # which compiles
        n = 1 if cold else TURNS
        turns = [[start_seconds(checkout, words, empty=cold) for checkout in both] for _ in range(n)]
        own, before = np.median(turns, axis=0)
        print(f"{name:16} {own:7.2f} s  {before:7.2f} s  ratio {own / before:.2f}")


def start_seconds(checkout: Path, words: list[str], *, empty: bool = False) -> float:
    """Return the processor seconds of a fresh Python with the code of a checkout, as a user runs it."""
    settings = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        if empty:
            settings["NUMBA_CACHE_DIR"] = f"{folder}/compiled"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", *words], cwd=folder, env=settings, capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(names: list[str]) -> None:
    """Print a line for each problem, and the geometric mean."""
    for name in names:
        timed(name, "quick")  # which loads or compiles the kernels
    times = []
    for name in names:
        seconds, equation = timed(name)
        times.append(seconds)
        print(f"{name:10} {seconds:7.2f} s  {equation}")
    print(f"{'mean':10} {np.exp(np.mean(np.log(times))):7.2f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--against"]:
        compare_starts(Path(sys.argv[2]).resolve(), cold="--cold" in sys.argv)
    else:
        main(sys.argv[1:] or list(PROBLEMS))
