import math

from gode.search.archive import Pace, Workload, planned
from gode.search.settings import EFFORTS


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_what_is_left_follows_from_the_plan_and_the_speed():
    clock = Clock()
    pace = Pace(Workload(cheap=1000, fits=100), 1, clock)
    assert math.isnan(pace.left(n_cheap=0, on_trajectory=False))
    clock.now = 5.0
    assert pace.left(n_cheap=500, on_trajectory=False) == 5.0 + 100 * 8 * 0.01  # fits are guessed at first
    clock.now = 10.0
    pace.left(n_cheap=1000, on_trajectory=False)
    for n in range(1, 51):
        clock.now += 0.1
        left = pace.left(n_cheap=1000, on_trajectory=True)
        assert n < 5 or math.isclose(left, (100 - n) * 0.1)


def test_a_search_still_to_come_is_expected_to_take_as_long_as_this_one():
    clock = Clock()
    pace = Pace(Workload(cheap=100, fits=0), 2, clock)
    pace.left(n_cheap=0, on_trajectory=False)
    clock.now = 5.0
    assert math.isclose(pace.left(n_cheap=50, on_trajectory=False), 15.0)
    clock.now = 10.0
    assert pace.left(n_cheap=100, on_trajectory=False) == 10.0


def test_more_than_was_planned_leaves_nothing():
    clock = Clock()
    pace = Pace(Workload(cheap=10, fits=0), 1, clock)
    assert math.isnan(pace.left(n_cheap=5, on_trajectory=False))
    clock.now = 1.0
    assert pace.left(n_cheap=30, on_trajectory=False) == 0.0


def test_more_effort_is_more_planned_work():
    quick, normal = (planned(EFFORTS[name], 1.0) for name in ("quick", "normal"))
    assert normal.cheap > quick.cheap
    assert normal.fits > quick.fits
    assert normal.fits > quick.fits


def test_a_plan_counts_the_fits_of_all_stages():
    assert planned(EFFORTS["quick"], 1.0) == Workload(cheap=630, fits=79)
    assert planned(EFFORTS["quick"], 0.5) == Workload(cheap=330, fits=39.5)
