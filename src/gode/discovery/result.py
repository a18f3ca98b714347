"""Discovery: what was found, with its error bars and what the data cannot decide."""

from __future__ import annotations  # help() then shows types by their names

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data.labels import column_units
from gode.discovery.assessment import Assessment, assess
from gode.discovery.called import by_columns, with_called
from gode.discovery.finding import Finding
from gode.discovery.newcomer import predict_new
from gode.discovery.population import Individuality
from gode.discovery.prediction import Prediction, predict
from gode.discovery.profile import Interval, intervals, profile
from gode.discovery.quality import Quality, misfit_of, quality_of
from gode.discovery.rivals import with_weights
from gode.discovery.simulate import Forces, Scenario, Start, make_scenario, simulate
from gode.discovery.table import equation_rows, frame
from gode.fitting.noise import noise_models
from gode.fitting.prepare import Prepared
from gode.search.settings import Settings
from gode.selection import Candidate, front
from gode.solve import Solution

if TYPE_CHECKING:
    import pandas as pd

    from gode.report.answers import Answers
    from gode.report.figures import Figure
    from gode.report.linear import Constant, Linear, Place

Given = TypeVar("Given")


@dataclass(frozen=True, repr=False)
class Discovery:
    """The equation found, its rivals, the data and the settings."""

    candidates: Sequence[Candidate]  # the best first
    prepared: Prepared
    settings: Settings
    n_fitted: int
    interrupted: bool = False
    supported: bool = True  # False where a constant, a line or a random walk explains the data as well
    timed_out: bool = False  # whether it ended because max_seconds had passed
    remarks: tuple[str, ...] = ()  # what to know about the way it was found
    causes: tuple[str, ...] = ()  # why the fit may not be good,
    solved: int = 0  # equations solved along the data, where a record keeps only some of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", with_called(self.candidates, self.prepared.dataset))

    @property
    def order(self) -> Sequence[Candidate]:
        """The old name of `candidates`."""
        warnings.warn("Discovery.order is now Discovery.candidates", DeprecationWarning, stacklevel=2)
        return self.candidates

    @property
    def n_solved(self) -> int:
        """The number of equations that were solved along the data."""
        return self.solved or len(self.candidates)

    @property
    def equation(self) -> Finding:
        """The equation that is named: the one with the least criterion, in its most plausible form."""
        return Finding(self.candidates[0], units=column_units(self.prepared.dataset))

    @cached_property
    def intervals(self) -> list[Interval]:
        """The 95 % intervals of named constants whose error bars mislead: lopsided, or open as K > 800."""
        return intervals(self.equation, self.prepared, self.settings)

    def profile(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of a constant, by its name or as C1, C2, ..., from the likelihood itself."""
        return profile(self.candidates[0], name, self.prepared, self.settings, level)

    @cached_property
    def assessment(self) -> Assessment:
        """The verdict, how sure the law is, and what is undecided: the words that everybody tells."""
        given = not self.settings.grammar and len(self.candidates) == 1
        cut = self.interrupted or self.timed_out
        config = self.settings.selection
        return assess(self.candidates, self.quality, self.prepared, config, given=given, cut_short=cut)

    @cached_property
    def ties(self) -> list[Finding]:
        """The equations that these data cannot tell from the best one, which comes first.

        It is alone where none of those tried explains the data.
        """
        return [replace(self.equation, candidate=c) for c in self.assessment.near]

    @cached_property
    def forms(self) -> list[Finding]:
        """The equation that is named, and near ties that are the same function within the data."""
        return [Finding(c) for c in self.assessment.forms]

    @property
    def probability(self) -> float:
        """The posterior probability of the law named, in all its forms, if one of those tried is right.

        It is NaN where none of them explains the data, and where the law was given and nothing else tried.
        """
        known = self.assessment.probability
        return np.nan if known is None else known

    @property
    def certainty(self) -> str:
        """How sure the data are of the law among those tried, in words; empty if nothing else was tried."""
        return self.assessment.certainty

    @cached_property
    def quality(self) -> Quality:
        """Misfit, noise and residuals of the equation that is named, and a verdict."""
        return quality_of(self.candidates[0], self.prepared, supported=self.supported)

    @property
    def noise(self) -> Float:
        """The standard deviation of the noise in u, u', u'' of each state; NaN where nothing was observed."""
        return self.quality.noise

    @property
    def noise_kinds(self) -> dict[str, str]:
        """Whether the noise of each observed channel is additive, multiplicative or mixed."""
        models = noise_models(self.prepared.whole.dataset, self.prepared.smooths)
        return {name: model.kind.value for name, model in models.items()}

    @cached_property
    def shown(self) -> list[tuple[Candidate, float]]:
        """The front of accuracy against complexity and the near ties, each with its misfit."""
        close = {id(c) for c in [*self.assessment.near, *front(self.candidates)]}
        return [
            (c, misfit_of(c, self.prepared, self.noise) if i else self.quality.misfit)
            for i, c in enumerate(self.candidates)
            if id(c) in close or not i
        ]

    @cached_property
    def equations(self) -> pd.DataFrame:
        """The front of accuracy against complexity and the near ties, the best first."""
        return frame(self.equation_rows)

    @cached_property
    def equation_rows(self) -> list[dict[str, object]]:
        """The rows of `equations`, without pandas."""
        return equation_rows(
            self.shown, self.candidates, self.assessment, self.settings.selection, self.prepared.floor
        )

    @cached_property
    def individuality(self) -> Individuality:
        """Which constants each run has for itself, by letters, and the population that they come from."""
        return Individuality(self.candidates[0], column_units(self.prepared.dataset))

    @cached_property
    def individuals(self) -> pd.DataFrame:
        """The constants that each run has for itself, with standard errors, a row for each run.

        They are called as in `individuality.lines`; without such constants the table has no columns.
        """
        dataset, own = self.prepared.dataset, self.individuality
        names = [dataset.name_of(i) for i in range(len(dataset.runs))]
        rows = own.rows(names) if own.constants else [{"run": name} for name in names]
        return frame(rows).set_index("run")

    @cached_property
    def population(self) -> pd.DataFrame:
        """Mean of each of these constants with its standard error, and their standard deviation.

        The deviation is that of the individuals: the errors of their estimates are taken out.
        """
        rows = self.individuality.summary() if self.individuality.constants else []
        return frame(rows, ["constant", "mean", "error", "spread"]).set_index("constant")

    def simulate(
        self,
        t: ArrayLike | None = None,
        initial: Start | None = None,
        force: Forces | None = None,
        *,
        run: int | str = 0,
    ) -> Solution:
        """Solve the equation found; by default over a run of the data, from its initial values.

        Args:
            t: increasing times, also beyond the data.
            initial: values at t[0]; by default the solution starts where the run does. Of several states in
                their order, or by their names.
            force: the known input, if not that of the run: formula, callable, samples at `t`, or a pair; of
                several inputs by their names.
            run: number or name; where runs have constants of their own, those of this one are taken.

        Raises:
            DataError: if new times need a force that is not given.
        """
        scenario = self._scenario(t, initial, force, run)
        found = simulate(self.candidates[0], self.prepared, scenario)
        return replace(found, states=self.equation.states)

    def predict(
        self,
        t: ArrayLike,
        initial: Start | None = None,
        force: Forces | None = None,
        *,
        run: int | str = 0,
        level: float = 0.95,
    ) -> Prediction:
        """Return the solution at `t`, also beyond the data, with a band of uncertainty; see `simulate`.

        The band comes from the covariance of constants and initial values and from the equations that
        these data cannot tell apart.

        Raises:
            DataError: if new times need a force that is not given.
            ConfigError: if the level is no probability.
        """
        scenario = self._scenario(t, initial, force, run)
        found = predict(
            self.candidates[0], self._rivals, self.prepared, scenario, self.settings.shooting, level
        )
        return replace(found, states=self.equation.states)

    def predict_new(
        self,
        t: ArrayLike,
        initial: Start | None = None,
        force: Forces | None = None,
        *,
        seen: tuple[ArrayLike, object] | None = None,
        level: float = 0.95,
    ) -> Prediction:
        """Return the solution of a new individual, from mean and spread of the population.

        Args:
            initial: values at t[0], or at the first time seen; by default those of the population.
            seen: times and values of the first points of the individual, which narrow the band.

        Raises:
            DataError: if the times or the points are not usable.
        """
        config = self.settings.shooting
        start, forces = self._by_columns(initial), self._by_columns(force)
        found = predict_new(self.candidates[0], self.prepared, config, t, start, forces, seen, level)
        return replace(found, states=self.equation.states)

    def _scenario(
        self, t: ArrayLike | None, initial: Start | None, force: Forces | None, run: int | str
    ) -> Scenario:
        orders = self.candidates[0].equation.skeleton.orders
        start, forces = self._by_columns(initial), self._by_columns(force)
        return make_scenario(self.prepared, t, start, forces, run, orders)

    def _by_columns(self, given: Given) -> Given:
        """Return what was given for states or inputs by their names, or by those that gode has for them."""
        if not isinstance(given, Mapping):
            return given
        return by_columns(self.prepared.dataset, given)  # type: ignore[return-value]

    @cached_property
    def _rivals(self) -> list[tuple[Candidate, float]]:
        """The other equations that may be the law, with their probabilities."""
        return with_weights(self.candidates, self.settings.selection, self.prepared.floor)

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

    def linearise(self, u: Place | None = None, *, force: Constant = 0.0) -> Linear:
        """Return the linear model for small motions about an equilibrium under a constant force.

        Args:
            u: near which equilibrium; by default a stable one that was observed. Of several states, their
                values in order or by their names; so is the force of several inputs.

        Raises:
            EquationError: if there is none, or nothing linear holds near it.
        """
        from gode.report.linear import linearise

        return linearise(self, u, force=force)

    def export(self, language: str, *, run: int | str | None = None) -> str:
        """Return a program that simulates the equation, in python, c, julia, matlab or modelica.

        Args:
            run: number or name of the run to simulate; where runs have constants of their own, the mean of
                the population is taken without it.
        """
        from gode.report.code import code

        return code(self, language, run=run)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the discovery to a JSON file, which `gode.load` reads; an earlier one stays if that fails."""
        from gode.report.record import save

        save(self, Path(path))

    def __repr__(self) -> str:
        return f"<Discovery {'; '.join(self.equation.lines())}, {len(self.ties) - 1} near ties>"

    def __str__(self) -> str:
        if not self.supported:
            words = self.quality.words
            words = words[0].lower() + words[1:].rstrip(".")
            return f"{words} (the best guess was {'; '.join(self.equation.lines())})"
        return str(self.equation)

    def _repr_latex_(self) -> str:
        return self.equation._repr_latex_()

    def _repr_html_(self) -> str:
        from gode.report.page import notebook_summary

        return notebook_summary(self)
