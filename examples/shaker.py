"""A forced oscillator: the force was measured beside the displacement.

First a model that you believe in is fitted, then gode looks for a better one, then both are tried on the part
of the record that they have not seen.

python examples/shaker.py
"""

import numpy as np

import gode
from gode.data.example import load_example

example = load_example("shaker")
t, u, force = example.t, example.u, example.columns["force"]
seen = t <= 20.0


def forecast_error(found: gode.Discovery) -> float:
    """Return the error on what was not seen, in standard deviations of it."""
    ahead = found.simulate(t, force=force).u
    return float(np.sqrt(np.mean((ahead - u)[~seen] ** 2)) / np.std(u[~seen]))


linear = gode.fit("C*u'' + C*u' + C*u = F", t[seen], u[seen], force=force[seen])
found = gode.discover(t[seen], u[seen], force=force[seen], order=2, without=["t"], effort="quick")

print("truth: ", example.truth)
print("linear:", linear.equation)
print("found: ", found.equation)
print(f"error of the forecast: linear {forecast_error(linear):.1%}, found {forecast_error(found):.1%}")
