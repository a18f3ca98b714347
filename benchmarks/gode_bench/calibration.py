"""Calibration: of the laws that are named with a probability of 90 %, are about 90 % right?

    python -m gode_bench.calibration [--laws 300] [--effort quick] [--seed 0] [--out FILE.jsonl]

Laws are drawn from those that the prior knows, with random constants, initial values, noise and sampling,
simulated, and discovered. A law counts as right if it has the true structure, or is the same function along
the data, or lacks only terms of it that change the fit by less than the noise.
"""

import argparse
import warnings
from collections.abc import Sequence
from functools import partial
from itertools import count, islice, pairwise
from pathlib import Path

import numpy as np

import gode
from gode.data import Columns, columns_of_run
from gode.equation import Equation, Skeleton
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import unlabelled
from gode.errors import GodeError
from gode.prior import known_laws
from gode.solve import solve
from gode_bench.rows import Row, finished
from gode_bench.tables import TextTable, markdown

BINS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.01)
SAME = 0.03  # difference of the highest derivatives over their spread, along the clean data
NOTICEABLE = 9.0  # gain in the squared error, in units of the noise, of what is missing
TRIES = 200


def scalar_laws() -> list[Skeleton]:
    """Return the equations of one state without inputs that the prior knows, as often as it knows them."""
    alone = [law.skeleton for law in known_laws() if len(law.skeleton.states) == 1 and not law.n_inputs]
    return [part for skeleton in alone for part in skeleton.parts if part.order in (1, 2)]


def simulated(
    skeleton: Skeleton, rng: np.random.Generator
) -> tuple[Equation, np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the law with constants, times and a clean solution that moves; None if none is found."""
    for _ in range(TRIES):
        size = np.exp(rng.normal(0.0, 0.8, skeleton.n_constants))
        constants = size * rng.choice([-1.0, 1.0], skeleton.n_constants, p=[0.6, 0.4])
        law = Equation(skeleton, tuple(float(c) for c in constants))
        t = np.linspace(0.0, rng.uniform(3, 20), int(rng.integers(40, 200)))
        try:
            start = rng.uniform(0.2, 2.0, skeleton.order)
            path = solve(law, t, start.tolist())
        except GodeError:
            continue
        if path.failure is None and np.abs(path.u).max() < 50 and moves(path.u):
            return law, t, start, path.u
    return None


def moves(u: np.ndarray) -> bool:
    """Tell whether a signal is more than a jump at the start or a straight line."""
    x = np.linspace(-1, 1, len(u))
    rest = u - np.polynomial.Polynomial.fit(x, u, 1)(x)
    return bool(np.std(rest) > 0.1 * np.std(u) and np.std(u[len(u) // 4 :]) > 0.1 * np.std(u))


def is_right(
    found: gode.Discovery, truth: Equation, clean: Columns, t: np.ndarray, noisy: np.ndarray
) -> bool:
    """Tell whether the law that is named, in any of its forms, is the true one as far as data can tell."""
    if any(form.law.skeleton.structure == truth.skeleton.structure for form in found.forms):
        return True
    named = found.candidates[0]
    law = named.equation
    assert isinstance(law, Equation), "the data have one state"
    one, other = highest(law, clean), highest(truth, clean)
    if one is not None and other is not None and np.std(one - other) <= SAME * np.std(other):
        return True
    fewer = {unlabelled(term.body) for term in law.skeleton.terms}
    if not fewer < {unlabelled(term.body) for term in truth.skeleton.terms}:
        return False
    try:
        known = gode.fit(str(truth.skeleton), t, noisy).candidates[0]
    except GodeError:
        return False
    return bool((named.rms**2 / known.rms**2 - 1) * named.n_values < NOTICEABLE)


def highest(law: Equation, columns: Columns) -> np.ndarray | None:
    """Return the highest derivative that a law gives along the clean data; None where it is implicit."""
    terms = law.skeleton.rhs_terms
    if terms is None:
        return None
    with np.errstate(all="ignore"):
        tape = compile_tape(list(terms), columns.names, len(law.constants))
        return evaluate(tape, law.constants, columns.matrix).value


def one(skeletons: list[Skeleton], seed: int, effort: str) -> Row | None:
    """Return what came of one law."""
    rng = np.random.default_rng([7, seed])
    made = simulated(skeletons[int(rng.integers(len(skeletons)))], rng)
    if made is None:
        return None
    law, t, start, u = made
    noisy = u + rng.choice([0.01, 0.03, 0.05]) * np.std(u) * rng.standard_normal(len(u))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gode.discover(t, noisy, order=law.skeleton.order, effort=effort)
    path = solve(law, t, start.tolist())
    clean = columns_of_run(t, path.u, path.du, path.d2u if law.skeleton.order == 2 else None)
    right = is_right(found, law, clean, t, noisy)
    criteria = [c.criterion for c in found.candidates[:200]]
    rights = [c.equation.skeleton.structure == law.skeleton.structure for c in found.candidates[:200]]
    return {
        "probability": found.probability, "right": right, "supported": found.supported,
        "truth": str(law), "named": str(found.equation), "ties": len(found.ties),
        "among": any(f.law.skeleton.structure == law.skeleton.structure for f in found.ties),
        "criteria": criteria, "rights": rights,
    }  # fmt: skip


def main() -> None:
    """Discover so many laws but for those of an earlier call, then print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--laws", type=int, default=300)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--effort", default="quick")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    skeletons = scalar_laws()
    settings = ({"seed": seed, "effort": given.effort} for seed in count(given.seed))
    rows = list(islice(finished(given.out, settings, partial(one, skeletons)), given.laws))
    print("\n".join(markdown(tables(rows))))


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return how often laws of some probability are right."""
    told = [row for row in rows if row["supported"]]
    lines = []
    for low, high in pairwise(BINS):
        own = [r for r in told if low <= r["probability"] < high]
        if own:
            mean = np.mean([r["probability"] for r in own])
            right = sum(bool(r["right"]) for r in own)
            lines.append(
                (
                    f"{100 * low:.0f} to {min(100 * high, 100):.0f} %",
                    str(len(own)),
                    f"{100 * mean:.0f} %",
                    str(right),
                )
            )
    columns = ("named with a probability of", "laws", "mean probability", "of them right")
    note = (
        f"{len(told)} of {len(rows)} laws simulated were named with support by the data; of these "
        f"{sum(bool(r['right']) for r in told)} were right."
    )
    return [TextTable("", columns, tuple(lines), note)]


if __name__ == "__main__":
    main()
