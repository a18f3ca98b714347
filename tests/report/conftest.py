"""Discoveries to report on: fitted, not searched, so that they cost little."""

from dataclasses import replace

import numpy as np
import pytest

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
