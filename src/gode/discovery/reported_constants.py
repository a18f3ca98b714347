"""The constants of a fitted law: values with standard errors, names, units, and where they stand."""

from __future__ import annotations  # help() then shows types by their names

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Found, Law, Skeleton, Term
from gode.equation.dimensions import Inference, UnitConflict, columns_of_view, infer_units, relabelled
from gode.equation.parse import HOLE, UNNAMED
from gode.equation.printer import display_order, rounded, to_text
from gode.equation.system import make_law
from gode.equation.terms import has_pivot_one, linear_terms
from gode.equation.tree import Node, const, constants_in, mul, num, renamed, replace_constants, var
from gode.fitting.population import NORMAL_95, population_of
from gode.selection import Candidate
from gode.units import Unit, written

INSIDE = "inside a function"
UNDETERMINED = "not determined by these data"
VAGUE = 1e3  # A number whose relative standard error is larger is not determined by the data.
STEP = 1e-6  # Derivatives by the free constants are differences over this relative step.
UNKNOWN_UNIT = "?"  # Prefix of the placeholder unit of a column whose unit is unknown.
LETTERS = "abcdghkmpqrsw"  # For constants without a name; others usually mean something else.
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


@dataclass(frozen=True)
class Constant:
    """A constant of a law: a number of the equation as it is written, or one that follows from several.

    It unpacks into its value, its standard error and its place: what it multiplies, and in which equation of
    a system, or the terms in which it stands. `name` is empty where it has none, `unit` where the units of
    the columns do not tell it.
    """

    value: float
    error: float
    place: str
    name: str = ""
    unit: str = ""
    meaning: str = field(default="", repr=False)  # What people call it, such as growth rate.
    index: int = field(default=-1, repr=False)  # Among the free constants; -1 if several are behind it.
    equations: tuple[str, ...] = field(default=(), repr=False)  # The states in whose equations it stands.
    interval: tuple[float, float] | None = field(default=None, repr=False)  # From the profile likelihood.
    runs: tuple[tuple[float, float], ...] = field(default=(), repr=False)  # Value and error in each run.
    spread: float = field(default=0.0, repr=False)  # Standard deviation between runs, without their errors.
    vague: float = field(default=VAGUE, repr=False)  # Relative error beyond which it is not determined.

    def __iter__(self) -> Iterator[float | str]:
        """Yield value, standard error and place."""
        return iter((self.value, self.error, self.place))

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        name = self.name or self.place
        if self.interval is None:
            return f"{name} = {with_error(self.value, NORMAL_95 * self.error)}{unit}"
        low, high = (f"{x:.3g}{unit}" for x in self.interval)
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{name} is {UNDETERMINED}"
        if math.isinf(self.high):
            return f"{name} > {low}"
        if math.isinf(self.low):
            return f"{name} < {high}"
        return f"{name} = {self.value:.4g}, between {self.low:.3g} and {high}"

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return self.value - NORMAL_95 * self.error if self.interval is None else self.interval[0]

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return self.value + NORMAL_95 * self.error if self.interval is None else self.interval[1]

    @property
    def determined(self) -> bool:
        """Whether the error says anything; that of a constant next to zero does."""
        return not self.error > self.vague * abs(self.value) > 0

    @property
    def label(self) -> str:
        """Its name with its unit, if that is known."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def with_error(value: float, half: float) -> str:
    """Return a number to the second digit of its error, as everywhere in an output; alone without one."""
    value += 0.0  # -0.0 is 0
    if not math.isfinite(half) or half <= 0:
        return f"{value:.4g}"
    digits = math.floor(math.log10(half)) - 1  # decimal place of the second digit of the error
    if -7 <= digits <= 4:
        places_shown = max(-digits, 0)
        return f"{value:.{places_shown}f} ± {half:.{places_shown}f}"
    return f"{value:.4g} ± {half:.2g}"


def constants_of(
    candidate: Candidate, state_index: int | None, units: Mapping[str, Unit]
) -> tuple[Constant, ...]:
    """Return the constants of a law, or of the equation of one state, with their standard errors.

    Constants that the user named come by their names. Others are the numbers of the equations as they are
    written, one that several equations share once.

    Args:
        units: of the columns, where they are known.
    """
    law = candidate.equation
    inferred = UnitsOfConstants(law, units)
    errors = np.sqrt(np.maximum(np.diag(covariance_of(candidate, state_index)), 0.0))
    if law.skeleton.parameters:
        found = _named(law, state_index, inferred)
    else:
        numbers = _numbers(law, state_index, inferred)
        groups = [[numbers[i] for i in same] for same in _groups(numbers)]
        of_several = len(_chosen(law, state_index)) > 1
        found = [_merged(same, law) if of_several else same[0] for same in groups]
    return tuple(replace(c, error=float(error)) for c, error in zip(found, errors, strict=True))


def covariance_of(candidate: Candidate, state_index: int | None) -> Float:
    """Return the covariance of `constants_of`, in their order and scale (delta method)."""
    law = candidate.equation
    if law.skeleton.parameters:
        chosen = _free_constants(law, state_index)
        return np.asarray(candidate.covariance[np.ix_(chosen, chosen)])
    first = [same[0] for same in _groups(_numbers(law, state_index, None))]

    def values(other: Law) -> Float:
        return np.array([number.value for number in _numbers(other, state_index, None)])[first]

    slopes = slopes_of(values, law)
    return np.asarray(slopes @ candidate.covariance @ slopes.T)


def slopes_of(values: Callable[[Law], Float], law: Law) -> Float:
    """Return the derivatives (values, constants) of what follows from a law by its free constants."""
    at_law, c = values(law), np.array(law.constants)
    slopes = np.zeros((len(at_law), len(c)))
    for i in range(len(c)):
        moved = c.copy()
        moved[i] += STEP * (abs(c[i]) or 1.0)
        slopes[:, i] = (values(make_law(law.skeleton, moved)) - at_law) / (moved[i] - c[i])
    return slopes


def errors_of(slopes: Float, covariance: Float) -> Float:
    """Return the standard errors (values,) of what has these derivatives by numbers of this covariance."""
    with np.errstate(over="ignore", invalid="ignore"):
        variances = np.einsum("ij,jk,ik->i", slopes, covariance, slopes)
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def _free_constants(law: Law, state_index: int | None) -> list[int]:
    """Return the numbers of the named constants of a law, or of those in the equation of one state."""
    skeleton = law.skeleton
    parts = [skeleton.parts[i] for i in _chosen(law, state_index)]
    here = {parameter.name for part in parts for parameter in part.parameters}
    return [i for i, parameter in enumerate(skeleton.parameters) if parameter.name in here]


def _named(law: Law, state_index: int | None, units: UnitsOfConstants) -> list[Constant]:
    """Return the constants that the user named, or that belong to an unknown function, without errors."""
    places = _places_of_unnamed(law)
    for function in law.skeleton.functions:
        for term in linear_terms(function.tree):
            inner = constants_in(term.body)
            places |= dict.fromkeys(inner, f"inside {function.name}")
            if term.constant is not None:
                places[term.constant] = f"{to_text(_displayed(law, function, term.body))} in {function.name}"
    found = []
    for i in _free_constants(law, state_index):
        name = law.skeleton.parameters[i].name
        value, place = float(law.constants[i]), places.get(i, name)
        name = "" if is_unnamed(name) and place != name else name
        found.append(Constant(value, math.nan, place, name, units.of_free(i), index=i))
    return found


def _places_of_unnamed(law: Law) -> dict[int, str]:
    """Return the terms in which constants without a name are factors, of a law in which others have names."""
    places: dict[int, str] = {}
    skeleton = law.skeleton
    for index, (part, first) in enumerate(zip(skeleton.parts, skeleton.offsets, strict=False)):
        for term in linear_terms(part.normal) if not part.functions else ():
            if term.constant is not None and is_unnamed(part.parameters[term.constant].name):
                body = to_text(renamed(part.named(term.body), skeleton.names(index)))
                place = int(skeleton.places[first + term.constant])
                places[place] = ", ".join(filter(None, (places.get(place), body)))
    return places


def _chosen(law: Law, state_index: int | None) -> Sequence[int]:
    """Return the numbers of the equations whose constants are told."""
    return range(len(law.equations)) if state_index is None else [state_index]


def _numbers(law: Law, state_index: int | None, units: UnitsOfConstants | None) -> list[Constant]:
    """Return the free numbers of the equations as they are written, without errors."""
    chosen = _chosen(law, state_index)
    return [number for i in chosen for number in _numbers_of_equation(law, i, units)]


def _numbers_of_equation(law: Law, state_index: int, units: UnitsOfConstants | None) -> Iterator[Constant]:
    """Yield the free numbers of one equation as it is written.

    An equation of a system is solved for its highest derivative. A single equation in which one input is a
    term is divided by the factor of that input, which stands alone on one side, as `Equation.sides` has it.
    """
    equation, names = law.equations[state_index], law.skeleton.names(state_index)
    skeleton, c = equation.skeleton, np.array(equation.constants)
    free = [index for index, _ in links_of(law)[state_index]]
    is_single = law is equation
    terms = sorted(linear_terms(skeleton.normal), key=lambda term: display_order(term.body))
    forces = [term for term in terms if is_single and term.body.value in skeleton.inputs]
    force = forces[0] if len(forces) == 1 else None
    is_solved = force is not None or has_pivot_one(skeleton.normal, skeleton.highest)
    highest = [term for term in terms if is_solved and term.body.value == skeleton.highest]
    scale = -1.0 / _factor(force, c) if force else (-1.0 if highest else 1.0)
    left_side = str(force.body.value) if force else skeleton.highest

    def number(value: float, place: str, index: int, body: Node, divides: str) -> Constant:
        unit = "" if units is None else units.of_factor(state_index, body, divides)
        state = (law.states[state_index],)
        return Constant(float(value), math.nan, place, unit=unit, index=index, equations=state)

    for term in terms:
        takes_factor_of_force = force and force.constant is not None and term in highest
        if term is force or (term.constant is None and not takes_factor_of_force):
            continue
        index = -1 if force or term.constant is None else free[term.constant]
        if index >= 0 or is_single:
            place = to_text(renamed(term.body, names))
            yield number(scale * _factor(term, c), place, index, term.body, left_side)
    linear = {term.constant for term in terms}
    for i in range(len(c)):
        if i not in linear and (free[i] >= 0 or is_single):
            yield number(c[i], INSIDE, free[i], const(i), "")


def _factor(term: Term, constants: Float) -> float:
    return term.multiplier * (1.0 if term.constant is None else float(constants[term.constant]))


def _groups(numbers: Sequence[Constant]) -> list[list[int]]:
    """Return which numbers are one constant, since equations share it; a positive one comes first."""
    groups: dict[object, list[int]] = {}
    for i, number in enumerate(numbers):
        groups.setdefault(number.index if number.index >= 0 else (i,), []).append(i)
    return [sorted(same, key=lambda i: (numbers[i].value < 0, i)) for same in groups.values()]


def _merged(numbers: Sequence[Constant], law: Law) -> Constant:
    """Return numbers of several equations that are one constant as one, with its places."""
    states = law.states
    first = numbers[0]
    ordered = sorted(numbers, key=lambda number: states.index(number.equations[0]))
    orders = dict(zip(states, law.skeleton.orders, strict=True))
    where = [number.equations[0] + "'" * orders[number.equations[0]] for number in ordered]
    if len({tuple(sorted(number.place.split("*"))) for number in numbers}) > 1:
        place = ", ".join(f"{n.place} in {name}" for n, name in zip(ordered, where, strict=True))
    else:
        names = list(dict.fromkeys(where))
        both = len(names) == len(states) == 2
        place = f"{first.place}, in {'both equations' if both else ' and '.join(names)}"
    equations = tuple(dict.fromkeys(number.equations[0] for number in ordered))
    return replace(first, place=place, equations=equations)


class UnitsOfConstants:
    """The units of the constants of a law, inferred from those of the columns; empty where not known.

    A rate is 1/h, whatever the population is counted in: a column without a unit has a placeholder, if that
    agrees with the law.
    """

    def __init__(self, law: Law, columns: Mapping[str, Unit]) -> None:
        """Infer what the columns say; nothing if there are none, or if the law mixes up their units."""
        self.law = law
        self.columns = columns
        self.inferred: Inference | None = None
        for known in (_with_placeholders(law, columns), columns) if columns else ():
            with suppress(UnitConflict):
                self.inferred = infer_units(law.skeleton, known)
                self.columns = known
                break

    def of_free(self, index: int) -> str:
        """Return the unit of a free constant."""
        return self._text(self.inferred.constant(index)) if self.inferred else ""

    def of_factor(self, state_index: int, body: Node, left_side: str) -> str:
        """Return the unit of what multiplies a tree in an equation; without a left side, of the tree."""
        if self.inferred is None:
            return ""
        skeleton = self.law.skeleton
        self.inferred.columns = columns_of_view(self.columns, skeleton.columns(state_index))
        unit = self.inferred.value(relabelled(skeleton, state_index, body))
        if left_side:
            whole = self.inferred.columns.get(left_side)
            unit = None if unit is None or whole is None else whole / unit
        return self._text(unit)

    def _text(self, unit: Unit | None) -> str:
        if unit is None or any(symbol.startswith(UNKNOWN_UNIT) for symbol in unit.powers):
            return ""
        return written(unit, self.columns.values())


def _with_placeholders(law: Law, columns: Mapping[str, Unit]) -> dict[str, Unit]:
    """Return the units of all columns, with placeholders for those that are not known."""
    names = ("t", *law.states, *law.skeleton.inputs)
    found = {name: columns.get(name, Unit({UNKNOWN_UNIT + name: 1.0})) for name in names}
    slopes = {s + "'" * k: found[s] / found["t"] ** k for s in law.states for k in (1, 2)}
    return {**found, **slopes, **columns}


def shared_constants(candidate: Candidate) -> list[Constant]:
    """Return the constants without a name that stand in several equations, by letters and without signs."""
    law, errors = candidate.equation, candidate.errors
    return [
        Constant(abs(law.constants[i]), float(errors[i]), "", letter, index=i, equations=states)
        for i, (letter, states) in _shared(law).items()
    ]


def shared_words(constant: Constant) -> str:
    """Return a constant that equations share with its 95 % error bar, and in how many it stands."""
    n = len(constant.equations)
    confidence = " at 95 %" if 0 < constant.error < math.inf else ""
    return f"{constant}{confidence} (one constant in {COUNTS.get(n, n)} equations)"


def _shared(law: Law) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return letter and states of each constant without a name that stands in several equations."""
    if law.skeleton.parameters:
        return {}
    owners: dict[int, list[str]] = {}
    for state, links in zip(law.skeleton.states, links_of(law), strict=True):
        for index in {index for index, _ in links if index >= 0}:
            owners.setdefault(index, []).append(state)
    letters = _free_letters(law)
    several = {index: tuple(names) for index, names in sorted(owners.items()) if len(names) > 1}
    return {index: (next(letters), names) for index, names in several.items()}


