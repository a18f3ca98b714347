"""Published suites of systems, their clean solutions and noisy data.

The 63 systems of ODEBench (d'Ascoli et al., ODEFormer, 2024) have 150 even points on [0, 10] and noise in
shares of each value; chaotic systems with three states (dysts: Gilpin, 2021) ten periods of 100 points; the
six of AutoSINDy (Basiri and Nicholson, 2026) 5000 points. The noise of both is a share of the standard
deviation of each state. The data are drawn from the first of two initial conditions, and an answer is scored
from both.
"""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

import numpy as np
import sympy
from scipy.integrate import solve_ivp

from gode.arrays import Float
from gode.equation import Node, parse_tree
from gode.equation.symbolic import TIME_SYMBOL, expression
from gode.errors import ConfigError, EquationError, GodeError

ODEBENCH, DYSTS, AUTOSINDY = "odebench", "dysts", "autosindy"  # the names of the studies
FILES = {ODEBENCH: "systems.json", DYSTS: "dysts.json", AUTOSINDY: "autosindy.json"}
END, N_POINTS = 10.0, 150
CHAOTIC = ("55", "56", "61")  # for which constants right to 0.1 % do not suffice
ACCURATE = 1e-10  # tolerances of the true solution and of one that is scored
CAREFUL = 1e-7
LARGEST = 1e9  # a solution beyond it has failed
MOST_CALLS = 100_000  # of the right-hand side, which no true solution needs: the same budget on all machines


@dataclass(frozen=True, kw_only=True)
class SystemProblem:
    """A system of first order with its constants, and two initial conditions."""

    name: str  # in ODEBench its number
    title: str
    texts: tuple[str, ...]  # x0' = c0*x0 - ..., with the names of the constants
    constants: dict[str, float]
    initials: tuple[tuple[float, ...], tuple[float, ...]]
    observed: str = "u"
    suite: str = ODEBENCH
    end: float = END
    n_points: int = N_POINTS

    @property
    def size(self) -> int:
        """Relative duration of a run of one sample."""
        return len(self.texts)

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return tuple(f"x{i}" for i in range(len(self.texts)))

    @property
    def t(self) -> Float:
        """The times of the samples, before any are dropped."""
        return np.linspace(0.0, self.end, self.n_points)

    @cached_property
    def truths(self) -> tuple[str, ...]:
        """The equations with their numbers."""
        return tuple(re.sub(r"\bc\d\b", lambda c: f"({self.constants[c[0]]!r})", t) for t in self.texts)

    @cached_property
    def trees(self) -> tuple[Node, ...]:
        """The true right-hand sides."""
        return tuple(parse_tree(text.partition("=")[2], inputs=self.states) for text in self.truths)


@lru_cache(maxsize=len(FILES))
def systems(suite: str = ODEBENCH) -> dict[str, SystemProblem]:
    """Return the systems of a suite by their names; in ODEBench these are numbers."""
    content = (files("gode_bench.odebench") / FILES[suite]).read_text(encoding="utf-8")
    return {
        name: SystemProblem(
            name=name,
            title=one["title"],
            texts=tuple(one["equations"]),
            constants=one["constants"],
            initials=tuple(tuple(map(float, start)) for start in one["initial"]),  # type: ignore[arg-type]
            suite=suite,
            end=one.get("end", END),
            n_points=one.get("points", N_POINTS),
        )
        for name, one in json.loads(content)["systems"].items()
    }


def system(name: str, suite: str = ODEBENCH) -> SystemProblem:
    """Return the system of this name.

    Raises:
        ConfigError: if there is none.
    """
    known = systems(suite)
    if name not in known:
        names = f"1 to {len(known)}" if suite == ODEBENCH else ", ".join(known)
        raise ConfigError(f"{suite} has no system {name!r}; choose from {names}")
    return known[name]


