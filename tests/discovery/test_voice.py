"""One voice: command line, report, studio, notebook, JSON and exit codes tell the same of a discovery."""

import json
import re
from copy import copy
from dataclasses import replace
from functools import cache
from html import unescape
from types import SimpleNamespace

import click.testing
import numpy as np
import pytest

import gode
from gode.cli.discover import _exit
from gode.cli.results import print_discovery, print_json
from gode.data.example import load_example
from gode.discovery import Discovery
from gode.discovery.quality import Quality, Verdict
from gode.discovery.residuals import Channel, Series
from gode.report.page import Sections, notebook_summary
from gode.report.plots import Plots
from gode.selection import Pool, rank
from gode.templates import part

T = np.linspace(0.0, 10.0, 80)
GROWTH = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * T))
SWING = np.cos(2 * T)
LAWS = ("u' = C*u + C*u^2", "u' = C*u + C*u^2 + C", "u' = C*u + C*u^C", "u' = C*u")


def noisy(clean, size=0.05, seed=0):
    return clean + size * np.random.default_rng(seed).standard_normal(clean.shape)


def searched(*fits: Discovery) -> Discovery:
    """Return a discovery whose candidates are those of several fits to the same data."""
    first = fits[0]
    pool = Pool([c for each in fits for c in each.candidates], first.prepared.floor)
    order = rank(pool, first.settings.selection).candidates
    settings = replace(first.settings, grammar="first-order")
    found = replace(first, candidates=order, settings=settings, n_fitted=len(order), causes=())
    return found if found.quality.verdict is Verdict.GOOD else replace(found, causes=("it is so",))


@cache
def fitted(name: str) -> Discovery:
    u = {
        "good": noisy(GROWTH),
        "pattern": noisy(GROWTH + 0.03 * np.sin(2 * T), 0.003),
        "poor": noisy(SWING),
    }
    systems = {
        "system good": np.c_[np.cos(T), np.sin(T)],
        "system poor": np.c_[np.cos(T), np.sin(T) + 0.5 * np.sin(3 * T)],
    }
    if name in systems:
        return gode.fit(["x' = C*y", "y' = C*x"], T, noisy(systems[name], 0.02), names=["x", "y"])
    if name.startswith("individuals"):
        rates = (0.3, 0.5, 0.9)
        shapes = [np.exp(-r * T) + ("poor" in name) * 0.5 * np.sin(2 * T) for r in rates]
        runs = [noisy(shape, 0.01, i) for i, shape in enumerate(shapes)]
        return gode.fit("u' = C*u", [T] * 3, runs, individual=True)
    return gode.fit(LAWS[0], T, u[name])


@cache
def found(name: str) -> Discovery:
    """Return what was discovered in a case, or what was fitted there."""
    kind, _, case = name.partition(" ")
    if kind == "fit":
        return fitted(case)
    if kind == "unsupported":
        return replace(found("discover " + case), supported=False)
    if kind == "interrupted":
        return replace(found("discover " + case), interrupted=True)
    if case in ("good", "pattern", "poor"):
        u, t = fitted(case).prepared.dataset.runs[0].observed[0], T
        return searched(fitted(case), *(gode.fit(law, t, u) for law in LAWS[1:]))
    return searched(fitted(case))


CASES = [
    *(f"{kind} {case}" for kind in ("discover", "interrupted", "unsupported") for case in ("good", "poor")),
    "discover pattern",
    *(f"fit {case}" for case in ("good", "pattern", "poor")),
    *(
        f"{kind} {what} {case}"
        for kind in ("discover", "fit")
        for what in ("system", "individuals")
        for case in ("good", "poor")
    ),
]


def written(section: str, contents: Sections) -> str:
    """Return a section of the report as HTML."""
    return part("gode/report/templates/sections.html", section, contents)


def texts(discovery: Discovery) -> dict[str, str]:
    """Return all that is told of a discovery, by where."""
    contents = Sections(discovery, Plots(discovery))
    sections = [written(name, contents) for name in ("verdict_box", "rivals", "front")]
    return {
        "command line": printed(lambda: print_discovery(discovery, seconds=None)),
        "json": printed(lambda: print_json(discovery, [], [])),
        "report": plain(" ".join(sections) + " ".join(contents.overview)),
        "notebook": plain(notebook_summary(discovery)),
    }


