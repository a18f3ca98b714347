"""PEtab problems (version 1) as arguments of fit: an SBML model, readings, conditions, observables, bounds.

Each condition that was measured is a run. What a problem has and a fit has not (a steady state as the start,
events, noise with constants of its own) is refused or told. Reactions and rate rules of the model become the
rates of states. The libraries that read SBML and YAML are an extra.
"""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gode.arrays import Float
from gode.data.states import TAKEN
from gode.equation import parse_tree
from gode.equation.tree import number
from gode.errors import FileError, GodeError
from gode.files import read_text
from gode.identifiers import identifiers
from gode.options.table import FitOptions

NAME = re.compile(r"[A-Za-z_]\w*")
REFUSED = ("piecewise", "delay", "rateOf", "ceil", "floor", "factorial")  # what no equation here can hold
RENAMED = {"ln": "log", "time": "t", "arctan": "atan"}
DEPTH = 20  # so many assignment rules may stand in each other


@dataclass(frozen=True)
class Model:
    """The rate and the initial value of each state as texts, and the values of constants, by their ids."""

    rates: Mapping[str, str]
    initial: Mapping[str, str]
    values: Mapping[str, float]
    assigned: Mapping[str, str] = field(default_factory=dict)

    def expanded(self, text: str) -> str:
        """Return a formula in which what is assigned stands as its own formula.

        Raises:
            FileError: if it holds what no equation here can hold, or assignments that need each other.
        """
        for _ in range(DEPTH):
            new = NAME.sub(lambda m: f"({self.assigned[m[0]]})" if m[0] in self.assigned else m[0], text)
            if new == text:
                break
            text = new
        else:
            raise FileError(
                "the assignment rules of the model need each other; write them one after the other"
            )
        found = [word for word in REFUSED if word in NAME.findall(text)]
        if found:
            raise FileError(
                f"the model uses {found[0]}, which an equation here cannot hold; simplify the model"
            )
        text = re.sub(r"\blog10\(([^()]*)\)", r"(log(\1)/log(10))", text).replace("**", "^")
        return NAME.sub(lambda m: RENAMED.get(m[0], m[0]), text)


def read_sbml(text: str) -> Model:
    """Return the model of a document.

    Raises:
        FileError: if it is none, or has events or algebraic rules; or if libsbml is not installed.
    """
    try:
        import libsbml
    except ImportError:
        raise FileError("SBML needs a library more; install it by pip install 'gode-engine[petab]'") from None
    document = libsbml.readSBMLFromString(text)
    for option in ("promoteLocalParameters", "expandFunctionDefinitions"):
        wanted = libsbml.ConversionProperties()
        wanted.addOption(option, True)
        document.convert(wanted)
    model = document.getModel()
    if model is None or document.getNumErrors(libsbml.LIBSBML_SEV_ERROR):
        problem = document.getErrorLog().toString().strip().splitlines() or ["no model"]
        raise FileError(f"the model is no SBML that can be read: {problem[0]}")
    if model.getNumEvents():
        raise FileError("the model has events, which are not read; give them as doses or as a known input")
    rules = [model.getRule(i) for i in range(model.getNumRules())]
    if any(rule.isAlgebraic() for rule in rules):
        raise FileError("the model has an algebraic rule; solve it for one of its variables")

    def written(node: Any) -> str:
        return str(libsbml.formulaToL3String(node))

    found = Model(
        rates={r.getVariable(): written(r.getMath()) for r in rules if r.isRate()},
        initial={a.getSymbol(): written(a.getMath()) for a in model.getListOfInitialAssignments()},
        values=_values(model),
        assigned={r.getVariable(): written(r.getMath()) for r in rules if r.isAssignment()},
    )
    return _finished(replace(found, rates={**found.rates, **_reaction_rates(model, written)}))


def _values(model: Any) -> dict[str, float]:
    """Return the numbers that a model gives to parameters, compartments and species."""
    values = {p.getId(): p.getValue() for p in model.getListOfParameters() if p.isSetValue()}
    values |= {c.getId(): c.getSize() if c.isSetSize() else 1.0 for c in model.getListOfCompartments()}
    for species in model.getListOfSpecies():
        size = values.get(species.getCompartment(), 1.0)
        amount = species.getHasOnlySubstanceUnits()
        if species.isSetInitialConcentration():
            values[species.getId()] = species.getInitialConcentration() * (size if amount else 1.0)
        elif species.isSetInitialAmount():
            values[species.getId()] = species.getInitialAmount() / (1.0 if amount else size)
    return values


