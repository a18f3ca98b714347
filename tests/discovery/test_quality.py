import json
import re
from dataclasses import replace

import numpy as np
import pytest

import gode
from commands import gode as command
from gode.discovery.quality import Quality, Verdict, quality_of
from gode.discovery.residuals import Channel, Series
from gode.equation import parse_equation

T = np.linspace(0.0, 10.0, 80)
LOGISTIC = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * T))


def noisy(clean, size, seed=0):
    return clean + size * np.random.default_rng(seed).standard_normal(len(clean))


def cases():
    """Twenty data sets: good fits and bad ones, one channel and several, with noise and nearly without."""
    decay, swing = np.exp(-0.5 * T), np.cos(2 * T)
    laws = {
        "u' = C*u - C*u^2": [(LOGISTIC, s) for s in (0.5, 0.05, 1e-3, 1e-9)] + [(swing, 0.05), (decay, 0.05)],
        "u' = C*u": [(decay, s) for s in (0.3, 0.02, 1e-4)] + [(LOGISTIC, 0.05), (swing, 0.02)],
        "u' = C*u + C": [(1 - decay, s) for s in (0.1, 0.01)] + [(LOGISTIC, 0.1)],
        "u'' = C*u": [(swing, s) for s in (0.3, 0.05, 1e-3)] + [(LOGISTIC, 0.05), (swing * decay, 0.05)],
        "u'' = C*u + C*u'": [(swing * decay, 0.05)],
    }
    found = [(law, clean, size) for law, rows in laws.items() for clean, size in rows]
    return [pytest.param(*case, marks=[pytest.mark.slow] * (i % 3 > 0)) for i, case in enumerate(found)]


@pytest.mark.parametrize(("law", "clean", "size"), cases())
def test_everybody_tells_the_same_misfit_and_noise(law, clean, size, tmp_path):
    u = noisy(clean, size)
    found = gode.fit(law, T, u)
    misfit, noise = found.quality.misfit, found.noise[0]
    rest = u - found.simulate().u
    assert np.sqrt(np.mean(rest**2)) / noise == pytest.approx(misfit, rel=1e-6), "simulate"
    assert found.equations["rms"][0] == misfit, "the table"
    found.save(tmp_path / "r.json")
    again = gode.load(tmp_path / "r.json")
    assert again.quality.misfit == pytest.approx(misfit, rel=1e-9), "the record"
    assert again.quality.verdict is found.quality.verdict
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["verdict"] == found.quality.verdict.value
    estimator = gode.ODERegressor(equation=law).fit(T, u)
    assert estimator.quality_.misfit == pytest.approx(misfit, rel=1e-9), "the estimator"
    assert estimator.quality_.independent == pytest.approx(found.quality.independent)
    page = found.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert found.quality.words.split(":")[0] in page, "the report"


def test_the_command_line_tells_that_misfit_too_and_scripts_notice_a_poor_fit(tmp_path):
    table = tmp_path / "data.csv"
    u = noisy(np.cos(2 * T), 0.05)
    table.write_text("t,u\n" + "\n".join(f"{a!r},{b!r}" for a, b in zip(T.tolist(), u.tolist(), strict=True)))
    poor = command("fit", "u' = C*u", table, "--json")
    assert poor.exit_code == 3
    told = json.loads(poor.stdout)
    found = gode.fit("u' = C*u", T, u)
    assert told["rms_over_noise"] == pytest.approx(found.quality.misfit)
    assert told["verdict"] == "poor"
    good = command("fit", "u'' = C*u", table)
    assert good.exit_code == 0
    assert "The fit is good" in good.output


def test_the_noise_is_what_a_true_equation_leaves():
    for size in (0.3, 0.05, 0.001):
        found = gode.fit("u' = C*u - C*u^2", T, noisy(LOGISTIC, size))
        assert found.noise[0] == pytest.approx(size, rel=0.25)
        assert found.quality.verdict is Verdict.GOOD


