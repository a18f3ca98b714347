"""The self-contained HTML page of a report, and its pictures."""

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

from gode import __version__
from gode.markup import Markup, html
from gode.report.figures import INK, Figure, to_png, to_svg

LARGE = 500_000  # characters of SVG
SVG_START = re.compile(r"<svg\b.*", re.DOTALL)
SVG_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
SVG_SIZE = re.compile(r'(<svg\b[^>]*?) (?:height|width)="[^"]*"')
REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')


def page(title: str, header: object, *parts: object, interactive: bool = False, failed: bool = False) -> str:
    """Return one self-contained page, which loads nothing and runs nothing but its own script, if any.

    Args:
        header: what stands below the title.
        interactive: whether it holds plots that the script draws; the policy of the page allows that script
            by its hash, and no other.
        failed: whether the result is no finding, and should look so.
    """
    script = _template("plot.js") if interactive else ""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return Template(_template("page.html")).substitute(
        title=html(title),
        header=html(header),
        parts="\n".join(html(part) for part in parts),
        version=html(__version__),
        policy=f"; script-src 'sha256-{digest}'" if interactive else "",
        style=_template("plot.css") if interactive else "",
        kind=' class="failed"' if failed else "",
        script=f"<script>{script}</script>" if interactive else "",
        ran=" and runs only the script that draws its plots" if interactive else " and runs nothing",
    )


def _template(name: str) -> str:
    return (files("gode.report") / "templates" / name).read_text(encoding="utf-8")


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
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{html(words)}" ', 1)
    return Markup(f"<figure>{svg}</figure>")


def image(data: bytes, words: str, kind: str = "svg+xml") -> Markup:
    """Return SVG or PNG as an image in its own colours on white."""
    source = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return Markup(f'<figure class="white"><img alt="{html(words)}" src="{source}"></figure>')
