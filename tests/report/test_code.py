import io
import re
import runpy
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest

from exported import reference
from gode.data import Interpolation, Samples
from gode.data.doses import make_doses
from gode.discovery import fit
from gode.equation import parse_equation, parse_tree
from gode.equation.operators import FUNCTIONS
from gode.equation.printer import write
from gode.equation.system import parse_system_values
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.equation.terms import Term
from gode.errors import ConfigError, DataError, EquationError
from gode.report.languages import LANGUAGES, PYTHON, C, code, suffix
from gode.solve import solve

EXPLICIT = ("growth", "pendulum", "duffing", "driven")
SYSTEMS = ("predation", "masses")
DRIVEN = ("late_growth", "dosed", "pushed")  # delayed states, doses, formulas of what is measured
COMPILER = shutil.which("gcc") or shutil.which("cc")
OCTAVE = shutil.which("octave-cli")


def table(text):
    return np.array([[float(x) for x in line.split(",")] for line in text.splitlines()])


def output(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python_output(text, folder):
    """What a Python program prints when it is run as a script, in this interpreter."""
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    with redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(path), run_name="__main__")
    return printed.getvalue()


def compiled(text, folder):
    source, program = folder / "model.c", folder / "model"
    source.write_text(text, encoding="utf-8")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
    output(COMPILER, *strict, source, "-lm", "-o", program)
    return program


def written(found, language, path):
    path.write_text(found.export(language), encoding="utf-8")
    return str(path)


def octave(found, call, folder):
    """What Octave makes of a call of the exported function: times and states."""
    written(found, "matlab", folder / "gode_model.m")
    seen = ", seen" if "[t, y, seen] = gode_model" in found.export("matlab") else ""
    show = f"[t, y{seen}] = {call}; y = [y{seen}]; "
    show += "printf([repmat('%.12g,', 1, columns(y)) '%.12g\\n'], [t(:) y]');"
    return table(output(OCTAVE, "--quiet", "--eval", show, cwd=folder))


@pytest.mark.parametrize("name", [*EXPLICIT, *SYSTEMS, *DRIVEN])
def test_python_program_gives_our_solution(name, request, tmp_path):
    found = request.getfixturevalue(name)
    printed = table(python_output(found.export("python"), tmp_path))
    assert np.allclose(printed, reference(found), rtol=0, atol=1e-6)


def test_python_program_needs_nothing_of_ours_and_warns_of_nothing(driven, tmp_path):
    path = written(driven, "python", tmp_path / "model.py")
    printed = output(sys.executable, "-I", "-W", "error", path)
    assert printed == python_output(driven.export("python"), tmp_path)
    assert "gode" not in {line.split()[1].split(".")[0] for line in imports(path)}


def imports(path):
    with open(path, encoding="utf-8") as file:
        return [line for line in file if re.match(r"\s*(import|from) ", line)]


@pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
@pytest.mark.parametrize("name", [*EXPLICIT, *SYSTEMS, *DRIVEN])
def test_c_program_compiles_without_warning_and_gives_our_solution(name, request, tmp_path):
    found = request.getfixturevalue(name)
    printed = table(output(compiled(code(found, "c"), tmp_path)))
    assert np.allclose(printed, reference(found), rtol=0, atol=1e-6)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
