"""Processor time of normal discoveries, warm, on one thread: python benchmarks/speed.py [PROBLEM ...].

Run it once in each checkout that is to be compared, on the same machine at the same time; the ratio of two
geometric means is what travels.
"""

import sys
import time

import numpy as np

from gode import discover
from gode.benchmarks.jobs import Job, measured
from gode.equation import parse_equation
from gode.solve import solve

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
    main(sys.argv[1:] or list(PROBLEMS))
