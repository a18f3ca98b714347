"""A discovery as a PEtab problem (version 1): model, measurements, conditions, observables and parameters.

PEtab is the exchange format of parameter estimation in systems biology. Time begins at zero there, so every
run is shifted to it. Each run is a condition; initial values, constants that each run has for itself, and
inputs that have another constant value in each run are parameters of that condition.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from gode.arrays import Float
from gode.data.columns import channel_names
from gode.discovery import Discovery
from gode.equation.printer import Dialect, write
from gode.equation.tree import Node, add, num, number, replaced, var, variables
from gode.errors import EquationError
from gode.files import make_folder, write_text
from gode.identifiers import identifiers
from gode.report.drives import Given, Known, Parameter
from gode.report.languages import SBML_WITH_STARTS, program_text
from gode.report.program import Program, function_name, make_program
from gode.report.sbml import dose_amount, dose_time, start_name

# How far the bounds lie from the value found, in multiples of its size. Set by hand, so that a fit may begin
# at the other sign, too.
WIDTH = 10.0
FORMULA = Dialect(style=repr, inverse=False, code=True)
PROBLEM = """\
format_version: 1
parameter_file: parameters.tsv
problems:
  - sbml_files: [model.xml]
    measurement_files: [measurements.tsv]
    condition_files: [conditions.tsv]
    observable_files: [observables.tsv]
