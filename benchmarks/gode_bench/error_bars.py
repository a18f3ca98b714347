"""Are the error bars honest? How often the 95 % intervals of the constants hold the truth.

    python -m gode_bench.error_bars [--systems] [--runs 24] [--noise 0.05] [--correlation 0] [--points 100]
        [--out FILE.jsonl]

Each problem is a law with its true constants: ten equations, or with --systems five systems. A run solves it
by SciPy, adds noise of this share of each state's spread, white or AR(1) with this correlation of neighbours,
and hands the right skeleton to `gode.fit`, which knows no initial values. An interval is the value and 1.96
standard errors either way. Runs that the file already holds are not done again.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import gode
from gode.arrays import Float
from gode.discovery import Constant
from gode.errors import DataError
from gode_bench.rows import MISSED, Row, finished
from gode_bench.tables import TextTable, markdown

WIDTH = (
    1.959964  # An interval of 95 % of a normal distribution reaches this many standard deviations either way.
)
GOAL = (
    0.90,
    0.98,
)  # The share of intervals that hold the truth must lie between these, as docs/robustness.md says.


@dataclass(frozen=True)
class Truth:
    """Skeletons by state, the truth at each place of their constants, and the slopes that make the data."""

    name: str
    skeletons: dict[str, str]
    constants: dict[str, dict[str, float]]
    slopes: Callable[[float, Float], Sequence[float]]  # of the states, then for order 2 of their velocities
    initial: tuple[float, ...]
    end: float
    force: str | None = None


def _scalar(
    name: str,
    skeleton: str,
    constants: dict[str, float],
    slopes: Callable[[float, Float], Sequence[float]],
    initial: tuple[float, ...],
    end: float,
    force: str | None = None,
) -> Truth:
    return Truth(name, {"u": skeleton}, {"u": constants}, slopes, initial, end, force)


EQUATIONS = (
    _scalar("decay", "u' = C*u + C", {"u": -0.5, "1": 1.0}, lambda t, y: [1 - 0.5 * y[0]], (0.2,), 8.0),
    _scalar(
        "logistic",
        "u' = C*u + C*u^2",
        {"u": 0.8, "u^2": -0.16},
        lambda t, y: [0.8 * y[0] - 0.16 * y[0] ** 2],
        (0.5,),
        10.0,
    ),
    _scalar(
        "Gompertz",
        "u' = C*u + C*u*log(u)",
        {"u": 0.9, "u*log(u)": -0.6},
        lambda t, y: [0.9 * y[0] - 0.6 * y[0] * np.log(y[0])],
        (0.3,),
        8.0,
    ),
    _scalar(
        "seasons",
        "u' = C*u + C*sin(t)",
        {"u": -0.4, "sin(t)": 1.5},
        lambda t, y: [-0.4 * y[0] + 1.5 * np.sin(t)],
        (1.0,),
        12.0,
    ),
    _scalar(
        "saturation",
        "u' = C*u*exp(C*u)",
        {"u*exp(C*u)": 0.9, "inside a function": -0.5},
        lambda t, y: [0.9 * y[0] * np.exp(-0.5 * y[0])],
        (0.2,),
        10.0,
    ),
    _scalar(
        "damped oscillator",
        "u'' = C*u' + C*u",
        {"u'": -0.3, "u": -4.0},
        lambda t, y: [y[1], -0.3 * y[1] - 4 * y[0]],
        (1.0, 0.0),
        10.0,
    ),
    _scalar(
        "pendulum",
        "u'' = C*u' + C*sin(u)",
        {"u'": -0.2, "sin(u)": -3.0},
        lambda t, y: [y[1], -0.2 * y[1] - 3 * np.sin(y[0])],
        (2.0, 0.0),
        12.0,
    ),
    _scalar(
        "van der Pol",
        "u'' = C*u' + C*u^2*u' + C*u",
        {"u'": 1.0, "u^2*u'": -1.0, "u": -1.0},
        lambda t, y: [y[1], y[1] - y[0] ** 2 * y[1] - y[0]],
        (0.5, 0.0),
        15.0,
    ),
    _scalar(
        "Duffing",
        "u'' = C*u' + C*u + C*u^3",
        {"u'": -0.2, "u": -1.0, "u^3": -2.0},
        lambda t, y: [y[1], -0.2 * y[1] - y[0] - 2 * y[0] ** 3],
        (1.5, 0.0),
        12.0,
    ),
    _scalar(
        "driven oscillator",
        "C*u'' + C*u' + C*u = F",
        {"u''": 2.0, "u'": 0.5, "u": 5.0},
        lambda t, y: [y[1], (3 * np.cos(1.3 * t) - 0.5 * y[1] - 5 * y[0]) / 2],
        (0.5, 0.0),
        20.0,
        "3*cos(1.3*t)",
    ),
)

SYSTEMS = (
    Truth(
        "Lotka-Volterra",
        {"prey": "prey' = C*prey + C*prey*predator", "predator": "predator' = C*predator + C*prey*predator"},
        {"prey": {"prey": 1.0, "prey*predator": -0.5}, "predator": {"predator": -0.8, "prey*predator": 0.3}},
        lambda t, y: [y[0] - 0.5 * y[0] * y[1], -0.8 * y[1] + 0.3 * y[0] * y[1]],
        (3.0, 2.5),
        15.0,
    ),
    Truth(
        "SIR",
        {"S": "S' = C*S*I", "I": "I' = C*S*I + C*I"},
        {"S": {"S*I": -1.2}, "I": {"S*I": 1.2, "I": -0.4}},
        lambda t, y: [-1.2 * y[0] * y[1], 1.2 * y[0] * y[1] - 0.4 * y[1]],
        (0.99, 0.01),
        20.0,
    ),
    Truth(
        "FitzHugh-Nagumo",
        {"v": "v' = C*v + C*v^3 + C*w + C", "w": "w' = C*v + C*w + C"},
        {"v": {"v": 1.0, "v^3": -1 / 3, "w": -1.0, "1": 0.5}, "w": {"v": 0.3, "w": -0.24, "1": 0.21}},
        lambda t, y: [y[0] - y[0] ** 3 / 3 - y[1] + 0.5, 0.3 * (y[0] + 0.7 - 0.8 * y[1])],
        (-1.0, 1.0),
        30.0,
    ),
    Truth(
        "two masses",
        {"x": "x'' = C*x' + C*x + C*y", "y": "y'' = C*y' + C*x + C*y"},
        {"x": {"x'": -0.1, "x": -3.0, "y": 1.5}, "y": {"y'": -0.1, "x": 1.5, "y": -2.0}},
        lambda t, y: [
            *y[2:],
            -0.1 * y[2] - 3 * y[0] + 1.5 * y[1],
            -0.1 * y[3] + 1.5 * y[0] - 2 * y[1],
        ],
        (1.0, 0.0, 0.0, 0.5),
        15.0,
    ),
    Truth(
        "Brusselator",
        {"x": "x' = C + C*x + C*x^2*y", "y": "y' = C*x + C*x^2*y"},
        {"x": {"1": 1.0, "x": -3.5, "x^2*y": 1.0}, "y": {"x": 2.5, "x^2*y": -1.0}},
        lambda t, y: [1 - 3.5 * y[0] + y[0] ** 2 * y[1], 2.5 * y[0] - y[0] ** 2 * y[1]],
        (1.0, 1.5),
        15.0,
    ),
)


def measured(problem: Truth, seed: int, noise: float, points: int, correlation: float) -> tuple[Float, Float]:
    """Return times and noisy values (n, d) of one run."""
    group = EQUATIONS if problem in EQUATIONS else SYSTEMS
    t = np.linspace(0.0, problem.end, points)
    solved = solve_ivp(problem.slopes, (0.0, problem.end), problem.initial, t_eval=t, rtol=1e-10, atol=1e-12)
    x = solved.y[: len(problem.skeletons)].T
    rng = np.random.default_rng([group.index(problem), seed])
    errors = rng.standard_normal(x.shape)
    for i in range(1, points if correlation else 0):
        errors[i] = correlation * errors[i - 1] + np.sqrt(1 - correlation**2) * errors[i]
    return t, x + noise * np.std(x, axis=0) * errors


def one_run(problem: str, seed: int, noise: float, points: int, correlation: float) -> Row:
    """Return the distance of each constant from its truth, in standard errors; infinite without a fit."""
    truth = next(each for each in (*EQUATIONS, *SYSTEMS) if each.name == problem)
    t, x = measured(truth, seed, noise, points, correlation)
    begun = time.perf_counter()
    try:
        constants = fitted_constants(truth, t, x)
    except DataError as error:
        lost = [np.inf for places in truth.constants.values() for _ in places]
        return {"places": [], "away": lost, "failure": str(error)}
    seconds = round(time.perf_counter() - begun, 3)
    parts = [distances(constants[state], true, state) for state, true in truth.constants.items()]
    places = [place for names, _ in parts for place in names]
    away = [z for _, values in parts for z in values]
    return {"places": places, "away": away, "seconds": seconds}


def fitted_constants(problem: Truth, t: Float, x: Float) -> dict[str, Sequence[Constant]]:
    """Return the constants that are fitted to the data, by state."""
    if len(problem.skeletons) == 1:
        (skeleton,) = problem.skeletons.values()
        return {"u": gode.fit(skeleton, t, x[:, 0], force=problem.force).equation.constants}
    found = gode.fit(list(problem.skeletons.values()), t, x, names=list(problem.skeletons)).equation
    return {state: found[state].constants for state in problem.skeletons}


def distances(
    constants: Sequence[Constant], truth: dict[str, float], state: str
) -> tuple[list[str], list[float]]:
    """Return the place of each constant, and how far from its truth it is in standard errors."""
    true = {ordered(place): value for place, value in truth.items()}
    places = [ordered(c.place) for c in constants]
    assert sorted(places) == sorted(true), f"{places} are not {sorted(true)}"
    away = [(c.value - true[p]) / c.error for c, p in zip(constants, places, strict=True)]
    return [f"{state}: {place}" for place in places], away


def ordered(place: str) -> str:
    """Return the name of a place with its factors in one order."""
    return "*".join(sorted(place.split("*")))


def held(rows: Sequence[Row]) -> np.ndarray:
    """Return whether the interval of each constant of some runs holds the truth; a failed fit's do not."""
    return np.asarray(np.abs([away for row in rows for away in row["away"]]) <= WIDTH)


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return how many intervals hold the truth, problem by problem."""
    lines = []
    for name in dict.fromkeys(row["problem"] for row in rows):
        own = [row for row in rows if row["problem"] == name]
        inside = held(own)
        lines.append(
            (name, str(len(own)), f"{inside.sum()} of {len(inside)}", f"{100 * inside.mean():.0f} %")
        )
    inside = held(rows)
    columns = ("law", "runs", "intervals that hold the truth", "share")
    note = (
        f"In all, {inside.sum()} of {len(inside)} intervals hold the truth ({100 * inside.mean():.1f} %); "
        f"{sum('failure' in row for row in rows)} fits failed, and their intervals count as missed."
    )
    return [TextTable("", columns, tuple(lines), note)]


def main() -> None:
    """Measure what is missing, then print the table; exit code 3 if the share is off."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", action="store_true", help="five systems instead of ten equations")
    parser.add_argument("--runs", type=int, default=24, help="of each problem")
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--correlation", type=float, default=0.0, help="of neighbouring values of the noise")
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    problems = SYSTEMS if given.systems else EQUATIONS
    out = given.out or Path(f"out/{'system_' if given.systems else ''}error_bars.jsonl")
    settings = (
        {
            "problem": problem.name,
            "seed": seed,
            "noise": given.noise,
            "points": given.points,
            "correlation": given.correlation,
        }
        for seed in range(given.runs)
        for problem in problems
    )
    rows = list(finished(out, settings, one_run))
    print("\n".join(markdown(tables(rows))))
    raise SystemExit(0 if GOAL[0] <= held(rows).mean() <= GOAL[1] else MISSED)


if __name__ == "__main__":
    main()
