"""The pieces of exported programs in Python, Julia and MATLAB."""

from collections.abc import Mapping, Sequence

import numpy as np

from gode.data import Interpolation
from gode.equation.printer import Dialect, write
from gode.report.dialects import (
    JOIN,
    JOINED,
    MATLAB_WRITES,
    PLAIN,
    PYTHON_WRITES,
    Fields,
    derivatives,
    sides,
    with_inputs,
)
from gode.report.program import Program, function_name, number_list, parameter_lines, piece, table_fields

JULIA_JOINED = {
    "hold": "s -> samples[clamp(searchsortedlast(t, s), 1, length(t) - 1)]",
    "linear": """function (s)
    i = clamp(searchsortedlast(t, s), 1, length(t) - 1)
    return samples[i] + (samples[i + 1] - samples[i]) * (s - t[i]) / (t[i + 1] - t[i])
end""",
}
MATLAB_PIECES = {
    Interpolation.HOLD: "mkpp(t, samples(1:end - 1))",
    Interpolation.LINEAR: "mkpp(t, [diff(samples) ./ diff(t), samples(1:end - 1)])",
    Interpolation.CUBIC: "spline(t, samples)",
}
MAKERS = {Interpolation.HOLD: "PPoly", Interpolation.CUBIC: "CubicSpline"}  # of scipy


