"""HTML pages and their elements; every text goes through `escape`."""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import count
from string import Template

from gode import __version__
from gode.report.figures import INK, Figure, to_svg

SVG_START = re.compile(r"<svg\b.*", re.DOTALL)
SVG_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
SVG_SIZE = re.compile(r'(<svg\b[^>]*?) (?:height|width)="[^"]*"')
LONG = 40  # characters from which the text of a cell is wrapped
REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()


def html(value: object) -> Markup:
    """Return `value` as HTML: unchanged if it is `Markup`, escaped otherwise."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def page(title: str, header: object, *parts: object) -> str:
    """Return one self-contained page, which loads nothing and runs nothing.

    Args:
        header: what stands below the title.
    """
    template = files("gode.report") / "templates" / "page.html"
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=html(title),
        header=html(header),
        parts="\n".join(html(part) for part in parts),
        version=html(__version__),
    )


def paragraph(text: object, kind: str = "") -> Markup:
    """Return a paragraph, of the class `kind` of the style sheet if one is given."""
    return Markup(f'<p class="{kind}">{html(text)}</p>' if kind else f"<p>{html(text)}</p>")


def bullets(items: Iterable[object]) -> Markup:
    """Return a list."""
    return Markup("<ul>" + "".join(f"<li>{html(item)}</li>" for item in items) + "</ul>")


def section(title: str, *parts: object) -> Markup:
    """Return a section under its title; nothing if it has no parts."""
    body = "\n".join(html(part) for part in parts if part)
    return Markup(f"<section>\n<h2>{html(title)}</h2>\n{body}\n</section>" if body else "")


def card(*parts: object) -> Markup:
    """Return the parts in a frame."""
    return Markup(f'<div class="card">{"".join(html(part) for part in parts)}</div>')


def table(head: Sequence[str], rows: Iterable[Sequence[object]], best: int | None = None) -> Markup:
    """Return a table; numbers are aligned right, and the row `best` is highlighted."""
    rows = list(rows)
    kinds = [_kind(value) for value in rows[0]] if rows else [""] * len(head)
    top = "".join(f"<th{kind}>{html(name)}</th>" for kind, name in zip(kinds, head, strict=True))
    marks = (' class="best"' if i == best else "" for i in count())
    lines = [f"<tr{mark}>{''.join(map(_cell, row))}</tr>" for mark, row in zip(marks, rows, strict=False)]
    return Markup(
        f'<div class="scroll"><table><thead><tr>{top}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def program(text: str) -> Markup:
    """Return code in a fixed-width font."""
    return Markup(f"<pre><code>{html(text)}</code></pre>")


def details(title: str, *parts: object) -> Markup:
    """Return parts that are hidden until the title is clicked."""
    return Markup(f"<details><summary>{html(title)}</summary>{''.join(map(html, parts))}</details>")


def picture(figure: Figure, name: str, words: str) -> Markup:
    """Return a figure as inline SVG in the colour of the text; its ids get the prefix `name`."""
    svg = SVG_METADATA.sub("", SVG_START.findall(to_svg(figure))[0])
    for _ in range(2):
        svg = SVG_SIZE.sub(r"\1", svg, count=1)
    svg = REFERENCE.sub(rf"\g<1>{name}-", svg).replace(INK, "currentColor")
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{html(words)}" ', 1)
    return Markup(f"<figure>{svg}</figure>")


def image(svg: bytes, words: str) -> Markup:
    """Return SVG as an image in its own colours on white."""
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    return Markup(f'<figure class="white"><img alt="{html(words)}" src="{source}"></figure>')


def _cell(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else value
    return f"<td{_kind(value)}>{html(text)}</td>"


def _kind(value: object) -> str:
    if isinstance(value, int | float):
        return ' class="number"'
    return ' class="long"' if len(str(value)) > LONG and not isinstance(value, Markup) else ""