def test_program_of_another_run_starts_from_its_own_initial_values(driven, tmp_path):
    printed = table(output(compiled(code(driven, "c", run=1), tmp_path)))
    assert printed[0, 1] == pytest.approx(3.0, abs=0.05)
    assert np.allclose(printed, reference(driven, 1), rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(OCTAVE is None, reason="no Octave here")
@pytest.mark.parametrize("name", [*EXPLICIT, "implicit", *SYSTEMS, *DRIVEN])
def test_matlab_program_gives_our_solution_in_octave(name, request, tmp_path):
    found = request.getfixturevalue(name)
    assert np.allclose(octave(found, "gode_model()", tmp_path), reference(found), rtol=0, atol=1e-5)


RSCRIPT = shutil.which("Rscript")
DE_SOLVE = (
    RSCRIPT is not None
    and not subprocess.run([RSCRIPT, "-e", "library(deSolve)"], capture_output=True, check=False).returncode
)


@pytest.mark.skipif(not DE_SOLVE, reason="no R with deSolve here")
@pytest.mark.parametrize("name", [*EXPLICIT, *SYSTEMS, *DRIVEN])
def test_r_program_gives_our_solution(name, request, tmp_path):
    path = written(request.getfixturevalue(name), "r", tmp_path / "model.R")
    printed = table(output(RSCRIPT, "--vanilla", path))
    assert np.allclose(printed, reference(request.getfixturevalue(name)), rtol=0, atol=1e-6)


@pytest.mark.skipif(not DE_SOLVE, reason="no R with deSolve here")
def test_r_joins_samples_as_the_fit_did(lagging, tmp_path):
    printed = table(output(RSCRIPT, "--vanilla", written(lagging, "r", tmp_path / "model.R")))
    assert np.allclose(printed, reference(lagging), rtol=0, atol=1e-6)


def test_rxode2_names_states_constants_and_covariates(lagging, predation):
    text = lagging.export("rxode2")
    assert re.search(r"d/dt\(u\) <- c1\*force \+ c2\*u", text)
    assert "events$force <- sapply(events$time, force)" in text
    held = lagging.settings.interpolation == "hold"
    assert f'covsInterpolation = "{"locf" if held else "linear"}"' in text
    text = predation.export("rxode2")
    assert text.count("d/dt(") == 2
    assert "prey(0) <- " in text


@pytest.mark.skipif(shutil.which("julia") is None, reason="no Julia here")
@pytest.mark.parametrize("name", [*EXPLICIT, *SYSTEMS, *DRIVEN])
def test_julia_program_gives_our_solution(name, request, tmp_path):
    found = request.getfixturevalue(name)
    path = tmp_path / "model.jl"
    path.write_text(code(found, "julia"), encoding="utf-8")
    assert np.allclose(table(output("julia", path)), reference(found), rtol=0, atol=1e-6)


@pytest.mark.skipif(shutil.which("omc") is None, reason="no OpenModelica here")
@pytest.mark.parametrize("name", [*EXPLICIT, "implicit"])
def test_modelica_model_gives_our_solution(name, request, tmp_path):
    found = request.getfixturevalue(name)
    (tmp_path / "GodeModel.mo").write_text(code(found, "modelica"), encoding="utf-8")
    script = 'loadFile("GodeModel.mo"); simulate(GodeModel, outputFormat="csv"); getErrorString();'
    (tmp_path / "run.mos").write_text(script, encoding="utf-8")
    output("omc", "run.mos", cwd=tmp_path)
    lines = (tmp_path / "GodeModel_res.csv").read_text(encoding="utf-8").splitlines()
    names = [name.strip('"') for name in lines[0].split(",")]
    rows = table("\n".join(lines[1:]))
    wanted = reference(found)
    u = np.interp(wanted[:, 0], rows[:, names.index("time")], rows[:, names.index("u")])
    assert np.allclose(u, wanted[:, 1], rtol=0, atol=1e-4)


# Where no interpreter is at hand, the line that counts is read back by our own parser.
LAST_LINE = {
    "julia": r"dy\[{order}\] = (.*)",
    "matlab": r"dy\({order}, 1\) = (.*);",
    "modelica": r"der\({state}\) = (.*);\n  annotation",
}
PARAMETER = {
    "julia": r"const (c\d+) = (\S+)",
    "matlab": r"  (c\d+) = (\S+);",
    "modelica": r"parameter Real (c\d+) = (\S+) ",
}


@pytest.mark.parametrize("language", sorted(LAST_LINE))
@pytest.mark.parametrize("name", EXPLICIT)
def test_the_derivative_reads_back_as_the_right_hand_side(name, language, request, rng):
    found = request.getfixturevalue(name)
    skeleton = found.candidates[0].equation.skeleton
    text = code(found, language)
    state = "uv"[skeleton.order - 1]
    (line,) = re.findall(LAST_LINE[language].format(order=skeleton.order, state=state), text)
    for parameter, value in re.findall(PARAMETER[language], text):
        line = re.sub(rf"\b{parameter}\b", f"({value})", line)
    line = re.sub(r"\bv\b", "u'", line)
    line = re.sub(r"\bforce(\(t\))?", "F", line).replace("time", "t")
    columns = (*COLUMNS, "F")
    x = rng.uniform(0.5, 2.0, (5, 20))
    read = evaluate(compile_tape([Term(1.0, None, parse_tree(line))], columns, 0), [], x).value
    wanted = compile_tape(skeleton.rhs_terms, columns, skeleton.n_constants)
    assert np.allclose(read, evaluate(wanted, found.candidates[0].equation.constants, x).value, rtol=1e-12)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("name", [*EXPLICIT, *DRIVEN])
def test_brackets_and_blocks_are_balanced(name, language, request):
    text = code(request.getfixturevalue(name), language)
    for left, right in ("()", "[]", "{}"):
        assert text.count(left) == text.count(right)
    if language in ("julia", "matlab"):
        opened = len(re.findall(r"^ *(?:function|for|if|while)\b|= function \(", text, re.MULTILINE))
        assert opened == len(re.findall(r"\bend$", text, re.MULTILINE))
    assert not re.search(r"(?<![\w)])\$\w", text)  # no field of a template is left; R writes list$name


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("julia", r"r\[1\] = dy\[1\]\^2 \+ c1\*u \+ c2"),
        ("matlab", r"r\(1, 1\) = dy\(1\)\^2 \+ c1\*u \+ c2;"),
        ("modelica", r"der\(u\)\^2 \+ c1\*u \+ c2 = 0;"),
    ],
)
def test_implicit_equation_becomes_a_residual_that_vanishes(implicit, language, line):
    text = code(implicit, language)
    assert re.search(line, text), text
    values = dict(re.findall(r"(c\d) = (-?\d+\.\d+)", text))
    start = implicit.candidates[0].initial[0, 0]
    slope = implicit.simulate().du[0]
    assert slope**2 + float(values["c1"]) * start + float(values["c2"]) == pytest.approx(0.0, abs=1e-6)
    if language != "modelica":
        assert f"{slope!r}" in text or f"{float(slope)!r}" in text


