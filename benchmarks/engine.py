"""Measure the engine against its baselines, in one run so that the ratios hold on any machine.

python benchmarks/engine.py fits       # skeletons fitted a second; against SymEngine + Nelder-Mead
python benchmarks/engine.py solves     # solutions a second; against scipy.integrate.solve_ivp
python benchmarks/engine.py library    # 50,000 unique B2 skeletons
python benchmarks/engine.py memory     # resident memory over 100,000 fits
python benchmarks/engine.py start      # import, first fit with a warm and with a cold compile cache
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

SKELETONS = 1000
SAMPLES = 120
BASELINE_SKELETONS = 1000


def b1_skeletons(n: int, seed: int) -> list:
    from gode.grammar import load_grammar
    from gode.library import draw_library

    return list(draw_library(load_grammar("b1"), n, order=1, rng=seed))


def signal() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A clean logistic growth curve: positive, so that every function of the grammar is defined."""
    t = np.linspace(0.5, 10.0, SAMPLES)
    u = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * t))
    return t, u, 0.8 * u * (1.0 - u / 5.0)


def measure_fits() -> None:
    from gode.data import columns_of_run
    from gode.fitting import fit_constants, residual_problem

    t, u, du = signal()
    rng = np.random.default_rng(3)
    du = du + 0.02 * np.std(du) * rng.standard_normal(len(du))
    problem = residual_problem(columns_of_run(t, u, du))
    skeletons = b1_skeletons(SKELETONS, seed=11)
    fit_constants(skeletons[0], problem)
    rates = []
    for _ in range(3):
        for s in skeletons:  # a fresh skeleton each time: its terms are worked out inside the clock
            for name in ("terms", "rhs_terms", "normal", "n_constants"):
                s.__dict__.pop(name, None)
        start = time.perf_counter()
        fits = [fit_constants(s, problem) for s in skeletons]
        rates.append(len(skeletons) / (time.perf_counter() - start))
    print(f"gode: {max(rates):.0f} fits/s on one core (three passes: {', '.join(f'{r:.0f}' for r in rates)})")
    print(
        f"  evaluations per fit {np.mean([f.evaluations for f in fits]):.1f}, "
        f"failed {sum(f.failure is not None for f in fits)}"
    )
    start = time.perf_counter()
    theirs = [nelder_mead(s, t, u, du) for s in skeletons[:BASELINE_SKELETONS]]
    rate = BASELINE_SKELETONS / (time.perf_counter() - start)
    ours = [f.loss for f in fits[:BASELINE_SKELETONS]]
    better = sum(a <= b * (1 + 1e-3) + 1e-12 or not np.isfinite(b) for a, b in zip(ours, theirs, strict=True))
    strictly = sum(a < b * 0.999 for a, b in zip(ours, theirs, strict=True))
    print(f"SymEngine + Nelder-Mead(300): {rate:.1f} fits/s; ratio {max(rates) / rate:.0f}")
    print(
        f"better or equal optimum on {100 * better / len(ours):.1f} %, "
        f"strictly better {100 * strictly / len(ours):.1f} %"
    )


def nelder_mead(skeleton, t, u, du) -> float:
    """The paper's inner loop: lambdified SymEngine, Nelder-Mead from ones, 300 iterations."""
    import symengine
    import sympy
    from scipy.optimize import minimize

    from gode.equation.symbolic import expression

    expr = expression(skeleton.tree)
    state, slope = sympy.Symbol("x"), sympy.Symbol("y")
    function = sympy.Function("u", real=True)(sympy.Symbol("t", real=True))
    expr = expr.subs(sympy.Derivative(function, sympy.Symbol("t", real=True)), slope).subs(function, state)
    names = sorted((s for s in expr.free_symbols if s.name.startswith("c")), key=lambda s: int(s.name[1:]))
    time_symbol = next((s for s in expr.free_symbols if s.name == "t"), sympy.Symbol("t", real=True))
    residual = symengine.Lambdify([time_symbol, state, slope, *names], [symengine.sympify(expr)])
    points = np.empty((len(t), 3 + len(names)))
    points[:, 0], points[:, 1], points[:, 2] = t, u, du

    def loss(c: np.ndarray) -> float:
        points[:, 3:] = c
        with np.errstate(all="ignore"):
            value = np.sqrt(np.mean(np.asarray(residual(points)) ** 2))
        return float(value) if np.isfinite(value) else 1e10

    if not names:
        return loss(np.empty(0))
    options = {"maxiter": 300, "xatol": 1e-3, "fatol": 1e-3}
    return float(minimize(loss, np.ones(len(names)), method="Nelder-Mead", options=options).fun)


