"""The pieces of exported programs in C and Modelica."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gode.data import Interpolation
from gode.equation.printer import Dialect, write
from gode.equation.tree import var, variables, walk
from gode.report.dialects import (
    C_WRITES,
    MODELICA_WRITES,
    Fields,
    derivatives,
    with_inputs,
    with_more_names,
    with_point,
)
from gode.report.drives import Known
from gode.report.program import (
    ROWS,
    Program,
    function_name,
    input_formulas,
    number_list,
    number_rows,
    parameter_lines,
    piece,
    table_fields,
)


def c_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of a program in C."""
    dialect, own = with_inputs(C_WRITES, program, "{}"), [function_name(known) for known in program.inputs]
    names = [*own, *program.late]
    used = {name for tree in program.trees for name in variables(tree)}
    places = {column: i for i, column in enumerate(program.names)}
    vector = replace(dialect, names={**dialect.names, **{c: f"y[{i}]" for c, i in places.items()}})
    rows = [f"    dy[{i}] = {row};" for i, row in enumerate(derivatives(program, dialect, vector))]
    states = [f"    const double {program.names[c]} = y[{i}];" for c, i in places.items() if c in used]
    unused = [f"    (void){name};" for name in (names if states else ["y", *names])]
    given = ", with the values of the inputs" if names else ""
    first, before = map(repr, program.at_start)
    declared = "static const double {} = {}; /* +- {} */"
    observing = _c_observing(program, own, dialect, vector, given)
    return {
        **observing,
        "parameters": parameter_lines(program.parameters, declared, with_point),
        "about": "\n   Inputs are arguments of `advance`: those of the data, or others." if names else "",
        "library": "#include <stdlib.h>\n" if program.late else "",
        "inputs": "\n".join(_c_drives(program, dialect, shared)),
        "given": given,
        "values": "".join(f", double {name}" for name in names),
        "own": "".join(f", {name}, NULL" for name in names),
        "unpack": "\n".join([*states, *unused]),
        "derivatives": "\n".join(rows),
        "give_first": f"    give({first}, {before}, y);" if program.given else "",
        "solving": piece("c-steps", {**shared, **_c_steps(program, names)}),
    }


def _c_drives(program: Program, dialect: Dialect, shared: Mapping[str, str]) -> list[str]:
    """Return the functions of what acts, and the tables of doses and of times at which steps end."""
    lines = [piece("c-ports", {})] if program.inputs or program.late else []
    if "sign" in {node.op for tree in (*program.trees, *input_formulas(program)) for node in walk(tree)}:
        lines += ["static double sign(double x)\n{\n    return (x > 0) - (x < 0);\n}\n"]
    for known in program.inputs:
        if known.formula is None:
            lines += [piece("c-table", table_fields(known, "{}", "{}"))]
        else:
            given = {"name": function_name(known), "known": known.name}
            lines += [piece("c-formula", {**given, "formula": write(known.formula, dialect)})]
    if program.given:
        rows = ",\n".join(f"    {{{t!r}, {entry}, {amount!r}}}" for t, entry, amount in program.given)
        doses = {"n_doses": str(len(program.given)), "doses": rows, "order": shared["order"]}
        lines += [piece("c-doses", doses)]
    if program.late:
        begun = ", ".join(map(with_point, program.begun))
        lines += [piece("c-past", {**shared, "same": repr(program.same_time), "begun": begun})]
    for name, each in program.late.items():
        entry = str([*program.names].index(each.column))
        late = {"name": name, "column": each.column, "by": write(each.by, dialect), "entry": entry}
        lines += [piece("c-late", late)]
    causes = [
        *(["an input jumps"] if len(program.jumps) else []),
        *(["a dose is given"] if program.given else []),
    ]
    causes += ["the solution bends after a delay"] if program.late else []
    stops = {"n_stops": str(len(program.stops)), "stops": number_list(program.stops, "{}")}
    stops["same"] = repr(program.same_time)
    return lines + ([piece("c-stops", {**stops, "what": " or ".join(causes)})] if len(program.stops) else [])


def _c_observing(
    program: Program, names: Sequence[str], dialect: Dialect, vector: Dialect, given: str
) -> Fields:
    """Return the function of what is measured, and how the program prints it."""
    n = len(program.observed)
    if not n:
        return {"observing": "", "see": "", "print": ""}
    rows = [f"    observed[{i}] = {write(tree, vector)};" for i, tree in enumerate(program.observed.values())]
    observe = {
        "observed": ", ".join(program.observed),
        "given": given,
        "order": str(program.order),
        "values": "".join(f", double {name}" for name in names),
        "n_observed": str(n),
        "unpack": "\n".join(f"    (void){name};" for name in names),
        "formulas": "\n".join(rows),
    }
    seen = "".join(f", {name}(t + {program.same_time!r}, NULL)" for name in names)
    show = f"        observe(t, y{seen}, seen);\n"
    return {
        "observing": piece("c-observe", observe),
        "see": f", seen[{n}]",
        "print": show + f'        for (j = 0; j < {n}; j++) printf(",%.12g", seen[j]);',
    }


