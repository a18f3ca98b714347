import sys
from dataclasses import replace

import numpy as np
import pytest

from gode.discovery import fit
from gode.report.figures import (
    PIXELS,
    data_and_fit,
    front_picture,
    overview,
    phase_portrait,
    residual_plots,
    run_colours,
    to_svg,
)
from gode.report.plots import MAX_PANELS

PICTURES = {overview: 4, data_and_fit: 1, residual_plots: 3, phase_portrait: 1, front_picture: 1}


@pytest.mark.parametrize("draw", PICTURES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["growth", "driven", "implicit"])
def test_pictures_have_their_panels_and_can_be_saved(name, draw, request, tmp_path):
    figure = draw(request.getfixturevalue(name))
    several = name == "driven" and draw is data_and_fit
    assert len(figure.axes) == (2 if several else PICTURES[draw])
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
    dataset = replace(growth.prepared.dataset, labels={"t": r"$\bad{", "u": "u [$]"})
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


def labelled(found, **labels):
    dataset = replace(found.prepared.dataset, labels=labels)
    return replace(found, prepared=replace(found.prepared, dataset=dataset))


def test_axes_carry_units_and_those_that_follow_from_them(pendulum):
    found = labelled(pendulum, t="time [s]", u="u [rad]")
    assert data_and_fit(found).axes[0].get_xlabel() == "t (time [s])"
    assert data_and_fit(found).axes[0].get_ylabel() == "u [rad]"
    assert phase_portrait(found).axes[0].get_ylabel() == "u' [rad/s]"
    assert residual_plots(found).axes[0].get_xlabel() == "t (time [s])"


@pytest.mark.parametrize("n", [3, 14])
def test_each_run_has_a_panel_with_its_name_up_to_a_dozen(n, rng):
    t = np.linspace(0.0, 3.0, 12)
    runs = [(1 + i) * np.exp(-t) + 0.01 * rng.standard_normal(12) for i in range(n)]
    runs[n - 1] += 0.3 * np.sin(9 * t)  # the worst of them
    panels = data_and_fit(fit("u' = C*u", [t] * n, runs)).axes
    titles = [axes.get_title(loc="left") for axes in panels]
    assert len(titles) == min(n, MAX_PANELS)
    assert f"run {n - 1}" in titles
    assert titles == sorted(titles, key=lambda title: int(title.split()[1]))


@pytest.mark.parametrize("n", [2, 8, 30])
def test_runs_have_colours_of_their_own(n):
    assert len(set(run_colours(n))) == n


def test_many_samples_are_drawn_as_their_extremes_and_gaps_stay_gaps(rng):
    t = np.linspace(0.0, 10.0, 30_000)
    u = np.exp(-0.3 * t) + 0.01 * rng.standard_normal(len(t))
    keep = (t < 4) | (t > 6)
    axes = data_and_fit(fit("u' = C*u", t[keep], u[keep])).axes[0]
    line = next(line for line in axes.get_lines() if line.get_label() == "equation")
    assert len(line.get_xdata()) == 2 * PIXELS
    assert np.isfinite(line.get_ydata()).all()
    data = next(area for area in axes.collections if area.get_label() == "data, lowest to highest")
    x, y = np.concatenate([path.vertices for path in data.get_paths()]).T
    assert y.max() >= u[keep].max()
    assert not np.any((x > 4.1) & (x < 5.9))
    assert np.any(x < 3.9)


def test_what_was_not_measured_is_not_drawn_as_data(rng):
    t = np.linspace(0.0, 20.0, 200)
    offset = 0.1 + 0.2 * rng.standard_normal(200)  # integrated twice, it drifts by 20
    found = fit("u'' = C*u", t, acceleration=-4 * np.cos(2 * t) + offset, initial=[1.0, 0.0])
    axes = phase_portrait(found).axes[0]
    assert "not measured" in axes.get_title(loc="left")
    assert "smoothed data" not in legend(axes.figure)
    assert max(np.abs(line.get_xdata()).max() for line in axes.get_lines()) < 2


def test_a_long_record_gets_a_closer_look(rng):
    t = np.linspace(0.0, 200.0, 3000)
    u = np.exp(-0.01 * t) * np.cos(2 * t) + 0.02 * rng.standard_normal(3000)
    whole, close = data_and_fit(fit("u'' = C*u' + C*u", t, u)).axes
    assert whole.get_xlim()[0] < 1
    assert close.get_xlim()[0] > 150


def test_columns_that_are_runs_name_their_panels_and_not_the_axis(driven):
    dataset = replace(driven.prepared.dataset, labels={"u": "A1,A2"}, names=("A1", "A2"))
    figure = data_and_fit(replace(driven, prepared=replace(driven.prepared, dataset=dataset)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["A1", "A2"]
    assert "A1,A2" not in to_svg(figure)