def printed(tell) -> str:
    @click.command()
    def run() -> None:
        tell()

    return " ".join(click.testing.CliRunner().invoke(run, catch_exceptions=False).output.split())


def plain(page: str) -> str:
    return " ".join(unescape(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", page)).split())


def exit_code(discovery: Discovery) -> int:
    try:
        _exit(discovery)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.mark.parametrize("name", CASES)
def test_everybody_tells_the_same(name):
    discovery = found(name)
    told, said = discovery.assessment, texts(discovery)
    for where in ("command line", "report"):
        assert discovery.quality.words in said[where], where
        for sentence in (told.sure, told.undecided.rstrip(".")):
            assert sentence in said[where], where
    assert discovery.quality.words in said["notebook"]
    values = json.loads(said["json"])
    assert values["verdict"] == told.verdict.value
    assert values["probability"] == told.probability
    assert values["certainty"] == told.certainty
    assert len(values["ties"]) == len(told.near) - 1
    code = exit_code(replace(discovery, interrupted=False))  # which has a code of its own
    assert code == (3 if discovery.quality.verdict.is_failure else 0)


@pytest.mark.parametrize("name", CASES)
def test_nobody_contradicts_the_verdict(name):
    discovery = found(name)
    failed = discovery.quality.verdict.is_failure
    for where, text in texts(discovery).items():
        likely = re.search(r"likely \(|most likely|right with|laws that these data do not tell apart", text)
        if failed or not discovery.settings.grammar:
            assert likely is None, where
            assert "ndecided" not in text or where == "json", where
            assert "cannot tell" not in text, where
            assert " near tie" not in text, where
        if failed:
            assert "nothing to tell apart" not in text
            assert "The fit is good" not in text
            assert "✓" not in text


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("discover", "interrupted"))])
def test_only_laws_that_follow_the_data_as_well_are_near_ties(name):
    discovery = found(name)
    misfits = dict((id(c), misfit) for c, misfit in discovery.shown)
    for c in discovery.assessment.near:
        assert misfits[id(c)] <= 3 * discovery.quality.misfit
    table = discovery.equations
    near = table[table["why"].str.contains("near tie")]
    assert near["equation"].tolist() == ["; ".join(each.lines()) for each in discovery.ties[1:]]


def test_the_cases_are_what_they_are_called():
    for name in CASES:
        kind, _, case = name.partition(" ")
        expected = {"good": Verdict.GOOD, "pattern": Verdict.PATTERN, "poor": Verdict.POOR}[case.split()[-1]]
        expected = Verdict.UNSUPPORTED if kind == "unsupported" else expected
        assert found(name).quality.verdict is expected, name


def test_a_fit_of_one_law_has_no_probability():
    assert found("fit good").assessment.sure == found("fit good").assessment.undecided == ""
    assert np.isnan(found("fit good").probability)


def test_the_studio_takes_its_headline_from_the_same_place():
    verdicts = pytest.importorskip("gode.studio.answering", reason="the extra `studio` is not installed")
    page = pytest.importorskip("gode.report.plots").Plots
    for name in ("discover good", "discover poor"):
        files = SimpleNamespace(
            job=SimpleNamespace(
                id="a", words=(), sources=(), edits=(), title="a", files=("a.csv",), since=""
            ),
            folder=None,
            python="",
            listed=dict,
        )
        shown = verdicts.answer_page(page(found(name)), files)
        assert ("Try both orders" in shown) is found(name).assessment.is_failure
        assert f'<h2 class="headline">{found(name).assessment.headline}</h2>' in shown
        assert page(found(name)).shown[0] is found(name).candidates[0]


def test_laws_that_are_written_alike_are_told_once():
    first = found("discover good")
    again = replace(first.candidates[0], criterion=first.candidates[0].criterion + 900.0)
    twice = replace(first, candidates=[*first.candidates, again])
    assert [str(c.equation) for c, _ in twice.shown] == [str(c.equation) for c, _ in first.shown]


def test_residuals_as_large_as_the_data_are_told_without_an_exponent():
    quality = found("discover poor").quality
    (channel,) = map(copy, quality.channels)
    channel.__dict__["rms"] = 0.997 * channel.spread  # which is computed once, and kept
    assert "residuals are 100 % of the spread of the data" in replace(quality, channels=(channel,)).words


