import sys
from dataclasses import replace

import pytest

from gode.discovery import fit
from gode.report.figures import (
    data_and_fit,
    front_picture,
    overview,
    phase_portrait,
    residual_plots,
    to_svg,
)

PICTURES = {overview: 4, data_and_fit: 1, residual_plots: 3, phase_portrait: 1, front_picture: 1}


@pytest.mark.parametrize("draw", PICTURES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["growth", "driven", "implicit"])
def test_pictures_have_their_panels_and_can_be_saved(name, draw, request, tmp_path):
    figure = draw(request.getfixturevalue(name))
    assert len(figure.axes) == PICTURES[draw]
    figure.savefig(tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 5000


def test_the_same_picture_is_the_same_text(growth):
    assert to_svg(phase_portrait(growth)) == to_svg(phase_portrait(growth))


def test_a_picture_shows_the_look_ahead_only_where_the_force_is_known(growth, duffing):
    assert "prediction, 95 %" in legend(data_and_fit(growth))
    assert "prediction, 95 %" not in legend(data_and_fit(duffing))


def legend(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_labels_are_text_and_not_formulas(growth, tmp_path):
    dataset = replace(growth.prepared.dataset, labels={"time": r"$\bad{", "u": "u [$]"})
    found = replace(growth, prepared=replace(growth.prepared, dataset=dataset))
    assert r"t ($\bad{)" in to_svg(found.plot())


def test_a_long_equation_fits_over_its_picture(growth):
    long = "u' = C*u + C*u^2 + C*sin(u) + C*cos(u) + C*u^3 + C*exp(-u)"
    run = growth.prepared.dataset.runs[0]
    title = overview(fit(long, run.t, run.observed[0])).get_suptitle()
    assert max(map(len, title.splitlines())) <= 90
    assert "\n" in title


def test_drawing_shows_nothing_and_starts_no_window_system(growth):
    before = "matplotlib.pyplot" in sys.modules
    growth.plot()
    assert ("matplotlib.pyplot" in sys.modules) == before
