"""Elements of HTML pages; every text goes through `escape`."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import count

LONG = 40  # characters from which the text of a cell is wrapped


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()


def html(value: object) -> Markup:
    """Return `value` as HTML: unchanged if it is `Markup`, escaped otherwise."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


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


def copyable(name: str, text: str, words: str) -> Markup:
    """Return a text in a fixed-width font with a button that copies it."""
    return Markup(
        f'<div class="copy"><button type="button" class="on-screen" data-copy="copy-{name}" hidden>'
        f'Copy {html(words)}</button><pre tabindex="0"><code id="copy-{name}">{html(text)}</code></pre></div>'
    )


def details(title: str, *parts: object, opened: bool = False) -> Markup:
    """Return parts that are hidden until the title is clicked, unless they are `opened`."""
    body = "".join(map(html, parts))
    return Markup(f"<details{' open' * opened}><summary>{html(title)}</summary>{body}</details>")


def _cell(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else value
    return f"<td{_kind(value)}>{html(text)}</td>"


def _kind(value: object) -> str:
    if isinstance(value, int | float):
        return ' class="number"'
    return ' class="long"' if len(str(value)) > LONG and not isinstance(value, Markup) else ""
