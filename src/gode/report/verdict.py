"""How far a result can be trusted, first on the page: in words, in colour, with likely causes."""

from gode.discovery import Discovery
from gode.discovery.quality import Verdict
from gode.report.html import Markup, bullets, html, paragraph

HEADS = {  # a sign, a few words, and a colour that reads on light and dark
    Verdict.GOOD: ("✓", "Good", "#009E73"),
    Verdict.PATTERN: ("≈", "Use it with care", "#E69F00"),
    Verdict.POOR: ("✗", "Do not rely on it", "#D6293E"),
    Verdict.UNSUPPORTED: ("✗", "No finding", "#D6293E"),
}
MAX_ASSUMED = 5


def verdict_box(discovery: Discovery) -> Markup:
    """Return the verdict in a frame of its colour, with its likely causes and what was assumed."""
    quality = discovery.quality
    sign, words, colour = HEADS[quality.verdict]
    mark = f'<strong><span style="color: {colour}">{sign}</span> {html(words)}.</strong>'
    head = Markup(f"{mark} {html(quality.words)}")
    parts = [paragraph(head)]
    if quality.verdict is Verdict.UNSUPPORTED:
        parts.append(paragraph("What follows is the best guess, not a finding."))
    if discovery.causes:
        causes = [f"{cause[0].upper()}{cause[1:]}." for cause in discovery.causes]
        parts += [paragraph("What may be the cause, found by trying:"), bullets(causes)]
    if quality.assumed:
        assumed = list(quality.assumed[:MAX_ASSUMED])
        more = f" and {len(quality.assumed) - MAX_ASSUMED} more" if len(quality.assumed) > MAX_ASSUMED else ""
        parts.append(paragraph(f"Assumed, as the data allow it: {', '.join(assumed)}{more}."))
    if discovery.interrupted:
        parts.append(paragraph("The search was interrupted; a full one may find a better equation."))
    frame = (
        f"border: 1px solid {colour}; border-left-width: .5rem; border-radius: .4rem; padding: .1rem .8rem"
    )
    return Markup(f'<div class="verdict" role="note" style="{frame}">{"".join(parts)}</div>')