def links_of(law: Law) -> list[list[tuple[int, float]]]:
    """Return, for each equation, which free constant is behind each of its constants, and by what factor.

    The number of the free constant is -1 where the factor itself is the value.
    """
    skeleton, out, first = law.skeleton, [], 0
    links = [(link.place, link.factor) for link in skeleton.links]
    for part in skeleton.parts:
        last = first + part.n_constants
        out.append(links[first:last] if links else [(i, 1.0) for i in range(first, last)])
        first = last
    return out


def _free_letters(law: Law) -> Iterator[str]:
    """Yield letters that stand for nothing else in the law."""
    taken = {*law.skeleton.states, *law.skeleton.inputs, "u", "t", "F"}
    taken |= {name for i in range(len(law.skeleton.parts)) for name in law.skeleton.names(i)}
    yield from (letter for letter in LETTERS if letter not in taken)
    n = 0
    while True:
        n += 1
        if f"c{n}" not in taken:
            yield f"c{n}"


def lines_with_letters(law: Law, letters: Mapping[int, str] | None = None, digits: int = 4) -> list[str]:
    """Return the equation of each state as text, with letters in place of some free constants.

    Args:
        letters: by the numbers of the free constants; by default of those that several equations share.
    """
    if letters is None:
        letters = {index: letter for index, (letter, _) in _shared(law).items()}
    out = []
    for i, (part, links) in enumerate(zip(law.skeleton.parts, links_of(law), strict=True)):
        nodes = [_letter_or_number(law, letters, *link) for link in links]
        tree = replace_constants(part.normal, nodes.__getitem__)
        out.append(Equation(Skeleton(tree)).text(digits, law.skeleton.names(i)))
    return out


