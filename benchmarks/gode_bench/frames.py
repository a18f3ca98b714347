"""How often the unknown function of a frame is found, and how often without the frame at equal effort.

Four problems with 3 % noise: a pendulum on a driven cart, with known gravity, masses and units and unknown
friction of the cart; a pendulum with known gravity and unknown friction; an oscillator with known mass and
damping and an unknown spring; predator and prey with an unknown response in both equations. The seconds are
those of the processor, with and without the frame.

    python -m gode_bench.frames out.jsonl --seeds 40            # resumes where it stopped
    python -m gode_bench.frames out.jsonl --seeds 10 --problem response
    python -m gode_bench.frames out.jsonl --show
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import gode
from gode.arrays import Float
from gode.equation import Node, parse_tree
from gode.equation.sums import to_sum
from gode.equation.tree import unlabelled
from gode_bench.rows import Row, append_row, read_rows

NOISE = 0.03


@dataclass(frozen=True)
class Problem:
    """A law, a frame for it, and what is to be found: the terms of each function, or of the whole law."""

    slope: Callable[[float, np.ndarray], list[float]]
    seen: tuple[int, ...]  # what of the state vector is measured
    initial: tuple[tuple[float, ...], ...]  # one for each variant of the record
    end: float
    n: int
    frame: str
    function: str  # over u, v1, as the frame's function calls its arguments
    whole: tuple[str, ...]  # the right-hand sides, in forms that mean the same
    order: int = 1
    names: tuple[str, ...] = ()
    force: Callable[[np.ndarray], np.ndarray] | None = None
    units: tuple[tuple[str, str], ...] = ()


def _holling(x: float, y: float) -> float:
    return 1.2 * x * y / (1 + 0.8 * x)


def _motor(t: Float) -> Float:
    return np.asarray(6.0 * np.sin(1.3 * t))


def _cart(t: float, z: np.ndarray) -> list[float]:
    """Return the slopes of a cart of 1.2 kg, and of a pendulum of 0.3 kg and 0.5 m on it."""
    _, speed, angle, turning = z
    sine, cosine = np.sin(angle), np.cos(angle)
    friction = 0.5 * speed + 0.4 * speed * abs(speed)
    a = (float(_motor(np.array(t))) + 0.3 * sine * (0.5 * turning**2 + 9.81 * cosine) - friction) / (
        1.2 + 0.3 * sine**2
    )
    return [speed, a, turning, -(9.81 * sine + a * cosine) / 0.5]


CART = "(F + 0.3*sin(q)*(0.5*q'^2 + 9.81*cos(q)) - f(x'))/(1.2 + 0.3*sin(q)^2)"


def _cart_terms() -> tuple[str, str]:
    """Return the terms of both equations of the cart, each in its own view: u is its state, v1 the other."""
    over = "/(1 + C*sin({0})^2)"
    pulls = "C*F", "C*sin({0})*{0}'^2", "C*sin({0})*cos({0})", "C*{1}'", "C*{1}'*abs({1}')"
    first = " + ".join(f"{pull}{over}" for pull in pulls).format("v1", "u")
    second = " + ".join(f"{pull}*cos({{0}}){over}" for pull in pulls).format("u", "v1")
    return first, f"C*sin(u) + {second}"


PROBLEMS = {
    "cart": Problem(
        _cart,
        (0, 2),
        ((0.0, 0.8, 0.6, 0.0), (0.0, -0.5, -0.9, 0.0), (0.5, 0.0, 0.3, 1.0)),
        12.0,
        160,
        f"x'' = {CART}; q'' = -(9.81*sin(q) + cos(q)*{CART})/0.5",
        "C*u' + C*u'*abs(u')",
        _cart_terms(),
        order=2,
        names=("x", "q"),
        force=_motor,
        units=(("t", "s"), ("x", "m"), ("q", "rad"), ("F", "N")),
    ),
    "friction": Problem(
        lambda _, z: [z[1], -9.81 * np.sin(z[0]) - 0.2 * z[1] - 0.12 * z[1] * abs(z[1])],
        (0,),
        ((2.0, 0.0), (1.4, 1.0), (-2.3, 0.5)),
        12.0,
        150,
        "u'' = -9.81*sin(u) - f(u')",
        "C*u' + C*u'*abs(u')",
        ("C*sin(u) + C*u' + C*u'*abs(u')",),
        order=2,
    ),
    "spring": Problem(
        lambda _, z: [z[1], (-0.3 * z[1] - 1.1 * z[0] - 0.7 * z[0] ** 3) / 2.0],
        (0,),
        ((1.8, 0.0), (1.2, -1.0), (-2.1, 0.4)),
        25.0,
        150,
        "2*u'' + 0.3*u' + f(u) = 0",
        "C*u + C*u^3",
        ("C*u' + C*u + C*u^3",),
        order=2,
    ),
    "response": Problem(
        lambda _, z: [0.9 * z[0] * (1 - z[0] / 6) - _holling(*z), 0.6 * _holling(*z) - 0.45 * z[1]],
        (0, 1),
        ((3.0, 1.0), (1.5, 0.6), (4.0, 0.4)),
        40.0,
        120,
        "x' = r*x*(1 - x/K) - f(x, y); y' = e*f(x, y) - m*y",
        "C*u*v1/(u + C)",
        ("C*u + C*u^2 + C*u*v1/(u + C)", "C*u + C*u*v1/(v1 + C) | C*u + C*u/(v1 + C)"),
        names=("x", "y"),
    ),
}


def record(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return times, noisy states and the force of one run of a problem."""
    problem = PROBLEMS[name]
    rng = np.random.default_rng([seed, 19])
    t = np.linspace(0.0, problem.end, problem.n)
    start = np.array(problem.initial[seed % len(problem.initial)]) * rng.uniform(0.9, 1.1)
    z = solve_ivp(problem.slope, (0.0, problem.end), start, t_eval=t, rtol=1e-9, atol=1e-9).y
    z = z[list(problem.seen)]
    noisy = z + NOISE * z.std(axis=1, keepdims=True) * rng.standard_normal(z.shape)
    return t, noisy.T if problem.names else noisy[0], problem.force(t) if problem.force else None


def run(name: str, seed: int, framed: bool, effort: str) -> Row:
    """Return what was found in one record, and whether it has the right terms."""
    problem = PROBLEMS[name]
    t, data, force = record(name, seed)
    begin = time.process_time()
    asked: dict[str, Any] = {"frame": problem.frame} if framed else {"order": problem.order}
    asked |= {"names": problem.names or None, "force": force, "units": dict(problem.units)}
    found = gode.discover(t, data, effort=effort, seed=seed, **asked)
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


def bodies(tree: Node) -> frozenset[Node]:
    """Return the terms of a tree, whatever their factors."""
    return frozenset(to_sum(unlabelled(tree)))


def terms(text: str) -> frozenset[Node]:
    """Return the terms of a text, whatever their factors."""
    return bodies(parse_tree(text, inputs=("F",), states=("u", "v1")))


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
    lines = read_rows(given.out)
    done = {(r["problem"], r["seed"], r["framed"]) for r in lines}
    for seed in () if given.show else range(given.seeds):
        for name in given.problem or PROBLEMS:
            for framed in (True,) if given.framed_only else (True, False):
                if (name, seed, framed) not in done:
                    lines.append(run(name, seed, framed, given.effort))
                    append_row(given.out, lines[-1])
    show(lines)


def show(lines: list[Row]) -> None:
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
