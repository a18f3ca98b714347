"""PEtab problems go in: ours come back as they went out, and others as people write them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import commands
import gode
from commands import refused
from gode.errors import FileError

pytest.importorskip("libsbml", reason="python-libsbml is not installed")
pytest.importorskip("yaml", reason="pyyaml is not installed")

YAML = """format_version: 1
parameter_file: parameters.tsv
problems:
  - sbml_files: [model.xml]
    measurement_files: [measurements.tsv]
    condition_files: [conditions.tsv]
    observable_files: [observables.tsv]
"""
PARAMETERS = ("parameterId", "parameterScale", "lowerBound", "upperBound", "nominalValue", "estimate")
READINGS = ("observableId", "simulationConditionId", "time", "measurement")
OBSERVABLES = ("observableId", "observableFormula", "noiseFormula")
CONVERSION = """<?xml version="1.0" encoding="UTF-8"?>
<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">
<model id="m">
 <listOfCompartments>
  <compartment id="cell" size="2" constant="true" spatialDimensions="3"/></listOfCompartments>
 <listOfSpecies>
  <species id="A" compartment="cell" initialConcentration="1" {species}/>
  <species id="B" compartment="cell" initialConcentration="0" {species}/>
 </listOfSpecies>
 <listOfParameters>
  <parameter id="k1" value="1" constant="true"/><parameter id="k2" value="1" constant="true"/>
  <parameter id="A0" value="1" constant="true"/>
 </listOfParameters>
 <listOfInitialAssignments><initialAssignment symbol="A">
  <math xmlns="http://www.w3.org/1998/Math/MathML"><ci>A0</ci></math></initialAssignment>
 </listOfInitialAssignments>
 <listOfReactions><reaction id="conversion" reversible="true" fast="false">
  <listOfReactants><speciesReference species="A" stoichiometry="1" constant="true"/></listOfReactants>
  <listOfProducts><speciesReference species="B" stoichiometry="1" constant="true"/></listOfProducts>
  <kineticLaw><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><ci>cell</ci>
   <apply><minus/><apply><times/><ci>k1</ci><ci>A</ci></apply><apply><times/><ci>k2</ci><ci>B</ci></apply></apply>
  </apply></math></kineticLaw>
 </reaction></listOfReactions>
