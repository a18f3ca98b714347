"""A pendulum, of which an accelerometer saw nothing but the acceleration.

Accelerations do not say where the motion began, so tell it: here it was let go at rest from 1.4 rad.

python examples/pendulum.py
"""

import gode
from gode.data.example import load_example

example = load_example("pendulum")
found = gode.discover(
    example.t,
    acceleration=example.columns["acceleration"],
    order=2,
    initial=[1.4, 0.0],
    without=["t", "F"],  # nothing drives it, so leave out functions of time
    effort="quick",
)

print("truth:", example.truth)
print("found:", found.equation)
for value, error, place in found.equation.constants:
    print(f"  {value:.4g} ± {2 * error:.2g}  times {place}")
print("What it means:")
print(found.answers())

motion = found.simulate()  # the angle, which was never measured
print(f"the angle swings between {motion.u.min():.2f} and {motion.u.max():.2f} rad")
