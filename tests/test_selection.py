from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from gode.data import Columns, Dataset, columns_of_run, make_run
from gode.equation import parse_equation
from gode.fitting.evidence import Residuals, fitted_polynomials, residuals_of
from gode.fitting.population import Individuals
from gode.fitting.target import Target
from gode.fitting.trajectory_fit import Shot
from gode.prior import log_prior
from gode.selection import (
    PLAIN,
    Candidate,
    Pool,
    SelectionConfig,
    front,
    in_order,
    judge,
    probabilities,
    rank,
    ties,
    weighed,
)

CONFIG = SelectionConfig()


def candidate(text: str, rms: float, criterion: float = 0.0, n: int = 100) -> Candidate:
    equation = parse_equation(text)
    k, price = len(equation.constants), 2 * (log_prior(PLAIN[1]) - log_prior(equation.skeleton))
    return Candidate(equation, np.zeros((1, 1)), np.eye(k), rms, criterion, n, k, float(n), unusual=price)


SIMPLE = candidate("u' = 2*u", 3.0, 10.0)
RIGHT = candidate("u' = 2*u - 3*u^2", 1.0, -50.0)
RIVAL = candidate("u' = 2*u - 3*u^3", 1.01, -47.0)
BLOATED = candidate("u' = 2*u - 3*u^2 + 0.1*sin(u)", 0.999, -40.0)


def named(*candidates: Candidate, floor: float = 0.0, config: SelectionConfig = CONFIG) -> str:
    return str(rank(Pool(candidates, (floor,)), config).candidates[0].equation.skeleton)


def test_the_criterion_is_the_evidence_with_the_prior():
    found = replace(candidate("u' = 2*u - 3*u^2", 0.5), unusual=7.0)
    expected = 100 * np.log(25 / 98) + 2 * np.log(100) + 7
    assert weighed(found, (0.0,), CONFIG).criterion == pytest.approx(expected)
    fewer = 20 * np.log(0.25 * 20 / 18) + 2 * np.log(20) + 7
    assert weighed(found, (0.0,), CONFIG, 20.0).criterion == pytest.approx(fewer)


def test_a_number_costs_the_more_the_more_accurate_the_data():
    found = replace(candidate("u' = 2*u - 3*u^2", 0.5), unusual=0.0)
    variance, signal = 25 / 98, 40.0**2  # in units of the noise
    expected = 100 * np.log(variance) + 2 * np.log(100 * signal / variance)
    floor = (40.0 * CONFIG.floor,)
    assert weighed(found, floor, CONFIG, 100.0).criterion == pytest.approx(expected, rel=1e-6)
    schwarz = 100 * np.log(variance) + 2 * np.log(100)
    assert weighed(found, floor, CONFIG).criterion == pytest.approx(schwarz, rel=1e-6)


def residuals(*rows: np.ndarray) -> dict[str, object]:
    """Return what a candidate knows of its residuals."""
    n = sum(map(len, rows))
    own = residuals_of(rows, n)
    return {"rms": float(np.sqrt(own.square)), "by_state": (tuple(own),), "n_values": n, "independent": n}


def test_a_plain_law_with_correlated_residuals_beats_one_that_follows_them(rng):
    slow = lfilter([1.0], [1.0, -0.8], rng.standard_normal(100))
    followed = slow - np.polynomial.Polynomial.fit(np.arange(100), slow, 4)(np.arange(100))
    plain = replace(candidate("u' = 2*u", 1.0), **residuals(slow))
    longer = replace(candidate("u' = 2*u - 3*u^2 + 4*u^3", 1.0), **residuals(followed), n_free=5)
    assert named(plain, longer) == "u' = C*u"
    as_white = [replace(c, by_state=()) for c in (plain, longer)]
    assert named(*as_white) == "u' = C*u + C*u^2 + C*u^3"


def columns(t: np.ndarray, u: np.ndarray) -> Columns:
    return columns_of_run(t, u, np.gradient(u, t))