"""


@dataclass(frozen=True)
class Estimated:
    """A constant or an initial value of the model, with its value in each run."""

    name: str
    values: tuple[float, ...]
    errors: tuple[float, ...]
    is_known: bool

    @property
    def is_shared(self) -> bool:
        """Whether it is the same in all runs."""
        return len(set(self.values)) == 1

    def name_in(self, condition: str) -> str:
        """Return the name of the parameter that holds it in a run."""
        return self.name if self.is_shared else f"{self.name}_{condition}"


@dataclass(frozen=True)
class Observable:
    """A channel that was measured, as a formula of the model."""

    name: str
    row: int  # of the channels of a run
    formula: str


def petab_files(discovery: Discovery, run: int | str | None = None) -> dict[str, str]:
    """Return the files of a PEtab problem by their names: of one run, or of all.

    Raises:
        EquationError: if the law is no model of PEtab: a highest derivative cannot be isolated, or runs with
            inputs of their own or with another start of time in the law would need several models.
    """
    dataset = discovery.prepared.dataset
    runs = list(range(len(dataset.runs))) if run is None else [dataset.number_of(run)]
    originals = [make_program(discovery, i) for i in runs]
    programs = _with_same_doses([_from_zero(program) for program in originals])
    programs, settings = _with_settings(programs)
    _check_alike(originals, programs)
    names = [dataset.name_of(i) for i in runs]
    conditions = identifiers(names)
    estimated = _estimated(programs, [dataset.runs[i].initial for i in runs], settings)
    observables = _observables(discovery, programs[0])
    measured = [
        row
        for i, name in zip(runs, conditions, strict=True)
        for row in _readings(discovery, observables, i, name)
    ]
    varying = [e for e in estimated if not e.is_shared]
    doses = _varying_doses(programs)
    return {
        "problem.yaml": PROBLEM,
        "model.xml": program_text(programs[0], "sbml", SBML_WITH_STARTS),
        "conditions.tsv": _table(
            ["conditionId", "conditionName", *(e.name for e in varying), *doses],
            [
                [condition, name, *(e.name_in(condition) for e in varying), *(doses[d][i] for d in doses)]
                for i, (condition, name) in enumerate(zip(conditions, names, strict=True))
            ],
        ),
        "observables.tsv": _table(
            ["observableId", "observableName", "observableFormula", "noiseFormula"],
            [[o.name, o.name, o.formula, f"noiseParameter1_{o.name}"] for o in observables],
        ),
        "measurements.tsv": _table(
            ["observableId", "simulationConditionId", "time", "measurement", "noiseParameters"], measured
        ),
        "parameters.tsv": _table(
            ["parameterId", "parameterScale", "lowerBound", "upperBound", "nominalValue", "estimate"],
            [row for e in estimated for row in _parameter_rows(e, conditions)],
        ),
    }


def save_petab(discovery: Discovery, folder: str | PathLike[str], run: int | str | None = None) -> list[Path]:
    """Write a PEtab problem into a folder, and return its files."""
    texts, place = petab_files(discovery, run), Path(folder)
    make_folder(place)
    for name, text in texts.items():
        write_text(place / name, text)
    return [place / name for name in texts]


def _check_alike(originals: Sequence[Program], programs: Sequence[Program]) -> None:
    """Raise EquationError unless one model holds for all runs."""
    first, others = programs[0], programs[1:]
    if not first.explicit:
        raise EquationError(
            f"{first.title} cannot be solved for its highest derivative, which a PEtab problem needs; export "
            "it to modelica, julia or matlab"
        )
    clocked = any("t" in variables(tree) for tree in originals[0].trees)
    if clocked and len({program.start for program in originals}) > 1:
        raise EquationError(
            "the law depends on t, and the runs begin at different times, which one model of PEtab cannot "
            "hold; choose a run"
        )
    if any(not _same_inputs(first.inputs, other.inputs) for other in others):
        raise EquationError(
            "the runs have different inputs or infusions, which are part of the model in PEtab; choose a run"
        )


def _same_inputs(some: Sequence[Known], others: Sequence[Known]) -> bool:
    return [known.name for known in some] == [known.name for known in others] and all(
        a.formula == b.formula and np.array_equal(a.knots, b.knots) and np.array_equal(a.pieces, b.pieces)
        for a, b in zip(some, others, strict=True)
    )


def _from_zero(program: Program) -> Program:
    """Return a program whose time begins at zero."""
    start = program.start
    parts = tuple(replace(part, tree=_later(part.tree, start)) for part in program.parts)
    inputs = tuple(
        replace(
            known,
            formula=None if known.formula is None else _later(known.formula, start),
            knots=known.knots - start,
        )
        for known in program.inputs
    )
    formulas = {name: _later(tree, start) for name, tree in program.formulas.items()}
    given = tuple(dose._replace(time=dose.time - start) for dose in program.given)
    moved = replace(program, parts=parts, inputs=inputs, formulas=formulas, given=given)
    return replace(moved, start=0.0, stop=program.stop - start)


def _with_same_doses(programs: Sequence[Program]) -> list[Program]:
    """Return programs with as many doses into each state: those that a run lacks come after its end."""
    entries = {dose.entry for program in programs for dose in program.given}
    counts = {
        entry: max(sum(dose.entry == entry for dose in program.given) for program in programs)
        for entry in sorted(entries)
    }
    never = 2.0 * max(program.stop for program in programs)
    out = []
    for program in programs:
        given: list[Given] = []
        for entry, n in counts.items():
            own = [dose for dose in program.given if dose.entry == entry]
            given += [*own, *([Given(never, entry, 0.0)] * (n - len(own)))]
        out.append(replace(program, given=tuple(given)))
    return out


def _with_settings(programs: Sequence[Program]) -> tuple[list[Program], set[str]]:
    """Return programs in which inputs that are settings of their runs are parameters, and the names of these.

    A setting is an input that does not change within a run, and is not the same in all of them.
    """
    first, out = programs[0], list(programs)
    settings: set[str] = set()
    for name in [known.name for known in first.inputs]:
        of_runs = [known for program in programs for known in program.inputs if known.name == name]
        values = [_constant_value(known) for known in of_runs]
        levels = [value for value in values if value is not None]
        if len(levels) != len(programs) or len({*levels}) == 1:
            continue
        parameter = function_name(of_runs[0])
        settings.add(parameter)
        out = [_with_setting(each, name, parameter, x) for each, x in zip(out, levels, strict=True)]
    return out, settings


def _constant_value(known: Known) -> float | None:
    """Return the value of an input that does not change, None of one that does."""
    if known.formula is not None:
        return None if variables(known.formula) else number(known.formula)
    values = {*known.pieces[:, 3].tolist()}
    return None if known.pieces[:, :3].any() or len(values) > 1 else values.pop()


def _with_setting(program: Program, name: str, parameter: str, value: float) -> Program:
    """Return a program that has a parameter in the place of an input."""
    here: dict[Node, Node] = {var(name): var(parameter)}
    return replace(
        program,
        parts=tuple(replace(part, tree=replaced(part.tree, here)) for part in program.parts),
        formulas={shown: replaced(tree, here) for shown, tree in program.formulas.items()},
        inputs=tuple(known for known in program.inputs if known.name != name),
        parameters=(*program.parameters, Parameter(parameter, value, 0.0)),
    )


def _varying_doses(programs: Sequence[Program]) -> dict[str, list[float]]:
    """Return the times and amounts of doses that differ between runs, by their names in the model."""
    out = {}
    for i in range(len(programs[0].given)):
        out[dose_time(i)] = [program.given[i].time for program in programs]
        out[dose_amount(i)] = [program.given[i].amount for program in programs]
    return {name: values for name, values in out.items() if len({*values}) > 1}


def _later(node: Node, by: float) -> Node:
    """Return a tree whose time begins `by` earlier."""
    if node == var("t"):
        return add(node, num(by))
    return node._replace(args=tuple(_later(arg, by) for arg in node.args))


def _estimated(
    programs: Sequence[Program], initial: Sequence[Float], settings: Container[str]
) -> list[Estimated]:
    """Return constants and initial values; settings of runs and starts that were known are not estimated."""
    out = []
    for of_runs in zip(*(program.parameters for program in programs), strict=True):
        name, values = of_runs[0].name, tuple(p.value for p in of_runs)
        out.append(Estimated(name, values, tuple(p.error for p in of_runs), is_known=name in settings))
    first = programs[0]
    places = [2 * s + k for s, part in enumerate(first.parts) for k in range(part.order)]
    for i, (name, place) in enumerate(zip(first.names.values(), places, strict=True)):
        values = tuple(program.initial[i] for program in programs)
        known = all(np.isfinite(of_run[place]) for of_run in initial)
        out.append(Estimated(start_name(name), values, (0.0,) * len(values), is_known=known))
    return out


def _observables(discovery: Discovery, program: Program) -> list[Observable]:
    """Return what was measured, as formulas of the model.

    Raises:
        EquationError: if a derivative was measured that is none of the model.
    """
    dataset = discovery.prepared.dataset
    names = {**program.names, **{known.name: function_name(known) for known in program.inputs}, "t": "time"}
    highest = {part.highest: part.rhs for part in program.parts}
    out = []
    for row, channel in enumerate(channel_names(dataset.states)):
        if channel not in dataset.channels:
            continue
        tree = {**highest, **program.formulas}.get(
            channel, var(channel) if channel in program.names else None
        )
        if tree is None:
            raise EquationError(
                f"{channel} was measured, which the exported model does not give as a formula; "
                "leave it out of the data"
            )
        column = "observable_" + channel.replace("'", "_rate")
        out.append(Observable(column, row, write(tree, replace(FORMULA, names=names))))
    return out


def _readings(
    discovery: Discovery, observables: Sequence[Observable], run: int, condition: str
) -> list[list[object]]:
    """Return the readings of a run, each with the standard deviation of its noise."""
    data, smooth = discovery.prepared.dataset.runs[run], discovery.prepared.smooths[run]
    rows: list[list[object]] = []
    for observable in observables:
        row = observable.row
        relative = smooth.sigma[row] / smooth.noise[row] if smooth.noise[row] > 0 else np.ones(data.n_points)
        sigma = discovery.noise[row] * relative / data.roots
        for time, value, error in zip(data.t - data.t[0], data.observed[row], sigma, strict=True):
            if np.isfinite(value):
                rows.append([observable.name, condition, float(time), float(value), float(error)])
    return rows


def _parameter_rows(estimated: Estimated, conditions: Sequence[str]) -> list[list[object]]:
    rows = {}
    for condition, value, error in zip(conditions, estimated.values, estimated.errors, strict=True):
        width = WIDTH * (max(abs(value), error if np.isfinite(error) else 0.0) or 1.0)
        name = estimated.name_in(condition)
        rows[name] = [name, "lin", value - width, value + width, value, int(not estimated.is_known)]
    return list(rows.values())


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [
        "\t".join(repr(float(x)) if isinstance(x, float) else str(x) for x in row) for row in (head, *rows)
    ]
    return "\n".join(lines) + "\n"
