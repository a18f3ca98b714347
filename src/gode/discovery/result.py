"""Discovery: what was found, with its error bars and what the data cannot decide."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.discovery.quality import UNSUPPORTED, Quality, misfit_of, quality_of
from gode.discovery.rivals import weighed
from gode.discovery.simulate import Prediction, make_scenario, predict, simulate
from gode.equation import Equation, Term
from gode.equation.skeleton import has_pivot_one, linear_terms
from gode.equation.text import display_order, to_text
from gode.fitting.prepare import Prepared
from gode.search.settings import Settings
from gode.selection import Candidate, front, ties
from gode.solve import Signal, Solution

if TYPE_CHECKING:
    from gode.report.answers import Answers
    from gode.report.figures import Figure
    from gode.report.linear import Linear


class Constant(NamedTuple):
    """A number of the equation as written, its standard error, and what it multiplies or where it stands."""

    value: float
    error: float
    place: str


@dataclass(frozen=True, repr=False)
class Finding:
    """An equation with the standard errors of its constants."""

    candidate: Candidate

    @property
    def equation(self) -> Equation:
        """The equation itself."""
        return self.candidate.equation

    def __str__(self) -> str:
        return self.equation.text(4)

    def __repr__(self) -> str:
        return f"<{self}>"

    def latex(self) -> str:
        """Return the equation in LaTeX."""
        return self.equation.latex()

    def sympy(self) -> object:
        """Return the equation as a SymPy `Eq` in u(t) and its derivatives."""
        return self.equation.sympy()

    def rhs(self) -> str:
        """Return what the highest derivative equals."""
        return self.equation.rhs()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The constants in the scale of the text, with their standard errors."""
        values, places = _written(self.equation)
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        rows = zip(values, errors.tolist(), places, strict=True)
        return tuple(Constant(*row) for row in rows)

    @cached_property
    def covariance(self) -> Float:
        """The covariance of `constants`, in their order and scale."""
        values, _ = _written(self.equation)
        c = np.array(self.equation.constants)
        slopes = np.zeros((len(values), len(c)))
        for i in range(len(c)):
            step = 1e-6 * (abs(c[i]) or 1.0)
            moved = c.copy()
            moved[i] += step
            shifted, _ = _written(Equation(self.equation.skeleton, tuple(moved.tolist())))
            slopes[:, i] = (np.array(shifted) - np.array(values)) / step
        return np.asarray(slopes @ self.candidate.covariance @ slopes.T)


def _written(equation: Equation) -> tuple[list[float], list[str]]:
    """Return the free numbers of the equation as it is written: D(u) = F, or solved for its highest part."""
    c = np.array(equation.constants)
    terms = sorted(linear_terms(equation.skeleton.normal), key=lambda t: display_order(t.body))
    forces = [t for t in terms if t.body.value in equation.skeleton.inputs]
    force = forces[0] if len(forces) == 1 else None  # then it stands alone, as in Equation.sides
    solved = force or has_pivot_one(equation.skeleton.normal, equation.skeleton.highest)
    explicit = [t for t in terms if solved and t.body.value == equation.skeleton.highest]
    scale = -1.0 / _factor(force, c) if force else (-1.0 if explicit else 1.0)
    values, places, used = [], [], set()
    for term in terms:
        used.add(term.constant)
        if term is force:
            continue
        if term.constant is not None or (force and force.constant is not None and term in explicit):
            values.append(float(scale * _factor(term, c)))
            places.append(to_text(term.body))
    for i in range(len(c)):
        if i not in used:
            values.append(float(c[i]))
            places.append("inside a function")
    return values, places


def _factor(term: Term, constants: Float) -> float:
    return term.multiplier * (1.0 if term.constant is None else float(constants[term.constant]))