@pytest.mark.parametrize("language", ["python", "c"])
def test_implicit_equation_gets_a_sentence_where_no_solver_is(implicit, language):
    with pytest.raises(EquationError, match="export it to one of julia, matlab, modelica"):
        code(implicit, language)


def test_unknown_language_and_run_get_a_sentence(growth):
    with pytest.raises(
        ConfigError,
        match="language must be one of python, c, julia, matlab, modelica, r, rxode2, sbml, got 'COBOL'",
    ):
        growth.export("COBOL")
    with pytest.raises(ConfigError, match="language must be one of"):
        suffix("cobol")
    with pytest.raises(DataError, match="there is one run only, number 0, got 3"):
        growth.export("c", run=3)
    assert code(growth, "octave") == code(growth, "MATLAB")
    assert suffix("jl") == ".jl"


TRICKY = (
    "u' = -2*u^2/(1 + u^2) - 3",
    "u' = t*u^(-2) - 1/u",
    "u' = u/(t*u) - 2/(3*t)",
    "u'' = -abs(u')*u' - 2*sign(u)",
    "u' = exp(-u)*log(2 + u^2)",
    "u' = (u - 1)^3/(t + 2)^2",
    "u' = 2^u - u^0.5",
    "u' = -(tanh(u)^2)*cos(t)",
    "u' = (u^2 + 1)^1.5 - u^(t - 1)",
    "u'' = tan(u/5) - u'*(u'^2 - 1)*(2 - u)",
    "u' = 3 - (2 - (1 - u))",
    "u' = -1e-12*u + 2.5e8*u^7 - (-2)*u",
    "u' = sin(-u)^2 + (1 + u)^(-0.5)",
    *(f"u' = {function.call('1 - u')}" for function in FUNCTIONS.values() if function.name != "log"),
)


def values_of(equation, x):
    tape = compile_tape(equation.skeleton.rhs_terms, COLUMNS, equation.skeleton.n_constants)
    return evaluate(tape, equation.constants, x).value


def right_side(equation):
    return parse_tree(equation.rhs(None))


