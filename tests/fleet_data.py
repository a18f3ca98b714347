"""Simulated fleets: closed-form solutions with noise, and a grammar so small that all of it is tried."""

from pathlib import Path

import numpy as np

FEW = """\
%template u' = {sentence}
sum -> 'C' '*' 'u' | 'C' '*' 'u' '+' rest
rest -> 'C' | 'C' '*' 'u' '^' '2' | 'C' '*' 'u' '^' '3'
"""


def few(folder: Path) -> str:
    """Write a grammar of four equations, and return its path."""
    path = folder / "few.grammar"
    path.write_text(FEW)
    return str(path)


def growth(seed: int, *, rate: float = 0.8, limit: float = 5.0, noise: float = 0.02, n: int = 40):
    """Return times and noisy values of logistic growth."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 10.0, n)
    u = limit / (1 + 9 * np.exp(-rate * t))
    return t, u + noise * limit * rng.standard_normal(n)


def cooling(seed: int, *, rate: float = 0.5, noise: float = 0.02, n: int = 40):
    """Return times and noisy values of a body that cools down to 2."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 10.0, n)
    return t, 2 + 6 * np.exp(-rate * t) + 6 * noise * rng.standard_normal(n)


def write(path: Path, t, u) -> None:
    """Write a record as CSV."""
    rows = "\n".join(f"{a:.6g},{b:.6g}" for a, b in zip(t, u, strict=True))
    path.write_text(f"t,u\n{rows}\n")
