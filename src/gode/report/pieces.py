"""Pieces of programs that the languages share: lists, tables, parameters, and parts from templates."""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from string import Template

import numpy as np

from gode.arrays import Float
from gode.equation import Node
from gode.report.program import Known, Parameter, Program

LINE = 100  # characters of a table's row


def piece(name: str, fields: Mapping[str, str]) -> str:
    """Return a template of a program, or of a part of one, with its fields filled in."""
    template = files("gode.report") / "templates" / f"{name}.txt"
    return Template(template.read_text(encoding="utf-8")).substitute(fields)


def function_name(known: Known) -> str:
    """Return what an input is called in a program."""
    return "force" if known.name == "F" else "input_" + "".join(c if c.isascii() else "_" for c in known.name)


def formulas(program: Program) -> list[Node]:
    """Return the inputs that are formulas."""
    return [known.formula for known in program.inputs if known.formula is not None]


def parameter_lines(parameters: Sequence[Parameter], form: str, number: Callable[[float], str]) -> str:
    """Return the constants, one to a line, each with its error."""
    errors = [f"{p.error:.2g}" if np.isfinite(p.error) else "unknown" for p in parameters]
    return "\n".join(form.format(p.name, number(p.value), e) for p, e in zip(parameters, errors, strict=True))


def number_list(values: Float, brackets: str, indent: int = 4, end: str = "") -> str:
    """Return numbers between brackets, as a list over as many lines as it takes."""
    lines, line = [], ""
    for text in (repr(float(x)) for x in values):
        if line and len(line) + len(text) > LINE:
            lines.append(line.rstrip() + end)
            line = ""
        line += f"{text}, "
    lines.append(line.removesuffix(", "))
    return brackets[0] + ("\n" + " " * indent).join(lines) + brackets[1]


def number_rows(table: Float, brackets: str, indent: int = 4) -> str:
    """Return the rows of a table, each between brackets."""
    rows = [brackets[0] + ", ".join(repr(float(x)) for x in row) + brackets[1] for row in np.asarray(table)]
    return ",\n".join(" " * indent + row for row in rows)


def table_fields(known: Known, brackets: str, rows: str, indent: int = 4) -> dict[str, str]:
    """Return the fields of a template that looks an input up in a table."""
    return {
        "name": function_name(known),
        "known": known.name,
        "n": str(len(known.knots)),
        "last": str(len(known.knots) - 1),
        "knots": number_list(known.knots, brackets, indent),
        "pieces": number_rows(known.pieces, rows, indent),
    }