@dataclass(frozen=True, repr=False)
class Discovery:
    """The equation found, its rivals, the data and the settings."""

    order: Sequence[Candidate]  # all candidates, the best first
    prepared: Prepared
    settings: Settings
    n_fitted: int
    interrupted: bool = False
    supported: bool = True  # False where a constant, a line or a random walk explains the data as well
    timed_out: bool = False  # whether it ended because max_seconds had passed
    remarks: tuple[str, ...] = ()  # what to know about the way it was found
    causes: tuple[str, ...] = ()  # why the fit may not be good, found by trying

    @property
    def equation(self) -> Finding:
        """The near tie of the best that is named, which is simple and not far off if another one is true."""
        return Finding(self.order[0])

    @cached_property
    def ties(self) -> list[Finding]:
        """The equations that these data cannot tell from the best one, which comes first."""
        return [Finding(c) for c in ties(self.order, self.settings.selection)]

    @cached_property
    def quality(self) -> Quality:
        """Misfit, noise and residuals of the equation that is named, and a verdict."""
        return quality_of(self.order[0], self.prepared, supported=self.supported)

    @property
    def noise(self) -> Float:
        """The standard deviation of the noise in u, u', u'' as observed; NaN where nothing was observed."""
        return self.quality.noise

    @cached_property
    def shown(self) -> list[tuple[Candidate, float]]:
        """The front of accuracy against complexity and the near ties, each with its misfit."""
        close = {id(c) for c in [*ties(self.order, self.settings.selection), *front(self.order)]}
        return [
            (c, misfit_of(c, self.prepared, self.noise) if i else self.quality.misfit)
            for i, c in enumerate(self.order)
            if id(c) in close or not i
        ]

    @cached_property
    def equations(self) -> pd.DataFrame:
        """The front of accuracy against complexity and the near ties, the best first."""
        close = {id(c) for c in ties(self.order, self.settings.selection)}
        best = {id(c) for c in front(self.order)}
        return pd.DataFrame([self._row(c, rms, id(c) in close, id(c) in best) for c, rms in self.shown])

    def _row(self, candidate: Candidate, misfit: float, close: bool, on_front: bool) -> dict[str, object]:
        finding = Finding(candidate)
        why = "best" if candidate is self.order[0] else ("near tie" if close else "front")
        return {
            "equation": str(finding),
            "complexity": candidate.complexity,
            "constants": [c.value for c in finding.constants],
            "errors": [c.error for c in finding.constants],
            "rms": misfit,
            "criterion": candidate.criterion - min(c.criterion for c in self.order),
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

        Args:
            t: increasing times, also beyond the data.
            initial: values at t[0]; by default the solution starts where the run does.
            force: the known input, if not that of the run: formula, callable, samples at `t`, or a pair.

        Raises:
            DataError: if new times need a force that is not given.
        """
        scenario = make_scenario(self.prepared, t, initial, force, run)
        return simulate(self.order[0], self.prepared, scenario)

    def predict(
        self,
        t: ArrayLike,
        initial: Sequence[float] | None = None,
        force: Signal | None = None,
        *,
        run: int = 0,
        level: float = 0.95,
    ) -> Prediction:
        """Return the solution at `t`, also beyond the data, with a band of uncertainty; see `simulate`.

        The band comes from the covariance of constants and initial values and from the equations that
        these data cannot tell apart.

        Raises:
            DataError: if new times need a force that is not given.
            ConfigError: if the level is no probability.
        """
        scenario = make_scenario(self.prepared, t, initial, force, run)
        return predict(self.order[0], self._rivals, self.prepared, scenario, self.settings.shooting, level)

    @cached_property
    def _rivals(self) -> list[tuple[Candidate, float]]:
        """The near ties and the front with their weights under correlated noise."""
        others = [c for c, _ in self.shown if c is not self.order[0]]
        return weighed(self.order[0], others, self.prepared) if others else []

    # The report stands above discovery, so what opens it does so when called and not at import.

    def plot(self) -> Figure:
        """Return a figure: data with fit and noise, residuals, phase portrait, front. Show or save it."""
        from gode.report.figures import overview

        return overview(self)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write one self-contained HTML page about this discovery, and return its path."""
        from gode.report.page import write_page

        return write_page(self, path)

    def answers(self) -> Answers:
        """Return equilibria, stability, frequencies or time constants, and the gain over a linear model."""
        from gode.report.answers import answer

        return answer(self)

    def linearise(self, u: float | None = None, *, force: float = 0.0) -> Linear:
        """Return the linear model for small motions about an equilibrium under a constant force.

        Args:
            u: near which equilibrium; by default a stable one that was observed.

        Raises:
            EquationError: if there is none, or nothing linear holds near it.
        """
        from gode.report.linear import linearise

        return linearise(self, u, force=force)

    def export(self, language: str, *, run: int = 0) -> str:
        """Return a program that simulates the equation, in python, c, julia, matlab or modelica."""
        from gode.report.code import code

        return code(self, language, run=run)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the discovery to a JSON file, which `gode.load` reads.

        Raises:
            FileError: if it cannot be written; an earlier file is then unchanged.
        """
        from gode.report.record import save

        save(self, Path(path))

    def __repr__(self) -> str:
        return f"<Discovery {self.equation}, {len(self.ties) - 1} near ties>"

    def __str__(self) -> str:
        if not self.supported:
            return f"{UNSUPPORTED} (the best guess was {self.equation})"
        return str(self.equation)

    def _repr_latex_(self) -> str:
        return self.equation._repr_latex_()

    def _repr_html_(self) -> str:
        from gode.report.page import notebook_summary

        return notebook_summary(self)
