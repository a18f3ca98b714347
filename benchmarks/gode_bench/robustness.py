"""Measurements as they are: is the same law found with outliers, correlated noise, rounded readings?

    python -m gode_bench.robustness [--seeds 10] [--effort normal] [--out FILE.jsonl]

Four laws with 3 % noise; then with 5 % of the readings off by 20 standard deviations, with AR(1) noise of
correlation 0.7, and rounded to two digits. Of each: how often the structure is the true one, how often the
same as with plain noise, and how often the 95 % intervals of the constants hold the truth.
"""

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import gode
from gode.equation import parse_equation
from gode.solve import solve
from gode_bench.rows import Row, finished
from gode_bench.tables import TextTable, markdown

LAWS = {
    "logistic": ("u' = 0.8*u - 0.1*u^2", (0.5,), 12.0, 120),
    "Michaelis-Menten": ("u' = -1.5*u/(u + 0.8)", (5.0,), 8.0, 120),
    "pendulum": ("u'' = -0.2*u' - 4*sin(u)", (2.0, 0.0), 12.0, 200),
    "Duffing": ("u'' = -0.2*u' - 1.1*u - 2*u^3", (1.5, 0.0), 15.0, 200),
}
KINDS = {
    "plain": "3 % of the spread",
    "outliers": "and 5 % of the readings off by 20 standard deviations",
    "AR(1)": "correlated by .7 from one reading to the next",
    "rounded": "and readings rounded to two digits",
}


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


def one_run(law: str, seed: int, kind: str, effort: str) -> Row:
    """Return what is found in one noisy record, and how many intervals of the true law's constants hold."""
    text, start, end, n = LAWS[law]
    truth, t = parse_equation(text), np.linspace(0, end, n)
    y = noisy(solve(truth, t, start).u, kind, np.random.default_rng([11, seed]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gode.discover(t, y, order=truth.order, effort=effort).equation
        fitted = gode.fit(str(truth.skeleton), t, y).candidates[0]
    off = np.abs(np.array(fitted.equation.constants) - truth.constants)
    return {
        "right": found.law.skeleton.structure == truth.skeleton.structure,
        "structure": str(found.law.skeleton.structure),
        "held": int(np.sum(off <= 1.96 * fitted.errors)),
        "intervals": len(off),
        "named": str(found),
    }


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return how often the law is found with each kind of noise."""
    plain = {(r["law"], r["seed"]): r["structure"] for r in rows if r["kind"] == "plain"}
    lines = []
    for kind, words in KINDS.items():
        own = [r for r in rows if r["kind"] == kind]
        right = sum(r["right"] for r in own)
        same = sum(r["structure"] == plain[r["law"], r["seed"]] for r in own)
        held, intervals = sum(r["held"] for r in own), sum(r["intervals"] for r in own)
        lines.append((words, str(len(own)), str(right), str(same), f"{held} of {intervals}"))
    columns = (
        "noise",
        "records",
        "true law named",
        "same law as with plain noise",
        "intervals that hold the truth",
    )
    note = f"The laws: {', '.join(LAWS)}. The intervals are those of the true law, fitted."
    return [TextTable("", columns, tuple(lines), note)]


def main() -> None:
    """Measure what is missing, then print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--effort", default="normal")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    settings = (
        {"law": law, "seed": seed, "kind": kind, "effort": given.effort}
        for law in LAWS
        for seed in range(given.seeds)
        for kind in KINDS
    )
    print("\n".join(markdown(tables(list(finished(given.out, settings, one_run))))))


if __name__ == "__main__":
    main()
