"""A search ends where it is decided, and goes on where another law might still be named."""

import numpy as np
import pytest

import gode
from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.fitting.prepare import prepare
from gode.search.archive import Archive, Stage
from gode.search.interrupts import Interrupts
from gode.search.settings import Settings
from gode.search.stopping import degrees_of_freedom, is_at_noise, is_decided, price_of_a_number
from gode.search.workers import Workers

LOGISTIC = parse_equation("u' = 0.8*u - 0.16*u^2")


def archive_of(texts: list[str], n: int = 200, noise: float = 0.01, span: float = 12.0) -> Archive:
    """The fits of some equations to noisy logistic growth."""
    t = np.linspace(0.0, span, n)
    u = 5 / (1 + 9 * np.exp(-0.8 * t)) + noise * np.random.default_rng(1).standard_normal(n)
    prepared = prepare(Dataset((make_run(t, u=u),)), 1, 1e-5)
    settings = Settings(order=1, grammar="first-order")
    archive = Archive(prepared, settings, None, Workers(prepared, settings), Interrupts(), {})
    archive.solve([parse_equation(text) for text in texts], Stage.TRAJECTORIES)
    return archive


def stages(t, u, effort: str) -> tuple[gode.Discovery, set[Stage]]:
    seen: set[Stage] = set()
    found = gode.discover(t, u, effort=effort, on_step=lambda step: seen.add(step.stage))
    return found, seen


def test_a_law_that_leaves_noise_and_has_no_rival_decides():
    archive = archive_of(["u' = 0.8*u - 0.16*u^2", "u' = 0.3*u", "u' = 0.3"])
    assert is_at_noise(archive)
    assert is_decided(archive, 1000)


def test_a_rival_that_fits_as_well_keeps_the_search_going():
    archive = archive_of(["u' = 0.8*u - 0.16*u^2", "u' = 0.8*u - 0.16*u^2 - 0.001*u^3"], n=30, noise=0.15)
    assert is_at_noise(archive)
    assert not is_decided(archive, 1000)


def test_a_law_that_leaves_nothing_but_rounding_decides():
    rivals = ["u' = 0.8*u - 0.16*u^2 - 0.001*u^3", "u' = 0.3"]
    archive = archive_of(["u' = 0.8*u - 0.16*u^2", *rivals], noise=0.0)
    leader = archive.settled()[0]
    assert leader.equation.skeleton.key == LOGISTIC.skeleton.key
    assert leader.independent < 0.5 * leader.n_values, "errors of a solver follow each other"
    assert is_decided(archive, 1000)


def test_a_law_that_leaves_more_than_noise_does_not_decide():
    archive = archive_of(["u' = 0.8*u - 0.16*u*exp(u)", "u' = 0.3"])
    assert not is_at_noise(archive)
    assert not is_decided(archive, 1)


def test_among_very_many_laws_one_may_fit_by_coincidence():
    archive = archive_of(["u' = 0.8*u - 0.16*u^2", "u' = 0.3"])
    leader, floor = archive.settled()[0], archive.prepared.floor
    price = price_of_a_number(leader, floor, archive.settings.selection.floor)
    spare = float(degrees_of_freedom(archive.prepared).sum()) - leader.n_free
    assert is_decided(archive, 1000)
    assert not is_decided(archive, round(np.exp(spare * price / 2)))


def test_the_price_of_a_number_grows_with_the_samples_and_falls_with_the_noise():
    def price(**kwargs) -> float:
        archive = archive_of(["u' = 0.8*u - 0.16*u^2"], **kwargs)
        return price_of_a_number(
            archive.settled()[0], archive.prepared.floor, archive.settings.selection.floor
        )

    assert price(n=400) == pytest.approx(price(n=200) + np.log(2), abs=0.5)
    assert price(noise=0.001) == pytest.approx(price(noise=0.01) + 2 * np.log(10), abs=1.0)


def test_smoothing_has_more_degrees_of_freedom_along_more_cycles():
    def freedom(span: float) -> float:
        t = np.linspace(0.0, span, 200)
        u = np.sin(t) + 0.01 * np.random.default_rng(0).standard_normal(200)
        return float(degrees_of_freedom(prepare(Dataset((make_run(t, u=u),)), 1, 1e-5))[0])

    assert 3 < freedom(6.0) < freedom(30.0) < 200


def test_a_search_that_is_decided_draws_no_random_sentences():
    t = np.linspace(0.0, 12.0, 200)
    u = 5 / (1 + 9 * np.exp(-0.8 * t)) + 0.01 * np.random.default_rng(1).standard_normal(200)
    found, seen = stages(t, u, "normal")
    assert str(found.equation.equation.skeleton) == "u' = C*u + C*u^2"
    assert not {Stage.LIBRARY, Stage.LATENT} & seen


def test_a_search_that_is_not_decided_goes_on():
    t = np.linspace(0.0, 2.0, 12)
    u = np.exp(-t) + 0.05 * np.random.default_rng(0).standard_normal(12)
    assert {Stage.LIBRARY, Stage.LATENT} <= stages(t, u, "quick")[1]


@pytest.mark.slow
def test_what_is_a_term_less_than_the_law_named_was_fitted_before_a_search_ends():
    t = np.linspace(0.0, 20.0, 1000)
    clean = np.exp(-0.1 * t) * np.cos(np.sqrt(4 - 0.01) * t)
    u = clean + 0.03 * np.random.default_rng(0).standard_normal(1000)
    found = gode.discover(t, u, order=2)
    assert str(found.equation.equation.skeleton) == "u'' = C*u' + C*u"
