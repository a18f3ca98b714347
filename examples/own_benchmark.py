"""Your own benchmark: how often is an equation of yours found, at which noise?

Errors are those of the solution against the clean one, relative in L2; exact means that the structure is the
true one and every constant within 10 %.

python examples/own_benchmark.py
"""

import numpy as np

import gode
from gode_bench.problems import Problem, noisy
from gode_bench.score import score

COOLING = Problem(
    name="cooling", suite="mine", text="u' + 0.3*u = 6", order=1, t0=0.0, t1=12.0, fs=5.0, initial=(90.0,)
)
NOISE = (0.01, 0.1)

print("noise  error of u  exact  found")
for noise in NOISE:
    t, u = noisy(COOLING, noise, rng=np.random.default_rng(0))
    found = gode.discover(t, u, order=1, without=["t", "F"], effort="quick")
    result = score(COOLING, found.equation.equation.text(None))
    print(f"{noise:5.0%}  {result.errors[0]:10.4f}  {result.exact!s:5}  {found.equation}")