@pytest.mark.parametrize("language", ["python", "c"])
def test_tricky_expressions_mean_the_same(language, tmp_path, rng):
    if language == "c" and COMPILER is None:
        pytest.skip("no C compiler here")
    equations = [parse_equation(text) for text in TRICKY]
    x = rng.uniform(0.3, 2.0, (4, 7))
    if language == "python":
        rows = [f"[{write(right_side(e), PYTHON.dialect)} for t, u, v in points]" for e in equations]
        points = [tuple(map(float, p)) for p in x[:3].T]
        lines = ["import numpy as np", f"points = {points!r}", f"rows = [{', '.join(rows)}]"]
        text = "\n".join([*lines, "for row in rows:", "    print(*(repr(float(y)) for y in row), sep=',')"])
        printed = table(python_output(text, tmp_path))
    else:
        calls = [f'printf("%.17g,", {write(right_side(e), C.dialect)});' for e in equations]
        heads = ["#include <math.h>", "#include <stdio.h>"]
        heads += ["static double sign(double x) { return (x > 0) - (x < 0); }"]
        values = ", ".join(f"{{{t!r}, {u!r}, {v!r}}}" for t, u, v in x[:3].T.tolist())
        loop = "for (int i = 0; i < 7; i++) { const double t = p[i][0], u = p[i][1], v = p[i][2];"
        main = [
            "int main(void) {",
            f"const double p[7][3] = {{{values}}};",
            loop,
            *calls,
            r'printf("0\n"); }',
        ]
        printed = table(output(compiled("\n".join([*heads, *main, "return 0; }", ""]), tmp_path)))[:, :-1].T
    wanted = np.array([values_of(e, x) for e in equations])
    assert np.all(np.isfinite(wanted))
    assert np.allclose(printed, wanted, rtol=1e-11)


T = np.linspace(0.0, 6.0, 61)
OWN = np.round(np.cos(3 * T) + 0.5 * np.sin(7 * T), 3)  # an input that the data did not have


@pytest.fixture(scope="module", params=["hold", "linear", "cubic"])
def lagging(request):
    """A lag behind an input that changes at every sample."""
    force = np.random.default_rng(5).uniform(-1.0, 1.0, len(T))
    signal = Samples(T, force, Interpolation(request.param))
    u = solve(parse_equation("u' = -0.8*u + F"), T, [0.3], inputs={"F": signal}).u
    noise = 1e-3 * np.random.default_rng(6).standard_normal(len(T))
    return fit("u' = C*u + C*F", T, u + noise, force=force, interpolation=request.param)


