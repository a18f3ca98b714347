"""HTML from templates of jinja2, which escapes every text that is not HTML already.

A template is named by its package and its path in it, as `gode/report/templates/page.html`.
"""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["Markup", "part", "render", "text_of"]


def render(template: str, **values: object) -> str:
    """Return a template filled with values."""
    return _environment().get_template(template).render(values)


def part(template: str, macro: str, *arguments: object) -> Markup:
    """Return what one macro of a template writes, to stand within a page."""
    found = getattr(_environment().get_template(template).module, macro)
    return Markup(found(*arguments))


def text_of(name: str) -> str:
    """Return the text of a file of a package."""
    package, _, path = name.partition("/")
    return (files(package) / path).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(text_of),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made
