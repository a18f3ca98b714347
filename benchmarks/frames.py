"""How often the unknown function of a frame is found, and how often without the frame at equal effort.

Three problems with 3 % noise: a damped pendulum with known gravity and unknown friction, an oscillator with
known mass and damping and unknown spring, predator and prey with an unknown response in both equations.

    python benchmarks/frames.py out.jsonl --seeds 5            # resumes where it stopped
    python benchmarks/frames.py out.jsonl --show
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import gode
from gode.equation import parse_tree
from gode.equation.sums import to_sum
from gode.equation.tree import unlabelled

NOISE = 0.03


@dataclass(frozen=True)
class Problem:
    """A law, a frame for it, and what is to be found: the terms of each function, or of the whole law."""

    slope: Callable[[np.ndarray], list[float]]
    initial: tuple[tuple[float, ...], ...]  # one for each variant of the record
    end: float
    n: int
    frame: str
    function: str  # over u, v1, as the frame's function calls its arguments
    whole: tuple[str, ...]  # the right-hand sides, in forms that mean the same
    order: int = 1
    names: tuple[str, ...] = ()


def _holling(x: float, y: float) -> float:
    return 1.2 * x * y / (1 + 0.8 * x)


PROBLEMS = {
    "friction": Problem(
        lambda z: [z[1], -9.81 * np.sin(z[0]) - 0.2 * z[1] - 0.12 * z[1] * abs(z[1])],
        ((2.0, 0.0), (1.4, 1.0), (-2.3, 0.5)),
        12.0,
        150,
        "u'' = -9.81*sin(u) - f(u')",
        "C*u' + C*u'*abs(u')",
        ("C*sin(u) + C*u' + C*u'*abs(u')",),
        order=2,
    ),
    "spring": Problem(
        lambda z: [z[1], (-0.3 * z[1] - 1.1 * z[0] - 0.7 * z[0] ** 3) / 2.0],
        ((1.8, 0.0), (1.2, -1.0), (-2.1, 0.4)),
        25.0,
        150,
        "2*u'' + 0.3*u' + f(u) = 0",
        "C*u + C*u^3",
        ("C*u' + C*u + C*u^3",),
        order=2,
    ),
    "response": Problem(
        lambda z: [0.9 * z[0] * (1 - z[0] / 6) - _holling(*z), 0.6 * _holling(*z) - 0.45 * z[1]],
        ((3.0, 1.0), (1.5, 0.6), (4.0, 0.4)),
        40.0,
        120,
        "x' = r*x*(1 - x/K) - f(x, y); y' = e*f(x, y) - m*y",
        "C*u*v1/(u + C)",
        ("C*u + C*u^2 + C*u*v1/(u + C)", "C*u + C*u*v1/(v1 + C) | C*u + C*u/(v1 + C)"),
        names=("x", "y"),
    ),
}


def record(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times and noisy states of one run of a problem."""
    problem = PROBLEMS[name]
    rng = np.random.default_rng([seed, 19])
    t = np.linspace(0.0, problem.end, problem.n)
    start = np.array(problem.initial[seed % len(problem.initial)]) * rng.uniform(0.9, 1.1)
    z = solve_ivp(lambda _, z: problem.slope(z), (0.0, problem.end), start, t_eval=t, rtol=1e-9, atol=1e-9).y
    z = z if problem.names else z[:1]
    noisy = z + NOISE * z.std(axis=1, keepdims=True) * rng.standard_normal(z.shape)
    return t, noisy.T if problem.names else noisy[0]


def run(name: str, seed: int, framed: bool, effort: str) -> dict[str, object]:
    """Return what was found in one record, and whether it has the right terms."""
    problem = PROBLEMS[name]
    t, data = record(name, seed)
    begin = time.process_time()
    known = {"frame": problem.frame} if framed else {"order": problem.order}
    found = gode.discover(t, data, names=problem.names or None, effort=effort, seed=seed, **known)
    seconds = time.process_time() - begin
    law = found.candidates[0].equation
    if framed:
        right = bodies(law.skeleton.functions[0].tree) == terms(problem.function)
    else:
        sides = [bodies(part.key) for part in law.skeleton.parts]
        top = "u" + "'" * problem.order
        wanted = [[terms(form) for form in text.split("|")] for text in problem.whole]
        right = all(s - {parse_tree(top)} in forms for s, forms in zip(sides, wanted, strict=True))
    return {
        "problem": name,
        "seed": seed,
        "framed": framed,
        "right": bool(right),
        "seconds": round(seconds, 1),
        "text": "; ".join(found.equation.functions.values() if framed else found.equation.lines()),
    }


def bodies(tree: object) -> frozenset[object]:
    """Return the terms of a tree, whatever their factors."""
    return frozenset(to_sum(unlabelled(tree)))


def terms(text: str) -> frozenset[object]:
    """Return the terms of a text, whatever their factors."""
    return bodies(parse_tree(text, inputs=("v1",)))


def main() -> None:
    """Run what is missing, or show what is there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--problem", choices=[*PROBLEMS], action="append")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--framed-only", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    done = {(r["problem"], r["seed"], r["framed"]) for r in lines}
    for seed in () if given.show else range(given.seeds):
        for name in given.problem or PROBLEMS:
            for framed in (True,) if given.framed_only else (True, False):
                if (name, seed, framed) not in done:
                    lines.append(run(name, seed, framed, given.effort))
                    with given.out.open("a") as out:
                        out.write(json.dumps(lines[-1]) + "\n")
    show(lines)


def show(lines: list[dict[str, object]]) -> None:
    """Print how often each problem was solved."""
    for name in PROBLEMS:
        for framed in (True, False):
            own = [r for r in lines if r["problem"] == name and r["framed"] == framed]
            if own:
                right, spent = sum(r["right"] for r in own), np.mean([r["seconds"] for r in own])
                which = "frame" if framed else "none"
                print(f"{name:10s} {which:6s} {right}/{len(own)} right, {spent:.0f} s each")


if __name__ == "__main__":
    main()
