"""Laws in SBML, the exchange format of systems biology: states by rate rules, inputs by rules and events."""

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

from gode.data import Interpolation
from gode.equation.tree import DELAY, Node, add, mul, num, number, power, replaced, var
from gode.report.drives import Known
from gode.report.program import Program, function_name

MATHML = 'xmlns="http://www.w3.org/1998/Math/MathML"'
TIME = '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol>'
DELAYED = '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/delay">delay</csymbol>'
OPERATORS = {"+": "plus", "*": "times", "^": "power", "log": "ln"}  # others are called as they are here


def fields(program: Program, shared: Mapping[str, str], *, varying: bool = False) -> dict[str, str]:
    """Return the fields of the template: what is declared, and the rules and events that change it.

    Args:
        varying: whether times and amounts of doses are parameters.
    """
    held = [known for known in program.inputs if _is_held(known)]
    return {
        "title": escape(program.title, {'"': "&quot;"}),
        "declared": _lines(6, [*_constants(program), *_variables(program)]),
        "initial_values": "",
        "rules": _lines(6, [*_rates(program), *map(_assignment, _ruled(program)), *_observed(program)]),
        "events": _list_of(
            "Events", [*(e for known in held for e in _events(known)), *_doses(program, varying)]
        ),
    }


def fields_with_starts(program: Program, shared: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the template with parameters for initial values and doses."""
    states = list(zip(program.names.values(), program.initial, strict=True))
    starts = [_parameter(start_name(name), value, constant=True) for name, value in states]
    set_by = [
        f'<initialAssignment symbol="{name}">{_math(var(start_name(name)))}</initialAssignment>'
        for name, _ in states
    ]
    for i, dose in enumerate(program.given):
        starts.append(_parameter(dose_time(i), dose.time, constant=True))
        starts.append(_parameter(dose_amount(i), dose.amount, constant=True))
    simple = fields(program, shared, varying=True)
    return {
        **simple,
        "declared": simple["declared"] + "\n" + _lines(6, starts),
        "initial_values": _list_of("InitialAssignments", set_by),
    }


def start_name(state: str) -> str:
    """Return the name of the initial value of a state."""
    return f"{state}_start"


def dose_time(i: int) -> str:
    """Return the name of the time of a dose."""
    return f"dose_{i + 1}_time"


def dose_amount(i: int) -> str:
    """Return the name of the amount of a dose."""
    return f"dose_{i + 1}_amount"


def mathml(node: Node, names: Mapping[str, str]) -> str:
    """Return a tree in content MathML; `names` holds the columns that have another name there."""
    match node.op:
        case "num":
            return _number(number(node))
        case "var":
            name = names.get(str(node.value), str(node.value))
            return TIME if name == "t" else f"<ci> {name} </ci>"
        case "sign":
            inside = mathml(node.args[0], names)
            return _piecewise([(_number(1.0), "gt", inside), (_number(-1.0), "lt", inside)])
        case "max0":
            inside = mathml(node.args[0], names)
            return _piecewise([(inside, "gt", inside)])
        case op if op == DELAY:
            return f"<apply>{DELAYED}{''.join(mathml(arg, names) for arg in node.args)}</apply>"
        case op:
            inside = "".join(mathml(arg, names) for arg in node.args)
            return f"<apply><{OPERATORS.get(op, op)}/>{inside}</apply>"


def _piecewise(cases: Iterable[tuple[str, str, str]]) -> str:
    """Return the value of each case, where its argument compares with zero as it says, else zero."""
    pieces = [
        f"<piece>{value}<apply><{compared}/>{inside}{_number(0.0)}</apply></piece>"
        for value, compared, inside in cases
    ]
    return f"<piecewise>{''.join(pieces)}<otherwise>{_number(0.0)}</otherwise></piecewise>"


def _number(value: float) -> str:
    mantissa, _, exponent = repr(value).partition("e")
    if exponent:
        return f'<cn type="e-notation"> {mantissa} <sep/> {int(exponent)} </cn>'
    return f"<cn> {mantissa} </cn>"


def _math(node: Node, names: Mapping[str, str] | None = None) -> str:
    return f"<math {MATHML}>{mathml(node, names or {})}</math>"


def _parameter(name: str, value: float, *, constant: bool, about: str = "") -> str:
    text = f" name={quoteattr(about)}" if about else ""
    return f'<parameter id="{name}"{text} value="{value!r}" constant="{str(constant).lower()}"/>'


def _constants(program: Program) -> list[str]:
    return [_parameter(p.name, p.value, constant=True) for p in program.parameters]


def _variables(program: Program) -> list[str]:
    states = zip(program.names.items(), program.initial, strict=True)
    out = [_parameter(name, value, constant=False, about=column) for (column, name), value in states]
    for known in program.inputs:
        first = float(known.pieces[0, 3]) if known.formula is None else 0.0
        out.append(_parameter(function_name(known), first, constant=False, about=known.name))
    return out + [_parameter(name, 0.0, constant=False) for name in program.observed]


def _names(program: Program) -> dict[str, str]:
    return {**program.names, **{known.name: function_name(known) for known in program.inputs}}


def _rates(program: Program) -> list[str]:
    rules = []
    for part in program.parts:
        assert part.rhs is not None
        slopes = [*map(var, part.columns[1:]), part.rhs]
        for column, slope in zip(part.columns, slopes, strict=True):
            math = _math(_with_past(slope, program), _names(program))
            rules.append(f'<rateRule variable="{program.names[column]}">{math}</rateRule>')
    return rules


def _with_past(tree: Node, program: Program) -> Node:
    """Return a tree in which what is late is written as such."""
    return replaced(tree, {var(late.name): late.node for late in program.late.values()})


def _observed(program: Program) -> list[str]:
    """Return the rules of what is measured."""
    rules = []
    for name, tree in program.observed.items():
        rules.append(f'<assignmentRule variable="{name}">{_math(tree, _names(program))}</assignmentRule>')
    return rules


def _doses(program: Program, varying: bool) -> list[str]:
    """Return an event for each time at which a dose is added to a state."""
    states, out = [*program.names.values()], []
    for i, dose in enumerate(program.given):
        name = states[dose.entry]
        time, amount = num(dose.time), num(dose.amount)
        if varying:
            time, amount = var(dose_time(i)), var(dose_amount(i))
        after = _math(add(var(name), amount))
        out.append(_event(f"dose_{i + 1}", time, name, after, since_start=True))
    return out


def _event(identifier: str, time: Node, variable: str, value: str, *, since_start: bool = False) -> str:
    """Return what changes a variable at a time, if `since_start` also at the start itself."""
    trigger = f"<math {MATHML}><apply><geq/>{TIME}{mathml(time, {})}</apply></math>"
    return (
        f'<event id="{identifier}" useValuesFromTriggerTime="false">'
        f'<trigger initialValue="{str(not since_start).lower()}" persistent="true">{trigger}</trigger>'
        f'<listOfEventAssignments><eventAssignment variable="{variable}">{value}</eventAssignment>'
        "</listOfEventAssignments></event>"
    )


def _is_held(known: Known) -> bool:
    return known.formula is None and known.kind is Interpolation.HOLD


def _ruled(program: Program) -> list[Known]:
    return [known for known in program.inputs if not _is_held(known)]


def _assignment(known: Known) -> str:
    inside = _table(known) if known.formula is None else mathml(known.formula, {})
    math = f"<math {MATHML}>{inside}</math>"
    return f'<assignmentRule variable="{function_name(known)}">{math}</assignmentRule>'


def _table(known: Known) -> str:
    """Return the cubic of each piece, where time lies before the next knot."""
    rows = []
    pieces = list(zip(known.knots.tolist(), known.pieces.tolist(), strict=True))[
        : max(len(known.knots) - 1, 1)
    ]
    for start, powers in pieces:
        x = add(var("t"), num(-start))
        terms = [
            num(powers[3]),
            *(mul(num(p), power(x, num(3.0 - k))) for k, p in enumerate(powers[:3]) if p),
        ]
        rows.append(mathml(add(*terms), {}))
    if len(rows) == 1:
        return rows[0]
    ends = [f"<apply><lt/>{TIME}{_number(end)}</apply>" for end in known.knots[1:-1].tolist()]
    inside = "".join(f"<piece>{row}{end}</piece>" for row, end in zip(rows, ends, strict=False))
    return f"<piecewise>{inside}<otherwise>{rows[-1]}</otherwise></piecewise>"


def _events(known: Known) -> list[str]:
    """Return an event for each time at which a held input takes another value."""
    out = []
    name = function_name(known)
    values = dict(zip(known.knots.tolist(), known.pieces[:, 3].tolist(), strict=True))
    for i, time in enumerate(known.jumps.tolist()):
        out.append(_event(f"{name}_jump_{i + 1}", num(time), name, _math(num(values[time]))))
    return out


def _lines(indent: int, lines: Iterable[str]) -> str:
    return "\n".join(" " * indent + line for line in lines)


def _list_of(kind: str, lines: list[str]) -> str:
    """Return a list of SBML, which may not be empty."""
    return f"    <listOf{kind}>\n{_lines(6, lines)}\n    </listOf{kind}>" if lines else ""
