"""What a peer is given: smoothed columns. What it returns: an equation as text for our parser."""

import re
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.errors import DataError

NAMES = ("u", "v", "t", "F")  # v is u': a peer may not like a prime in a name


@dataclass(frozen=True)
class PeerTask:
    """Columns of all runs, one after the other; the peer regresses the highest derivative on the others."""

    t: Float
    u: Float
    du: Float
    d2u: Float
    force: Float | None
    order: int
    seed: int
    deviation: float  # standard deviation of the highest derivative, as far as the smoother knows
    several: bool = False  # more than one run

    @property
    def target(self) -> Float:
        """The highest derivative."""
        return self.du if self.order == 1 else self.d2u

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that may explain it; with a known force, time enters by that alone."""
        forced = self.force is not None
        wanted = {"u": True, "v": self.order == 2, "t": not forced, "F": forced}
        return tuple(name for name in NAMES if wanted[name])

    @property
    def columns(self) -> Float:
        """The columns that may explain it, (n, names)."""
        rows = {"u": self.u, "v": self.du, "t": self.t, "F": self.force}
        return np.column_stack([rows[name] for name in self.names])  # type: ignore[misc]

    def equation(self, right: str) -> str:
        """Return the equation whose right-hand side a peer wrote in the names above.

        Raises:
            DataError: if the peer found no finite expression.
        """
        if re.search(r"\b(nan|inf)\b", right, re.IGNORECASE):
            raise DataError(f"the expression is not finite: {right[:80]}")
        left = "u" + "'" * self.order
        return f"{left} = " + re.sub(r"\bv\b", "u'", right)