def test_what_people_do_not_write_costs_more():
    t = np.linspace(0, 1, 50)
    shots = [shot(text) for text in ("u' = -2*u", "u' = -2*u^4*cos(u)")]
    usual, odd = (judge(s, (0.0,), CONFIG, columns(t, np.exp(-2 * t))) for s in shots)
    assert usual is not None
    assert usual.unusual == pytest.approx(0.0)
    assert odd is not None
    assert odd.unusual > 10.0


def shot(text: str) -> Shot:
    equation = parse_equation(text)
    k = len(equation.constants)
    return Shot(equation.skeleton, equation, np.zeros((1, 1)), 50.0, 50, k + 1, np.eye(k), 50.0)


def test_as_many_numbers_as_values_explain_nothing():
    few = [candidate("u' = 2*u", 1.0, n=6), candidate("u' = 2*u - 3*u^2 + u^3 - 2*u^4 + 1", 0.3, n=6)]
    assert named(*few) == "u' = C*u"


def test_a_term_must_earn_its_price():
    assert named(candidate("u' = 2*u", 1.0), candidate("u' = 2*u - 3*u^2", 0.97)) == "u' = C*u"
    assert named(candidate("u' = 2*u", 1.0), candidate("u' = 2*u - 3*u^2", 0.9)) == "u' = C*u + C*u^2"


def test_residuals_below_the_floor_count_as_none():
    plain, longer = candidate("u' = 2*u", 1e-9), candidate("u' = 2*u - 3*u^2", 1e-12)
    assert named(plain, longer) == "u' = C*u + C*u^2"
    assert named(plain, longer, floor=1e-6) == "u' = C*u"


def test_correlated_residuals_count_for_less():
    plain, longer = candidate("u' = 2*u", 1.0), candidate("u' = 2*u - 3*u^2", 0.9)
    drifting = [replace(c, independent=10.0) for c in (plain, longer)]
    assert named(plain, longer) == "u' = C*u + C*u^2"
    assert named(*drifting) == "u' = C*u"


def test_the_most_accurate_candidate_says_how_many_values_are_independent():
    accurate = replace(candidate("u' = 2*u - 3*u^2 + 0.1*sin(u)", 0.89), independent=10.0)
    plain, longer = candidate("u' = 2*u", 1.0), candidate("u' = 2*u - 3*u^2", 0.9)
    assert named(plain, longer, accurate) == "u' = C*u"


def test_the_least_criterion_comes_first_and_each_equation_once():
    assert in_order([SIMPLE, BLOATED, RIVAL, RIGHT]) == [RIGHT, RIVAL, BLOATED, SIMPLE]
    worse = candidate("u' = 2.1*u - 3*u^2", 1.2, -20.0)
    assert in_order([worse, RIGHT]) == [RIGHT]


def test_near_ties_are_the_smallest_set_with_most_of_the_probability():
    plain = replace(CONFIG, temperature=1.0)
    order = in_order([SIMPLE, BLOATED, RIVAL, RIGHT])  # weights 1, exp(-1.5) = 0.22, exp(-5) = 0.007, 0
    assert ties(order, replace(plain, level=0.8)) == [RIGHT]
    assert ties(order, replace(plain, level=0.9)) == [RIGHT, RIVAL]
    assert ties(order, replace(plain, level=0.999)) == [RIGHT, RIVAL, BLOATED]
    assert ties([RIVAL, RIGHT], replace(plain, level=0.5)) == [RIVAL, RIGHT]  # the one named is always in it


def test_the_number_of_near_ties_is_told():
    alike = [candidate("u' = 2*u - 3*u^2", 1.0), candidate("u' = 2*u - 3*u^3", 1.0, n=100)]
    ranking = rank(Pool([*alike, candidate("u' = 2*u", 3.0)], (0.0,)), CONFIG)
    assert ranking.n_ties == 2
    assert len(ranking.candidates) == 3


