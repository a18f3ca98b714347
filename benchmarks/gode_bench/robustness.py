"""Measurements as they are: is the same law found with outliers, correlated noise, rounded readings?

    python -m gode_bench.robustness [--seeds 10] [--effort normal] [--out FILE.csv]

Four laws with 3 % noise; then with 5 % of the readings off by 20 standard deviations, with AR(1) noise of
correlation 0.7, and rounded to two digits. Of each: how often the structure is the true one, how often the
same as with plain noise, and how often the 95 % intervals of the constants hold the truth.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np

import gode
from gode.equation import parse_equation
from gode.solve import solve

LAWS = {
    "logistic": ("u' = 0.8*u - 0.1*u^2", (0.5,), 12.0, 120),
    "Michaelis-Menten": ("u' = -1.5*u/(u + 0.8)", (5.0,), 8.0, 120),
    "pendulum": ("u'' = -0.2*u' - 4*sin(u)", (2.0, 0.0), 12.0, 200),
    "Duffing": ("u'' = -0.2*u' - 1.1*u - 2*u^3", (1.5, 0.0), 15.0, 200),
}
KINDS = ("plain", "outliers", "AR(1)", "rounded")


def noisy(u: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return a signal with noise of some kind."""
    size = 0.03 * np.std(u)
    white = rng.standard_normal(len(u))
    if kind == "AR(1)":
        for i in range(1, len(white)):
            white[i] = 0.7 * white[i - 1] + np.sqrt(1 - 0.49) * white[i]
    y = u + size * white
    if kind == "outliers":
        off = rng.random(len(u)) < 0.05
        y[off] += 20 * size * rng.choice([-1.0, 1.0], int(off.sum()))
    if kind == "rounded":
        step = 10.0 ** (np.floor(np.log10(np.abs(y).max())) - 1)
        y = np.round(y / step) * step
    return np.asarray(y)


def main() -> None:
    """Print a line for each run, then the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--effort", default="normal")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    rows = []
    for name, (text, start, end, n) in LAWS.items():
        truth = parse_equation(text)
        t = np.linspace(0, end, n)
        clean = solve(truth, t, start).u
        for seed in range(given.seeds):
            plain = None
            for kind in KINDS:
                rng = np.random.default_rng([11, seed])
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    y = noisy(clean, kind, rng)
                    found = gode.discover(t, y, order=truth.order, effort=given.effort)
                    fitted = gode.fit(str(truth.skeleton), t, y).candidates[0]
                key = found.equation.law.skeleton.structure
                plain = key if kind == "plain" else plain
                off = np.abs(np.array(fitted.equation.constants) - truth.constants)
                held = off <= 1.96 * fitted.errors
                right = key == truth.skeleton.structure
                rows.append(
                    (name, kind, seed, right, key == plain, int(held.sum()), len(held), str(found.equation))
                )
                print(*rows[-1], file=sys.stderr, flush=True)
                if given.out:
                    with given.out.open("w", newline="") as file:
                        csv.writer(file).writerows(rows)
    print("| noise | right | as with plain noise | intervals that hold the truth |")
    print("| --- | --- | --- | --- |")
    for kind in KINDS:
        own = [r for r in rows if r[1] == kind]
        n_right = sum(r[3] for r in own)
        n_same = sum(r[4] for r in own)
        share = sum(r[5] for r in own) / sum(r[6] for r in own)
        print(f"| {kind} | {n_right} of {len(own)} | {n_same} | {100 * share:.0f} % |")


if __name__ == "__main__":
    main()
