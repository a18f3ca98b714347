"""Laws with states that no column measures."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gode
from gode.discovery.given import parse_law
from gode.discovery.identifiability import mixed_states
from gode.equation.system import parse_system_values
from gode.errors import ConfigError, DataError
from gode.report.repeat import command, python_call
from gode.solve import solve

COMPARTMENTS = ["c' = -ke*c - k12*c + k21*p", "p' = k12*c - k21*p"]
T = np.linspace(0.0, 30.0, 40)


def solved(right, start, t):
    return solve_ivp(right, (0.0, t[-1]), start, t_eval=t, rtol=1e-9, atol=1e-10).y


def noisy(clean, seed, share=0.03):
    return clean + share * np.std(clean) * np.random.default_rng(seed).standard_normal(len(clean))


def drug():
    """A dose into the blood, of which a part goes to the tissue and back: ke = 0.2, k12 = 0.3, k21 = 0.1."""
    return solved(lambda t, y: [-0.5 * y[0] + 0.1 * y[1], 0.3 * y[0] - 0.1 * y[1]], [10.0, 0.0], T)


def within(found, truth, errors=4.0):
    constants = {each.place: each for each in found.equation.constants}
    return all(
        abs(constants[name].value - value) < errors * constants[name].error for name, value in truth.items()
    )


@pytest.fixture(scope="module")
def compartments():
    return gode.fit(COMPARTMENTS, T, {"c": noisy(drug()[0], 0)}, initial={"p": 0})


def test_constants_of_a_law_with_a_hidden_state_are_found_without_a_guess(compartments):
    assert compartments.quality.verdict == "good"
    assert within(compartments, {"ke": 0.2, "k12": 0.3, "k21": 0.1})


def test_curve_of_the_hidden_state_is_that_of_the_law(compartments):
    clean = drug()[1]
    hidden = compartments.prepared.smooths[0].values[3]
    assert np.abs(hidden - clean).max() < 0.1 * clean.max()
    assert np.allclose(compartments.simulate(T).values[3], hidden, rtol=1e-3, atol=1e-3 * clean.max())


def test_only_what_was_measured_counts_as_data(compartments):
    assert [channel.name for channel in compartments.quality.channels] == ["c"]
    assert compartments.candidates[0].n_values == len(T)


def test_hidden_start_is_fitted_where_it_is_not_known():
    def epidemic(t, y):
        return [-0.002 * y[0] * y[1], 0.002 * y[0] * y[1] - 0.5 * y[1]]

    t = np.linspace(0.0, 20.0, 40)
    infected = noisy(solved(epidemic, [760.0, 3.0], t)[1], 1)
    found = gode.fit(["S' = -b*S*I", "I' = b*S*I - g*I"], t, {"I": infected})
    assert within(found, {"b": 0.002, "g": 0.5})
    assert found.candidates[0].initial[0, 0] == pytest.approx(760.0, rel=0.1)


def test_record_and_report_know_hidden_states(compartments, tmp_path):
    compartments.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert str(again.equation) == str(compartments.equation)
    assert np.array_equal(again.prepared.smooths[0].values, compartments.prepared.smooths[0].values)
    assert "p'" in compartments.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_states_that_are_measured_in_some_runs_only_are_refused():
    nothing = np.full(len(T), np.nan)
    with pytest.raises(DataError, match="run 1: p is never observed, but is in other runs"):
        gode.fit(COMPARTMENTS, [T, T], {"c": [drug()[0]] * 2, "p": [drug()[1], nothing]})


def epidemic(t, y):
    return [0.002 * y[0] * y[1] - 0.5 * y[0], -0.002 * y[0] * y[1]]


@pytest.fixture(scope="module")
def outbreak():
    """What a search makes of the infected alone; the susceptibles are hidden."""
    t = np.linspace(0.0, 20.0, 50)
    infected = noisy(solved(epidemic, [3.0, 760.0], t)[0], 3)
    return gode.discover(t, {"I": infected}, hidden=["w"], effort="quick")


def test_search_finds_a_law_with_a_hidden_state(outbreak):
    truth = parse_law(["I' = C*I + w*I", "w' = C*w*I"], outbreak.prepared.dataset)
    assert outbreak.quality.verdict == "good"
    assert outbreak.candidates[0].equation.skeleton.structure == truth.structure


def test_all_laws_that_were_fitted_are_counted(outbreak):
    assert outbreak.n_fitted >= outbreak.n_solved > 10


def test_curve_of_a_hidden_state_that_was_found_follows_the_true_one(outbreak):
    t = outbreak.prepared.dataset.runs[0].t
    susceptible = solved(epidemic, [3.0, 760.0], t)[1]
    assert np.corrcoef(outbreak.prepared.smooths[0].values[3], susceptible)[0, 1] > 0.98


def test_result_of_a_search_with_a_hidden_state_is_kept_and_repeated(outbreak, tmp_path):
    outbreak.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert str(again.equation) == str(outbreak.equation)
    assert "hidden=['w']" in python_call(outbreak)
    assert "--hidden w" in command(outbreak)
    assert "w" not in next(line for line in command(outbreak).split(" --") if line.startswith("states"))
    assert "w'" in outbreak.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_hidden_states_enter_with_the_factor_one(outbreak):
    parts = outbreak.candidates[0].equation.skeleton.parts
    assert any(term.constant is None and term.body.value != parts[0].highest for term in parts[0].terms)


@pytest.mark.slow
def test_no_hidden_state_is_taken_where_none_acts():
    t = np.linspace(0.0, 1.0, 30)
    growth = noisy(10 / (1 + 9 * np.exp(-6 * t)), 0)
    found = gode.discover(t, growth, hidden="auto", effort="quick")
    assert not found.prepared.dataset.hidden
    assert "hidden states were compared: none is best" in found.remarks[-1]


def test_what_a_linear_law_leaves_open_of_its_hidden_state_is_told():
    t = np.linspace(0.0, 8.0, 25)
    fading = noisy(np.exp(-0.5 * t) * (1 + t), 2, 0.01)
    found = gode.discover(t, {"x": fading}, hidden=["w"], effort="quick")
    said = [remark for remark in found.remarks if "does not tell w from w + a*x" in remark]
    assert len(said) == 1


@pytest.mark.parametrize(
    ("equations", "mixed"),
    [
        (["x' = w - 0.4*x", "w' = 0.2*x - w + 1"], ("x", "w")),
        (["x' = w - 0.4*x", "w' = 0.2*x*w - w"], None),
        (["x' = x*w - 0.4*x", "w' = 0.2*x - w"], None),
        (["x' = w - 0.4*sqrt(x)", "w' = 0.2*x - w"], None),
    ],
)
def test_only_a_linear_law_mixes_its_hidden_state_with_the_measured_one(equations, mixed):
    assert mixed_states(parse_system_values(equations), (1,)) == mixed


def test_known_start_of_a_hidden_state_is_kept():
    t = np.linspace(0.0, 8.0, 25)
    fading = noisy(np.exp(-0.5 * t) * (1 + t), 2, 0.01)
    found = gode.discover(t, {"x": fading}, hidden=["w"], initial={"w": 0.0}, effort="quick")
    assert found.candidates[0].initial[0, 1] == 0.0


def test_number_of_hidden_states_is_checked():
    for wrong in (3, -1, 1.5, "auto!x", [], ["w", 2]):
        if wrong == []:
            continue
        with pytest.raises((ConfigError, DataError)):
            gode.discover(T, {"c": drug()[0]}, hidden=wrong)
    with pytest.raises(DataError, match="'c' names two states"):
        gode.discover(T, {"c": drug()[0]}, hidden=["c"])


def test_law_whose_measured_states_are_named_otherwise_says_which_are_missing():
    with pytest.raises(DataError, match="the data hold 'conc', but the equations are those of c, p"):
        gode.fit(COMPARTMENTS, T, {"conc": drug()[0]})


def test_long_record_is_fitted_whole_from_the_hidden_state_of_its_first_part():
    rng = np.random.default_rng(2)
    t = np.linspace(0.0, 2000.0, 1000)
    pump = np.repeat(rng.uniform(0.2, 1.4, 25), 40)
    law = parse_system_values(["l' = 0.1*sqrt(x) - 0.11*sqrt(l)", "x' = 0.1*F - 0.12*sqrt(x)"])
    clean = solve(law, t, [0.5, 0.6], inputs={"F": (t, pump)})["l"]
    level = clean + 0.02 * np.std(clean) * rng.standard_normal(len(t))
    texts = ["l' = k2*sqrt(x) - k3*sqrt(l)", "x' = 0.1*F - k1*sqrt(x)"]
    found = gode.fit(texts, t, {"l": level}, force={"F": pump}, hold=True)
    assert found.candidates[0].n_values == len(t)
    assert not any("first part" in remark for remark in found.remarks)
    assert found.quality.verdict == "good"


def test_start_of_a_hidden_state_is_found_for_a_law_whose_numbers_are_known():
    t = np.linspace(0.0, 20.0, 40)
    start = 2e-6
    driven = 1000 * np.sqrt(start) / 0.35
    clean = driven * np.exp(-0.05 * t) + (3 - driven) * np.exp(-0.4 * t)
    found = gode.fit(["c' = -0.4*c + 1000*sqrt(w)", "w' = -0.1*w"], t, {"c": noisy(clean, 4)})
    assert found.candidates[0].initial[0][1] == pytest.approx(start, rel=0.1)


def test_search_finds_absorption_from_a_depot_that_was_dosed():
    ka, ke, v, dose = 1.4, 0.15, 30.0, 320.0
    t = np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24])
    c = dose / v * ka / (ka - ke) * (np.exp(-ke * t) - np.exp(-ka * t))
    c = c + 0.03 * c.std() * np.random.default_rng(0).standard_normal(len(t))
    start = {"c": 0.0, "depot": 0.0}
    d = gode.discover(
        t, {"c": c}, hidden=["depot"], doses=[("depot", 0.0, dose)], initial=start, effort="quick"
    )
    assert str(d.equation.law.skeleton) == "c' = C*c + C*depot\ndepot' = C*depot"
    found = {(s, x.place): (x.value, x.error) for s in ("c", "depot") for x in d.equation[s].constants}
    true = {("c", "c"): -ke, ("c", "depot"): ka / v, ("depot", "depot"): -ka}
    assert all(abs(found[key][0] - value) < 4 * found[key][1] for key, value in true.items())


@pytest.mark.parametrize("several", [False, True])
def test_a_signal_without_any_reading_is_not_taken_for_a_hidden_state(several):
    c, nothing = drug()[0], np.full(len(T), np.nan)
    data = {"c": [c, 2 + c**2], "y": [nothing, nothing]} if several else {"c": c, "y": nothing}
    with pytest.raises(
        DataError, match="y holds no reading at all; leave it out, or give hidden='y' instead"
    ):
        gode.discover([T, T] if several else T, data)
    with pytest.raises(DataError, match="x2 holds no reading"):
        gode.discover(T, np.column_stack([c, nothing]))


def test_a_state_that_an_equation_names_may_be_passed_without_readings():
    found = gode.fit(COMPARTMENTS, T, {"c": drug()[0], "p": np.full(len(T), np.nan)})
    assert found.prepared.dataset.hidden == (1,)
