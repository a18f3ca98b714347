"""Discoveries to report on: fitted, not searched, so that they cost little."""

from dataclasses import replace

import numpy as np
import pytest

from gode.data.doses import make_doses
from gode.data.example import load_example
from gode.discovery import Discovery, fit
from gode.equation import parse_equation
from gode.equation.system import parse_system_values
from gode.selection import Pool, rank
from gode.solve import solve


def noisy(text, t, initial, noise, seed=0, **options):
    solved = solve(parse_equation(text), t, initial, **options)
    assert solved.failure is None
    return solved.u + noise * np.random.default_rng(seed).standard_normal(len(t))


def joined(*found: Discovery, grammar: str) -> Discovery:
    """One discovery out of several fits to the same data."""
    wide = replace(found[0].settings.selection, level=0.9999)  # so that there are near ties
    settings = replace(found[0].settings, grammar=grammar, implicit=True, selection=wide)
    pool = Pool([c for each in found for c in each.candidates], found[0].prepared.floor)
    order = rank(pool, settings.selection).candidates
    return replace(found[0], candidates=order, settings=settings)


@pytest.fixture(scope="session")
def growth() -> Discovery:
    """The example `growth` with the logistic equation (0.62, -0.053913), two near ties and a bad one."""
    example = load_example("growth")
    texts = ("u' = C*u + C*u^2", "u' = C*u + C*u^2 + C", "u' = C*u + C*u^C", "u' = C*u + C")
    return joined(*(fit(text, example.t, example.u) for text in texts), grammar="first-order")


@pytest.fixture(scope="session")
def pendulum() -> Discovery:
    """u'' = -0.2 u' - 4 sin(u) from (2, 0)."""
    t = np.linspace(0.0, 20.0, 150)
    u = noisy("u'' = -0.2*u' - 4*sin(u)", t, [2.0, 0.0], 0.02)
    return fit("u'' = C*u' + C*sin(u)", t, u)


@pytest.fixture(scope="session")
def duffing() -> Discovery:
    """u'' + 0.3 u' + u + 0.5 u^3 = F with F as samples."""
    t = np.linspace(0.0, 20.0, 240)
    force = 2 * np.sin(1.1 * t) + np.cos(2.3 * t) * np.exp(-0.1 * t)
    u = noisy("u'' + 0.3*u' + u + 0.5*u^3 = F", t, [0.5, 0.0], 0.01, inputs={"F": force})
    return fit("C*u'' + C*u' + C*u + C*u^3 = F", t, u, force=force)


@pytest.fixture(scope="session")
def driven() -> Discovery:
    """u' = -0.5 u + F with F as a formula, and two runs."""
    t, formula = np.linspace(0.0, 12.0, 90), "2*sin(3*t)/(1 + t^2)"
    u = [
        noisy("u' = -0.5*u + F", t, [start], 0.01, seed=i, inputs={"F": formula})
        for i, start in enumerate((1.0, 3.0))
    ]
    return fit("u' = C*u + C*F", [t, t], u, force=formula)


@pytest.fixture(scope="session")
def implicit() -> Discovery:
    """u'^2 + 1.5 u = 1.5 from 0.1 on the rising branch."""
    t = np.linspace(0.0, 1.5, 60)
    u = noisy("u'^2 + 1.5*u = 1.5", t, [0.1], 0.003, guide=np.full(60, 1.0))
    return fit("u'^2 + C*u = C", t, u)


@pytest.fixture(scope="session")
def predation() -> Discovery:
    """prey' = 1.1 prey - 0.4 prey pred, pred' = 0.1 prey pred - 0.4 pred, at 60 times."""
    texts = ["prey' = 1.1*prey - 0.4*prey*pred", "pred' = 0.1*prey*pred - 0.4*pred"]
    t = np.linspace(0.0, 20.0, 60)
    values = noisy_states(texts, t, [10.0, 5.0], 0.2)
    return fit(
        ["prey' = C*prey + C*prey*pred", "pred' = C*prey*pred + C*pred"], t, values, names=["prey", "pred"]
    )


