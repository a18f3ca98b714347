"""Units of the constants of a law, from those of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gode.discovery.named import Constant
from gode.equation import Law, Node
from gode.equation.dimensions import Inference, UnitConflict, columns_of_view, infer_units, relabelled
from gode.units import Unit, written

UNKNOWN = "?"  # begins the symbol that stands for the unit of a column without one


def with_units(constants: Sequence[Constant], law: Law, columns: Mapping[str, Unit]) -> tuple[Constant, ...]:
    """Return named constants with their units."""
    units = free_units(law, columns)
    names = [parameter.name for parameter in law.skeleton.parameters]
    return tuple(c._replace(unit=units[names.index(c.name)]) for c in constants)


def free_units(law: Law, columns: Mapping[str, Unit]) -> list[str]:
    """Return the unit of each free constant of a law, empty where it is not known."""
    found, known = _inferred(law, columns)
    return ["" if found is None else _text(found.constant(i), known) for i in range(law.skeleton.n_constants)]


def units_of(numbers: Sequence[tuple[int, Node, str]], law: Law, columns: Mapping[str, Unit]) -> list[str]:
    """Return the unit of each number of the equations as they are written.

    Args:
        numbers: of each, its equation, the tree that it multiplies and what the equation is solved for; or
            itself, if it stands inside.
    """
    found, columns = _inferred(law, columns)
    if found is None:
        return [""] * len(numbers)
    out = []
    for own, body, left in numbers:
        found.columns = columns_of_view(columns, law.skeleton.columns(own))
        unit = found.value(relabelled(law.skeleton, own, body))
        if left:
            whole = found.columns.get(left)
            unit = None if unit is None or whole is None else whole / unit
        out.append(_text(unit, columns))
    return out


def _inferred(law: Law, columns: Mapping[str, Unit]) -> tuple[Inference | None, Mapping[str, Unit]]:
    """Return what the columns say of the units of constants, None if nothing, or where units are mixed up.

    A rate is 1/h, whatever the population is counted in: a column without a unit has one of its own, if that
    agrees with the law.
    """
    for known in (_completed(law, columns), columns) if columns else ():
        with suppress(UnitConflict):
            return infer_units(law.skeleton, known), known
    return None, columns


def _completed(law: Law, columns: Mapping[str, Unit]) -> dict[str, Unit]:
    """Return the units of all columns, those that are not known as symbols of their own."""
    names = ("t", *law.states, *law.skeleton.inputs)
    found = {name: columns.get(name, Unit({UNKNOWN + name: 1.0})) for name in names}
    slopes = {s + "'" * k: found[s] / found["t"] ** k for s in law.states for k in (1, 2)}
    return {**found, **slopes, **columns}


def _text(unit: Unit | None, columns: Mapping[str, Unit]) -> str:
    told = unit is not None and not any(symbol.startswith(UNKNOWN) for symbol in unit.powers)
    return written(unit, columns.values()) if unit is not None and told else ""
