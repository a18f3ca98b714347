"""The default grammars can write what practitioners write; sums and products are multiplied out."""

import numpy as np
import pytest

from gode.grammar import generate, load_grammar, parse, sample_many

QUADRATIC = "C*u+C*u^2"
CUBIC = "C*u+C*u^2+C*u^3"
DEFAULTS = ("first-order", "second-order", "implicit", "systems")
SPEEDS = ("u'", "v1'", "v2'", "v3'")

FIRST_ORDER = {
    "ID1 RC circuit": "C+C*u",
    "ID2 growth": "C*u",
    "ID3 logistic": QUADRATIC,
    "ID4 logistic function": "C+C/(C+exp(C*u))",
    "ID5 falling body": "C+C*u^2",
    "ID6": QUADRATIC,
    "ID7 Gompertz": "C*u+C*u*log(u)",
    "ID8 Allee": CUBIC,
    "ID9": "C+C*u",
    "ID10 language death": "C*u^C+C*u^C+C*u*(C-u)^C",
    "ID11": "C*u^3",
    "ID12": QUADRATIC,
    "ID13 hoop": "C*sin(u)*cos(u)+C*sin(u)",
    "ID14 budworm": "C*u+C*u^2+C*u^2/(C+u^2)",
    "ID15": "C*u+C*u^2+C*u^2/(C+u^2)",
    "ID16": "C*u+C*u^3+C*u^5",
    "ID17": "C+C*u+C*u^2",
    "ID18": "C*u+C*u^2+C*u/(C+u)",
    "ID19": "C*u+C*u^2+C*u/(C+u)",
    "ID20": "C+C*u+C*u^2/(C+u^2)",
    "ID21": "C+C*u+C*exp(C*u)",
    "ID22": "C+C*u+C*u^5/(C+u^5)",
    "ID23": "C+C*sin(u)",
    "ID24": "C+C*sin(C*t*u)",
    "ID25": "C*u+C*cos(C*t)",
    "ID26": "C+C*exp(C/u)",
    "ID27": "C+C*exp(C*u)+C*cos(C*t)",
    "ID28": "C*u+C*u^2+C*t*cos(C*t)",
    "ID29": "C*u+C*sin(C*t)",
    "ID30": "C+C*u+C*log(u)",
    "LODE1": "C*u/t+C",
    "NLODE1": "C/u",
    "Monod": "C*u/(C+u)+C*u",
    "Hill": "C/(C+u^2)+C*u",
    "Michaelis-Menten": "C*u/(C+u)",
    "Newton cooling, room at F": "C*u+C*F",
    "radiation": "C*u^4+C",
    "gain by input": "C*F*u+C*u",
    "Bertalanffy": "C*u^C+C*u",
    "Ricker": "C*u*exp(C*u)+C*u",
    "neuron": "C*u+C*tanh(C*u)+C*F",
    "drag": "C+C*u*abs(u)",
    "time": "C*t*u+C*u*sin(C*t)+C*u*exp(C*t)+C/t+C*log(t)+C*exp(C*t)",
}

SECOND_ORDER = {
    "oscillator": "C*u+C*u'",
    "base constant": "C+C*u",
    "pendulum": "C*sin(u)+C*u'",
    "driven pendulum": "C*sin(u)+C*u'+C*cos(C*t)",
    "rotating pendulum": "C*sin(u)+C*sin(u)*cos(u)",
    "Duffing": "C*u+C*u^3+C*u'+C*F",
    "Duffing, driven": "C*u+C*u^3+C*u'+C*cos(C*t)",
    "Van der Pol": "C*u+C*u'+C*u^2*u'",
    "Rayleigh": "C*u+C*u'+C*u'^3",
    "Mathieu": "C*u+C*u*cos(C*t)",
    "Coulomb friction": "C*u+C*sign(u')",
    "smooth friction": "C*u+C*tanh(C*u')",
    "drag": "C+C*u'*abs(u')",
    "squared speed": "C*u'^2+C*u",
    "Silverbox": "C*u'+C*u+C*u^3+C*F",
    "Euler": "C*u'/t+C*u/t^2",
    "Lane-Emden": "C*u'/t+C*u^C",
    "softening": "C*u/(C+u^2)+C*u'",
    "Toda": "C+C*exp(C*u)+C*u'",
    "gravity": "C/u^2",
    "electrostatic": "C*u+C*u'+C*(C-u)^C",
    "parametric by input": "C*F*u+C*u'",
}

