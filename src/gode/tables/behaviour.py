"""How a column of numbers behaves: whether it rises, counts rows, moves in steps, or is rough."""

from collections.abc import Sequence

import numpy as np

from gode.arrays import Float, Int

ENOUGH = 12  # rows that show how a column moves
JUMP, FLAT = 0.1, 0.05  # shares of the range: at least a jump, at most the spread between two of them
HELD = 3.0  # rows between jumps, on average
NEAR = 0.05  # range of a column, over its largest value, up to which it is near one value
ROUGH, ROUGHER = 0.8, 5.0  # roughness of an input, and how many times that of what it drives


def rises(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column increases within each run, where it has at least two values."""
    parts = [values[rows][np.isfinite(values[rows])] for rows in runs]
    return any(len(part) > 1 for part in parts) and all(bool(np.all(np.diff(part) > 0)) for part in parts)


def falls(values: Float) -> bool:
    """Tell whether a column ends lower than it begins."""
    seen = values[np.isfinite(values)]
    return len(seen) > 1 and bool(seen[-1] < seen[0])


def counts_rows(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column goes up by one from row to row."""
    whole = np.all(np.diff(values) == 1)
    return bool(whole) or all(np.all(np.diff(values[rows]) == 1) for rows in runs)


def is_constant(values: Float) -> bool:
    """Tell whether a column never changes."""
    seen = values[np.isfinite(values)]
    return len(seen) > 0 and bool(np.all(seen == seen[0]))


def hovers(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column stays near one value and only trembles, as a temperature that is controlled."""
    seen = values[np.isfinite(values)]
    return bool(np.ptp(seen) < NEAR * np.max(np.abs(seen))) and roughness(values, runs) > ROUGH


def in_steps(values: Float, runs: Sequence[Int]) -> bool:
    """Tell whether a column is held for some rows and then jumps, as what is switched or set does.

    A slow signal that is stored with few digits moves by one unit at a time and is none.
    """
    parts = [values[rows][np.isfinite(values[rows])] for rows in runs]
    parts = [part for part in parts if len(part) > 1]
    n = sum(map(len, parts))
    size = max((float(np.max(np.abs(part))) for part in parts), default=0.0)
    if n < ENOUGH or size == 0:
        return False
    parts = [part / size for part in parts]
    span = float(np.ptp(np.concatenate(parts)))
    if span == 0:
        return False
    jumps = np.concatenate([np.diff(part) for part in parts])
    large = np.abs(jumps) > JUMP * span
    n_jumps = int(np.sum(large))
    if not n_jumps or n / (n_jumps + len(parts)) < HELD:
        return False
    levels = [piece for part in parts for piece in _levels(part, span)]
    flat = np.concatenate([piece - np.median(piece) for piece in levels])
    if np.quantile(np.abs(flat), 0.95) > FLAT * span / 2:
        return False
    if n_jumps == 1 and not all(len(piece) >= HELD for piece in levels):
        return False
    return not _is_rounded(jumps[large], levels, span)


def roughness(values: Float, runs: Sequence[Int]) -> float:
    """Return the size of second differences relative to the spread: near 0 if smooth, 2.4 for white noise."""
    parts = [values[rows][np.isfinite(values[rows])] for rows in runs]
    if sum(map(len, parts)) < ENOUGH:
        return 0.0
    every = np.concatenate(parts)
    size = float(np.max(np.abs(every))) or 1.0
    bends = np.concatenate([np.diff(part / size, 2) for part in parts])
    spread = float(np.std(every / size))
    return float(np.sqrt(np.mean(bends**2)) / spread) if len(bends) and spread else 0.0


def _levels(part: Float, span: float) -> list[Float]:
    """Return the pieces of a run between its jumps."""
    return [piece for piece in np.split(part, np.flatnonzero(np.abs(np.diff(part)) > JUMP * span) + 1)]


def _is_rounded(jumps: Float, levels: Sequence[Float], span: float) -> bool:
    """Tell whether all jumps have one size although there are more than two levels: a matter of digits."""
    heights = {round(float(np.median(piece)) / (JUMP * span)) for piece in levels}
    sizes = np.abs(jumps)
    return len(heights) > 2 and bool(np.ptp(sizes) <= FLAT * np.max(sizes))
