"""Data and solution of a record as a small SVG, drawn in a millisecond: a fleet has many of them."""

from html import escape

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery

WIDTH, HEIGHT, LEFT, TOP = 480, 300, 60, 30
INNER = (WIDTH - LEFT - 12, HEIGHT - TOP - 34)  # width and height of the frame
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MOST_POINTS = 400  # of a signal, beyond which every second, third, ... is drawn


def drawn(found: Discovery) -> bytes:
    """Return the lowest observed channel of each state in the first run, with the solution, as SVG."""
    run = found.prepared.whole.dataset.runs[0]
    solution = found.simulate(run=0)
    shown: list[tuple[Float, Float]] = []
    for s in range(run.n_states):
        own = run.observed[3 * s : 3 * s + 3]
        channel = 3 * s + int(np.flatnonzero(np.isfinite(own).any(axis=1))[0])
        path = solution.values[channel] if len(solution.t) == len(run.t) else np.full(len(run.t), np.nan)
        shown.append((run.observed[channel], path))
    values = np.concatenate([v[np.isfinite(v)] for pair in shown for v in pair])
    low, high = float(values.min()), float(values.max())
    across = _scaled(run.t, float(run.t[0]), float(run.t[-1]), LEFT, INNER[0])
    marks = []
    for colour, (data, path) in zip(COLOURS * (1 + run.n_states // 6), shown, strict=False):
        up, line = (_scaled(v, low, high, TOP + INNER[1], -INNER[1]) for v in (data, path))
        marks += [_dots(across, up, colour), _line(across, line, colour)]
    title = escape("; ".join(found.equation.lines())[:80])
    ticks = [
        _text(LEFT - 5, TOP + INNER[1], f"{low:.4g}", "end"),
        _text(LEFT - 5, TOP + 10, f"{high:.4g}", "end"),
        _text(LEFT, HEIGHT - 18, f"{run.t[0]:.4g}", "start"),
        _text(WIDTH - 12, HEIGHT - 18, f"t = {run.t[-1]:.4g}", "end"),
        _text(LEFT, 18, title, "start"),
    ]
    frame = f'<rect x="{LEFT}" y="{TOP}" width="{INNER[0]}" height="{INNER[1]}" fill="none" stroke="#888"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">'
    back = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    style = 'font-family="sans-serif" font-size="11" fill="#1c1e21"'
    return "\n".join([head, back, frame, *marks, f"<g {style}>", *ticks, "</g>", "</svg>\n"]).encode()


def _scaled(values: Float, low: float, high: float, start: float, length: float) -> Float:
    return start + length * (values - low) / ((high - low) or 1.0)


def _dots(x: Float, y: Float, colour: str) -> str:
    step = 1 + len(x) // MOST_POINTS
    pairs = [(a, b) for a, b in zip(x[::step], y[::step], strict=True) if np.isfinite(b)]
    dots = "".join(f"M{a:.1f},{b:.1f}h0" for a, b in pairs)
    return (
        f'<path d="{dots}" stroke="{colour}" stroke-opacity="0.5" stroke-width="3" stroke-linecap="round"/>'
    )


def _line(x: Float, y: Float, colour: str) -> str:
    step = 1 + len(x) // MOST_POINTS
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[::step], y[::step], strict=True) if np.isfinite(b))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'