def measure_solves() -> None:
    from scipy.integrate import solve_ivp

    from gode.equation import parse_equation
    from gode.solve import SolveConfig, solve

    cases = [
        ("u' = 0.79*u - 0.0106*u^2", (7.3,), 25.0),
        ("u' = 0.4*u*(1 - u/95) - u^2/(1 + u^2)", (44.3,), 10.0),
        ("u' = 0.21 - sin(u)", (-2.74,), 29.0),
        ("u'' = -0.5*u' - 2.5*u + sin(0.5*t)", (0.0, 3.0), 30.0),
        ("u'' = -0.2*u' - 1.4*u - 5*u^3 + 0.2*cos(2*t)", (0.0, 1.5), 30.0),
    ]
    import sympy

    ratios = []
    for text, initial, span in cases:
        equation = parse_equation(text)
        t = np.linspace(0.0, span, 150)
        symbols = sympy.symbols("t x v")
        right = sympy.lambdify(symbols, plain(equation, symbols), "math")
        if equation.order == 1:
            function = lambda s, y, f=right: (f(s, y[0], 0.0),)  # noqa: E731
        else:
            function = lambda s, y, f=right: (y[1], f(s, y[0], y[1]))  # noqa: E731
        config = SolveConfig(rtol=1e-6)
        solve(equation, t, initial, config=config)
        ours = min(timed(lambda: solve(equation, t, initial, config=config), 50) for _ in range(3))
        theirs = min(
            timed(lambda: solve_ivp(function, (0, span), initial, t_eval=t, rtol=1e-6, atol=1e-9), 5)
            for _ in range(3)
        )
        error = np.max(
            np.abs(
                solve(equation, t, initial, config=config).u
                - solve_ivp(function, (0, span), initial, t_eval=t, rtol=1e-10, atol=1e-12).y[0]
            )
        )
        ratios.append(theirs / ours)
        print(
            f"{text:50s} gode {ours * 1e3:.3f} ms, solve_ivp {theirs * 1e3:.2f} ms, "
            f"ratio {theirs / ours:.0f}, error {error:.1e}"
        )
    print(f"geometric mean of the ratios {np.exp(np.mean(np.log(ratios))):.0f}, smallest {min(ratios):.0f}")


def plain(equation, symbols):
    import sympy

    return sympy.sympify(equation.rhs(None).replace("^", "**").replace("u'", "v").replace("u", "x"))


def timed(work, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def measure_library() -> None:
    from gode.grammar import load_grammar
    from gode.library import draw_library

    start = time.perf_counter()
    library = draw_library(load_grammar("b2-library"), 50_000, order=None, rng=0, model=load_grammar("b2"))
    print(
        f"{len(library)} skeletons in {time.perf_counter() - start:.0f} s, {resident_peak():.0f} MB at most"
    )


def measure_memory() -> None:
    from gode.data import columns_of_run
    from gode.fitting import fit_constants, residual_problem

    problem = residual_problem(columns_of_run(*signal()))
    sizes = []
    for part in range(10):
        for skeleton in b1_skeletons(10_000, seed=part):
            fit_constants(skeleton, problem)
        sizes.append(resident())
        print(f"after {10_000 * (part + 1)} fits: {sizes[-1]:.0f} MB", flush=True)
    print(f"growth from the first tenth to the last: {sizes[-1] - sizes[0]:.0f} MB")


FIRST_FIT = """
import time; start = time.perf_counter()
import gode
imported = time.perf_counter() - start
import numpy as np
from gode.data import columns_of_run
from gode.fitting import fit_constants, residual_problem
t = np.linspace(0, 1, 50)
problem = residual_problem(columns_of_run(t, np.exp(t), np.exp(t)))
fit_constants(gode.parse_skeleton("u' = C*u + C*sin(C*u)"), problem)
print(f"import gode {imported:.2f} s, first fit after {time.perf_counter() - start:.2f} s")
"""


def measure_start() -> None:
    with tempfile.TemporaryDirectory() as cache:
        for label in ("cold", "warm"):
            env = {**os.environ, "NUMBA_CACHE_DIR": cache}
            done = subprocess.run(
                [sys.executable, "-c", FIRST_FIT], env=env, capture_output=True, text=True, check=True
            )
            print(label, done.stdout.strip(), done.stderr.strip())


def resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def resident_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    WORK = {
        f.__name__.removeprefix("measure_"): f
        for f in (measure_fits, measure_solves, measure_library, measure_memory, measure_start)
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=WORK)
    WORK[parser.parse_args().what]()