def _reaction_rates(model: Any, written: Any) -> dict[str, str]:
    """Return the rate of each species that takes part in reactions."""
    terms: dict[str, list[str]] = {}
    fixed = {s.getId() for s in model.getListOfSpecies() if s.getBoundaryCondition() or s.getConstant()}
    for reaction in model.getListOfReactions():
        speed = written(reaction.getKineticLaw().getMath())
        sides = ((reaction.getListOfReactants(), -1.0), (reaction.getListOfProducts(), 1.0))
        for side, sign in sides:
            for reference in side:
                if reference.getSpecies() not in fixed:
                    n = sign * (reference.getStoichiometry() if reference.isSetStoichiometry() else 1.0)
                    terms.setdefault(reference.getSpecies(), []).append(f"({n!r})*({speed})")
    rates = {}
    for species in model.getListOfSpecies():
        name, place = species.getId(), species.getCompartment()
        if name in terms:
            total = " + ".join(terms[name])
            rates[name] = total if species.getHasOnlySubstanceUnits() else f"({total})/{place}"
    return rates


def _finished(model: Model) -> Model:
    """Return a model whose rates and initial values are expanded; constants are no states."""
    return replace(
        model,
        rates={name: model.expanded(text) for name, text in model.rates.items()},
        initial={
            name: model.expanded(model.initial.get(name, repr(model.values.get(name, float("nan")))))
            for name in model.rates
        },
        values={name: value for name, value in model.values.items() if name not in model.rates},
    )


MAX_BYTES = 100_000_000
LOGARITHMS = {"log": ("log({})", 1.0), "log10": ("log({})/log(10)", float(np.log(10)))}
FILES = ("measurement_files", "condition_files", "observable_files")

Row = Mapping[str, str]


@dataclass(frozen=True)
class Problem:
    """What `gode.fit` needs of a problem, and what of the problem is not used."""

    equations: list[str]
    t: list[Float]
    values: list[dict[str, Float]]
    options: FitOptions
    conditions: tuple[str, ...]  # the names of the runs
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """The files of a problem."""

    model: Model
    measurements: list[Row]
    conditions: dict[str, Row]
    observables: dict[str, Row]
    parameters: dict[str, Row]

    @property
    def used(self) -> list[str]:
        """The conditions that were measured."""
        return list(dict.fromkeys(row["simulationConditionId"] for row in self.measurements))

    @property
    def free(self) -> dict[str, Row]:
        """The parameters that are estimated."""
        return {name: row for name, row in self.parameters.items() if row.get("estimate", "1") == "1"}

    @property
    def numbers(self) -> dict[str, float]:
        """The values of all constants that are not estimated."""
        given = {
            name: float(row["nominalValue"]) for name, row in self.parameters.items() if name not in self.free
        }
        return {**{n: v for n, v in self.model.values.items() if n not in self.free}, **given}


@dataclass
class Constants:
    """What stands for the constants of the model in each run: one value, an input, or one of each run."""

    aliases: dict[str, str] = field(default_factory=dict)  # of a constant that is a parameter of the table
    fixed: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, list[float]] = field(default_factory=dict)  # values that differ between the runs
    individual: dict[str, str] = field(default_factory=dict)  # with a parameter that holds one of its values