</model></sbml>
""".replace("{species}", 'hasOnlySubstanceUnits="false" boundaryCondition="false" constant="false"')
T = np.linspace(0.0, 10.0, 26)


def table(head, rows):
    return "\n".join("\t".join(map(str, row)) for row in (head, *rows)) + "\n"


def problem(folder, model, conditions, observables, readings, parameters):
    """Write the files of a problem; return the one that names the others."""
    texts = {
        "model.xml": model,
        "conditions.tsv": conditions,
        "observables.tsv": table(OBSERVABLES, observables),
        "measurements.tsv": table(READINGS, readings),
        "parameters.tsv": table(PARAMETERS, parameters),
        "problem.yaml": YAML,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder / "problem.yaml"


def converted(k1, k2, a0):
    """The concentrations (2, n) of A and B."""
    rate = k1 + k2
    a = a0 * (k2 + k1 * np.exp(-rate * T)) / rate
    return np.array([a, a0 - a])


def conversion(folder, *, scale=False):
    """A reversible reaction from two starts, of which A, or with `scale` a share of B, is measured."""
    rng = np.random.default_rng(3)
    rows = []
    for condition, start in (("low", 1.0), ("high", 3.0)):
        a, b = converted(0.6, 0.2, start)
        seen = (2.5 * b if scale else a) + 0.01 * rng.standard_normal(len(T))
        rows += [("obs", condition, t, x) for t, x in zip(T, seen, strict=True)]
    free = [(name, "log10", 1e-3, 1e2, 1, 1) for name in ("k1", "k2", *(["s"] if scale else []))]
    observable = ("obs", "s*B" if scale else "A", "0.01")
    conditions = table(("conditionId", "A0"), [("low", 1), ("high", 3)])
    return problem(folder, CONVERSION, conditions, [observable], rows, free)


def values(found):
    return {constant.name: constant.value for constant in found.equation.constants}


def test_reactions_become_equations_and_conditions_runs(tmp_path):
    found = gode.fit_petab(conversion(tmp_path))
    assert len(found.prepared.dataset.runs) == 2
    assert values(found)["k1"] == pytest.approx(0.6, rel=0.05)
    assert values(found)["k2"] == pytest.approx(0.2, rel=0.05)
    assert found.quality.misfit == pytest.approx(1.0, abs=0.25)  # in units of the errors that were given


def test_an_observable_may_be_a_formula(tmp_path):
    found = gode.fit_petab(conversion(tmp_path, scale=True))
    known = values(found)  # of the share and the rates alone, only these two are determined
    assert known["s"] * known["k1"] == pytest.approx(2.5 * 0.6, rel=0.05)
    assert known["k1"] + known["k2"] == pytest.approx(0.8, rel=0.05)
    assert any("determine" in remark for remark in found.remarks)


@pytest.mark.parametrize("name", ["logistic", "pendulum", "predation"])
def test_what_we_write_we_read(name, tmp_path):
    rng = np.random.default_rng(4)
    if name == "logistic":
        runs = [k / (1 + 4 * np.exp(-0.8 * T)) + 0.02 * rng.standard_normal(len(T)) for k in (3, 5)]
        found = gode.fit("u' = r*u*(1 - u/K)", [T, T], runs, individual=["K"])
    elif name == "pendulum":
        clean = solve_ivp(lambda t, y: [y[1], -0.2 * y[1] - 2 * np.sin(y[0])], (0, 10), [1, 0], t_eval=T).y[0]
        found = gode.fit("u'' = C*u' + C*sin(u)", T, clean + 0.01 * rng.standard_normal(len(T)))
    else:
        slopes = lambda t, y: [y[0] - 0.5 * y[0] * y[1], 0.3 * y[0] * y[1] - 0.7 * y[1]]  # noqa: E731
        clean = solve_ivp(slopes, (0, 10), [2, 1], t_eval=T, rtol=1e-8).y.T
        law = ["x' = C*x + C*x*y", "y' = C*x*y + C*y"]
        found = gode.fit(law, T, clean + 0.03 * rng.standard_normal(clean.shape))
    found.save_petab(tmp_path)
    again = gode.fit_petab(tmp_path / "problem.yaml")
    ours = np.array([run.u for run in (found.simulate(T, run=i) for i in range(len(found.prepared.smooths)))])
    theirs = np.array(
        [run.u for run in (again.simulate(T, run=i) for i in range(len(again.prepared.smooths)))]
    )
    assert np.allclose(ours, theirs, atol=0.02 * np.ptp(ours))


def test_the_command_line_takes_a_problem(tmp_path):
    done = commands.gode("fit", conversion(tmp_path), "--quiet")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("A' = ")
    assert "leave out data.csv" in refused("fit", tmp_path / "problem.yaml", "data.csv")
    assert "missing argument 'FILE...'" in refused("fit", "u' = C*u")


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("problem.yaml", "sbml_files", "models", "is no PEtab problem of version 1"),
        ("model.xml", "<sbml", "<smbl", "is no SBML that can be read"),
        ("measurements.tsv", "\tlow\t", "\tother\t", "the condition 'other' of a measurement is in no table"),
        ("measurements.tsv", "\t10.0\t", "\tinf\t", "a steady state was measured"),
        ("parameters.tsv", "0.001", "small", "expected a number as lowerBound, got 'small'"),
    ],
)
def test_what_is_no_problem_gets_a_sentence(file, old, new, sentence, tmp_path):
    path = conversion(tmp_path)
    broken = tmp_path / file
    broken.write_text(broken.read_text().replace(old, new))
    with pytest.raises(FileError, match=sentence):
        gode.fit_petab(path)


def test_a_missing_file_is_named(tmp_path):
    path = conversion(tmp_path)
    (tmp_path / "conditions.tsv").unlink()
    with pytest.raises(FileError, match=r"conditions\.tsv"):
        gode.fit_petab(path)


GROWTH = """<?xml version="1.0" encoding="UTF-8"?>
<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"><model id="m">
 <listOfParameters>
  <parameter id="r" value="1" constant="true"/><parameter id="K" value="5" constant="true"/>
  <parameter id="N0" value="1" constant="true"/><parameter id="N" value="1" constant="false"/>
  <parameter id="food" value="1" constant="true"/>
 </listOfParameters>
 <listOfInitialAssignments><initialAssignment symbol="N">
  <math xmlns="http://www.w3.org/1998/Math/MathML"><ci>N0</ci></math></initialAssignment>
 </listOfInitialAssignments>
 <listOfRules><rateRule variable="N"><math xmlns="http://www.w3.org/1998/Math/MathML">
  <apply><times/><ci>r</ci><ci>food</ci><ci>N</ci>
   <apply><minus/><cn>1</cn><apply><divide/><ci>N</ci><ci>K</ci></apply></apply></apply></math></rateRule>
 </listOfRules>
