"""gode finds the ordinary differential equation behind a measured signal.

A public name is imported when it is first used, so `import gode` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gode.equation import Equation, Skeleton, parse_equation, parse_skeleton
    from gode.errors import GodeError
    from gode.grammar import Grammar, load_grammar
    from gode.library import Library, draw_library

__version__ = "0.1.0"

__all__ = [
    "Equation",
    "GodeError",
    "Grammar",
    "Library",
    "Skeleton",
    "draw_library",
    "load_grammar",
    "parse_equation",
    "parse_skeleton",
]

_HOMES = {
    "Equation": "gode.equation",
    "GodeError": "gode.errors",
    "Grammar": "gode.grammar",
    "Library": "gode.library",
    "Skeleton": "gode.equation",
    "draw_library": "gode.library",
    "load_grammar": "gode.grammar",
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
