"""How often a spring is named as large terms that cancel, such as 50 u - 48 sin(u) for 2 u + 8 u^3.

    python benchmarks/disguised.py --seeds 1 2 3 4

Four oscillators with 5 % noise, three of them driven, of which the acceleration is measured.
"""

import argparse

import numpy as np
from scipy.integrate import solve_ivp

import gode

SPRINGS = {  # u'' without the input, the input, the start
    "hard": (lambda u, v: -0.4 * v - 2 * u - 8 * u**3, "cos(1.5*t)", [0.5, 0.0]),
    "soft": (lambda u, v: -0.3 * v - 20 * u + 15 * u**3, "2*cos(3*t)", [0.3, 0.0]),
    "pendulum": (lambda u, v: -0.2 * v - 9.8 * np.sin(u), "cos(2*t)", [1.5, 0.0]),
    "free": (lambda u, v: -0.1 * v - 20 * u - 30 * u**3, "", [0.6, 0.0]),
}
DRIVES = {"cos(1.5*t)": (1.0, 1.5), "2*cos(3*t)": (2.0, 3.0), "cos(2*t)": (1.0, 2.0), "": (0.0, 0.0)}


def named(name: str, seed: int) -> gode.Discovery:
    spring, drive, start = SPRINGS[name]
    size, frequency = DRIVES[drive]

    def slope(t, y):
        return [y[1], spring(*y) + size * np.cos(frequency * t)]

    t = np.linspace(0.0, 20.0, 400)
    u, v = solve_ivp(slope, (0.0, 20.0), start, t_eval=t, rtol=1e-9, atol=1e-9).y
    clean = slope(t, (u, v))[1] if drive else u
    noisy = clean + 0.05 * np.std(clean) * np.random.default_rng(seed).standard_normal(len(t))
    if drive:
        return gode.discover(t, acceleration=noisy, initial=start, force=drive, order=2, effort="quick")
    return gode.discover(t, noisy, order=2, effort="quick")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4])
    for seed in parser.parse_args().seeds:
        for name in SPRINGS:
            print(f"{name:9} {seed:3}  {named(name, seed).equation}", flush=True)


if __name__ == "__main__":
    main()
