"""The individuals behind a law: the constants of each run by letter, and the population of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.discovery.finding import Finding
from gode.discovery.measured import free_units
from gode.discovery.named import Constant
from gode.discovery.shared import Named, letters_for, named_lines, shared_constants
from gode.fitting.individuals import Population, population_of
from gode.selection import Candidate
from gode.units import Unit


@dataclass(frozen=True)
class Own:
    """A constant that each run has for itself: its letter, its place among the free ones, and its sign."""

    name: str
    place: int
    sign: float  # by which the letter stands for the constant, so that it is mostly positive
    unit: str = ""

    @property
    def label(self) -> str:
        """Its name with its unit, if that is known."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


@dataclass(frozen=True)
class Individuality:
    """Which constants of a law belong to the runs, what they are, and how they spread."""

    candidate: Candidate
    units: Mapping[str, Unit] = field(default_factory=dict)  # of the columns, where they are known

    @cached_property
    def constants(self) -> tuple[Own, ...]:
        """The constants that each run has for itself, in the order of the text."""
        law, own = self.candidate.equation, self.candidate.own
        if own is None:
            return ()
        units = free_units(law, self.units)
        if law.skeleton.parameters:
            return tuple(Own(law.skeleton.parameters[i].name, i, 1.0, units[i]) for i in own.places)
        signs = {i: float(np.sign(law.constants[i]) or 1.0) for i in own.places}
        taken = {each.name for each in shared_constants(law)}
        letters = (letter for letter in letters_for(law) if letter not in taken)
        return tuple(Own(next(letters), i, signs[i], units[i]) for i in self._in_text(own.places))

    @property
    def shared(self) -> list[Constant]:
        """The constants that all runs have in common, as the law is written."""
        own, finding = self.candidate.own, Finding(self.candidate, units=self.units)
        places = () if own is None else own.places
        return [c for c, i in zip(finding.constants, finding.places, strict=True) if i not in places]

    def _in_text(self, places: tuple[int, ...]) -> list[int]:
        """Return the places in the order in which their constants are written."""
        law = self.candidate.equation
        marks = {i: Named(f"own{i}_", i, 0.0, ()) for i in places}
        text = "\n".join(named_lines(law, named=marks))
        return sorted(places, key=lambda i: text.find(f"own{i}_"))

    @property
    def _columns(self) -> list[int]:
        """The place of each constant among those of each run."""
        assert self.candidate.own is not None
        return [self.candidate.own.places.index(c.place) for c in self.constants]

    @property
    def lines(self) -> list[str]:
        """The equation of each state with a letter for each constant of the runs."""
        law = self.candidate.equation
        if law.skeleton.parameters:
            return Finding(self.candidate).named_lines()
        named = {each.place: each for each in shared_constants(law)}
        named |= {c.place: Named(c.name, c.place, abs(law.constants[c.place]), ()) for c in self.constants}
        letters = {each.name for each in named.values()}
        return [
            " ".join(_in_front(word, letters) for word in line.split(" "))
            for line in named_lines(law, named=named)
        ]

    @property
    def values(self) -> Float:
        """The constants (runs, letters)."""
        assert self.candidate.own is not None
        return np.asarray(self.candidate.own.values[:, self._columns] * self._signs)

    @property
    def errors(self) -> Float:
        """Their standard errors (runs, letters)."""
        assert self.candidate.own is not None
        return self.candidate.own.errors[:, self._columns]

    @cached_property
    def population(self) -> Population:
        """Mean and spread of the constants over the runs."""
        own = self.candidate.own
        assert own is not None
        within = own.covariances[np.ix_(range(len(own.values)), self._columns, self._columns)]
        return population_of(self.values, within * np.outer(self._signs, self._signs))

    @property
    def _signs(self) -> Float:
        return np.array([c.sign for c in self.constants])

    def rows(self, names: list[str]) -> list[dict[str, object]]:
        """Return a row for each run: its name, each constant and its standard error."""
        out = []
        for name, values, errors in zip(names, self.values.tolist(), self.errors.tolist(), strict=True):
            row: dict[str, object] = {"run": name}
            for own, value, error in zip(self.constants, values, errors, strict=True):
                row |= {own.name: value, f"{own.name} error": error}
            out.append(row)
        return out

    def summary(self) -> list[dict[str, object]]:
        """Return a row for each constant: mean with standard error, and standard deviation of the runs."""
        everyone = self.population
        return [
            {
                "constant": own.name,
                "mean": float(mean),
                "error": float(error),
                "spread": float(deviation),
                "unit": own.unit,
            }
            for own, mean, error, deviation in zip(
                self.constants, everyone.mean, everyone.errors, everyone.deviations, strict=True
            )
        ]

    def told(self) -> list[str]:
        """Return mean and spread of each constant in words, at 95 % confidence."""
        everyone = self.population
        rows = zip(self.constants, everyone.mean, everyone.errors, everyone.deviations, strict=True)
        return [
            f"{own.name} = {mean:.4g} ± {1.96 * error:.2g}{own.unit and ' ' + own.unit} on average, "
            f"{deviation:.2g} between runs"
            for own, mean, error, deviation in rows
        ]


def _in_front(word: str, letters: set[str]) -> str:
    """Return a product with its letters in front, as b*u^2; anything else as it is."""
    if "(" in word:
        return word
    sign, body = ("-", word[1:]) if word.startswith("-") and len(word) > 1 else ("", word)
    return sign + "*".join(sorted(body.split("*"), key=lambda factor: factor not in letters))
