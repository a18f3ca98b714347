"""Calls, one for each way into the engine, whose results a change of the code's form must leave as they are.

python tests/golden_cases.py     # writes golden/results.json anew; the commit that does so says why
"""

import hashlib
import html
import json
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.integrate import solve_ivp

import gode
from gode.arrays import Float

FILE = Path(__file__).parent / "golden" / "results.json"
REPORTED = "two_states"
EXPORTED = ("forced", "two_states", "individuals_by_name")
LANGUAGES = ("python", "c", "julia", "matlab", "modelica")

Right = Callable[[float, Float], Sequence[float]]


def _solved(right: Right, start: Sequence[float], t: Float) -> Float:
    """Return the solution (n, d) of y' = right(t, y)."""
    return solve_ivp(right, (t[0], t[-1]), start, t_eval=t, rtol=1e-10, atol=1e-12).y.T


def _noisy(clean: Float, seed: int, share: float = 0.02) -> Float:
    """Return a signal with noise, rounded so that every machine is handed the same numbers."""
    noise = np.random.default_rng(seed).standard_normal(clean.shape)
    return np.round(clean + share * np.std(clean, axis=0) * noise, 6)


T = np.round(np.linspace(0.0, 10.0, 60), 6)
GROWTH = _noisy(5.0 / (1.0 + 9.0 * np.exp(-0.8 * T)), 1)
RATES = (0.5, 0.7, 0.9, 1.1)


def _oscillator(t: float, y: Float) -> Sequence[float]:
    return [y[1], -4.0 * y[0] - 0.3 * y[1] + np.cos(1.3 * t)]


def _two_inputs(t: float, y: Float) -> Sequence[float]:
    return [-0.6 * y[0] + np.sin(t) + 0.5 * np.cos(2.1 * t)]


def _predators(t: float, y: Float) -> Sequence[float]:
    return [0.9 * y[0] - 0.4 * y[0] * y[1], -0.8 * y[1] + 0.3 * y[0] * y[1]]


def _masses(t: float, y: Float) -> Sequence[float]:
    x, z, dx, dz = y
    return [dx, dz, -3.0 * x + z - 0.1 * dx, x - 2.0 * z]


def _runs() -> tuple[list[Float], list[Float]]:
    curves = [_noisy(4.0 / (1.0 + 7.0 * np.exp(-rate * T[::3])), 20 + i) for i, rate in enumerate(RATES)]
    return [T[::3]] * len(RATES), curves


def scalar() -> gode.Discovery:
    return gode.discover(T, GROWTH, effort="quick")


def forced() -> gode.Discovery:
    u = _noisy(_solved(_oscillator, [1.0, 0.0], T)[:, 0], 2)
    return gode.discover(T, u, force=np.round(np.cos(1.3 * T), 6), order=2, effort="quick")


def accelerations_alone() -> gode.Discovery:
    y = _solved(_oscillator, [1.0, 0.0], T)
    blind = _noisy(np.array([_oscillator(t, row)[1] for t, row in zip(T, y, strict=True)]), 3)
    force = np.round(np.cos(1.3 * T), 6)
    return gode.discover(T, acceleration=blind, force=force, order=2, initial=[1.0, 0.0], effort="quick")


def two_inputs() -> gode.Discovery:
    u = _noisy(_solved(_two_inputs, [1.0], T)[:, 0], 4)
    force = {"pump": np.round(np.sin(T), 6), "valve": np.round(np.cos(2.1 * T), 6)}
    return gode.discover(T, u, force=force, effort="quick")


def two_states() -> gode.Discovery:
    y = _noisy(_solved(_predators, [2.0, 1.0], T), 5)
    return gode.discover(T, {"prey": y[:, 0], "predator": y[:, 1]}, effort="quick")


def two_states_of_second_order() -> gode.Discovery:
    y = _noisy(_solved(_masses, [1.0, 0.0, 0.0, 0.5], T), 6, 0.01)
    return gode.discover(T, {"x": y[:, 0], "z": y[:, 1]}, order=2, effort="quick")


def individuals_all() -> gode.Discovery:
    return gode.discover(*_runs(), individual=True, effort="quick")


