"""Are the error bars of systems honest? How often the 95 % intervals of the constants hold the truth.

    python benchmarks/system_error_bars.py [--runs 20] [--noise 0.05] [--points 100]
        [--out out/system_error_bars.jsonl]

As `benchmarks/error_bars.py`, for five systems: `gode.fit` is given the right equations and noisy values of
every state, but no initial values. The noise is a share of each state's spread.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from error_bars import GOAL, distances, tell
from false_discoveries import rows_of
from scipy.integrate import solve_ivp

import gode
from gode.errors import DataError


@dataclass(frozen=True)
class SystemOfTruth:
    """Skeletons by state, the truth at each place of their constants, and the slopes that make the data."""

    name: str
    skeletons: dict[str, str]
    truth: dict[str, dict[str, float]]
    slopes: Callable[[float, np.ndarray], list[float]]  # of the states, then for order 2 their velocities
    initial: tuple[float, ...]
    end: float


SYSTEMS = (
    SystemOfTruth(
        "Lotka-Volterra",
        {"prey": "prey' = C*prey + C*prey*predator", "predator": "predator' = C*predator + C*prey*predator"},
        {"prey": {"prey": 1.0, "prey*predator": -0.5}, "predator": {"predator": -0.8, "prey*predator": 0.3}},
        lambda t, y: [y[0] - 0.5 * y[0] * y[1], -0.8 * y[1] + 0.3 * y[0] * y[1]],
        (3.0, 2.5),
        15.0,
    ),
    SystemOfTruth(
        "SIR",
        {"S": "S' = C*S*I", "I": "I' = C*S*I + C*I"},
        {"S": {"S*I": -1.2}, "I": {"S*I": 1.2, "I": -0.4}},
        lambda t, y: [-1.2 * y[0] * y[1], 1.2 * y[0] * y[1] - 0.4 * y[1]],
        (0.99, 0.01),
        20.0,
    ),
    SystemOfTruth(
        "FitzHugh-Nagumo",
        {"v": "v' = C*v + C*v^3 + C*w + C", "w": "w' = C*v + C*w + C"},
        {"v": {"v": 1.0, "v^3": -1 / 3, "w": -1.0, "1": 0.5}, "w": {"v": 0.3, "w": -0.24, "1": 0.21}},
        lambda t, y: [y[0] - y[0] ** 3 / 3 - y[1] + 0.5, 0.3 * (y[0] + 0.7 - 0.8 * y[1])],
        (-1.0, 1.0),
        30.0,
    ),
    SystemOfTruth(
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
    SystemOfTruth(
        "Brusselator",
        {"x": "x' = C + C*x + C*x^2*y", "y": "y' = C*x + C*x^2*y"},
        {"x": {"1": 1.0, "x": -3.5, "x^2*y": 1.0}, "y": {"x": 2.5, "x^2*y": -1.0}},
        lambda t, y: [1 - 3.5 * y[0] + y[0] ** 2 * y[1], 2.5 * y[0] - y[0] ** 2 * y[1]],
        (1.0, 1.5),
        15.0,
    ),
)


def measured(system: SystemOfTruth, seed: int, noise: float, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times and noisy values (n, d) of one run."""
    t = np.linspace(0.0, system.end, points)
    solved = solve_ivp(system.slopes, (0.0, system.end), system.initial, t_eval=t, rtol=1e-10, atol=1e-12)
    x = solved.y[: len(system.skeletons)].T
    rng = np.random.default_rng([SYSTEMS.index(system), seed])
    return t, x + noise * np.std(x, axis=0) * rng.standard_normal(x.shape)


def one_run(system: SystemOfTruth, seed: int, noise: float, points: int) -> dict[str, object]:
    """Return the distance of each constant from its truth, in standard errors; infinite without a fit."""
    t, x = measured(system, seed, noise, points)
    setting = {"problem": system.name, "seed": seed, "noise": noise, "points": points}
    begun = time.perf_counter()
    try:
        found = gode.fit(list(system.skeletons.values()), t, x, names=list(system.skeletons))
    except DataError as error:
        lost = [np.inf for places in system.truth.values() for _ in places]
        return {**setting, "places": [], "away": lost, "failure": str(error)}
    seconds = round(time.perf_counter() - begun, 3)
    parts = {name: distances(found.equation[name].constants, system.truth[name]) for name in system.truth}
    places = [f"{name}: {place}" for name, (own, _) in parts.items() for place in own]
    away = [z for _, own in parts.values() for z in own]
    return {**setting, "places": places, "away": away, "seconds": seconds}


def main() -> None:
    """Measure what is missing, then tell the shares; exit code 1 if they are off."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20, help="of each system")
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("out/system_error_bars.jsonl"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [r for r in rows_of(given.out) if (r["noise"], r["points"]) == (given.noise, given.points)]
    done = {(r["problem"], r["seed"]) for r in rows}
    for system in SYSTEMS:
        for seed in range(given.runs):
            if (system.name, seed) not in done:
                rows.append(one_run(system, seed, given.noise, given.points))
                with given.out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    share = tell(rows)
    print(f"{sum('failure' in r for r in rows)} fits failed; their intervals count as missed")
    raise SystemExit(0 if GOAL[0] <= share <= GOAL[1] else 1)


if __name__ == "__main__":
    main()
