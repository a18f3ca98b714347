from statistics import geometric_mean

import pytest

from gode.errors import ConfigError
from gode_bench.engine import measure


def test_rates_stand_beside_those_of_a_baseline():
    figures = {figure.name: figure for figure in measure(("solves", "smooth"), quick=True)}
    mean = figures["solves, geometric mean"]
    single = [figure.ratio for name, figure in figures.items() if name.startswith("solves of")]
    assert len(single) == 5
    assert mean.ratio == pytest.approx(geometric_mean(single))
    assert mean.ratio > 3  # about 80; noise of a busy machine does not reach that far
    assert figures["smoothing 120 points"].baseline == "spline by cross-validation"


def test_fits_are_faster_and_as_good_as_those_of_the_paper():
    pytest.importorskip("symengine")
    (figure,) = measure(("fits",), quick=True)
    assert figure.ratio > 5
    share = float(figure.note.split()[-2])
    assert share >= 90


def test_unknown_measurements_are_refused():
    with pytest.raises(ConfigError, match="no measurement 'luck'"):
        list(measure(("luck",), quick=True))
