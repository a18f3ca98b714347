import numpy as np
import pytest

from gode.paper.evolution_sec23 import EvolutionConfig, evolve

START = np.full(3, 2.0)


def searched(config, seed=0, aim=1.0):
    generations = []

    def score(points):
        generations.append(points.copy())
        return [float(np.sum((p - aim) ** 2)) for p in points]

    evolve(score, START, config=config, rng=np.random.default_rng(seed))
    return generations


def test_the_lowest_score_is_approached():
    generations = searched(EvolutionConfig(population=20, generations=30, target=0.0))
    assert len(generations) == 30
    assert np.linalg.norm(generations[-1].mean(axis=0) - 1.0) < 0.05


def test_the_search_ends_at_its_target():
    generations = searched(EvolutionConfig(population=20, generations=200, target=1e-3))
    assert len(generations) < 60
    assert min(np.sum((p - 1.0) ** 2) for p in generations[-1]) <= 1e-3


def test_the_first_generation_has_the_spread_asked_for():
    (first,) = searched(EvolutionConfig(population=400, generations=1, sigma=0.5))
    assert np.std(first - START) == pytest.approx(0.5, rel=0.1)


def test_the_same_rng_gives_the_same_points_and_no_global_state_is_touched():
    np.random.seed(5)  # noqa: NPY002  the global state is what is looked at
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    config = EvolutionConfig(population=8, generations=4)
    one, two, other = searched(config), searched(config), searched(config, seed=1)
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_the_best_point_pulls_later_generations_when_it_is_told_again():
    def distance(keep, seed):
        """How far the last generation is from the best point of the first."""
        seen = []

        def score(points):
            seen.append(points.copy())
            worse = 0.0 if len(seen) == 1 else 100.0
            return [worse + i for i in range(len(points))]

        config = EvolutionConfig(population=12, generations=8, keep_best=keep, target=-1.0)
        evolve(score, START, config=config, rng=np.random.default_rng(seed))
        return np.linalg.norm(seen[-1].mean(axis=0) - seen[0][0])

    kept, lost = (np.mean([distance(keep, seed) for seed in range(6)]) for keep in (True, False))
    assert kept < 0.7 * lost
