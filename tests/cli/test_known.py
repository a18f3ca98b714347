"""What a user knows, on the command line: mistakes are one sentence with a caret under the place."""

import pytest

from commands import GROWTH, gode, refused

LAW = "u' = r*u*(1 - u/K)"
FRAME = "u' = r*u - f(u)"


def pointed(*words):
    """Return the sentence of a command that must fail, and the line from its caret on."""
    result = gode(*words)
    assert result.exit_code == 2, result.output
    sentence, line, mark = result.stderr.rstrip("\n").split("\n")
    assert mark.strip() == "^"
    return sentence, line[mark.index("^") :]


@pytest.mark.parametrize(
    ("words", "sentence", "place"),
    [
        (["--frame", "u' = f(u"], "expected ')'", ""),
        (["--frame", "u' = k*f(u)"], "k only scales f", "k*f(u)"),
        (["--frame", "u' = f(u'')"], "leave it out", "f(u'')"),
        (["--frame", FRAME, "--fix", "q=1"], "its constants are r", "q = 1.0"),
        (["--frame", FRAME, "--fix", "r=one"], "expected a number", "one"),
        (["--frame", FRAME, "--fix", "r"], "expected a name and =", "r"),
        (
            ["--frame", FRAME, "--fix", "r=5", "--bounds", "r=0:1"],
            "outside of its bounds 0 to 1",
            "r*u - f(u)",
        ),
        (["--frame", FRAME, "--bounds", "r=1:0"], "must increase", "r*u - f(u)"),
        (["--frame", FRAME, "--bounds", "r=1"], "two numbers with a colon", "1"),
        (["--frame", FRAME, "--units", "t=h$"], "'$' has no meaning", "$"),
        (["--frame", FRAME, "--units", "q=h"], "which is no column", "q = h"),
        (["--frame", "u' = t + u - f(u)", "--units", "t=s", "--units", "u=m"], "one is in s", "u - f(u)"),
        (["--assume", "rest-at=x"], "expected a value", "x"),
    ],
)
def test_a_mistake_of_discover_has_a_caret_under_its_place(words, sentence, place):
    told, under = pointed("discover", GROWTH, *words)
    assert sentence in told
    assert under == place


@pytest.mark.parametrize(
    ("words", "sentence", "place"),
    [
        (["--fix", "k=1"], "its constants are r, K", "k = 1.0"),
        (["--fix", "K=500", "--bounds", "K=0:100"], "K is fixed at 500", "K)"),
        (["--units", "t=m^^2"], "expected a number after '^'", "^2"),
    ],
)
def test_a_mistake_of_fit_has_a_caret_under_its_place(words, sentence, place):
    told, under = pointed("fit", LAW, GROWTH, *words)
    assert sentence in told
    assert under == place


def test_unknown_assumptions_are_refused_with_those_that_there_are():
    assert "it takes odd, energy" in refused("discover", GROWTH, "--assume", "even")


def test_a_frame_of_a_state_that_is_no_column_names_the_columns():
    result = gode("discover", GROWTH, "--frame", "x' = f(u)")
    assert result.exit_code == 2
    assert "has no column 'x'; its columns are 't', 'u'" in result.stderr