def read_problem(path: str | PathLike[str]) -> Problem:
    """Return the problem that a file of YAML names.

    Raises:
        FileError: with a sentence if a file is missing, or holds what a fit has no place for.
    """
    tables = _read(Path(path))
    _check(tables, str(path))
    words = dict.fromkeys(
        [*tables.model.rates, *tables.model.values, *tables.parameters, *tables.observables]
    )
    names = dict(zip(words, identifiers(list(words), TAKEN), strict=True))
    constants = _constants(tables)
    remarks: list[str] = []
    formulas = {name: _formula(tables, row) for name, row in tables.observables.items()}
    direct = {name: text for name, text in formulas.items() if text in tables.model.rates}
    runs = [_run(tables, condition, direct, remarks) for condition in tables.used]

    def called(text: str) -> str:
        short = NAME.sub(lambda m: constants.aliases.get(m[0], m[0]), tables.model.expanded(text))
        return NAME.sub(lambda m: names.get(m[0], m[0]), short)

    rates = {state: called(rate) for state, rate in tables.model.rates.items()}
    shown = {name: called(text) for name, text in formulas.items() if name not in direct}
    occurring = {word for text in (*rates.values(), *shown.values()) for word in NAME.findall(text)}
    varying = {*constants.inputs, *constants.individual}
    numbers = {n: v for n, v in {**tables.numbers, **constants.fixed}.items() if n not in varying}
    free = {**tables.free, **{n: tables.free[place] for n, place in constants.individual.items()}}
    options: FitOptions = {
        "fixed": {names[n]: value for n, value in numbers.items() if names[n] in occurring},
        "bounds": {names[n]: _bounds(row) for n, row in free.items() if names[n] in occurring},
        "initial": [
            {names[s]: [x] for s in tables.model.rates if (x := _initial(tables, s, c)) is not None}
            for c in tables.used
        ],
    }
    if shown:
        options["observe"] = {names[name]: text for name, text in shown.items()}
    if constants.inputs:
        options["force"] = {
            names[name]: [np.full(len(run.t), x) for run, x in zip(runs, values, strict=True)]
            for name, values in constants.inputs.items()
        }
    if constants.individual:
        options["individual"] = [names[name] for name in constants.individual]
    if all(run.errors for run in runs):
        options["sd"] = [{names[name]: row for name, row in run.errors.items()} for run in runs]
    return Problem(
        [f"{names[state]}' = {rate}" for state, rate in rates.items()],
        [run.t for run in runs],
        [{names[name]: row for name, row in run.values.items()} for run in runs],
        options,
        tuple(tables.used),
        tuple(dict.fromkeys(remarks)),
    )


def _read(path: Path) -> Tables:
    try:
        import yaml
    except ImportError:
        raise FileError(
            "a PEtab problem needs two libraries more; install them by pip install 'gode-engine[petab]'"
        ) from None
    try:
        told = yaml.safe_load(read_text(path, MAX_BYTES))
        (part,) = told["problems"]
        (model,) = part["sbml_files"]
        files = {key: list(part[key]) for key in FILES}
        parameters = told["parameter_file"]
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        raise FileError(
            f"{path} is no PEtab problem of version 1 with one model: expected parameter_file, and one entry "
            f"of problems with sbml_files, {', '.join(FILES)}"
        ) from None
    folder = path.parent
    rows = {key: [row for name in names for row in _rows(folder / name)] for key, names in files.items()}
    chosen = [parameters] if isinstance(parameters, str) else list(parameters)
    return Tables(
        read_sbml(read_text(folder / model, MAX_BYTES)),
        rows["measurement_files"],
        {row["conditionId"]: row for row in rows["condition_files"]},
        {row["observableId"]: row for row in rows["observable_files"]},
        {row["parameterId"]: row for name in chosen for row in _rows(folder / name)},
    )


def _rows(path: Path) -> list[Row]:
    lines = csv.DictReader(io.StringIO(read_text(path, MAX_BYTES)), delimiter="\t")
    return [{key: (value or "").strip() for key, value in row.items() if key} for row in lines]


def _check(tables: Tables, path: str) -> None:
    """Raise FileError if the tables do not belong together, or ask for what a fit cannot do."""
    for row in tables.measurements:
        if row["simulationConditionId"] not in tables.conditions:
            raise FileError(
                f"{path}: the condition {row['simulationConditionId']!r} of a measurement is in no table"
            )
        if row["observableId"] not in tables.observables:
            raise FileError(f"{path}: the observable {row['observableId']!r} of a measurement is in no table")
        if row.get("preequilibrationConditionId"):
            raise FileError(
                f"{path}: a run begins in a steady state, which is not possible here; leave it out"
            )
        if not np.isfinite(_number(row["time"], "time")):
            raise FileError(f"{path}: a steady state was measured, which is not possible here; leave it out")
    if not tables.measurements:
        raise FileError(f"{path}: there is no measurement")
    if not tables.model.rates:
        raise FileError(f"{path}: nothing in the model changes in time")


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FileError(f"expected a number as {what}, got {text[:40]!r}") from None


def _bounds(row: Row) -> tuple[float, float]:
    return _number(row["lowerBound"], "lowerBound"), _number(row["upperBound"], "upperBound")


def _value(tables: Tables, word: str) -> float | None:
    """Return a number, or the value of a constant that is not estimated; None for one that is."""
    if word in tables.numbers:
        return tables.numbers[word]
    return None if word in tables.free else _number(word, "a value")


