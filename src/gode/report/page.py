"""HTML pages about a discovery: the report, which is complete in itself, and a short form for notebooks."""

import re
from base64 import b64encode
from hashlib import sha256
from os import PathLike
from pathlib import Path

from gode import __version__
from gode.discovery import Discovery
from gode.files import make_folder, replacing
from gode.report.figures import INK, Figure, to_png, to_svg
from gode.report.plots import Plots
from gode.report.sections import Sections
from gode.templates import Markup, render, text_of

TEMPLATES = "gode/report/templates"
BUDGET = 8_000  # points of all curves together: the page stays below 2 MB
LARGE = 500_000  # characters of SVG
SVG_START = re.compile(r"<svg\b.*", re.DOTALL)
SVG_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
SVG_SIZE = re.compile(r'(<svg\b[^>]*?) (?:height|width)="[^"]*"')
REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')


def write_page(
    discovery: Discovery, path: str | PathLike[str], *, title: str = "Equation found by gode"
) -> Path:
    """Write the page about `discovery` to `path`, and return that.

    Raises:
        FileError: if the file cannot be written.
    """
    target = Path(path)
    text = discovery_page(discovery, title=title)
    make_folder(target.parent)
    with replacing(target) as draft:
        draft.write_text(text, encoding="utf-8")
    return target


def discovery_page(discovery: Discovery, *, title: str) -> str:
    """Return the page as text."""
    return page(
        f"{TEMPLATES}/report.html",
        title=title,
        script=text_of(f"{TEMPLATES}/plot.js"),
        style=text_of(f"{TEMPLATES}/plot.css"),
        failed=discovery.quality.verdict.is_failure,
        s=Sections(discovery, Plots(discovery, budget=BUDGET), picture),
    )


def notebook_summary(discovery: Discovery) -> str:
    """Return verdict, equation, constants and near ties as HTML for a notebook."""
    return render(f"{TEMPLATES}/notebook.html", s=Sections(discovery, Plots(discovery)))


def page(template: str, *, title: str, script: str = "", style: str = "", **values: object) -> str:
    """Return one self-contained page, which loads nothing and runs nothing but its own script, if any.

    Args:
        template: extends `page.html`.
        script: the policy of the page allows it by its hash, and no other.
        style: what the script needs beyond the style of all pages.
        values: what the template needs, and `failed` where the result is no finding and should look so.
    """
    return render(
        template,
        title=title,
        version=__version__,
        script=Markup(script),
        digest=b64encode(sha256(script.encode()).digest()).decode() if script else "",
        style=Markup(style),
        **{"failed": False, **values},
    )


def picture(figure: Figure, name: str, words: str) -> Markup:
    """Return a figure as inline SVG in the colour of the text; its ids get the prefix `name`.

    One of many panels, whose SVG would be large, comes as pixels.
    """
    svg = SVG_METADATA.sub("", SVG_START.findall(to_svg(figure))[0])
    if len(svg) > LARGE:
        return image(to_png(figure), words, "png")
    for _ in range(2):
        svg = SVG_SIZE.sub(r"\1", svg, count=1)
    svg = REFERENCE.sub(rf"\g<1>{name}-", svg).replace(INK, "currentColor")
    head = Markup('<svg role="img" aria-label="{}" ').format(words)
    return Markup(f"<figure>{svg.replace('<svg ', head, 1)}</figure>")


def image(data: bytes, words: str, kind: str = "svg+xml") -> Markup:
    """Return SVG or PNG as an image in its own colours on white."""
    source = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return Markup('<figure class="white"><img alt="{}" src="{}"></figure>').format(words, source)
