"""A growth curve: from counts over time to an equation, its error bars, and what comes next.

python examples/growth.py
"""

import numpy as np

import gode
from gode.data.example import load_example

example = load_example("growth")  # or your own two columns: gode.discover(t, u)
found = gode.discover(example.t, example.u, order=1, effort="quick")

print("truth:", example.truth)
print("found:", found.equation)
for value, error, place in found.equation.constants:
    print(f"  {value:.4g} ± {2 * error:.2g}  times {place}")

print("Not decided by these data:", len(found.ties) - 1, "other equations, such as")
for rival in found.ties[1:4]:
    print("  ", rival)

later = np.array([12.0, 16.0, 20.0])
ahead = found.predict(later)
for t, u, low, high in zip(later, ahead.u, ahead.lower, ahead.upper, strict=True):
    print(f"u({t:g}) = {u:.2f}, with 95 % confidence between {low:.2f} and {high:.2f}")

print("What it means:")
print(found.answers())
