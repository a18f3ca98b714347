import numpy as np

from gode.fleet.grouping import group, to_fit
from gode.fleet.result import Fit

CUBE, SINE, LINE = "u'' = C*u + C*u^3", "u'' = C*u + C*sin(u)", "u' = C*u + C"


def fit(law: str, gap: float, prior: float = 12.0) -> Fit:
    return Fit(law, gap, prior, 1.0, (1.0, 2.0), (0.1, 0.1), ("u", "1"))


def fleet(n: int, rng, *, known: float = 1.0) -> dict[str, list[Fit]]:
    """Records of the law CUBE: alone, a third of them prefer SINE by a little, or something of their own."""
    out = {}
    for i in range(n):
        gaps = {CUBE: 0.0, SINE: float(rng.normal(4, 5)), f"u'' = C*u + C*f{i}(u)": float(rng.normal(8, 5))}
        if rng.random() > known:
            del gaps[CUBE]
        least = min(gaps.values())
        out[f"c{i}"] = [fit(law, gap - least) for law, gap in gaps.items()]
    return out


def test_a_law_that_explains_many_is_preferred_to_laws_of_their_own(rng):
    fits = {**fleet(60, rng), **{f"l{i}": [fit(LINE, 0.0), fit("u' = C*u", 9.0, 6.0)] for i in range(40)}}
    alone = [min(own, key=lambda f: f.gap).law for name, own in fits.items() if name.startswith("c")]
    assert alone.count(CUBE) < 50
    found = group(fits)
    assert found.laws[:2] == (CUBE, LINE)
    assert sum(found.law_of[f"c{i}"] == CUBE for i in range(60)) >= 58
    assert all(found.law_of[f"l{i}"] == LINE for i in range(40))
    assert found.could[LINE] == 40
    assert sum(found.sizes.values()) == 100


def test_two_laws_that_records_tell_apart_stay_two(rng):
    fits = {f"a{i}": [fit(CUBE, 0.0), fit(SINE, float(rng.uniform(15, 30)))] for i in range(20)}
    fits |= {f"b{i}": [fit(SINE, 0.0), fit(CUBE, float(rng.uniform(15, 30)))] for i in range(3)}
    found = group(fits)
    assert found.sizes == {CUBE: 20, SINE: 3}


def test_a_rare_law_is_not_lost_in_a_frequent_one_that_contains_it(rng):
    grown, decayed = "u' = C*u + C*u^2", "u' = C*u"

    def record(rate: float, square: float, gaps: tuple[float, float]) -> list[Fit]:
        wide = Fit(grown, gaps[0], 6.0, 1.0, (rate, square), (0.02, 0.01), ("u", "u^2"))
        return [wide, Fit(decayed, gaps[1], 3.0, 1.0, (rate,), (0.02,), ("u",))]

    fits = {f"g{i}": record(0.8, float(rng.normal(-0.16, 0.02)), (0.0, 40.0)) for i in range(90)}
    fits |= {f"d{i}": record(-0.4, float(rng.normal(0.0, 0.01)), (2.0, 0.0)) for i in range(3)}
    fits |= {
        f"other{i}": record(0.4, -0.5, (0.0, 4.0)) for i in range(3)
    }  # with constants apart, but none zero
    found = group(fits)
    assert found.sizes == {grown: 93, decayed: 3}


def test_a_shared_law_is_to_be_fitted_where_it_is_missing(rng):
    fits = fleet(50, rng, known=0.6)
    found = group(fits)
    wanted = to_fit(fits, found)
    lacking = {name for name, own in fits.items() if CUBE not in {f.law for f in own}}
    assert lacking
    assert {name for name, laws in wanted.items() if CUBE in laws} == lacking
    settled = {name: [*own, *([fit(CUBE, -1.0)] if name in wanted else [])] for name, own in fits.items()}
    assert group(settled).sizes[CUBE] >= 48


def test_the_grouping_does_not_depend_on_the_order_of_the_records(rng):
    fits = fleet(40, rng)
    names = list(fits)
    shuffled = {names[i]: fits[names[i]] for i in np.random.default_rng(1).permutation(40)}
    assert dict(group(fits).law_of) == dict(group(shuffled).law_of)


def test_no_records_have_no_laws():
    assert group({}).laws == ()