def _c_steps(program: Program, names: Sequence[str]) -> Fields:
    """Return the fields of the steps: how each input is passed on, and read within a step."""
    tiny = f"(1e-9 * h + {2 * program.same_time!r})" if program.late else "1e-9 * h"
    read = {
        "at_start": f"t + {program.same_time!r}" if len(program.stops) else "t",
        "at_middle": "t + 0.5 * h",
        "at_end": f"(t + h < last ? t + h : last - {tiny})",
    }
    last = ", double last" if names else ""
    ports = "".join(f", signal *{name}, const void *{name}_data" for name in names)
    stopped, same = bool(len(program.stops)), repr(program.same_time)
    n = program.order
    keep = [
        "    now = remember(t, h);",
        f"    for (i = 0; i < {n}; i++) now->y[i] = y[i], now->dy[i] = k1[i];",
    ]
    end = "".join(f", {name}({read['at_end']}, {name}_data)" for name in names)
    kept = [
        f"    rhs(t + h, y{end}, k4);",
        f"    for (i = 0; i < {n}; i++) now->end_y[i] = y[i], now->end_dy[i] = k4[i];",
    ]
    return {
        **{k: "".join(f", {name}({when}, {name}_data)" for name in names) for k, when in read.items()},
        "reading": "Inputs are read before `last`, where one may jump." if names else "",
        "ports": ports,
        "until": last,
        "passed": ("".join([", end", *(f", {name}, {name}_data" for name in names)])) if names else "",
        "by_stops": "; no step goes over one of the stops" if stopped else "",
        "end_of_piece": "next_stop(from, to)" if stopped else "to",
        "give": f"        give(from - {same}, from + {same}, y);" if program.given else "",
        "keeping": "    struct piece *now;" if program.late else "",
        "before_step": "\n".join(keep) if program.late else "",
        "after_step": "\n".join(kept) if program.late else "",
    }


def modelica_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of models in Modelica."""
    slopes = {part.highest: f"der({program.names[part.columns[-1]]})" for part in program.parts}
    dialect = with_more_names(with_inputs(MODELICA_WRITES, program, "{}"), slopes)
    late = {
        each.name: f"delay({program.names[each.column]}, {write(each.by, dialect)})"
        for each in program.late.values()
    }
    dialect = with_more_names(dialect, late)
    names = [function_name(known) for known in program.inputs]
    equations = []
    for part in program.parts:
        own = [program.names[column] for column in part.columns]
        equations += [f"  der({own[0]}) = {own[1]};"] if part.order == 2 else []
        left, right = (part.tree, "0") if part.rhs is None else (var(part.highest), write(part.rhs, dialect))
        equations.append(f"  {write(left, dialect)} = {right};")
    equations += [f"  {name} = {write(tree, dialect)};" for name, tree in program.observed.items()]
    start = "  Real {}(start = {!r}, fixed = true);"
    states = list(zip(program.names.values(), program.initial, strict=True))
    shown = [*program.names.values(), *program.observed]
    driving = [_modelica_input(known, dialect) for known in program.inputs]
    return {
        "parameters": parameter_lines(program.parameters, '  parameter Real {} = {} "+- {}";', repr),
        "states_declared": "\n".join(
            [
                *(start.format(*state) for state in states),
                *(f'  Real {name} "measured";' for name in program.observed),
            ]
        ),
        "ports": "\n".join(f'  input Real {name} "any signal";' for name in names),
        "equations": "\n".join(equations),
        "driven": "the plant with the input of the data" if names else "the plant by itself",
        "outputs": "\n".join(f"  Real {name} = plant.{name};" for name in shown),
        **_modelica_doses(program),
        "inputs": "\n".join(declared for declared, _ in driving),
        "bindings": "\n".join(binding for _, binding in driving),
        "interval": repr((program.stop - program.start) / ROWS),
    }


def _modelica_doses(program: Program) -> Fields:
    """Return the doses of the data: what is declared, what gives them, and initial values after the first."""
    names, times = [*program.names.values()], sorted({dose.time for dose in program.given})
    amounts = np.zeros((len(times), len(names)))
    for dose in program.given:
        amounts[times.index(dose.time), dose.entry] += dose.amount
    given = sum(time <= program.start for time in times)
    first = np.array(program.initial) + amounts[:given].sum(axis=0)
    changed = [i for i in range(len(names)) if amounts[:given, i].any()]
    starts = ", ".join(f"{names[i]}(start = {float(first[i])!r})" for i in changed)
    added = [i for i in range(len(names)) if amounts[given:, i].any()]
    place = "dose_amounts[pre(dose_index) + 1, {}]"
    reinits = [f"    reinit(plant.{names[i]}, pre(plant.{names[i]}) + {place.format(i + 1)});" for i in added]
    fields = {
        "n": str(len(times)),
        "order": str(len(names)),
        "times": number_list(np.array(times), "{}"),
        "amounts": number_rows(amounts, "{}"),
        "given": str(given),
        "reinits": "\n".join(reinits),
    }
    return {
        "plant_starts": f"({starts})" if starts else "",
        "doses": piece("modelica-doses", fields) if added else "",
        "give": piece("modelica-give", fields) if added else "",
    }


def _modelica_input(known: Known, dialect: Dialect) -> tuple[str, str]:
    """Return what declares an input of the data, and the equation that feeds it to the plant."""
    name = function_name(known)
    if known.formula is not None:
        return "", f"  plant.{name} = {write(known.formula, dialect)};"
    if known.kind is Interpolation.HOLD:
        fields = {"name": name, "n": str(len(known.knots))}
        fields |= {"knots": number_list(known.knots, "{}"), "values": number_list(known.pieces[:, 3], "{}")}
        return piece("modelica-held", fields), piece("modelica-jumps", fields).rstrip()
    return piece(
        "modelica-table", table_fields(known, "{}", "{}", 6)
    ), f"  plant.{name} = {name}_table(time);"
