"""Published results on the same problems.

Means over the problems of a suite of relative L2 errors, capped at 1, as printed by Yu, Chatzi & Kissas
(2025, tables of the first and second benchmark): each method's best of five runs on the same kind of data,
derivatives by their network. The table of B2 was evaluated from other initial slopes; a row marked
"rescored" integrates the authors' equations from the right ones.

For ODEBench, shares of all 63 systems in per cent, read from figures 4b and 5 of d'Ascoli et al. (2024).
"""

from dataclasses import dataclass
from statistics import fmean

from gode_bench.problems import problem
from gode_bench.score import Score, score


@dataclass(frozen=True)
class Published:
    """One row of a published table; None where nothing was published."""

    title: str
    u: float
    du: float
    d2u: float | None = None
    complexity: float | None = None
    above: int | None = None


PUBLISHED: dict[str, tuple[Published, ...]] = {
    "b1": (
        Published("ODEFormer, original", 0.148, 0.224, above=2),
        Published("PySR best", 0.084, 0.148, above=1),
        Published("ProGED", 0.095, 0.211, above=2),
        Published("GODE", 0.150, 0.211, above=5),
    ),
    "b2": (
        Published("ProGED", 0.326, 0.406, 0.811, 1.01, 10),
        Published("PySR best", 0.115, 0.145, 0.379, 1.74, 1),
        Published("PySR score", 0.143, 0.136, 0.363, 1.04, 0),
        Published("GODE", 0.120, 0.133, 0.187, 0.90, 0),
        Published("PySR best, rescored", 0.053, 0.081, 0.307),
        Published("GODE, rescored", 0.055, 0.065, 0.189),
    ),
}


@dataclass(frozen=True)
class PublishedShares:
    """Systems of ODEBench that are reconstructed, and from which a method generalises, in per cent."""

    title: str
    reconstruction: float
    generalisation: float


# by noise and the share of dropped points
PUBLISHED_SYSTEMS: dict[tuple[float, float], tuple[PublishedShares, ...]] = {
    (0.0, 0.0): (
        PublishedShares("PySR", 82.6, 50.8),
        PublishedShares("ODEFormer, constants optimised", 76.2, 34.9),
        PublishedShares("ODEFormer", 71.4, 33.3),
        PublishedShares("EHC", 69.9, 34.9),
        PublishedShares("FFX", 68.3, 31.7),
        PublishedShares("SINDy, polynomials", 65.1, 22.2),
        PublishedShares("SINDy, all terms", 63.5, 36.5),
        PublishedShares("ProGED, polynomials", 39.7, 20.6),
    ),
    (0.05, 0.0): (
        PublishedShares("PySR", 63.5, 19.0),
        PublishedShares("ODEFormer, constants optimised", 55.6, 36.5),
        PublishedShares("ODEFormer", 52.4, 31.7),
        PublishedShares("EHC", 50.8, 20.6),
        PublishedShares("FFX", 49.2, 15.9),
        PublishedShares("SINDy, polynomials", 46.0, 7.9),
        PublishedShares("SINDy, all terms", 22.2, 9.5),
        PublishedShares("ProGED, polynomials", 38.1, 20.6),
    ),
    (0.0, 0.5): (
        PublishedShares("PySR", 77.1, 47.5),
        PublishedShares("ODEFormer, constants optimised", 74.6, 38.1),
    ),
    (0.05, 0.5): (
        PublishedShares("PySR", 38.1, 14.3),
        PublishedShares("ODEFormer, constants optimised", 66.7, 33.3),
    ),
}

# For B3 the paper gives equations, not errors; they are scored here like ours.
PUBLISHED_EQUATIONS: dict[str, dict[str, dict[str, str]]] = {
    "b3": {
        "ProGED": {
            "Pendulum": "u'' - u = 0",
            "Duffing": "u'' - 0.00030*t + 0.0030 = 0",
            "VanDerPol": "u'' + 3.14*u*cos(u^2) + u + 0.049 = 0",
        },
        "PySR best": {
            "Pendulum": "u'' - cos(0.77)^t*(1.46 - u' - (3.24 + t)*u) = 0",
            "Duffing": "u'' + 30.67*u - 29.03*sin(u) = 0",
            "VanDerPol": "u'' - sin((-0.71 - u)*(sin(t - 0.14)*(0.56^t*u') + cos(t - 0.11))) = 0",
        },
        "GODE": {
            "Pendulum": "2.03*u'' + 1.02*u' + 5.08*u = F",
            "Duffing": "2.50*u'' + 0.78*u' + 0.44*u + 17.88*u^3 = F",
            "VanDerPol": "0.98*u'' + 5.01*u' - 4.87*cos(0.00032*t)*u'*u^2 + 1.00*u = F",
        },
    }
}


def published_rows(suite: str) -> tuple[Published, ...]:
    """Return the published rows of a suite; published equations are solved from the true initial values."""
    rows = [
        _scored(title, [score(problem(name), text) for name, text in equations.items()])
        for title, equations in PUBLISHED_EQUATIONS.get(suite, {}).items()
    ]
    return (*PUBLISHED.get(suite, ()), *rows)


def _scored(title: str, scores: list[Score]) -> Published:
    u, du, d2u = (fmean(s.errors[i] for s in scores) for i in range(3))
    sizes = [s.complexity for s in scores if s.complexity is not None]
    return Published(title, u, du, d2u, fmean(sizes), sum(s.above for s in scores))