def test_of_nothing_nothing_is_ranked():
    assert rank(Pool([], (0.0,)), CONFIG).candidates == []


def test_the_front_gets_more_accurate_with_complexity():
    assert front([SIMPLE, BLOATED, RIVAL, RIGHT]) == [SIMPLE, RIGHT, BLOATED]


def test_a_failure_is_no_candidate():
    equation = parse_equation("u' = 2*u")
    failed = Shot(equation.skeleton, None, np.zeros((0, 0)), np.inf, 10, 1, np.zeros((1, 1)))
    t = np.linspace(0, 1, 50)
    assert judge(failed, (0.0,), CONFIG, columns(t, t)) is None


def test_functions_and_time_are_less_probable_than_powers():
    texts = ("u' = 2*u^2", "u' = 2*sin(u)", "u' = 2*t*u", "u' = 2*sin(3*u)")
    t = np.linspace(0, 1, 50)
    judged = [judge(shot(text), (0.0,), CONFIG, columns(t, np.exp(-2 * t))) for text in texts]
    prices = [found.unusual for found in judged if found]
    assert prices[0] < min(prices[1:])
    assert prices[1] < prices[3]


@pytest.mark.parametrize(
    ("signal", "expected"),
    [(lambda t: 0 * t, False), (lambda t: 3 * t, False), (lambda t: np.exp(0.3 * t), True)],
    ids=["noise alone", "straight line", "growth"],
)
def test_an_equation_must_beat_a_straight_line(signal, expected, rng):
    t = np.linspace(0.0, 10.0, 100)
    u = signal(t) + 0.1 * rng.standard_normal(100)
    target = Target(Dataset((make_run(t, u=u),)), np.array([10.0, 0.0, 0.0]), (np.zeros((3, 100)),), (1.0,))
    best = candidate("u' = 0.3*u", 1.0)  # as good as the noise allows
    assert rank(Pool([best], (0.0,), fitted_polynomials(target)), CONFIG).supported is expected


def test_what_a_random_walk_explains_as_well_is_not_supported(rng):
    t = np.linspace(0.0, 10.0, 120)
    walk = np.cumsum(rng.standard_normal(120))
    best = replace(candidate("u' = 2*u - 3*u^2", 0.1, n=120), n_free=5)
    curve = np.polynomial.Polynomial.fit(t, walk, 4)  # as an equation with some constants might follow it
    follows = [(walk, walk - curve(t))]
    assert rank(Pool([best], (0.0,)), CONFIG).supported
    assert not rank(Pool([best], (0.0,), series=follows), CONFIG).supported
    noise = 0.05 * rng.standard_normal(120)
    grown = 5 / (1 + 9 * np.exp(-0.8 * t)) + noise
    assert rank(Pool([best], (0.0,), series=[(grown, noise)]), CONFIG).supported


@pytest.mark.parametrize(("gain", "supported"), [(9.0, False), (11.0, True)])
def test_support_needs_a_gain_of_ten_over_a_polynomial(gain, supported):
    criterion = rank(Pool([RIGHT], (0.0,)), CONFIG).candidates[0].criterion
    n, k = RIGHT.n_values, 2
    square = (n - k) / n * np.exp((criterion + gain - k * np.log(n)) / n)
    assert rank(Pool([RIGHT], (0.0,), [((square,), k)]), CONFIG).supported is supported


def polynomials(*runs):
    return fitted_polynomials(Target(Dataset(runs), np.array([10.0, 5.0, 0.0]), (), (1.0,)))


