"""Does the latent search pay? Random sentences against latent spaces, at equal numbers of different fits.

    python -m gode_bench.latent first-order MODEL_DIR... [--problems 12] [--fits 600] [--seeds 0 1]

Every method fits the same number of different skeletons by the cheap score (integral form, information
criterion); printed is the mean distance of its best score to the best that any method found, and how
often it found that one. Each MODEL_DIR holds a model of the grammar; `latent` starts at the origin and at
the encodings of the best of the random sentences that it, too, spends a third of its fits on.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gode.data import Dataset, make_run
from gode.fitting import ConstantsConfig
from gode.fitting.prepare import prepare
from gode.model import LatentSpace, load_model
from gode.search import LatentConfig, Objective, ObjectiveConfig, search_latent
from gode.search.explore import encoded_leaders
from gode.search.templates import random_skeletons
from gode_bench.problems import Problem, noisy, suite, truth

RANDOM_FRACTION = (
    0.33  # The latent search spends a third of its fits on random sentences, as normal effort does.
)
N_CLIMBERS = 5  # It starts from the encodings of the five best of them.
Spender = Callable[[Objective, LatentSpace, int, np.random.Generator], None]


def objective_for(problem: Problem, seed: int) -> Objective:
    """Return the cheap score on noisy data of a problem."""
    t, *_ = truth(problem)
    _, y = noisy(problem, 0.05, rng=np.random.default_rng(500 + seed))
    of_state = problem.observed == "u"
    run = make_run(
        t,
        u=y if of_state else None,
        acceleration=None if of_state else y,
        initial=problem.initial,
        inputs={"F": problem.force} if problem.force else None,
    )
    prepared = prepare(Dataset((run,)), problem.order, 1e-4)
    fit = ConstantsConfig()
    return Objective(prepared.problems[:1], config=ObjectiveConfig(order=problem.order), fit=fit)


def spend_random(objective: Objective, space: LatentSpace, fits: int, rng: np.random.Generator) -> None:
    """Spend the fits on random sentences."""
    for skeleton in random_skeletons(space, 100 * fits, rng):
        objective.score(skeleton)
        if objective.n_fitted >= fits:
            break


def spend_prior(objective: Objective, space: LatentSpace, fits: int, rng: np.random.Generator) -> None:
    """Spend the fits on random points of the space."""
    while objective.n_fitted < fits:
        for skeleton in space.decode(rng.standard_normal((64, space.dimension))):
            if objective.n_fitted < fits:
                objective.score(skeleton)


def spend_latent(objective: Objective, space: LatentSpace, fits: int, rng: np.random.Generator) -> None:
    """Spend a third of the fits on random sentences, and the rest on the search from the best of them."""
    spend_random(objective, space, int(RANDOM_FRACTION * fits), rng)
    while objective.n_fitted < fits:
        before = objective.n_fitted
        starts = [np.zeros(space.dimension), *encoded_leaders(objective, space, N_CLIMBERS)]
        search_latent(
            objective, space, starts, budget=fits - objective.n_fitted, config=LatentConfig(), rng=rng
        )
        if objective.n_fitted == before:
            spend_prior(objective, space, min(fits, before + 50), rng)


def main() -> None:
    """Print how far each method stays behind the best."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("grammar")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--fits", type=int, default=600)
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    given = parser.parse_args()
    order = 1 if given.grammar == "first-order" else 2
    problems = [p for name in ("b1", "b2", "b3") for p in suite(name) if p.order == order]
    problems = problems[:: max(1, len(problems) // given.problems)]
    spaces = {folder.name: load_model(folder / given.grammar) for folder in given.folders}
    rows: dict[str, list[float]] = {}
    for problem in problems:
        for seed in given.seeds:
            scores = {}
            for label, (spend, space) in methods(spaces).items():
                objective = objective_for(problem, seed)
                spend(objective, space, given.fits, np.random.default_rng(seed))
                scores[label] = min(objective.seen.values())
            best = min(scores.values())
            for label, score in scores.items():
                rows.setdefault(label, []).append(score - best)
    for label, row in rows.items():
        gaps = np.array(row)
        print(
            f"{label:28s} mean gap {gaps.mean():7.2f}  median {np.median(gaps):6.2f}  "
            f"best found {np.mean(gaps < 0.01):.2f}"
        )


def methods(spaces: dict[str, LatentSpace]) -> dict[str, tuple[Spender, LatentSpace]]:
    """Return how each method spends its fits, and in which space."""
    out: dict[str, tuple[Spender, LatentSpace]] = {
        "random sentences": (spend_random, next(iter(spaces.values())))
    }
    for name, space in spaces.items():
        out[f"{name}: prior"] = (spend_prior, space)
        out[f"{name}: latent"] = (spend_latent, space)
    return out


if __name__ == "__main__":
    main()