def _letter_or_number(law: Law, letters: Mapping[int, str], index: int, factor: float) -> Node:
    """Return a constant of an equation: its letter with a sign, or its number."""
    if index < 0:
        return num(factor)
    value = law.constants[index]
    if index not in letters:
        return num(factor * value)
    return mul(num(factor * (np.sign(value) or 1.0)), var(letters[index]))


def constants_per_run(candidate: Candidate, units: Mapping[str, Unit]) -> tuple[Constant, ...]:
    """Return the constants that each run has for itself, in the order of the text.

    The value is the mean of the population that the runs come from. A letter stands for the constant with the
    sign that makes the mean positive.
    """
    law, individuals = candidate.equation, candidate.own
    if individuals is None:
        return ()
    parameters = law.skeleton.parameters
    if parameters:
        order = list(individuals.places)
        names = [parameters[i].name for i in order]
        signs = np.ones(len(order))
    else:
        order = _in_order_of_text(law, individuals.places)
        taken = {letter for letter, _ in _shared(law).values()}
        letters = (letter for letter in _free_letters(law) if letter not in taken)
        names = [next(letters) for _ in order]
        signs = np.array([float(np.sign(law.constants[i]) or 1.0) for i in order])
    columns = [individuals.places.index(i) for i in order]
    values = individuals.values[:, columns] * signs
    errors = individuals.errors[:, columns]
    within = individuals.covariances[np.ix_(range(len(values)), columns, columns)]
    population = population_of(values, within * np.outer(signs, signs))
    inferred = UnitsOfConstants(law, units)
    return tuple(
        Constant(
            float(population.mean[k]),
            float(population.errors[k]),
            names[k],
            names[k],
            inferred.of_free(order[k]),
            index=order[k],
            runs=tuple(zip(values[:, k].tolist(), errors[:, k].tolist(), strict=True)),
            spread=float(population.deviations[k]),
        )
        for k in range(len(order))
    )