def test_a_law_with_residuals_many_times_larger_is_no_near_tie():
    first = found("discover good")
    poor = next(c for c in first.candidates if c.rms > 5 * first.candidates[0].rms)
    close = replace(poor, criterion=first.candidates[0].criterion + 0.1)  # as correlated noise may make it
    rivals = replace(first, candidates=[first.candidates[0], close])
    assert len(rivals.ties) == 1
    assert rivals.probability == 1.0
    assert rivals.equations["probability"].tolist()[1:] in ([], [0.0])


def test_the_verdict_tells_both_numbers_that_decide_it():
    for name, share in (("discover poor", 5.0), ("discover pattern", 0.0)):
        words = found(name).quality.words
        told = re.search(r"([\d.e+]+) % of the spread of the data and ([\d.e+]+) times the noise", words)
        assert told is not None, words
        assert float(told[1]) > share
        assert float(told[2]) > 1


def test_residuals_that_are_larger_in_both_numbers_never_have_a_better_verdict():
    def quality(pattern, noise):
        t = np.linspace(0.0, 20.0, 400)
        rest = pattern * np.sin(3 * t) + noise * np.random.default_rng(1).standard_normal(400)
        series = Series(t, np.cos(2 * t), np.cos(2 * t) - rest)
        return Quality((Channel("u", noise, 2.0, (series,)),), 1, True, True)

    grid = [
        (quality(pattern, noise)) for pattern in (0.0, 0.02, 0.04, 0.08, 0.3) for noise in (0.003, 0.01, 0.03)
    ]
    order = [Verdict.GOOD, Verdict.PATTERN, Verdict.POOR]
    for one in grid:
        for other in grid:
            a, b = one.channels[0], other.channels[0]
            if a.misfit <= b.misfit and a.rms <= b.rms and Verdict.GOOD not in (one.verdict, other.verdict):
                assert order.index(one.verdict) <= order.index(other.verdict)


def test_the_verdict_does_not_hang_on_curves_through_all_points_of_a_few_runs():
    """Curves through all points of some runs claim that these have no noise, and said that of all runs."""
    rng = np.random.default_rng(3)
    t = np.array([0.0, 0.3, 0.6, 1.1, 2.0, 3.5, 5.0, 7.0, 9.0, 12.0, 24.0])
    clean = [8 * (np.exp(-k * t) - np.exp(-1.5 * t)) for k in (0.08, 0.1, 0.07, 0.12, 0.09, 0.11)]
    runs = [u + 0.7 * rng.standard_normal(len(t)) for u in clean]
    law = "u' = a*exp(-ka*t) - ke*u"
    for initial in (None, [0.0] * len(runs)):
        fit = gode.fit(law, [t] * len(runs), runs, initial=initial, individual=True)
        assert fit.quality.verdict is Verdict.GOOD
        assert fit.noise[0] == pytest.approx(0.7, rel=0.3)


def test_a_constant_has_one_interval_in_a_report():
    t = np.linspace(0, 3, 40)
    u = noisy(500 / (1 + 99 * np.exp(-0.8 * t)), 1.0, 1)
    fit = gode.fit("u' = r*u*(1 - u/K)", t, u, bounds={"K": (0, None)})
    (interval,) = [i for i in fit.intervals if i.name == "K"]
    page = plain(written("constants", Sections(fit, Plots(fit))))
    row = re.search(r"K (\S+) > (\S+)", page)
    assert row is not None
    assert row[2] == f"{interval.low:.3g}"
    assert page.count(row[2]) == 1


def test_an_example_of_the_package_is_told_with_rivals():
    example = load_example("growth")
    fits = [gode.fit(law, example.t, example.u) for law in LAWS]
    wide = replace(fits[0].settings.selection, level=0.9999)
    many = searched(*fits)
    many = replace(many, settings=replace(many.settings, selection=wide))
    told = many.assessment
    assert len(told.rivals) > 0
    assert told.undecided.startswith("Undecided: these data cannot tell it from")
    assert re.search(r"is (the most likely \(|right with a probability of )\d+ %", told.sure)
    assert "tell" not in told.sure, "how many laws the data leave open is said once, beside the list of them"
    assert told.headline[0].isupper()
