"""One law behind many short runs, each with its own constants: how often it is found, and are the bars right?

A dozen logistic curves of eight points, each with its own growth rate r and capacity K, and noise of 5 % of
the spread of each curve. For each seed the law is sought on all runs together with constants of each run, and
on single runs alone. With --speed, the time for a thousand runs of fifty points.

    python -m gode_bench.individuals --seeds 10
    python -m gode_bench.individuals --speed
"""

import argparse
import time
from typing import Any

import numpy as np

import gode

MEAN, SPREAD = np.array([0.8, 10.0]), np.array([0.15, 2.0])  # of r and K over the population
LAW = "u' = C*u + C*u^2"


def curves(
    seed: int, n_runs: int, n_points: int, noise: float
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return times and values of each run, and its r and K."""
    rng = np.random.default_rng(seed)
    constants = MEAN + SPREAD * rng.standard_normal((n_runs, 2))
    t = np.linspace(0.0, 10.0, n_points)
    values = []
    for r, k in constants:
        start = rng.uniform(0.05, 0.15) * k
        u = k / (1 + (k / start - 1) * np.exp(-r * t))
        values.append(u + noise * np.std(u) * rng.standard_normal(n_points))
    return [t] * n_runs, values, constants


def is_found(found: gode.Discovery) -> bool:
    """Tell whether the law named is the logistic one."""
    return found.candidates[0].equation.skeleton == gode.parse_skeleton(LAW)


def written(found: gode.Discovery) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return r and r/K of each run with their errors, and their population means with theirs."""
    constants = sorted(found.equation.per_run, key=lambda c: -c.value)  # r is the larger one
    values, errors = np.array([c.runs for c in constants]).T
    mean, error = (np.array([getattr(c, name) for c in constants]) for name in ("value", "error"))
    return values, errors, mean, error


def one_seed(seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return what one data set gives."""
    t, u, truth = curves(seed, options.runs, options.points, options.noise)
    begin = time.process_time()
    found = gode.discover(t, u, individual=True, effort=options.effort, seed=seed)
    out: dict[str, Any] = {"seconds": time.process_time() - begin, "found": is_found(found)}
    print(f"seed {seed}: {found.equation}  ({out['seconds']:.0f} s)", flush=True)
    fitted = gode.fit(LAW, t, u, individual=True)
    values, errors, mean, error = written(fitted)
    true = np.column_stack([truth[:, 0], truth[:, 0] / truth[:, 1]])
    out["covered"] = np.abs(values - true) < 1.96 * errors
    drawn = true.mean(axis=0)  # the mean of these individuals, and of the law that they are drawn from
    out["away"] = (mean - drawn) / error
    out["alone"] = [
        is_found(gode.discover(t[i], u[i], effort=options.effort, seed=seed)) for i in range(options.alone)
    ]
    return out


def speed(options: argparse.Namespace) -> None:
    """Print the time that many runs take."""
    t, u, truth = curves(0, 1000, 50, options.noise)
    begin = time.perf_counter(), time.process_time()
    found = gode.discover(t, u, individual=True, effort=options.effort, n_jobs=options.jobs)
    wall, used = time.perf_counter() - begin[0], time.process_time() - begin[1]
    print(f"1000 runs of 50 points: {found.equation} in {wall:.0f} s ({used:.0f} s of this process)")
    print(found.population.to_string())
    print(f"true means {truth[:, 0].mean():.4f}, {np.mean(truth[:, 0] / truth[:, 1]):.5f}")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--alone", type=int, default=2, help="single runs of each seed that are tried alone")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        speed(options)
        return
    rows = [one_seed(options.first + seed, options) for seed in range(options.seeds)]
    covered = np.concatenate([row["covered"] for row in rows])
    away = np.array([row["away"] for row in rows])
    alone = [one for row in rows for one in row["alone"]]
    print(f"found in {sum(bool(row['found']) for row in rows)} of {len(rows)} seeds")
    print(f"intervals of r and r/K hold the truth in {100 * covered.mean(axis=0)} %")
    print(f"means within 2 standard errors in {100 * np.mean(np.abs(away) < 2, axis=0)} %")
    if alone:
        print(f"single runs find it in {sum(alone)} of {len(alone)}")


if __name__ == "__main__":
    main()
