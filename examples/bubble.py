"""An implicit equation: Rayleigh's for the radius u of a bubble, u*u'' + 3/2*u'^2 = p.

The grammar called implicit writes sums of products of u, u' and u'' that vanish, which no search for
u'' = f(t, u, u') does.

python examples/bubble.py
"""

import gode
from gode.data.example import load_example

example = load_example("bubble")
found = gode.discover(
    example.t,
    example.u,
    order=2,
    grammar="implicit",
    without=["t", "F"],
    initial=[2.0, -0.8],
    effort="quick",
)

print("truth:", example.truth)
print("found:", found.equation)
print("rivals that these data cannot exclude:", len(found.ties) - 1)

known = gode.fit("u*u'' + C*u'^2 + C = 0", example.t, example.u, initial=[2.0, -0.8])
print("with the form known:", known.equation)
for value, error, place in known.equation.constants:
    print(f"  {value:.4g} ± {2 * error:.2g}  times {place}")
