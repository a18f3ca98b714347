import ast
import shlex
from dataclasses import replace

import numpy as np
import pytest

from gode.data.from_arrays import make_dataset
from gode.discovery import fit
from gode.discovery.options import Options
from gode.report import load
from gode.report.repeat import column_name, command, python_call, settings_rows


def keywords(found):
    call = ast.parse(python_call(found)).body[-1].value
    return (
        ast.unparse(call.func),
        [ast.unparse(a) for a in call.args],
        {k.arg: ast.unparse(k.value) for k in call.keywords},
    )


def test_a_search_is_repeated_with_its_options(growth):
    settings = replace(growth.settings, seed=7, start="u' = C*u", without=("log", "t"), effort="thorough")
    found = replace(growth, settings=settings)
    name, given, options = keywords(found)
    assert (name, given) == ("gode.discover", ["t", "u"])
    assert options == {
        "order": "1",
        "effort": "'thorough'",
        "start": '"u\' = C*u"',
        "without": "['log', 't']",
        "seed": "7",
    }
    words = shlex.split(command(found))
    assert words[:3] == ["gode", "discover", "data.csv"]
    assert words[words.index("--start") + 1] == "u' = C*u"
    assert [words[i + 1] for i, word in enumerate(words) if word == "--without"] == ["log", "t"]


def test_an_order_that_was_found_is_found_again(growth):
    found = replace(growth, settings=replace(growth.settings, share=0.5))
    assert keywords(found)[2]["order"] == "'auto'"
    assert "--order auto" in command(found)


def test_the_preset_is_named_and_chooses_its_own_grammar(growth):
    settings = replace(growth.settings, preset="paper", grammar="b1-paper", implicit=False)
    options = keywords(replace(growth, settings=settings))[2]
    assert options["preset"] == "'paper'"
    assert "grammar" not in options


def test_another_grammar_is_named(growth):
    found = replace(growth, settings=replace(growth.settings, grammar="my models", implicit=False))
    assert keywords(found)[2]["grammar"] == "'my models'"
    words = shlex.split(command(found))
    assert words[words.index("--grammar") + 1] == "my models"


def test_a_fit_is_repeated_and_finds_the_same(driven):
    name, given, options = keywords(driven)
    assert (name, given[1:]) == ("gode.fit", ["t", "u"])
    assert options == {"force": "'2*sin(3*t)/(1 + t^2)'"}
    runs = driven.prepared.dataset.runs
    again = fit(
        ast.literal_eval(given[0]),
        [run.t for run in runs],
        [run.observed[0] for run in runs],
        force=ast.literal_eval(options["force"]),
    )
    assert str(again.equation) == str(driven.equation)


def test_columns_of_the_file_and_known_values_are_named():
    t = np.linspace(0.0, 5.0, 50)
    found = fit("u'' = C*u", t, np.cos(2 * t), velocity=-2 * np.sin(2 * t), initial=[1.0, 0.0])
    labels = {"t": "Time [s]", "u": "x; rm -rf / [m]", "u'": "v"}
    dataset = replace(found.prepared.dataset, labels=labels)
    found = replace(found, prepared=replace(found.prepared, dataset=dataset))
    words = shlex.split(command(found))
    assert words[words.index("--time") + 1] == "Time"
    assert words[words.index("--u") + 1] == "x; rm -rf /"
    assert words[words.index("--velocity") + 1] == "v"
    assert words[words.index("--initial") + 1] == "1,0"
    names = {"velocity": "velocity", "initial": "[1.0, 0.0]", "names": "['x_rm_rf']"}
    assert keywords(found)[2] == names


def test_a_label_without_unit_is_the_name():
    assert column_name("u") == "u"
    assert column_name("u [m/s]") == "u"


def test_every_setting_is_listed(growth):
    rows = dict(settings_rows(growth))
    assert rows["order"] == "1"
    assert rows["selection.level"] == str(growth.settings.selection.level)
    chosen = replace(growth.settings, grammar="my.grammar", implicit=False)
    assert dict(settings_rows(replace(growth, settings=chosen)))["grammar"] == "my.grammar"


@pytest.mark.parametrize("states", [1, 2])
def test_settings_that_follow_from_the_data_are_not_listed_as_chosen(growth, states):
    t = np.arange(9.0)
    dataset = (
        growth.prepared.dataset if states == 1 else make_dataset(t, np.array([t, t**2]).T, names=["a", "b"])
    )
    settings = Options().settings(dataset, None)[0]
    prepared = replace(growth.prepared, dataset=dataset)
    rows = dict(settings_rows(replace(growth, settings=settings, prepared=prepared)))
    assert "grammar" not in rows
    assert "implicit" not in rows


def test_the_choice_of_an_interpolation_is_repeated_and_saved(tmp_path):
    t = np.linspace(0.0, 5.0, 50)
    found = fit("u' = C*F + C*u", t, 1 - np.exp(-t), force=np.ones(50), interpolation="linear")
    assert keywords(found)[2]["interpolation"] == "'linear'"
    words = shlex.split(command(found))
    assert words[words.index("--interpolation") + 1] == "linear"
    found.save(tmp_path / "record.json")
    again = load(tmp_path / "record.json")
    assert again.prepared.dataset.runs[0].interpolation == "linear"
    assert command(again) == command(found)
    text = (tmp_path / "record.json").read_text()
    older = text.replace(', "interpolation": "linear"', "")  # as written before there was a choice
    assert older != text
    (tmp_path / "older.json").write_text(older)
    assert load(tmp_path / "older.json").prepared.dataset.runs[0].interpolation == "auto"