</model></sbml>
"""


def growth(folder, *, foods=(1.0, 1.0)):
    """Growth from known starts at zero, of which a multiple with an offset is read later."""
    rng, rows, t = np.random.default_rng(5), [], np.linspace(0.5, 9.0, 30)
    for condition, start, food in zip(("thin", "dense"), (0.2, 9.0), foods, strict=True):
        n = 4.5 / (1 + (4.5 / start - 1) * np.exp(-0.9 * food * t))
        seen = 0.7 * n + 0.1 + 0.02 * rng.standard_normal(len(t))
        rows += [("od", condition, *row) for row in zip(t, seen, strict=True)]
    free = [
        ("r", "lin", 0, 10, 1, 1),
        ("K", "lin", 0.1, 100, 5, 1),
        ("scale", "lin", 0.01, 10, 1, 1),
        ("offset", "lin", -1, 1, 0, 1),
    ]
    conditions = table(("conditionId", "N0", "food"), [("thin", 0.2, foods[0]), ("dense", 9.0, foods[1])])
    return problem(folder, GROWTH, conditions, [("od", "scale*N + offset", "0.02")], rows, free)


def test_initial_values_hold_at_zero_also_where_readings_begin_later(tmp_path):
    found = gode.fit_petab(growth(tmp_path))
    assert values(found) == pytest.approx(
        {"r": 0.9, "K": 4.5, "scale": 0.7, "offset": 0.1}, rel=0.05, abs=0.03
    )
    assert [run.t[0] for run in found.prepared.dataset.runs] == [0.0, 0.0]
    found.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert np.array_equal(again.simulate(run=1)["N"], found.simulate(run=1)["N"])


@pytest.mark.parametrize("write", [conversion, growth, lambda folder: growth(folder, foods=(1.0, 0.5))])
def test_what_goes_in_comes_out_with_its_constants(write, tmp_path):
    found = gode.fit_petab(write(tmp_path))
    found.save_petab(tmp_path / "out")
    again = gode.fit_petab(tmp_path / "out" / "problem.yaml")
    ours, theirs = (sorted(abs(c.value) for c in each.equation.constants) for each in (found, again))
    assert theirs == pytest.approx(ours, rel=1e-4)


def test_inputs_that_are_settings_of_runs_are_columns_of_the_conditions(tmp_path):
    found = gode.fit_petab(growth(tmp_path, foods=(1.0, 0.5)))
    found.save_petab(tmp_path / "out")
    head, *rows = (tmp_path / "out" / "conditions.tsv").read_text().splitlines()
    assert "input_food" in head.split("\t")
    parameters = (tmp_path / "out" / "parameters.tsv").read_text()
    settings = [row.split("\t")[-2:] for row in parameters.splitlines() if row.startswith("input_food")]
    assert settings == [["1.0", "0"], ["0.5", "0"]]
    assert [row.split("\t")[0] for row in rows] == ["thin", "dense"]
    assert found.simulate(run="dense")["N"][0] == pytest.approx(9.0)
