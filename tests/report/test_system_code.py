"""Programs of systems in the languages that cannot be run here, and the names in them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gode.equation import Link, System, SystemSkeleton
from gode.report.code import code
from gode.report.identifiers import element_names

ROWS = {
    "julia": "dy[{}] = {}",
    "matlab": "dy({}, 1) = {};",
}


@pytest.mark.parametrize("language", sorted(ROWS))
def test_each_state_has_its_row(language, predation, masses):
    text = code(predation, language)
    assert ROWS[language].format(1, "c1*prey + c2*prey*pred") in text
    assert ROWS[language].format(2, "c3*pred + c4*pred*prey") in text
    text = code(masses, language)
    assert ROWS[language].format(1, "x_rate") in text
    assert ROWS[language].format(3, "y_rate") in text


def test_modelica_declares_each_state_with_its_start(predation, masses):
    text = code(predation, "modelica")
    assert re.search(r"Real prey\(start = [\d.]+, fixed = true\);", text)
    assert "der(pred) = c3*pred + c4*pred*prey;" in text
    assert "der(x) = x_rate;" in code(masses, "modelica")


def test_a_shared_constant_is_one_parameter(predation):
    free = predation.candidates[0].equation
    places = [Link(0), Link(1), Link(0, -0.25), Link(2)]
    skeleton = SystemSkeleton(free.states, free.skeleton.parts, (), tuple(places))
    numbers = [free.constants[i] for i in (0, 1, 3)]
    best = replace(predation.candidates[0], equation=System(skeleton, tuple(numbers)), covariance=np.eye(3))
    tied = replace(predation, candidates=[best])
    text = code(tied, "python")
    assert "c1*prey + c2*prey*pred," in text
    assert "c3*pred - 0.25*c2*pred*prey," in text
    assert "c4" not in text


def test_names_that_mean_something_in_a_program_are_replaced():
    names = element_names(["y", "y'", "c1", "lambda", "prey", "größe"])
    assert list(names.values()) == ["state_y", "y_rate", "state_c1", "state_lambda", "prey", "gr__e"]


def test_names_that_become_equal_are_told_apart():
    assert [*element_names(["aä", "aö"]).values()] == ["a_", "a__"]