def test_what_is_left_by_a_wrong_equation_is_not_taken_for_noise():
    found = gode.fit("u' = C*u + C", T, noisy(LOGISTIC, 0.01))
    assert found.noise[0] < 0.03
    assert found.quality.misfit > 5
    assert found.quality.verdict is Verdict.POOR


def test_a_constant_record_supports_nothing():
    found = gode.fit("u' = C*u - C*u^2", T, np.full(len(T), 3.0))
    assert found.quality.verdict is Verdict.UNSUPPORTED
    assert found.noise[0] > 1e-20


def test_constants_have_the_signs_of_the_equation_that_is_shown():
    force = np.sin(T)
    u = noisy(0.2 * np.sin(T - 0.3), 0.001)
    for law in ("u'' + C*u' + C*u = F", "C*u'' + C*u' + C*u = F", "u'' = C*u' + C*u"):
        found = gode.fit(law, T, u, force=force) if "F" in law else gode.fit(law, T, u)
        text = str(found.equation).replace(" ", "")
        for constant in found.equation.constants:
            sign = "-" if constant.value < 0 else ""
            assert f"{sign}{abs(constant.value):.4g}*{constant.place}" in text, (text, constant)


def test_a_small_pattern_is_told_but_is_no_failure():
    found = gode.fit("u' = C*u - C*u^2", T, noisy(LOGISTIC + 0.03 * np.sin(2 * T), 0.003))
    assert found.quality.verdict is Verdict.PATTERN
    assert "not white" in found.quality.words


def test_a_start_at_zero_that_was_assumed_is_said():
    u = noisy(1.0 - np.exp(-0.5 * T), 0.05, seed=3)
    found = gode.fit("u' = C*u + C", [T, T], [u, u])
    free = found.candidates[0]
    assert quality_of(free, found.prepared, supported=True).assumed == ()
    zero = replace(free, initial=np.array([[0.0], [0.1]]), held=((0, 0),))
    assert quality_of(zero, found.prepared, supported=True).assumed == ("u(0) = 0 in run 0",)
    known = gode.fit("u' = C*u + C", T, u, initial=[0.0])
    assert known.quality.assumed == ()


def test_each_channel_of_each_run_has_its_residuals():
    runs = [noisy(LOGISTIC, 0.05, seed) for seed in (1, 2)]
    slopes = [noisy(0.8 * LOGISTIC - 0.16 * LOGISTIC**2, 0.02, seed) for seed in (3, 4)]
    found = gode.fit("u' = C*u - C*u^2", [T, T], runs, velocity=slopes)
    assert [c.name for c in found.quality.channels] == ["u", "u'"]
    assert [len(c.series) for c in found.quality.channels] == [2, 2]
    assert found.noise[:2] == pytest.approx([0.05, 0.02], rel=0.2)


def channel(pattern, noise=0.01):
    """The channel of a swing of size 1 that is followed up to noise and a slow pattern."""
    t = np.linspace(0.0, 20.0, 400)
    observed = np.cos(2 * t)
    residual = pattern * np.sin(3 * t) + noise * np.random.default_rng(1).standard_normal(400)
    return Channel("u", noise, 2.0, (Series(t, observed, observed - residual),))


def quality(pattern=0.0, noise=0.01, *, supported=True, complete=True):
    return Quality((channel(pattern, noise),), 1, supported, complete)


@pytest.mark.parametrize(
    ("pattern", "noise", "expected"),
    [
        (0.0, 0.01, Verdict.GOOD),
        (0.02, 0.01, Verdict.PATTERN),  # which is below twice the noise
        (0.04, 0.01, Verdict.PATTERN),  # and this below a twentieth of the spread
        (0.08, 0.01, Verdict.POOR),
        (5e-5, 1e-6, Verdict.GOOD),  # beside a signal of size 1 a pattern that small is negligible
        (2e-4, 1e-6, Verdict.PATTERN),
    ],
)
def test_the_verdict_follows_from_size_and_whiteness_of_the_residuals(pattern, noise, expected):
    assert quality(pattern, noise).verdict is expected