def chosen_systems(words: Sequence[str], suite: str = ODEBENCH) -> list[SystemProblem]:
    """Return the systems named, also by ranges of numbers such as 24-63; all if there are none.

    Raises:
        ConfigError: if there is no such system.
    """
    names: list[str] = []
    for word in ",".join(words).replace(" ", ",").split(","):
        first, dash, last = word.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            names += map(str, range(int(first), int(last) + 1))
        elif word:
            names.append(word)
    return [system(name, suite) for name in dict.fromkeys(names)] or list(systems(suite).values())


@lru_cache(maxsize=256)
def _clean(suite: str, name: str, which: int) -> Float:
    one = system(name, suite)
    found = solution(one.trees, one.states, one.initials[which], one.t, ACCURATE)
    if found is None:
        raise GodeError(f"system {name} of {suite} could not be integrated; this is a bug of gode")
    return found


def clean(one: SystemProblem, which: int = 0) -> Float:
    """Return the true solution from initial condition 0 or 1, (n, d)."""
    return _clean(one.suite, one.name, which)


def observed(one: SystemProblem, noise: float, dropped: float, seed: int) -> tuple[Float, Float]:
    """Return times and noisy values (n, d) of the first initial condition.

    In ODEBench each value is x*(1 + noise*xi) with a normal xi of its own; elsewhere the noise is a share of
    the standard deviation of each state. Then a share `dropped` of the points is left out at random. The
    draws depend on the seed and the system's name alone.
    """
    number = int(one.name) if one.suite == ODEBENCH else zlib.crc32(one.name.encode())
    rng = np.random.default_rng([seed, number])
    x = clean(one)
    y = x + noise * (x if one.suite == ODEBENCH else np.std(x, axis=0)) * rng.standard_normal(x.shape)
    keep = np.sort(rng.permutation(len(x))[: len(x) - round(dropped * len(x))])
    return one.t[keep], y[keep]


def solution(
    trees: Sequence[Node], states: Sequence[str], initial: Sequence[float], t: Float, tolerance: float
) -> Float | None:
    """Return the solution (n, d) by SciPy's LSODA, independent of gode's own solver; None if it fails."""
    slope = _slope(trees, states)
    return integrated(lambda s, x: slope(s, *map(float, x)), initial, t, tolerance, LARGEST, MOST_CALLS)


def integrated(
    slope: Callable[[float, Float], Sequence[float] | Float],
    initial: Sequence[float],
    t: Float,
    tolerance: float,
    largest: float,
    most_calls: int,
) -> Float | None:
    """Return the solution (n, d) of x' = slope(t, x); None if it fails, grows too large or takes too long."""
    calls = 0

    def right(s: float, x: Float) -> Sequence[float] | Float:
        nonlocal calls
        calls += 1
        if calls > most_calls or not np.all(np.abs(x) < largest):
            raise ArithmeticError("beyond the budget")
        return slope(s, x)

    try:
        with np.errstate(all="ignore"):
            found = solve_ivp(
                right, (t[0], t[-1]), initial, t_eval=t, method="LSODA", rtol=tolerance, atol=1e-2 * tolerance
            )
    except (ArithmeticError, ValueError, TypeError):  # a pole, or a root of a negative number
        return None
    y = np.asarray(found.y.T)
    return y if found.success and y.shape[0] == len(t) and np.all(np.isfinite(y)) else None


def _slope(trees: Sequence[Node], states: Sequence[str]) -> Callable[..., Sequence[float]]:
    """Return the right-hand sides as a function of t and the states."""
    symbols = {sympy.Function(name, real=True)(TIME_SYMBOL): sympy.Symbol(name) for name in states}
    sides = [expression(tree).subs(symbols) for tree in trees]
    unknown = {str(s) for side in sides for s in side.free_symbols} - {"t", *states}
    if unknown:
        raise EquationError(f"{', '.join(sorted(unknown))} is no state of the system")
    function: Callable[..., Sequence[float]] = sympy.lambdify(
        (TIME_SYMBOL, *symbols.values()), sides, "math", cse=True
    )
    return function
