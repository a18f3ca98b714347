"""Discovery: what was found, with its error bars and what the data cannot decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data.runs import Input
from gode.discovery.prepare import Prepared
from gode.discovery.settings import Settings
from gode.equation import Equation
from gode.equation.skeleton import linear_terms
from gode.equation.text import to_text
from gode.errors import DataError
from gode.selection import Candidate, front, ties
from gode.solve import Signal, Solution, solve


class Constant(NamedTuple):
    """A number of the equation as written, its standard error, and what it multiplies or where it stands."""

    value: float
    error: float
    place: str


@dataclass(frozen=True)
class Finding:
    """An equation with the standard errors of its constants."""

    candidate: Candidate

    @property
    def equation(self) -> Equation:
        """The equation itself."""
        return self.candidate.equation

    def __str__(self) -> str:
        return self.equation.text(4)

    def latex(self) -> str:
        """Return the equation in LaTeX."""
        return self.equation.latex()

    def sympy(self) -> object:
        """Return the equation as a SymPy `Eq` in u(t) and its derivatives."""
        return self.equation.sympy()

    def rhs(self) -> str:
        """Return what the highest derivative equals."""
        return self.equation.rhs()

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The constants in the scale of the text, with their standard errors."""
        values, places = _written(self.equation)
        c = np.array(self.equation.constants)
        slopes = np.zeros((len(values), len(c)))
        for i in range(len(c)):
            step = 1e-6 * (abs(c[i]) or 1.0)
            moved = c.copy()
            moved[i] += step
            shifted, _ = _written(Equation(self.equation.skeleton, tuple(moved.tolist())))
            slopes[:, i] = (np.array(shifted) - np.array(values)) / step
        errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, self.candidate.covariance, slopes), 0.0))
        rows = zip(values, errors.tolist(), places, strict=True)
        return tuple(Constant(*row) for row in rows)


def _written(equation: Equation) -> tuple[list[float], list[str]]:
    """Return the free numbers of the equation as it is written: D(u) = F, or solved for its highest part."""
    c = np.array(equation.constants)
    terms = linear_terms(equation.skeleton.normal)
    lone = [t for t in terms if t.body.value in equation.skeleton.inputs and t.constant is not None]
    explicit = [t for t in terms if t.body.value == equation.skeleton.highest]
    scale = -1.0 / (lone[0].multiplier * c[lone[0].constant]) if lone else (-1.0 if explicit else 1.0)
    values, places, used = [], [], set()
    for term in terms:
        used.add(term.constant)
        if lone and term is lone[0]:
            continue
        if term.constant is not None or (lone and term in explicit):
            own = 1.0 if term.constant is None else c[term.constant]
            values.append(float(scale * term.multiplier * own))
            places.append(to_text(term.body))
    for i in range(len(c)):
        if i not in used:
            values.append(float(c[i]))
            places.append("inside a function")
    return values, places


@dataclass(frozen=True)
class Discovery:
    """The equation found, its rivals, the data and the settings."""

    order: Sequence[Candidate]  # all candidates, the best first
    prepared: Prepared
    settings: Settings
    n_fitted: int
    interrupted: bool = False

    @property
    def equation(self) -> Finding:
        """The equation that explains the data best for its complexity."""
        return Finding(self.order[0])

    @cached_property
    def ties(self) -> list[Finding]:
        """The equations that these data cannot tell from the best one, which comes first."""
        return [Finding(c) for c in ties(self.order, self.settings.selection)]

    @property
    def noise(self) -> Float:
        """The estimated standard deviation of u, u', u'' as observed; NaN where nothing was observed."""
        return self.prepared.noise

    @cached_property
    def equations(self) -> pd.DataFrame:
        """The front of accuracy against complexity and the near ties, the best first."""
        close = {id(c) for c in ties(self.order, self.settings.selection)}
        best = {id(c) for c in front(self.order)}
        chosen = [c for c in self.order if id(c) in close | best]
        return pd.DataFrame([self._row(c, id(c) in close, id(c) in best) for c in chosen])

    def _row(self, candidate: Candidate, close: bool, on_front: bool) -> dict[str, object]:
        finding = Finding(candidate)
        why = "best" if candidate is self.order[0] else ("near tie" if close else "front")
        return {
            "equation": str(finding),
            "complexity": candidate.complexity,
            "constants": [c.value for c in finding.constants],
            "errors": [c.error for c in finding.constants],
            "rms": candidate.rms,
            "criterion": candidate.criterion - self.order[0].criterion,
            "why": why + (", front" if on_front and why != "front" else ""),
        }

    def simulate(
        self,
        t: ArrayLike | None = None,
        initial: Sequence[float] | None = None,
        force: Signal | None = None,
        *,
        run: int = 0,
    ) -> Solution:
        """Solve the equation found; by default over a run of the data, from its initial values.

        Raises:
            DataError: if new times need a force that is not given.
        """
        data = self.prepared.dataset.runs[run]
        times = data.t if t is None else np.asarray(t, np.float64)
        start = self.order[0].initial[run] if initial is None else initial
        inputs = self._inputs(data.inputs, data.t, times, force)
        smooth = self.prepared.smooths[run]
        highest = smooth.values[self.settings.order]
        guide = np.interp(times, smooth.t, highest)
        return solve(self.equation.equation, times, start, inputs=inputs, guide=guide)

    @staticmethod
    def _inputs(
        known: Mapping[str, Input], t: Float, times: Float, force: Signal | None
    ) -> dict[str, Signal]:
        inputs: dict[str, Signal] = dict(known)
        for name, signal in known.items():
            if force is not None:
                inputs[name] = force
            elif isinstance(signal, np.ndarray):
                if times[0] < t[0] or times[-1] > t[-1]:
                    raise DataError(
                        f"the input {name} is known from {t[0]:g} to {t[-1]:g} only; "
                        "pass force= for other times"
                    )
                inputs[name] = (t, signal)
        return inputs

    def save(self, path: str | Path) -> None:
        """Write the discovery to a JSON file, which `gode.load` reads.

        Raises:
            FileError: if it cannot be written; an earlier file is then unchanged.
        """
        import_module("gode.report.record").save(self, path)  # the report lies above the discovery

    def __str__(self) -> str:
        return str(self.equation)
