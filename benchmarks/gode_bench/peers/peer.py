"""Peer: another tool. It is given smoothed columns and returns an equation as text for our parser.

For systems, a peer is given the noisy columns and smooths them itself.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from gode.arrays import Float
from gode.errors import DataError

NAMES = ("u", "v", "t", "F")  # v is u': some tools do not accept a prime in a name


@dataclass(frozen=True)
class PeerTask:
    """Columns of all runs, concatenated; the peer regresses the highest derivative on the others."""

    t: Float
    u: Float
    du: Float
    d2u: Float
    force: Float | None
    order: int
    seed: int
    deviation: float  # standard deviation of the highest derivative, as estimated by the smoother
    several: bool = False  # more than one run

    @property
    def target(self) -> Float:
        """The highest derivative."""
        return self.du if self.order == 1 else self.d2u

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the regressors; with a known force, time is none of them."""
        forced = self.force is not None
        wanted = {"u": True, "v": self.order == 2, "t": not forced, "F": forced}
        return tuple(name for name in NAMES if wanted[name])

    @property
    def columns(self) -> Float:
        """The regressors, (n, names)."""
        rows = {"u": self.u, "v": self.du, "t": self.t, "F": self.force}
        return np.column_stack([rows[name] for name in self.names])  # type: ignore[misc]

    def equation(self, right: str) -> str:
        """Return the equation with this right-hand side, which uses the names above.

        Raises:
            DataError: if the peer found no finite expression.
        """
        if re.search(r"\b(nan|inf)\b", right, re.IGNORECASE):
            raise DataError(f"the expression is not finite: {right[:80]}")
        left = "u" + "'" * self.order
        return f"{left} = " + re.sub(r"\bv\b", "u'", right)


@dataclass(frozen=True)
class Peer:
    """Another tool, and the package it needs."""

    title: str
    needs: str  # the package that is imported
    module: str  # in gode_bench.peers, imported when the peer is used
    package: str | None = None  # name in the package index, if it differs
    weight: float = 1.0  # duration relative to gode
    of_systems: str | None = None  # the module for systems, if it takes several states

    def find(self, task: PeerTask) -> str:
        """Return the equation that the tool finds."""
        work: Callable[[PeerTask], str] = import_module(f"gode_bench.peers.{self.module}").find
        return work(task)

    def find_system(self, t: Float, x: Float, states: Sequence[str]) -> str:
        """Return the equations that the tool finds in noisy columns (n, d), one a line."""
        module = import_module(f"gode_bench.peers.{self.of_systems}")
        work: Callable[[Float, Float, Sequence[str]], str] = module.find_system
        return work(t, x, states)


PEERS = {
    "pysindy": Peer("PySINDy", "pysindy", "sindy", weight=0.3, of_systems="sindy_systems"),
    "pyoperon": Peer("pyoperon", "pyoperon", "operon"),
    "gplearn": Peer("gplearn", "gplearn", "gp_learn", weight=4.0),
    "pysr": Peer("PySR", "pysr", "py_sr", weight=10.0),
    "odeformer": Peer("ODEFormer", "odeformer", "ode_former", weight=3.0),
}