def python_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of a program in Python."""
    dialect = with_inputs(PYTHON_WRITES, program, "{}(t)")
    names = [function_name(known) for known in program.inputs]
    kinds = dict.fromkeys(known.kind for known in program.inputs)
    lines = []
    for kind in kinds:
        name, made = JOIN[kind]
        about = f'    """Return samples as a function of time, {JOINED[kind]}."""'
        lines += ["", f"def {name}(t, samples):", about, f"    return {made}"]
    for known, name in zip(program.inputs, names, strict=True):
        if known.formula is None:
            rows = [number_list(values, "[]") for values in known.samples]
            lines += [
                "",
                "",
                f"_{name} = {JOIN[known.kind][0]}(",
                *(f"    {row}," for row in rows),
                ")",
            ]
        when = f"np.maximum(t, {known.since!r})" if np.isfinite(known.since) else "t"
        value = f"_{name}({when})" if known.formula is None else write(known.formula, dialect)
        about = f'    """The known input {known.name}."""'
        lines += ["", "", f"def {name}(t):", about, f"    return {value}"]
    ports = "".join(f", {name}={name}" for name in names)
    needed = ", ".join(sorted({MAKERS[kind] for kind in kinds if kind in MAKERS}))
    unpack = ", ".join(program.names.values()) if program.order > 1 else f"({program.states},)"
    observed = {
        "ports": ports,
        "unpack": unpack,
        "observed": ", ".join(program.observed),
        "formulas": _python_rows([write(tree, dialect) for tree in program.observed.values()], many=True),
    }
    seen = "[*row, *observe(row[0], row[1:])]" if program.observed else "row"
    driven = {**shared, **_python_driven(program, names, ports)}
    return {
        "imports": f"from scipy.interpolate import {needed}" if needed else "",
        "parameters": parameter_lines(program.parameters, "{} = {}  # ± {}", repr),
        "jumps": f"JUMPS = {number_list(program.jumps, '[]')}  # of an input, in time" if names else "",
        "inputs": "\n".join(["", *lines, "", ""]),
        "ports": ports + "".join(f", {name}=None" for name in program.late),
        "unpack": unpack,
        "derivatives": _python_rows(derivatives(program, dialect), many=len(program.parts) > 1),
        "observing": piece("python-observe", observed) if program.observed else "",
        "row": seen,
        "solving": piece(f"python-{'driven' if program.is_driven else 'free'}", driven),
    }


def _python_rows(rows: Sequence[str], *, many: bool) -> str:
    """Return the entries of a list, each in a line if there are many."""
    return "".join(f"\n        {row}," for row in rows) + "\n    " if many else ", ".join(rows)


def _python_driven(program: Program, names: Sequence[str], ports: str) -> Fields:
    """Return how a solution goes from one jump, dose or bend to the next."""
    read = []
    about = []
    for known, name in zip(program.inputs, names, strict=True):
        read += [f"    if not callable({name}):"]
        read += [f"        {name}, jumps = {JOIN[known.kind][0]}(t, np.asarray({name}, float)), t"]
        about += [f"`{name}`: a function of time, or samples at `t`, {JOINED[known.kind]}"]
    about = [f"    {'; '.join(about)}; by default that of the data."] if names else []
    stops = ["*jumps"] if names else []
    give = []
    if program.given:
        stops += ["*(dose[0] for dose in doses)"]
        about += ["    A value at the time of a dose is that before it."]
        read += ["    for time, entry, amount in doses:  # earlier ones are part of the initial values"]
        read += ["        y[entry] += amount if t[0] - 1e-9 * (t[-1] - t[0]) < time < t[0] else 0.0"]
        give += ["        for time, entry, amount in doses:"]
        give += [f"            y[entry] += amount if abs(time - low) <= {program.same_time!r} else 0.0"]
    read += [f"    stops = [{', '.join(stops)}]"]
    late = []
    entries = list(program.names)
    if program.late:
        delays = ", ".join(write(each.by, PYTHON_WRITES) for each in program.late.values())
        read += [f"    delays = [{delays}]  # steps end where the solution bends, and none is longer"]
        read += ["    bends = [x + k * delay for x in [t[0], *stops] for delay in delays for k in range(6)]"]
        read += ["    stops += [*bends, *np.arange(t[0], t[-1], min(delays))]"]
        late += [piece("python-late", {"same": repr(program.same_time)})]
        for name, each in program.late.items():
            late += [f"    {name} = late({entries.index(each.column)}, {write(each.by, PYTHON_WRITES)})"]
    table = "".join(f"\n    ({t!r}, {entry}, {amount!r})," for t, entry, amount in program.given)
    told = "# Doses: the time, the entry of the state, what is added to it."
    return {
        "table": f"{told}\nDOSES = [{table}\n]\n\n" if program.given else "",
        "ports": ports,
        "options": (", jumps=JUMPS" if names else "") + (", doses=DOSES" if program.given else ""),
        "about": "\n".join([*about, "    No step goes over a time at which the slope of the state jumps."]),
        "read": "\n".join(read),
        "late": "\n".join(late),
        "give": "\n".join(give),
        "same": repr(program.same_time),
        "passed": "".join(f", {name}" for name in [*names, *program.late]),
        "dense": " dense_output=True," if program.late else "",
        "keep": "        solutions.append(solved.sol)" if program.late else "",
    }


def julia_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of a program in Julia."""
    dialect = with_inputs(PLAIN, program, "{}(t)")
    own = [function_name(known) for known in program.inputs]
    names, same = [*own, *program.late], program.same_time
    lines = []
    for known in program.inputs:
        if known.formula is None:
            lines += [piece("julia-table", table_fields(known, "[]", "()"))]
        else:
            value = write(known.formula, dialect)
            lines += [f'"The known input {known.name}."', f"{function_name(known)}(t) = {value}", ""]
    fields = sides(program, dialect, "    dy[{}] = {}", "    r[{}] = {}", "dy[{}]")
    values = ", ".join(f"y[{i + 1}]" for i in range(program.order))
    states = f"    {program.states} = {values}"
    passed = names[0] if len(names) == 1 else f"({', '.join(names)})"
    observed = {
        "known": "".join(f", {name} = {name}" for name in own),
        "names": ", ".join(program.observed),
        "states": states,
        "formulas": ", ".join(write(tree, dialect) for tree in program.observed.values()),
    }
    remember = f"push!(past, (t, h, y, slope(t + {same!r}, y, p), next, slope(min(t + h, last), next, p)))"
    step = [
        "            next = runge_kutta(t, h, y, p, last)",
        f"            {remember}",
        "            y = next",
    ]
    return {
        **fields,
        "parameters": parameter_lines(program.parameters, "const {} = {}  # ± {}", repr),
        "parameter": f", {passed}" if names else "",
        "stops": "; tstops = jumps" if names else "",
        "given": f"; p is the input {passed}" if names else "",
        "jumps": number_list(program.jumps, "[]") if len(program.jumps) else "Float64[]",
        "inputs": "\n".join(lines),
        "unpack": "\n".join([states, *([f"    {passed.strip('()')} = p"] if names else [])]),
        "same": repr(same),
        "at_jump": f" + {same!r}" if program.is_driven else "",
        "past_port": ", past" if program.late else "",
        "give": f"        y = give(y, low - {same!r}, low + {same!r})" if program.given else "",
        "step": "\n".join(step) if program.late else "            y = runge_kutta(t, h, y, p, last)",
        "observing": piece("julia-observe", observed) if program.observed else "",
        "observed": f"; observe(t + {same!r}, y)" if program.observed else "",
        "solving": _julia_solving(program, own, shared),
    }


