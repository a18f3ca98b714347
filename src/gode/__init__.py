"""gode finds the ordinary differential equation behind a measured signal.

A public name is imported when it is first used, so `import gode` itself costs next to nothing. Which folder
holds what, and which function does which step, is told in docs/house.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gode.discovery import Discovery, discover, fit, fit_petab
    from gode.equation import Equation, Skeleton, parse_equation, parse_skeleton
    from gode.errors import GodeError
    from gode.estimator import ODERegressor
    from gode.fleet.many import discover_many
    from gode.fleet.table import Fleet
    from gode.grammar import Grammar, load_grammar
    from gode.library import Library, draw_library
    from gode.model import LatentSpace, load_model
    from gode.report import load

__version__ = "0.2.0"

__all__ = [
    "Discovery",
    "Equation",
    "Fleet",
    "GodeError",
    "Grammar",
    "LatentSpace",
    "Library",
    "ODERegressor",
    "Skeleton",
    "discover",
    "discover_many",
    "draw_library",
    "fit",
    "fit_petab",
    "load",
    "load_grammar",
    "load_model",
    "parse_equation",
    "parse_skeleton",
]

_HOMES = {
    "Discovery": "gode.discovery",
    "Equation": "gode.equation",
    "Fleet": "gode.fleet.table",
    "GodeError": "gode.errors",
    "Grammar": "gode.grammar",
    "LatentSpace": "gode.model",
    "Library": "gode.library",
    "ODERegressor": "gode.estimator",
    "Skeleton": "gode.equation",
    "discover": "gode.discovery",
    "discover_many": "gode.fleet.many",
    "draw_library": "gode.library",
    "fit": "gode.discovery",
    "fit_petab": "gode.discovery",
    "load": "gode.report",
    "load_grammar": "gode.grammar",
    "load_model": "gode.model",
    "parse_equation": "gode.equation",
    "parse_skeleton": "gode.equation",
}

if not TYPE_CHECKING:  # a type checker that saw __getattr__ would believe in every name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
