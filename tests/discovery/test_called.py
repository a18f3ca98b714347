"""A single state and its inputs by the names of their columns, wherever people read or write them."""

import json
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

import gode
from gode.data.from_arrays import make_dataset
from gode.discovery.framing import (
    by_columns,
    called_in,
    column_of,
    display_name,
    display_names,
    in_columns,
    read_frame,
)
from gode.discovery.remedies import with_term
from gode.equation import parse_equation
from gode.equation.system import with_names
from gode.report.naming import axis_label
from gode.report.page import discovery_page
from gode.report.record import discovery_of, fit_table, record_of

T = np.linspace(0.0, 6.0, 40)
LEVEL = 2.0 - 1.5 * np.exp(-0.8 * T) + 0.3 * np.sin(2 * T)
PUMP = 0.8 * LEVEL + np.gradient(LEVEL, T)


def data(u="OD600 [1]", force="", names=(), formula=None):
    labels = {"t": "time [h]", "u": u, **({"F": force} if force else {})}
    return make_dataset(T, LEVEL, force=(formula or PUMP) if force else None, labels=labels, run_names=names)


@pytest.mark.parametrize(
    ("dataset", "names"),
    [
        (data(), {"u": "OD600"}),
        (data("u"), {}),
        (data("level [cm]", "pump [V]"), {"u": "level", "F": "pump"}),
        (data("Temp °C", "valve opening [%]"), {"u": "Temp_C", "F": "valve_opening"}),
        (data("sin", "C"), {"u": "x_sin", "F": "x_C"}),
        (data("F", "u"), {"u": "x_F", "F": "u"}),
        (data("level", "level"), {"u": "level", "F": "x_level"}),
        (data("θ", "F"), {"u": "theta"}),
        (data("level", "sin(2*t)", formula="sin(2*t)"), {"u": "level"}),
        (data("12"), {}),
    ],
)
def test_columns_are_called_by_their_labels(dataset, names):
    assert display_names(dataset) == names
    assert column_of(dataset, display_name(dataset, "u'")) == "u'"


def test_wells_that_are_runs_have_no_common_name():
    labels = {"u": "A1,A2 [mg]"}
    both = make_dataset([T, T], [LEVEL, LEVEL], labels=labels, run_names=("A1", "A2"))
    assert display_names(both) == {}


def test_a_text_may_use_either_names():
    driven = data("y", "u")
    assert called_in(driven, "y' = C*y + C*u") == {"u": "y", "F": "u"}
    assert called_in(driven, "u' = C*u + C*F") == {"u": "u"}
    assert in_columns("y' = C*y + C*sin(u)", driven) == "u' = C*u + C*sin(F)"
    for text in ("y' = a*y + b*u", "u' = a*u + b*F"):
        (tree,) = read_frame(text, driven, functions=False).trees
        assert str(tree) == str(read_frame("u' = a*u + b*F", data("u", "F"), functions=False).trees[0])
    assert by_columns(driven, {"y": 1.0, "u": 2.0}) == {"u": 1.0, "F": 2.0}


def test_a_law_is_shown_in_its_names_and_stays_equal():
    law = parse_equation("2*u'' + 0.5*u' + 3*sin(u) = F")
    named = with_names(law, {"u": "angle", "F": "motor"})
    assert str(named) == "2*angle'' + 0.5*angle' + 3*sin(angle) = motor"
    assert r"\ddot{\mathrm{angle}}" in named.latex()
    assert named.rhs() == "-0.25*angle' + 0.5*motor - 1.5*sin(angle)"
    assert named.skeleton == law.skeleton
    assert str(law).endswith("= F")


def test_a_constant_keeps_its_name_where_a_column_has_the_same():
    found = gode.fit("u' = K - r*u", T, LEVEL, names=["K"])
    assert found.equation.named_lines() == ["u' = K - r*u"]


@pytest.mark.slow
def test_sympy_has_the_names():
    law = with_names(parse_equation("u' + 3*u = F"), {"u": "level", "F": "pump"})
    assert "level(t)" in str(law.sympy())
    assert "pump(t)" in str(law.sympy())


@pytest.fixture(scope="module")
def tank():
    frame = pd.DataFrame({"time [h]": T, "level": LEVEL, "pump [V]": PUMP})
    return gode.fit("level' = C*level + C*pump", frame["time [h]"], frame["level"], force=frame["pump [V]"])


def test_names_of_series_reach_everything_that_is_read(tank):
    assert str(tank.equation).replace("-", "+").count("level") == 2
    assert str(tank.equation).endswith("= pump")
    assert {c.place for c in tank.equation.constants} == {"level", "level'"}
    assert {c.unit for c in tank.equation.constants if c.place == "level"} <= {"", "V"}
    assert fit_table(tank).splitlines()[0] == "t,level,level fit,level residual"
    assert axis_label(tank.prepared.dataset, "u'") == "level'"
    page = unescape(discovery_page(tank, title="tank"))
    assert "level′" in page
    assert "u' =" not in page
    assert tank.equation["level"] is not None
    assert tank.equation["u"] is not None


def test_simulation_takes_and_gives_names(tank):
    t = np.linspace(0, 9, 50)
    one = tank.simulate(t, {"level": 1.0}, {"pump": "1 + 0*t"})
    other = tank.simulate(t, [1.0], "1 + 0*t")
    assert one["level"] == pytest.approx(other["u"])
    assert one["level'"] == pytest.approx(other["u'"])
    assert tank.predict(t, [1.0], {"F": "1"})["level"].u == pytest.approx(one.u)


def test_records_keep_u_inside_and_names_outside(tank):
    record = json.loads(json.dumps(record_of(tank)))
    assert record["equation"].endswith("= pump")
    assert "level" not in json.dumps(record["candidates"])
    again = discovery_of(record)
    assert str(again.equation) == str(tank.equation)
    assert again.n_solved == tank.n_solved
    old = {**record, "labels": {}}
    del old["n_solved"]
    assert str(discovery_of(old).equation).endswith("= F")


def test_the_number_of_solved_equations_survives_a_record(tank):
    many = replace(tank, solved=90)
    assert discovery_of(json.loads(json.dumps(record_of(many)))).n_solved == 90


def test_what_is_tried_for_a_poor_fit_is_tried_whatever_columns_are_called():
    law = parse_equation("2*u' + 3*u = F")
    named = with_names(law, {"u": "level", "F": "pump"})
    tried, other = (with_term(each, 0, "sign(u')") for each in (named, law))
    assert tried == other
    assert tried is not None
