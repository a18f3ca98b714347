"""Make the example measurements in src/gode/data/examples, except growth.csv, which is older.

python scripts/make_example_data.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gode.equation import parse_equation
from gode.solve import SolveConfig, solve

FOLDER = Path(__file__).parents[1] / "src" / "gode" / "data" / "examples"
ACCURATE = SolveConfig(rtol=1e-10, max_steps=100_000)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What an example is made from; noise is a share of the standard deviation of each noisy column."""

    story: str
    equation: str
    t: np.ndarray
    initial: tuple[float, ...]
    observed: str = "u"
    noise: float
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)  # known inputs, without noise


def multisine(t: np.ndarray) -> np.ndarray:
    """Return a force with five lines between 0.15 and 1.3 rad/s and a growing envelope."""
    lines = [(0.15, 0.0), (0.4, 1.1), (0.7, 2.9), (1.0, 4.4), (1.3, 0.6)]
    return sum(np.sin(2 * w * t + phase) for w, phase in lines) * (0.5 + 0.5 * t / t[-1])


SHAKER_TIMES = np.linspace(0.0, 30.0, 241)
RECIPES = {
    "pendulum": Recipe(
        story="accelerations of a damped pendulum, let go at rest from u = 1.4 rad",
        equation="u'' = -9.81*sin(u) - 0.3*u'",
        t=np.linspace(0.0, 6.0, 181),
        initial=(1.4, 0.0),
        observed="acceleration",
        noise=0.02,
    ),
    "shaker": Recipe(
        story="a mass on a hardening spring, moved from rest by a measured force",
        equation="u'' + 0.4*u' + 2*u + 0.6*u^3 = F",
        t=SHAKER_TIMES,
        initial=(0.0, 0.0),
        noise=0.02,
        columns={"force": np.round(multisine(SHAKER_TIMES), 4)},
    ),
    "bubble": Recipe(
        story="the radius of a bubble that is squeezed and rebounds (Rayleigh's equation)",
        equation="u*u'' + 1.5*u'^2 - 1.2 = 0",
        t=np.linspace(0.0, 6.0, 121),
        initial=(2.0, -0.8),
        noise=0.01,
    ),
}


def make(recipe: Recipe, *, rng: np.random.Generator) -> str:
    """Return the text of the file."""
    inputs = {"F": (recipe.t, recipe.columns["force"])} if recipe.columns else None
    solved = solve(parse_equation(recipe.equation), recipe.t, recipe.initial, inputs=inputs, config=ACCURATE)
    assert solved.failure is None, solved.failure
    clean = solved.u if recipe.observed == "u" else solved.d2u
    noisy = clean + recipe.noise * np.std(clean) * rng.standard_normal(len(clean))
    columns = {"t": recipe.t, **recipe.columns, recipe.observed: noisy}
    start = ", ".join(f"{name}(0) = {x:g}" for name, x in zip(("u", "u'"), recipe.initial, strict=False))
    truth = f"{recipe.equation} from {start}, with {100 * recipe.noise:g} % noise."
    lines = [f"# Made by gode: {recipe.story}; {truth}", ",".join(columns)]
    lines += [",".join(f"{x:.4f}" for x in row) for row in zip(*columns.values(), strict=True)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for number, (name, recipe) in enumerate(RECIPES.items()):
        path = FOLDER / f"{name}.csv"
        path.write_text(make(recipe, rng=np.random.default_rng(number)), encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size} bytes")