def test_polynomials_have_the_degree_that_makes_the_observed_channel_constant_and_one_more():
    t = np.linspace(2.0, 6.0, 9)
    line, noise = 3.0 + 2.0 * t, np.tile([0.1, -0.1, 0.0], 3)
    scatter = 100 * np.mean((line - line.mean()) ** 2)
    level, slope = polynomials(make_run(t, u=line))
    assert level == (pytest.approx((scatter,)), 1)
    assert slope == (pytest.approx((0,), abs=1e-9), 2)
    both = polynomials(make_run(t, u=line), make_run(t, u=line + noise))
    assert [k for _, k in both] == [2, 4]
    rest = noise - np.polyval(np.polyfit(t, noise, 1), t)
    assert both[1][0] == (pytest.approx(100 * np.mean(rest**2) / 2),)
    (level, k), _ = polynomials(make_run(t, velocity=line))
    assert (level, k) == ((pytest.approx(scatter / 4),), 1)


def test_standard_errors_are_the_roots_of_the_variances():
    found = replace(RIGHT, covariance=np.array([[4.0, 1.0], [1.0, -1e-20]]))
    assert found.errors.tolist() == [2.0, 0.0]


def test_constants_of_each_run_gain_nothing_where_the_runs_do_not_differ():
    """Twelve runs of eight values: equal residuals with eleven numbers more are no better."""
    n, runs, error = 96, 12, 0.05
    left = (tuple(residuals_of([np.random.default_rng(1).standard_normal(n)], n)),)
    shared = replace(RIGHT, n_values=n, n_free=14, independent=float(n), by_state=left, rms=1.0)
    scattered = 0.7 + error * np.linspace(-1.4, 1.4, runs)[:, None]  # as their errors make them
    for values, gains in ((scattered, False), (0.7 + 40 * (scattered - 0.7), True)):
        own = Individuals((0,), values, np.full((runs, 1, 1), error**2))
        more = 1.0 + gains * float(np.mean((values - 0.7) ** 2) / error**2)  # of the squares without them
        alone = replace(shared, own=own, n_free=25)
        without = replace(shared, by_state=(tuple(Residuals(*left[0]).scaled(more)),), rms=more**0.5)
        both = [weighed(c, (1e-3,), CONFIG, float(n)).criterion for c in (without, alone)]
        assert (both[1] < both[0]) is gains


def test_constants_of_runs_that_nothing_fixes_cost_a_finite_price():
    """A record could not be read again whose criterion was infinite."""
    own = Individuals((0, 1), np.ones((6, 2)), np.full((6, 2, 2), 1e300))
    left = (tuple(residuals_of([np.random.default_rng(1).standard_normal(96)], 96)),)
    found = replace(RIGHT, n_values=96, n_free=12, by_state=left, own=own)
    assert np.isfinite(weighed(found, (1e-3,), CONFIG, 96.0).criterion)


def test_constants_of_runs_that_spread_far_more_than_their_errors_cost_a_finite_price():
    """Along the one axis of the spread the errors are lost to rounding, and the sum is a singular matrix."""
    values = (
        np.ones((6, 2)) + 1e7 * np.arange(6)[:, None] * np.array([1.0, 2.0]) * (np.arange(6) > 3)[:, None]
    )
    own = Individuals((0, 1), values, np.tile(1e-10 * np.eye(2), (6, 1, 1)))
    left = (tuple(residuals_of([np.random.default_rng(1).standard_normal(96)], 96)),)
    found = replace(RIGHT, n_values=96, n_free=12, by_state=left, own=own)
    assert np.isfinite(weighed(found, (1e-3,), CONFIG, 96.0).criterion)


def test_a_law_without_a_criterion_is_the_last_and_leaves_the_others_their_probabilities():
    """One criterion that was no number made all probabilities NaN, and no report could be written."""
    broken = weighed(replace(RIGHT, unusual=np.nan), (1e-3,), CONFIG, 80.0)
    assert broken.criterion == np.inf
    sound = weighed(RIGHT, (1e-3,), CONFIG, 80.0)
    assert probabilities([sound, broken], CONFIG).tolist() == [1.0, 0.0]
    assert probabilities([broken, broken], CONFIG).tolist() == [1.0, 0.0]
