import numpy as np
import pytest

from gode.search.latent import Evolution


def sphere(x):
    return float(np.sum((x - 1) ** 2))


def ellipsoid(x):
    return float(np.sum(10 ** (3 * np.arange(len(x)) / (len(x) - 1)) * (x - 1) ** 2))


def stairs(x):
    return float(np.sum(np.floor(3 * x) ** 2))


def rosenbrock(x):
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def searched(score, n=4, population=12, generations=200, seed=0, **options):
    strategy = Evolution(np.full(n, 2.0), 0.5, population, rng=np.random.default_rng(seed), **options)
    told = []
    while not strategy.is_over and len(told) < generations:
        points = strategy.ask()
        told.append([score(x) for x in points])
        strategy.tell(points, told[-1])
    return strategy, told


@pytest.mark.parametrize("score", [sphere, ellipsoid, rosenbrock])
def test_the_minimum_is_found_and_the_search_ends_by_itself(score):
    strategy, told = searched(score, generations=1000)
    assert strategy.mean == pytest.approx(np.ones(4), abs=1e-5)
    assert len(told) < 1000


def test_the_search_ends_at_its_target():
    _, told = searched(sphere, target=1e-2)
    assert min(told[-1]) <= 1e-2 < min(min(scores) for scores in told[:-1])


def test_the_search_ends_where_all_score_alike():
    assert len(searched(lambda x: 1.0)[1]) == 1
    strategy, ends = Evolution(np.zeros(3), 1.0, 12, rng=np.random.default_rng(0)), []
    for _ in range(2):
        strategy.tell(strategy.ask(), [1.0] * 10 + [2.0] * 2)
        ends.append(strategy.is_over)
    assert ends == [False, True]


def test_the_search_ends_when_it_runs_away():
    _, told = searched(lambda x: -float(x[0]), generations=1000)
    assert len(told) < 100


def test_the_same_rng_gives_the_same_points():
    one, two, other = (searched(sphere, generations=5, seed=seed)[1] for seed in (0, 0, 1))
    assert one == two != other


def test_a_foreign_point_counts_no_more_than_one_that_was_drawn():
    near, far = (Evolution(np.zeros(3), 1.0, 8, rng=np.random.default_rng(0)) for _ in range(2))
    for strategy, distance in ((near, 100.0), (far, 1e6)):
        points = strategy.ask()
        points[0] = [distance, 0.0, 0.0]
        strategy.tell(points, range(8))
    assert far.mean == pytest.approx(near.mean)
    assert np.linalg.norm(far.mean) < 4


@pytest.mark.slow  # cma takes seconds to import
@pytest.mark.parametrize("score", [sphere, ellipsoid, stairs, rosenbrock])
@pytest.mark.parametrize(
    ("n", "population", "foreign"),
    [(2, 6, False), (3, 12, False), (32, 24, False), (32, 24, True), (8, 100, True), (56, 24, False)],
)
def test_the_points_drawn_are_those_of_cma(score, n, population, foreign):
    import cma

    start, rng = np.full(n, 2.0), np.random.default_rng(1)
    options = {"popsize": population, "verbose": -9, "verb_log": 0, "seed": np.nan, "ftarget": 1e-3}
    twin = cma.CMAEvolutionStrategy(
        start, 0.35, options | {"randn": lambda *shape: rng.standard_normal(shape)}
    )
    ours = Evolution(start, 0.35, population, rng=np.random.default_rng(1), target=1e-3)
    best = None
    for _ in range(40):
        theirs, points = twin.ask(), ours.ask()
        assert np.abs(points - np.array(theirs)).max() < 1e-6 * ours.sigma
        scores = [score(x) for x in points]
        if foreign and best:
            worst = int(np.argmax(scores))
            theirs[worst], points[worst], scores[worst] = best[0].copy(), best[0], best[1]
        best = best or (points[int(np.argmin(scores))].copy(), min(scores))
        twin.tell(theirs, scores)
        ours.tell(points, scores)
        assert ours.is_over == bool(twin.stop())
        if ours.is_over:
            return
