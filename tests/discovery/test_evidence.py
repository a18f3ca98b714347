from dataclasses import replace

import numpy as np
import pytest

from gode.discovery import fit
from gode.discovery.evidence import make_pool
from gode.discovery.simulate import Scenario, simulate
from gode.equation import parse_equation
from gode.selection import rank

T = np.linspace(0.0, 4.0, 40)


@pytest.fixture(scope="module")
def found():
    noise = 0.02 * np.random.default_rng(1).standard_normal(len(T))
    return fit("u' = C*u", T, 2 * np.exp(-0.7 * T) + noise)


def pooled(found, candidates):
    return make_pool(candidates, found.prepared, found.prepared.whole, found.settings)


def test_what_explodes_within_the_data_is_passed_over(found):
    right = found.candidates[0]
    exploding = replace(right, equation=parse_equation("u' = 9*u^2"), rms=0.1 * right.rms, by_state=())
    texts = [str(c.equation) for c in pooled(found, [exploding, right]).candidates]
    assert texts == [str(right.equation)]
    assert len(pooled(found, [exploding]).candidates) == 1  # rather than none


def test_the_pool_holds_the_residuals_of_the_best_and_what_plainer_models_leave(found):
    right = found.candidates[0]
    worse = replace(right, equation=parse_equation("u' = -0.5*u + 0.1"), rms=5 * right.rms, by_state=())
    pool = pooled(found, [worse, right])
    ((observed, residual),) = pool.series
    noise = found.prepared.noise[0]
    assert observed * noise == pytest.approx(found.prepared.dataset.runs[0].observed[0])
    assert np.sqrt(np.mean(residual**2)) == pytest.approx(right.rms, rel=1e-3)
    ((constant,), k0), ((line,), k1) = pool.polynomials
    assert (k0, k1) == (1, 2)
    assert constant > line > right.rms**2
    assert rank(pool, found.settings.selection).supported


def test_an_equation_that_leaves_its_highest_derivative_open_is_passed_over():
    noise = 0.1 * np.random.default_rng(2).standard_normal(len(T))
    found = fit("u'' = C*t", T, 0.8 * T**3 + noise, initial=[0.0, 0.0])
    right = found.candidates[0]
    vague = replace(
        right, equation=parse_equation("u'' = 1.856*u'/u^0.3337"), rms=0.1 * right.rms, by_state=()
    )
    assert simulate(vague, found.prepared, Scenario(T)).failure is None, (
        "0/0 at the start is what was smoothed"
    )
    assert [str(c.equation) for c in pooled(found, [vague, right]).candidates] == [str(right.equation)]