IMPLICIT = {
    "LODE1": "C*u'+C*u/t+C",
    "LODE2, times sin t": "C*sin(C*t)*u'+C*cos(C*t)*u+C",
    "LODE3": "C*u'+C*u+C*exp(C*t)*cos(C*t)",
    "LODE4": "C*u''+C*u",
    "LODE5": "C*u''+C*u'+C*u",
    "NLODE1, times u": "C*u*u'+C",
    "NLODE2": "C*u'*u''+C/t^3",
    "NLODE3": "C*t^2*u''+C*t^2*u'^2+C/log(t)",
    "NLODE4": "C*u''^2+C*u^2",
    "NLODE5": "C*u'*u''+C*u+C*t^3",
    "pendulum": "C*u''+C*u'+C*sin(u)",
    "Duffing": "C*u''+C*u'+C*u+C*u^3+C*F",
    "Van der Pol": "C*u''+C*u'+C*u^2*u'+C*u",
    "bubble": "C*u*u''+C*u'^2+C",
    "Bessel": "C*t^2*u''+C*t*u'+C*t^2*u+C*u",
}

SYSTEMS = {
    "velocity": "C*v1",
    "prey": "C*u+C*u*v1",
    "competition": "C*u+C*u^2+C*u*v1+C*u*v2+C*u*v3",
    "Rosenzweig and MacArthur": "C*u+C*u^2+C*v1*u/(C+u)",
    "Holling III": "C*u+C*u^2+C*v1*u^2/(C+u^2)",
    "predator, Holling II": "C*u*v1/(C+v1)+C*u",
    "Beddington and DeAngelis": "C*u*v1/(C+C*u+v1)+C*u",
    "ratio dependence": "C*u+C*u*v1/(C*u+v1)",
    "chemostat": "C+C*u+C*v1*u/(C+u)",
    "inhibition by substrate": "C*u/(C+C*u+u^2)+C*u",
    "infected": "C*u*v1+C*u",
    "infected, share of all": "C*u*v1/(u+v1+v2)+C*u",
    "Brusselator": "C+C*u+C*u^2*v1",
    "glycolysis": "C*v1+C*u+C*u^2*v1",
    "mass action of three": "C*u*v1*v2+C*v1*v2+C*v1*v2*v3",
    "toggle switch": "C/(C+v1^2)+C*u",
    "activation": "C*v1^2/(C+v1^2)+C*u",
    "Hill, any exponent": "C/(C+v1^C)+C*u",
    "stirred tank by Arrhenius": "C+C*u+C*u*exp(C/v1)",
    "FitzHugh and Nagumo": "C*u+C*u^3+C*v1+C*F",
    "Hindmarsh and Rose": "C*v1+C*u^3+C*u^2+C*v2+C*F",
    "Morris and Lecar": "C*u+C*tanh(C*u)+C*u*v1+C*v1+C",
    "Wilson and Cowan": "C*u+C/(C+exp(C*u+C*v1))",
    "network of three neurons": "C*u+C*tanh(C*u+C*v1+C*v2)",
    "neuron with input": "C*u+C/(C+exp(C*u+C*v1+C*F))",
    "Lorenz": "C*v1+C*u+C*u*v2",
    "Roessler": "C+C*u*v1+C*u",
    "Hopf": "C*u+C*v1+C*u^3+C*u*v1^2",
    "rigid body": "C*v1*v2",
    "Chua": "C*v1+C*u+C*abs(u)",
    "Kuramoto": "C+C*sin(u-v1)+C*sin(u-v2)+C*sin(u-v3)",
    "pendulum, damped": "C*v1+C*sin(u)+C*F",
    "glider, speed": "C*sin(v1)+C*u^2",
    "glider, angle": "C*v1+C*cos(u)/v1",
    "drag": "C*u*abs(u)+C",
    "cart and pole": "C*v1^2*sin(u)+C*F*cos(u)+C*sin(u)*cos(u)",
    "pursuit": "C*cos(v1)+C*sin(v1)",
    "coupled tanks": "C*sqrt(u)+C*sqrt(v1)+C*F",
    "allometric": "C*u^C+C*u*v1^C",
    "Gompertz, treated": "C*u*log(u)+C*u*v1",
    "Stommel": "C+C*u+C*u*abs(u)+C*v1*abs(u)",
    "season": "C*u+C*u*v1+C*u*cos(C*t)+C*sin(C*t)",
    "heated by input": "C*u+C*v1+C*F+C*F*u",
}

