"""Pages, figures, answers and linear models of systems."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from gode.equation import Link, System, SystemSkeleton
from gode.equation.system import parse_system_values
from gode.errors import ConfigError, EquationError
from gode.report.experiments import separations
from gode.report.mathml import law_mathml
from gode.report.page import discovery_page, notebook_summary
from gode.report.plots import chosen_states


@pytest.fixture(scope="module")
def page(predation):
    return discovery_page(predation, title="Predation")


def tied(found):
    """The same law with one constant for the product in both equations, which then conserve nothing else."""
    best = found.candidates[0]
    skeleton, c = best.equation.skeleton, best.equation.constants
    links = (Link(0), Link(1), Link(0, -1.0), Link(2))
    law = System(SystemSkeleton(skeleton.states, skeleton.parts, (), links), (c[0], c[1], c[3]))
    return replace(found, candidates=[replace(best, equation=law, covariance=np.diag([1e-4] * 3))])


def test_the_page_has_a_line_for_each_state(page):
    lines = re.search(r'<p class="soft"><code id="copy-equation">(.*?)</code>', page)[1].split("<br/>")
    assert [unescape(line)[:5] for line in lines] == ["prey'", "pred'"]
    assert 'class="formula aligned"' in page


def test_the_page_tells_equilibria_and_their_eigenvalues(page):
    words = re.sub(r"<[^>]+>", " ", page)
    assert "unstable (a saddle)" in words
    assert re.search(r"prey = 4\.\d+ ± 0\.\d+, pred = 2\.\d+", words)
    assert "The noise of pred is about" in words
    assert "pred(0)" in words


def test_pages_of_forced_systems_of_second_order_are_whole(masses):
    words = unescape(re.sub(r"<[^>]+>", " ", discovery_page(masses, title="Masses")))
    assert "The law is linear itself" in words
    assert "Equilibria are those without the force" in words
    assert "x'(0)" in words


def test_the_page_names_shared_constants(predation):
    words = discovery_page(tied(predation), title="Tied")
    assert "one constant in two equations" in words
    assert "in both equations" in words


def test_the_notebook_shows_all_equations(predation):
    assert notebook_summary(predation).count("<math") > 4


def test_the_picture_has_a_row_for_each_state(predation, masses):
    for found in (predation, masses):
        figure = found.plot()
        labels = [axes.get_ylabel() for axes in figure.axes]
        assert sum(label.startswith("residual of") for label in labels) == 2


def test_the_phase_plane_shows_nullclines_and_equilibria(predation):
    plane = next(axes for axes in predation.plot().axes if axes.get_title(loc="left") == "Phase plane")
    names = plane.get_legend_handles_labels()[1]
    assert {"prey' = 0", "pred' = 0", "unstable", "a centre"} <= {*names}


def test_states_that_vary_most_span_the_phase_plane():
    assert chosen_states(np.array([9.0, 0.0, -1.0]), np.array([10.0, 2.0, 1.0])) == (1, 2)


def test_derivatives_of_words_have_primes_and_letters_dots():
    text = law_mathml(parse_system_values(["prey' = prey*y", "y' = -y"]))
    assert "<mi>prey′</mi>" in text
    assert '<mover><mi>y</mi><mo stretchy="false">˙</mo></mover>' in text


def test_answers_tell_places_and_the_gain_over_a_linear_law(predation):
    found = predation.answers()
    assert found.gain > 3
    assert found.linear.startswith("prey' = ")
    assert [e.observed for e in found.equilibria] == [False, True]
    assert "natural frequency" in str(found)


def test_linear_model_about_the_equilibrium_asked_for(predation):
    origin = predation.linearise({"prey": 0.0, "pred": 0.0})
    assert np.allclose(origin.a, np.diag([c.value for c in predation.equation.constants][::2]))
    centre = predation.linearise([4.0, 2.7])
    assert centre.states == ("prey", "pred")
    assert np.allclose(centre.poles.real, 0.0, atol=1e-9)


def test_linear_model_of_a_forced_system_has_its_input(masses):
    found = masses.linearise()
    assert found.states == ("x", "x'", "y", "y'")
    assert (found.outputs, found.inputs) == (("x", "y"), ("F",))
    assert found.b[:, 0] == pytest.approx([0, 1, 0, 0], abs=0.1)
    over, under = found.transfer_function("y")
    assert (len(over), len(under)) == (1, 5)
    with pytest.raises(EquationError, match="no output is called 'z'; there are x, y"):
        found.transfer_function("z")


def test_a_place_needs_a_number_for_each_state(predation):
    with pytest.raises(ConfigError, match="a finite number for each of"):
        predation.linearise({"prey": 1.0})


def test_experiments_start_from_other_values_of_a_state(predation):
    best = predation.candidates[0]
    skeleton = best.equation.skeleton
    other = System(skeleton, tuple(1.05 * c for c in best.equation.constants))
    rival = replace(best, equation=other, criterion=best.criterion + 0.1)
    single, _ = separations(replace(predation, candidates=[best, rival]))
    assert single[0].strength > 3
