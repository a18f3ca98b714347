"""Models in SBML as texts of equations: reactions and rate rules become the rates of states."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gode.errors import FileError

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
