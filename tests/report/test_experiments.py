from dataclasses import replace

import numpy as np
import pytest

from gode.discovery import fit
from gode.report.equilibria import extent
from gode.report.experiments import _best_of, _experiments, separations
from gode.selection import SelectionConfig, in_order


def test_a_source_term_shows_when_starting_from_nothing(growth):
    single, _ = separations(growth)
    advice = {str(s.rivals[0].equation.skeleton): s for s in single}
    source = advice["u' = C*u + C*u^2 + C"]
    assert source.decisive
    assert "start from u = 0" in source.experiment.words
    assert source.words.startswith("They would differ by")
    power = next(s for name, s in advice.items() if "^C" in name)
    assert not power.decisive
    assert "they are equivalent" in power.words


def test_one_experiment_for_all_is_no_stronger_than_each(growth):
    single, common = separations(growth)
    assert len(common.rivals) == len(single) == len(growth.ties) - 1
    assert common.strength <= min(s.strength for s in single) + 1e-12


def test_the_strength_is_the_distance_of_the_solutions_in_units_of_noise(growth):
    separation = next(s for s in separations(growth)[0] if s.decisive)
    scenario = separation.experiment.scenario
    best = growth.simulate(scenario.t, scenario.initial).u
    rival = replace(growth, candidates=[separation.rivals[0]]).simulate(scenario.t, scenario.initial).u
    plain = np.max(np.abs(best - rival)) / growth.noise[0]
    assert 0.2 * plain < separation.strength <= plain * (1 + 1e-9)


@pytest.mark.parametrize("force", ["cos(1.3*t)", "samples", np.cos])
def test_another_force_is_an_experiment(force, rng):
    t = np.linspace(0.0, 15.0, 120)
    u = 0.4 * np.sin(t) + 0.01 * rng.standard_normal(120)
    known = np.cos(1.3 * t) if force == "samples" else force
    found = [fit(text, t, u, force=known) for text in ("u'' = C*u + C*F", "u'' = C*u + C*F + C*u^3")]
    config = SelectionConfig(level=1.0)
    both = replace(found[0], candidates=in_order([f.candidates[0] for f in found]))
    both = replace(both, settings=replace(both.settings, selection=config))
    ((only,), common) = separations(both)
    assert common is None
    assert np.isfinite(only.strength)
    assert only.strength > 0


def test_starts_stay_near_the_data_also_where_only_accelerations_were_measured(rng):
    t = np.linspace(0.0, 20.0, 200)
    seen = 1e-3 * (-4 * np.cos(2 * t) + 0.1 + 0.2 * rng.standard_normal(200))  # integrated twice, it drifts
    found = fit("u'' = C*u", t, acceleration=seen, initial=[1e-3, 0.0])
    assert np.abs(found.prepared.smooths[0].values[0]).max() > 5e-3
    low, high = extent(found)
    assert -1.1e-3 < low < high < 1.1e-3
    starts = [e.scenario.initial for e in _experiments(found) if e.scenario.initial is not None]
    assert starts
    assert all(abs(u) <= 2.2e-3 and abs(v) <= 3e-3 for u, v in starts)


def test_starts_are_told_in_the_units_of_the_data(growth):
    dataset = replace(growth.prepared.dataset, labels={"t": "t [h]", "u": "mass [g]"})
    found = replace(growth, prepared=replace(growth.prepared, dataset=dataset))
    words = [e.words for e in _experiments(found)]
    assert "measure 2 times as long, to t = 28 h" in words
    starts = [text for text in words if text.startswith("start from mass")]
    assert starts
    assert all(text.partition(",")[0].endswith(" g") for text in starts)


def test_what_is_never_negative_starts_at_rest_or_growing():
    t = np.linspace(0.0, 6.0, 60)
    found = fit("u'' = C*u' + C*u", t, t * np.exp(-t))
    starts = [e.scenario.initial for e in _experiments(found) if e.scenario.initial is not None]
    assert starts
    assert all(v >= 0 for _, v in starts)


def test_a_start_at_rest_is_advised_only_where_no_other_experiment_decides(growth):
    experiments = list(_experiments(growth))
    at_rest = ["rests unless something feeds it" in e.words for e in experiments]
    assert at_rest.count(True) == 1
    assert experiments[at_rest.index(True)].scenario.initial == [0.0]
    strong = np.where(at_rest, 50.0, 1.0)
    assert at_rest[_best_of(strong, experiments)]
    strong[0] = 5.0
    assert _best_of(strong, experiments) == 0


def test_nothing_is_said_where_nothing_is_undecided(pendulum):
    assert separations(pendulum) == ([], None)
