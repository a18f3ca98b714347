"""Result: the law found with its error bars, its rivals, and what the data cannot decide."""

from __future__ import annotations  # help() then shows types by their names

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data.dataset import column_units
from gode.data.doses import make_doses
from gode.data.noise import noise_models
from gode.discovery.framing import by_columns, with_called
from gode.discovery.identifiability import profile, with_intervals
from gode.discovery.invariants import potential_text
from gode.discovery.natural_forms import natural_constants
from gode.discovery.notebook import Candidates, table_of
from gode.discovery.prediction import Prediction, forecast_horizon, predict, predict_new, with_weights
from gode.discovery.quality import Assessment, Quality, assess, forecast_of, misfit_of, quality_of
from gode.discovery.reported_constants import (
    Constant,
    constants_of,
    constants_per_run,
    covariance_of,
    functions_found,
    lines_per_run,
    lines_with_letters,
    lines_with_names,
    shared_constants,
    shared_words,
)
from gode.discovery.simulate import Forces, Scenario, Start, make_scenario, simulate
from gode.equation import Law
from gode.equation.skeleton import shown_name
from gode.errors import DataError
from gode.fitting.prepare import Prepared
from gode.search.settings import Settings
from gode.selection import Candidate, front, probabilities
from gode.solve import Solution
from gode.units import Unit

if TYPE_CHECKING:
    import pandas as pd

    from gode.report.answers import Answers
    from gode.report.figures import Figure
    from gode.report.linear import Constant as ConstantForce
    from gode.report.linear import Linear, Place

Given = TypeVar("Given")


