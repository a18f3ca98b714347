"""Are the error bars honest? How often the 95 % intervals of the constants hold the truth.

    python benchmarks/error_bars.py [--runs 24] [--noise 0.05] [--correlation 0] [--points 100]
        [--out out/error_bars.jsonl]

Each problem is an equation with its true constants. A run solves it by SciPy, adds noise of this share of
the signal's spread, white or AR(1) with this correlation of neighbours, and hands the right skeleton to
`gode.fit`, which knows no initial values.
An interval is the value and 1.96 standard errors either way. Runs in the file are not done again.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from false_discoveries import rows_of
from scipy.integrate import solve_ivp

import gode
from gode.discovery import Constant

WIDTH = 1.959964  # standard errors of a 95 % interval
GOAL = (0.90, 0.98)


@dataclass(frozen=True)
class Problem:
    """A skeleton, the truth at each place of its constants, and the right-hand side that makes the data."""

    name: str
    skeleton: str
    truth: dict[str, float]
    rhs: Callable[[float, np.ndarray], list[float]]
    initial: tuple[float, ...]
    end: float
    force: str | None = None


PROBLEMS = (
    Problem("decay", "u' = C*u + C", {"u": -0.5, "1": 1.0}, lambda t, y: [1 - 0.5 * y[0]], (0.2,), 8.0),
    Problem(
        "logistic",
        "u' = C*u + C*u^2",
        {"u": 0.8, "u^2": -0.16},
        lambda t, y: [0.8 * y[0] - 0.16 * y[0] ** 2],
        (0.5,),
        10.0,
    ),
    Problem(
        "Gompertz",
        "u' = C*u + C*u*log(u)",
        {"u": 0.9, "u*log(u)": -0.6},
        lambda t, y: [0.9 * y[0] - 0.6 * y[0] * np.log(y[0])],
        (0.3,),
        8.0,
    ),
    Problem(
        "seasons",
        "u' = C*u + C*sin(t)",
        {"u": -0.4, "sin(t)": 1.5},
        lambda t, y: [-0.4 * y[0] + 1.5 * np.sin(t)],
        (1.0,),
        12.0,
    ),
    Problem(
        "saturation",
        "u' = C*u*exp(C*u)",
        {"u*exp(C*u)": 0.9, "inside a function": -0.5},
        lambda t, y: [0.9 * y[0] * np.exp(-0.5 * y[0])],
        (0.2,),
        10.0,
    ),
    Problem(
        "damped oscillator",
        "u'' = C*u' + C*u",
        {"u'": -0.3, "u": -4.0},
        lambda t, y: [y[1], -0.3 * y[1] - 4 * y[0]],
        (1.0, 0.0),
        10.0,
    ),
    Problem(
        "pendulum",
        "u'' = C*u' + C*sin(u)",
        {"u'": -0.2, "sin(u)": -3.0},
        lambda t, y: [y[1], -0.2 * y[1] - 3 * np.sin(y[0])],
        (2.0, 0.0),
        12.0,
    ),
    Problem(
        "van der Pol",
        "u'' = C*u' + C*u^2*u' + C*u",
        {"u'": 1.0, "u^2*u'": -1.0, "u": -1.0},
        lambda t, y: [y[1], y[1] - y[0] ** 2 * y[1] - y[0]],
        (0.5, 0.0),
        15.0,
    ),
    Problem(
        "Duffing",
        "u'' = C*u' + C*u + C*u^3",
        {"u'": -0.2, "u": -1.0, "u^3": -2.0},
        lambda t, y: [y[1], -0.2 * y[1] - y[0] - 2 * y[0] ** 3],
        (1.5, 0.0),
        12.0,
    ),
    Problem(
        "driven oscillator",
        "C*u'' + C*u' + C*u = F",
        {"u''": 2.0, "u'": 0.5, "u": 5.0},
        lambda t, y: [y[1], (3 * np.cos(1.3 * t) - 0.5 * y[1] - 5 * y[0]) / 2],
        (0.5, 0.0),
        20.0,
        "3*cos(1.3*t)",
    ),
)


def measured(
    problem: Problem, seed: int, noise: float, points: int, correlation: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return times and noisy values of one run."""
    t = np.linspace(0.0, problem.end, points)
    solved = solve_ivp(problem.rhs, (0.0, problem.end), problem.initial, t_eval=t, rtol=1e-10, atol=1e-12)
    rng = np.random.default_rng([PROBLEMS.index(problem), seed])
    left = rng.standard_normal(points)
    for i in range(1, points if correlation else 0):
        left[i] = correlation * left[i - 1] + np.sqrt(1 - correlation**2) * left[i]
    return t, solved.y[0] + noise * np.std(solved.y[0]) * left