SYSTEMS_SECOND = {
    "masses on springs": "C*u+C*v1+C*u'+C*v1'",
    "between two masses": "C*u+C*v1+C*v2+C*u'+C*v1'+C*v2'",
    "Duffing, coupled": "C*u+C*u^3+C*v1+C*u'+C*cos(C*t)",
    "Van der Pol, coupled": "C*u+C*u'+C*u^2*u'+C*v1",
    "Henon and Heiles": "C*u+C*u*v1",
    "double pendulum": "C*sin(u)+C*v1'^2*sin(u-v1)+C*cos(u-v1)",
    "spring pendulum, length": "C*u+C*u*v1'^2+C*cos(v1)+C",
    "spring pendulum, angle": "C*u'*v1'/v1+C*sin(u)/v1",
    "Kepler": "C*u/(u^2+v1^2)^C",
    "Foucault": "C*u+C*v1'",
    "drag in the plane": "C+C*u'*sqrt(u'^2+v1'^2)",
    "dry friction": "C*u+C*v1+C*sign(u')",
}

TRUTHS = [
    *(("first-order", *item) for item in FIRST_ORDER.items()),
    *(("second-order", *item) for item in SECOND_ORDER.items()),
    *(("implicit", *item) for item in IMPLICIT.items()),
    *(("systems", *item) for item in (SYSTEMS | SYSTEMS_SECOND).items()),
]


@pytest.mark.parametrize(("name", "truth", "sentence"), TRUTHS)
def test_a_known_equation_can_be_written(name, truth, sentence):
    grammar = load_grammar(name)
    derivation = parse(grammar, sentence)
    assert "".join(generate(grammar, derivation)) == sentence, truth
    assert len(derivation) <= grammar.limit


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_sum_of_six_terms_fits_the_limit(name):
    grammar = load_grammar(name)
    term = {
        "first-order": "C*u*exp(C*t)",
        "second-order": "C*u*u'",
        "implicit": "C*u'",
        "systems": "C*u*v1/(C+v1)",
    }[name]
    assert len(parse(grammar, "+".join([term] * 6))) <= grammar.limit


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_draw_is_mostly_short(name):
    grammar = load_grammar(name)
    draws = [generate(grammar, d) for d in sample_many(grammar, 2000, rng=np.random.default_rng(0))]
    n_terms = np.array([1 + top_level_sums(d) for d in draws])
    assert np.mean((n_terms >= 2) & (n_terms <= 4)) > 0.7
    assert np.mean(["t" in d for d in draws]) < 0.45


def top_level_sums(tokens: tuple[str, ...]) -> int:
    depth = count = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        count += token == "+" and not depth
    return count


@pytest.mark.parametrize("n_others", [1, 2, 3])
def test_what_a_system_lacks_is_switched_off(n_others):
    absent = [f"v{i}" for i in range(n_others + 1, 4)]
    grammar = load_grammar("systems").without(*SPEEDS, *absent)
    draws = [generate(grammar, d) for d in sample_many(grammar, 500, rng=np.random.default_rng(1))]
    used = {token for tokens in draws for token in tokens}
    assert not used & {*SPEEDS, *absent}
    assert used >= {"u", *(f"v{i}" for i in range(1, n_others + 1))}
    assert all(generate(grammar, parse(grammar, tokens)) == tokens for tokens in draws)


def test_the_states_of_a_system_are_treated_alike():
    """Only their probabilities differ: for each rule with v1 there are those with v2 and v3."""
    grammar = load_grammar("systems")
    for sentence in (
        "C*v1*u/(C+u)",
        "C*u*v1^2/(C+v1^2)",
        "C*sin(u-v1)",
        "C*cos(v1)/u",
        "C*exp(C*v1)",
        "C*v1'^2",
    ):
        assert all(parse(grammar, sentence.replace("v1", other)) for other in ("v2", "v3"))