@dataclass(frozen=True, repr=False)
class Finding:
    """A law with the standard errors of its constants: of all states, or the equation of one of them."""

    candidate: Candidate
    state: int | None = None  # The number of the state whose equation this is; None for the whole law.
    units: Mapping[str, Unit] = field(default_factory=dict)  # Of the columns, where they are known.

    @property
    def law(self) -> Law:
        """The law that it is, or is a part of."""
        return self.candidate.equation

    @property
    def equation(self) -> Law:
        """The law itself; that of one state is in the view of its equation, in u, v1, ..."""
        return self.law if self.state is None else self.law.equations[self.state]

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        names = self.law.skeleton.shown_states
        return names if self.state is None else (names[self.state],)

    def __getitem__(self, state: str) -> Finding:
        """Return the equation of one state, with its own constants.

        Raises:
            DataError: if no state has this name.
        """
        names, inside = self.law.skeleton.shown_states, self.law.states
        if state not in self.states and (len(inside) > 1 or state != inside[0]):
            raise DataError(f"no state is called {state!r}; the states are {', '.join(self.states)}")
        number = names.index(state) if state in names else inside.index(state)
        return self if self.states == (names[number],) else Finding(self.candidate, number, self.units)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the equation of each state as text."""
        return self._of_state(self.law.lines(4))

    def named_lines(self) -> list[str]:
        """Return the equation of each state with a letter for each constant that several share, and these.

        Constants that the user named stand by their names. Without any they are those of `lines`.
        """
        if self.law.skeleton.parameters:
            return [*self._of_state(lines_with_names(self.law)), *self.functions.values()]
        shared = self.shared
        if not shared:
            return self.lines()
        used = [constant for constant in shared if {*constant.equations} & {*self.states}]
        return [*self._of_state(lines_with_letters(self.law)), *map(shared_words, used)]

    def lines_per_run(self) -> list[str]:
        """Return the equation of each state with a letter for each constant that each run has for itself."""
        if self.law.skeleton.parameters:
            return self.named_lines()
        return self._of_state(lines_per_run(self.candidate))

    @property
    def functions(self) -> dict[str, str]:
        """What was found for each unknown function of the frame, as text such as f(u') = 0.2*u'."""
        return functions_found(self.law)

    def __repr__(self) -> str:
        return f"<{'; '.join(self.lines())}>"

    def latex(self) -> str:
        """Return the equation in LaTeX; of several states, an aligned block."""
        if self.state is None:
            return self.law.latex()
        return self.law.equations[self.state].latex(names=self.law.skeleton.names(self.state))

    def sympy(self) -> object:
        """Return the equation as a SymPy `Eq` in u(t) and its derivatives; of several states, a list."""
        found = self.law.sympy()
        return found[self.state] if isinstance(found, list) and self.state is not None else found

    def rhs(self) -> str | dict[str, str]:
        """Return what the highest derivative equals; of several states, by their names."""
        skeleton = self.law.skeleton
        found = [e.rhs(names=skeleton.names(i)) for i, e in enumerate(self.law.equations)]
        chosen = self._of_state(found)
        return chosen[0] if len(chosen) == 1 else dict(zip(self.states, chosen, strict=True))

    def _of_state(self, lines: list[str]) -> list[str]:
        return lines if self.state is None else [lines[self.state]]

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The constants in the scale of the text, with their standard errors; each shared one once.

        Named ones come as they were named.
        """
        return constants_of(self.candidate, self.state, self.units)

    @cached_property
    def covariance(self) -> Float:
        """The covariance of `constants`, in their order and scale."""
        return covariance_of(self.candidate, self.state)

    @property
    def shared(self) -> list[Constant]:
        """The constants without a name that stand in several equations, by letters."""
        return shared_constants(self.candidate)

    @cached_property
    def per_run(self) -> tuple[Constant, ...]:
        """The constants that each run has for itself: mean over the runs, spread, and those of each run."""
        return constants_per_run(self.candidate, self.units)

    @property
    def of_all_runs(self) -> list[Constant]:
        """The constants that all runs have in common, as the law is written."""
        individual = {constant.index for constant in self.per_run}
        return [constant for constant in self.constants if constant.index not in individual]

    @cached_property
    def natural(self) -> tuple[Constant, ...]:
        """The constants of the forms that people use, such as r and K of r*u*(1 - u/K), of the whole law."""
        names = self.law.skeleton.called
        units = {shown_name(column, names): unit for column, unit in self.units.items()}
        return natural_constants(self.law, self.candidate.covariance, units)

    @cached_property
    def potential(self) -> str | None:
        """V(u) of u'' = -V'(u) as text, up to a constant; None without one, or without a simple formula."""
        return potential_text(self.law)


@dataclass(frozen=True, repr=False)
class Discovery:
    """The equation found, its rivals, the data and the settings."""

    candidates: Sequence[Candidate]  # the best first; a table where they are shown
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
        laws = with_called(self.candidates, self.prepared.dataset)
        object.__setattr__(self, "candidates", Candidates(laws, self.candidate_rows))

    @property
    def order(self) -> Sequence[Candidate]:
        """The old name of `candidates`."""
        warnings.warn("Discovery.order is now Discovery.candidates", DeprecationWarning, stacklevel=2)
        return self.candidates

    @property
    def n_solved(self) -> int:
        """The number of equations that were solved along the data."""
        return self.solved or len(self.candidates)

    @cached_property
    def equation(self) -> Finding:
        """The equation that is named: by the criterion, in its likeliest form, or by what was held back."""
        return Finding(self.candidates[0], units=column_units(self.prepared.dataset))

    @cached_property
    def predictable(self) -> float | None:
        """For how long records can be forecast beyond their ends; inf if as long as they are."""
        return forecast_horizon(self.candidates[0], self.prepared, self.settings.shooting)

    @cached_property
    def intervals(self) -> list[Constant]:
        """The named constants whose error bars mislead, with intervals: lopsided, or open as K > 800."""
        constants = self.equation.constants
        return with_intervals(constants, self.candidates[0], self.prepared, self.settings)

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
        found = quality_of(self.candidates[0], self.prepared, supported=self.supported)
        return replace(found, surpassed=bool(self.causes))

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
        """The front of accuracy against complexity and the near ties, each with its misfit.

        A law of the front whose solution ends within the data is left out.
        """
        near = {id(c) for c in [self.candidates[0], *self.assessment.near]}
        close = near | {id(c) for c in front(self.candidates)}
        written: dict[str, Candidate] = {}  # a term that never acts is not written: of two alike the better
        for c in self.candidates:
            if id(c) in close:
                written.setdefault(str(c.equation), c)
        rows = [
            (c, self.quality.misfit if c is self.candidates[0] else misfit_of(c, self.prepared, self.noise))
            for c in written.values()
        ]
        return [(c, misfit) for c, misfit in rows if id(c) in near or np.isfinite(misfit)]

    @cached_property
    def equations(self) -> pd.DataFrame:
        """The front of accuracy against complexity and the near ties, the best first."""
        return table_of(self.equation_rows)

    @cached_property
    def equation_rows(self) -> list[dict[str, object]]:
        """The rows of `equations`, without pandas.

        The probability is that if one of the candidates is right, NaN where none explains the data.
        """
        chances = self._chances()
        near = {id(c) for c in self.assessment.near}
        on_front = {id(c) for c in front(self.candidates)}
        least = min(c.criterion for c in self.candidates)
        rows: list[dict[str, object]] = []
        for c, misfit in self.shown:
            finding = Finding(c)
            why = "best" if c is self.candidates[0] else ("near tie" if id(c) in near else "front")
            rows.append(
                {
                    "equation": "; ".join(finding.lines()),
                    "probability": chances[id(c)],
                    "why": why + (", front" if id(c) in on_front and why != "front" else ""),
                    "rms": misfit,
                    "complexity": c.complexity,
                    "criterion": c.criterion - least,
                    "constants": [constant.value for constant in finding.constants],
                    "errors": [constant.error for constant in finding.constants],
                }
            )
        return rows

    def candidate_rows(self) -> list[dict[str, object]]:
        """Return the rows of the table of all candidates."""
        chances, least = self._chances(), min(c.criterion for c in self.candidates)
        noise = self.quality.misfit / self.candidates[0].rms  # from that of smoothing to that of residuals
        rows: list[dict[str, object]] = []
        for c in self.candidates:
            test = forecast_of(c, self.prepared, self.noise)
            rows.append(
                {
                    "law": "; ".join(Finding(c).lines()),
                    "complexity": c.complexity,
                    "misfit": c.rms * noise,
                    "criterion": c.criterion - least,
                    "probability": chances[id(c)],
                    **({} if test is None else {"held back": test.misfit}),
                }
            )
        return rows

    def _chances(self) -> dict[int, float]:
        """Return the probability of each candidate if one is right; NaN where none explains the data."""
        if self.assessment.probability is None:
            return dict.fromkeys(map(id, self.candidates), np.nan)
        config, floor = self.settings.selection, self.prepared.floor
        found = probabilities(self.candidates, config, floor).tolist()
        return {id(c): p for c, p in zip(self.candidates, found, strict=True)}

    @property
    def run_rows(self) -> list[dict[str, object]]:
        """The rows of `individuals`, without pandas."""
        dataset = self.prepared.dataset
        rows: list[dict[str, object]] = []
        for i in range(len(dataset.runs)):
            row: dict[str, object] = {"run": dataset.name_of(i)}
            for constant in self.equation.per_run:
                value, error = constant.runs[i]
                row |= {constant.name: value, f"{constant.name} error": error}
            rows.append(row)
        return rows

    @property
    def population_rows(self) -> list[dict[str, object]]:
        """The rows of `population`, without pandas, with units."""
        return [
            {"constant": c.name, "mean": c.value, "error": c.error, "spread": c.spread, "unit": c.unit}
            for c in self.equation.per_run
        ]

    @cached_property
    def individuals(self) -> pd.DataFrame:
        """The constants that each run has for itself, with standard errors, a row for each run.

        They are called as in `equation.lines_per_run()`; without such constants the table has no columns.
        """
        return table_of(self.run_rows).set_index("run")

    @cached_property
    def population(self) -> pd.DataFrame:
        """Mean of each of these constants with its standard error, and their standard deviation.

        The deviation is that of the individuals: the errors of their estimates are taken out.
        """
        return table_of(self.population_rows, ["constant", "mean", "error", "spread"]).set_index("constant")

    def simulate(
        self,
        t: ArrayLike | None = None,
        initial: Start | None = None,
        force: Forces | None = None,
        *,
        run: int | str = 0,
        doses: object = None,
    ) -> Solution:
        """Solve the equation found; by default over a run of the data, from its initial values.

        Args:
            t: increasing times, also beyond the data.
            initial: values at t[0]; by default the solution starts where the run does. Of several states in
                their order, or by their names.
            force: the known input, if not that of the run: formula, callable, samples at `t`, or a pair; of
                several inputs by their names.
            run: number or name; where runs have constants of their own, those of this one are taken.
            doses: rows (state, time, amount), with a duration for infusions; by default those of the run.

        Raises:
            DataError: if new times need a force that is not given.
        """
        scenario = self._scenario(t, initial, force, run, doses)
        found = simulate(self.candidates[0], self.prepared, scenario)
        return replace(found, states=self.equation.states)

    def predict(
        self,
        t: ArrayLike,
        initial: Start | None = None,
        force: Forces | None = None,
        *,
        run: int | str = 0,
        doses: object = None,
        level: float = 0.95,
    ) -> Prediction:
        """Return the solution at `t`, also beyond the data, with a band of uncertainty; see `simulate`.

        The band comes from the covariance of constants and initial values and from the equations that
        these data cannot tell apart.

        Raises:
            DataError: if new times need a force that is not given.
            ConfigError: if the level is no probability.
        """
        scenario = self._scenario(t, initial, force, run, doses)
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
        self,
        t: ArrayLike | None,
        initial: Start | None,
        force: Forces | None,
        run: int | str,
        doses: object = None,
    ) -> Scenario:
        orders = self.candidates[0].equation.skeleton.orders
        start, forces = self._by_columns(initial), self._by_columns(force)
        found = make_scenario(self.prepared, t, start, forces, run, orders)
        if doses is None:
            return found
        return replace(found, doses=make_doses(doses, self.equation.states, ""))

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

    def linearise(self, u: Place | None = None, *, force: ConstantForce = 0.0) -> Linear:
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
        """Return a program that simulates the equation: python, c, julia, matlab, modelica, r, rxode2, sbml.

        Args:
            run: number or name of the run to simulate; where runs have constants of their own, the mean of
                the population is taken without it.
        """
        from gode.report.languages import code

        return code(self, language, run=run)

    def save_petab(self, folder: str | PathLike[str], *, run: int | str | None = None) -> list[Path]:
        """Write the law and the data as a PEtab problem, of one run or of all, and return its files."""
        from gode.report.petab import save_petab

        return save_petab(self, folder, run)

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

    def _repr_mimebundle_(self, **asked: object) -> dict[str, object]:
        """Return the page as a widget in a notebook that has them; the other forms stand beside it."""
        from gode.report.widget import has_widgets, widget_view

        if "ipykernel" not in sys.modules or not has_widgets():
            return {}
        return widget_view(self)
