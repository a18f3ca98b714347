"""The look along the solution of the best law, where the smoothed curve misses something."""

import numpy as np
from scipy.integrate import solve_ivp

import gode


def slope(u):
    return 2 * np.exp(2.5 / u) - 20


def test_a_transient_of_a_few_samples_is_seen_along_the_solution_of_the_best_law():
    t = np.linspace(0.0, 8.0, 120)
    u = solve_ivp(lambda _, u: slope(u), (0, 8), [3.5], t_eval=t, rtol=1e-9, atol=1e-10).y[0]
    noise = 0.05 * np.std(u) * np.random.default_rng(2).standard_normal(len(t))
    found = gode.discover(t, u + noise, initial=[3.5], effort="quick", seed=0)
    error = found.simulate(t).du - slope(u)
    assert np.linalg.norm(error) < 0.2 * np.linalg.norm(slope(u))