def test_programs_join_samples_as_the_fit_did(lagging, tmp_path):
    wanted = reference(lagging)
    printed = table(python_output(lagging.export("python"), tmp_path))
    assert np.allclose(printed, wanted, rtol=0, atol=1e-6)
    if COMPILER:
        printed = table(output(compiled(lagging.export("c"), tmp_path)))
        assert np.allclose(printed, wanted, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(OCTAVE is None, reason="no Octave here")
def test_matlab_joins_samples_as_the_fit_did(lagging, tmp_path):
    assert np.allclose(octave(lagging, "gode_model()", tmp_path), reference(lagging), rtol=0, atol=1e-6)


def test_python_takes_an_input_of_the_caller(lagging, tmp_path):
    space = runpy.run_path(written(lagging, "python", tmp_path / "model.py"))
    wanted = lagging.simulate(T, force=OWN).u
    assert np.allclose(space["simulate"](T, force=OWN)[0], wanted, rtol=0, atol=3e-5)
    wanted = lagging.simulate(T, force=np.cos).u
    assert np.allclose(space["simulate"](T, force=np.cos)[0], wanted, rtol=0, atol=3e-5)
    later = space["simulate"]([0.0, 20.0], [1.0], force=lambda t: 2.0)  # beyond the data
    assert later[0, -1] == pytest.approx(2 / 0.8, rel=0.01)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
def test_c_takes_an_input_of_the_caller(lagging, tmp_path):
    if lagging.settings.interpolation == "cubic":
        pytest.skip("C joins the samples of a caller by lines or holds them")
    held = lagging.settings.interpolation == "hold"
    pointer = "held, &f[i]" if held else "line, (double[4]){t[i], t[i + 1], f[i], f[i + 1]}"
    numbers = [", ".join(map(repr, values.tolist())) for values in (T, OWN)]
    initial = float(lagging.candidates[0].initial[0, 0])
    main = f"""
int main(void)
{{
    const double t[61] = {{{numbers[0]}}}, f[61] = {{{numbers[1]}}};
    double y[1] = {{{initial!r}}};
    int i;
    for (i = 0; i < 60; i++) {{
        printf("%.12g\\n", y[0]);
        advance(t[i], t[i + 1], y, {pointer});
    }}
    printf("%.12g\\n", y[0]);
    return 0;
}}
"""
    text = lagging.export("c").replace("int main(void)", "int own(void)") + main
    wanted = lagging.simulate(T, force=OWN).u
    assert np.allclose(table(output(compiled(text, tmp_path)))[:, 0], wanted, rtol=0, atol=3e-5)


@pytest.mark.slow
@pytest.mark.skipif(OCTAVE is None, reason="no Octave here")
def test_matlab_takes_an_input_of_the_caller(lagging, tmp_path):
    samples = f"[{' '.join(map(repr, OWN.tolist()))}]"
    found = octave(lagging, f"gode_model(linspace(0, 6, 61), [], {samples})", tmp_path)
    assert np.allclose(found[:, 1], lagging.simulate(T, force=OWN).u, rtol=0, atol=3e-5)
    found = octave(lagging, "gode_model(linspace(0, 6, 61), [], @(t) cos(t))", tmp_path)
    assert np.allclose(found[:, 1], lagging.simulate(T, force=np.cos).u, rtol=0, atol=3e-5)


def test_julia_and_modelica_have_ports_too(lagging):
    text = lagging.export("modelica")
    assert text.index("input Real force") < text.index("end GodePlant;") < text.index("plant.force = ")
    held = lagging.settings.interpolation == "hold"
    assert ("when time >= force_times" in text) is held
    text = lagging.export("julia")
    assert "function simulate(t, y = initial, force = force, jumps = jumps)" in text
    assert ("const jumps = Float64[]" in text) is not held
    for left, right in ("()", "[]", "{}"):
        assert text.count(left) == text.count(right)


def test_a_callable_force_becomes_a_table(tmp_path):
    t = np.linspace(0.0, 6.0, 60)
    u = solve(parse_equation("u' = -u + F"), t, [1.0], inputs={"F": np.cos}).u
    found = fit("u' = C*u + C*F", t, u, force=lambda s: float(np.cos(s)))
    printed = table(python_output(code(found, "python"), tmp_path))
    assert np.allclose(printed[:, 1], np.interp(printed[:, 0], t, u), atol=2e-3)


def test_modelica_has_delays_doses_and_what_is_measured(pushed, dosed):
    text = pushed.export("modelica")
    assert re.search(r"der\(x_rate\) = .*delay\(x, c\d\).* \+ input_infusion_x;", text)
    assert re.search(r"  s = .*force", text)
    assert "Real s = plant.s;" in text
    text = dosed.export("modelica")
    assert "when time >= dose_times[" in text
    assert "reinit(plant.d, pre(plant.d) + dose_amounts[pre(dose_index) + 1, 1]);" in text


def test_modelica_starts_after_a_dose_at_the_start():
    t = np.linspace(0.0, 5.0, 30)
    found = fit("u' = -k*u", t, {"u": 2.5 * np.exp(-t)}, doses=[("u", 0.0, 2.0)], initial={"u": 0.5})
    text = found.export("modelica")
    assert "Real u(start = 0.5, fixed = true);" in text
    assert "GodePlant plant(u(start = 2.5));" in text
    assert "dose_times" not in text


def test_rxode2_has_delays_doses_and_what_is_measured(pushed, dosed):
    text = pushed.export("rxode2")
    assert re.search(r"d/dt\(x_rate\) <- .*delay\(x, c\d\).* \+ input_infusion_x", text)
    assert re.search(r"  s <- .*force", text)
    assert re.search(r'list\(36.0, "a", 20.0\)', dosed.export("rxode2"))


def test_a_program_says_what_share_of_a_dose_arrives_and_when(dosed):
    first = dosed.export("c").splitlines()[0]
    assert re.search(r"here doses are multiplied by 0\.59\d* \+- 0\.00\d*", first)
    assert re.search(r"here doses are late by 0\.29\d* \+- 0\.00\d*", first)


def test_a_sensor_of_what_acts_late_is_left_out_and_named():
    t = np.linspace(0.0, 20.0, 101)
    clean = solve(parse_system_values(["x' = -0.9*x(t - 1)"]), t, [1.0])
    values = {"x": clean["x"], "s": 2 * clean.values[1]}
    found = fit("x' = -k*x(t - tau)", t, values, observe={"s": "g*x'"}, bounds={"tau": (0.5, 2.0)})
    text = found.export("python")
    assert "s, which is measured, is not in this program" in text
    assert "observe" not in text


@pytest.fixture(scope="module")
def dosed_at_start():
    """x' = -0.5 x(t - 1.3) with a dose just before the start and one at 3.3, to which a sum is rounded up."""
    t, rows = np.linspace(0.0, 10.0, 81), [("x", 0.0, 1.0, 0.0, True), ("x", 3.3, 1.5)]
    law, doses = parse_system_values(["x' = -0.5*x(t - 1.3)"]), make_doses(rows, ("x",), "")
    clean = solve(law, t, [0.2], doses=doses)["x"]
    measured = {"x": clean + 0.01 * np.random.default_rng(0).standard_normal(len(t))}
    return fit(["x' = -k*x(t - 1.3)"], t, measured, doses=rows)


def test_python_goes_from_before_a_dose_at_the_start_and_reads_before_one_at_a_rounded_time(
    dosed_at_start, tmp_path
):
    assert 3.3 < np.linspace(0.0, 10.0, 201)[66] < 3.3 + 1e-15
    printed = table(python_output(dosed_at_start.export("python"), tmp_path))
    assert np.allclose(printed, reference(dosed_at_start), rtol=0, atol=1e-6)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
def test_c_knows_the_past_before_a_dose_at_the_start(dosed_at_start, tmp_path):
    printed = table(output(compiled(code(dosed_at_start, "c"), tmp_path)))  # whose rhs reads no state of now
    assert np.allclose(printed, reference(dosed_at_start), rtol=0, atol=1e-6)


def test_the_past_begins_after_a_dose_at_the_start(dosed_at_start):
    julia, matlab = (code(dosed_at_start, language) for language in ("julia", "matlab"))
    assert 0 < julia.index("y = give(y, t[1] -") < julia.index("past, begun = [], y")
    assert 0 < matlab.index("for d = early") < matlab.index("past = struct('start', initial(:)'")


def test_a_delay_that_no_program_can_follow_gets_a_sentence(late_growth):
    best = late_growth.candidates[0]
    names = [p.name for p in best.equation.skeleton.parameters]
    values = [
        1e-9 if name == "tau" else value for name, value in zip(names, best.equation.constants, strict=True)
    ]
    brief = replace(best, equation=replace(best.equation, constants=tuple(values)))
    with pytest.raises(EquationError, match="late by 1e-09, too little for a program"):
        replace(late_growth, candidates=[brief]).export("c")


def test_samples_of_different_kinds_are_each_joined_as_in_the_fit(tmp_path):
    t = np.linspace(0.0, 6.0, 61)
    inputs = {"F": np.sign(np.sin(2 * t)), "G": 1.0 + 0.0 * t}  # the second is a constant, which is held
    inputs["H"] = np.cos(t)
    law = parse_system_values(["x' = -x + F + G + H"], inputs=("F", "G", "H"))
    clean = solve(law, t, [0.0], inputs=inputs)["x"]
    found = fit("x' = C*x + C*F + C*G + C*H", t, {"x": clean}, force=inputs, interpolation="cubic")
    printed = table(python_output(found.export("python"), tmp_path))
    assert np.allclose(printed, reference(found), rtol=0, atol=1e-6)


@pytest.mark.parametrize("language", ["c", "julia", "matlab", "modelica", "python", "r", "rxode2", "sbml"])
def test_every_language_writes_a_limit(language):
    t = np.linspace(0.0, 5.0, 60)
    u = np.where(t < 2, 2 - 0.5 * t, 1.0) + 0.001 * np.sin(9 * t)
    text = fit("u' = -a*max(0, u - c)", t, u).export(language)
    assert "max0" not in text
    assert "max" in text or "<piecewise>" in text
