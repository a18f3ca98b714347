from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")

from gode.data.example import load_example
from gode.discovery import Finding, fit
from gode.discovery.quality import Verdict
from gode.studio.answering import advice, moved, remedies, sliders, unchanged
from gode.studio.pages import home
from gode.studio.runs import Job, State


def test_sliders_are_of_the_numbers_in_the_text():
    example = load_example("shaker")
    law = "C*u'' + C*u' + C*u + C*u^3 = F"  # fitted in another scale than it is written
    found = fit(law, example.t, example.u, force=example.columns["force"])
    candidate = found.candidates[0]
    shown = found.equation.constants
    assert [slider.words for slider in sliders(candidate)] == [f"Constant of {c.place}" for c in shown]
    wanted = np.array([c.value + 1.5 * c.error for c in shown])
    changed = [c.value for c in Finding(moved(candidate, wanted)).constants]
    np.testing.assert_allclose(changed, wanted, rtol=1e-9)


def test_the_verdict_comes_in_few_words():
    example = load_example("growth")
    good = fit("u' = C*u - C*u^2", example.t, example.u)
    assert good.quality.verdict is Verdict.GOOD
    assert good.assessment.headline == "The equation explains the data"
    assert advice(good) == remedies(good, SimpleNamespace(id="a", words=())) == []


def test_a_poor_fit_says_what_to_try():
    example = load_example("growth")
    poor = fit("u' = C", example.t, example.u)
    assert poor.quality.verdict.is_failure
    assert poor.assessment.headline in ("Do not rely on this equation", "No finding")
    assert "as an input" in "".join(advice(poor))

    def buttons(*words):
        return [each.button for each in remedies(poor, SimpleNamespace(id="a", words=words))]

    assert {
        "Try both orders",
        "Search with more effort",
        "Allow a quantity that was not measured",
    } <= {*buttons("--effort", "quick")}
    assert not {"Try both orders", "Search with more effort"} & {
        *buttons("--order", "auto", "--effort", "thorough")
    }


def test_a_cause_that_names_an_option_becomes_a_button():
    example = load_example("growth")
    poor = fit("u' = C", example.t, example.u)
    causes = (
        "the input acts about 6 s later than it was recorded: --edit 'shift valve by 6', in Python "
        "force=(times +6, values); that would leave 9 % of the misfit",
        "the runs differ; give each run constants of its own (--individual all, or individual=True)",
        "the column 'heat' would help as a known input: --force 'heat'",
        "small changes of the start grow",
    )
    told = replace(poor, causes=causes)
    shift, each, column, *_ = remedies(told, SimpleNamespace(id="a", words=()))
    assert shift.words.startswith("The input acts about 6 s later than it was recorded; that would leave")
    assert shift.changes == (("edit", "shift valve by 6"),)
    assert each.changes == (("individual", "all"),)
    assert column.changes == (("input", "heat"),)
    assert "--" not in "".join(r.words + r.button for r in (shift, each, column))
    assert unchanged(told) == [causes[-1]]


def test_the_list_of_runs_shows_a_failed_result_as_failed():
    job = Job("a", "noise", ("noise.csv",), "2026-01-01T00:00:00", State.DONE)
    assert 'class="failed">not supported' in home([(job, "u' = 1", "unsupported")], "runs")
    assert "not supported" not in home([(job, "u' = 1", "good")], "runs")