def _in_order_of_text(law: Law, indices: Sequence[int]) -> list[int]:
    """Return free constants in the order in which they are written."""
    marks = {i: f"own{i}_" for i in indices}
    text = "\n".join(lines_with_letters(law, marks))
    return sorted(indices, key=lambda i: text.find(marks[i]))


def lines_per_run(candidate: Candidate) -> list[str]:
    """Return the equation of each state with a letter for each constant that each run has for itself."""
    law = candidate.equation
    letters = {index: letter for index, (letter, _) in _shared(law).items()}
    letters |= {c.index: c.name for c in constants_per_run(candidate, {})}
    return [
        " ".join(_letters_first(word, {*letters.values()}) for word in line.split(" "))
        for line in lines_with_letters(law, letters)
    ]


def _letters_first(word: str, letters: set[str]) -> str:
    """Return a product with its letters in front, as b*u^2; anything else as it is."""
    if "(" in word:
        return word
    sign, body = ("-", word[1:]) if word.startswith("-") and len(word) > 1 else ("", word)
    return sign + "*".join(sorted(body.split("*"), key=lambda factor: factor not in letters))


def lines_with_names(law: Law) -> list[str]:
    """Return the equation of each state with the names that the user gave its constants."""
    skeleton = law.skeleton
    return [part.text(skeleton.names(i)) for i, part in enumerate(skeleton.parts)]


def functions_found(law: Law) -> dict[str, str]:
    """Return what was found for each unknown function, as text with its name and arguments."""
    texts = {}
    for function in law.skeleton.functions:
        tree = replace_constants(function.tree, lambda i: num(law.constants[i]))
        text = to_text(_displayed(law, function, tree), rounded(4))
        arguments = [to_text(_displayed(law, function, var(name))) for name in function.arguments]
        left = "?" if function.name.startswith(HOLE) else f"{function.name}({', '.join(arguments)})"
        texts[function.name] = f"{left} = {text}"
    return texts


def _displayed(law: Law, function: Found, tree: Node) -> Node:
    """Return a tree over the arguments of an unknown function in the names of the columns."""
    home = next(
        i for i, part in enumerate(law.skeleton.parts) if function.name in [f.name for f in part.functions]
    )
    return renamed(tree, law.skeleton.names(home))


def is_unnamed(name: str) -> bool:
    """Tell whether a constant was written C."""
    return not name or UNNAMED.fullmatch(name) is not None