@pytest.fixture(scope="session")
def masses() -> Discovery:
    """Two masses on springs, of which the first is pushed: x'' = -5 x + 2 y - 0.2 x' + F, y'' = 2 x - 4 y."""
    texts = ["x'' = -5*x + 2*y - 0.2*x' + F", "y'' = 2*x - 4*y"]
    t = np.linspace(0.0, 12.0, 120)
    force = np.sin(1.3 * t) + np.cos(2.1 * t)
    values = noisy_states(texts, t, [1.0, 0.0, 0.0, 0.5], 0.02, inputs={"F": force})
    found = ["x'' = C*x + C*y + C*x' + C*F", "y'' = C*x + C*y"]
    return fit(found, t, values, names=["x", "y"], force=force)


def noisy_states(texts, t, initial, noise, **options):
    solved = solve(parse_system_values(texts), t, initial, **options)
    assert solved.failure is None
    values = solved.values[::3].T
    return values + noise * np.random.default_rng(0).standard_normal(values.shape)


@pytest.fixture(scope="session")
def late_growth() -> Discovery:
    """n' = 0.8 n (1 - n(t - 1.5)/3) from 0.5."""
    t = np.linspace(2.0, 32.0, 151)
    clean = solve(parse_system_values(["n' = 0.8*n*(1 - n(t - 1.5)/3)"]), t, [0.5])["n"]
    noisy = clean + 0.02 * np.random.default_rng(0).standard_normal(len(t))
    return fit("n' = r*n*(1 - n(t - tau)/K)", t, {"n": noisy})


@pytest.fixture(scope="session")
def dosed() -> Discovery:
    """A depot that is swallowed from, of which a share arrives later, and infusions; c is measured."""
    t = np.linspace(0.5, 48.0, 96)
    rows = [
        ("d", 0.0, 300.0),
        ("d", 12.0, 200.0),
        ("a", 20.0, 60.0, 3.0),
        ("a", 22.0, 40.0, 4.0),
        ("a", 36.0, 20.0),
    ]
    doses = make_doses(rows, ("d", "a"), "")
    late = [replace(d, t=d.t + 0.3, amount=0.6 * d.amount) if d.channel == 0 else d for d in doses]
    law = parse_system_values(["d' = -1.2*d", "a' = 1.2*d - 0.15*a"])
    clean = solve(law, np.append(0.0, t), [0.0, 0.0], doses=late)["a"][1:] / 5
    measured = clean + 0.1 * np.random.default_rng(0).standard_normal(len(t))
    texts = ["d' = f*dose(t - tlag) - ka*d", "a' = ka*d - ke*a"]
    options = {"doses": rows, "observe": {"c": "a/V"}, "initial": {"a": 0.0}}
    return fit(texts, t, {"c": measured}, **options)


@pytest.fixture(scope="session")
def pushed() -> Discovery:
    """All at once: a body on a late spring, with an input that is late, pushes, and a sensor on top of it."""
    t = np.linspace(-1.0, 19.0, 201)
    force = np.sign(np.sin(1.3 * t))
    rows = [("x", 3.0, 1.0), ("x'", 7.03, 2.0), ("x", 12.0, 3.0, 4.0)]
    truth = ["x'' = -2*x(t - 0.4) - 1.5*x' + 0.8*F(t - 0.6)"]
    law = parse_system_values(truth)
    solved = solve(law, t, [0.5, 0.0], inputs={"F": force}, doses=make_doses(rows, ("x",), ""))
    noise = 0.01 * np.random.default_rng(0).standard_normal((2, len(t)))
    measured = {"x": solved["x"] + noise[0], "s": 3 * solved.values[1] + 0.2 + force + noise[1]}
    texts = ["x'' = -k*x(t - tau) - d*x' + b*F(t - dead)"]
    options = {
        "bounds": {"tau": (0.1, 1.0), "dead": (0.1, 1.0)},
        "doses": rows,
        "force": force,
        "interpolation": "hold",
    }
    return fit(texts, t, measured, observe={"s": "g*x' + offset + F"}, **options)
