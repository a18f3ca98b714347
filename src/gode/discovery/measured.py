"""Units of the constants of a law, from those of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gode.discovery.named import Constant
from gode.equation import Law, Node
from gode.equation.dimensions import Inference, UnitConflict, columns_of_view, infer_units, relabelled
from gode.units import Unit


def with_units(constants: Sequence[Constant], law: Law, columns: Mapping[str, Unit]) -> tuple[Constant, ...]:
    """Return named constants with their units."""
    found = _inferred(law, columns)
    if found is None:
        return tuple(constants)
    names = [parameter.name for parameter in law.skeleton.parameters]
    return tuple(c._replace(unit=_text(found.constant(names.index(c.name)))) for c in constants)


def units_of(numbers: Sequence[tuple[int, Node, str]], law: Law, columns: Mapping[str, Unit]) -> list[str]:
    """Return the unit of each number of the equations as they are written.

    Args:
        numbers: of each, its equation, the tree that it multiplies and what the equation is solved for; or
            itself, if it stands inside.
    """
    found = _inferred(law, columns)
    if found is None:
        return [""] * len(numbers)
    out = []
    for own, body, left in numbers:
        found.columns = columns_of_view(columns, law.skeleton.names(own))
        unit = found.value(relabelled(law.skeleton, own, body))
        if left:
            whole = found.columns.get(left)
            unit = None if unit is None or whole is None else whole / unit
        out.append(_text(unit))
    return out


def _inferred(law: Law, columns: Mapping[str, Unit]) -> Inference | None:
    """Return what the columns say of the units of constants, None if nothing, or where units are mixed up."""
    try:
        return infer_units(law.skeleton, columns) if columns else None
    except UnitConflict:
        return None


def _text(unit: Unit | None) -> str:
    return "" if unit is None else str(unit)