def _constants(tables: Tables) -> Constants:
    """Return what stands for the constants that conditions set.

    Raises:
        FileError: if a constant is a number in some runs and estimated in others, or shared by some of them.
    """
    out = Constants()
    columns = {name for c in tables.used for name in tables.conditions[c]} - {"conditionId", "conditionName"}
    starts = {name for text in tables.model.initial.values() for name in NAME.findall(text)}
    for name in sorted(columns - {*tables.model.rates} - starts):
        cells = [tables.conditions[c].get(name, "") for c in tables.used]
        values = [_value(tables, cell) for cell in cells]
        numbers = [value for value in values if value is not None]
        if len(numbers) == len(cells):
            if len({*numbers}) > 1:
                out.inputs[name] = numbers
            else:
                out.fixed[name] = numbers[0]
        elif not numbers and len({*cells}) == 1:
            out.aliases[name] = cells[0]
        elif not numbers and len({*cells}) == len(cells):
            out.individual[name] = cells[0]
        else:
            raise FileError(
                f"{name} is shared by some conditions and not by others; give each condition a parameter of "
                "its own, or all the same"
            )
    return out


def _initial(tables: Tables, state: str, condition: str) -> float | None:
    """Return the initial value of a state in a run; None if it is estimated."""
    row = tables.conditions[condition]
    text = row.get(state) or tables.model.initial[state]
    for _ in range(2):  # A condition may name a parameter of the table.
        text = NAME.sub(lambda m: row.get(m[0]) or m[0], text)
    known = NAME.sub(lambda m: repr(tables.numbers[m[0]]) if m[0] in tables.numbers else m[0], text)
    try:
        tree = parse_tree(known)
    except GodeError:
        return None
    return number(tree) if tree.op == "num" else None


def _formula(tables: Tables, row: Row) -> str:
    """Return the formula of an observable, on the scale of its readings.

    Raises:
        FileError: if its constants differ between readings.
    """
    name = row["observableId"]
    own = {r.get("observableParameters", "") for r in tables.measurements if r["observableId"] == name}
    if len(own) > 1:
        raise FileError(
            f"the observable parameters of {name} differ between readings, which is not possible here"
        )
    words = [word for text in own for word in text.split(";") if word]
    text = row["observableFormula"]
    for i, word in enumerate(words, start=1):
        text = text.replace(f"observableParameter{i}_{name}", word)
    form = LOGARITHMS.get(row.get("observableTransformation", ""), ("{}", 1.0))[0]
    return form.format(text)


@dataclass(frozen=True)
class _Run:
    t: Float
    values: dict[str, Float]
    errors: dict[str, Float]  # empty if they are not known


def _run(tables: Tables, condition: str, direct: Mapping[str, str], remarks: list[str]) -> _Run:
    """Return the readings of a condition by the names of states or observables, repeated ones averaged.

    Time begins at zero, where the initial values hold, even if nothing was read there.
    """
    rows = [row for row in tables.measurements if row["simulationConditionId"] == condition]
    t = np.unique([0.0, *(_number(row["time"], "time") for row in rows)])
    values, errors = {}, {}
    for name, about in tables.observables.items():
        base = LOGARITHMS.get(about.get("observableTransformation", ""))
        found: list[list[float]] = [[] for _ in t]
        spread = np.ones(len(t))
        for row in rows:
            if row["observableId"] != name:
                continue
            place = int(np.searchsorted(t, float(row["time"])))
            value = _number(row["measurement"], "measurement")
            found[place].append(value if base is None else float(np.log(value)) / base[1])
            sigma = _noise(tables, about, row)
            spread[place] = np.nan if sigma is None else sigma
        n = np.array([len(own) for own in found])
        column = direct.get(name, name)
        values[column] = np.array([np.mean(own) if own else np.nan for own in found])
        errors[column] = spread / np.sqrt(np.maximum(n, 1))
    if any(np.isnan(row).any() for row in errors.values()):
        remarks.append(
            "the noise of the problem has constants of its own; it is estimated from the readings instead"
        )
        errors = {}
    return _Run(t, values, errors)


def _noise(tables: Tables, about: Row, row: Row) -> float | None:
    """Return the standard error of a reading, if it is a number."""
    text = about.get("noiseFormula", "")
    for i, word in enumerate(row.get("noiseParameters", "").split(";"), start=1):
        text = text.replace(f"noiseParameter{i}_{about['observableId']}", word)
    try:
        return _value(tables, text)
    except FileError:  # a formula
        return None