def test_the_verdict_of_what_is_not_supported_or_not_complete():
    assert quality(supported=False).verdict is Verdict.UNSUPPORTED
    assert quality(complete=False).verdict is Verdict.POOR
    assert quality(complete=False).misfit == np.inf
    assert quality(0.08, supported=False).verdict is Verdict.UNSUPPORTED
    flat = Series(T, np.ones(len(T)), np.ones(len(T)))
    assert Quality((Channel("u", 1.0, 1.0, (flat,)),), 1, True, True).verdict is Verdict.UNSUPPORTED


def test_only_poor_and_unsupported_fits_are_failures():
    assert [verdict for verdict in Verdict if verdict.is_failure] == [Verdict.POOR, Verdict.UNSUPPORTED]


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (quality(), "The fit is good: "),
        (quality(0.02), r"The equation follows the data, but .* 2\.\d % of the spread .*, and not white\."),
        (
            quality(0.08),
            r"The fit is poor: .* 8\.\d* % of the spread of the data and \d\.\d* times the noise\.",
        ),
        (quality(1.2), r"The fit is poor: .* 1\d\d % of the spread of the data"),
        (quality(complete=False), "The fit is poor: the equation has no solution along all of the data"),
        (quality(supported=False), "No equation is supported by these data: "),
        (quality(0.08, supported=False), "No equation that was tried follows these data: "),
    ],
)
def test_the_verdict_is_a_sentence(made, sentence):
    assert re.match(sentence, made.words)


def test_the_misfit_is_that_of_all_channels_by_their_values():
    few, many = channel(0.08), channel(0.0)
    both = Quality((few, many), 1, True, True)
    assert both.misfit**2 == pytest.approx((few.misfit**2 + many.misfit**2) / 2)
    assert both.independent == pytest.approx(few.independent + many.independent)


def test_a_value_assumed_in_many_runs_is_told_once():
    runs = tuple(f"c(0) = 0 in patient {i}" for i in range(7))
    told = Quality((), 1, True, True, runs).assumed_words
    assert told.count("c(0) = 0") == 1
    assert told.endswith("patient 3, patient 4 and 2 more.")
    assert Quality((), 1, True, True, ("u(0) = 0",)).assumed_words.endswith(": u(0) = 0.")
    assert Quality((), 1, True, True).assumed_words == ""


def swinging(seed):
    """A damped swing of which each cycle has four samples, with a fifth of its spread as noise."""
    t = np.arange(0.0, 20.0, 0.9)
    clean = np.exp(-0.1 * t) * np.cos(2 * t)
    return t, noisy(clean, 0.2 * np.std(clean), seed)


def test_what_few_samples_cannot_tell_from_noise_is_not_called_poor():
    for seed in (0, 1, 2):  # A smooth curve goes through nearly all of these samples.
        found = gode.fit("u'' = -C*u - C*u'", *swinging(seed))
        assert found.quality.follows, seed
        if found.quality.verdict is Verdict.PATTERN:
            assert "not to be told from so few samples" in found.quality.words
        assert gode.fit("u' = C*u", *swinging(seed)).quality.verdict is Verdict.POOR, seed


def test_many_samples_tell_their_noise():
    t = np.linspace(0.0, 20.0, 150)
    wrong = gode.fit("u'' = -C*u", t, noisy(np.exp(-0.1 * t) * np.cos(2 * t), 0.01))
    assert not any(c.may_be_noise for c in wrong.quality.channels)
    assert wrong.quality.verdict is Verdict.POOR


def test_a_law_whose_solution_ends_within_the_data_is_not_on_the_front():
    """It stood there with an infinite misfit: the search had fitted it to another part of the data."""
    t = np.linspace(0.0, 5.0, 60)
    found = gode.fit("u' = C*u", t, noisy(np.exp(-0.5 * t), 0.01))
    best = found.candidates[0]
    ending = replace(best, equation=parse_equation("u' = 5*u^2"), rms=best.rms / 2)
    ending = replace(ending, criterion=best.criterion + 100.0)
    rows = replace(found, candidates=[best, ending]).equation_rows
    assert [row["why"] for row in rows] == ["best, front"]