def _julia_solving(program: Program, own: Sequence[str], shared: Mapping[str, str]) -> str:
    """Return how a solution goes from one jump, dose or bend to the next."""
    if not program.is_driven:
        return piece("julia-free", {})
    same, entries = repr(program.same_time), [*program.names]
    kind = "hold" if own and program.inputs[0].kind is Interpolation.HOLD else "linear"
    joining = {"joined": JOINED[Interpolation(kind)], "join": JULIA_JOINED[kind]}
    sampled = " || ".join(f"{name} isa AbstractVector" for name in own)
    read = [f"{name} isa AbstractVector ? joined(t, {name}) : {name}" for name in own]
    read += program.late
    stops = [f"    stops = {sampled} ? t : jumps"] if own else ["    stops = Float64[]"]
    if program.given:
        stops += ["    stops = [stops; [time for (time, entry, amount) in doses]]"]
    if program.late:
        delays = ", ".join(write(each.by, PLAIN) for each in program.late.values())
        bends = "[x + k * delay for x in [t[1]; stops] for delay in (" + delays + ",) for k in 1:5]"
        stops += [f"    stops = sort(unique([stops; {bends}]))", "    past, begun = [], y"]
        stops += [
            f"    {name} = s -> look_back(past, begun, s - {write(each.by, PLAIN)}, "
            f"{entries.index(each.column) + 1})"
            for name, each in program.late.items()
        ]
    elif program.given:
        stops += ["    stops = sort(unique(stops))"]
    first = f"    y = give(y, t[1] - 1e-9 * (t[end] - t[1]), prevfloat(t[1] - {same}))"
    rows = ",\n".join(f"    ({t!r}, {entry + 1}, {amount!r})" for t, entry, amount in program.given)
    about = f" The input {' and '.join(own)} is\na function of time, or an array of samples at `t`;"
    return piece(
        "julia-driven",
        {
            "joining": piece("julia-joined", joining) if own else "",
            "doses": piece("julia-doses", {"doses": rows}) if program.given else "",
            "past": piece("julia-past", {"same": same}) if program.late else "",
            "about": f"{about} by default it is that of the data." if own else "",
            "ports": "".join(f", {name} = {name}" for name in own),
            "options": ", jumps = jumps" if own else "",
            "stops": "\n".join(stops),
            "first": first if program.given else "",
            "read": (read[0] if len(read) == 1 else f"({', '.join(read)})") if read else "nothing",
            "past_passed": ", past" if program.late else "",
        },
    )


def matlab_fields(program: Program, shared: Mapping[str, str]) -> Fields:
    """Return the pieces of a program in MATLAB."""
    dialect = with_inputs(MATLAB_WRITES, program, "{}")
    names = [function_name(known) for known in program.inputs]
    ports = "".join(f", {name}" for name in names)
    lines, about = _matlab_inputs(program, dialect)
    if program.observed:
        about.append(
            f"% [t, y, seen] = gode_model()     also what is measured: {', '.join(program.observed)}"
        )
    fields = sides(program, dialect, "  dy({}, 1) = {};", "  r({}, 1) = {};", "dy({})")
    joins = [
        piece("matlab-joined", {"name": JOIN[k][0], "joined": JOINED[k], "pieces": MATLAB_PIECES[k]})
        for k in dict.fromkeys(known.kind for known in program.inputs)
    ]
    used = "".join(f"  {name} = {name}(t);\n" for name in names)
    unpack = "\n".join(f"  {name} = y({i + 1});" for i, name in enumerate(program.names.values()))
    parts = {
        **shared,
        "parameters": parameter_lines(program.parameters, "  {} = {};  % +- {}", repr),
        "unpack": unpack,
        "ports": ports,
        "passed": ports,
        "same": repr(program.same_time),
    }
    rows = [
        f"  seen(1, {i + 1}) = {write(tree, dialect)};" for i, tree in enumerate(program.observed.values())
    ]
    seeing = {**parts, "values": used, "observed": ", ".join(program.observed), "formulas": "\n".join(rows)}
    look = f"observe(t(k) + {program.same_time!r}, y(k, :)'{ports})"
    return {
        **fields,
        **{name: parts[name] for name in ("parameters", "unpack", "ports")},
        "seen": ", seen" if program.observed else "",
        "look": f"  for k = 1:numel(t), seen(k, :) = {look}; end" if program.observed else "",
        "observing": piece("matlab-observe", seeing) if program.observed else "",
        "late_port": ", late" if program.late else "",
        "joined": "".join(joins),
        "about": "\n".join(about),
        "inputs": "\n".join(lines),
        "values": used + "\n".join(f"  {name} = late({i + 1});" for i, name in enumerate(program.late)),
        "stepping": piece("matlab-late", {**parts, **_matlab_late(program)}) if program.late else "",
        "solving": piece("matlab-driven", {**parts, **_matlab_driven(program, ports)})
        if program.is_driven
        else piece("matlab-free", shared),
    }