def one_run(problem: Problem, seed: int, noise: float, points: int, correlation: float) -> dict[str, object]:
    """Return the distance of each constant from its truth, in standard errors."""
    t, u = measured(problem, seed, noise, points, correlation)
    begun = time.perf_counter()
    constants = gode.fit(problem.skeleton, t, u, force=problem.force).equation.constants
    places, away = distances(constants, problem.truth)
    return {
        "problem": problem.name,
        "seed": seed,
        "noise": noise,
        "points": points,
        "correlation": correlation,
        "places": places,
        "away": away,
        "seconds": round(time.perf_counter() - begun, 3),
    }


def distances(constants: Sequence[Constant], truth: dict[str, float]) -> tuple[list[str], list[float]]:
    """Return the place of each constant, and how far from its truth it is in standard errors."""
    known = {ordered(place): value for place, value in truth.items()}
    places = [ordered(c.place) for c in constants]
    assert sorted(places) == sorted(known), f"{places} are not {sorted(known)}"
    return places, [(c.value - known[p]) / c.error for c, p in zip(constants, places, strict=True)]


def ordered(place: str) -> str:
    """Return the name of a place with its factors in one order."""
    return "*".join(sorted(place.split("*")))


def missing(rows: list[dict[str, object]], given: argparse.Namespace) -> Iterator[tuple[Problem, int]]:
    """Yield the runs that are still to do."""
    done = {(r["problem"], r["seed"], r["noise"], r["points"], r.get("correlation", 0.0)) for r in rows}
    for seed in range(given.runs):
        for problem in PROBLEMS:
            if (problem.name, seed, given.noise, given.points, given.correlation) not in done:
                yield problem, seed


def tell(rows: list[dict[str, object]]) -> float:
    """Print the shares and return that of all constants."""
    print(f"{'problem':20s} {'runs':>4s} {'held':>11s} {'share':>6s} {'rms of z':>8s}")
    for name in dict.fromkeys(str(r["problem"]) for r in rows):
        z = np.array([a for r in rows if r["problem"] == name for a in r["away"]])
        runs = sum(r["problem"] == name for r in rows)
        held = np.abs(z) <= WIDTH
        counts = f"{runs:4d} {held.sum():5d}/{len(z):5d}"
        print(f"{name:20s} {counts} {held.mean():6.3f} {np.sqrt(np.mean(z**2)):8.2f}")
    every = np.abs([a for r in rows for a in r["away"]]) <= WIDTH
    share = float(np.mean(every))
    print(f"all: {len(rows)} runs, {every.sum()} of {len(every)} intervals hold the truth: {share:.1%}")
    return share


def main() -> None:
    """Measure what is missing, then tell the shares; exit code 1 if they are off."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=24, help="of each problem")
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--correlation", type=float, default=0.0, help="of neighbouring values of the noise")
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("out/error_bars.jsonl"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    rows = rows_of(given.out)
    for problem, seed in missing(rows, given):
        row = one_run(problem, seed, given.noise, given.points, given.correlation)
        rows.append(row)
        with given.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
    same = [r for r in rows if (r["noise"], r["points"]) == (given.noise, given.points)]
    share = tell(same)
    raise SystemExit(0 if GOAL[0] <= share <= GOAL[1] else 1)


if __name__ == "__main__":
    main()
