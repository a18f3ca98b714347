"""Records of systems: saved, loaded, refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.equation import Link, System, SystemSkeleton
from gode.errors import FileError
from gode.report.record import discovery_of, record_of


@pytest.mark.parametrize("name", ["predation", "masses"])
def test_a_record_of_a_system_loads_as_it_was(name, request, tmp_path):
    found = request.getfixturevalue(name)
    found.save(tmp_path / "r.json")
    again = gode.load(tmp_path / "r.json")
    assert str(again.equation) == str(found.equation)
    assert again.equation.constants == found.equation.constants
    assert again.prepared.dataset.states == found.prepared.dataset.states
    assert np.array_equal(again.simulate().values, found.simulate().values, equal_nan=True)
    assert again.quality.misfit == found.quality.misfit
    assert json.dumps(record_of(again)) == json.dumps(record_of(found))


def test_shared_constants_are_kept(predation, tmp_path):
    free = predation.candidates[0]
    skeleton = free.equation.skeleton
    links = (Link(0), Link(1), Link(0, -0.25), Link(-1, 0.4))
    tied = System(SystemSkeleton(skeleton.states, skeleton.parts, (), links), free.equation.constants[:2])
    found = replace(predation, candidates=[replace(free, equation=tied, covariance=np.eye(2))])
    assert discovery_of(record_of(found)).candidates[0].equation == tied


def test_records_of_one_state_and_of_several_have_one_form(predation, growth):
    laws = [record_of(found)["candidates"][0]["equation"] for found in (predation, growth)]
    assert laws[0].keys() <= laws[1].keys() <= {*laws[0], "scale"}


WRONG = {
    "states: a name twice": (("states",), ["prey", "prey"], "names two states"),
    "states: too few": (("states",), ["prey"], "observed"),
    "states: other ones": (("states",), ["x", "y"], "other states than the record"),
    "a link out of range": (("candidates", 0, "equation", "links"), [[-7, 1.0]] * 4, "places from -1"),
    "a link too many": (("candidates", 0, "equation", "links"), [[0, 1.0]] * 5, "5 links"),
    "another input": (("candidates", 0, "equation", "inputs"), ["G"], "other inputs than the record"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_a_damaged_record_of_a_system_is_refused(case, predation):
    data = json.loads(json.dumps(record_of(predation)))
    path, value, words = WRONG[case]
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises((FileError, gode.errors.GodeError), match=words):
        discovery_of(data)