def individuals_auto() -> gode.Discovery:
    return gode.fit("u' = C*u - C*u^2", *_runs(), individual="auto")


def individuals_by_name() -> gode.Discovery:
    return gode.fit("u' = r*u*(1 - u/K)", *_runs(), individual=["r"])


def frame_of_one_state() -> gode.Discovery:
    return gode.discover(T, GROWTH, frame="u' = r*u - f(u)", effort="quick")


def frame_of_a_system() -> gode.Discovery:
    y = _noisy(_solved(_predators, [2.0, 1.0], T), 5)
    frame = ["prey' = a*prey - f(prey, predator)", "predator' = -b*predator + c*prey*predator"]
    return gode.discover(T, {"prey": y[:, 0], "predator": y[:, 1]}, frame=frame, effort="quick")


def known_equilibrium() -> gode.Discovery:
    u = _noisy(2.5 + 1.5 * np.exp(-0.7 * T), 7)
    return gode.discover(T, u, assume=["rest-at=2.5", "autonomous"], effort="quick")


def either_order() -> gode.Discovery:
    u = _noisy(_solved(lambda t, y: [y[1], -4.0 * y[0] - 0.3 * y[1]], [1.0, 0.0], T)[:, 0], 8)
    return gode.discover(T, u, order="auto", effort="quick")


def fit() -> gode.Discovery:
    return gode.fit("u' = C*u - C*u^2", T, GROWTH)


def paper() -> gode.Discovery:
    return gode.discover(T, GROWTH, preset="paper", effort="quick")


CASES: dict[str, Callable[[], gode.Discovery]] = {
    each.__name__: each
    for each in (
        scalar,
        forced,
        accelerations_alone,
        two_inputs,
        two_states,
        two_states_of_second_order,
        individuals_all,
        individuals_auto,
        individuals_by_name,
        frame_of_one_state,
        frame_of_a_system,
        known_equilibrium,
        either_order,
        fit,
        paper,
    )
}


def machine() -> str:
    """What the last bits of a result depend on."""
    from llvmlite.binding import get_host_cpu_name
    from threadpoolctl import threadpool_info

    versions = (f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    kernels = sorted(
        {each["architecture"] for each in threadpool_info() if "architecture" in each}
    )  # of BLAS
    python = f"python {platform.python_version()}"
    return ", ".join([platform.system(), get_host_cpu_name(), *kernels, python, *versions])


@cache
def found(name: str) -> gode.Discovery:
    return CASES[name]()


def lines(d: gode.Discovery) -> Iterator[str]:
    """Every number of a discovery with all its digits, by no name that is not public."""
    yield f"{d.quality.verdict.value} {d.n_fitted} {d.n_solved} {d.supported}"
    yield from d.remarks
    yield from d.causes
    for c in d.candidates:
        yield c.equation.text(None)
        yield f"{c.rms!r} {c.criterion!r} {c.n_values} {c.n_free} {c.independent!r} {c.whole}"
        yield " ".join(map(repr, [*c.initial.ravel().tolist(), *c.covariance.ravel().tolist()]))
        runs = range(len(c.initial))
        yield " ".join(
            repr(x) for run in runs for x in [*c.law_of(run).constants, *c.errors_of(run).tolist()]
        )


def report_text(d: gode.Discovery) -> str:
    """The words of a report, less its scripts and what tells when and by which version it was made."""
    with TemporaryDirectory() as folder:
        page = d.report(Path(folder) / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", " ", page)
    words = html.unescape(re.sub(r"<[^>]*>", " ", page))
    return " ".join(words.replace(gode.__version__, "").split())


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def result(name: str) -> dict[str, str]:
    d = found(name)
    return {"law": str(d.equation), "verdict": d.quality.verdict.value, "all": hashed("\n".join(lines(d)))}


@cache
def texts() -> dict[str, str]:
    programs = {
        f"{name} in {language}": hashed(found(name).export(language).replace(gode.__version__, ""))
        for name in EXPORTED
        for language in LANGUAGES
    }
    return {f"report of {REPORTED}": hashed(report_text(found(REPORTED))), **programs}


if __name__ == "__main__":
    new = {"machine": {"name": machine()}, **{name: result(name) for name in CASES}, "texts": texts()}
    FILE.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