def _matlab_inputs(program: Program, dialect: Dialect) -> tuple[list[str], list[str]]:
    """Return what reads the inputs of the data or of the caller, and what the head of the file says."""
    names = [function_name(known) for known in program.inputs]
    place = 3 if program.explicit else 4
    jumps = number_list(program.jumps, "[]", 6, " ...")
    lines = [f"  jumps = {jumps}';  % times at which an input of the data jumps"] if names else []
    about = []
    for i, (known, name) in enumerate(zip(program.inputs, names, strict=True)):
        rows = [number_list(values, "[]", 6, " ...") for values in known.samples]
        join = JOIN[known.kind][0]
        own = f"{join}({rows[0]}, ...\n      {rows[1]})"
        own = own if known.formula is None else f"@(t) {write(known.formula, dialect)}"
        lines += [f"  if nargin < {place + i}", f"    {name} = {own};  % the known input {known.name}"]
        if np.isfinite(known.since):
            lines.append(f"    {name} = @(s) {name}(max(s, {known.since!r}));")
        lines += [
            f"  elseif isnumeric({name})",
            f"    {name} = {join}(t, {name});",
            "    jumps = t(:);",
            "  end",
        ]
        about.append(f"% {name}, an argument: a function of time, or samples at t, {JOINED[known.kind]}")
    return lines, about


def _matlab_late(program: Program) -> Fields:
    entries, late = [*program.names], program.late.values()
    return {
        "numbers": " ".join(repr(each.delay) for each in late),
        "entries": " ".join(str(entries.index(each.column) + 1) for each in late),
    }


def _matlab_driven(program: Program, ports: str) -> Fields:
    """Return how a solution goes from one jump, dose or bend to the next."""
    rows = "; ...\n    ".join(f"{t!r}, {entry + 1}, {amount!r}" for t, entry, amount in program.given)
    stops = ["jumps"] if program.inputs else []
    doses = []
    if program.given:
        stops += ["doses(:, 1)"]
        doses += [f"  doses = [ ...  % the time, the entry of the state, what is added to it\n    {rows}];"]
    doses += [f"  stops = [{'; '.join(stops)}];"]
    if program.given:
        early = f"doses(:, 1) > t(1) - 1e-9 * (t(end) - t(1)) & doses(:, 1) < t(1) - {program.same_time!r}"
        doses += [f"  early = find({early})';", "  initial = initial(:);"]
        doses += ["  for d = early, initial(doses(d, 2)) = initial(doses(d, 2)) + doses(d, 3); end"]
    if program.late:
        doses += [
            "  first = [t(1); stops];  % steps end where the solution bends",
            "  for delay = delays, for m = 1:5, stops = [stops; first + m * delay]; end, end",
        ]
    now = f"find(abs(doses(:, 1) - low) <= {program.same_time!r})'"
    give = f"    for d = {now}, now(doses(d, 2)) = now(doses(d, 2)) + doses(d, 3); end"
    empty = "zeros(numel(initial), 0)"
    keep = f"'start', initial(:)', 't', [], 'h', [], 'y', {empty}, 'dy', {empty}"
    keep += f", 'end_y', {empty}, 'end_dy', {empty}"
    solved = f"[~, part] = ode45(@(s, x) rhs(min(s, last), x{ports}), times, now, options);"
    late = f"  delays = [{_matlab_late(program)['numbers']}];"
    return {
        "delays": late if program.late else "",
        "doses": "\n".join(doses),
        "past": f"  past = struct({keep});" if program.late else "",
        "give": give if program.given else "",
        "part": f"[part, past] = steps(times, now, last, past{ports});" if program.late else solved,
    }
